public import Basics

/// A time of day on days that come again: JPush's periodical trigger (jpush.md §6). Made only of what can fire.
public struct Recurrence: Hashable, Sendable {
  public enum Days: Hashable, Sendable {
    case daily
    case weekly(Set<Weekday>)
    /// 1 … 31; a month that lacks the day is left out.
    case monthly(Set<Int>)
  }

  /// Neither before nor after these does it fire.
  public let start: LocalTime
  public let end: LocalTime
  public let time: TimeOfDay
  public let days: Days
  /// Every so many days, weeks or months, counted from those of `start`; weeks begin on Monday. 1 … 100.
  public let frequency: Int

  /// - Throws: what of it cannot be: an end before the start or more than a year after it, a frequency or a day out of
  ///   range, or no day at all within its bounds.
  public init(
    start: LocalTime, end: LocalTime, time: TimeOfDay, days: Days, frequency: Int = 1
  ) throws(RecurrenceFault) {
    guard end > start else { throw .endsBeforeItStarts }
    guard end <= start.adding(months: 12) else { throw .longerThanAYear }
    guard 1...100 ~= frequency else { throw .frequency(frequency) }
    switch days {
    case .daily: break
    case .weekly(let weekdays): if weekdays.isEmpty { throw .noDays }
    case .monthly(let numbers):
      if numbers.isEmpty { throw .noDays }
      if let wrong = numbers.sorted().first(where: { !(1...31 ~= $0) }) { throw .dayOfMonth(wrong) }
    }
    self.start = start
    self.end = end
    self.time = time
    self.days = days
    self.frequency = frequency
    if occurrence(after: nil) == nil { throw .neverFires }
  }

  /// The first later than `last`, or the first of all.
  func occurrence(after last: LocalTime?) -> LocalTime? {
    let earliest = max(start, last.map { LocalTime(seconds: $0.seconds + 1) } ?? start)
    guard earliest <= end else { return nil }
    let step = Int64(frequency)
    let begin: (Int64) -> Int64
    let days: (Int64) -> [Int64]
    let current: Int64
    switch self.days {
    case .daily:
      begin = { [start] in start.days + $0 * step }
      days = { [$0] }
      current = (earliest.days - start.days) / step
    case .weekly(let weekdays):
      let monday = start.days - Weekday(onDay: start.days).daysAfterMonday
      let offsets = weekdays.map(\.daysAfterMonday).sorted()
      begin = { monday + $0 * step * 7 }
      days = { week in offsets.map { week + $0 } }
      current = (earliest.days - monday) / (step * 7)
    case .monthly(let numbers):
      let numbers = numbers.sorted().map(Int64.init)
      let startMonth = Self.month(of: start.days)
      begin = { Self.firstDay(ofMonth: startMonth + $0 * step) }
      days = { first in
        let civil = CivilCalendar.day(first)
        let length = CivilCalendar.days(inMonth: civil.month, of: civil.year)
        return numbers.filter { $0 <= length }.map { first + $0 - 1 }
      }
      current = (Self.month(of: earliest.days) - startMonth) / step
    }
    return first(from: earliest, startingAt: current, begin: begin, days: days)
  }

  /// Looks through periods, each begun on the day `begin` says, for the first of their days that counts.
  private func first(
    from earliest: LocalTime, startingAt period: Int64, begin: (Int64) -> Int64, days: (Int64) -> [Int64]
  ) -> LocalTime? {
    var period = period
    while begin(period) <= end.days {
      if let found = days(begin(period)).lazy.map(time.onDay).first(where: { $0 >= earliest }) {
        return found <= end ? found : nil
      }
      period += 1
    }
    return nil
  }

  /// Months since the year 0.
  private static func month(of day: Int64) -> Int64 {
    let civil = CivilCalendar.day(day)
    return civil.year * 12 + civil.month - 1
  }

  private static func firstDay(ofMonth month: Int64) -> Int64 {
    CivilCalendar.days(year: month / 12, month: month % 12 + 1, day: 1)
  }
}

/// What of a recurrence cannot be.
public enum RecurrenceFault: Error, Hashable, Sendable {
  case endsBeforeItStarts
  case longerThanAYear
  case frequency(Int)
  case noDays
  case dayOfMonth(Int)
  /// Its first day comes after its end.
  case neverFires
}

/// As JPush writes them.
public enum Weekday: String, CaseIterable, Sendable {
  case monday = "MON"
  case tuesday = "TUE"
  case wednesday = "WED"
  case thursday = "THU"
  case friday = "FRI"
  case saturday = "SAT"
  case sunday = "SUN"

  init(onDay day: Int64) {
    let daysAfterMonday = Int(CivilCalendar.weekday(day) + 5) % 7
    self = Self.allCases[daysAfterMonday]
  }

  var daysAfterMonday: Int64 {
    switch self {
    case .monday: 0
    case .tuesday: 1
    case .wednesday: 2
    case .thursday: 3
    case .friday: 4
    case .saturday: 5
    case .sunday: 6
    }
  }
}
