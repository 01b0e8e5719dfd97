internal import Basics

/// Calls a minute, per app and family of calls (jpush.md §3). Defaults are far above what one machine serves, so that
/// they only stop a loop gone wild; set them lower to keep apps from each other's way.
public struct RateLimitSettings: Sendable, Equatable {
  /// `/v3/push` and what is below it.
  public var push = 1_000_000
  /// `/v3/schedules`.
  public var schedule = 1_000_000
  /// `/v3/devices` and `/device/v1`.
  public var device = 1_000_000
  /// `/v1` and reports.
  public var report = 1_000_000
  /// Calls to `/device/v1` by one device for itself: a phone says what changed, not more.
  public var ownDevice = 300
  /// Calls to `/device/v1` from one address (of IPv6: from one /64), before anything is looked up. Loopback is not
  /// counted: there a proxy speaks for many, which has limits of its own.
  public var address = 6_000

  public init() {}

  func perMinute(_ family: APIFamily) -> Int {
    switch family {
    case .push, .admin, .server: max(1, push)
    case .schedule: max(1, schedule)
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

  private enum Key: Hashable {
    case app(String, APIFamily)
    case device(String)
    case address(String)
  }

  /// Strangers' addresses, devices and apps in all: beyond it those that are full again are forgotten, or else all.
  private static let mostBuckets = 100_000

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
    take(.app(app, family), perMinute: settings.perMinute(family))
  }

  /// Counts one call of a device that is known.
  func take(device registrationID: String) -> Verdict {
    take(.device(registrationID), perMinute: max(1, settings.ownDevice))
  }

  /// Counts one call of anybody at an address; nil where addresses tell nothing.
  func take(address: String) -> Verdict? {
    guard let network = Self.network(of: address) else { return nil }
    return take(.address(network), perMinute: max(1, settings.address))
  }

  /// Who has one address of IPv6 has all of its /64 (RFC 6177); nil for this machine itself.
  static func network(of address: String) -> String? {
    guard address.contains(":") else { return address.hasPrefix("127.") ? nil : address }
    if address == "::1" { return nil }
    if address.hasPrefix("::ffff:"), address.contains(".") { return network(of: String(address.dropFirst(7))) }
    let halves = address.split(separator: "::", maxSplits: 1, omittingEmptySubsequences: false)
    var groups = halves[0].split(separator: ":").map(String.init)
    if halves.count == 2 {
      let tail = halves[1].split(separator: ":").count
      groups += Array(repeating: "0", count: max(0, 8 - groups.count - tail))
    }
    return groups.prefix(4).joined(separator: ":") + "::/64"
  }

  private func take(_ key: Key, perMinute limit: Int) -> Verdict {
    let perMillisecond = Double(limit) / 60_000
    let now = clock.uptime
    return buckets.withLock { buckets in
      if buckets.count >= Self.mostBuckets, buckets[key] == nil { Self.makeRoom(&buckets, now) }
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

  /// A bucket that nobody drew from for a minute is full, which is what one that is not there is.
  private static func makeRoom(_ buckets: inout [Key: Bucket], _ now: Instant.Span) {
    buckets = buckets.filter { now.milliseconds - $0.value.filledAt.milliseconds < 60_000 }
    if buckets.count >= mostBuckets { buckets = [:] }
  }
}
