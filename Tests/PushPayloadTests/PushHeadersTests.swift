import Basics
import PushPayload
import Testing

private let now = Instant(seconds: 1_800_000_000)

/// Faults of headers that are otherwise as they should be.
private func faults(
  _ change: (inout PushHeaders) -> Void, _ setting: (inout PushHeaders.Setting) -> Void = { _ in }
) -> [HeaderFault] {
  var headers = PushHeaders(
    id: "123e4567-e89b-12d3-a456-426655440000", topic: "com.example.app", pushType: "alert", priority: "10",
    expiration: "0", collapseID: "c")
  change(&headers)
  var context = PushHeaders.Setting()
  context.now = now
  setting(&context)
  return headers.faults(context)
}

@Suite("apns.md §4, §5: headers")
struct PushHeadersTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var name: String
    var change: @Sendable (inout PushHeaders) -> Void
    var code: LintCode?
    var reason: RefusalReason?
    var words = ""
    var testDescription: String { name }

    init(
      _ name: String, _ code: LintCode? = nil, _ reason: RefusalReason? = nil, _ words: String = "",
      _ change: @escaping @Sendable (inout PushHeaders) -> Void
    ) {
      self.name = name
      self.code = code
      self.reason = reason
      self.words = words
      self.change = change
    }
  }

  static let rows: [Row] = [
    Row("§4 all in order") { _ in },
    Row("§4 apns-id absent") { $0.id = nil },
    Row("§4 apns-id no UUID", .idInvalid, .badMessageID) { $0.id = "42" },
    Row("§4 apns-id in braces", .idInvalid, .badMessageID) { $0.id = "{123e4567-e89b-12d3-a456-426655440000}" },
    Row("§4 apns-id with a wrong letter", .idInvalid, .badMessageID) { $0.id = "123e4567-e89b-12d3-a456-42665544000g" },
    Row("§4 apns-id without hyphens", .idInvalid, .badMessageID) { $0.id = "123e4567e89b12d3a456426655440000" },
    Row("§4 apns-id in upper case", .idUpperCase) { $0.id = "123E4567-E89B-12D3-A456-426655440000" },
    Row("§4 apns-topic absent", .topicMissing, .missingTopic) { $0.topic = nil },
    Row("§4 apns-topic empty", .topicMissing, .missingTopic) { $0.topic = "" },
    Row("§4 apns-topic with a blank", .topicInvalid, .badTopic) { $0.topic = "com.example app" },
    Row("§4 apns-topic not ASCII", .topicInvalid, .badTopic) { $0.topic = "com.例.app" },
    Row("§4 apns-push-type absent", .pushTypeMissing) { $0.pushType = nil },
    Row("§4 apns-push-type unknown", .pushTypeUnknown, .invalidPushType) { $0.pushType = "quux" },
    Row("§4 apns-push-type in capitals", .pushTypeUnknown, .invalidPushType, "Send alert.") { $0.pushType = "Alert" },
    Row("§4 apns-push-type as broadcasts spell it", .pushTypeUnknown, .invalidPushType, "Send liveactivity.") {
      $0.pushType = "LiveActivity"
    },
    Row("§4 apns-priority absent") { $0.priority = nil },
    Row("§4 apns-priority 5") { $0.priority = "5" },
    Row("§4 apns-priority 1") { $0.priority = "1" },
    Row("§4 apns-priority 7", .priorityInvalid, .badPriority) { $0.priority = "7" },
    Row("§4 apns-priority high", .priorityInvalid, .badPriority) { $0.priority = "high" },
    Row("§4 apns-priority empty", .priorityInvalid, .badPriority) { $0.priority = "" },
    Row("§4 apns-priority 010", .priorityInvalid, .badPriority) { $0.priority = "010" },
    Row("§4 apns-collapse-id absent") { $0.collapseID = nil },
    Row("C20 apns-expiration absent") { $0.expiration = nil },
    Row("C20 apns-expiration 0") { $0.expiration = "0" },
    Row("C20 apns-expiration 120", .expirationInterval, nil, "looks like an interval") { $0.expiration = "120" },
    Row("C20 apns-expiration a day", .expirationInterval, nil, "\(now.seconds + 86_400)") { $0.expiration = "86400" },
    Row("C20 apns-expiration now + 3600") { $0.expiration = "\(now.seconds + 3600)" },
    Row("C20 apns-expiration now × 1000", .expirationMilliseconds, nil, "looks like milliseconds") {
      $0.expiration = "\(now.milliseconds)"
    },
    Row("C20 apns-expiration -1", .expirationInvalid, .badExpirationDate) { $0.expiration = "-1" },
    Row("C20 apns-expiration 1.5", .expirationInvalid, .badExpirationDate) { $0.expiration = "1.5" },
    Row("C20 apns-expiration soon", .expirationInvalid, .badExpirationDate) { $0.expiration = "soon" },
    Row("C20 apns-expiration empty", .expirationInvalid, .badExpirationDate) { $0.expiration = "" },
    Row("C20 apns-expiration beyond 64 bits", .expirationInvalid, .badExpirationDate) {
      $0.expiration = "99999999999999999999"
    },
    Row("C20 apns-expiration the largest", .expirationMilliseconds) { $0.expiration = "9223372036854775807" },
    Row("§4 apns-expiration past", .expirationPast, nil, "2027-01-15") { $0.expiration = "\(now.seconds)" },
    Row("§4 apns-expiration beyond 30 days", .expirationTooFar) { $0.expiration = "\(now.seconds + 31 * 86_400)" },
    Row("§5 alert with a suffixed topic", .topicSuffix, nil, "voip") { $0.topic = "com.example.app.voip" },
    Row("§5 background at 10", .priorityUnfit, nil, "throttled") { $0.pushType = "background" },
    Row("§5 background at the default", .priorityUnfit, nil, "means 10") {
      $0.pushType = "background"
      $0.priority = nil
    },
    Row("§5 background at 5") {
      $0.pushType = "background"
      $0.priority = "5"
    },
    Row("§5 voip without its suffix", .topicSuffix, .deviceTokenNotForTopic, "com.example.app.voip") {
      $0.pushType = "voip"
    },
    Row("§5 voip that may come late", .expirationUnfit) {
      $0.pushType = "voip"
      $0.topic = "com.example.app.voip"
      $0.expiration = "\(now.seconds + 3600)"
    },
    Row("§5 liveactivity at 1", .priorityUnfit, nil, "10 or 5") {
      $0.pushType = "liveactivity"
      $0.topic = "com.example.app.push-type.liveactivity"
      $0.priority = "1"
    },
    Row("C13 liveactivity with the plain bundle id", .topicSuffix, .deviceTokenNotForTopic, ".push-type.liveactivity") {
      $0.pushType = "liveactivity"
    },
    Row(
      "C13 liveactivity with another suffix", .topicSuffix, .deviceTokenNotForTopic,
      "\"com.example.app.push-type.liveactivity\""
    ) {
      $0.pushType = "liveactivity"
      $0.topic = "com.example.app.voip"
    },
    Row("§5 mdm with a bundle id", .topicInvalid) {
      $0.pushType = "mdm"
    },
    Row("§5 mdm with its topic") {
      $0.pushType = "mdm"
      $0.topic = "com.apple.mgmt.External.1234"
    },
  ]

  @Test("each is judged alone", arguments: rows)
  func judged(row: Row) throws {
    let found = faults(row.change)
    #expect(found.map(\.code) == (row.code.map { [$0] } ?? []))
    guard let fault = found.first else { return }
    #expect(fault.reason == row.reason)
    #expect((fault.severity == .error) == (row.reason != nil), "an error is what APNs refuses")
    #expect("\(fault.found) \(fault.effect) \(fault.fix)".contains(row.words))
    #expect(fault.fix.hasSuffix(".") && fault.effect.hasSuffix("."))
  }

  static let types: [(PushType, String, Int, [UInt8])] = [
    (.alert, "a.b", 4096, [10, 5, 1]), (.background, "a.b", 4096, [5, 1]), (.voip, "a.b.voip", 5120, [10, 5, 1]),
    (.complication, "a.b.complication", 4096, [10, 5, 1]),
    (.fileprovider, "a.b.pushkit.fileprovider", 4096, [10, 5, 1]),
    (.mdm, "a.b", 4096, [10, 5]), (.location, "a.b.location-query", 4096, [10, 5, 1]),
    (.liveactivity, "a.b.push-type.liveactivity", 4096, [10, 5]), (.pushtotalk, "a.b.voip-ptt", 4096, [10]),
    (.controls, "a.b.push-type.controls", 4096, [10, 5, 1]), (.widgets, "a.b.push-type.widgets", 4096, [10, 5, 1]),
  ]

  @Test("§5 a row for each push type: topic, size, priorities", arguments: types)
  func pushType(type: PushType, topic: String, size: Int, priorities: [UInt8]) {
    #expect(type.topic(bundleID: "a.b") == topic)
    #expect(type.bundleID(topic: topic) == "a.b")
    #expect(PushType.suffixed(topic: topic) == (topic == "a.b" ? nil : type))
    #expect(type.sizeLimit == size)
    #expect(type.priorities.map(\.rawValue) == priorities)
    for priority in PushPriority.allCases {
      let unfit = faults {
        $0.pushType = type.rawValue
        $0.topic = type == .mdm ? "com.apple.mgmt.x" : topic
        $0.priority = "\(priority.rawValue)"
      }
      #expect(unfit.isEmpty == priorities.contains(priority.rawValue))
    }
    if !type.topicSuffix.isEmpty {
      #expect(type.bundleID(topic: "a.b") == nil && type.bundleID(topic: type.topicSuffix) == nil)
      let missing = faults {
        $0.pushType = type.rawValue
        $0.topic = "a.b"
        $0.priority = "\(priorities[0])"
      }
      #expect(missing.map(\.code) == [.topicSuffix])
      #expect(missing.first?.found.contains(type.topicSuffix) == true)
    }
  }

  @Test("§5 every push type has its row")
  func complete() { #expect(Self.types.map(\.0) == PushType.allCases) }

  @Test(
    "C15 a collapse id is counted in bytes of UTF-8",
    arguments: [
      (String(repeating: "a", count: 64), true), (String(repeating: "a", count: 65), false),
      (String(repeating: "推", count: 21), true), (String(repeating: "推", count: 22), false),
      (String(repeating: "a", count: 64) + "bcdefg", false), (String(repeating: "😀", count: 16), true),
    ])
  func collapseID(id: String, fits: Bool) throws {
    let found = faults { $0.collapseID = id }
    #expect(found.isEmpty == fits)
    guard let fault = found.first else { return }
    #expect(fault.reason == .badCollapseID && fault.header == .collapseID)
    #expect(fault.found.contains("\(id.utf8.count) bytes") && fault.found.contains("64"))
  }

  @Test("C15 one collapse id for several pushes is told, unless it has a variable part")
  func sharedCollapseID() {
    #expect(faults({ $0.collapseID = "news" }, { $0.isTemplate = true }).map(\.code) == [.collapseIDShared])
    #expect(faults({ $0.collapseID = "news-{{id}}" }, { $0.isTemplate = true }) == [])
  }

  @Test("§4 any header twice is refused first")
  func duplicates() {
    let fields: [(name: String, value: String)] = [
      ("APNS-Topic", "a.b"), ("apns-topic", "a.c"), ("apns-id", "x"), ("content-type", "a"), ("content-type", "b"),
    ]
    let headers = PushHeaders(fields: fields)
    #expect(headers.topic == "a.b" && headers.repeated == ["apns-topic"])
    let reasons = headers.faults().compactMap(\.reason)
    #expect(reasons == [.duplicateHeaders, .badMessageID])
  }

  @Test("a header that looks like one of APNs' is named")
  func unknown() {
    let fields: [(name: String, value: String)] = [
      ("apns-collapse_id", "c"), ("apns-channel-id", "x"), ("apns-zzz", "1"), ("x-y", "z"),
    ]
    let headers = PushHeaders(fields: fields)
    #expect(headers.unknown == ["apns-collapse_id", "apns-channel-id", "apns-zzz"])
    var setting = PushHeaders.Setting()
    setting.isComplete = false
    let faults = headers.faults(setting)
    #expect(faults.map(\.code) == [.unknownHeader, .unknownHeader, .unknownHeader])
    #expect(faults.first?.fix == "Write apns-collapse-id.")
  }

  @Test("the order is that of our simulated APNs (§8.3)")
  func order() {
    let reasons = faults {
      $0 = PushHeaders(
        id: "x", topic: "", pushType: "y", priority: "z", expiration: "w", collapseID: String(repeating: "c", count: 65)
      )
    }.compactMap(\.reason)
    #expect(
      reasons == [.badMessageID, .missingTopic, .invalidPushType, .badPriority, .badExpirationDate, .badCollapseID])
  }

  @Test("what was read is typed")
  func typed() {
    let headers = PushHeaders(pushType: "voip", priority: "5", expiration: "\(now.seconds)")
    #expect(
      headers.knownPushType == .voip && headers.knownPriority == .considerate && headers.knownExpiration == .at(now))
    #expect(PushHeaders().knownPriority == .immediate && PushHeaders().knownExpiration == .unstated)
    #expect(
      PushHeaders(expiration: "0").knownExpiration == .once && PushHeaders(expiration: "x").knownExpiration == nil)
    #expect(PushHeaders(priority: "2").knownPriority == nil && PushHeaders(pushType: "x").knownPushType == nil)
    #expect(PushHeaders().isEmpty && !headers.isEmpty)
  }

  @Test("a certificate with one topic needs none in the header")
  func certificate() {
    #expect(faults({ $0.topic = nil }, { $0.needsTopic = false }) == [])
  }

  @Test("§13.2 a broadcast states expiration and priority and has no topic")
  func broadcast() {
    func codes(_ change: (inout PushHeaders) -> Void) -> [LintCode] {
      faults(
        {
          $0 = PushHeaders(pushType: "LiveActivity", priority: "5", expiration: "0")
          $0.channelID = "dGVzdA=="
          change(&$0)
        }, { $0.isBroadcast = true }
      ).map(\.code)
    }
    #expect(codes { _ in } == [])
    #expect(codes { $0.priority = nil } == [.priorityInvalid])
    #expect(codes { $0.expiration = nil } == [.expirationInvalid])
    #expect(codes { $0.pushType = "alert" } == [.pushTypeUnknown])
    #expect(codes { $0.channelID = nil } == [.channelIDMissing])
    #expect(codes { $0.channelID = "a b" } == [.channelIDInvalid])
    #expect(codes { $0.requestID = "7" } == [.idInvalid])
    #expect(codes { $0.topic = "com.example.app" } == [.unknownHeader])
  }
}
