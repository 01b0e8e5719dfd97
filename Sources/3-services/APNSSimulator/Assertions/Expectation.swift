internal import Basics
internal import PushPayload

/// What a test says of the pushes that came: which are meant, how many, and where in the order.
struct Expectation: Equatable, Sendable {
  /// For the report; made from the rest when the test gave none.
  var name: String
  var filter = NotificationFilter()
  var payload: JSONValue?
  var match = JSONDifference.Match.contains
  /// As sent; nil for a header that must be absent.
  var headers: [Header] = []
  /// At least so many.
  var least = 1
  /// At most so many; nil for no limit.
  var most: Int?
  /// Only a whole wait shows that no more come; otherwise it is settled as soon as `least` came.
  var needsWholeWait = false
  /// Counts only pushes that came after those of the expectation before.
  var isInOrder = false

  struct Header: Equatable, Sendable {
    var name: PushHeaders.Name
    var value: String?
  }

  /// What a push that `filter` leaves open is compared by.
  func matches(_ push: inout SeenPush) -> Bool {
    guard filter.matches(push.entry), headerDifferences(push.entry).isEmpty else { return false }
    guard let payload else { return true }
    guard let actual = push.payload() else { return false }
    return JSONDifference.isNone(between: payload, actual, match: match)
  }

  /// The ways in which a push is not what was expected, of its payload the first 1,000; empty exactly when it matches.
  func differences(_ push: inout SeenPush) -> [JSONDifference] {
    filter.differences(push.entry) + headerDifferences(push.entry) + payloadDifferences(&push)
  }

  private func headerDifferences(_ entry: LoggedNotification) -> [JSONDifference] {
    guard !headers.isEmpty else { return [] }
    let sent = Dictionary(entry.headers.map { ($0.name, $0.value) }) { first, _ in first }
    return headers.compactMap { header in
      let actual = sent[header.name.rawValue]
      guard actual != header.value else { return nil }
      return JSONDifference(
        path: "headers.\(header.name.rawValue)", expected: header.value.inJSON, actual: actual.inJSON)
    }
  }

  private func payloadDifferences(_ push: inout SeenPush) -> [JSONDifference] {
    guard let payload else { return [] }
    guard let actual = push.payload() else {
      return [JSONDifference(path: "payload", expected: payload.text, actual: "(no JSON)")]
    }
    return JSONDifference.between(payload, actual, match: match)
  }

  /// `2 pushes`, `no push`, `at least 1 push`: how many are expected.
  var amount: String {
    func pushes(_ count: Int) -> String { count == 1 ? "1 push" : "\(count) pushes" }
    switch most {
    case nil: return "at least \(pushes(least))"
    case 0?: return "no push"
    case least?: return pushes(least)
    case .some(let most): return least == 0 ? "at most \(pushes(most))" : "\(least) to \(pushes(most))"
    }
  }

  /// The conditions, one a line: `token 12ab…`, `payload contains {…}`.
  var conditions: [String] {
    filter.conditions.map { "\($0.name) \($0.value)" }
      + headers.map { "header \($0.name.rawValue) \($0.value.inJSON)" }
      + (payload.map { ["payload \(match == .exact ? "is" : "contains") \($0.text)"] } ?? [])
      + (isInOrder ? ["after the pushes before"] : [])
  }
}

/// A push as many expectations look at it: its payload is read when the first of them asks for it, and once.
struct SeenPush {
  let entry: LoggedNotification
  private var read: JSONValue??

  init(_ entry: LoggedNotification) { self.entry = entry }

  /// nil when it is no JSON.
  mutating func payload() -> JSONValue? {
    if let read { return read }
    let value = try? JSONReader.read(entry.push.payload).value
    read = .some(value)
    return value
  }
}

extension String? {
  /// A JSON string, `(nothing)` for nil.
  var inJSON: String { map { JSONValue.string($0).text } ?? JSONDifference.nothing }
}

extension NotificationFilter {
  /// What is asked for, as written in a query.
  var conditions: [(name: String, value: String)] {
    let all: [(String, String?)] = [
      ("token", token?.hex), ("topic", topic), ("bundle", bundle), ("device", device), ("id", id),
      ("pushType", pushType?.rawValue), ("priority", priority.map { "\($0.rawValue)" }), ("collapseId", collapseID),
      ("environment", environment?.rawValue), ("state", state?.rawValue), ("finding", finding?.rawValue),
      ("findings", findings?.text), ("since", since?.text), ("until", until?.text),
    ]
    return all.compactMap { name, value in value.map { (name, $0) } }
  }

  /// Every condition that a push does not meet; empty exactly when it `matches`.
  func differences(_ entry: LoggedNotification) -> [JSONDifference] {
    let push = entry.push
    var differences: [JSONDifference] = []
    func compare<Value: Equatable>(_ name: String, _ expected: Value?, _ actual: Value?, _ text: (Value) -> String) {
      guard let expected, expected != actual else { return }
      differences.append(
        JSONDifference(path: name, expected: text(expected), actual: actual.map(text) ?? JSONDifference.nothing))
    }
    let quoted = { (text: String) in JSONValue.string(text).text }
    compare("token", token, push.token) { quoted($0.hex) }
    compare("topic", topic, push.topic, quoted)
    compare("bundle", bundle, push.bundleID, quoted)
    compare("device", device, entry.device, quoted)
    compare("id", id, push.id.lowercased(), quoted)
    compare("pushType", pushType, push.pushType) { quoted($0.rawValue) }
    compare("priority", priority, push.priority) { "\($0.rawValue)" }
    compare("collapseId", collapseID, push.collapseID, quoted)
    compare("environment", environment, push.environment) { quoted($0.rawValue) }
    compare("state", state, NotificationState(entry.fate)) { quoted($0.rawValue) }
    if finding != nil || findings != nil {
      let found = entry.findings
      let actual =
        found.isEmpty
        ? JSONDifference.nothing : found.map { "\($0.severity): \($0.code.rawValue)" }.joined(separator: ", ")
      if let finding, !found.contains(where: { $0.code == finding }) {
        differences.append(JSONDifference(path: "finding", expected: finding.rawValue, actual: actual))
      }
      if let findings, !findings.holds(found) {
        differences.append(JSONDifference(path: "findings", expected: findings.text, actual: actual))
      }
    }
    let place = "number \(entry.number) at \(push.receivedAt)"
    if let since, !since.isBefore(entry) {
      differences.append(JSONDifference(path: "since", expected: since.text, actual: place))
    }
    if let until, until.isBefore(entry) {
      differences.append(JSONDifference(path: "until", expected: until.text, actual: place))
    }
    return differences
  }
}

extension NotificationFilter.Bound {
  fileprivate var text: String {
    switch self {
    case .number(let number): "\(number)"
    case .time(let time): "\(time)"
    }
  }
}

extension NotificationFilter.FindingBar {
  fileprivate var text: String {
    switch self {
    case .nothing: "none"
    case .atLeast(let severity): severity.rawValue
    }
  }
}
