internal import Basics

/// How many requests came in the present second, all connections together. A value.
struct RequestRate: Sendable {
  let most: Int
  private var second = Int64.min
  private var count = 0

  init(most: Int) { self.most = most }

  /// Whether one more is within the rate; it is counted if so.
  mutating func admits(now: Instant) -> Bool {
    if now.seconds != second {
      second = now.seconds
      count = 0
    }
    guard count < most else { return false }
    count += 1
    return true
  }
}

/// How many requests each device token got in the present window, which all share: nothing is allocated for a token that
/// is known. A value.
struct TokenMeter: Sendable {
  let window: Instant.Span
  private var start = Instant(milliseconds: .min)
  private var counts: [[UInt8]: Int] = [:]

  init(window: Instant.Span) { self.window = window }

  /// Whether one more request to `token` is within `most`; it is counted if so.
  mutating func admits(_ token: [UInt8], most: Int, now: Instant) -> Bool {
    if now < start || now - start >= window {
      start = now
      counts.removeAll(keepingCapacity: true)
    }
    return Self.count(&counts[token, default: 0], most)
  }

  private static func count(_ count: inout Int, _ most: Int) -> Bool {
    guard count < most else { return false }
    count += 1
    return true
  }
}
