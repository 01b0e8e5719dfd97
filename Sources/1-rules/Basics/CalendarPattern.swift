/// Times that a clock on the wall shows again and again: those whose given components match, as in Apple's
/// `DateComponents` for a calendar trigger. `CalendarPattern(hour: 17)` is every day at 17:00:00.
///
/// Components smaller than the smallest one given count as their first value; those between or above that are left out
/// match anything. A pattern with nothing given, or one that no calendar fulfils, has no time.
public struct CalendarPattern: Hashable, Sendable {
  public var year: Int?
  public var month: Int?
  public var day: Int?
  /// 1 Sunday … 7 Saturday.
  public var weekday: Int?
  /// Which one of its weekday in the month: 2 with weekday 3 is the second Tuesday.
  public var weekdayOrdinal: Int?
  /// Weeks begin on Sunday; the one with the first of the month, or 1 January, is the first, as with Apple's Gregorian
  /// calendar where no region says otherwise.
  public var weekOfMonth: Int?
  public var weekOfYear: Int?
  public var hour: Int?
  public var minute: Int?
  public var second: Int?

  public init(
    year: Int? = nil, month: Int? = nil, day: Int? = nil, weekday: Int? = nil, weekdayOrdinal: Int? = nil,
    weekOfMonth: Int? = nil, weekOfYear: Int? = nil, hour: Int? = nil, minute: Int? = nil, second: Int? = nil
  ) {
    self.year = year
    self.month = month
    self.day = day
    self.weekday = weekday
    self.weekdayOrdinal = weekdayOrdinal
    self.weekOfMonth = weekOfMonth
    self.weekOfYear = weekOfYear
    self.hour = hour
    self.minute = minute
    self.second = second
  }

  /// What becomes of a time that the clocks are put forward over.
  public enum SkippedTime: Sendable {
    /// The first instant after the gap: 02:30 comes at 03:00 (Apple's `nextTime`).
    case atOnce
    /// As long after the gap as it was after its beginning: 02:30 comes at 03:30.
    case shifted
  }

  /// The first time later than `instant`; nil: never. A time of day that the clocks show twice counts once, at the first
  /// showing; with the hour left open each hour counts.
  public func next(after instant: Instant, in rules: TimeZoneRules, skipped: SkippedTime = .atOnce) -> Instant? {
    guard let filled, (1...9999).contains(filled.year ?? 2000) else { return nil }
    let now = rules.local(at: instant)
    // Clocks that are put back can show a time of the day before again.
    guard now.year <= 9999, var day = filled.firstDay(from: now.days - 1) else { return nil }
    let lastYear = Int64(now.year) + Self.longestWait
    while true {
      if let found = filled.first(onDay: day, after: instant, rules, skipped) { return found }
      guard let next = filled.firstDay(from: day + 1), CivilCalendar.day(next).year <= lastYear else { return nil }
      day = next
    }
  }

  /// Years: 29 February on a given weekday comes back after 40 at the latest, over a century without a leap day.
  private static let longestWait: Int64 = 60

  /// With the components below the smallest given one at their first values.
  private var filled: CalendarPattern? {
    var filled = self
    if hasWeek, day == nil, weekday == nil, weekdayOrdinal == nil, hour == nil, minute == nil, second == nil {
      filled.weekday = 1
    }
    let hasDay = namesDay
    guard hasDay || [year, month, hour, minute, second].contains(where: { $0 != nil }) else { return nil }
    if second == nil { filled.second = 0 }
    if second == nil, minute == nil { filled.minute = 0 }
    if second == nil, minute == nil, hour == nil {
      filled.hour = 0
      if !hasDay { filled.day = 1 }
      if !hasDay, month == nil { filled.month = 1 }
    }
    return filled
  }

  private var hasWeek: Bool { weekOfMonth != nil || weekOfYear != nil }
  private var namesDay: Bool { day != nil || weekday != nil || weekdayOrdinal != nil || hasWeek }

  // MARK: days

  /// The first matching day from `start` on, in days since 1970; nil: none within `longestWait`.
  private func firstDay(from start: Int64) -> Int64? {
    var civil = CivilCalendar.day(start)
    let lastYear = civil.year + Self.longestWait
    while civil.year <= lastYear {
      if let year, Int64(year) != civil.year {
        guard year > civil.year, year <= lastYear else { return nil }
        civil = .init(year: Int64(year), month: 1, day: 1)
      }
      if let month, Int64(month) != civil.month {
        guard (1...12).contains(month) else { return nil }
        civil = .init(year: civil.year + (month < civil.month ? 1 : 0), month: Int64(month), day: 1)
        continue
      }
      if let day = matchingDay(from: civil.day, of: civil.month, civil.year) {
        return CivilCalendar.days(year: civil.year, month: civil.month, day: day)
      }
      civil =
        civil.month == 12
        ? .init(year: civil.year + 1, month: 1, day: 1) : .init(year: civil.year, month: civil.month + 1, day: 1)
    }
    return nil
  }

  private func matchingDay(from first: Int64, of month: Int64, _ year: Int64) -> Int64? {
    let last = CivilCalendar.days(inMonth: month, of: year)
    guard first <= last else { return nil }
    let firstDay = CivilCalendar.days(year: year, month: month, day: 1)
    return (first...last).first { day in
      (self.day.map { Int64($0) == day } ?? true)
        && (weekday.map { Int64($0) == CivilCalendar.weekday(firstDay + day - 1) } ?? true)
        && (weekdayOrdinal.map { Int64($0) == (day - 1) / 7 + 1 } ?? true)
        && (weekOfMonth.map { Int64($0) == Self.week(of: firstDay + day - 1, from: firstDay) } ?? true)
        && (weekOfYear.map { Int64($0) == Self.weekOfYear(firstDay + day - 1, year) } ?? true)
    }
  }

  /// 1 for the days up to the first Saturday.
  private static func week(of day: Int64, from first: Int64) -> Int64 {
    (day - first + CivilCalendar.weekday(first) - 1) / 7 + 1
  }

  /// The last days of December are in week 1 if 1 January is.
  private static func weekOfYear(_ day: Int64, _ year: Int64) -> Int64 {
    let newYear = CivilCalendar.days(year: year + 1, month: 1, day: 1)
    if day + 7 - CivilCalendar.weekday(day) >= newYear { return 1 }
    return week(of: day, from: CivilCalendar.days(year: year, month: 1, day: 1))
  }

  // MARK: times of a day

  private func first(
    onDay days: Int64, after instant: Instant, _ rules: TimeZoneRules, _ skipped: SkippedTime
  ) -> Instant? {
    let midnight = days * 86_400
    guard let hours = range(hour, 24), let minutes = range(minute, 60), let seconds = range(second, 60) else {
      return nil
    }
    // A pattern that says no day means no day that was left out whole (Samoa's 30 December 2011).
    let anyDay = !namesDay
    let dayIsThere = !anyDay || isThere(midnight, rules) || isThere(midnight + 86_399, rules)
    guard dayIsThere else { return nil }
    let start = Instant(seconds: midnight - TimeZoneRules.widest)
    let isPlain = rules.nextChange(after: start).map { $0.seconds > midnight + 86_400 + TimeZoneRules.widest } ?? true
    // On such a day the wall's time and the instant go together, so that what is over need not be looked at.
    let over = isPlain ? rules.local(at: instant).seconds : .min
    var earliest: Instant?
    for hour in hours where midnight + hour * 3600 + 3599 > over {
      for minute in minutes where midnight + hour * 3600 + minute * 60 + 59 > over {
        for second in seconds {
          let wall = midnight + hour * 3600 + minute * 60 + second
          for found in instants(wall, rules, skipped) where found > instant {
            if isPlain { return found }
            earliest = min(earliest ?? found, found)
          }
        }
      }
    }
    return earliest
  }

  private func range(_ component: Int?, _ count: Int64) -> Range<Int64>? {
    guard let component else { return 0..<count }
    guard 0..<count ~= Int64(component) else { return nil }
    return Int64(component)..<Int64(component) + 1
  }

  private func isThere(_ wall: Int64, _ rules: TimeZoneRules) -> Bool {
    switch rules.reading(LocalTime(seconds: wall)) {
    case .once, .twice: true
    case .skipped: false
    }
  }

  private func instants(_ wall: Int64, _ rules: TimeZoneRules, _ skipped: SkippedTime) -> [Instant] {
    switch rules.reading(LocalTime(seconds: wall)) {
    case .once(let instant): [instant]
    case .twice(let first, let second): hour == nil ? [first, second] : [first]
    case .skipped(let next, let shifted):
      if hour == nil {
        []
      } else {
        switch skipped {
        case .atOnce: [next]
        case .shifted: [shifted]
        }
      }
    }
  }
}
