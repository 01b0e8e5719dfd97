internal import Basics
internal import PushPayload

/// Judges what a test expects by the pushes that came. A value: it is shown every push that comes or changes, in any
/// number of portions, and can be asked for the verdicts at any time; the same pushes give the same verdicts however they
/// were portioned.
struct AssertionRun: Sendable {
  let expectations: [Expectation]
  private let start: Instant.Span
  /// Per expectation, the numbers of the pushes that match it, oldest first.
  private var matching: [[UInt64]]
  /// Per expectation, when it became what it is now: settled, or not any more.
  private var settledAt: [Instant.Span?]

  init(_ expectations: [Expectation], start: Instant.Span) {
    self.expectations = expectations
    self.start = start
    matching = expectations.map { _ in [] }
    settledAt = expectations.map { _ in nil }
  }

  /// Whether one of the expectations could mean this push.
  func concerns(_ entry: LoggedNotification) -> Bool { expectations.contains { $0.filter.concerns(entry) } }

  mutating func see(_ changed: [LoggedNotification], at uptime: Instant.Span) {
    for entry in changed {
      var push = SeenPush(entry)
      for index in expectations.indices {
        matching[index].keep(entry.number, expectations[index].matches(&push))
      }
    }
    for (index, verdict) in verdicts.enumerated() {
      settledAt[index] = verdict.isSettled ? settledAt[index] ?? uptime : nil
    }
  }

  /// Whether more pushes cannot change what is answered: all is fulfilled and nothing has to stay away, or too many came.
  var isSettled: Bool {
    let verdicts = verdicts
    return verdicts.contains(where: \.hasTooMany) || verdicts.allSatisfy(\.isSettled)
  }

  struct Verdict: Equatable, Sendable {
    var expectation: Expectation
    /// The pushes that count, oldest first.
    var numbers: [UInt64]
    /// Matching pushes that do not count since they came before those of the expectation before.
    var tooEarly: [UInt64] = []
    /// The expectation before, after whose pushes these should come, has not got all of its own.
    var isPredecessorMissing = false

    /// Fewer came than there should.
    var isWanting: Bool { numbers.count < expectation.least }
    var hasTooMany: Bool { numbers.count > expectation.most ?? .max }
    var passed: Bool { !isWanting && !hasTooMany && !isPredecessorMissing }
    var isSettled: Bool { passed && !expectation.needsWholeWait }
  }

  /// One for each expectation, in their order.
  var verdicts: [Verdict] {
    var anchor: UInt64 = 0
    var isComplete = true
    return expectations.indices.map { index in
      let expectation = expectations[index]
      var verdict = Verdict(expectation: expectation, numbers: matching[index])
      if expectation.isInOrder {
        verdict.tooEarly = verdict.numbers.filter { $0 <= anchor }
        verdict.numbers.removeAll { $0 <= anchor }
        verdict.isPredecessorMissing = !isComplete
      } else {
        (anchor, isComplete) = (0, true)
      }
      // The earliest pushes that fulfil it leave the most room for what has to come after them.
      if expectation.least > 0 {
        isComplete = isComplete && verdict.numbers.count >= expectation.least
        anchor = verdict.numbers.prefix(expectation.least).last ?? anchor
      }
      return verdict
    }
  }

  /// How long the expectation took to be fulfilled, or how long it was waited for.
  func time(of index: Int, now: Instant.Span) -> Instant.Span {
    (settledAt[index] ?? now) - start
  }

  /// For each expectation the push that comes nearest to it but is not it: the fewest differences, one in whom it went to
  /// counting threefold; the newest of several. All pushes are looked at unless the comparisons would take seconds: then
  /// the newest.
  static func nearest(
    to expectations: [Expectation], among pushes: [LoggedNotification]
  ) -> [(push: LoggedNotification, differences: [JSONDifference])?] {
    var best: [(push: LoggedNotification, differences: [JSONDifference], cost: Int)?] = expectations.map { _ in nil }
    let weight = expectations.reduce(1) { $0 + 1 + ($1.payload?.encodedSize ?? 0) / 4096 }
    for entry in pushes.suffix(max(100, 200_000 / weight)) {
      var push = SeenPush(entry)
      for (index, expectation) in expectations.enumerated() {
        let differences = expectation.differences(&push)
        guard !differences.isEmpty else { continue }
        let cost = differences.reduce(0) { $0 + (["token", "device", "id"].contains($1.path) ? 3 : 1) }
        if let best = best[index], cost > best.cost || (cost == best.cost && entry.number < best.push.number) {
          continue
        }
        best[index] = (entry, differences, cost)
      }
    }
    return best.map { best in best.map { ($0.push, $0.differences) } }
  }
}

extension [UInt64] {
  /// Makes it hold or not hold `number`; sorted before and after.
  fileprivate mutating func keep(_ number: UInt64, _ isIn: Bool) {
    var (low, high) = (0, count)
    if let last, last < number { low = count }  // the usual way
    while low < high {
      let middle = (low + high) / 2
      if self[middle] < number { low = middle + 1 } else { high = middle }
    }
    switch (low < count && self[low] == number, isIn) {
    case (false, true): insert(number, at: low)
    case (true, false): remove(at: low)
    case (true, true), (false, false): break
    }
  }
}
