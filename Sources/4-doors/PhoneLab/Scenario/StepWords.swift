public import Basics
public import Phone
public import PushPayload

/// What a line of words asks of one phone.
public enum TypedStep: Equatable, Sendable {
  case events([Phone.Event])
  case wait(Instant.Span)
  case until(Instant)
}

/// The steps of scenarios as a person types them to one phone: `tap news`, `action reply text="On my way"`,
/// `change mute=on`, `app setBadge 3`. What can happen to a phone is told once, in the tables of scenarios; words are turned
/// into what a scenario would write there, and are read by the same rows.
///
///     VERB [APP] [VALUE] [APP] [NAME=VALUE…]        the app may stand where it reads best, or as of=APP
public struct StepWords: Sendable {
  public typealias JSON5Reader = @Sendable ([UInt8]) throws -> JSONValue

  /// One verb, for help and completion.
  public struct Entry: Sendable {
    public var name: String
    /// What stands behind the name.
    public var usage: String
    public var help: String
    public var group: Group
  }

  public enum Group: String, CaseIterable, Sendable {
    case pushes, finger, settings, system, time
  }

  private let json5: JSON5Reader
  private let sources: ScenarioSources

  public init(_ sources: ScenarioSources, json5: @escaping JSON5Reader) {
    self.sources = sources
    self.json5 = json5
  }

  /// Every verb that a person may type; those that need a provider, a service or a description of an app are not there.
  public static let entries: [Entry] = Verb.groups.flatMap { group, verbs in
    verbs.filter { !Verb.ofScenarios.contains($0.name) }
      .map { Entry(name: $0.name, usage: $0.typedUsage, help: $0.help, group: group) }
  }

  /// What an app's code can be told to do, behind `app`.
  public static let acts: [Entry] = ActRow.all.map {
    Entry(name: $0.name, usage: $0.shape.usage, help: $0.help, group: .system)
  }

  /// The switches behind `change`, and those of one app behind `userSettings`.
  public static let phoneSettings = SettingRows.phone.map(\.entry)
  public static let userSettings = SettingRows.user.map(\.entry)

  /// The verb of that name, typed without regard to case, `-` and `_`.
  public static func find(_ word: String) -> Entry? {
    entries.first { TypedValue.plain($0.name) == TypedValue.plain(word) }
  }

  /// Reads a step; nil when the first word is no verb. `usualApp` is meant where none is named: a bundle id.
  ///
  /// - Throws: the verb and the member of it that is wrong, what was found, and what to write.
  public func read(_ words: [String], on phone: Phone, usualApp: String?) throws(ScenarioFault) -> TypedStep? {
    guard let verb = words.first.flatMap(Self.find).flatMap({ Verb.named($0.name) }) else { return nil }
    let path = JSONPath([.key(verb.name)])
    let apps = AppNames(phone.bundleIDs)
    var typed = TypedValue(words: words.dropFirst(), json5: json5, path: path)
    typed.ends = apps.byName.keys.contains
    var step: JSONObject = [:]
    var bundleID = usualApp ?? phone.bundleIDs.first
    var isNamed = false
    func takeApp() throws(ScenarioFault) {
      guard verb.subject != .phone, !isNamed, let word = typed.words.first else { return }
      if let found = try apps.find(word, at: path) {
        typed.words.removeFirst()
        (bundleID, isNamed) = (found, true)
      }
    }
    /// `text=…`, `of=…`: what stands beside the verb in a scenario.
    func takeMembers() throws(ScenarioFault) {
      let known = verb.more + [Shape.Field(name: "of", shape: .text, help: "")]
      var rest: [String] = []
      for word in typed.words {
        guard let pair = TypedValue.pair(word), let field = known.first(where: { $0.name == pair.name }) else {
          rest.append(word)
          continue
        }
        step[field.name] = try TypedValue.value(of: pair.value, field.shape, json5, path.appending(field.name))
      }
      typed.words = rest[...]
    }
    try takeMembers()
    if verb.shape.takesNothing { try takeApp() }
    let value =
      verb.shape.isNameOfApp(of: verb.subject)
      ? isNamed ? bundleID.map(JSONValue.string) : .bool(true) : try typed.take(verb.shape)
    guard let value else {
      throw ScenarioFault(path: path, found: "it needs a value", remedy: "Type \(verb.name) \(verb.typedUsage).")
    }
    try takeApp()
    if step["entry"] == nil, verb.more.contains(where: { $0.name == "entry" }), let id = typed.words.popFirst() {
      step["entry"] = .string(id)
    }
    if let word = typed.words.first {
      throw ScenarioFault(
        path: path, found: "'\(word)' is one word too many",
        remedy: "Type \(verb.name)\(verb.typedUsage.isEmpty ? "" : " ")\(verb.typedUsage).")
    }
    if let of = step["of"]?.string { bundleID = try apps.find(of, at: path.appending("of")) ?? of }
    let reading = Reading(value, at: path, sources)
    let context = StepContext(
      bundleID: bundleID, step: Reading(.object(step), at: path, sources), apps: apps.byName)
    return try TypedStep(try verb.read(reading, context), on: phone)
  }

  /// Sets one switch of a phone that is not there yet, as in `mute=on`.
  public func set(_ word: String, in settings: inout PhoneSettings) throws(ScenarioFault) {
    var typed = TypedValue(words: [word], json5: json5, path: .root)
    let value = try typed.take(SettingRows.phone.shape())
    guard let value, typed.words.isEmpty else {
      throw ScenarioFault(path: .root, found: "'\(word)' sets nothing", remedy: "Write NAME=VALUE, as in mute=on.")
    }
    try SettingRows.phone.read(Reading(value, sources), into: &settings)
  }

  /// Every switch of a phone, as it is and would be typed behind `change`.
  public static func settings(of settings: PhoneSettings) -> [(name: String, value: String)] {
    SettingRows.phone.map { ($0.name, typed($0.write?(settings) ?? .null)) }
  }

  /// The user's switches for an app, as they are and would be typed behind `userSettings`.
  public static func settings(of settings: Phone.UserSettings) -> [(name: String, value: String)] {
    SettingRows.user.map { ($0.name, typed($0.write?(settings) ?? .null)) }
  }

  private static func typed(_ value: JSONValue) -> String {
    switch value {
    case .null: "default"
    case .bool(let flag): flag ? "on" : "off"
    case .string(let text): text
    case .array(let list): list.map(typed).joined(separator: ",")
    case .number, .object: value.text
    }
  }
}

/// The apps of a phone by the words that mean them: bundle id, or its last part.
private struct AppNames {
  let bundleIDs: [String]
  let byName: [String: String]

  init(_ bundleIDs: [String]) {
    self.bundleIDs = bundleIDs
    byName = Dictionary(
      bundleIDs.map { ($0.split(separator: ".").last.map(String.init) ?? $0, $0) } + bundleIDs.map { ($0, $0) },
      uniquingKeysWith: { first, _ in first })
  }

  /// nil: the word means something else. One that looks like a bundle id and is of no app here is a fault.
  func find(_ word: String, at path: JSONPath) throws(ScenarioFault) -> String? {
    if let bundleID = byName[word] { return bundleID }
    guard word.split(separator: ".").count >= 3, word.allSatisfy({ $0.isLetter || $0.isNumber || "-.".contains($0) })
    else { return nil }
    let installed = bundleIDs.isEmpty ? "None is installed" : "Installed: \(bundleIDs.joined(separator: ", "))"
    throw ScenarioFault(path: path, found: "there is no app \(word) on this phone", remedy: "\(installed).")
  }
}

extension TypedStep {
  fileprivate init(_ deeds: [Deed], on phone: Phone) throws(ScenarioFault) {
    var events: [Phone.Event] = []
    for deed in deeds {
      switch deed {
      case .event(let make): events.append(make(phone, ScenarioNames()))
      case .wait(let span):
        self = .wait(span)
        return
      case .until(let time):
        self = .until(time)
        return
      case .message(let sent):
        var message = sent.message
        if message.sequence == 0 { message.sequence = phone.newestMessage(of: sent.bundleID) + 1 }
        events.append(.message(bundleID: sent.bundleID, message))
      case .cutMessages(let bundleID): events.append(.messagesDisconnected(bundleID: bundleID))
      case .push, .service, .createChannel, .renewTokens, .install: break  // of verbs that are not typed
      }
    }
    self = .events(events)
  }
}

extension Row {
  fileprivate var entry: StepWords.Entry { .init(name: name, usage: shape.usage, help: help, group: .settings) }
}

extension Verb {
  /// Verbs that mean something only in a scenario, which has a provider, a service and descriptions of apps.
  static let ofScenarios: Set<String> = ["push", "service", "createChannel", "renewTokens", "install"]

  fileprivate var typedUsage: String {
    var words: [String] = []
    switch subject {
    case .phone: words.append(shape.usage)
    case .entry: words += ["[APP]", "[ID]"]
    case .app:
      if !shape.isNameOfApp(of: subject) { words.append(shape.usage) }
      words.append("[APP]")
      words += more.map { "[\($0.name)=\($0.shape.usage)]" }
    }
    return words.filter { !$0.isEmpty }.joined(separator: " ")
  }
}

extension Shape {
  /// True, or the name of the app that the verb is about.
  fileprivate func isNameOfApp(of subject: Verb.Subject) -> Bool {
    guard case .app = subject, case .either(let shapes) = self, shapes.count == 2, case .yes = shapes[0],
      case .text = shapes[1]
    else { return false }
    return true
  }
}
