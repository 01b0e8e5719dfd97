import Basics
import PushPayload
import Testing

private func lint(_ text: String, _ type: PushType? = nil, priority: String? = nil) -> [Finding] {
  var context = LintContext()
  context.headers = PushHeaders(pushType: type?.rawValue, priority: priority)
  return Lint.check(Array(text.utf8), context)
}

private func payload(_ text: String) throws -> Payload { Payload(try read(text).value) }

@Suite("C10 sizes are bytes of UTF-8 as sent")
struct SizeTests {
  /// A payload of exactly `size` bytes, full of emoji and CJK.
  static func payload(size: Int) -> JSONValue {
    var text = String(repeating: "😀", count: 700) + String(repeating: "推", count: 300)
    func value(_ text: String) -> JSONValue { ["aps": ["alert": .string(text)]] }
    text += String(repeating: "x", count: size - value(text).encodedSize)
    return value(text)
  }

  @Test("C10 an alert of 1,000 emoji and CJK: 4096 pass, 4097 are refused with the excess")
  func limit() throws {
    let fits = Self.payload(size: 4096)
    #expect(fits.encoded().count == 4096 && fits.encodedSize == 4096)
    #expect(Lint.check(fits.encoded()) == [])
    let finding = try #require(Lint.check(Self.payload(size: 4097).encoded()).first)
    #expect(finding.code == .overLimit && finding.severity == .error)
    #expect(finding.message.contains("4097 bytes, 1 more than the 4096"))
    #expect(finding.fix.contains("Cut 1 bytes") && finding.fix.contains("aps.alert"))
  }

  @Test("C10 the escaped form of the same text is over, and lint says what raw UTF-8 would take")
  func escaped() throws {
    let text = #"{"aps":{"alert":""# + String(repeating: #"\ud83d\ude00"#, count: 1000) + #""}}"#
    let finding = try #require(lint(text).first { $0.code == .overLimit })
    #expect(text.utf8.count == 12_020 && finding.message.contains("12020 bytes"))
    #expect(finding.fix.contains("4020 bytes"))
    #expect(try read(text).value.encoded().count == 4020)
  }

  @Test("C10 white space counts as it is sent; lint says what the shortest form takes")
  func spaces() throws {
    let text = "{\"aps\": {\"alert\": \"a\",\n \"badge\": 1, \"x\": []},\n \"l\": [1, [], {}, {\"a\": \"\\u4f60\"}]}"
    let document = try read(text)
    let padded = text + String(repeating: " ", count: 4097)
    let finding = try #require(lint(padded).first { $0.code == .overLimit })
    #expect(finding.fix.contains(": \(document.value.encodedSize) bytes"))
  }

  static let limits: [(PushType?, Bool, Int)] = [
    (nil, false, 4096), (.alert, false, 4096), (.voip, false, 5120), (.liveactivity, true, 5120),
    (.pushtotalk, false, 4096),
  ]

  @Test("§9.1 the limit is the push type's, a broadcast's its own", arguments: limits)
  func byType(type: PushType?, isBroadcast: Bool, limit: Int) {
    for size in [limit, limit + 1] {
      var context = LintContext()
      context.headers.pushType = type?.rawValue
      context.isBroadcast = isBroadcast
      let frame = #"{"aps":{"alert":""}}"#.utf8.count
      let text = #"{"aps":{"alert":"\#(String(repeating: "x", count: size - frame))"}}"#
      #expect(Lint.check(Array(text.utf8), context).contains { $0.code == .overLimit } == (size > limit))
    }
  }

  @Test("a file of Apple's Simulator counts without its bundle key, one of logs in the JSON it stands for")
  func forms() {
    var simulator = LintContext()
    simulator.isSimulatorFile = true
    let alert = String(repeating: "x", count: 4096 - #"{"aps":{"alert":""}}"#.utf8.count)
    let fits = #"{"Simulator Target Bundle":"com.example.app","aps":{"alert":"\#(alert)"}}"#
    #expect(Lint.check(Array(fits.utf8), simulator) == [])
    #expect(Lint.check(Array(fits.replacing("x\"}}", with: "xy\"}}").utf8), simulator).map(\.code) == [.overLimit])
    var log = LintContext()
    log.form = .plist
    let spaced = "{ aps = { alert = \"\(alert)\"; }; }" + String(repeating: "\n", count: 500)
    #expect(Lint.check(Array(spaced.utf8), log) == [])
  }

  @Test("C10 shortening to the limit never splits what a person sees as one character", arguments: 0..<12)
  func shortening(excess: Int) throws {
    let family = "👨‍👩‍👧‍👦"
    let value: JSONValue = [
      "aps": ["alert": ["body": .string(String(repeating: family + "é推", count: 200))], "badge": 1]
    ]
    let limit = 4096 - excess
    let short = try #require(value.shortened(at: JSONPath("aps", "alert", "body"), toFit: limit))
    #expect(short.encodedSize <= limit && short.encodedSize > limit - 40)
    let body = try #require(short.object?["aps"]?.object?["alert"]?.object?["body"]?.string)
    #expect(body.hasSuffix("…"))
    #expect(Set(body) == [Character(family), "é", "推", "…"])
    #expect(short.object?["aps"]?.object?["badge"] == 1)
  }

  @Test("C10 shortening leaves alone what fits, and gives up where cutting the text cannot do")
  func shorteningEdges() {
    let value: JSONValue = ["aps": ["alert": "hello"], "k": .string(String(repeating: "x", count: 100))]
    #expect(value.shortened(at: JSONPath("aps", "alert"), toFit: 4096) == value)
    #expect(value.shortened(at: JSONPath("aps", "alert"), toFit: 100) == nil)
    #expect(value.shortened(at: JSONPath("aps", "nope"), toFit: 100) == nil)
    #expect(value.shortened(at: JSONPath("k"), toFit: 60)?.encodedSize == 60)
  }
}

@Suite("C22, C23, C24: what a phone makes of it, and lint the same")
struct AppearanceTests {
  static let badges: [(String, Int64?)] = [
    ("5", 5), ("0", 0), (#""1""#, nil), ("-1", nil), ("1.0", nil), ("true", nil), ("null", nil),
  ]

  @Test("C22 badge forms: a whole number from 0 counts, all else leaves the badge as it was", arguments: badges)
  func badge(value: String, badge: Int64?) throws {
    let text = #"{"aps":{"alert":"a","badge":\#(value)}}"#
    #expect(try payload(text).badge == badge)
    let findings = lint(text)
    guard badge == nil else { return #expect(findings == []) }
    #expect(findings.map(\.code) == [.badgeInvalid])
    #expect(findings.first?.severity == .error && findings.first?.path == JSONPath("aps", "badge"))
    #expect(findings.first?.effect == "The badge stays as it was.")
    #expect(try payload(text).ignored.map(\.path) == [JSONPath("aps", "badge")])
  }

  @Test("C22 no badge leaves it, 0 removes it")
  func badgeWords() throws {
    #expect(try payload(#"{"aps":{"alert":"a"}}"#).appearance.badge == nil)
    #expect(try payload(#"{"aps":{"badge":0}}"#).appearance.summary == "badge removed")
  }

  @Test("C23 content_available: lint names the hyphen, the app is not woken")
  func hyphen() throws {
    let text = #"{"aps":{"content_available":1}}"#
    #expect(try payload(text).contentAvailable == false)
    let finding = try #require(lint(text).first { $0.code == .keyMisspelt })
    #expect(finding.severity == .error && finding.fix.contains(#""content-available", with hyphens"#))
  }

  static let wakes: [(String, Bool, [LintCode])] = [
    ("1", true, []), ("true", false, [.contentAvailableInvalid, .nothingToShow]),
    (#""1""#, false, [.contentAvailableInvalid, .nothingToShow]), ("0", false, [.nothingToShow, .flagZero]),
    ("1.0", false, [.contentAvailableInvalid, .nothingToShow]),
    ("2", false, [.contentAvailableInvalid, .nothingToShow]),
  ]

  @Test("C23 only the number 1 wakes the app", arguments: wakes)
  func wake(value: String, wakes: Bool, codes: [LintCode]) throws {
    let text = #"{"aps":{"content-available":\#(value)}}"#
    #expect(try payload(text).contentAvailable == wakes)
    #expect(Set(lint(text).map(\.code)) == Set(codes))
    #expect(lint(text, .background).map(\.code).contains(.pushTypeMismatch) == !wakes)
  }

  @Test("C23 a badge beside it makes it no background push; a category alone does not")
  func beside() throws {
    let badge = #"{"aps":{"content-available":1,"badge":0}}"#
    #expect(PushType.inferred(from: try read(badge).value) == .alert)
    #expect(lint(badge).map(\.code) == [.backgroundNotAlone] && lint(badge).first?.severity == .warning)
    #expect(lint(badge, .background, priority: "5").map(\.severity) == [.error])
    let category = #"{"aps":{"content-available":1,"category":"c"}}"#
    #expect(PushType.inferred(from: try read(category).value) == .background)
    #expect(lint(category, .background, priority: "5") == [])
  }

  @Test("C23 background at priority 10 is warned of; type alert without any alert is an error")
  func types() {
    let silent = #"{"aps":{"content-available":1}}"#
    let finding = lint(silent, .background, priority: "10").first
    #expect(finding?.code == .priorityUnfit && finding?.severity == .warning && finding?.header == .priority)
    #expect(finding?.effect.contains("throttled or silently dropped") == true)
    #expect(lint(silent, .alert).map(\.code) == [.pushTypeMismatch])
    #expect(lint(#"{"aps":{"category":"c"}}"#, .alert).map(\.code) == [.pushTypeMismatch])
  }

  static let shown: [(String, String, LintCode?)] = [
    (#"{"aps":{"alert":{}}}"#, "nothing", .emptyAlert),
    (#"{"aps":{"alert":""}}"#, "nothing", .emptyAlert),
    (#"{"aps":{"alert":{"title":"A"}}}"#, #"title "A""#, nil),
    (#"{"aps":{"alert":{"title":"A","body":""}}}"#, #"title "A""#, nil),
    (#"{"aps":{"alert":{"body":"B"}}}"#, #"body "B""#, nil),
    (#"{"aps":{"alert":"B"}}"#, #"body "B""#, nil),
    (#"{"aps":{"alert":{"subtitle":"S"}}}"#, #"subtitle "S""#, nil),
    (#"{"aps":{"alert":{"body":"","title":""},"badge":2}}"#, "badge 2", .emptyAlert),
    (#"{"aps":{"alert":{"loc-key":"K"}}}"#, #"body of "K""#, nil),
    (#"{"aps":{"sound":"default"}}"#, "sound default", nil),
    (#"{"aps":{"badge":3}}"#, "badge 3", nil),
    (
      #"{"aps":{"alert":{"title":"A","body":"B"},"badge":3,"sound":"a.caf"}}"#,
      #"title "A", body "B", badge 3, sound a.caf"#, nil
    ),
    (#"{"key":1}"#, "nothing", .apsMissing),
    ("{}", "nothing", .apsMissing),
    (#"{"aps":{}}"#, "nothing", .nothingToShow),
    (#"{"aps":"x"}"#, "nothing", .apsNotAnObject),
    (#"{"aps":{"alert":7}}"#, "nothing", .wrongType),
  ]

  @Test("C24 what the phone shows for each, and what lint says of it", arguments: shown)
  func shows(text: String, summary: String, code: LintCode?) throws {
    let payload = try payload(text)
    #expect(payload.appearance.summary == summary)
    #expect(payload.appearance.isNothing == (summary == "nothing"))
    #expect(lint(text).map(\.code) == (code.map { [$0] } ?? []))
  }

  static let kinds: [(String, PushType?, PushKind)] = [
    (#"{"aps":{"alert":"a"}}"#, nil, .alert), (#"{"aps":{"alert":"a","badge":1,"sound":"default"}}"#, .alert, .alert),
    (#"{"aps":{"alert":"a","content-available":1}}"#, .alert, .alertAndWake),
    (#"{"aps":{"badge":1,"content-available":1}}"#, .alert, .alertAndWake),
    (#"{"aps":{"content-available":1}}"#, .background, .silent),
    (#"{"aps":{"content-available":1,"alert":""}}"#, nil, .silent),
    (#"{"aps":{"badge":1}}"#, .alert, .badgeOnly), (#"{"aps":{"sound":"default"}}"#, .alert, .soundOnly),
    (#"{"aps":{"sound":"default","badge":1}}"#, .alert, .soundOnly), ("{}", .voip, .voip),
    (#"{"aps":{"content-available":1},"customData":{"task":"sync"}}"#, .background, .silentWithExtras),
    (#"{"aps":{}}"#, nil, .nothing), ("{}", nil, .nothing), (#"{"aps":{"content-available":true}}"#, nil, .nothing),
    (#"{"aps":{"content-changed":true}}"#, .widgets, .special), (#"{"mdm":"x"}"#, .mdm, .special),
  ]

  @Test("device.md A: kinds K1 to K7 by what is visible, never by content-available alone (D-087)", arguments: kinds)
  func kind(text: String, type: PushType?, kind: PushKind) throws {
    #expect(try payload(text).kind(pushType: type) == kind)
  }
}
