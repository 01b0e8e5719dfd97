import Basics
import PushPayload
import Testing
import Transport

@testable import APNSSimulator

private let now = Instant(seconds: 1_796_000_000)
private let deviceToken = String(repeating: "0a", count: 32)

/// One request and what is said of it.
struct RequestRow: Sendable, CustomTestStringConvertible {
  var what: String
  var fields: [(String, String)]
  var body: String
  var rules = RequestChecks.Rules()
  var expected: RefusalReason?
  /// A part of our own words.
  var words = ""

  var testDescription: String { what }

  /// The usual request with some fields set to another value (nil removes), others added.
  init(
    _ what: String, _ changes: [String: String?] = [:], adding: [(String, String)] = [],
    body: String = #"{"aps":{"alert":"Hello"}}"#, rules: (inout RequestChecks.Rules) -> Void = { _ in },
    gives expected: RefusalReason?, saying words: String = ""
  ) {
    self.what = what
    self.body = body
    self.expected = expected
    self.words = words
    var changes = changes
    fields = []
    for (name, value) in [
      (":method", "POST"), (":scheme", "https"), (":path", "/3/device/\(deviceToken)"), ("authorization", "TOKEN"),
      ("apns-topic", "com.example.app"), ("apns-push-type", "alert"),
    ] {
      switch changes.removeValue(forKey: name) {
      case .none: fields.append((name, value))
      case .some(.some(let other)): fields.append((name, other))
      case .some(.none): break
      }
    }
    for (name, value) in changes.sorted(by: { $0.key < $1.key }) { if let value { fields.append((name, value)) } }
    fields += adding
    rules(&self.rules)
  }
}

@Suite("Checks of a request")
struct RequestChecksTests {
  static let uuid = "123e4567-e89b-12d3-a456-4266554400a0"

  static let rows: [RequestRow] = [
    RequestRow("the usual request", gives: nil),
    // method and path
    RequestRow("GET", [":method": "GET"], gives: .methodNotAllowed),
    RequestRow("another path", [":path": "/4/device/aa"], gives: .badPath),
    RequestRow("a path that only begins alike", [":path": "/3/devices/aa"], gives: .badPath),
    RequestRow("a path that goes on", [":path": "/3/device/aa/bb"], gives: .badPath),
    RequestRow("no path at all", [":path": ""], gives: .badPath),
    RequestRow("a path without token", [":path": "/3/device/"], gives: .missingDeviceToken),
    RequestRow("a path without token and slash", [":path": "/3/device"], gives: .missingDeviceToken),
    // repeated headers
    RequestRow("a known header twice", adding: [("apns-topic", "com.example.app")], gives: .duplicateHeaders),
    RequestRow(
      "an unknown header twice", adding: [("x-a", "1"), ("x-b", "1"), ("x-a", "2")], gives: .duplicateHeaders,
      saying: "x-a"),
    RequestRow("a cookie in two pieces is one header", adding: [("cookie", "a=1"), ("cookie", "b=2")], gives: nil),
    RequestRow("unknown headers are ignored", adding: [("user-agent", "x"), ("accept", "*/*")], gives: nil),
    // apns-id
    RequestRow("apns-id, lower case", ["apns-id": uuid], gives: nil),
    RequestRow("apns-id, upper case", ["apns-id": uuid.uppercased()], gives: nil),
    RequestRow("apns-id without hyphens", ["apns-id": "123e4567e89b12d3a4564266554400a0"], gives: .badMessageID),
    RequestRow("apns-id of other letters", ["apns-id": uuid.replacing("e", with: "g")], gives: .badMessageID),
    RequestRow("apns-id, empty", ["apns-id": ""], gives: .badMessageID),
    RequestRow("apns-id one digit long", ["apns-id": uuid + "0"], gives: .badMessageID),
    // authorization
    RequestRow("no authorization", ["authorization": nil], gives: .missingProviderToken),
    RequestRow("empty authorization", ["authorization": ""], gives: .missingProviderToken),
    RequestRow("basic authorization", ["authorization": "basic YTpi"], gives: .missingProviderToken),
    RequestRow("bearer without token", ["authorization": "bearer "], gives: .missingProviderToken),
    RequestRow("bearer in capitals", ["authorization": "BEARER"], gives: nil),
    RequestRow("a token that is none", ["authorization": "bearer x.y"], gives: .invalidProviderToken),
    // topic
    RequestRow("no topic", ["apns-topic": nil], gives: .missingTopic),
    RequestRow("an empty topic", ["apns-topic": ""], gives: .missingTopic),
    RequestRow("a topic with a space", ["apns-topic": "com example"], gives: .badTopic),
    RequestRow("a topic of 256 letters", ["apns-topic": String(repeating: "a", count: 256)], gives: .badTopic),
    // push type
    RequestRow("no push type", ["apns-push-type": nil], gives: nil),
    RequestRow("an unknown push type", ["apns-push-type": "alarm"], gives: .invalidPushType, saying: "alarm"),
    RequestRow("a push type in capitals", ["apns-push-type": "Alert"], gives: .invalidPushType),
    RequestRow(
      "C13 liveactivity with a plain topic", ["apns-push-type": "liveactivity"], gives: .badTopic,
      saying: "com.example.app.push-type.liveactivity"),
    RequestRow(
      "C13 liveactivity with its topic",
      ["apns-push-type": "liveactivity", "apns-topic": "com.example.app.push-type.liveactivity"], gives: nil),
    RequestRow(
      "C13 alert with a voip topic", ["apns-topic": "com.example.app.voip"], gives: .badTopic, saying: ".voip"),
    RequestRow(
      "C13 location with a voip topic", ["apns-push-type": "location", "apns-topic": "com.example.app.voip"],
      gives: .badTopic, saying: "\"com.example.app.location-query\""),
    RequestRow(
      "C13 lenient: the token decides", ["apns-push-type": "liveactivity"],
      rules: { $0.isTopicSuffixStrict = false }, gives: nil),
    // priority
    RequestRow("priority 10", ["apns-priority": "10"], gives: nil),
    RequestRow("priority 5", ["apns-priority": "5"], gives: nil),
    RequestRow("priority 1", ["apns-priority": "1"], gives: nil),
    RequestRow("priority 7", ["apns-priority": "7"], gives: .badPriority),
    RequestRow("priority 010", ["apns-priority": "010"], gives: .badPriority),
    RequestRow("priority in words", ["apns-priority": "high"], gives: .badPriority),
    RequestRow("background at 10", ["apns-push-type": "background", "apns-priority": "10"], gives: nil),
    RequestRow(
      "background at 10, strict", ["apns-push-type": "background"], rules: { $0.isBackgroundPriorityStrict = true },
      gives: .badPriority),
    // expiration
    RequestRow("C20 expiration 0", ["apns-expiration": "0"], gives: nil),
    RequestRow("C20 expiration 120", ["apns-expiration": "120"], gives: nil),
    RequestRow("C20 in an hour", ["apns-expiration": "\(now.seconds + 3600)"], gives: nil),
    RequestRow("C20 in milliseconds", ["apns-expiration": "\(now.milliseconds)"], gives: nil),
    RequestRow("C20 expiration -1", ["apns-expiration": "-1"], gives: .badExpirationDate),
    RequestRow("C20 expiration 1.5", ["apns-expiration": "1.5"], gives: .badExpirationDate),
    RequestRow("C20 expiration soon", ["apns-expiration": "soon"], gives: .badExpirationDate),
    RequestRow("expiration, empty", ["apns-expiration": ""], gives: .badExpirationDate),
    RequestRow(
      "expiration of 30 digits", ["apns-expiration": String(repeating: "9", count: 30)], gives: .badExpirationDate),
    // collapse id
    RequestRow("C15 64 letters", ["apns-collapse-id": String(repeating: "a", count: 64)], gives: nil),
    RequestRow("C15 65 letters", ["apns-collapse-id": String(repeating: "a", count: 65)], gives: .badCollapseID),
    RequestRow("C15 21 Chinese characters", ["apns-collapse-id": String(repeating: "推", count: 21)], gives: nil),
    RequestRow(
      "C15 22 Chinese characters", ["apns-collapse-id": String(repeating: "推", count: 22)], gives: .badCollapseID,
      saying: "66 bytes"),
    RequestRow(
      "C15 70 letters, equal in the first 64", ["apns-collapse-id": String(repeating: "a", count: 64) + "bcdefg"],
      gives: .badCollapseID),
    // body
    RequestRow("an empty body", body: "", gives: .payloadEmpty),
    RequestRow("an empty object, as Wallet sends it", body: "{}", gives: nil),
    RequestRow("no JSON", body: "{\"aps\":", gives: .payloadEmpty, saying: "not JSON"),
    RequestRow("an array", body: "[]", gives: .payloadEmpty, saying: "not an object"),
    RequestRow("no JSON, where that is let through", body: "aps", rules: { $0.isJSONRequired = false }, gives: nil),
    RequestRow("wrong types inside aps are the phone's business", body: #"{"aps":{"badge":"x"}}"#, gives: nil),
  ]

  @Test("every header, right and wrong", arguments: rows)
  func followsTheTable(row: RequestRow) throws {
    let verdict = try judge(row)
    #expect(verdict?.reason == row.expected, "\(verdict?.explanation ?? "taken")")
    #expect(verdict?.explanation.contains(row.words) ?? row.words.isEmpty, "\(verdict?.explanation ?? "taken")")
  }

  @Test(
    "C10 the limit counts bytes of the body as sent",
    arguments: [
      ("alert", "com.example.app", 4096), ("background", "com.example.app", 4096),
      ("voip", "com.example.app.voip", 5120),
    ])
  func sizes(type: String, topic: String, limit: Int) throws {
    for size in [limit, limit + 1] {
      var body = #"{"aps":{"alert":"🔔推送\#("")"#
      body += String(repeating: "x", count: size - body.utf8.count - 3) + "\"}}"
      #expect(body.utf8.count == size)
      let verdict = try judge(
        RequestRow("size", ["apns-push-type": type, "apns-topic": topic], body: body, gives: nil))
      #expect(verdict?.reason == (size > limit ? .payloadTooLarge : nil))
      if let verdict { #expect(verdict.explanation.contains("1 more than the \(limit)")) }
    }
  }

  /// Each step has its fault; a request with all faults from one step on is refused for that step's.
  @Test("the order of checks is the documented one", arguments: 0..<11)
  func order(first: Int) throws {
    var fields: [(String, String)] = []
    func field(_ step: Int, _ name: String, wrong: String?, right: String?) {
      if let value = step >= first ? wrong : right { fields.append((name, value)) }
    }
    field(0, ":method", wrong: "PUT", right: "POST")
    field(1, ":path", wrong: "/x", right: "/3/device/\(deviceToken)")
    field(2, "x-twice", wrong: "1", right: nil)
    field(2, "x-twice", wrong: "1", right: nil)
    field(3, "apns-id", wrong: "1", right: nil)
    field(4, "authorization", wrong: nil, right: "TOKEN")
    field(5, "apns-topic", wrong: nil, right: "com.example.app")
    field(6, "apns-push-type", wrong: "x", right: "alert")
    field(7, "apns-priority", wrong: "x", right: nil)
    field(8, "apns-expiration", wrong: "x", right: nil)
    field(9, "apns-collapse-id", wrong: String(repeating: "a", count: 65), right: nil)
    var row = RequestRow("order", body: first > 10 ? "{}" : "", gives: nil)
    row.fields = fields
    let reasons: [RefusalReason] = [
      .methodNotAllowed, .badPath, .duplicateHeaders, .badMessageID, .missingProviderToken, .missingTopic,
      .invalidPushType, .badPriority, .badExpirationDate, .badCollapseID, .payloadEmpty,
    ]
    #expect(try judge(row)?.reason == reasons[first])
  }

  @Test("host or :authority names the environment on the sandbox's port; production's is production whatever it says")
  func environments() throws {
    let cases: [([(String, String)], SimulatedEnvironment)] = [
      ([], .sandbox), ([(":authority", "localhost:2197")], .sandbox), ([("host", "api.push.apple.com")], .production),
      ([(":authority", "api.push.apple.com:443")], .production),
      ([("host", "api.development.push.apple.com")], .sandbox),
      ([(":authority", "api.push.apple.com"), ("host", "x")], .production),
    ]
    for (fields, environment) in cases {
      var row = RequestRow("host", adding: fields, gives: nil)
      let checked = try check(&row)
      #expect(checked.environment == environment)
      let onProduction = try check(&row, usual: .production)
      #expect(onProduction.environment == .production)
    }
  }

  @Test("without apns-push-type the topic's suffix decides, then the body")
  func inference() throws {
    let cases: [(String, String, PushType)] = [
      ("com.example.app", #"{"aps":{"content-available":1}}"#, .background),
      ("com.example.app", #"{"aps":{"content-available":1,"alert":"x"}}"#, .alert),
      ("com.example.app", "{}", .alert), ("com.example.app.voip", "{}", .voip),
    ]
    for (topic, body, type) in cases {
      var row = RequestRow("no type", ["apns-push-type": nil, "apns-topic": topic], body: body, gives: nil)
      let checked = try check(&row)
      #expect(checked.pushType == type && checked.isPushTypeInferred)
    }
  }

  private func judge(_ row: RequestRow) throws -> Refusal? {
    var row = row
    do {
      _ = try check(&row)
      return nil
    } catch let refusal as Refusal {
      return refusal
    }
  }

  private func check(
    _ row: inout RequestRow, usual: SimulatedEnvironment = .sandbox
  ) throws -> CheckedPush {
    let provider = try TestProvider()
    var fields = HTTP2FieldList()
    for (name, value) in row.fields {
      var value = value
      if value == "TOKEN" { value = "bearer \(provider.token(issuedAt: now))" }
      if value == "BEARER" { value = "BeArEr \(provider.token(issuedAt: now))" }
      fields.append(name: name, value: value)
    }
    var trust = ConnectionTrust()
    return try RequestChecks(rules: row.rules).check(
      PushRequest(fields), body: Array(row.body.utf8), trust: &trust, defaultEnvironment: usual, now: now,
      directory: ProviderDirectory(keys: [provider.key]))
  }
}
