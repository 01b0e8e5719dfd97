internal import Basics
internal import Phone
internal import PushPayload

/// What must be so after a step, or at the end: of the timeline since the step before (at the end: of all), of what stands
/// on the phone, and of the answers to the step's pushes.
struct ScenarioExpectation: Sendable {
  var path: JSONPath
  /// Phones by name; nil: those of the step.
  var phones: [String]?
  var bundleID: String?
  var timeline: [Timeline] = []
  /// Of `Phone.facts`.
  var facts: JSONObject = [:]
  /// Of `Screen.json`, in part.
  var screen: JSONValue?
  /// Status, or members of the answer; of each push of the step.
  var answer: JSONValue?

  /// A list of patterns, and where it stands.
  struct Timeline: Sendable {
    var path: JSONPath
    var expectation: TimelineExpectation
    /// Its elements as they are written.
    var written: [JSONValue]
    /// Of patterns whose kind goes without saying.
    var isOfOneKind: Bool
  }

  /// A list of patterns: its name, and what it says of them.
  private struct PatternList: Sendable {
    let name: String
    let help: String
    /// Of every pattern in it, so that it goes without saying.
    var kind: String?
    let meaning: @Sendable ([EntryPattern]) -> TimelineExpectation
  }

  private static let patternLists = [
    PatternList(name: "exact", help: "All that happened, in this order.") { .exactly($0, of: nil) },
    PatternList(name: "callbacks", help: "The callbacks, all of them, in this order.", kind: "callback") {
      .exactly($0, of: ["callback"])
    },
    PatternList(
      name: "shown", help: "What was shown or sounded, all of it, in this order: \"BCSN\".", kind: "shown"
    ) { .exactly($0, of: ["shown"]) },
    PatternList(name: "contains", help: "Each of these happened.") { .contains($0) },
    PatternList(name: "inOrder", help: "These happened, one after the other, with anything between.") { .inOrder($0) },
    PatternList(name: "never", help: "None of these happened.") { .never($0) },
  ]

  static let lists: [Shape.Field] = patternLists.map {
    .init(name: $0.name, shape: .list(.named("pattern")), help: $0.help)
  }

  static let facts: [Shape.Field] = [
    .init(name: "state", shape: .word(AppState.allCases.map(\.rawValue)), help: "Where the app is in its life."),
    .init(name: "badge", shape: .whole, help: "The number at its icon; 0 for none."),
    .init(name: "centre", shape: .list(.text), help: "Its notifications in the centre, newest first."),
    .init(name: "lockScreen", shape: .list(.text), help: "Those on the lock screen, newest first."),
    .init(name: "installed", shape: .flag, help: "It is on the phone."),
    .init(name: "token", shape: .flag, help: "It has a device token."),
    .init(name: "registered", shape: .flag, help: "The push service has given it a registration id."),
    .init(
      name: "prompt", shape: .orNull(.text),
      help: "The bundle id of the app whose permission prompt is on the screen, or null."),
    .init(name: "locked", shape: .flag, help: "The phone is locked."),
    .init(name: "online", shape: .flag, help: "The phone has a network."),
  ]

  static let others: [Shape.Field] = [
    .init(name: "on", shape: .oneOrMore(.text), help: "The phones meant; default those of the step."),
    .init(name: "of", shape: .text, help: "The app meant; default the step's."),
    .init(name: "screen", shape: .named("screen"), help: "What the user sees, as far as it is said."),
    .init(
      name: "answer", shape: .either([.whole, .object]),
      help: "APNs' answer to each push of the step, or the service's: the status, or {status, reason}."),
  ]

  static func list(
    _ reading: Reading?, apps: [String: String], phones: [String], bundleID: String?
  ) throws(ScenarioFault) -> [ScenarioExpectation] {
    var list: [ScenarioExpectation] = []
    for element in reading?.oneOrMore ?? [] {
      list.append(try read(element, apps: apps, phones: phones, bundleID: bundleID))
    }
    return list
  }

  private static func read(
    _ reading: Reading, apps: [String: String], phones: [String], bundleID: String?
  ) throws(ScenarioFault) -> ScenarioExpectation {
    var expectation = ScenarioExpectation(path: reading.path, bundleID: bundleID)
    for (name, member) in try reading.members(known: (lists + facts + others).map(\.name)) {
      if let list = patternLists.first(where: { $0.name == name }) {
        var patterns: [EntryPattern] = []
        for element in try member.list() { patterns.append(try element.pattern(of: list.kind)) }
        expectation.timeline.append(
          Timeline(
            path: member.path, expectation: list.meaning(patterns), written: member.value.array ?? [],
            isOfOneKind: list.kind != nil))
        continue
      }
      switch name {
      case "on": expectation.phones = try member.names(of: phones)
      case "of": expectation.bundleID = apps[try member.word(of: apps.keys.sorted())]
      case "answer": expectation.answer = member.value
      case "screen":
        try member.refuse(unless: ScreenShape.whole)
        expectation.screen = member.value
      default:
        for field in facts where field.name == name && member.value != .null { try member.refuse(unless: field.shape) }
        expectation.facts[name] = member.value
      }
    }
    return expectation
  }
}

extension Reading {
  /// `kind` where it goes without saying, as in a list of callbacks; `rule` and `text` are of the entry, not of its kind.
  fileprivate func pattern(of kind: String?) throws(ScenarioFault) -> EntryPattern {
    var given = value
    var isWrapped = false
    if let kind, value.object?[kind] == nil {
      let beside = value.object?.members.filter { Self.ofAnyKind.contains($0.key) } ?? []
      let own = value.object.map { JSONObject($0.members.filter { !Self.ofAnyKind.contains($0.key) }) }
      if own?.members.isEmpty != true {
        given = .object(JSONObject([.init(kind, own.map(JSONValue.object) ?? value)] + beside))
        isWrapped = true
      }
    }
    do throws(PatternFault) { return try EntryPattern(given) } catch {
      var steps = error.path.steps
      if isWrapped, let kind, steps.first == .key(kind) { steps.removeFirst() }
      throw ScenarioFault(path: JSONPath(path.steps + steps), found: error.found, remedy: error.remedy)
    }
  }

  private static let ofAnyKind = ["rule", "text"]

  /// Names of the phones that there are.
  func names(of known: [String]) throws(ScenarioFault) -> [String] {
    var names: [String] = []
    for element in oneOrMore { names.append(try element.word(of: known)) }
    return names
  }
}
