internal import Basics
public import PushPayload
internal import Transport

extension FaultRule {
  /// The rules of a document: one rule, a list of rules, or an object with the list under `faults` (and `$schema`, which
  /// editors want). A rule without id is called `fault-1` or the next that is not `taken`. docs/faults.md tells every
  /// field.
  public static func read(
    _ document: JSONValue, besides taken: Set<String> = []
  ) throws(FaultReadingFault) -> [FaultRule] {
    var path = JSONPath.root
    var list = document.array
    if list == nil, document.object?["faults"] != nil {
      let fields = try FaultFields(document, at: path, known: ["$schema", "faults"], like: "{\"faults\": []}")
      path = path.appending("faults")
      guard let faults = fields["faults"]?.array else { throw fields.wrong("faults", "Write a list of rules.") }
      list = faults
    }
    guard (list?.count ?? 1) + taken.count <= most else {
      throw FaultReadingFault(
        path: path, found: "\((list?.count ?? 1) + taken.count) rules",
        remedy: "Write \(most) at most: each is looked at for every push. One rule may name a list of tokens.")
    }
    var rules: [FaultRule] = []
    var next = 1
    for (place, value) in (list ?? [document]).enumerated() {
      let here = list == nil ? path : path.appending(place)
      while taken.contains("fault-\(next)") { next += 1 }
      let rule = try FaultRule(value, at: here, name: "fault-\(next)")
      if rule.id == "fault-\(next)" { next += 1 }
      guard !rules.contains(where: { $0.id == rule.id }) else {
        throw FaultReadingFault(
          path: here.appending("id"), found: "\"\(rule.id)\" is there twice", remedy: "Give each rule an id of its own."
        )
      }
      rules.append(rule)
    }
    return rules
  }

  /// Rules in force at a time.
  static let most = 1_000

  static let fields = ["id", "when", "limit", "action"]

  private init(_ value: JSONValue, at path: JSONPath, name: String) throws(FaultReadingFault) {
    let fields = try FaultFields(
      value, at: path, known: Self.fields, like: "{\"id\": \"busy\", \"action\": {\"refuse\": \"ServiceUnavailable\"}}")
    let id = try fields.text("id", like: "a short name") ?? name
    guard ControlFields.isName(id), !id.contains("/") else {
      throw fields.wrong("id", "Write 1 to 200 characters without spaces and slashes.")
    }
    guard let action = fields["action"] else {
      throw fields.fault("action", "it is missing", "Write what happens, such as {\"refuse\": \"ServiceUnavailable\"}.")
    }
    self.init(id, try FaultAction(action, at: path.appending("action")))
    if let when = fields["when"] { conditions = try Conditions(when, at: path.appending("when")) }
    limit = try fields.integer("limit", 1...1_000_000_000, like: "3").map { Int($0) }
    try check(path)
  }

  /// What cannot be: before TLS nothing is known of a request, and nothing of a connection can be counted.
  private func check(_ path: JSONPath) throws(FaultReadingFault) {
    guard case .handshake = action, conditions.namesRequests || conditions.per == .connection else { return }
    throw FaultReadingFault(
      path: path.appending("when"), found: "a handshake knows no request",
      remedy: "Keep environment, port, rate, every, after, first, from, until and repeat only.")
  }
}

extension FaultRule.Conditions {
  static let fields = [
    "token", "device", "topic", "channel", "environment", "port", "pushType", "per", "after", "first", "every", "rate",
    "from", "until",
    "repeat",
  ]

  init(_ value: JSONValue, at path: JSONPath) throws(FaultReadingFault) {
    self.init()
    let fields = try FaultFields(value, at: path, known: Self.fields, like: "{\"topic\": \"com.example.app\"}")
    func some(_ text: String) -> String? { text.isEmpty ? nil : text }
    tokens = try fields.set(
      "token", { _ in "Write a device token: 2 to 200 hex digits." }, { TokenRegistry.tokenBytes($0.utf8) })
    devices = try fields.set("device", { _ in "Write the name of a device." }, some)
    topics = try fields.set("topic", { _ in "Write a topic such as \"com.example.app\"." }, some)
    channels = try fields.set("channel", { _ in "Write a channel id, as apns-channel-id carries it." }, some)
    ports = try fields.set(
      "port", { FaultFields.choices(FaultRule.Port.allCases.map(\.rawValue), for: $0) }, FaultRule.Port.init(rawValue:))
    environments = try fields.set(
      "environment", { FaultFields.choices(SimulatedEnvironment.allCases.map(\.rawValue), for: $0) },
      SimulatedEnvironment.init(rawValue:))
    pushTypes = try fields.set(
      "pushType", { FaultFields.choices(PushType.allCases.map(\.rawValue), for: $0) }, PushType.init(rawValue:))
    per = try fields.word("per", .all)
    after = Int(try fields.integer("after", 0...1_000_000_000, like: "100") ?? 0)
    first = try fields.integer("first", 1...1_000_000_000, like: "10").map { Int($0) }
    every = Int(try fields.integer("every", 1...1_000_000_000, like: "10") ?? 1)
    if let value = fields["rate"] {
      guard let rate = value.number?.double, (0...1).contains(rate) else {
        throw fields.wrong("rate", "Write the part that is meant, from 0 to 1, such as 0.01.")
      }
      self.rate = rate
    }
    schedule.from = try fields.time("from")
    schedule.until = try fields.time("until")
    if let windows = fields["repeat"] {
      let repeats = try FaultFields(
        windows, at: path.appending("repeat"), known: ["every", "for"], like: "{\"every\": \"60s\", \"for\": \"5s\"}")
      for name in ["every", "for"] where !repeats.has(name) {
        throw repeats.fault(name, "it is missing", "Write a span such as \"5s\".")
      }
      schedule.every = try repeats.span("every")
      schedule.lasting = try repeats.span("for")
      guard let every = schedule.every, let lasting = schedule.lasting, lasting.milliseconds > 0, lasting < every else {
        throw repeats.wrong("for", "Write a span above 0 and shorter than 'every'.")
      }
    }
  }
}
