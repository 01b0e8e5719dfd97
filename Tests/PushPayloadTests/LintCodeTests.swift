import Basics
import PushPayload
import Testing

/// One thing that lint must find: the payload, with `«` before the place that the finding must point at.
struct LintRow: Sendable, CustomTestStringConvertible {
  var code: LintCode
  var severity: Severity
  var path: String
  var text: String
  /// Words that effect or fix must have.
  var words: String
  var change: @Sendable (inout LintContext) -> Void

  var testDescription: String { "\(code.rawValue): \(text.prefix(60))" }

  init(
    _ code: LintCode, _ severity: Severity, at path: String, _ text: String, _ words: String = "",
    _ change: @escaping @Sendable (inout LintContext) -> Void = { _ in }
  ) {
    self.code = code
    self.severity = severity
    self.path = path
    self.text = text
    self.words = words
    self.change = change
  }

  static func of(_ type: PushType) -> @Sendable (inout LintContext) -> Void {
    { $0.headers.pushType = type.rawValue }
  }

  static let plist: @Sendable (inout LintContext) -> Void = { $0.form = .plist }
  static let simulator: @Sendable (inout LintContext) -> Void = { $0.isSimulatorFile = true }
  static let now: @Sendable (inout LintContext) -> Void = { $0.now = Instant(seconds: 1_800_000_000) }
  static let long = String(repeating: "x", count: 5000)

  static let all: [LintRow] = texts + structures + values + meanings

  static let texts: [LintRow] = [
    LintRow(.emptyText, .error, at: "$", "«", "PayloadEmpty"),
    LintRow(.byteOrderMark, .error, at: "$", "«\u{FEFF}{}", "without BOM"),
    LintRow(.loneSurrogate, .error, at: "$", #"{"aps":{"alert":"«\ud83d"}}"#, "cut in the middle"),
    LintRow(.badEscape, .error, at: "$", #"{"aps":{"alert":"«\q"}}"#),
    LintRow(.controlCharacter, .error, at: "$", "{\"aps\":{\"alert\":\"a«\nb\"}}", #"Write it as \n"#),
    LintRow(.unexpectedEnd, .error, at: "$", #"{"aps":{"alert":"a"«"#, "} }"),
    LintRow(.syntax, .error, at: "$", #"{"aps":{"alert":"a" «"badge":1}}"#, "comma"),
    LintRow(.syntax, .error, at: "$", "{«aps={};}", "--format-in plist"),
    LintRow(.trailingComma, .error, at: "$", "{\"aps\":{},\n«}", "Remove the comma"),
    LintRow(.comment, .error, at: "$", "{\n«// note\n}", "no comments"),
    LintRow(.badNumber, .error, at: "$", #"{"aps":{"badge":«01}}"#),
    LintRow(.numberTooLarge, .error, at: "$", #"{"aps":{"badge":«1e400}}"#),
    LintRow(.trailingText, .error, at: "$", #"{"aps":{"badge":1}}«}"#),
    LintRow(.tooDeep, .error, at: "$", String(repeating: "[", count: 512) + "«[", "512"),
    LintRow(.plistSyntax, .error, at: "$", "{ aps = «; }", "", plist),
    LintRow(.duplicateKey, .warning, at: "aps.badge", #"{"aps":{"badge":1,«"badge":2}}"#, "the last"),
    LintRow(.notAnObject, .error, at: "$", #"«[{"aps":{}}]"#, "drops"),
    LintRow(
      .overLimit, .error, at: "$", "«{\"aps\":{\"alert\":\"\(long)\"}}",
      "Cut 924 bytes. The largest: aps.alert (5002 bytes)."),
    LintRow(
      .digitsLost, .warning, at: "list[1]", #"{"aps":{"badge":1},"list":[1,«12345678901234567890123]}"#, "string"),
    LintRow(.digitsLost, .warning, at: "n", #"{"aps":{"badge":1},"n":«0.1234567890123456789}"#),
  ]

  static let structures: [LintRow] = [
    LintRow(.apsMissing, .error, at: "$", #"«{"key":1}"#, "state the push type"),
    LintRow(.apsMissing, .hint, at: "$", "«{}", "Wallet"),
    LintRow(.apsMissing, .error, at: "$", "«{}", "shows nothing", of(.alert)),
    LintRow(.apsMisspelt, .error, at: "APS", #"{«"APS":{"alert":"a"}}"#, #"Write "aps""#),
    LintRow(.apsMisspelt, .error, at: "asp", #"{«"asp":{"alert":"a"}}"#),
    LintRow(.apsMisspelt, .error, at: "apns", #"{«"apns":{"alert":"a"}}"#),
    LintRow(.apsNested, .error, at: "data.aps", #"{"data":{«"aps":{"alert":"a"}}}"#, "top level"),
    LintRow(.apsNested, .error, at: "aps.aps", #"{"aps":{«"aps":{"alert":"a"},"badge":1}}"#, "up by one"),
    LintRow(.apsNotAnObject, .error, at: "aps", #"{"aps":«"hello"}"#),
    LintRow(
      .keyMisspelt, .error, at: "aps.content_available", #"{"aps":{"alert":"a",«"content_available":1}}"#, "hyphens"),
    LintRow(.keyMisspelt, .error, at: "aps.contentAvailable", #"{"aps":{"alert":"a",«"contentAvailable":1}}"#),
    LintRow(.keyMisspelt, .error, at: "aps.Badge", #"{"aps":{"alert":"a",«"Badge":1}}"#, #""badge""#),
    LintRow(.keyMisspelt, .error, at: "aps.mutable-contnet", #"{"aps":{"alert":"a",«"mutable-contnet":1}}"#),
    LintRow(
      .keyMisspelt, .error, at: "aps.target-content-identifier",
      #"{"aps":{"alert":"a",«"target-content-identifier":"w"}}"#, #""target-content-id""#),
    LintRow(.keyOutsideAps, .warning, at: "badge", #"{"aps":{"alert":"a"},«"badge":1}"#, "inside aps"),
    LintRow(.keyOutsideAps, .warning, at: "content_available", #"{"aps":{"alert":"a"},«"content_available":1}"#),
    LintRow(.keyOutsideAlert, .error, at: "aps.title", #"{"aps":{«"title":"A","alert":"a"}}"#, #""alert": {"title""#),
    LintRow(.customKeyInsideAps, .warning, at: "aps.orderId", #"{"aps":{"alert":"a",«"orderId":7}}"#, "out of aps"),
    LintRow(.deprecatedKey, .hint, at: "aps.alert.action", #"{"aps":{"alert":{"body":"b",«"action":"x"}}}"#),
    LintRow(.deprecatedKey, .hint, at: "aps.url-args", #"{"aps":{"alert":"a",«"url-args":["x"]}}"#, "Safari"),
    LintRow(
      .bundleKeySent, .warning, at: #"["Simulator Target Bundle"]"#,
      #"{«"Simulator Target Bundle":"a.b","aps":{"badge":1}}"#, ".apns"),
    LintRow(.bundleKeyMissing, .hint, at: "$", #"«{"aps":{"badge":1}}"#, "", simulator),
    LintRow(
      .bundleMismatch, .warning, at: #"["Simulator Target Bundle"]"#,
      #"{"Simulator Target Bundle":«"a.b","aps":{"badge":1}}"#, "a.c"
    ) {
      $0.isSimulatorFile = true
      $0.headers.topic = "a.c"
    },
  ]

  static let values: [LintRow] = [
    LintRow(.wrongType, .error, at: "aps.category", #"{"aps":{"alert":"a","category":«7}}"#),
    LintRow(.badgeInvalid, .error, at: "aps.badge", #"{"aps":{"badge":«"+1"}}"#, "/v3/push"),
    LintRow(.contentAvailableInvalid, .error, at: "aps.content-available", #"{"aps":{"content-available":«true}}"#),
    LintRow(
      .mutableContentInvalid, .error, at: "aps.mutable-content", #"{"aps":{"alert":"a","mutable-content":«"1"}}"#),
    LintRow(.flagZero, .hint, at: "aps.content-available", #"{"aps":{"alert":"a","content-available":«0}}"#),
    LintRow(
      .mutableContentWithoutAlert, .warning, at: "aps.mutable-content", #"{"aps":{"badge":1,"mutable-content":«1}}"#,
      "does not run"),
    LintRow(
      .unknownAlertKey, .error, at: "aps.alert.bodi", #"{"aps":{"alert":{"title":"t",«"bodi":"b"}}}"#, #""body""#),
    LintRow(
      .unknownAlertKey, .error, at: "aps.alert.badge", #"{"aps":{"alert":{"title":"t",«"badge":1}}}"#, "out of alert"),
    LintRow(.unknownSoundKey, .warning, at: "aps.sound.file", #"{"aps":{"alert":"a","sound":{«"file":"x"}}}"#),
    LintRow(
      .interruptionLevelUnknown, .error, at: "aps.interruption-level",
      #"{"aps":{"alert":"a","interruption-level":«"time_sensitive"}}"#, #"Write "time-sensitive""#),
    LintRow(.relevanceOutOfRange, .error, at: "aps.relevance-score", #"{"aps":{"alert":"a","relevance-score":«1.5}}"#),
    LintRow(
      .volumeOutOfRange, .error, at: "aps.sound.volume", #"{"aps":{"alert":"a","sound":{"volume":«2}}}"#, "taken for 1"),
    LintRow(.soundFormat, .warning, at: "aps.sound", #"{"aps":{"alert":"a","sound":«"bell.MP3"}}"#, ".caf"),
    LintRow(.soundEmpty, .hint, at: "aps.sound", #"{"aps":{"alert":"a","sound":«""}}"#, "silent"),
    LintRow(
      .criticalWithoutLevel, .warning, at: "aps.sound", #"{"aps":{"alert":"a","sound":«{"critical":1,"volume":1}}}"#,
      "entitlement"),
    LintRow(
      .criticalWithoutVolume, .hint, at: "aps.sound",
      #"{"aps":{"alert":"a","interruption-level":"critical","sound":«{"critical":1}}}"#, "full"),
    LintRow(
      .argumentsWithoutKey, .warning, at: "aps.alert.loc-args", #"{"aps":{"alert":{"body":"b",«"loc-args":["x"]}}}"#,
      "loc-key"),
    LintRow(
      .argumentsWithoutKey, .warning, at: "aps.alert.title-loc-args",
      #"{"aps":{"alert":{"body":"b",«"title-loc-args":["x"],"loc-key":"k"}}}"#, "title-loc-key"),
    LintRow(
      .placeholderWithoutArguments, .warning, at: "aps.alert.body",
      #"{"aps":{"alert":{"body":«"Hi %1$@, 100%% off"}}}"#,
      "as it is written"),
    LintRow(.placeholderWithoutArguments, .warning, at: "aps.alert", #"{"aps":{"alert":«"Hi %@"}}"#, "loc-args"),
    LintRow(
      .placeholderWithoutArguments, .warning, at: "aps.alert.loc-key",
      #"{"aps":{"alert":{"loc-key":«"%@ likes %@","loc-args":["Lin"]}}}"#, "2 strings"),
    LintRow(.dateInvalid, .error, at: "aps.stale-date", activity(#""stale-date":«-1"#)),
    LintRow(.milliseconds, .error, at: "aps.timestamp", activity("", timestamp: "«1700000000000"), "divide by 1000"),
    LintRow(.milliseconds, .error, at: "aps.stale-date", activity(#""stale-date":«1700000000000"#)),
    LintRow(.datePast, .warning, at: "aps.stale-date", activity(#""stale-date":«1700000001"#), "stale at once", now),
  ]

  static func activity(_ more: String, timestamp: String = "1700000000", event: String = "update") -> String {
    #"{"aps":{"timestamp":\#(timestamp),"event":"\#(event)","content-state":{}\#(more.isEmpty ? "" : ",")\#(more)}}"#
  }

  static let meanings: [LintRow] = [
    LintRow(.nothingToShow, .warning, at: "aps", #"{"aps":«{}}"#, "shows nothing"),
    LintRow(.nothingToShow, .warning, at: "aps", #"{"aps":«{"category":"c"}}"#),
    LintRow(.emptyAlert, .warning, at: "aps.alert", #"{"aps":{"alert":«{"title":""}}}"#, "nothing is shown"),
    LintRow(.emptyAlert, .warning, at: "aps.alert", #"{"aps":{"alert":«"","badge":2}}"#, "only badge and sound"),
    LintRow(
      .silentWithEmptyAlert, .warning, at: "aps.alert", #"{"aps":{"alert":«"","content-available":1}}"#,
      "Leave alert out"),
    LintRow(.pushTypeMismatch, .error, at: "aps", #"{"aps":«{"alert":"a"}}"#, "not woken", of(.background)),
    LintRow(.pushTypeMismatch, .error, at: "aps", #"{"aps":«{"content-available":1}}"#, "background", of(.alert)),
    LintRow(.pushTypeMismatch, .error, at: "aps", #"{"aps":«{"category":"c"}}"#, "Add an alert", of(.alert)),
    LintRow(.pushTypeMismatch, .error, at: "aps", #"{"aps":«{"alert":"a"}}"#, "content-changed", of(.widgets)),
    LintRow(.pushTypeMismatch, .error, at: "aps", #"{"aps":«{"alert":"a"}}"#, "mdm", of(.mdm)),
    LintRow(.pushTypeMismatch, .error, at: "$", #"«{"k":1}"#, "mdm", of(.mdm)),
    LintRow(
      .pushTypeMismatch, .error, at: "aps.content-changed", #"{"aps":{"alert":"a",«"content-changed":true}}"#,
      "controls",
      of(.alert)),
    LintRow(
      .pushTypeMismatch, .error, at: "aps.event",
      #"{"aps":{"timestamp":1,"event":«"start","content-state":{},"attributes-type":"A","attributes":{},"alert":"a"}}"#,
      "push-to-start"
    ) { $0.isBroadcast = true },
    LintRow(
      .backgroundNotAlone, .error, at: "aps.sound", #"{"aps":{"content-available":1,«"sound":"default"}}"#,
      "refuse, delay or drop", of(.background)),
    LintRow(
      .backgroundNotAlone, .error, at: "aps.alert", #"{"aps":{"content-available":1,«"alert":"a"}}"#, "",
      of(.background)),
    LintRow(
      .backgroundNotAlone, .warning, at: "aps.badge", #"{"aps":{"content-available":1,«"badge":0}}"#, "no silent push"),
    LintRow(.backgroundNotAlone, .warning, at: "aps.sound", #"{"aps":{"content-available":1,«"sound":"default"}}"#),
    LintRow(.eventUnknown, .error, at: "aps.event", #"{"aps":{"timestamp":1,"event":«"begin","content-state":{}}}"#),
    LintRow(
      .liveActivityKeyMissing, .error, at: "aps.timestamp", #"{"aps":«{"event":"update","content-state":{}}}"#,
      "update is ignored"),
    LintRow(
      .liveActivityKeyMissing, .error, at: "aps.attributes-type",
      #"{"aps":«{"timestamp":1,"event":"start","content-state":{},"attributes":{},"alert":"a"}}"#, "does not start"),
    LintRow(
      .liveActivityKeyMissing, .error, at: "aps.alert",
      #"{"aps":«{"timestamp":1,"event":"start","content-state":{},"attributes":{},"attributes-type":"A"}}"#),
    LintRow(.liveActivityKeyMissing, .error, at: "aps.event", #"{"aps":«{"timestamp":1}}"#, "", of(.liveactivity)),
    LintRow(.liveActivityKeyMissing, .hint, at: "aps.content-state", #"{"aps":«{"timestamp":1,"event":"end"}}"#),
    LintRow(
      .liveActivityKeyMisplaced, .warning, at: "aps.dismissal-date", activity(#"«"dismissal-date":1"#), "event end"),
    LintRow(.liveActivityKeyMisplaced, .warning, at: "aps.attributes", activity(#"«"attributes":{}"#), "Leave it out"),
    LintRow(.liveActivityKeyMisplaced, .warning, at: "aps.sound", activity(#"«"sound":"default""#), "into alert"),
    LintRow(
      .liveActivityKeyMisplaced, .error, at: "aps.event", #"{"aps":{"alert":"a",«"event":"update"}}"#, "liveactivity",
      of(.alert)),
    LintRow(.liveActivityKeyMisplaced, .warning, at: "aps.attributes", #"{"aps":{"alert":"a",«"attributes":{}}}"#),
    LintRow(
      .timestampAhead, .warning, at: "aps.timestamp", activity("", timestamp: "«1800000301"), "1800000000", now),
    LintRow(
      .dismissalDateTooFar, .warning, at: "aps.dismissal-date",
      activity(#""dismissal-date":«1800014401"#, event: "end"), "1800014400", now),
    LintRow(
      .channelIDInvalid, .error, at: "aps.input-push-channel",
      activity(#""input-push-channel":«"no channel""#, event: "start"), "does not start"),
    LintRow(
      .overLimit, .error, at: "$", "«" + activity("\"x\":\"\(String(repeating: "x", count: 5100))\""), "5120"
    ) { $0.isBroadcast = true },
  ]

  /// Codes whose rows are in PushHeadersTests, or need bytes that no String holds.
  static let elsewhere: Set<LintCode> = [
    .notUTF8, .tooLong, .duplicateHeader, .unknownHeader, .idInvalid, .idUpperCase, .topicMissing, .topicInvalid,
    .topicSuffix, .pushTypeMissing, .pushTypeUnknown, .priorityInvalid, .priorityUnfit, .expirationInvalid,
    .expirationPast, .expirationInterval, .expirationMilliseconds, .expirationTooFar, .expirationUnfit,
    .collapseIDTooLong, .collapseIDShared, .channelIDMissing,
  ]
}

@Suite("lint.md: what lint finds")
struct LintCodeTests {
  @Test("is found, at its place, with effect and fix", arguments: LintRow.all)
  func finds(row: LintRow) throws {
    let parts = row.text.split(separator: "«", omittingEmptySubsequences: false).map(String.init)
    try #require(parts.count == 2)
    var context = LintContext()
    row.change(&context)
    let bytes = Array(parts.joined().utf8)
    let findings = Lint.check(bytes, context)
    let finding = try #require(
      findings.first { $0.code == row.code && $0.path.description == row.path }, "found only \(findings)")
    #expect(finding.severity == row.severity)
    #expect(finding.offset == parts[0].utf8.count)
    #expect(
      SourcePlace(offset: finding.offset, in: bytes)
        == SourcePlace(offset: finding.offset, line: finding.line, column: finding.column))
    #expect("\(finding.message) \(finding.effect) \(finding.fix)".contains(row.words), "\(finding)")
    #expect(finding.fix.hasSuffix(".") && finding.effect.hasSuffix(".") && !finding.message.hasSuffix("."))
    #expect(finding.header == nil)
  }

  @Test("no code is without a row, and every code is written in one way")
  func complete() {
    let tested = Set(LintRow.all.map(\.code)).union(LintRow.elsewhere)
    #expect(Set(LintCode.allCases).subtracting(tested) == [])
    for code in LintCode.allCases {
      #expect(code.rawValue.utf8.allSatisfy { $0 == 0x2D || 0x61...0x7A ~= $0 || 0x30...0x39 ~= $0 })
      #expect(!code.summary.isEmpty && !code.summary.hasSuffix("."))
    }
  }

  static let cleanPayloads: [(String, PushType?)] = [
    (#"{"aps":{"alert":"a"}}"#, nil), (#"{"aps":{"alert":{"loc-key":"%@ %2$@","loc-args":["a","b"]}}}"#, .alert),
    (#"{"aps":{"badge":0}}"#, .alert), (#"{"aps":{"sound":"bell.caf"}}"#, .alert),
    (#"{"aps":{"content-available":1}}"#, .background),
    (#"{"aps":{"content-available":1,"category":"c"}}"#, .background),
    (#"{"aps":{"content-available":1},"k":{"aps":1}}"#, nil), (#"{"aps":{"alert":"a","content-available":1}}"#, .alert),
    (#"{"mdm":"magic"}"#, nil), (#"{"mdm":"magic"}"#, .mdm), ("{\"call\":\"x\"}", .voip), ("{}", .voip),
    (#"{"container-identifier":"c","domain":"d"}"#, .fileprovider), ("{}", .location), ("{}", .pushtotalk),
    ("{}", .complication),
    (#"{"aps":{"content-changed":true}}"#, .controls), (#"{"aps":{"content-changed":true}}"#, nil),
    (
      #"{"aps":{"timestamp":1700000000,"event":"update","content-state":{"a":1},"stale-date":4000000000,"relevance-score":100}}"#,
      nil
    ),
    (#"{"aps":{"timestamp":1700000000,"event":"end","content-state":{},"dismissal-date":1}}"#, .liveactivity),
    (
      #"{"aps":{"timestamp":1700000000,"event":"start","content-state":{},"attributes-type":"A","attributes":{},"alert":{"title":"t","body":"b","sound":"x.caf"},"input-push-token":1}}"#,
      .liveactivity
    ),
    (
      #"{"aps":{"alert":{"title":"t","subtitle":"s","body":"100%"},"badge":3,"sound":{"critical":1,"name":"default","volume":0.5},"interruption-level":"critical","thread-id":"t","category":"c","mutable-content":1,"target-content-id":"w","relevance-score":0.5,"filter-criteria":"f"},"n":9007199254740993,"x":18446744073709551615,"aps_":[null,1.10]}"#,
      .alert
    ),
  ]

  @Test("what is right is not found fault with", arguments: cleanPayloads)
  func clean(text: String, type: PushType?) {
    var context = LintContext()
    context.headers.pushType = type?.rawValue
    #expect(Lint.check(Array(text.utf8), context) == [])
  }

  @Test("bytes that no text can hold")
  func bytes() {
    #expect(Lint.check([0x7B, 0x22, 0xFF, 0x22, 0x7D]).map(\.code) == [.notUTF8])
    #expect(Lint.check([UInt8](repeating: 0x20, count: 16 << 20 + 1)).map(\.code) == [.tooLong])
  }

  @Test("findings come in the order of the text, those of headers last")
  func order() {
    var context = LintContext()
    context.headers = PushHeaders(pushType: "alert", priority: "9")
    let text =
      #"{"x":12345678901234567890123,"aps":{"foo":1,"badge":"1","alert":{"bar":1,"body":2},"sound":{"volume":9}},"x":1}"#
    let findings = Lint.check(Array(text.utf8), context)
    #expect(
      findings.map(\.code) == [
        .digitsLost, .customKeyInsideAps, .badgeInvalid, .emptyAlert, .unknownAlertKey, .wrongType, .volumeOutOfRange,
        .duplicateKey,
        .priorityInvalid,
      ])
    #expect(findings.last?.header == .priority)
  }
}
