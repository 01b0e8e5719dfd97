/// A point in time: whole milliseconds since 1970-01-01 00:00 UTC.
public struct Instant: Hashable, Comparable, Sendable, CustomStringConvertible {
  public var milliseconds: Int64

  public init(milliseconds: Int64) { self.milliseconds = milliseconds }

  public init(seconds: Int64) { milliseconds = seconds.multipliedClamped(by: 1000) }

  /// Whole seconds, rounded down: the unit of `apns-expiration`, of JWT claims and of Live Activity dates.
  public var seconds: Int64 { milliseconds.flooredDividing(by: 1000) }

  /// A length of time in milliseconds; negative for the past.
  public struct Span: Hashable, Comparable, Sendable {
    public var milliseconds: Int64
    public init(milliseconds: Int64) { self.milliseconds = milliseconds }
    public static func milliseconds(_ count: Int64) -> Span { Span(milliseconds: count) }
    public static func seconds(_ count: Int64) -> Span { Span(milliseconds: count.multipliedClamped(by: 1000)) }
    public static func minutes(_ count: Int64) -> Span { .seconds(count.multipliedClamped(by: 60)) }
    public static func hours(_ count: Int64) -> Span { .minutes(count.multipliedClamped(by: 60)) }
    public static func days(_ count: Int64) -> Span { .hours(count.multipliedClamped(by: 24)) }
    public static func < (left: Span, right: Span) -> Bool { left.milliseconds < right.milliseconds }
  }

  public static func < (left: Instant, right: Instant) -> Bool { left.milliseconds < right.milliseconds }

  /// Never traps: the result stays within what Int64 can hold.
  public static func + (left: Instant, right: Span) -> Instant {
    Instant(milliseconds: left.milliseconds.addedClamped(right.milliseconds))
  }

  public static func - (left: Instant, right: Span) -> Instant {
    Instant(milliseconds: left.milliseconds.subtractedClamped(right.milliseconds))
  }

  public static func - (left: Instant, right: Instant) -> Span {
    Span(milliseconds: left.milliseconds.subtractedClamped(right.milliseconds))
  }

  /// RFC 3339 in UTC with milliseconds: `2026-11-30T09:00:00.000Z`.
  public var description: String {
    let days = seconds.flooredDividing(by: 86_400)
    let second = seconds - days * 86_400
    let (year, month, day) = Self.civil(fromDays: days)
    let millis = milliseconds &- seconds &* 1000  // wraps back: `seconds * 1000` may lie before the first instant
    let date = [padded(year, 4), padded(month, 2), padded(day, 2)].joined(separator: "-")
    let time = [second / 3600, second / 60 % 60, second % 60].map { padded($0, 2) }.joined(separator: ":")
    return "\(date)T\(time).\(padded(millis, 3))Z"
  }

  /// Days since 1970-01-01 to year, month and day of the proleptic Gregorian calendar, by 400-year eras.
  private static func civil(fromDays days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let shifted = days + 719_468
    let era = shifted.flooredDividing(by: 146_097)
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
  }
}

private func padded(_ number: Int64, _ width: Int) -> String {
  let digits = String(number)
  return String(repeating: "0", count: max(0, width - digits.count)) + digits
}

extension Int64 {
  fileprivate func flooredDividing(by divisor: Int64) -> Int64 {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? quotient - 1 : quotient
  }

  func addedClamped(_ other: Int64) -> Int64 {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? (other < 0 ? .min : .max) : sum
  }

  fileprivate func subtractedClamped(_ other: Int64) -> Int64 {
    let (difference, overflow) = subtractingReportingOverflow(other)
    return overflow ? (other < 0 ? .max : .min) : difference
  }

  func multipliedClamped(by other: Int64) -> Int64 {
    let (product, overflow) = multipliedReportingOverflow(by: other)
    return overflow ? ((self < 0) == (other < 0) ? .max : .min) : product
  }
}
