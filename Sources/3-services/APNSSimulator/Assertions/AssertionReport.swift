internal import Basics
internal import PushPayload

/// What became of each expectation, for a program (JSON, JUnit) and for the person who reads why CI is red.
struct AssertionReport: Sendable {
  var suite: String
  var startedAt: Instant
  var time: Instant.Span
  var cases: [Case]
  /// The number of the newest push that was looked at.
  var last: UInt64

  struct Case: Sendable {
    var name: String
    var time: Instant.Span
    var numbers: [UInt64]
    /// nil when it passed.
    var failure: Failure?
  }

  struct Failure: Sendable {
    /// `expected 1 push, 0 came`.
    var summary: String
    var conditions: [String]
    /// What else is worth knowing, a sentence each.
    var remarks: [String] = []
    var nearest: (push: LoggedNotification, differences: [JSONDifference])?
    /// Pushes of that description that were refused.
    var refusals: [LoggedRefusal] = []
  }

  var passed: Bool { cases.allSatisfy { $0.failure == nil } }

  /// `log` and `refusals` are what is known at the end, to tell what came instead.
  init(
    _ request: AssertionRequest, run: AssertionRun, startedAt: Instant, start: Instant.Span, end: Instant.Span,
    log: RecentLog<LoggedNotification>.Snapshot, refusals: [LoggedRefusal]
  ) {
    suite = request.suite
    self.startedAt = startedAt
    time = end - start
    last = log.last
    let verdicts = run.verdicts
    let wanting = verdicts.indices.filter { verdicts[$0].isWanting }
    let nearest = Dictionary(
      uniqueKeysWithValues: zip(
        wanting, AssertionRun.nearest(to: wanting.map { verdicts[$0].expectation }, among: log.entries)))
    cases = verdicts.enumerated().map { index, verdict in
      Case(
        name: verdict.expectation.name, time: run.time(of: index, now: end), numbers: verdict.numbers,
        failure: verdict.passed
          ? nil : Failure(verdict, nearest: nearest[index] ?? nil, refusals: refusals))
    }
  }

  var junit: JUnitReport {
    JUnitReport([
      .init(
        name: suite, startedAt: startedAt, time: time,
        cases: cases.map { one in
          .init(name: one.name, time: one.time, failure: one.failure.map { ($0.summary, $0.text) })
        })
    ])
  }

  // MARK: JSON

  /// `{"suite", "passed", "tests", "failures", "time", "timestamp", "last", "cases": [{"name", "passed", "time", "found",
  /// "numbers", "failure"?: {"message", "text", "nearest"?, "refused"?}}]}`; times in seconds, as JUnit has them.
  var json: JSONValue {
    [
      "suite": .string(suite), "passed": .bool(passed), "tests": .number(JSONNumber(cases.count)),
      "failures": .number(JSONNumber(failures)), "time": Self.seconds(time), "timestamp": .string("\(startedAt)"),
      "last": .number(JSONNumber(last)), "cases": .array(cases.map(Self.json)),
    ]
  }

  var failures: Int { cases.count { $0.failure != nil } }

  private static func json(_ one: Case) -> JSONValue {
    var object: JSONObject = [
      "name": .string(one.name), "passed": .bool(one.failure == nil), "time": seconds(one.time),
      "found": .number(JSONNumber(one.numbers.count)),
      "numbers": .array(one.numbers.prefix(100).map { .number(JSONNumber($0)) }),
    ]
    if let failure = one.failure { object["failure"] = json(failure) }
    return .object(object)
  }

  private static func json(_ failure: Failure) -> JSONValue {
    var object: JSONObject = ["message": .string(failure.summary), "text": .string(failure.text)]
    if let nearest = failure.nearest {
      object["nearest"] = [
        "number": .number(JSONNumber(nearest.push.number)), "device": .string(nearest.push.device),
        "id": .string(nearest.push.push.id),
        "differences": .array(
          nearest.differences.prefix(100).map {
            ["path": .string($0.path), "expected": .string($0.expected), "actual": .string($0.actual)]
          }),
      ]
    }
    if !failure.refusals.isEmpty {
      object["refused"] = .array(failure.refusals.map(NotificationJSON.value(of:)))
    }
    return .object(object)
  }

  static func seconds(_ span: Instant.Span) -> JSONValue {
    .number(JSONNumber(Double(span.milliseconds) / 1000) ?? JSONNumber(0))
  }
}

extension AssertionReport.Failure {
  init(
    _ verdict: AssertionRun.Verdict, nearest: (push: LoggedNotification, differences: [JSONDifference])?,
    refusals: [LoggedRefusal]
  ) {
    let expectation = verdict.expectation
    let count = verdict.numbers.count
    summary = "expected \(expectation.amount), \(count == 0 ? "none" : "\(count)") came"
    conditions = expectation.conditions
    if verdict.isPredecessorMissing {
      remarks.append("The pushes that these should come after did not come, or not all of them.")
    }
    if !verdict.tooEarly.isEmpty {
      remarks.append("\(Self.list(verdict.tooEarly)) matched, but came before.")
    }
    if count > 0 { remarks.append("Matching: \(Self.list(verdict.numbers)).") }
    guard verdict.isWanting else { return }
    self.nearest = nearest
    if nearest == nil, count == 0, verdict.tooEarly.isEmpty { remarks.append("No push came at all.") }
    let filter = expectation.filter
    self.refusals = refusals.suffix(1_000).filter { refusal in
      guard filter.token != nil || filter.topic != nil || filter.id != nil else { return false }
      if let token = filter.token, !refusal.isTo(token.hex) { return false }
      if let topic = filter.topic, refusal.topic != topic { return false }
      if let id = filter.id, refusal.id.lowercased() != id { return false }
      return true
    }.suffix(3)
  }

  private static func list(_ numbers: [UInt64]) -> String {
    let shown = numbers.prefix(5).map { "number \($0)" }.joined(separator: ", ")
    return numbers.count > 5 ? "\(shown) and \(numbers.count - 5) more" : shown
  }

  /// Several lines: what was expected, what came instead, and where they differ.
  var text: String {
    var lines = [summary]
    lines += conditions.map { "  \($0.shortenedLine)" }
    lines += remarks
    if let nearest {
      lines.append(
        "The nearest is number \(nearest.push.number), to \(nearest.push.device) at \(nearest.push.push.receivedAt):")
      for difference in nearest.differences.prefix(20) {
        lines.append(
          "  \(difference.path): expected \(difference.expected.shortenedLine), was \(difference.actual.shortenedLine)")
      }
      if nearest.differences.count > 20 { lines.append("  and \(nearest.differences.count - 20) more differences") }
    }
    for refusal in refusals {
      lines.append(
        "Refused at \(refusal.at): \(refusal.refusal.reason.status) \(refusal.refusal.reason.rawValue): "
          + refusal.refusal.explanation)
    }
    return lines.joined(separator: "\n")
  }
}

extension String {
  /// At most 200 characters.
  fileprivate var shortenedLine: String { count > 200 ? prefix(199) + "…" : self }
}
