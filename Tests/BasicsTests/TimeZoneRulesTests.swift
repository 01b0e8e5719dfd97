import Basics
import Foundation
import Testing

/// The zones that the tests ask about; script/bootstrap installs them (tzdata).
enum ZoneFiles {
  static func bytes(_ name: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(filePath: "/usr/share/zoneinfo").appending(path: name)))
  }

  static func rules(_ name: String) throws -> TimeZoneRules { try TimeZoneRules(tzif: bytes(name)) }
}

private func instant(_ text: String) throws -> Instant { try #require(Instant(rfc3339: text)) }

@Suite("Time zones")
struct TimeZoneRulesTests {
  // MARK: the wall's time

  @Test(
    "an instant is shown by the clocks of its place",
    arguments: [
      ("UTC", "2027-06-01T12:00:00Z", "2027-06-01 12:00:00", 0, "UTC"),
      ("Europe/Berlin", "2027-03-28T00:59:59Z", "2027-03-28 01:59:59", 3600, "CET"),
      ("Europe/Berlin", "2027-03-28T01:00:00Z", "2027-03-28 03:00:00", 7200, "CEST"),
      ("Europe/Berlin", "2500-07-01T00:00:00Z", "2500-07-01 02:00:00", 7200, "CEST"),
      ("Europe/Berlin", "1880-01-01T00:00:00Z", "1880-01-01 00:53:28", 3208, "LMT"),
      ("America/New_York", "2027-11-07T05:59:59Z", "2027-11-07 01:59:59", -14_400, "EDT"),
      ("America/New_York", "2027-11-07T06:00:00Z", "2027-11-07 01:00:00", -18_000, "EST"),
      ("Asia/Shanghai", "2027-07-01T00:00:00Z", "2027-07-01 08:00:00", 28_800, "CST"),
      ("Asia/Shanghai", "1988-07-01T00:00:00Z", "1988-07-01 09:00:00", 32_400, "CDT"),
      ("Asia/Kathmandu", "2027-07-01T00:00:00Z", "2027-07-01 05:45:00", 20_700, "+0545"),
      ("Australia/Lord_Howe", "2027-01-01T00:00:00Z", "2027-01-01 11:00:00", 39_600, "+11"),
      ("Australia/Lord_Howe", "2027-07-01T00:00:00Z", "2027-07-01 10:30:00", 37_800, "+1030"),
      ("Pacific/Apia", "2011-12-30T09:59:59Z", "2011-12-29 23:59:59", -36_000, "-10"),
      ("Pacific/Apia", "2011-12-30T10:00:00Z", "2011-12-31 00:00:00", 50_400, "+14"),
      ("America/Sao_Paulo", "2027-01-01T00:00:00Z", "2026-12-31 21:00:00", -10_800, "-03"),
    ])
  func local(zone: String, at text: String, wall: String, offset: Int, abbreviation: String) throws {
    let rules = try ZoneFiles.rules(zone)
    let instant = try instant(text)
    #expect(rules.local(at: instant).description == wall)
    #expect(rules.offset(at: instant).seconds == offset)
    #expect(rules.offset(at: instant).abbreviation == abbreviation)
  }

  @Test("Irish winter is standard time or daylight time that goes backwards, by the file's maker: the clocks agree")
  func ireland() throws {
    let dublin = try ZoneFiles.rules("Europe/Dublin")
    #expect(dublin.local(at: try instant("2040-07-01T12:00:00Z")).hour == 13)
    #expect(dublin.local(at: try instant("2040-12-31T12:00:00Z")).hour == 12)
    #expect(dublin.local(at: try instant("2041-01-01T12:00:00Z")).hour == 12)
  }

  // MARK: from the wall to instants

  @Test(
    "a time on the wall is once, twice, or left out",
    arguments: [
      ("Europe/Berlin", LocalTime(2027, 3, 28, 1, 59, 59), ["2027-03-28T00:59:59.000Z"], false),
      ("Europe/Berlin", LocalTime(2027, 3, 28, 2, 0), ["2027-03-28T01:00:00.000Z", "2027-03-28T01:00:00.000Z"], true),
      ("Europe/Berlin", LocalTime(2027, 3, 28, 2, 30), ["2027-03-28T01:00:00.000Z", "2027-03-28T01:30:00.000Z"], true),
      ("Europe/Berlin", LocalTime(2027, 3, 28, 3, 0), ["2027-03-28T01:00:00.000Z"], false),
      (
        "Europe/Berlin", LocalTime(2027, 10, 31, 2, 30), ["2027-10-31T00:30:00.000Z", "2027-10-31T01:30:00.000Z"], false
      ),
      ("Europe/Berlin", LocalTime(2027, 10, 31, 3, 0), ["2027-10-31T02:00:00.000Z"], false),
      (
        "America/New_York", LocalTime(2027, 3, 14, 2, 30), ["2027-03-14T07:00:00.000Z", "2027-03-14T07:30:00.000Z"],
        true
      ),
      (
        "America/New_York", LocalTime(2027, 11, 7, 1, 30), ["2027-11-07T05:30:00.000Z", "2027-11-07T06:30:00.000Z"],
        false
      ),
      (
        "Australia/Lord_Howe", LocalTime(2027, 10, 3, 2, 15), ["2027-10-02T15:30:00.000Z", "2027-10-02T15:45:00.000Z"],
        true
      ),
      (
        "Australia/Lord_Howe", LocalTime(2027, 4, 4, 1, 45), ["2027-04-03T14:45:00.000Z", "2027-04-03T15:15:00.000Z"],
        false
      ),
      ("Pacific/Apia", LocalTime(2011, 12, 30, 12), ["2011-12-30T10:00:00.000Z", "2011-12-30T22:00:00.000Z"], true),
      ("UTC", LocalTime(2027, 6, 1, 12), ["2027-06-01T12:00:00.000Z"], false),
    ])
  func reading(zone: String, wall: LocalTime, instants: [String], isSkipped: Bool) throws {
    let found: [Instant]
    var skips = false
    switch try ZoneFiles.rules(zone).reading(wall) {
    case .once(let instant): found = [instant]
    case .twice(let first, let second): found = [first, second]
    case .skipped(let next, let shifted):
      found = [next, shifted]
      skips = true
    }
    #expect(found.map(\.description) == instants)
    #expect(skips == isSkipped)
  }

  @Test("the changes of a year, and none where there are none")
  func changes() throws {
    let berlin = try ZoneFiles.rules("Europe/Berlin")
    let spring = try #require(berlin.nextChange(after: instant("2027-01-01T00:00:00Z")))
    #expect(spring.description == "2027-03-28T01:00:00.000Z")
    #expect(berlin.nextChange(after: spring)?.description == "2027-10-31T01:00:00.000Z")
    #expect(berlin.nextChange(after: try instant("2090-12-31T00:00:00Z"))?.description == "2091-03-25T01:00:00.000Z")
    #expect(try ZoneFiles.rules("Asia/Shanghai").nextChange(after: instant("2027-01-01T00:00:00Z")) == nil)
    #expect(TimeZoneRules.utc.nextChange(after: spring) == nil)
  }

  // MARK: against another reader

  static let zones = [
    "Europe/Berlin", "Europe/London", "America/New_York", "America/Los_Angeles", "America/St_Johns", "Asia/Shanghai",
    "Asia/Kolkata", "Asia/Tokyo", "Australia/Sydney", "Australia/Lord_Howe", "Pacific/Auckland", "Pacific/Chatham",
    "Pacific/Apia", "America/Sao_Paulo", "Africa/Johannesburg", "Asia/Kathmandu",
  ]

  @Test("Foundation sees the same clocks, from 1970 to 2100", arguments: zones)
  func foundation(zone: String) throws {
    let rules = try ZoneFiles.rules(zone)
    let other = try #require(TimeZone(identifier: zone))
    var dice = Dice(seed: 7)
    for _ in 0..<2_000 {
      let seconds = Int64.random(in: 0...4_102_444_800, using: &dice)
      let date = Date(timeIntervalSince1970: Double(seconds))
      #expect(rules.offset(at: Instant(seconds: seconds)).seconds == other.secondsFromGMT(for: date), "\(date)")
    }
  }

  @Test("what the wall shows leads back to the instant, around every change", arguments: zones)
  func thereAndBack(zone: String) throws {
    let rules = try ZoneFiles.rules(zone)
    var change = Instant(seconds: 0)
    for _ in 0..<300 {
      guard let next = rules.nextChange(after: change) else { break }
      #expect(next > change)
      for distance: Int64 in [-7_201, -3_600, -1_801, -1, 0, 1, 1_799, 3_599, 7_200] {
        let instant = next + .seconds(distance)
        switch rules.reading(rules.local(at: instant)) {
        case .once(let found): #expect(found == instant)
        case .twice(let first, let second):
          #expect(first < second)
          #expect(first == instant || second == instant)
        case .skipped: Issue.record("\(instant) is shown by no clock")
        }
      }
      change = next
    }
  }

  // MARK: files

  @Test("every file of the tz database is read")
  func everyZone() throws {
    let root = URL(filePath: "/usr/share/zoneinfo")
    let names = try #require(FileManager.default.enumerator(atPath: root.path)).compactMap { $0 as? String }
    var count = 0
    for name in names where !name.hasPrefix("right/") {
      let bytes = [UInt8]((try? Data(contentsOf: root.appending(path: name))) ?? Data())
      guard bytes.starts(with: Array("TZif".utf8)) else { continue }
      #expect(throws: Never.self, "\(name)") { try TimeZoneRules(tzif: bytes) }
      count += 1
    }
    #expect(count > 300)
  }

  @Test("a file that is cut short is refused at every length, and no flipped byte traps")
  func broken() throws {
    let bytes = try ZoneFiles.bytes("Europe/Berlin")
    for length in 0..<bytes.count {
      #expect(throws: TimeZoneFault.self) { try TimeZoneRules(tzif: Array(bytes.prefix(length))) }
    }
    var dice = Dice(seed: 3)
    for _ in 0..<5_000 {
      var bytes = bytes
      for _ in 0..<Int.random(in: 1...4, using: &dice) {
        bytes[Int.random(in: 0..<bytes.count, using: &dice)] = UInt8.random(in: 0...255, using: &dice)
      }
      guard let rules = try? TimeZoneRules(tzif: bytes) else { continue }
      for instant in [Instant(milliseconds: .min), Instant(milliseconds: .max), Instant(seconds: 1_800_000_000)] {
        _ = rules.reading(rules.local(at: instant))
        _ = rules.nextChange(after: instant)
        _ = CalendarPattern(month: 2, day: 29, hour: 2, minute: 30).next(after: instant, in: rules)
      }
    }
  }

  @Test(
    "footers of every form (RFC 9636 §3.3.2)",
    arguments: [
      ("EST5EDT,M3.2.0,M11.1.0", "2027-07-01T12:00:00Z", -14_400), ("<+03>-3", "2027-07-01T12:00:00Z", 10_800),
      ("IST-1GMT0,M10.5.0,M3.5.0/1", "2027-07-01T12:00:00Z", 3_600),
      ("IST-1GMT0,M10.5.0,M3.5.0/1", "2027-01-01T12:00:00Z", 0),
      ("<-03>3<-02>,M3.5.0/-2,M10.5.0/-1", "2027-07-01T12:00:00Z", -7_200),
      // Daylight time that never ends
      ("XXX3EDT4,0/0,J365/23", "2027-12-31T23:59:59Z", -14_400),
      ("XXX3EDT4,0/0,J365/23", "2028-01-01T03:59:59Z", -14_400),
      ("AAA-2BBB,J60/0,J300/0", "2028-02-29T23:00:00Z", 10_800),
      ("AAA-2BBB,59/0,299/0", "2028-02-28T23:00:00Z", 10_800),
    ])
  func footers(text: String, at: String, offset: Int) throws {
    let rules = try TimeZoneRules(tzif: Self.file(footer: text))
    #expect(rules.offset(at: try instant(at)).seconds == offset)
  }

  @Test(
    "what is no footer is refused",
    arguments: [
      "EST", "EST5EDT", "5", "EST5EDT,M13.1.0,M11.1.0", "EST5EDT,M3.2.0", "EST5EDT,M3.2.0,M11.1.0,", "E5", "<+03-3",
    ])
  func noFooters(text: String) {
    #expect(throws: TimeZoneFault.self) { try TimeZoneRules(tzif: Self.file(footer: text)) }
  }

  @Test("a zone without rules counts as UTC; the names of UTC have theirs")
  func zonesByName() {
    #expect(Zone("UTC").rules == .utc)
    #expect(Zone("Europe/Berlin").rules == nil)
    #expect(Zone("Europe/Berlin").effectiveRules == .utc)
  }

  /// A version 2 file of one offset and a footer.
  private static func file(footer: String) -> [UInt8] {
    var header = Array("TZif2".utf8) + [UInt8](repeating: 0, count: 15)
    for count: UInt8 in [0, 0, 0, 0, 1, 4] { header += [0, 0, 0, count] }
    let block: [UInt8] = header + [0, 0, 0, 0, 0, 0] + Array("LMT\0".utf8)
    return block + block + Array("\n\(footer)\n".utf8)
  }
}
