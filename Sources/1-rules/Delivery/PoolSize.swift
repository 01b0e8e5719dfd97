public import Basics

/// How many connections, and how fast they may be opened: many connects in a short time look like an attack to APNs
/// (Apple, "Sending notification requests to APNs").
///
/// By Little's law a rate of pushes takes `rate × round trip` streams. The round trip is measured from answers, the rate
/// from what callers offer and what waits; connections follow with their number: up soon, down only after minutes, since
/// APNs wants connections kept.
public struct PoolSize: Sendable {
  public struct Settings: Equatable, Sendable {
    /// Connections at once. Default 4: a connection carries 1,000 pushes at a time.
    public var limit = 4
    /// Connections opened in any one second, whatever happens. Default 4.
    public var opensPerSecond = 4
    /// How long pushes must have found no free stream before another connection is opened for them. Default 100 ms:
    /// a burst passes before a handshake would.
    public var growAfter = Instant.Span.milliseconds(100)
    /// In what time pushes that wait are to be gone: with the round trip, this says how many streams they take.
    /// Default 250 ms.
    public var clearWithin = Instant.Span.milliseconds(250)
    /// How long fewer connections must have done before one is let go. Default 5 minutes.
    public var shrinkAfter = Instant.Span.minutes(5)
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
  private var trips = RoundTrip()
  private var offers = Rate()
  /// The most streams in use at once since `calmSince`, and when fewer connections began to do.
  private var peak = 0
  private var calmSince: Instant.Span?

  public init(_ settings: Settings = Settings()) { self.settings = settings }

  // MARK: Measuring

  /// The shortest round trip of the last minute or two: what waited in queues on the way does not count. nil before the
  /// first answer.
  public var roundTrip: Instant.Span? { trips.least }

  /// One answer of many; one a turn of the loop is enough.
  public mutating func measured(roundTrip: Instant.Span, at now: Instant.Span) { trips.note(roundTrip, now) }

  /// Callers offered so many pushes.
  public mutating func offered(_ count: Int, at now: Instant.Span) { offers.note(count, now) }

  // MARK: Growing

  /// How many more connections the pushes without a stream want.
  ///
  /// - Parameters:
  ///   - streamsEach: what a connection allows now.
  ///   - coming: connections being opened, among `connections`.
  public func wanted(
    waiting: Int, streamsEach: Int, coming: Int, connections: Int, at now: Instant.Span = .seconds(0)
  ) -> Int {
    guard waiting > 0 else { return 0 }
    let room = settings.limit - connections
    let streams = max(1, streamsEach)
    guard let roundTrip, connections > coming else {
      let needed = (waiting + streams - 1) / streams
      return max(0, min(needed - coming, room))
    }
    // pushes per second, times seconds, is streams; all in thousandths
    let clear = max(1, settings.clearWithin.milliseconds)
    let rate = offers.perSecond(at: now) + Int64(waiting) * 1000 / clear
    let inFlight = (rate * max(1, roundTrip.milliseconds) + 999) / 1000
    let needed = Int(clamping: (inFlight + Int64(streams) - 1) / Int64(streams))
    return max(0, min(needed - connections, room))
  }

  // MARK: Shrinking

  /// Whether one connection is too many: for `shrinkAfter`, half of what the others allow would have been enough.
  public mutating func isSurplus(
    inUse: Int, waiting: Int, streamsEach: Int, connections: Int, at now: Instant.Span
  ) -> Bool {
    peak = max(peak, inUse)
    guard connections > 1, waiting == 0, peak <= (connections - 1) * streamsEach / 2 else {
      calmSince = nil
      peak = inUse
      return false
    }
    let since = calmSince ?? now
    calmSince = since
    guard now - since >= settings.shrinkAfter else { return false }
    calmSince = now
    peak = inUse
    return true
  }

  // MARK: Opening

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

/// The shortest of what was measured lately: of this minute and the one before.
private struct RoundTrip: Sendable {
  private var now: Instant.Span?
  private var before: Instant.Span?
  private var begun: Instant.Span?

  var least: Instant.Span? {
    guard let now, let before else { return now ?? before }
    return min(now, before)
  }

  mutating func note(_ span: Instant.Span, _ moment: Instant.Span) {
    if let begun, moment - begun < .minutes(1) {
      now = min(now ?? span, span)
    } else {
      before = now
      now = span
      begun = moment
    }
  }
}

/// How many a second, by the last whole second and the one that runs.
private struct Rate: Sendable {
  private var second: Int64 = .min
  private var count: Int64 = 0
  private var last: Int64 = 0

  mutating func note(_ more: Int, _ now: Instant.Span) {
    turn(now.milliseconds / 1000)
    count += Int64(more)
  }

  func perSecond(at now: Instant.Span) -> Int64 {
    var copy = self
    copy.turn(now.milliseconds / 1000)
    return max(copy.count, copy.last)
  }

  private mutating func turn(_ current: Int64) {
    guard current != second else { return }
    last = second != .min && current == second + 1 ? count : 0
    second = current
    count = 0
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
