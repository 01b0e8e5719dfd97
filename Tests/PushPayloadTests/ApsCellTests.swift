import PushPayload
import Testing

/// One cell of the tables of spec apns.md §9.3, §9.4: values that iOS takes, and values of which it makes nothing.
struct Cell: Sendable, CustomTestStringConvertible {
  var name: String
  /// The payload with `•` where the value goes.
  var payload: String
  var good: [String]
  var bad: [String]
  /// Code for the bad ones.
  var code = LintCode.wrongType
  /// Words in the effect of a bad one: the table's last column.
  var effect: String
  var path: JSONPath
  /// Whether the phone takes the value; nil where only lint can tell.
  var isTaken: (@Sendable (Payload) -> Bool)?
  var pushType: PushType?

  var testDescription: String { name }

  init(
    _ key: String, in payload: String = #"{"aps":{"alert":{"body":"b"},•}}"#, path: JSONPath? = nil, good: [String],
    bad: [String], code: LintCode = .wrongType, effect: String, pushType: PushType? = nil,
    isTaken: (@Sendable (Payload) -> Bool)? = nil
  ) {
    self.path = path ?? JSONPath("aps", key)
    name = "\(self.path.steps.count > 2 ? "§9.4" : "§9.3") \(self.path)"
    self.payload = payload.replacing("•", with: "\"\(key)\":•")
    self.good = good
    self.bad = bad
    self.code = code
    self.effect = effect
    self.isTaken = isTaken
    self.pushType = pushType
  }

  static let activity = #"{"aps":{"timestamp":1700000000,"event":"update","content-state":{},•}}"#

  static func ofActivity(
    _ key: String, event: String = "update", good: [String], bad: [String], code: LintCode = .wrongType, effect: String,
    isTaken: @escaping @Sendable (Payload.LiveActivity) -> Bool
  ) -> Cell {
    let others = [
      "timestamp": "1700000000", "event": "\"\(event)\"", "content-state": "{}",
      "attributes-type": event == "start" ? "\"A\"" : nil, "attributes": event == "start" ? "{}" : nil,
      "alert": event == "start" ? #"{"title":"t"}"# : nil,
    ].compactMapValues { $0 }
    let members = others.filter { $0.key != key }.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }
    return Cell(
      key, in: "{\"aps\":{\(members.joined(separator: ",")),•}}", good: good, bad: bad, code: code, effect: effect,
      pushType: .liveactivity, isTaken: { payload in payload.liveActivity.map(isTaken) ?? false })
  }

  static func ofAlert(
    _ key: String, with: String = "", good: [String] = [#""x""#], bad: [String] = ["1", "null", "[]", "{}", "true"],
    effect: String, isTaken: @escaping @Sendable (Payload.Alert) -> Bool
  ) -> Cell {
    Cell(
      key, in: "{\"aps\":{\"alert\":{\(key == "body" || key == "loc-key" ? "" : #""body":"b","#)\(with)•}}}",
      path: JSONPath("aps", "alert", key), good: good, bad: bad, effect: effect,
      isTaken: { payload in payload.alert.map(isTaken) ?? false })
  }

  static let all: [Cell] = aps + activities + alerts + sounds

  static let aps: [Cell] = [
    Cell(
      "alert", in: #"{"aps":{•,"badge":1}}"#, good: [#""t""#, #"{"body":"b"}"#], bad: ["1", "null", "true", "[]"],
      effect: "No text is shown", isTaken: { $0.appearance.showsText }),
    Cell(
      "badge", good: ["0", "1", "99999", "-0"],
      bad: ["-1", "1.0", "1.5", "1e0", #""1""#, #""+1""#, "true", "null", "[]", "{}"],
      code: .badgeInvalid, effect: "stays as it was", isTaken: { $0.badge != nil }),
    Cell(
      "sound", good: [#""default""#, #""a.caf""#, #"{"name":"default"}"#], bad: ["1", "true", "null", "[]"],
      effect: "silent", isTaken: { $0.sound != nil }),
    Cell("thread-id", good: [#""t""#], bad: ["1", "null", "{}"], effect: "grouped with the app's others") {
      $0.threadID == "t"
    },
    Cell("category", good: [#""c""#], bad: ["1", "null", "[]"], effect: "no actions") { $0.category == "c" },
    Cell(
      "content-available", good: ["1"], bad: ["true", #""1""#, "1.0", "2", "-1", "null", "{}"],
      code: .contentAvailableInvalid, effect: "only the number 1 wakes", isTaken: { $0.contentAvailable }),
    Cell(
      "mutable-content", good: ["1"], bad: ["true", #""1""#, "1.0", "2", "null"], code: .mutableContentInvalid,
      effect: "extension does not run", isTaken: { $0.mutableContent }),
    Cell("target-content-id", good: [#""w""#], bad: ["1", "null"], effect: "ignored") { $0.targetContentID == "w" },
    Cell(
      "interruption-level", good: [#""passive""#, #""active""#, #""time-sensitive""#, #""critical""#],
      bad: ["1", "null", "{}"], effect: "treated as active", isTaken: { $0.interruptionLevel != nil }),
    Cell(
      "interruption-level", good: [], bad: [#""urgent""#, #""timeSensitive""#, #""Active""#, #""""#],
      code: .interruptionLevelUnknown, effect: "treated as active", isTaken: { $0.interruptionLevel != nil }),
    Cell(
      "relevance-score", good: ["0", "1", "0.5", "1.0"], bad: [#""0.5""#, "null", "true"], effect: "ignored",
      isTaken: { $0.relevanceScore != nil }),
    Cell(
      "relevance-score", good: [], bad: ["-0.1", "1.01", "100"], code: .relevanceOutOfRange, effect: "ignored",
      isTaken: { $0.relevanceScore != nil }),
    Cell("filter-criteria", good: [#""f""#], bad: ["1", "null", "[]"], effect: "ignored") { $0.filterCriteria == "f" },
    Cell(
      "content-changed", in: #"{"aps":{•}}"#, good: ["true"], bad: ["1", #""true""#, "false", "null"],
      effect: "Nothing is reloaded", pushType: .widgets, isTaken: { $0.contentChanged }),
    Cell(
      "content-changed", in: #"{"aps":{•}}"#, good: ["true"], bad: ["1", "null"], effect: "Nothing is reloaded",
      pushType: .controls, isTaken: { $0.contentChanged }),
    Cell("url-args", good: [], bad: ["1", #""a""#, "[1]"], effect: "ignores") { $0.urlArguments != nil },
  ]

  static let activities: [Cell] = [
    ofActivity(
      "timestamp", good: ["1700000000", "1700000000.5"], bad: [#""1700000000""#, "null", "true"],
      effect: "update is ignored", isTaken: { $0.timestamp != nil }),
    ofActivity(
      "event", good: [#""update""#], bad: ["1", "null"], effect: "update is ignored", isTaken: { $0.event != nil }),
    ofActivity(
      "event", good: [], bad: [#""Update""#, #""stop""#], code: .eventUnknown, effect: "update is ignored",
      isTaken: { $0.event != nil }),
    ofActivity(
      "content-state", good: ["{}", #"{"a":1}"#], bad: ["1", "[]", #""{}""#, "null"], effect: "update is ignored",
      isTaken: { $0.contentState != nil }),
    ofActivity(
      "stale-date", good: ["4000000000"], bad: [#""soon""#, "null"], effect: "ignored", isTaken: { $0.staleDate != nil }
    ),
    ofActivity(
      "dismissal-date", event: "end", good: ["0", "4000000000"], bad: [#""now""#, "null", "[]"], effect: "ignored",
      isTaken: { $0.dismissalDate != nil }),
    ofActivity(
      "dismissal-date", event: "end", good: [], bad: ["-5"], code: .dateInvalid, effect: "ignored",
      isTaken: { $0.dismissalDate != nil }),
    ofActivity(
      "attributes-type", event: "start", good: [#""A""#], bad: ["1", "null", "{}"], effect: "does not start",
      isTaken: { $0.attributesType != nil }),
    ofActivity(
      "attributes", event: "start", good: ["{}"], bad: ["1", "null", #""{}""#], effect: "does not start",
      isTaken: { $0.attributes != nil }),
    ofActivity(
      "input-push-token", event: "start", good: ["1"], bad: ["true", #""1""#, "2"], effect: "gets no push token",
      isTaken: { $0.wantsPushToken }),
    ofActivity(
      "input-push-channel", event: "start", good: [#""YQ==""#], bad: ["1", "null"], effect: "does not start",
      isTaken: { $0.pushChannel != nil }),
  ]

  static let alerts: [Cell] = [
    ofAlert("title", effect: "title is not shown") { $0.title == .literal("x") },
    ofAlert("subtitle", effect: "subtitle is not shown") { $0.subtitle == .literal("x") },
    ofAlert("body", effect: "body is not shown") { $0.body == .literal("x") },
    ofAlert("launch-image", effect: "ignored") { $0.launchImage == "x" },
    ofAlert("title-loc-key", effect: "not shown") { $0.title == .localized(key: "x", arguments: [], fallback: nil) },
    ofAlert("subtitle-loc-key", effect: "not shown") {
      $0.subtitle == .localized(key: "x", arguments: [], fallback: nil)
    },
    ofAlert("loc-key", effect: "not shown") { $0.body == .localized(key: "x", arguments: [], fallback: nil) },
    ofAlert(
      "title-loc-args", with: #""title-loc-key":"k","#, good: [#"["a"]"#], bad: ["1", #""a""#, "[1]", #"["a",null]"#],
      effect: "not filled", isTaken: { $0.title == .localized(key: "k", arguments: ["a"], fallback: nil) }),
    ofAlert(
      "subtitle-loc-args", with: #""subtitle-loc-key":"k","#, good: [#"["a"]"#], bad: ["null", "{}", "[[]]"],
      effect: "not filled", isTaken: { $0.subtitle == .localized(key: "k", arguments: ["a"], fallback: nil) }),
    ofAlert(
      "loc-args", with: #""loc-key":"k","#, good: [#"["a"]"#], bad: ["5", "[5]", "[true]"], effect: "not filled",
      isTaken: { $0.body == .localized(key: "k", arguments: ["a"], fallback: "b") }),
    ofAlert("action", good: [], bad: ["1", "null"], effect: "ignored") { $0.action != nil },
    ofAlert("action-loc-key", good: [], bad: ["1", "true"], effect: "ignored") { $0.actionLocKey != nil },
    ofAlert("summary-arg", good: [], bad: ["1", "null"], effect: "ignored") { $0.summaryArgument != nil },
    ofAlert("summary-arg-count", good: [], bad: [#""1""#, "-1", "1.5"], effect: "ignored") {
      $0.summaryArgumentCount != nil
    },
  ]

  static let sounds: [Cell] = [
    sound(
      "critical", good: ["0"], bad: ["true", #""1""#, "null", "2"], effect: "ordinary", isTaken: { !$0.isCritical }),
    sound(
      "name", good: [#""default""#, #""a.caf""#], bad: ["1", "null"], effect: "default sound", isTaken: { _ in true }),
    sound("volume", good: ["0", "1", "0.5"], bad: [#""1""#, "null"], effect: "in full", isTaken: { _ in true }),
    sound(
      "volume", good: [], bad: ["-1", "1.5", "100"], code: .volumeOutOfRange, effect: "is taken for",
      isTaken: { 0...1 ~= $0.volume }),
  ]

  static func sound(
    _ key: String, good: [String], bad: [String], code: LintCode = .wrongType, effect: String,
    isTaken: @escaping @Sendable (Payload.Sound) -> Bool
  ) -> Cell {
    Cell(
      key, in: #"{"aps":{"alert":"a","sound":{•}}}"#, path: JSONPath("aps", "sound", key), good: good, bad: bad,
      code: code,
      effect: effect)
  }
}

@Suite("apns.md §9: what iOS takes, cell by cell; phone and lint agree")
struct ApsCellTests {
  private func context(_ cell: Cell) -> LintContext {
    var context = LintContext()
    context.headers.pushType = cell.pushType?.rawValue
    return context
  }

  @Test("legal values are taken and lint clean", arguments: Cell.all)
  func good(cell: Cell) throws {
    for value in cell.good {
      let text = cell.payload.replacing("•", with: value)
      #expect(Lint.check(Array(text.utf8), context(cell)) == [], "\(text)")
      let payload = Payload(try read(text).value)
      #expect(payload.ignored.isEmpty, "\(text)")
      #expect(cell.isTaken?(payload) != false, "\(text)")
    }
  }

  @Test("malformed values are ignored by the phone, and lint tells where and what then happens", arguments: Cell.all)
  func bad(cell: Cell) throws {
    for value in cell.bad {
      let text = cell.payload.replacing("•", with: value)
      let finding = try #require(
        Lint.check(Array(text.utf8), context(cell)).first { $0.path == cell.path && $0.code == cell.code }, "\(text)")
      #expect(finding.severity == .error)
      #expect(finding.effect.contains(cell.effect), "\(finding.effect)")
      #expect(finding.offset == text.utf8.count - text[text.range(of: "•", in: cell)...].utf8.count)
      #expect(finding.length == value.utf8.count)
      #expect(finding.fix.hasSuffix(".") && finding.effect.hasSuffix(".") && !finding.message.hasSuffix("."))
      let payload = Payload(try read(text).value)
      #expect(payload.ignored.map(\.path) == [cell.path], "\(text)")
      #expect(payload.ignored.first.map { "\($0.path) \($0.found)" } == finding.message)
      #expect(payload.ignored.first?.effect == finding.effect)
      if cell.isTaken != nil, cell.path.steps.count == 2 || !cell.path.description.contains("args") {
        #expect(cell.isTaken?(payload) == false, "\(text)")
      }
    }
  }

  @Test("every key of the tables has a cell")
  func complete() {
    let keys = Set(Cell.all.map { $0.path.steps.last.map { "\($0)" } ?? "" })
    for name in [
      "alert", "badge", "sound", "thread-id", "category", "content-available", "mutable-content", "target-content-id",
      "interruption-level", "relevance-score", "filter-criteria", "content-changed", "timestamp", "event",
      "content-state",
      "stale-date", "dismissal-date", "attributes-type", "attributes", "input-push-token", "input-push-channel",
      "url-args",
      "title", "subtitle", "body", "launch-image", "title-loc-key", "subtitle-loc-key", "loc-key", "title-loc-args",
      "subtitle-loc-args", "loc-args", "action", "action-loc-key", "summary-arg", "summary-arg-count",
    ] {
      #expect(keys.contains("key(\"\(name)\")"), "\(name)")
    }
  }

  @Test("§9.3 relevance-score of a Live Activity may be any double")
  func relevance() throws {
    let text = Cell.activity.replacing("•", with: #""relevance-score":75.5"#)
    #expect(Lint.check(Array(text.utf8)) == [])
    #expect(Payload(try read(text).value).relevanceScore == 75.5)
  }

  @Test("§9.4 title and body of a Live Activity's alert may be objects, and the sound sits inside")
  func activityAlert() throws {
    let alert = #""alert":{"title":{"loc-key":"k","loc-args":["a"]},"body":"b","sound":"a.caf"}"#
    let text = Cell.activity.replacing("•", with: alert)
    #expect(Lint.check(Array(text.utf8)) == [])
    let payload = Payload(try read(text).value)
    #expect(payload.alert?.title == .localized(key: "k", arguments: ["a"], fallback: nil))
    #expect(payload.alert?.sound == "a.caf" && payload.ignored.isEmpty)
    let plain = Lint.check(Array(#"{"aps":{"alert":{"title":{"loc-key":"k"},"body":"b","sound":"x"}}}"#.utf8))
    #expect(plain.map(\.code) == [.wrongType, .unknownAlertKey])
  }

  @Test("a critical sound: taken with its volume, clamped when beyond")
  func critical() throws {
    let text =
      #"{"aps":{"alert":"a","interruption-level":"critical","sound":{"critical":1,"name":"a.caf","volume":1.5}}}"#
    #expect(Payload(try read(text).value).sound == Payload.Sound(name: "a.caf", isCritical: true, volume: 1))
  }

  @Test("what is no object at all is dropped, with the reason", arguments: ["[]", "1", #""a""#, "null", "true"])
  func noObject(text: String) throws {
    #expect(Payload(try read(text).value).ignored.first?.effect == "The phone drops the push.")
    #expect(Lint.check(Array(text.utf8)).map(\.code) == [.notAnObject])
  }

  @Test("D-001 userInfo is the whole dictionary, unknown keys and all")
  func userInfo() throws {
    let value = try read(#"{"aps":{"alert":"a","foo":[1]},"k":null,"aps2":{}}"#).value
    let payload = Payload(value)
    #expect(JSONValue.object(payload.userInfo) == value)
    #expect(payload.unknownInAps == ["foo": [1]] && payload.custom == ["k": .null, "aps2": [:]])
  }
}

extension String {
  /// Where the value of a cell begins in the payload made from it.
  fileprivate func range(of mark: String, in cell: Cell) -> String.Index {
    let head = cell.payload.prefix { String($0) != mark }
    return index(startIndex, offsetBy: head.count)
  }
}
