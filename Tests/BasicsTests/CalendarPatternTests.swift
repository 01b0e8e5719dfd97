import Basics
import Foundation
import Testing

/// Times that come again: what calendar triggers (D-272) and daily pushes (D-334) stand on.
@Suite("Times of the calendar")
struct CalendarPatternTests {
  private func times(
    _ pattern: CalendarPattern, in zone: String, after text: String, count: Int,
    skipped: CalendarPattern.SkippedTime = .atOnce
  ) throws -> [String] {
    let rules = try ZoneFiles.rules(zone)
    var instant = try #require(Instant(rfc3339: text))
    var times: [String] = []
    for _ in 0..<count {
      guard let next = pattern.next(after: instant, in: rules, skipped: skipped) else { break }
      times.append(String(next.description.dropLast(5)))
      instant = next
    }
    return times
  }

  @Test("D-334 17:00 each day stays 17:00, over both changes of the clocks")
  func seventeen() throws {
    #expect(
      try times(CalendarPattern(hour: 17), in: "Europe/Berlin", after: "2027-03-26T16:00:00Z", count: 3)
        == ["2027-03-27T16:00:00", "2027-03-28T15:00:00", "2027-03-29T15:00:00"])
    #expect(
      try times(CalendarPattern(hour: 17), in: "America/New_York", after: "2027-11-05T21:00:00Z", count: 3)
        == ["2027-11-06T21:00:00", "2027-11-07T22:00:00", "2027-11-08T22:00:00"])
  }

  @Test("D-272 C32 a time that is left out comes once: at once, or as much later as the clocks jump")
  func skipped() throws {
    let half = CalendarPattern(hour: 2, minute: 30)
    #expect(
      try times(half, in: "Europe/Berlin", after: "2027-03-27T02:00:00Z", count: 2)
        == ["2027-03-28T01:00:00", "2027-03-29T00:30:00"])
    #expect(
      try times(half, in: "Europe/Berlin", after: "2027-03-27T02:00:00Z", count: 2, skipped: .shifted)
        == ["2027-03-28T01:30:00", "2027-03-29T00:30:00"])
    #expect(
      try times(half, in: "America/New_York", after: "2027-03-14T00:00:00Z", count: 2)
        == ["2027-03-14T07:00:00", "2027-03-15T06:30:00"])
    // once as well when the time is asked for on that day only
    #expect(
      try times(
        CalendarPattern(year: 2027, month: 3, day: 28, hour: 2, minute: 30), in: "Europe/Berlin",
        after: "2027-01-01T00:00:00Z", count: 2) == ["2027-03-28T01:00:00"])
  }

  @Test("D-272 C32 a time that comes twice counts once, at its first showing")
  func repeated() throws {
    #expect(
      try times(CalendarPattern(hour: 2, minute: 30), in: "Europe/Berlin", after: "2027-10-30T01:00:00Z", count: 3)
        == ["2027-10-31T00:30:00", "2027-11-01T01:30:00", "2027-11-02T01:30:00"])
    #expect(
      try times(CalendarPattern(hour: 1, minute: 30), in: "America/New_York", after: "2027-11-07T05:45:00Z", count: 1)
        == ["2027-11-08T06:30:00"])
    // half an hour only
    #expect(
      try times(
        CalendarPattern(hour: 1, minute: 45), in: "Australia/Lord_Howe", after: "2027-04-03T12:00:00Z", count: 2)
        == ["2027-04-03T14:45:00", "2027-04-04T15:15:00"])
  }

  @Test("an hour left open means every hour, also the one that comes twice, and none that is left out")
  func everyHour() throws {
    let half = CalendarPattern(minute: 30)
    #expect(
      try times(half, in: "Europe/Berlin", after: "2027-10-31T00:00:00Z", count: 3)
        == ["2027-10-31T00:30:00", "2027-10-31T01:30:00", "2027-10-31T02:30:00"])
    #expect(
      try times(half, in: "Europe/Berlin", after: "2027-03-28T00:00:00Z", count: 2)
        == ["2027-03-28T00:30:00", "2027-03-28T01:30:00"])
  }

  @Test(
    "only the given components are matched",
    arguments: [
      (CalendarPattern(weekday: 2, hour: 9), ["2027-01-04T09:00:00", "2027-01-11T09:00:00"]),
      (CalendarPattern(day: 31, hour: 9), ["2027-01-31T09:00:00", "2027-03-31T09:00:00"]),
      (CalendarPattern(month: 2, day: 29), ["2028-02-29T00:00:00", "2032-02-29T00:00:00"]),
      (CalendarPattern(month: 2, day: 29, weekday: 1), ["2032-02-29T00:00:00", "2060-02-29T00:00:00"]),
      (CalendarPattern(weekday: 3, weekdayOrdinal: 2), ["2027-01-12T00:00:00", "2027-02-09T00:00:00"]),
      (CalendarPattern(month: 5), ["2027-05-01T00:00:00", "2028-05-01T00:00:00"]),
      (CalendarPattern(month: 5, hour: 8), ["2027-05-01T08:00:00", "2027-05-02T08:00:00"]),
      (CalendarPattern(year: 2030), ["2030-01-01T00:00:00"]),
      (CalendarPattern(year: 2026, hour: 8), []),
      (CalendarPattern(second: 5), ["2027-01-01T00:00:05", "2027-01-01T00:01:05"]),
      (CalendarPattern(day: 30, second: 5), ["2027-01-30T00:00:05", "2027-01-30T00:01:05"]),
      (CalendarPattern(), []), (CalendarPattern(hour: 24), []), (CalendarPattern(hour: -1), []),
      (CalendarPattern(month: 13), []), (CalendarPattern(month: 2, day: 30), []), (CalendarPattern(day: 0), []),
      (CalendarPattern(weekday: 8), []), (CalendarPattern(year: .max), []), (CalendarPattern(minute: .min), []),
    ])
  func components(pattern: CalendarPattern, expected: [String]) throws {
    #expect(try times(pattern, in: "UTC", after: "2027-01-01T00:00:00Z", count: 2) == expected)
  }

  @Test("a day that a place left out is left out")
  func leftOutDay() throws {
    #expect(
      try times(CalendarPattern(hour: 9), in: "Pacific/Apia", after: "2011-12-29T19:00:00Z", count: 2)
        == ["2011-12-30T19:00:00", "2011-12-31T19:00:00"])
  }

  @Test("D-272 weeks of the month and of the year, which begin on Sunday")
  func weeks() throws {
    #expect(
      try times(
        CalendarPattern(weekday: 4, weekOfMonth: 2, hour: 9), in: "UTC", after: "2027-01-01T00:00:00Z", count: 3)
        == ["2027-01-06T09:00:00", "2027-02-10T09:00:00", "2027-03-10T09:00:00"])
    #expect(
      try times(CalendarPattern(weekOfYear: 10), in: "UTC", after: "2027-01-01T00:00:00Z", count: 2)
        == ["2027-02-28T00:00:00", "2028-02-27T00:00:00"])
    // the last days of a year are in the first week of the next if 1 January is
    #expect(
      try times(CalendarPattern(weekday: 3, weekOfYear: 1, hour: 9), in: "UTC", after: "2027-12-01T00:00:00Z", count: 1)
        == ["2027-12-28T09:00:00"])
    #expect(CalendarPattern(weekOfYear: 60).next(after: Instant(seconds: 0), in: .utc) == nil)
  }

  /// The numbers of the weeks as Foundation counts them.
  @Test("D-272 Foundation's calendar numbers the weeks alike")
  func weekNumbers() throws {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = try #require(TimeZone(identifier: "UTC"))
    calendar.firstWeekday = 1
    calendar.minimumDaysInFirstWeek = 1
    for day in stride(from: 0, to: 12_000, by: 1) {
      let noon = Instant(seconds: Int64(day) * 86_400 + 43_200)
      let date = Date(timeIntervalSince1970: Double(noon.seconds))
      let parts = calendar.dateComponents([.weekday, .weekOfMonth, .weekOfYear, .year, .month], from: date)
      let pattern = CalendarPattern(
        year: parts.year, month: parts.month, weekday: parts.weekday, weekOfMonth: parts.weekOfMonth,
        weekOfYear: parts.weekOfYear, hour: 12)
      guard pattern.next(after: noon - .seconds(1), in: .utc) == noon else {
        Issue.record("\(noon): \(pattern)")
        return
      }
    }
  }

  /// Apple's `nextDate` with the policies that a calendar trigger has. Without a month beside a weekday, of which it passes
  /// over the last one, and without zones whose clocks jump over parts of an hour, where it waits for a whole one.
  @Test(
    "Foundation's calendar finds the same next time",
    arguments: TimeZoneRulesTests.zones.filter { !["Pacific/Chatham", "Australia/Lord_Howe"].contains($0) })
  func foundation(zone: String) throws {
    let rules = try ZoneFiles.rules(zone)
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = try #require(TimeZone(identifier: zone))
    var dice = Dice(seed: 11)
    for _ in 0..<150 {
      var pattern = CalendarPattern(hour: Int.random(in: 0...23, using: &dice))
      if Bool.random(using: &dice) { pattern.minute = Int.random(in: 0...59, using: &dice) }
      if Int.random(in: 0..<3, using: &dice) == 0 { pattern.weekday = Int.random(in: 1...7, using: &dice) }
      var parts = DateComponents()
      (parts.hour, parts.minute, parts.weekday) = (pattern.hour, pattern.minute ?? 0, pattern.weekday)
      var instant = Instant(seconds: Int64.random(in: 1_700_000_000...2_500_000_000, using: &dice))
      // half of them around a change of the clocks
      if Bool.random(using: &dice), let change = rules.nextChange(after: instant) {
        instant = change + .seconds(Int64.random(in: -90_000...10_000, using: &dice))
      }
      // asked between the two showings of a time, it finds the second
      if case .twice = rules.reading(rules.local(at: instant)) { continue }
      let found = pattern.next(after: instant, in: rules)
      let expected = calendar.nextDate(
        after: Date(timeIntervalSince1970: Double(instant.seconds)), matching: parts, matchingPolicy: .nextTime,
        repeatedTimePolicy: .first)
      #expect(
        found?.seconds == expected.map { Int64($0.timeIntervalSince1970) }, "\(pattern) after \(instant)")
    }
  }
}
