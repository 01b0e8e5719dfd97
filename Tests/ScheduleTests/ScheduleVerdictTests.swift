import Basics
import Schedule
import Testing

private func instant(_ text: String) throws -> Instant { try #require(Instant(rfc3339: text), "\(text)") }

@Suite("When a schedule is due")
struct ScheduleVerdictTests {
  @Test(
    "C32 D-334 by the zone's clocks: a gap and an overlap are once a day",
    arguments: [
      ("Asia/Shanghai", "2027-07-01 17:00:00", "2027-07-01T09:00:00Z"),
      ("Europe/Berlin", "2027-03-27 02:30:00", "2027-03-27T01:30:00Z"),
      ("Europe/Berlin", "2027-03-28 02:30:00", "2027-03-28T01:00:00Z"),  // put forward over it: at 03:00
      ("Europe/Berlin", "2027-10-31 02:30:00", "2027-10-31T00:30:00Z"),  // shown twice: the first
      ("Europe/Berlin", "2027-10-31 03:00:00", "2027-10-31T02:00:00Z"),
      ("America/New_York", "2027-11-07 01:30:00", "2027-11-07T05:30:00Z"),
      ("Australia/Lord_Howe", "2027-10-03 02:15:00", "2027-10-02T15:30:00Z"),  // half an hour
      ("Asia/Kathmandu", "2027-07-01 17:00:00", "2027-07-01T11:15:00Z"),
      ("Pacific/Apia", "2011-12-30 17:00:00", "2011-12-30T10:00:00Z"),  // a day left out: at once after it
    ])
  func single(zone: String, time: String, at due: String) throws {
    let trigger = ScheduleTrigger.single(try wall(time))
    let rules = try rules(zone)
    #expect(trigger.next(after: nil, in: rules)?.instant == (try instant(due)))
    #expect(trigger.next(after: try wall(time), in: rules) == nil)
  }

  @Test("every day over a change of the clocks: each day once, and no day that a place left out")
  func everyDay() throws {
    for (zone, start, time, days) in [
      ("Europe/Berlin", "2027-03-27 00:00:00", "02:30:00", 3), ("Europe/Berlin", "2027-10-30 00:00:00", "02:30:00", 3),
      ("Pacific/Apia", "2011-12-29 00:00:00", "17:00:00", 2),
    ] {
      let start = try wall(start)
      let trigger = ScheduleTrigger.periodical(
        try Recurrence(
          start: start, end: start.adding(days: 3), time: #require(TimeOfDay(time)), days: .daily))
      var found: [ScheduleTrigger.Due] = []
      while let due = trigger.next(after: found.last?.wall, in: try rules(zone)) { found.append(due) }
      #expect(found.count == days, "\(zone)")
      #expect(zip(found, found.dropFirst()).allSatisfy { $0.instant < $1.instant })
    }
  }

  /// A row of the story of a schedule that is due each day at 09:00 of Shanghai, 01:00 UTC, from 1 to 5 March.
  struct Row: CustomTestStringConvertible {
    var testDescription: String
    var last: String?
    var now: String
    var missed: MissedFirings = .catchUp
    var fires: String?
    var passed = 0
    var next: String?
  }

  @Test(
    "at any moment",
    arguments: [
      Row(testDescription: "before its time", now: "2027-03-01T00:59:59Z", next: "03-01"),
      Row(testDescription: "at its time", now: "2027-03-01T01:00:00Z", fires: "03-01", next: "03-02"),
      Row(testDescription: "dealt with", last: "03-01", now: "2027-03-01T01:00:00Z", next: "03-02"),
      Row(
        testDescription: "late, and caught up", last: "03-01", now: "2027-03-02T07:00:00Z", fires: "03-02",
        next: "03-03"),
      Row(
        testDescription: "late, and to be skipped", last: "03-01", now: "2027-03-02T07:00:00Z", missed: .skip,
        passed: 1, next: "03-03"),
      Row(
        testDescription: "five minutes are not late", last: "03-01", now: "2027-03-02T01:05:00Z", missed: .skip,
        fires: "03-02", next: "03-03"),
      Row(
        testDescription: "down for days: caught up once", last: "03-01", now: "2027-03-04T07:00:00Z", fires: "03-04",
        passed: 2, next: "03-05"),
      Row(
        testDescription: "down for days, to be skipped", last: "03-01", now: "2027-03-04T07:00:00Z", missed: .skip,
        passed: 3, next: "03-05"),
      Row(
        testDescription: "down for days, back in time", last: "03-01", now: "2027-03-04T01:00:30Z", missed: .skip,
        fires: "03-04", passed: 2, next: "03-05"),
      Row(
        testDescription: "down beyond its end", last: "03-01", now: "2027-06-01T00:00:00Z", fires: "03-05", passed: 3),
      Row(
        testDescription: "the clock set back after a firing does not fire it again", last: "03-03",
        now: "2027-03-03T00:30:00Z", next: "03-04"),
      Row(
        testDescription: "the clock set back by days fires nothing twice", last: "03-03", now: "2027-03-01T01:00:00Z",
        next: "03-04"),
      Row(testDescription: "over", last: "03-05", now: "2027-03-09T00:00:00Z"),
    ])
  func moments(row: Row) throws {
    let trigger = ScheduleTrigger.periodical(
      try recurrence("2027-03-01 00:00:00", "2027-03-05 23:00:00", "09:00:00", "day 1"))
    func day(_ text: String?) throws -> LocalTime? { try text.map { try wall("2027-\($0) 09:00:00") } }
    let verdict = trigger.verdict(
      after: try day(row.last), at: try instant(row.now), in: try rules("Asia/Shanghai"), missed: row.missed)
    #expect(verdict.fires?.wall == (try day(row.fires)))
    #expect(verdict.missed == row.passed)
    #expect(verdict.next?.wall == (try day(row.next)))
    let dealtWith = verdict.next == nil ? "03-05" : row.fires ?? (row.passed > 0 ? "03-0\(row.passed + 1)" : row.last)
    #expect(verdict.last == (try day(dealtWith)))
  }
}
