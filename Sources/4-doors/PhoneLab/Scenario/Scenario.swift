public import Basics
internal import Phone
public import PushPayload

/// A story of phones, apps and pushes, and what must come of it (docs/scenarios.md). A value: read once, run any number of
/// times, in virtual time or against running servers.
public struct Scenario: Sendable {
  public let name: String
  public let about: String?
  /// Why it cannot be played against running servers, where time is real; nil: it can.
  public let onlyVirtual: String?
  /// When the first step comes, by the virtual clock.
  public let start: Instant
  /// Passes before each step.
  let pace: Instant.Span
  let phones: [(name: String, settings: PhoneSettings)]
  let apps: [(name: String, app: ScenarioApp)]
  let steps: [Step]
  let expectations: [ScenarioExpectation]

  struct Step: Sendable {
    var path: JSONPath
    /// As a report names it: `push`, `tap "a"`.
    var title: String
    /// The app meant, if one is.
    var bundleID: String?
    var phones: [String]
    var deeds: [Deed]
    var expectations: [ScenarioExpectation]
  }

  /// Whether a step calls the push service, or an app may hand its token to it.
  public var callsService: Bool {
    steps.contains { step in
      step.deeds.contains { if case .service = $0 { true } else { false } }
    }
  }

  /// Whether a step sends a message otherwise than by the push service.
  public var sendsMessages: Bool {
    steps.contains { step in
      step.deeds.contains { if case .message = $0 { true } else { false } }
    }
  }

  public init(_ value: JSONValue, name: String, sources: ScenarioSources) throws(ScenarioFault) {
    let whole = Reading(value, sources)
    _ = try whole.members(known: Self.fields.map(\.name))
    self.name = try whole["name"]?.text() ?? name
    about = try whole["about"]?.text()
    onlyVirtual = try whole["onlyVirtual"]?.text(like: "why, in words")
    start = try whole["start"]?.time() ?? Self.usualStart
    pace = try whole["pace"]?.span() ?? .seconds(1)

    var phones: [(name: String, settings: PhoneSettings)] = []
    for (name, reading) in try Self.named(whole, "phone", "phones") {
      var settings = PhoneSettings()
      settings.name = name
      if let reading { try SettingRows.phone.read(reading, into: &settings) }
      phones.append((name, settings))
    }
    var apps: [(name: String, app: ScenarioApp)] = []
    for (name, reading) in try Self.named(whole, "app", "apps") {
      apps.append((name, try ScenarioApp.read(reading ?? whole.member("app", .object([:])), named: name)))
    }
    self.phones = phones
    self.apps = apps

    let bundles = Dictionary(apps.map { ($0.name, $0.app.description.bundleID) }) { first, _ in first }
    let only = apps.count == 1 ? apps[0].app.description.bundleID : nil
    let names = phones.map(\.name)
    var steps: [Step] = []
    for reading in try whole["steps"]?.list() ?? [] {
      steps.append(try Step(reading, phones: names, apps: bundles, only: only))
    }
    guard !steps.isEmpty else {
      throw ScenarioFault(
        path: JSONPath("steps"), found: "there is no step", remedy: "Write steps: [ … ], at least one.")
    }
    self.steps = steps
    expectations = try ScenarioExpectation.list(whole["expect"], apps: bundles, phones: names, bundleID: only)
  }

  private static let usualStart = Instant(seconds: 1_796_029_200)

  static let fields: [Shape.Field] = [
    .init(name: "$schema", shape: .text, help: "For editors: scenario.schema.json."),
    .init(name: "name", shape: .text, help: "What it shows; default the file's name."),
    .init(name: "about", shape: .text, help: "For people."),
    .init(
      name: "onlyVirtual", shape: .text,
      help: "Why it cannot be played with --apns, where time is real; it is left out there, with these words."),
    .init(name: "start", shape: .time, help: "When the first step comes; default 2026-11-30T09:00:00Z."),
    .init(name: "pace", shape: .span, help: "Passes before each step; default 1s."),
    .init(name: "phone", shape: .named("phone"), help: "One phone; default iOS 17."),
    .init(name: "phones", shape: .map(.named("phone")), help: "Several phones, by name."),
    .init(name: "app", shape: .named("app"), help: "One app."),
    .init(name: "apps", shape: .map(.named("app")), help: "Several apps, by name."),
    .init(name: "steps", shape: .list(.named("step")), help: "What happens, one after the other."),
    .init(name: "expect", shape: .named("expect"), help: "What must be so at the end, of the whole timeline."),
  ]

  /// One under its singular name, or several under the plural; none is one with every default.
  private static func named(
    _ whole: Reading, _ one: String, _ several: String
  ) throws(ScenarioFault) -> [(name: String, reading: Reading?)] {
    guard let many = whole[several] else { return [(one, whole[one])] }
    if whole[one] != nil {
      throw ScenarioFault(
        path: [.key(one)], found: "there are both \(one) and \(several)", remedy: "Put it among the \(several).")
    }
    let members = try many.object().members
    guard !members.isEmpty else { throw many.fault("it is empty", "Name one at least, or leave it out.") }
    return members.map { ($0.key, many.member($0.key, $0.value)) }
  }
}

extension Scenario.Step {
  init(
    _ reading: Reading, phones: [String], apps: [String: String], only: String?
  ) throws(ScenarioFault) {
    let given = reading
    var reading = reading
    let verbs = Verb.all.map(\.name)
    if let name = reading.value.string {
      _ = try reading.word(of: verbs)
      reading = reading.with(.object([name: true]))
    }
    let members = try reading.object(like: "a verb such as \"lock\", or an object such as {wait: \"30s\"}").members
    let common = Verb.common.map(\.name)
    let named = members.filter { verbs.contains($0.key) }.map(\.key)
    guard named.count == 1, let verb = Verb.named(named[0]) else {
      guard named.isEmpty else {
        throw reading.fault("it has the verbs \(named.joined(separator: ", "))", "Write a step for each.")
      }
      _ = try reading.members(known: verbs + common)
      throw reading.fault("it has no verb", "Write one of \(verbs.joined(separator: ", ")).")
    }
    guard given.value.string == nil || verb.shape.takesNothing else {
      throw given.fault("\(verb.name) needs a value", "Write {\(verb.name): …}; docs/scenarios.md says what.")
    }
    let value = given.value.string == nil ? reading[verb.name] : given.with(true)
    guard let value else { throw reading.fault("it has no verb", "Write one.") }
    _ = try reading.members(known: [verb.name] + verb.more.map(\.name) + common)
    var bundleID = only
    if let of = reading["of"] { bundleID = apps[try of.word(of: apps.keys.sorted())] }
    path = reading.path
    self.bundleID = bundleID
    self.phones = try reading["on"]?.names(of: phones) ?? phones
    let context = StepContext(bundleID: bundleID, step: reading, apps: apps)
    deeds = try verb.read(value, context)
    expectations = try ScenarioExpectation.list(reading["expect"], apps: apps, phones: phones, bundleID: bundleID)
    let detail =
      value.value == .bool(true) ? "" : " \(value.value.text.prefix(48))\(value.value.text.count > 48 ? "…" : "")"
    title = "\(verb.name)\(detail)" + (try reading["note"]?.text()).map({ " (\($0))" }).orEmpty
  }
}

extension Optional where Wrapped == String {
  fileprivate var orEmpty: String { self ?? "" }
}
