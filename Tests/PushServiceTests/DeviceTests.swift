import Audience
import Basics
import BelfryTesting
import Bus
import Delivery
import Foundation
import PushPayload
import PushService
import Store
import StoreSQLite
import Testing

@Suite("Apps and devices", .timeLimit(.minutes(1)))
struct DeviceTests {
  @Test("an app's key and secret are 24 lower-case hex digits; the secret is nowhere on disk")
  func newApp() async throws {
    let bench = try await ServiceBench()
    let one = try await bench.service.createApp(bundleID: "com.example.bell", name: "Bell")
    let two = try await bench.service.createApp(bundleID: "com.example.bell", name: nil)
    for text in [one.appKey, one.masterSecret, two.appKey, two.masterSecret] {
      #expect(text.count == 24 && text.allSatisfy { "0123456789abcdef".contains($0) })
    }
    #expect(Set([one.appKey, one.masterSecret, two.appKey, two.masterSecret]).count == 4)
    #expect(try await bench.service.apps() == [one.app, two.app])
    for name in try FileManager.default.contentsOfDirectory(atPath: bench.folder.path) {
      let bytes = FileManager.default.contents(atPath: bench.folder.path + "/" + name) ?? Data()
      #expect(bytes.range(of: Data(one.masterSecret.utf8)) == nil)
    }
  }

  @Test("only the right key with the right secret is let in; unknown and wrong look alike")
  func authenticating() async throws {
    let bench = try await ServiceBench()
    let one = try await bench.service.createApp(bundleID: "com.example.bell", name: nil)
    let two = try await bench.service.createApp(bundleID: "com.example.other", name: nil)
    for _ in 0..<2 {
      #expect(try await bench.service.authenticate(appKey: one.appKey, masterSecret: one.masterSecret) == one.app)
    }
    var faults: [RequestFault] = []
    for (key, secret) in [
      (one.appKey, two.masterSecret), ("", ""), ("unknown", one.masterSecret), (one.appKey, ""),
      (one.appKey, one.masterSecret + "0"), (one.appKey, one.masterSecret + "\u{0}"),
    ] {
      faults.append(
        try await fault { () throws(RequestFault) in
          try await bench.service.authenticate(appKey: key, masterSecret: secret)
        })
    }
    #expect(Set(faults).count == 1)
    #expect(faults[0].code == .authenticationFailed && faults[0].code.httpStatus == 401)
    let restarted = try await bench.afterCrash()
    #expect(try await restarted.service.authenticate(appKey: one.appKey, masterSecret: one.masterSecret) == one.app)
  }

  @Test("wrong credentials in constant time: an unknown key is checked against a hash as a wrong secret is")
  func constantTime() async throws {
    let bench = try await ServiceBench()
    let known = try await bench.service.createApp(bundleID: "com.example.bell", name: nil)
    // In the second round the right secret is remembered, which must not make wrong ones quicker.
    for _ in 0..<2 {
      let wrong = try await shortest(bench, known.appKey, "000000000000000000000000")
      let unknown = try await shortest(bench, "000000000000000000000000", known.masterSecret)
      let near = try await shortest(bench, known.appKey, known.masterSecret.dropLast() + "x")
      // One that is not hashed is told in a thousandth of the time; noise on a busy machine is far from a tenth.
      for time in [unknown, near] { #expect(time * 10 > wrong && wrong * 10 > time, "\(time) and \(wrong)") }
      _ = try await bench.service.authenticate(appKey: known.appKey, masterSecret: known.masterSecret)
    }
  }

  /// The shortest of five refusals: what others take from the processor only ever adds.
  private func shortest(_ bench: ServiceBench, _ key: String, _ secret: String) async throws -> Duration {
    var best = Duration.seconds(60)
    for _ in 0..<5 {
      let start = ContinuousClock.now
      let fault = try await fault { () throws(RequestFault) in
        try await bench.service.authenticate(appKey: key, masterSecret: secret)
      }
      best = min(best, ContinuousClock.now - start)
      #expect(fault.code == .authenticationFailed)
    }
    return best
  }

  @Test("a bundle id is checked", arguments: ["", "com.example bell", "com/example", ".com", "铃"])
  func bundleIDs(bundleID: String) async throws {
    let bench = try await ServiceBench()
    let fault = try await fault { () throws(RequestFault) in
      try await bench.service.createApp(bundleID: bundleID, name: nil)
    }
    #expect(fault.code == .invalidParameter)
  }

  @Test("the same token is the same device; its secret is the last one told")
  func registering() async throws {
    let bench = try await ServiceBench()
    let app = try await bench.app()
    let token = StoreSamples.token(1).hex
    let first = try await bench.service.register(
      appKey: app.key, DeviceRegistration(token: token, environment: .production))
    #expect(first.registrationID.count == 19)
    #expect(first.registrationID.allSatisfy { "0123456789abcdef".contains($0) })
    #expect(first.deviceSecret.count == 64)
    let again = try await bench.service.register(
      appKey: app.key, DeviceRegistration(token: " \(token.uppercased())\n", environment: .production))
    #expect(again.registrationID == first.registrationID && again.deviceSecret != first.deviceSecret)
    let known = try await bench.service.authenticateDevice(
      appKey: app.key, registrationID: again.registrationID, secret: again.deviceSecret)
    #expect(known == app)
    let other = try await bench.app()
    for (key, id, secret) in [
      (app.key, first.registrationID, first.deviceSecret), (app.key, "unknown", again.deviceSecret),
      (other.key, first.registrationID, again.deviceSecret), ("nokey", first.registrationID, again.deviceSecret),
      (app.key, first.registrationID, ""),
    ] {
      let fault = try await fault { () throws(RequestFault) in
        try await bench.service.authenticateDevice(appKey: key, registrationID: id, secret: secret)
      }
      #expect(fault.code == .deviceAuthenticationFailed)
    }
  }

  @Test(
    "C18 a description instead of a token is refused and named, and others' pushes go on",
    arguments: [
      ("{length = 32, bytes = 0x11aa22bb 33cc44dd ... 5566eeff }", "middle"), ("(null)", "nothing"),
      ("undefined", "nothing"), (String(repeating: "a", count: 63), "missing"),
      (String(repeating: "a", count: 50), "at least"),
      ("EaoiuzPMRN1Vd5m7EaoiuzPMRN1Vd5m7EaoiuzPMRN0=", "base64"),
    ])
  func tokens(text: String, word: String) async throws {
    let bench = try await ServiceBench()
    let app = try await bench.app()
    _ = try await bench.devices(1, of: app)
    let fault = try await fault { () throws(RequestFault) in
      try await bench.service.register(appKey: app.key, DeviceRegistration(token: text, environment: .sandbox))
    }
    #expect(fault.code == .deviceInvalidParameter && fault.place == "token")
    #expect(fault.found.contains(word), "\(fault.found)")
    let receipt = try await bench.service.push(app, PushOrder(audience: .everyone, alert: "a"))
    #expect(receipt.targeted == 1)
  }

  @Test("a registration for another app or with essays in it is refused")
  func otherRegistrations() async throws {
    let bench = try await ServiceBench()
    let app = try await bench.app()
    let token = StoreSamples.token(1).hex
    for (key, registration, code, place) in [
      (
        app.key, DeviceRegistration(token: token, environment: .sandbox, bundleID: "com.other"),
        RequestFault.Code.deviceInvalidParameter, "bundleID"
      ),
      (
        app.key,
        DeviceRegistration(
          token: token, environment: .sandbox, facts: DeviceDescription(language: String(repeating: "x", count: 65))),
        .deviceInvalidParameter, "language"
      ),
      ("x", DeviceRegistration(token: token, environment: .sandbox), .deviceAuthenticationFailed, "appKey"),
    ] {
      let fault = try await fault { () throws(RequestFault) in
        try await bench.service.register(appKey: key, registration)
      }
      #expect(fault.code == code && fault.place == place)
    }
  }

  static let names: [(String, String?)] = [
    ("46", nil), ("user,1", "\"user,1\" has ',' comma (U+002C) at character 5"),
    ("a b", "\"a b\" has space (U+0020) at character 2"),
    ("🔔", "\"🔔\" has '🔔' bell (U+1F514) at character 1"), (String(repeating: "铃", count: 13) + "x", nil),
    (String(repeating: "铃", count: 14), "\"\(String(repeating: "铃", count: 14))\" has 42 bytes of UTF-8"),
    ("a-b", "\"a-b\" has '-' hyphen-minus (U+002D) at character 2"),
    ("a\n", "\"a<U+000A>\" has line feed (U+000A) at character 2"), ("@!#$&*+=.|￥_aZ09中", nil),
    ("é", "\"é\" has 'é' latin small letter e with acute (U+00E9) at character 1"), ("", "the string is empty"),
  ]

  @Test("C30 names show the character at fault by name and place", arguments: names)
  func aliases(name: String, found: String?) async throws {
    let bench = try await ServiceBench()
    let app = try await bench.app()
    let id = try await bench.devices(1, of: app)[0]
    do throws(RequestFault) {
      try await bench.service.changeDevice(app, registrationID: id, DeviceChange(alias: .set(name)))
      #expect(found == nil)
      #expect(try await bench.service.device(app, registrationID: id).alias == name)
    } catch {
      #expect(error.found == found)
      #expect(error.code == .deviceInvalidParameter && error.place == "alias")
    }
  }

  @Test("C30 a registration id with something invisible is named, not called unknown")
  func invisible() async throws {
    let bench = try await ServiceBench()
    let app = try await bench.app()
    for (id, word) in [
      (" abc", "space"), ("abc\n", "line feed"), ("abc\u{200B}", "zero width space"), ("abc", "no device"),
    ] {
      let fault = try await fault { () throws(RequestFault) in
        try await bench.service.device(app, registrationID: id)
      }
      #expect(fault.code == (id == "abc" ? .noSuchResource : .deviceInvalidParameter))
      #expect(fault.found.contains(word), "\(fault.found)")
    }
  }

  @Test("D-312 D-313 tags are removed, then added; the limits of one call and of a device hold")
  func tags() async throws {
    let bench = try await ServiceBench()
    let app = try await bench.app()
    let id = try await bench.devices(1, of: app)[0]
    try await bench.service.changeDevice(
      app, registrationID: id, DeviceChange(removeTags: ["a", "b"], addTags: ["a", "b"]))
    #expect(try await bench.service.device(app, registrationID: id).tags == ["a", "b"])
    for (tags, found) in [
      ((0..<101).map { "t\($0)" }, "101 tags of 294 bytes in all"),
      (Array(repeating: String(repeating: "x", count: 40), count: 26), "26 tags of 1040 bytes in all"),
    ] {
      let fault = try await fault { () throws(RequestFault) in
        try await bench.service.changeDevice(app, registrationID: id, DeviceChange(addTags: tags))
      }
      #expect(fault.code == .deviceInvalidParameter && fault.found == found)
    }
    for round in 0..<10 {
      let tags = (0..<(round == 9 ? 98 : 100)).map { "t\(round)x\($0)" }
      try await bench.service.changeDevice(app, registrationID: id, DeviceChange(addTags: tags))
    }
    let full = try await fault { () throws(RequestFault) in
      try await bench.service.changeDevice(
        app, registrationID: id, DeviceChange(addTags: ["one too many"].map { $0.replacing(" ", with: "_") }))
    }
    #expect(full.code == .tooManyTags)
    #expect(try await bench.service.device(app, registrationID: id).tags.count == 1000)
    try await bench.service.changeDevice(app, registrationID: id, DeviceChange(clearTags: true))
    #expect(try await bench.service.device(app, registrationID: id).tags == [])
  }

  @Test("D-311 7015: an alias is shared by ten devices, not eleven")
  func sharedAlias() async throws {
    let bench = try await ServiceBench()
    let app = try await bench.app()
    let ids = try await bench.devices(11, of: app)
    for id in ids.prefix(10) {
      try await bench.service.changeDevice(app, registrationID: id, DeviceChange(alias: .set("lin")))
    }
    let fault = try await fault { () throws(RequestFault) in
      try await bench.service.changeDevice(app, registrationID: ids[10], DeviceChange(alias: .set("lin")))
    }
    #expect(fault.code == .aliasFull && fault.code.rawValue == 7015)
    try await bench.service.changeDevice(app, registrationID: ids[0], DeviceChange(alias: .clear))
    try await bench.service.changeDevice(app, registrationID: ids[10], DeviceChange(alias: .set("lin")))
  }

  @Test("C36 one phone, two people: after B registered the same token, A's alias reaches nobody")
  func twoPeople() async throws {
    let bench = try await ServiceBench()
    let app = try await bench.app()
    for alias in ["A", "B"] {
      let id = try await bench.devices(1, of: app)[0]
      try await bench.service.changeDevice(app, registrationID: id, DeviceChange(alias: .set(alias)))
    }
    let fault = try await fault { () throws(RequestFault) in
      try await bench.service.push(app, PushOrder(audience: .alias("A"), alert: "a"))
    }
    #expect(fault.code == .audienceEmpty && fault.found.contains("“A”"))
    #expect(try await bench.service.push(app, PushOrder(audience: .alias("B"), alert: "b")).targeted == 1)
  }
}
