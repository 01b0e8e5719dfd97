import Basics

extension NotificationTrigger {
  /// Comes again and again until it is removed.
  var repeats: Bool {
    switch self {
    case .interval(_, let repeats), .calendar(_, _, let repeats), .region(_, let repeats): repeats
    case .fireDate(_, _, let interval): interval != nil
    }
  }

  /// Follows the phone to another zone (D-272, D-274).
  var movesWithZone: Bool {
    switch self {
    case .calendar(_, let zone, _): zone == nil
    case .fireDate(_, let wallClock, _): wallClock != nil
    case .interval, .region: false
    }
  }

  /// When it lets its notification come next, later than `instant`, by the clocks of `rules`; nil: not by time.
  /// `added`: when the request was taken.
  func next(after instant: Instant, added: Instant, in rules: TimeZoneRules) -> Instant? {
    switch self {
    case .interval(let span, let repeats):
      guard span.milliseconds > 0 else { return nil }
      let rounds = repeats && instant >= added ? (instant - added).milliseconds / span.milliseconds : 0
      let (length, overflow) = (rounds + 1).multipliedReportingOverflow(by: span.milliseconds)
      let next = added + .milliseconds(length)
      return overflow || next <= instant ? nil : next
    case .calendar(let pattern, let zone, _):
      return pattern.next(after: instant, in: zone?.effectiveRules ?? rules)
    case .region: return nil
    case .fireDate(let date, nil, let interval):
      return interval.map { $0.next(after: instant, from: date, in: .utc) } ?? (date > instant ? date : nil)
    case .fireDate(let date, let wallClock?, let interval):
      // the same time on the wall, wherever the phone is now
      let wall = wallClock.effectiveRules.local(at: date)
      let here = rules.first(wall) + date.pastTheSecond
      return interval.map { $0.next(after: instant, from: here, in: rules) } ?? (here > instant ? here : nil)
    }
  }
}

extension TimeZoneRules {
  /// The first instant at which clocks show a time, or the next one where they leave it out (D-272).
  func first(_ wall: LocalTime) -> Instant {
    switch reading(wall) {
    case .once(let instant), .twice(let instant, _): instant
    case .skipped(let next, _): next
    }
  }
}

extension RepeatInterval {
  /// The first of `start`, one interval later, two intervals later … that is later than `instant`. Months that are too
  /// short end earlier, as with `NSCalendar`; days and more keep their time on the wall.
  func next(after instant: Instant, from start: Instant, in rules: TimeZoneRules) -> Instant? {
    guard start <= instant else { return start }
    let elapsed = (instant - start).milliseconds
    var count = max(0, elapsed / longest.milliseconds - 1)
    for _ in 0..<16 {
      let next = occurrence(count, from: start, in: rules)
      if next > instant { return next }
      count += max(1, (instant - next).milliseconds / longest.milliseconds)
    }
    return nil  // at the end of time
  }

  /// No interval of this kind is longer.
  private var longest: Instant.Span {
    switch self {
    case .minute: .minutes(1)
    case .hour: .hours(1)
    case .day: .hours(49)
    case .week: .days(9)
    case .month: .days(33)
    case .quarter: .days(94)
    case .year: .days(368)
    }
  }

  private func occurrence(_ count: Int64, from start: Instant, in rules: TimeZoneRules) -> Instant {
    switch self {
    case .minute: return start + .minutes(count)
    case .hour: return start + .hours(count)
    case .day, .week, .month, .quarter, .year: break
    }
    var wall = rules.local(at: start)
    switch self {
    case .minute, .hour: break
    case .day: wall = wall.adding(days: count)
    case .week: wall = wall.adding(days: count * 7)
    case .month: wall = wall.adding(months: count)
    case .quarter: wall = wall.adding(months: count * 3)
    case .year: wall = wall.adding(months: count * 12)
    }
    return rules.first(wall) + start.pastTheSecond
  }
}

extension Instant {
  /// What a `LocalTime` leaves out.
  fileprivate var pastTheSecond: Span { self - Instant(seconds: seconds) }
}

extension PhoneSettings {
  /// The clocks of the place where the phone is; UTC where nobody has read their rules (D-272).
  var clocks: TimeZoneRules { zone.effectiveRules }
}
