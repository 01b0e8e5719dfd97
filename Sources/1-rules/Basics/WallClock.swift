/// The time of day and the passing of time, as something that comes in. Production gives `SystemClock` (Transport),
/// tests the `VirtualClock` of BelfryTesting; nothing below the doors reads a clock of its own.
public protocol WallClock: Sendable {
  /// May jump in both directions when somebody sets the machine's clock.
  var now: Instant { get }

  /// Time since some fixed moment, by the clock that `sleep` uses: it never jumps when somebody sets the time of day.
  /// Only differences mean something. Time-outs and the age of a provider token are measured by it (case C27).
  var uptime: Instant.Span { get }

  /// Returns once `span` has passed, measured by a clock that nobody sets; throws `CancellationError` when cancelled.
  func sleep(for span: Instant.Span) async throws

  /// The same until `uptime` is what is given, however much of it has passed when the call is made.
  func sleep(untilUptime due: Instant.Span) async throws
}

extension WallClock {
  public func sleep(untilUptime due: Instant.Span) async throws { try await sleep(for: due - uptime) }
}
