import Audience
import Basics
import BelfryTesting
import Bus
import Delivery
import PushPayload
import PushService
import Store
import StoreSQLite
import Testing

@Suite("What a push must be", .timeLimit(.minutes(1)))
struct AcceptingTests {
  struct Row: CustomTestStringConvertible, Sendable {
    var testDescription: String
    var order: PushOrder
    var code: RequestFault.Code
    var place: String?
    var found: String
    init(
      _ name: String, _ order: PushOrder, is code: RequestFault.Code, at place: String?, found: String
    ) {
      testDescription = name
      self.order = order
      self.code = code
      self.place = place
      self.found = found
    }
  }

  static func order(
    _ alert: JSONValue? = "a", badge: BadgeChange? = nil, level: String? = nil, extras: JSONObject = JSONObject(),
    ttl: Int64? = nil, collapse: String? = nil, audience: AudienceExpression = .everyone, cid: String? = nil
  ) -> PushOrder {
    PushOrder(
      audience: audience, alert: alert, badge: badge, interruptionLevel: level, extras: extras, timeToLive: ttl,
      collapseID: collapse, clientID: cid)
  }

  static var rows: [Row] {
    let collapse = "options.apns_collapse_id"
    return [
      Row(
        "C15 65 letters", order(collapse: String(repeating: "x", count: 65)), is: .invalidParameter, at: collapse,
        found: "65 bytes in UTF-8 (65 characters); the limit is 64 bytes"),
      Row(
        "C15 22 Chinese characters", order(collapse: String(repeating: "铃", count: 22)), is: .invalidParameter,
        at: collapse, found: "66 bytes in UTF-8 (22 characters); the limit is 64 bytes"),
      Row(
        "an empty collapse id", order(collapse: ""), is: .invalidParameter, at: collapse,
        found: "0 bytes in UTF-8 (0 characters); the limit is 64 bytes"),
      Row(
        "a line break in a collapse id", order(collapse: "a\r\nb"), is: .invalidParameter, at: collapse,
        found: "a control character"),
      Row(
        "badge too large", order(badge: .set(100_000)), is: .invalidParameter, at: "notification.ios.badge",
        found: "100000"),
      Row(
        "badge below nothing", order(badge: .set(-1)), is: .invalidParameter, at: "notification.ios.badge",
        found: "-1"),
      Row(
        "more days than ten", order(ttl: 864_001), is: .invalidParameter, at: "options.time_to_live",
        found: "864001 seconds"),
      Row("time before now", order(ttl: -1), is: .invalidParameter, at: "options.time_to_live", found: "-1 seconds"),
      Row(
        "C23 unknown interruption level", order(level: "Active"), is: .invalidParameter,
        at: "notification.ios.interruption-level", found: "“Active”"),
      Row(
        "extras that would overwrite aps", order(extras: ["aps": 1]), is: .invalidParameter,
        at: "notification.ios.extras.aps", found: "a reserved name"),
      Row(
        "extras that would overwrite ours", order(extras: ["_j_msgid": 1]), is: .invalidParameter,
        at: "notification.ios.extras._j_msgid", found: "a reserved name"),
      Row(
        "C24 nothing at all", order(nil), is: .invalidParameter, at: "notification.ios",
        found: "no alert, sound, badge or content-available"),
      Row(
        "C30 a comma", order(audience: .alias("user,1")), is: .invalidParameter, at: "audience.alias",
        found: "\"user,1\" has ',' comma (U+002C) at character 5"),
      Row(
        "C30 a zero-width space", order(audience: .registrationID("abc\u{200B}")), is: .invalidParameter,
        at: "audience.registration_id", found: "\"abc<U+200B>\" has zero width space (U+200B) at character 4"),
      Row(
        "a cid without end", order(cid: String(repeating: "c", count: 129)), is: .invalidParameter, at: "cid",
        found: "129 bytes"),
      Row(
        "C09 an alias that nobody has", order(audience: .alias("lin")), is: .audienceEmpty, at: "audience",
        found: "cannot find user by this audience: nobody has the alias “lin”"),
      Row(
        "several names that nobody has", order(audience: .any([.alias("lin"), .tag("t"), .tag("u")])),
        is: .audienceEmpty, at: "audience",
        found: "cannot find user by this audience: nobody has the alias “lin” nor any of 2 more names"),
    ]
  }

  @Test("what cannot be taken is told by code, place and finding; validate agrees", arguments: rows)
  func refused(row: Row) async throws {
    let bench = try await ServiceBench()
    let app = try await bench.app()
    _ = try await bench.devices(1, of: app)
    let pushed = try await fault { () throws(RequestFault) in try await bench.service.push(app, row.order) }
    #expect(pushed.code == row.code && pushed.place == row.place)
    #expect(pushed.found == row.found)
    #expect(pushed.remedy.hasSuffix("."))
    if row.order.clientID == nil {
      let validated = try await fault { () throws(RequestFault) in
        try await bench.service.preview(app, row.order)
      }
      #expect(validated == pushed)
    }
    #expect(try await bench.store.unfinished(after: nil, limit: 1).isEmpty)
  }

  @Test(
    "C15 64 letters and 21 Chinese characters pass",
    arguments: [String(repeating: "x", count: 64), String(repeating: "铃", count: 21)])
  func collapseIDs(collapseID: String) async throws {
    let bench = try await ServiceBench()
    let app = try await bench.app()
    _ = try await bench.devices(1, of: app)
    try await bench.service.start()
    await bench.finish(try await bench.service.push(app, Self.order(collapse: collapseID)))
    #expect(bench.sender.pushes.values.map(\.collapseID) == [collapseID])
    await bench.service.stop()
  }

  @Test("C10 4096 bytes of what is sent pass, 4097 do not", arguments: [0, 1])
  func size(excess: Int) async throws {
    let bench = try await ServiceBench()
    let app = try await bench.app()
    _ = try await bench.devices(1, of: app)
    try await bench.service.start()
    let fixed = #"{"aps":{"alert":""},"_j_msgid":123456789012345678}"#.utf8.count
    let text = String(repeating: "🔔", count: 1000)
    let rest = 4096 + excess - fixed - text.utf8.count
    let alert = text + String(repeating: "铃", count: rest / 3) + String(repeating: "x", count: rest % 3)
    let order = Self.order(.string(alert))
    if excess == 0 {
      await bench.finish(try await bench.service.push(app, order))
      #expect(bench.sender.pushes.values.map(\.payload.count) == [4096])
    } else {
      let fault = try await fault { () throws(RequestFault) in try await bench.service.push(app, order) }
      #expect(fault.code == .tooLarge && fault.code.rawValue == 1005)
      #expect(fault.found == "a payload of 4097 bytes, 1 more than APNs takes")
    }
    await bench.service.stop()
  }

  @Test("only content-available is a background push; time to live 0 is one attempt")
  func background() async throws {
    let bench = try await ServiceBench()
    let app = try await bench.app()
    _ = try await bench.devices(1, of: app)
    try await bench.service.start()
    let order = PushOrder(audience: .everyone, contentAvailable: true, extras: ["k": "v"], timeToLive: 0)
    await bench.finish(try await bench.service.push(app, order))
    let push = try #require(bench.sender.pushes.values.first)
    #expect(push.pushType == .background && push.priority == .considerate && push.expiration == 0)
    await bench.finish(try await bench.service.push(app, Self.order("a")))
    #expect(bench.sender.pushes.values.last?.expiration == bench.clock.now.seconds + 86_400)
    await bench.service.stop()
  }

  @Test(
    "C29 one unknown alias among several: the others get it, and it is named",
    arguments: [["nobody", "lin"], ["lin", "nobody"]])
  func oneUnknown(aliases: [String]) async throws {
    let bench = try await ServiceBench()
    let app = try await bench.app()
    let id = try await bench.devices(2, of: app)[0]
    try await bench.service.changeDevice(app, registrationID: id, DeviceChange(alias: .set("lin")))
    let order = Self.order(audience: .any(aliases.map { .alias($0) }))
    let receipt = try await bench.service.push(app, order)
    #expect(receipt.targeted == 1 && receipt.unmatched == ["nobody"])
    #expect(receipt.warnings == ["nobody has the alias “nobody”"])
  }

  @Test("an app without devices is told to register one")
  func noDevices() async throws {
    let bench = try await ServiceBench()
    let app = try await bench.app()
    let fault = try await fault { () throws(RequestFault) in try await bench.service.push(app, Self.order()) }
    #expect(fault.code == .audienceEmpty && fault.place == "audience")
    #expect(fault.found == "cannot find user by this audience: the app has no device yet")
  }

  @Test("devices of the other environment are left out, counted and told; when all are, the push is refused")
  func environments() async throws {
    let bench = try await ServiceBench()
    let app = try await bench.app()
    _ = try await bench.devices(3, of: app, .sandbox)
    let all = try await fault { () throws(RequestFault) in try await bench.service.push(app, Self.order()) }
    #expect(all.code == .audienceEmpty && all.place == "options.apns_production")
    #expect(all.found == "cannot find user by this audience: all 3 have a token of sandbox")
    #expect(all.remedy == "Set options.apns_production to false.")
    _ = try await bench.devices(1, of: app, .production)
    let receipt = try await bench.service.push(app, Self.order())
    #expect(receipt.targeted == 1)
    #expect(
      receipt.warnings == [
        "2 devices were left out: their token is of sandbox, and options.apns_production is true"
      ])
    let report = try #require(try await bench.service.report(app, messageID: receipt.messageID))
    #expect(report.wrongEnvironment == 2)
  }

  @Test("the same cid within a day answers the first receipt, also after a restart; then it is new")
  func clientIDs() async throws {
    let bench = try await ServiceBench()
    let app = try await bench.app()
    _ = try await bench.devices(2, of: app)
    let first = try await bench.service.push(app, Self.order(cid: "c"))
    let again = try await bench.service.push(app, Self.order("other", cid: "c"))
    var repeated = first
    repeated.isRepeated = true
    #expect(again == repeated)
    let next = try await bench.afterCrash()
    next.clock.advance(by: .hours(23))
    #expect(try await next.service.push(app, Self.order(cid: "c")) == repeated)
    try await next.service.start()
    await next.finish(first)
    #expect(next.sender.pushes.values.count == 2)
    next.clock.advance(by: .hours(2))
    #expect(try await next.service.push(app, Self.order(cid: "c")).messageID != first.messageID)
    await next.service.stop()
  }

  @Test("validating keeps nothing and sends nothing")
  func validating() async throws {
    let bench = try await ServiceBench()
    let app = try await bench.app()
    _ = try await bench.devices(2, of: app)
    let receipt = try await bench.service.preview(app, Self.order(cid: "c")).receipt
    #expect(receipt.messageID == 0 && receipt.targeted == 2)
    #expect(try await bench.store.unfinished(after: nil, limit: 1).isEmpty)
  }
}
