/// The time of day and the passing of time, as something that comes in. Production gives `SystemClock` (Transport),
/// tests the `VirtualClock` of BelfryTesting; nothing below the doors reads a clock of its own.
public protocol WallClock: Sendable {
  /// May jump in both directions when somebody sets the machine's clock.
  var now: Instant { get }

  /// Returns once `span` has passed, measured by a clock that nobody sets; throws `CancellationError` when cancelled.
  func sleep(for span: Instant.Span) async throws
}
