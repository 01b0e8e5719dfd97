import Basics
import Schedule
import Testing

private func instant(_ text: String) throws -> Instant { try #require(Instant(rfc3339: text), "\(text)") }

@Suite("Quiet hours and local times")
struct LocalTimingTests {
  @Test(
    "quiet hours end by the clocks of the place",
    arguments: [
      ("22:00-07:00", "Asia/Shanghai", "2027-03-01T13:59:59Z", nil),
      ("22:00-07:00", "Asia/Shanghai", "2027-03-01T14:00:00Z", "2027-03-01T23:00:00Z"),
      ("22:00-07:00", "Asia/Shanghai", "2027-03-01T22:59:59Z", "2027-03-01T23:00:00Z"),
      ("22:00-07:00", "Asia/Shanghai", "2027-03-01T23:00:00Z", nil),
      ("12:00-14:00", "America/New_York", "2027-07-01T16:30:00Z", "2027-07-01T18:00:00Z"),
      ("12:00-14:00", "America/New_York", "2027-07-01T18:00:00Z", nil),
      ("22:00-02:30", "Europe/Berlin", "2027-03-27T23:00:00Z", "2027-03-28T01:00:00Z"),  // put forward over the end
      ("22:00-02:30", "Europe/Berlin", "2027-10-30T23:00:00Z", "2027-10-31T00:30:00Z"),  // shown twice
      ("22:00-02:30", "Europe/Berlin", "2027-10-31T01:10:00Z", "2027-10-31T01:30:00Z"),
      ("00:00-08:00", "UTC", "2028-02-29T00:00:00Z", "2028-02-29T08:00:00Z"),
    ] as [(String, String, String, String?)])
  func quiet(hours: String, zone: String, now: String, end: String?) throws {
    let quiet = try #require(QuietHours(hours))
    #expect(quiet.description == hours)
    #expect(quiet.end(at: try instant(now), in: try rules(zone)) == (try end.map(instant)))
  }

  @Test(
    "what is no stretch",
    arguments: ["", "22:00", "22:00-22:00", "22-07", "22:00-24:00", "22:00-07:00-08:00", "7:00-8:00"])
  func noStretch(text: String) { #expect(QuietHours(text) == nil) }

  @Test("due first, then quiet: wait, or drop")
  func verdicts() throws {
    let quiet = try #require(QuietHours("22:00-07:00"))
    let due = try wall("2027-03-01 23:00:00")
    for (timing, now, verdict) in [
      (LocalTiming(due: due, timeZone: "UTC"), "2027-03-01T22:00:00Z", .dueAt(try instant("2027-03-01T23:00:00Z"))),
      (LocalTiming(due: due, timeZone: "UTC"), "2027-03-01T23:00:00Z", .now),
      (
        LocalTiming(due: due, quiet: quiet, timeZone: "UTC"), "2027-03-01T23:00:00Z",
        .quietUntil(try instant("2027-03-02T07:00:00Z"))
      ),
      (LocalTiming(due: due, quiet: quiet, dropsInQuiet: true, timeZone: "UTC"), "2027-03-01T23:00:00Z", .dropped),
      (LocalTiming(quiet: quiet, dropsInQuiet: true, timeZone: "UTC"), "2027-03-01T12:00:00Z", .now),
    ] as [(LocalTiming, String, LocalTiming.Verdict)] {
      #expect(timing.verdict(at: try instant(now), in: .utc) == verdict)
    }
  }
}
