internal import Basics

/// How many background pushes an app on a phone may still get. Apple's guidance is two or three an hour, from a budget of
/// power that is reset each day ("Pushing background updates to your App"); ours is exact, so that a test can count.
struct BackgroundBudget: Hashable, Sendable {
  struct Rules: Hashable, Sendable {
    /// Within any 60 minutes; nil for no limit.
    var perHour: Int? = 3
    /// From midnight to midnight UTC, since APNs does not know where the phone is; nil for no limit.
    var perDay: Int?
  }

  /// When background pushes went out, oldest first; as far back as `Rules` look.
  private(set) var spent: [Instant] = []

  init(spent: [Instant] = []) { self.spent = spent.sorted() }

  /// `now` when one may leave at once, else the time from which on one may. What lies in the future, because somebody set
  /// the clock back, does not count.
  func nextAllowed(_ rules: Rules, now: Instant) -> Instant {
    let past = spent.filter { $0 <= now }
    var allowed = now
    if let most = rules.perHour.map({ max(1, $0) }) {
      let recent = past.suffix(most).filter { now - $0 < .hours(1) }
      if recent.count == most, let oldest = recent.first { allowed = max(allowed, oldest + .hours(1)) }
    }
    if let most = rules.perDay.map({ max(1, $0) }) {
      let midnight = Self.midnight(before: now)
      if past.filter({ $0 >= midnight }).count >= most { allowed = max(allowed, midnight + .days(1)) }
    }
    return allowed
  }

  mutating func spend(at now: Instant) {
    let oldest = min(Self.midnight(before: now), now - .hours(1))
    spent.removeAll { $0 < oldest || $0 > now }
    spent.append(now)
  }

  private static func midnight(before now: Instant) -> Instant {
    let seconds = now.seconds
    let intoDay = ((seconds % 86_400) + 86_400) % 86_400
    return Instant(seconds: seconds - intoDay)
  }
}
