public import Basics

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The machine's clock. `now` follows whoever sets it; `sleep` does not.
public struct SystemClock: WallClock {
  public init() {}

  public var now: Instant {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Instant(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
  }

  private static let start = ContinuousClock.now

  /// Since the first use of this clock in the process; counts while the machine sleeps.
  public var uptime: Instant.Span {
    let (seconds, attoseconds) = Self.start.duration(to: .now).components
    return .milliseconds(seconds * 1000 + attoseconds / 1_000_000_000_000_000)
  }

  public func sleep(for span: Instant.Span) async throws {
    try await Task.sleep(for: .milliseconds(max(0, span.milliseconds)), clock: ContinuousClock())
  }
}
