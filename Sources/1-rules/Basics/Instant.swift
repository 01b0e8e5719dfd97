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

    /// Never traps: the result stays within what Int64 can hold.
    public static func + (left: Span, right: Span) -> Span {
      Span(milliseconds: left.milliseconds.addedClamped(right.milliseconds))
    }

    public static func - (left: Span, right: Span) -> Span {
      Span(milliseconds: left.milliseconds.subtractedClamped(right.milliseconds))
    }
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
    let civil = CivilCalendar.day(days)
    let millis = milliseconds &- seconds &* 1000  // wraps back: `seconds * 1000` may lie before the first instant
    let date = [padded(civil.year, 4), padded(civil.month, 2), padded(civil.day, 2)].joined(separator: "-")
    let time = [second / 3600, second / 60 % 60, second % 60].map { padded($0, 2) }.joined(separator: ":")
    return "\(date)T\(time).\(padded(millis, 3))Z"
  }
}

/// With zeros in front.
func padded(_ number: Int64, _ width: Int) -> String {
  let digits = String(number)
  return String(repeating: "0", count: max(0, width - digits.count)) + digits
}

extension Int64 {
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
