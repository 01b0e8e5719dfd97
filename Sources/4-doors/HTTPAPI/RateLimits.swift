internal import Basics

/// Calls a minute, per app and family of calls (jpush.md §3). Defaults are far above what one machine serves, so that
/// they only stop a loop gone wild; set them lower to keep apps from each other's way.
public struct RateLimitSettings: Sendable, Equatable {
  /// `/v3/push` and what is below it.
  public var push = 1_000_000
  /// `/v3/devices` and `/device/v1`.
  public var device = 1_000_000
  /// `/v1` and reports.
  public var report = 1_000_000

  public init() {}

  func perMinute(_ family: APIFamily) -> Int {
    switch family {
    case .push, .schedule, .admin, .server: max(1, push)
    case .device, .registration: max(1, device)
    case .native, .report: max(1, report)
    }
  }
}

/// A token bucket for each app and family: it holds a minute's calls and refills steadily.
final class RateLimits: Sendable {
  /// What the rate headers tell.
  struct Verdict: Equatable {
    var isAllowed: Bool
    var limit: Int
    var remaining: Int
    /// Seconds until the bucket is full again.
    var reset: Int
    /// Seconds until another call is allowed; 0 if it is now.
    var retryAfter: Int
  }

  private struct Key: Hashable {
    var app: String
    var family: APIFamily
  }

  private struct Bucket {
    var tokens: Double
    var filledAt: Instant.Span
  }

  private let settings: RateLimitSettings
  private let clock: any WallClock
  private let buckets = Locked<[Key: Bucket]>([:])

  init(_ settings: RateLimitSettings, clock: any WallClock) {
    self.settings = settings
    self.clock = clock
  }

  /// What an app that has called nothing yet would be told; for calls without a known app.
  func untouched(_ family: APIFamily) -> Verdict {
    let limit = settings.perMinute(family)
    return Verdict(isAllowed: true, limit: limit, remaining: limit, reset: 0, retryAfter: 0)
  }

  /// Counts one call of an app that is known, so that strangers cannot fill memory with names.
  func take(app: String, family: APIFamily) -> Verdict {
    let limit = settings.perMinute(family)
    let perMillisecond = Double(limit) / 60_000
    let now = clock.uptime
    return buckets.withLock { buckets in
      let key = Key(app: app, family: family)
      var bucket = buckets[key] ?? Bucket(tokens: Double(limit), filledAt: now)
      let passed = Double(max(0, now.milliseconds - bucket.filledAt.milliseconds))
      bucket.tokens = min(Double(limit), bucket.tokens + passed * perMillisecond)
      bucket.filledAt = now
      let isAllowed = bucket.tokens >= 1
      if isAllowed { bucket.tokens -= 1 }
      buckets[key] = bucket
      return Verdict(
        isAllowed: isAllowed, limit: limit, remaining: Int(bucket.tokens),
        reset: Int(((Double(limit) - bucket.tokens) / perMillisecond / 1000).rounded(.up)),
        retryAfter: isAllowed ? 0 : max(1, Int(((1 - bucket.tokens) / perMillisecond / 1000).rounded(.up))))
    }
  }
}
