import Basics
import Schedule
import Testing
import Transport

func wall(_ text: String) throws -> LocalTime { try #require(LocalTime(text), "\(text)") }

func rules(_ zone: String) throws -> TimeZoneRules { try ZoneDatabase.usual.zone(named: zone).effectiveRules }

/// `day 2`, `week 1 MON WED`, `month 1 31`: a unit, its frequency, its points.
func recurrence(_ start: String, _ end: String, _ time: String, _ words: String) throws -> Recurrence {
  let parts = words.split(separator: " ").map(String.init)
  let days: Recurrence.Days =
    switch parts[0] {
    case "week": .weekly(Set(parts.dropFirst(2).compactMap(Weekday.init(rawValue:))))
    case "month": .monthly(Set(parts.dropFirst(2).compactMap { Int($0) }))
    default: .daily
    }
  return try Recurrence(
    start: wall(start), end: wall(end), time: #require(TimeOfDay(time)), days: days, frequency: #require(Int(parts[1])))
}

@Suite("Days that come again (jpush.md §6)")
struct RecurrenceTests {
  @Test(
    "fire on these days and no others",
    arguments: [
      (
        "every day, from the first to the last", "2027-02-26 09:00:00", "2027-03-02 09:00:00", "09:00:00", "day 1",
        ["02-26", "02-27", "02-28", "03-01", "03-02"]
      ),
      (
        "not on the first day once its time has passed", "2027-02-26 09:00:01", "2027-03-01 08:59:59", "09:00:00",
        "day 1", ["02-27", "02-28"]
      ),
      (
        "every third day counts from the start", "2028-02-27 00:00:00", "2028-03-06 00:00:00", "00:00:00", "day 3",
        ["02-27", "03-01", "03-04"]
      ),
      (
        "weekdays, whatever the order they are given in", "2027-03-03 00:00:00", "2027-03-16 23:59:59", "12:00:00",
        "week 1 FRI MON", ["03-05", "03-08", "03-12", "03-15"]
      ),
      (
        "every second week counts from that of the start, and weeks begin on Monday", "2027-03-07 00:00:00",
        "2027-04-05 00:00:00", "12:00:00", "week 2 MON SUN", ["03-07", "03-15", "03-21", "03-29", "04-04"]
      ),
      (
        "the 31st: months without it are left out", "2027-01-31 00:00:00", "2027-12-31 23:59:59", "08:00:00",
        "month 1 31", ["01-31", "03-31", "05-31", "07-31", "08-31", "10-31", "12-31"]
      ),
      (
        "29 February in a leap year", "2028-01-01 00:00:00", "2028-04-01 00:00:00", "08:00:00", "month 1 29 30",
        ["01-29", "01-30", "02-29", "03-29", "03-30"]
      ),
      (
        "29 February in another year", "2027-01-30 09:00:00", "2027-03-29 08:00:00", "08:00:00", "month 1 29",
        ["03-29"]
      ),
      (
        "every third month counts from that of the start, over the end of the year", "2027-11-15 00:00:00",
        "2028-11-15 00:00:00", "08:00:00", "month 3 1 20",
        [
          "11-20", "02-01", "02-20", "05-01", "05-20", "08-01",
          "08-20", "11-01",
        ]
      ),
      (
        "a hundred weeks are more than the year that a schedule may last", "2027-03-01 00:00:00",
        "2028-03-01 00:00:00", "12:00:00", "week 100 TUE", ["03-02"]
      ),
    ])
  func days(
    _ rule: String, start: String, end: String, time: String, words: String, wanted: [String]
  ) throws {
    let trigger = ScheduleTrigger.periodical(try recurrence(start, end, time, words))
    var found: [String] = []
    var last: LocalTime?
    while let due = trigger.next(after: last, in: .utc) {
      found.append(String(due.wall.description.dropFirst(5).prefix(5)))
      #expect(due.wall.description.hasSuffix(time) && due.instant.seconds * 1000 == due.instant.milliseconds)
      last = due.wall
    }
    #expect(found == wanted)
  }

  @Test("asked from any moment, answers the same days as when asked one after another")
  func anyMoment() throws {
    for words in ["day 1", "day 7", "week 1 SAT", "week 3 MON THU", "month 1 15 31", "month 5 2"] {
      let trigger = ScheduleTrigger.periodical(
        try recurrence("2027-05-17 10:30:00", "2028-05-17 10:30:00", "11:00:00", words))
      var all: [LocalTime] = []
      while let due = trigger.next(after: all.last, in: .utc) { all.append(due.wall) }
      var moment = try wall("2027-05-10 11:00:00")
      while moment < (try wall("2028-05-20 00:00:00")) {
        #expect(trigger.next(after: moment, in: .utc)?.wall == all.first { $0 > moment }, "\(words) after \(moment)")
        moment = moment.adding(days: 1)
      }
    }
  }

  @Test(
    "what cannot be is refused by its name",
    arguments: [
      ("2027-01-01 00:00:00", "2027-01-01 00:00:00", "day 1", RecurrenceFault.endsBeforeItStarts),
      ("2027-01-02 00:00:00", "2027-01-01 00:00:00", "day 1", .endsBeforeItStarts),
      ("2027-01-01 00:00:00", "2028-01-01 00:00:01", "day 1", .longerThanAYear),
      ("2027-01-01 00:00:00", "2027-02-01 00:00:00", "day 0", .frequency(0)),
      ("2027-01-01 00:00:00", "2027-02-01 00:00:00", "day 101", .frequency(101)),
      ("2027-01-01 00:00:00", "2027-02-01 00:00:00", "week 1", .noDays),
      ("2027-01-01 00:00:00", "2027-02-01 00:00:00", "month 1", .noDays),
      ("2027-01-01 00:00:00", "2027-02-01 00:00:00", "month 1 0 5", .dayOfMonth(0)),
      ("2027-01-01 00:00:00", "2027-02-01 00:00:00", "month 1 5 32", .dayOfMonth(32)),
      ("2027-01-01 09:30:00", "2027-01-02 09:00:00", "day 1", .neverFires),
      ("2027-02-01 00:00:00", "2027-02-28 23:59:59", "month 1 29", .neverFires),
      ("2027-01-01 00:00:00", "2027-01-03 23:59:59", "week 1 MON", .neverFires),
    ])
  func refused(start: String, end: String, words: String, fault: RecurrenceFault) {
    #expect(throws: fault) { try recurrence(start, end, "09:15:00", words) }
  }

  @Test("a leap day may begin a year")
  func leapDay() throws {
    _ = try recurrence("2028-02-29 00:00:00", "2029-02-28 00:00:00", "01:00:00", "day 100")
    #expect(throws: RecurrenceFault.longerThanAYear) {
      try recurrence("2028-02-29 00:00:00", "2029-03-01 00:00:00", "01:00:00", "day 100")
    }
  }

  @Test(
    "times have all their digits, and only those that a clock shows",
    arguments: [
      "9:00:00", "09:00", "24:00:00", "09:60:00", "09:00:60", "09-00-00", "", "09:00:00 ", "+9:00:00",
    ])
  func noTime(text: String) { #expect(TimeOfDay(text) == nil) }

  @Test(
    "days too",
    arguments: [
      "2027-1-01 00:00:00", "2027-02-29 00:00:00", "2027-01-01T00:00:00", "2027-01-01", "2027-13-01 00:00:00",
      "2027-01-01 00:00:60", "2027-01-01 00:00:00.5",
    ])
  func noDay(text: String) { #expect(LocalTime(text) == nil) }
}
