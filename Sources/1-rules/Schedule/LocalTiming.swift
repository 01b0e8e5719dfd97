public import Basics

/// When a push may leave for devices, by the clocks of their own place.
public struct LocalTiming: Hashable, Sendable {
  /// Due when the wall shows this; nil: at once.
  public var due: LocalTime?
  /// Not while they last; nil: whatever the hour.
  public var quiet: QuietHours?
  /// Whether the hours that a device's user chose count, in the place of `quiet` where there are some.
  public var heedsUsers: Bool
  /// Whether it is dropped in place of waiting for their end.
  public var dropsInQuiet: Bool
  /// Whose clocks count for devices that told no place: a name of the tz database.
  public var timeZone: String

  public init(
    due: LocalTime? = nil, quiet: QuietHours? = nil, heedsUsers: Bool = false, dropsInQuiet: Bool = false,
    timeZone: String
  ) {
    self.due = due
    self.quiet = quiet
    self.heedsUsers = heedsUsers
    self.dropsInQuiet = dropsInQuiet
    self.timeZone = timeZone
  }

  /// For devices whose user chose these hours, or none.
  public func heeding(_ own: QuietHours?) -> LocalTiming {
    guard heedsUsers, let own else { return self }
    var timing = self
    timing.quiet = own
    return timing
  }

  public enum Verdict: Hashable, Sendable {
    case now
    case dueAt(Instant)
    case quietUntil(Instant)
    /// It is quiet, and that drops it.
    case dropped
  }

  public func verdict(at now: Instant, in rules: TimeZoneRules) -> Verdict {
    if let due {
      switch rules.reading(due) {
      case .once(let instant), .twice(let instant, _), .skipped(let instant, _):
        if instant > now { return .dueAt(instant) }
      }
    }
    guard let end = quiet?.end(at: now, in: rules) else { return .now }
    return dropsInQuiet ? .dropped : .quietUntil(end)
  }
}
