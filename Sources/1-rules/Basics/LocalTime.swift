/// What a clock and a calendar on the wall show: a day of the Gregorian calendar and a time of day to the second,
/// without a zone.
public struct LocalTime: Hashable, Comparable, Sendable, CustomStringConvertible {
  public var year: Int
  /// 1 … 12.
  public var month: Int
  /// 1 … 31.
  public var day: Int
  public var hour: Int
  public var minute: Int
  public var second: Int

  public init(_ year: Int, _ month: Int, _ day: Int, _ hour: Int = 0, _ minute: Int = 0, _ second: Int = 0) {
    self.year = year
    self.month = month
    self.day = day
    self.hour = hour
    self.minute = minute
    self.second = second
  }

  /// 1 Sunday … 7 Saturday, as Apple's calendars count.
  public var weekday: Int { Int(CivilCalendar.weekday(days)) }

  public static func < (left: Self, right: Self) -> Bool { left.seconds < right.seconds }

  /// `2027-03-28 02:30:00`.
  public var description: String {
    let text = Instant(seconds: seconds).description  // 2027-03-28T02:30:00.000Z
    return "\(text.dropLast(14)) \(text.dropLast(5).suffix(8))"
  }

  /// The same time of another day.
  public func adding(days count: Int64) -> LocalTime {
    let limit = Self.lastYear * 366
    return LocalTime(seconds: (self.days + count.clamped(to: limit)) * 86_400 + secondOfDay)
  }

  /// The same time of the same day of another month; where that month is too short, of its last day.
  public func adding(months count: Int64) -> LocalTime {
    let civil = CivilCalendar.day(days)
    let months = civil.year * 12 + civil.month - 1 + count.clamped(to: Self.lastYear * 12)
    let year = months.flooredDividing(by: 12)
    let month = months - year * 12 + 1
    let day = min(civil.day, CivilCalendar.days(inMonth: month, of: year))
    return LocalTime(seconds: CivilCalendar.days(year: year, month: month, day: day) * 86_400 + secondOfDay)
  }

  /// Years beyond this are cut to it: an `Instant` reaches as far.
  private static let lastYear: Int64 = 292_000_000

  /// Since 1970-01-01.
  package var days: Int64 {
    CivilCalendar.days(
      year: Int64(year).clamped(to: Self.lastYear), month: min(max(1, Int64(month)), 12),
      day: Int64(day).clamped(to: 1000))
  }

  /// Seconds since 1970 if this were UTC.
  package var seconds: Int64 {
    days * 86_400 + secondOfDay
  }

  private var secondOfDay: Int64 {
    Int64(hour).clamped(to: 1000) * 3600 + Int64(minute).clamped(to: 1000) * 60 + Int64(second).clamped(to: 1000)
  }

  package init(seconds: Int64) {
    let days = seconds.flooredDividing(by: 86_400)
    let civil = CivilCalendar.day(days)
    let second = Int(seconds - days * 86_400)
    self.init(
      Int(civil.year), Int(civil.month), Int(civil.day), second / 3600, second / 60 % 60, second % 60)
  }
}

extension Int64 {
  fileprivate func clamped(to limit: Int64) -> Int64 { Swift.min(Swift.max(-limit, self), limit) }
}
