public import Basics

/// How a time of an app's users is cut up. Days and months are those of UTC+8, as JPush's reports have them (jpush.md §8).
public enum UsageUnit: UInt8, CaseIterable, Sendable {
  case hour = 0
  case day = 1
  case month = 2

  public static let zone = TimeZoneRules(fixed: 8 * 3600, abbreviation: "CST")

  /// When the unit began that holds `instant`.
  public func start(of instant: Instant) -> Instant {
    var local = Self.zone.local(at: instant)
    (local.minute, local.second) = (0, 0)
    switch self {
    case .hour: break
    case .day: local.hour = 0
    case .month: (local.hour, local.day) = (0, 1)
    }
    return Self.instant(local)
  }

  /// When the unit begins that comes `count` after the one that begins at `start`.
  public func start(_ count: Int, after start: Instant) -> Instant {
    switch self {
    case .hour: start + .hours(Int64(count))
    case .day: start + .days(Int64(count))
    case .month: Self.instant(Self.zone.local(at: start).adding(months: Int64(count)))
    }
  }

  public static func instant(_ local: LocalTime) -> Instant { Instant(seconds: local.seconds - 8 * 3600) }

  /// Whether a device that was heard of at `last` is to be noted as heard of again: a minute later, or in another hour.
  public static func isNews(_ now: Instant, after last: Instant) -> Bool {
    now - last >= .minutes(1) || (now > last && UsageUnit.hour.start(of: now) != UsageUnit.hour.start(of: last))
  }
}

/// An app's users in one unit of time.
public struct UsageCount: Sendable, Equatable {
  /// Devices that registered for the first time.
  public var new = 0
  /// Devices that were heard of, each once.
  public var active = 0

  public init(new: Int = 0, active: Int = 0) {
    self.new = new
    self.active = active
  }
}
