import Basics

/// One run of lint over one payload. Walks the tape; makes Strings only for findings.
struct LintRun {
  let tape: JSONTape
  let context: LintContext
  private(set) var findings: [Finding] = []

  // What the walk came across; node 0 is the document, so 0 stands for "not there".
  var aps = 0
  var mdm = 0
  var bundleKey = 0
  var misspeltAps = false
  /// The members of `aps` that count: of a key that came twice the last.
  var members: [(key: ApsKey, node: Int)] = []
  var alertMembers: [(key: AlertKey, node: Int)] = []
  /// The push type that is stated, or else what the payload is taken for.
  var type = PushType.alert
  var statedType: PushType?

  static func check(_ bytes: [UInt8], _ context: LintContext) -> [Finding] {
    let tape: JSONTape
    do {
      switch context.form {
      case .json: tape = try JSONTape(reading: bytes, limits: JSONReader.Limits())
      case .plist: tape = try PlistReader.tape(reading: bytes)
      }
    } catch {
      return check(error, context)
    }
    return check(tape, context)
  }

  static func check(_ fault: JSONFault, _ context: LintContext) -> [Finding] {
    [Finding(fault, form: context.form)] + headerFindings(context, inferredType: nil)
  }

  static func check(_ tape: JSONTape, _ context: LintContext) -> [Finding] {
    var run = LintRun(tape: tape, context: context)
    run.checkAll()
    return run.placed() + headerFindings(context, inferredType: run.aps > 0 || run.mdm > 0 ? run.type : nil)
  }

  private init(tape: JSONTape, context: LintContext) {
    self.tape = tape
    self.context = context
    statedType = context.headers.knownPushType
  }

  private mutating func checkAll() {
    guard tape.nodes[0].kind == .object else {
      add(
        .notAnObject, .error, 0, "the payload is \(tape.shape(of: 0).words), not an object",
        "The phone drops the push.", #"Send an object: {"aps": {…}}."#)
      return
    }
    noteDuplicates()
    noteLostDigits()
    walkTop()
    if aps > 0 { walkAps() }
    type = statedType ?? traits.inferredType
    judgeWhole()
    judgeSize()
  }

  // MARK: Findings

  mutating func add(
    _ code: LintCode, _ severity: Severity, _ node: Int, _ message: String, _ effect: String, _ fix: String,
    path: JSONPath? = nil
  ) {
    findings.append(
      Finding(
        code: code, severity: severity, path: path ?? tape.path(to: node), header: nil, offset: tape.offset(of: node),
        line: 0, column: 0, length: max(1, tape.end(of: node) - tape.offset(of: node)), message: message,
        effect: effect, fix: fix))
  }

  mutating func add(_ flaw: Flaw, _ severity: Severity, _ node: Int, _ path: JSONPath) {
    add(flaw.code, severity, node, "\(path) \(flaw.found)", flaw.effect, flaw.fix, path: path)
  }

  /// In the order of the text, each with its line and column, found in one pass.
  private func placed() -> [Finding] {
    guard !findings.isEmpty else { return [] }
    let text = tape.origin?.text ?? tape.bytes
    let order = findings.indices.sorted { (findings[$0].offset, $0) < (findings[$1].offset, $1) }
    var counter = PlaceCounter(text)
    return order.map { index in
      var finding = findings[index]
      let place = counter.place(at: finding.offset)
      finding.line = place.line
      finding.column = place.column
      return finding
    }
  }

  private static func headerFindings(_ context: LintContext, inferredType: PushType?) -> [Finding] {
    guard context.headersAreComplete || !context.headers.isEmpty else { return [] }
    var setting = PushHeaders.Setting()
    setting.isComplete = context.headersAreComplete
    setting.inferredType = inferredType
    setting.now = context.now
    setting.isBroadcast = context.isBroadcast
    setting.isTemplate = context.isTemplate
    return context.headers.faults(setting).map { fault in
      Finding(
        code: fault.code, severity: fault.severity, path: .root, header: fault.header, offset: 0, line: 1, column: 1,
        length: 1, message: fault.found, effect: fault.effect, fix: fault.fix)
    }
  }

  // MARK: The text

  private mutating func noteDuplicates() {
    guard !tape.duplicates.isEmpty else { return }
    let values = tape.duplicates.map { Int($0) + 1 }
    for (path, value) in zip(tape.paths(to: values), values) {
      add(
        .duplicateKey, .warning, value - 1, "\(path) comes twice in the same object",
        "iOS keeps the last; other readers may keep the first.", "Keep one of them.", path: path)
    }
  }

  private mutating func noteLostDigits() {
    let suspects = tape.nodes.indices.filter { node in
      let place = tape.nodes[node]
      return place.kind == .number && place.end - place.start > 17 && tape.losesDigits(node)
    }
    guard !suspects.isEmpty else { return }
    for (path, node) in zip(tape.paths(to: suspects), suspects) {
      let literal = String(decoding: tape.bytes[tape.range(of: node)], as: UTF8.self)
      let shown = literal.count > 40 ? literal.prefix(39) + "…" : literal
      add(
        .digitsLost, .warning, node, "\(path) is \(shown), more digits than a number on the phone holds",
        "The app gets a rounded number.", "Send it as a string.", path: path)
    }
  }

  // MARK: The top level

  /// Keys of `aps` that hardly anybody uses for data of their own.
  private static let distinctive: [(key: ApsKey, letters: [UInt8])] = [
    ApsKey.alert, .badge, .sound, .contentAvailable, .mutableContent, .threadID, .targetContentID, .interruptionLevel,
    .relevanceScore, .contentState,
  ].map { ($0, $0.rawValue.utf8.filter { $0 != UInt8(ascii: "-") }) }

  private mutating func walkTop() {
    var strangers: [Int] = []
    for value in tape.children(of: 0) {
      let key = value - 1
      if tape.says("aps", key) {
        aps = value
      } else if tape.says("mdm", key) {
        mdm = value
      } else if tape.says("Simulator Target Bundle", key) {
        bundleKey = value
      } else {
        strangers.append(value)
      }
    }
    if aps > 0, tape.nodes[aps].kind != .object {
      add(
        .apsNotAnObject, .error, aps, "aps is \(tape.shape(of: aps).words), not an object",
        "Nothing is shown and nothing wakes.", #"Write "aps": {"alert": "…"}."#, path: JSONPath("aps"))
    }
    for value in strangers.prefix(Self.strangersJudged) { judgeStranger(value) }
    judgeBundleKey()
  }

  /// Beyond so many unknown keys it is the app's data, not a slip of the pen.
  static let strangersJudged = 64

  private mutating func judgeStranger(_ value: Int) {
    let key = value - 1
    let isObject = tape.nodes[value].kind == .object
    let length = tape.nodes[key].end - tape.nodes[key].start - 2
    if aps == 0, isObject, length < 6, nearest(to: tape.string(key), in: ["aps"]) != nil || tape.isNearAps(key) {
      misspeltAps = true
      return add(
        .apsMisspelt, .error, key, "the key \(tape.quoted(key)) is not \"aps\"",
        "It is taken for data of the app: nothing is shown and nothing wakes.", #"Write "aps", in lower case."#)
    }
    if isObject,
      let inner = tape.children(of: value).first(where: { tape.says("aps", $0 - 1) && tape.nodes[$0].kind == .object })
    {
      let path = JSONPath([.key(tape.string(key)), .key("aps")])
      if aps == 0 { misspeltAps = true }
      return add(
        .apsNested, aps == 0 ? .error : .warning, inner - 1, "\(path) is not at the top level",
        "It is taken for data of the app: nothing of it is shown.", "Move aps to the top level.", path: path)
    }
    if let known = Self.distinctive.first(where: { tape.isLike($0.letters, key) })?.key, !hasInAps(known) {
      noteOutside(key, known)
    }
  }

  private mutating func noteOutside(_ key: Int, _ known: ApsKey) {
    add(
      .keyOutsideAps, .warning, key, "\(tape.quoted(key)) stands beside aps, not inside",
      "It is taken for data of the app: iOS does not act on it.", "Write \"\(known.rawValue)\" inside aps.")
  }

  private func hasInAps(_ key: ApsKey) -> Bool {
    guard aps > 0 else { return false }
    return tape.children(of: aps).contains { ApsKey.table.key(of: tape, at: $0 - 1) == key }
  }

  private mutating func judgeBundleKey() {
    if bundleKey == 0 {
      guard context.isSimulatorFile else { return }
      return add(
        .bundleKeyMissing, .hint, 0, "\"Simulator Target Bundle\" is absent",
        "Apple's simulator takes the file only with the bundle id on its command line.",
        #"Add "Simulator Target Bundle": "<bundle id>"."#)
    }
    if !context.isSimulatorFile, context.form == .json {
      add(
        .bundleKeySent, .warning, bundleKey - 1, "\"Simulator Target Bundle\" is meant for .apns files",
        "APNs hands it to the app as data.", "Leave it out, or call the file .apns.")
    }
    guard context.isSimulatorFile, let topic = context.headers.topic else { return }
    let bundle = tape.nodes[bundleKey].kind == .string ? tape.string(bundleKey) : ""
    let wanted = PushType.suffixed(topic: topic).map { String(topic.dropLast($0.topicSuffix.count)) } ?? topic
    if bundle != wanted, bundle != topic {
      add(
        .bundleMismatch, .warning, bundleKey, "the file is for \(tape.quoted(bundleKey)), the topic for another app",
        "Sent by APNs, the push reaches the app of the topic.", "Write \"\(wanted)\", or send another topic.")
    }
  }

  // MARK: Size

  private mutating func judgeSize() {
    let limit = context.isBroadcast ? PushType.broadcastSizeLimit : type.sizeLimit
    let isSentAsWritten = context.form == .json && !(context.isSimulatorFile && bundleKey > 0)
    guard tape.bytes.count > limit else { return }
    let compact = tape.compactSize(of: 0) - (context.isSimulatorFile ? tape.compactMemberSize(bundleKey) : 0)
    let size = isSentAsWritten ? tape.bytes.count : compact
    guard size > limit else { return }
    let large = tape.largestStrings(2).map { "\(tape.path(to: $0.node)) (\($0.size) bytes)" }
    let cut = large.isEmpty ? "" : " The largest: \(large.joined(separator: ", "))."
    let fix =
      compact <= limit
      ? "Write it without white space and \\u escapes: \(compact) bytes."
      : "Cut \(compact - limit) bytes"
        + (compact < size ? " after white space and \\u escapes (\(compact) bytes)." : ".")
        + cut
    add(
      .overLimit, .error, 0,
      "the payload has \(size) bytes, \(size - limit) more than the \(limit) of "
        + (context.isBroadcast ? "a broadcast" : "push type \(type.rawValue)"),
      "APNs refuses the push: 413 PayloadTooLarge.", fix, path: .root)
  }
}

extension Lint {
  /// Every finding, in the order of the text; findings about headers follow. `[]` says that the payload is understood
  /// by APNs and iOS as it is written. Never fails: what cannot be read is a finding. Time is linear in the size.
  public static func check(_ bytes: [UInt8], _ context: LintContext = LintContext()) -> [Finding] {
    LintRun.check(bytes, context)
  }
}
