public import Basics

/// Which device tokens APNs wants to hear less of. After `TooManyRequests` the pushes to that very token wait, whoever
/// offered them, and come back one at a time; all other tokens go on. (Apple, "Handling notification responses from
/// APNs": too many requests were made consecutively to the same device token. The limit is not published.)
///
///     unknown ──refused──▶ paused until `next` ──one push admitted──▶ paused for `delay` more, and so on
///
/// `delay` doubles when the admitted push is refused too, halves when one is accepted, and is forgotten below `shortest`.
public struct DevicePauses: Sendable {
  public struct Settings: Equatable, Sendable {
    /// The pause after the first refusal. Default 5 s.
    public var first = Instant.Span.seconds(5)
    /// The most that a pause grows to. Default 15 minutes.
    public var longest = Instant.Span.minutes(15)
    /// A pause that acceptances have brought below this is over. Default 1 s.
    public var shortest = Instant.Span.seconds(1)
    /// Tokens remembered at once; the one whose pause ends first is forgotten for another. Default 10,000.
    public var capacity = 10_000
    public init() {}
  }

  private struct Pause {
    var delay: Instant.Span
    /// When the next push may leave.
    var next: Instant.Span
    /// Whether one has left since the last refusal: only its refusal makes the pause longer, not those of pushes that
    /// had left together with the one that began it.
    var hasAdmitted = false
  }

  public let settings: Settings
  private var pauses: [[UInt8]: Pause] = [:]
  private var tidied = Instant.Span.milliseconds(0)

  public init(_ settings: Settings = Settings()) { self.settings = settings }

  /// Nothing is paused: no push need be looked at.
  public var isQuiet: Bool { pauses.isEmpty }

  /// Tokens that are paused or watched.
  public var count: Int { pauses.count }

  /// When a push to `token` that wants to leave now may leave instead; nil when it may leave, which then counts as the
  /// one push that this moment admits.
  public mutating func postponed(_ token: [UInt8], at now: Instant.Span) -> Instant.Span? {
    guard var pause = pauses[token] else { return nil }
    guard pause.next <= now else { return pause.next }
    pause.next = now + pause.delay
    pause.hasAdmitted = true
    pauses[token] = pause
    return nil
  }

  /// APNs answered a push to `token` with `TooManyRequests`.
  public mutating func refused(_ token: [UInt8], at now: Instant.Span) {
    if let pause = pauses[token] {
      guard pause.hasAdmitted else { return }
      let delay = min(Instant.Span.milliseconds(pause.delay.milliseconds * 2), settings.longest)
      pauses[token] = Pause(delay: delay, next: now + delay)
      return
    }
    if pauses.count >= settings.capacity, let soonest = pauses.min(by: { $0.value.next < $1.value.next })?.key {
      pauses[soonest] = nil
    }
    pauses[token] = Pause(delay: settings.first, next: now + settings.first)
  }

  /// APNs took a push to `token`.
  public mutating func accepted(_ token: [UInt8], at now: Instant.Span) {
    guard var pause = pauses[token] else { return }
    pause.delay = .milliseconds(pause.delay.milliseconds / 2)
    pause.next = min(pause.next, now + pause.delay)
    pauses[token] = pause.delay < settings.shortest ? nil : pause
  }

  /// Forgets tokens that nothing was sent to for the longest pause; looks once a minute.
  public mutating func tidy(at now: Instant.Span) {
    guard !pauses.isEmpty, now - tidied >= .minutes(1) else { return }
    tidied = now
    pauses = pauses.filter { now - $0.value.next < settings.longest }
  }
}
