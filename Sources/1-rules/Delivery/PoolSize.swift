public import Basics

/// How many connections, and how fast they may be opened: many connects in a short time look like an attack to APNs
/// (Apple, "Sending notification requests to APNs").
public struct PoolSize: Sendable {
  public struct Settings: Equatable, Sendable {
    /// Connections at once. Default 4: a connection carries 1,000 pushes at a time.
    public var limit = 4
    /// Connections opened in any one second, whatever happens. Default 4.
    public var opensPerSecond = 4
    /// How long pushes must have found no free stream before another connection is opened for them. Default 100 ms:
    /// a burst passes before a handshake would.
    public var growAfter = Instant.Span.milliseconds(100)
    /// Wait after the first connection that failed before it gave an answer; doubles with each further. Default 1 s.
    public var firstDelay = Instant.Span.seconds(1)
    /// The most that this wait grows to. Default 60 s.
    public var longestDelay = Instant.Span.seconds(60)
    public init() {}
  }

  public let settings: Settings
  /// Of the last opens, as many as may happen in a second; oldest first.
  private var opens: [Instant.Span] = []
  private var failures = 0
  private var notBefore: Instant.Span?

  public init(_ settings: Settings = Settings()) { self.settings = settings }

  /// How many more connections the pushes without a stream want, where `coming` are being opened.
  public func wanted(waiting: Int, streamsEach: Int, coming: Int, connections: Int) -> Int {
    guard waiting > 0 else { return 0 }
    let needed = (waiting + streamsEach - 1) / max(1, streamsEach)
    return max(0, min(needed - coming, settings.limit - connections))
  }

  /// The earliest uptime at which another connection may be opened.
  public var earliestOpen: Instant.Span? {
    let rate = opens.count < settings.opensPerSecond ? nil : opens.first.map { $0 + .seconds(1) }
    guard let rate, let notBefore else { return rate ?? notBefore }
    return max(rate, notBefore)
  }

  public func mayOpen(at now: Instant.Span) -> Bool { earliestOpen.map { $0 <= now } ?? true }

  public mutating func opened(at now: Instant.Span) {
    opens.append(now)
    if opens.count > settings.opensPerSecond { opens.removeFirst(opens.count - settings.opensPerSecond) }
  }

  /// A connection gave an answer: the way is clear.
  public mutating func succeeded() {
    failures = 0
    notBefore = nil
  }

  /// A connection ended before it gave any answer. The next waits, longer each time, by chance up to half less, so that
  /// many clients do not come back at the same moment.
  public mutating func failed(at now: Instant.Span, dice: inout Dice) {
    failures += 1
    let delay = BackOff(first: settings.firstDelay, longest: settings.longestDelay).delay(failures, dice: &dice)
    notBefore = now + delay
  }
}

/// Delays that double, each by chance up to half shorter.
public struct BackOff: Equatable, Sendable {
  public var first: Instant.Span
  public var longest: Instant.Span

  public init(first: Instant.Span, longest: Instant.Span) {
    self.first = first
    self.longest = longest
  }

  /// The delay before the `count`-th repetition, which counts from 1.
  public func delay(_ count: Int, dice: inout Dice) -> Instant.Span {
    var delay = max(1, first.milliseconds)
    for _ in 1..<max(1, min(count, 40)) where delay < longest.milliseconds { delay *= 2 }
    delay = max(1, min(delay, longest.milliseconds))
    return .milliseconds(delay - Int64.random(in: 0...(delay / 2), using: &dice))
  }
}
