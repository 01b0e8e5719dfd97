internal import Basics
internal import Phone
internal import PushPayload

/// One look at one expectation on one phone.
struct ScenarioCheck {
  let expectation: ScenarioExpectation
  let phone: Phone
  /// What reports call the phone; nil where there is but one.
  let phoneName: String?
  /// What happened in the time that the expectation is about.
  let entries: [TimelineEntry]
  /// To the pushes of the step.
  let answers: [ScenarioAnswer]
  /// `step 3, push {…}` or `at the end`.
  let place: String
  let names: ScenarioNames
  private(set) var checks = 0
  private(set) var failures: [ScenarioResult.Failure] = []

  init(
    _ expectation: ScenarioExpectation, phone: Phone, named phoneName: String?, _ entries: [TimelineEntry],
    _ answers: [ScenarioAnswer], _ place: String, _ names: ScenarioNames
  ) {
    self.expectation = expectation
    self.phone = phone
    self.phoneName = phoneName
    self.entries = entries
    self.answers = answers
    self.place = place
    self.names = names
    lookAtTimeline()
    let facts = phone.facts(of: expectation.bundleID ?? "")
    for fact in expectation.facts.members { look(at: fact, in: facts) }
    if let screen = expectation.screen { lookAtScreen(screen) }
    if let answer = expectation.answer { lookAtAnswers(answer) }
  }

  private mutating func fail(
    at path: JSONPath, _ summary: String, _ text: String, update: JSONValue?
  ) {
    failures.append(
      .init(path: path, place: place, phone: phoneName, summary: summary, text: text, update: update))
  }

  private mutating func lookAtTimeline() {
    for timeline in expectation.timeline {
      checks += 1
      guard let failure = timeline.expectation.resolving(names.pushes).failure(in: entries) else { continue }
      fail(
        at: timeline.path, failure.summary, failure.table(), update: timeline.update(from: entries, failure, names))
    }
  }

  // MARK: how the phone stands

  private mutating func look(at fact: JSONObject.Member, in facts: JSONObject) {
    checks += 1
    let actual = facts[fact.key] ?? .null
    var wanted = fact.value
    if let list = wanted.array { wanted = .array(list.map { $0.string.map { .string(names.push($0)) } ?? $0 }) }
    guard !JSONDifference.isNone(between: wanted, actual, match: .contains) else { return }
    let deciding: Set<String> =
      switch fact.key {
      case "badge": ["badge"]
      case "state": ["transition"]
      case "centre", "lockScreen": ["shown", "removed"]
      default: []
      }
    let told = ExpectationColumns(rows: [("", named(wanted).text, named(actual).text)]).lines
    fail(
      at: expectation.path.appending(fact.key), "\(fact.key) is not as expected",
      (told + decided(by: deciding)).joined(separator: "\n"), update: named(actual))
  }

  private mutating func lookAtScreen(_ screen: JSONValue) {
    checks += 1
    let wanted = screen.exchangingIDs(names.push)
    let actual = JSONValue.object(phone.screen.json)
    let differences = JSONDifference.between(wanted, actual, match: .contains, root: "screen")
    guard !differences.isEmpty else { return }
    let told = ExpectationColumns(
      rows: differences.map { (String($0.path.dropFirst("screen.".count)), $0.expected, $0.actual) })
    fail(
      at: expectation.path.appending("screen"), "the user sees something else",
      (told.lines + decided(by: ["shown", "removed", "badge", "activity", "summary"])).joined(separator: "\n"),
      update: actual.reduced(to: screen).exchangingIDs(names.name(of:)))
  }

  /// A list of ids, by the scenario's own names.
  private func named(_ value: JSONValue) -> JSONValue {
    guard let list = value.array else { return value }
    return .array(list.map { $0.string.map { .string(names.name(of: $0)) } ?? $0 })
  }

  /// The last entry of these kinds, what was withheld and what was wrong, and what their rules say.
  private func decided(by kinds: Set<String>) -> [String] {
    let last = entries.last { kinds.contains($0.what.name) }
    let deciding = (last.map { [$0] } ?? []) + entries.filter { $0.isReason && $0 != last }
    guard !deciding.isEmpty else { return [] }
    return ["  decided by:"] + deciding.suffix(Self.mostTold).map { "    \($0.line(width: 106))" }
      + ExpectationFailure.because(deciding.suffix(Self.mostTold))
  }

  private static let mostTold = 6

  // MARK: answers

  private mutating func lookAtAnswers(_ wanted: JSONValue) {
    checks += 1
    let told = answers.map { wanted.object == nil ? JSONValue.number(JSONNumber($0.status)) : .object($0.json) }
    let areRight = told.allSatisfy { JSONDifference.isNone(between: wanted, $0, match: .contains) }
    guard answers.isEmpty || !areRight else { return }
    let words = answers.isEmpty ? "nothing was sent" : answers.map(\.words).joined(separator: ", ")
    fail(
      at: expectation.path.appending("answer"), "the answer is not as expected",
      (ExpectationColumns(rows: [("", wanted.text, words)]).lines + because(wanted)).joined(separator: "\n"),
      update: told.first?.reduced(to: wanted))
  }
}

extension ScenarioCheck {
  /// What decided each answer, once, and who says so.
  private func because(_ wanted: JSONValue) -> [String] {
    let status = (wanted.object?["status"] ?? wanted).number?.int64.map { Int(clamping: $0) }
    var told: [String] = []
    for answer in answers {
      guard let reason = answer.reason(expected: status), !told.contains(reason) else { continue }
      told.append(reason)
    }
    return told.isEmpty ? [] : ["  because:"] + told.map { "    \($0)" }
  }
}

/// Expected beside what is, in columns.
private struct ExpectationColumns {
  /// Where, expected, what is.
  let rows: [(place: String, expected: String, actual: String)]

  private static let widest = 48
  private static let longest = 160

  var lines: [String] {
    let placeWidth = rows.map(\.place.count).max() ?? 0
    let width = max(8, min(Self.widest, rows.map(\.expected.count).max() ?? 0))
    func padded(_ text: String, _ width: Int) -> String {
      text + String(repeating: " ", count: max(0, width - text.count))
    }
    func line(_ mark: String, _ place: String, _ expected: String, _ actual: String) -> String {
      let actual = actual.count > Self.longest ? actual.prefix(Self.longest - 1) + "…" : actual[...]
      return
        "  \(mark) \(placeWidth == 0 ? "" : padded(place, placeWidth) + "  ")\(padded(expected, width)) │ \(actual)"
    }
    return [line(" ", "", "expected", "is")] + rows.map { line("≠", $0.place, $0.expected, $0.actual) }
  }
}

extension ScenarioExpectation.Timeline {
  /// What the list would have to say of these entries: what holds stays as it is written.
  fileprivate func update(from entries: [TimelineEntry], _ failure: ExpectationFailure, _ names: ScenarioNames)
    -> JSONValue
  {
    func short(_ entry: TimelineEntry) -> JSONValue {
      let text = EntryPattern(of: entry).description
      return .string(isOfOneKind && text.hasPrefix("shown ") ? String(text.dropFirst("shown ".count)) : text)
    }
    let patterns = expectation.resolving(names.pushes).patterns
    switch expectation {
    case .exactly, .contains:
      var next = 0
      return .array(
        failure.rows.compactMap { row in
          let place = next
          if row.expected != nil { next += 1 }
          return row.mark == .same ? written[place] : row.actual.map(short)
        })
    case .inOrder:
      var rest = entries[...]
      return .array(
        zip(patterns, written).compactMap { pattern, written in
          let found = rest.firstIndex(where: pattern.matches)
          let nearest = found ?? pattern.closest(in: Array(rest)).flatMap { rest.firstIndex(of: $0) }
          guard let nearest else { return nil }
          defer { rest = rest[(nearest + 1)...] }
          return found == nil ? short(rest[nearest]) : written
        })
    case .never:
      return .array(
        zip(patterns, written).filter { pattern, _ in !entries.contains(where: pattern.matches) }.map { $0.1 })
    }
  }
}
