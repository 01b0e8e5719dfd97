public import Basics
import PushPayload

/// Whether a push that was not accepted goes again, when, and how it ends if not.
///
/// The same `apns-id` and collapse id are kept through every attempt. A push is never tried again past its expiration;
/// with expiration 0, Apple's "one attempt", it goes again only where APNs certainly did not take it and nothing is
/// to be waited for. (Apple, "Handling notification responses from APNs"; what its 15 minutes for 5xx mean here is
/// `ServerFaults`.)
public struct RetryPolicy: Sendable {
  public struct Settings: Equatable, Sendable {
    /// Attempts that were answered "later" or not at all, the first included. Default 8: about two minutes.
    public var attempts = 8
    /// How often a push that APNs did not look at (GOAWAY, REFUSED_STREAM) goes again. Default 24.
    public var bounces = 24
    /// How many of these go at once; further ones wait as attempts do. Default 4.
    public var bouncesAtOnce = 4
    /// Before the second attempt; doubles with each. Default 1 s.
    public var firstDelay = Instant.Span.seconds(1)
    /// Default 60 s.
    public var longestDelay = Instant.Span.seconds(60)
    /// The least wait after TooManyRequests, which is about one device. Default 5 s.
    public var deviceDelay = Instant.Span.seconds(5)
    /// When a push that met InternalServerError, ServiceUnavailable or another 5xx goes again. Default `soon`.
    public var serverFaults = ServerFaults.soon
    public init() {}
  }

  /// Apple's page of 2026 wants a 5xx tried again after 15 minutes, with back-off; every client library of the field tries
  /// again within seconds, and finds most of these faults gone: they are of one front end, and a push is news only for so
  /// long. Both keep to `attempts`.
  public enum ServerFaults: Equatable, Sendable {
    /// As after any other fault that passes: `firstDelay`, doubling up to `longestDelay`; with the other defaults the push
    /// has ended after about two minutes, and its caller may offer it again.
    case soon
    /// As documented: at least this long, by chance up to twice as long, doubling up to eight times. The push stays with
    /// the client meanwhile.
    case after(Instant.Span)

    /// 15 to 30 minutes, 30 to 60, one hour to two, then two to four.
    public static let asDocumented = ServerFaults.after(.minutes(15))
  }

  /// Why an attempt did not end the push by itself.
  public enum Failure: Equatable, Sendable {
    case refused(PushOutcome.Refusal)
    /// APNs did not process it: a stream above GOAWAY's, REFUSED_STREAM, a credential that was refused.
    case unprocessed(String)
    /// No answer: a time-out, a reset, a lost connection. The phone may show it.
    case unanswered(String)
  }

  public enum Verdict: Equatable, Sendable {
    case end(PushOutcome)
    case again(after: Instant.Span)
  }

  /// What a push has been through.
  public struct Tries: Equatable, Sendable {
    public var attempts: Int
    public var bounces: Int
    /// Seconds since 1970, 0 for one attempt, nil for no limit.
    public var expiration: Int64?
    public init(attempts: Int = 0, bounces: Int = 0, expiration: Int64? = nil) {
      self.attempts = attempts
      self.bounces = bounces
      self.expiration = expiration
    }

    /// Too late for a first attempt.
    public func isExpired(at wall: Instant) -> Bool {
      guard let expiration, expiration != 0 else { return false }
      return Instant(seconds: expiration) <= wall
    }

    /// Too late for another attempt at that time; after expiration 0, which is one attempt, any time is.
    func mayNotWait(until wall: Instant) -> Bool { expiration == 0 || isExpired(at: wall) }
  }

  public let settings: Settings

  public init(_ settings: Settings = Settings()) { self.settings = settings }

  /// Counts the failure in `tries` and judges it.
  public func judge(_ failure: Failure, _ tries: inout Tries, at wall: Instant, dice: inout Dice) -> Verdict {
    switch failure {
    case .refused(let refusal):
      switch refusal.handling {
      case .dead, .fix: return .end(.refused(refusal))
      case .later, .laterElsewhere:
        let back = backOff(after: refusal)
        return attempt(Self.words(refusal), tries: &tries, back, seen: false, at: wall, dice: &dice)
      case .elsewhere, .newToken, .credential:
        return bounce(Self.words(refusal), tries: &tries, at: wall, dice: &dice)
      }
    case .unprocessed(let why):
      return bounce(why, tries: &tries, at: wall, dice: &dice)
    case .unanswered(let why):
      return attempt(
        why, tries: &tries, BackOff(first: settings.firstDelay, longest: settings.longestDelay), seen: true, at: wall,
        dice: &dice)
    }
  }

  private func backOff(after refusal: PushOutcome.Refusal) -> BackOff {
    switch settings.serverFaults {
    case .after(let delay) where refusal.status >= 500 && refusal.handling == .later:
      // chance makes a back-off up to half shorter, and this one must not come too early
      let least = max(1, min(delay.milliseconds, .max / 16))
      return BackOff(first: .milliseconds(least * 2), longest: .milliseconds(least * 16))
    case .after, .soon:
      let first = refusal.known == .tooManyRequests ? settings.deviceDelay : settings.firstDelay
      return BackOff(first: first, longest: max(settings.longestDelay, first))
    }
  }

  /// What the refusal is called where it is the last word after many attempts.
  static func words(_ refusal: PushOutcome.Refusal) -> String {
    refusal.reason.isEmpty ? "status \(refusal.status)" : "\(refusal.status) \(refusal.reason)"
  }

  private func attempt(
    _ why: String, tries: inout Tries, _ back: BackOff, seen: Bool, at wall: Instant, dice: inout Dice
  ) -> Verdict {
    tries.attempts += 1
    guard tries.attempts < settings.attempts else {
      return .end(.unanswered(.retriesExhausted("\(why), after \(tries.attempts) attempts")))
    }
    // a lost connection says nothing against the next: the first repetition goes at once
    if seen && tries.attempts == 1 {
      return tries.mayNotWait(until: wall) ? .end(.unanswered(.expired)) : .again(after: .seconds(0))
    }
    let delay = back.delay(seen ? tries.attempts - 1 : tries.attempts, dice: &dice)
    return again(after: delay, tries, at: wall)
  }

  private func bounce(_ why: String, tries: inout Tries, at wall: Instant, dice: inout Dice) -> Verdict {
    tries.bounces += 1
    guard tries.bounces <= settings.bounces else {
      return .end(.unanswered(.retriesExhausted("\(why), \(tries.bounces) times")))
    }
    guard tries.bounces > settings.bouncesAtOnce else {
      return tries.isExpired(at: wall) ? .end(.unanswered(.expired)) : .again(after: .seconds(0))
    }
    let delay = BackOff(first: settings.firstDelay, longest: settings.longestDelay)
      .delay(tries.bounces - settings.bouncesAtOnce, dice: &dice)
    return again(after: delay, tries, at: wall)
  }

  private func again(after delay: Instant.Span, _ tries: Tries, at wall: Instant) -> Verdict {
    if tries.mayNotWait(until: wall + delay) {
      return .end(.unanswered(.expired))
    }
    return .again(after: delay)
  }
}
