internal import Basics
internal import Phone
internal import PushPayload

/// What one step does, decided by the time the scenario is read; names of pushes are looked up when it happens.
enum Deed: Sendable {
  /// An event of the phones meant; made from each phone as it then is, and from what the scenario's names stand for.
  case event(@Sendable (Phone, ScenarioNames) -> Phone.Event)
  case push(ScenarioPush)
  /// The body of `POST /v3/push`, and what later messages call that push.
  case service(JSONObject, name: String?)
  case message(ScenarioMessage)
  /// The service, or the network, ends the app's connection for messages.
  case cutMessages(String)
  /// A channel of the app, under a name of the scenario.
  case createChannel(String, of: String, keepsNewest: Bool)
  /// APNs gives another token in the place of each.
  case renewTokens(String)
  case wait(Instant.Span)
  case until(Instant)
  /// Puts the app there as the scenario describes it.
  case install(String)
}

/// A push as a provider sends it.
struct ScenarioPush: Sendable {
  /// What a scenario calls it in later steps.
  var name: String?
  var payload: [UInt8]
  /// As written; what is not there is filled in as a careful provider would.
  var headers: [(name: String, value: String)] = []
  /// The app's bundle id.
  var bundleID: String
  /// A channel of the app that it is broadcast on.
  var channel: String?
  /// To the token that the app had before the one it has now.
  var usesFormerToken = false
  /// `apns-expiration` so long after now.
  var expires: Instant.Span?
}

/// An in-app message that the push service sends.
struct ScenarioMessage: Sendable {
  var bundleID: String
  /// Sequence 0: the next number.
  var message: InAppMessage
  /// The scenario's name of the push that it belongs to.
  var push: String?
}

/// What names of a scenario stand for, on one phone.
struct ScenarioNames: Sendable {
  /// Request identifiers.
  var pushes: [String: String] = [:]

  func push(_ name: String) -> String { pushes[name] ?? name }
  /// The name of a request identifier that has one.
  func name(of id: String) -> String { pushes.filter { $0.value == id }.keys.min() ?? id }
}

/// What a step may say beside its verb.
struct StepContext: Sendable {
  /// The app meant: by `of`, or the only one.
  var bundleID: String?
  /// The other members of the step.
  var step: Reading
  /// Bundle ids by the apps' names.
  var apps: [String: String]

  /// Of the app whose name stands there; else of the only one.
  func bundle(_ reading: Reading) throws(ScenarioFault) -> String {
    if let name = reading.value.string {
      guard let bundleID = apps[name] ?? (apps.values.contains(name) ? name : nil) else {
        _ = try reading.word(of: apps.keys.sorted())
        throw reading.wrong("Name an app of the scenario.")
      }
      return bundleID
    }
    try reading.yes()
    return try bundle()
  }

  func bundle() throws(ScenarioFault) -> String {
    guard let bundleID else {
      guard !apps.isEmpty else {
        throw step.fault("there is no app on this phone", "'install com.example.app' puts one there.")
      }
      throw step.fault(
        "it does not say which of the apps is meant",
        "Write of: \"\(apps.keys.sorted().first ?? "app")\" beside it.")
    }
    return bundleID
  }
}

/// One thing that a step can do. The table of all is the only place where verbs are told: reader, schema, documentation
/// and the test that every event has one go by it.
struct Verb: Sendable {
  /// What it is about.
  enum Subject: Sendable {
    case phone, app
    /// One notification or activity of an app.
    case entry
  }

  let name: String
  let shape: Shape
  let help: String
  let subject: Subject
  /// Cases of `Phone.Event` that it makes.
  let covers: [String]
  /// Other members that a step with this verb may have.
  var more: [Shape.Field] = []
  let read: @Sendable (Reading, StepContext) throws(ScenarioFault) -> [Deed]

  init(
    _ name: String, _ shape: Shape, of subject: Subject = .phone, covers: [String] = [], more: [Shape.Field] = [],
    _ help: String, _ read: @escaping @Sendable (Reading, StepContext) throws(ScenarioFault) -> [Deed]
  ) {
    self.name = name
    self.shape = shape
    self.help = help
    self.subject = subject
    self.covers = covers
    self.more = more
    self.read = read
  }

  /// Of the phone; has no value.
  static func phone(_ name: String, _ event: Phone.Event, covers: String? = nil, _ help: String) -> Verb {
    Verb(name, .yes, covers: [covers ?? name], help) { (reading, _) throws(ScenarioFault) in
      try reading.yes()
      return [.event { _, _ in event }]
    }
  }

  /// Of an app; the value is true or the app's name.
  static func app(
    _ name: String, covers: String? = nil, _ help: String, _ event: @escaping @Sendable (String) -> Phone.Event
  ) -> Verb {
    Verb(name, .either([.yes, .text]), of: .app, covers: [covers ?? name], help) {
      (reading, context) throws(ScenarioFault) in
      let bundleID = try context.bundle(reading)
      return [.event { _, _ in event(bundleID) }]
    }
  }

  /// Of a notification: true for the newest of the app, or the name that the push has in the scenario, its collapse id, or
  /// the identifier of the request.
  static func entry(
    _ name: String, covers: String? = nil, _ help: String,
    _ event: @escaping @Sendable (String, String?) -> Phone.Event
  ) -> Verb {
    Verb(name, .either([.yes, .text]), of: .entry, covers: [covers ?? name], help) {
      (reading, context) throws(ScenarioFault) in
      let bundleID = try context.bundle()
      if reading.value.bool == true { return [.event { _, _ in event(bundleID, nil) }] }
      let id = try reading.text(like: "true for the newest, or the name of a push")
      return [.event { _, names in event(bundleID, names.push(id)) }]
    }
  }

  /// Members that every step may have.
  static let common: [Shape.Field] = [
    .init(name: "on", shape: .oneOrMore(.text), help: "The phones meant; default all."),
    .init(name: "of", shape: .text, help: "The app meant, where there are several."),
    .init(name: "note", shape: .text, help: "For people; stands in reports."),
    .init(name: "expect", shape: .named("expect"), help: "What must be so after the step."),
  ]
}
