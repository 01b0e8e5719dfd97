/// Days of the proleptic Gregorian calendar, counted from 1970-01-01, by eras of 400 years. Total for every year and day
/// that an `Instant` can reach.
package enum CivilCalendar {
  package struct Day: Hashable {
    package var year: Int64
    package var month: Int64
    package var day: Int64
  }

  package static func day(_ days: Int64) -> Day {
    let shifted = days + 719_468
    let era = shifted.flooredDividing(by: 146_097)
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    return Day(year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month: month, day: day)
  }

  /// Days since 1970-01-01; `month` 1 … 12, `day` may lie outside the month and then counts on.
  package static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
    let shifted = month <= 2 ? year - 1 : year
    let era = shifted.flooredDividing(by: 400)
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  package static func days(inMonth month: Int64, of year: Int64) -> Int64 {
    switch month {
    case 2: isLeap(year) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  static func isLeap(_ year: Int64) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

  /// 1 Sunday … 7 Saturday, as Apple's calendars count; 1970-01-01 was a Thursday.
  package static func weekday(_ days: Int64) -> Int64 { (days + 4) - (days + 4).flooredDividing(by: 7) * 7 + 1 }
}

extension Int64 {
  func flooredDividing(by divisor: Int64) -> Int64 {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? quotient - 1 : quotient
  }
}
