public import Basics

/// Counts of durations in fixed buckets, as Prometheus wants them; recording is a scan of 13 numbers, no allocation.
public struct LatencyHistogram: Sendable, Equatable {
  /// Upper bounds of the buckets, in milliseconds; beyond the last is the bucket `+Inf`. From a server on this machine to
  /// the 15 s after which a push is taken for unanswered.
  public static let bounds: [Int64] = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000]

  /// One for each bound and one for `+Inf`; each counts only its own, not those below it.
  public private(set) var counts = [UInt64](repeating: 0, count: bounds.count + 1)
  public private(set) var sum = Instant.Span.milliseconds(0)

  public init() {}

  public var count: UInt64 { counts.reduce(0, &+) }

  public mutating func record(_ span: Instant.Span) {
    var index = 0
    while index < Self.bounds.count, Self.bounds[index] < span.milliseconds { index += 1 }
    counts[index] &+= 1
    sum.milliseconds = sum.milliseconds &+ max(0, span.milliseconds)
  }
}
