/// How long to wait before the next attempt: a second, doubled up to two minutes, of which the latter half is left to chance,
/// so that phones that lost the same server do not come back at the same moment.
struct Backoff: Sendable, Hashable {
  /// Milliseconds.
  static let first: Int64 = 1000
  static let most: Int64 = 120_000

  private var failures = 0

  /// - Parameter chance: from 0 up to 1.
  /// - Returns: milliseconds.
  mutating func next(chance: Double) -> Int64 {
    let whole = min(Self.most, Self.first << min(failures, 16))
    failures += 1
    return whole / 2 + Int64(Double(whole / 2) * min(max(chance, 0), 1))
  }

  mutating func reset() { failures = 0 }
}
