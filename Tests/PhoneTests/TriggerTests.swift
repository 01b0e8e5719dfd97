import Basics
import Foundation
import Phone
import PushPayload
import Testing

/// Times of the calendar, fire dates and places.
@Suite("Triggers")
struct TriggerTests {
  private func zone(_ name: String) throws -> Zone {
    let bytes = [UInt8](try Data(contentsOf: URL(filePath: "/usr/share/zoneinfo").appending(path: name)))
    return Zone(name, rules: try TimeZoneRules(tzif: bytes))
  }

  private func story(_ version: IOSVersion, in zone: String, at text: String) throws -> Story {
    let place = try self.zone(zone)
    var story = Story(version) { $0.zone = place }
    story.now = try #require(Instant(rfc3339: text))
    story.happens(.launch(bundleID: Story.bundle))
    return story
  }

  private func times(_ story: Story) -> [String] {
    story.told.compactMap { entry in
      if case .shown = entry.what { String(entry.time.description.dropLast(5)) } else { nil }
    }
  }

  // MARK: D-272

  @Test("D-272 each day at 8:30 by the phone's clocks, also when they change")
  func daily() throws {
    var story = try story(.g3, in: "Europe/Berlin", at: "2027-03-26T12:00:00Z")
    story.act(story.request("morning", .calendar(CalendarPattern(hour: 8, minute: 30), repeats: true)))
    story.happens(.home)
    story.forget()
    story.pass(.days(3))
    #expect(times(story) == ["2027-03-27T07:30:00", "2027-03-28T06:30:00", "2027-03-29T06:30:00"])
    #expect(story.pending == ["morning"])
  }

  @Test(
    "D-272 C32 a skipped time comes at the next valid instant, a repeated one once",
    arguments: [
      ("2027-03-27T12:00:00Z", ["2027-03-28T01:00:00", "2027-03-29T00:30:00"]),
      ("2027-10-30T12:00:00Z", ["2027-10-31T00:30:00", "2027-11-01T01:30:00"]),
    ])
  func changes(from text: String, expected: [String]) throws {
    var story = try story(.g3, in: "Europe/Berlin", at: text)
    story.act(story.request("night", .calendar(CalendarPattern(hour: 2, minute: 30), repeats: true)))
    story.happens(.home)
    story.forget()
    story.pass(.days(2))
    #expect(times(story) == expected)
  }

  @Test("D-272 without repeating it comes once; a time that is over never, and does not wait")
  func once() throws {
    var story = try story(.g3, in: "UTC", at: "2027-01-01T12:00:00Z")
    story.act(
      story.request("once", .calendar(CalendarPattern(hour: 13))),
      story.request("over", .calendar(CalendarPattern(year: 2026, month: 5, day: 1))))
    #expect(story.pending == ["once"])
    #expect(story.said("never comes again", "D-272"))
    story.happens(.home)
    story.forget()
    story.pass(.days(3))
    #expect(times(story) == ["2027-01-01T13:00:00"])
    #expect(story.pending.isEmpty)
  }

  @Test("D-272 a zone of its own stays; without one it follows the phone to another zone")
  func travel() throws {
    var story = try story(.g3, in: "Europe/Berlin", at: "2027-06-01T12:00:00Z")
    let tokyo = try zone("Asia/Tokyo")
    story.act(
      story.request("here", .calendar(CalendarPattern(hour: 9), repeats: true)),
      story.request("there", .calendar(CalendarPattern(hour: 9), zone: tokyo, repeats: true)),
      story.request("span", .interval(.hours(48))))
    func next(_ id: String) -> String? { story.phone.nextTriggerDate(of: id, in: Story.bundle)?.description }
    #expect(next("here") == "2027-06-02T07:00:00.000Z")
    #expect(next("there") == "2027-06-02T00:00:00.000Z")
    let span = next("span")
    story.happens(.changeZone(try zone("America/New_York")))
    #expect(next("here") == "2027-06-01T13:00:00.000Z")
    #expect(next("there") == "2027-06-02T00:00:00.000Z")
    #expect(next("span") == span)
    var settings = story.phone.settings
    settings.zone = tokyo
    story.happens(.change(settings))
    #expect(next("here") == "2027-06-02T00:00:00.000Z")
  }

  @Test("D-272 a phone without the rules of its zone counts as UTC, and says so")
  func unknownRules() {
    var story = Story(.g3) { $0.zone = "Mars/Olympus" }
    #expect(story.phone.timeline.contains { $0.rule == "D-272" && $0.what.words.contains("counts as UTC") })
    story.happens(.launch(bundleID: Story.bundle))
    story.act(story.request("a", .calendar(CalendarPattern(hour: 0))))
    #expect(story.phone.nextTriggerDate(of: "a", in: Story.bundle)?.description.hasSuffix("T00:00:00.000Z") == true)
    story.happens(.changeZone("Venus"))
    #expect(story.said("rules of Venus: it counts as UTC", "D-272"))
  }

  // MARK: D-274

  @Test(
    "D-274 a fire date without zone is an instant; with one it is a time on the wall", arguments: [IOSVersion.g1, .g2])
  func fireDate(version: IOSVersion) throws {
    var story = try story(version, in: "Europe/Berlin", at: "2027-06-01T12:00:00Z")
    let date = try #require(Instant(rfc3339: "2027-06-02T06:00:00Z"))  // 8:00 in Berlin
    var alarm = UILocalNotification(alertBody: "alarm", fireDate: date)
    alarm.timeZone = try zone("Europe/Berlin")
    story.act(.scheduleLocalNotification(UILocalNotification(alertBody: "timer", fireDate: date)))
    story.act(.scheduleLocalNotification(alarm))
    story.happens(.home, .changeZone(try zone("America/New_York")))
    story.forget()
    story.pass(.days(1))
    #expect(story.shown.map(\.body) == ["timer", "alarm"])
    #expect(times(story) == ["2027-06-02T06:00:00", "2027-06-02T12:00:00"])
  }

  @Test(
    "D-274 repeatInterval: by the wall's clock with a zone, by UTC without",
    arguments: [
      (RepeatInterval.day, true, ["2027-03-27T07:00:00", "2027-03-28T06:00:00", "2027-03-29T06:00:00"]),
      (.day, false, ["2027-03-27T07:00:00", "2027-03-28T07:00:00", "2027-03-29T07:00:00"]),
      (.week, true, ["2027-03-27T07:00:00", "2027-04-03T06:00:00", "2027-04-10T06:00:00"]),
      (.month, true, ["2027-03-27T07:00:00", "2027-04-27T06:00:00", "2027-05-27T06:00:00"]),
      (.quarter, true, ["2027-03-27T07:00:00", "2027-06-27T06:00:00", "2027-09-27T06:00:00"]),
      (.year, true, ["2027-03-27T07:00:00", "2028-03-27T06:00:00", "2029-03-27T06:00:00"]),
    ])
  func repeating(interval: RepeatInterval, onTheWall: Bool, expected: [String]) throws {
    var story = try story(.g2, in: "Europe/Berlin", at: "2027-03-26T12:00:00Z")
    var alarm = UILocalNotification(alertBody: "alarm", fireDate: Instant(rfc3339: "2027-03-27T07:00:00Z"))
    alarm.repeatInterval = interval
    if onTheWall { alarm.timeZone = try zone("Europe/Berlin") }
    story.act(.scheduleLocalNotification(alarm))
    story.happens(.home)
    story.forget()
    var found: [String] = []
    while found.count < 3, let due = story.phone.due {
      story.pass(due - story.now)
      found = times(story)
    }
    #expect(found == expected)
  }

  @Test("the 31st, monthly, comes on the last day of shorter months")
  func monthEnds() throws {
    var story = try story(.g2, in: "UTC", at: "2027-01-30T12:00:00Z")
    var rent = UILocalNotification(alertBody: "rent", fireDate: Instant(rfc3339: "2027-01-31T08:00:00Z"))
    rent.repeatInterval = .month
    story.act(.scheduleLocalNotification(rent))
    story.happens(.home)
    story.forget()
    story.pass(.days(95))
    #expect(
      times(story) == ["2027-01-31T08:00:00", "2027-02-28T08:00:00", "2027-03-31T08:00:00", "2027-04-30T08:00:00"])
  }

  // MARK: D-273

  @Test("D-273 entering or leaving a place, once or each time", arguments: [IOSVersion.g2, .g3])
  func places(version: IOSVersion) {
    for repeats in [false, true] {
      var story = Story(version)
      story.happens(.launch(bundleID: Story.bundle))
      let office = Region("office", onExit: false)
      if version.major >= 10 {
        story.act(story.request("r", .region(office, repeats: repeats)))
      } else {
        var old = UILocalNotification(alertBody: "there")
        old.region = office
        old.regionTriggersOnce = !repeats
        story.act(.scheduleLocalNotification(old))
      }
      story.happens(.home)
      story.forget()
      story.happens(
        .cross(region: "home", entering: true), .cross(region: "office", entering: false),
        .cross(region: "office", entering: true), .cross(region: "office", entering: true))
      #expect(story.shown.count == (repeats ? 2 : 1))
      #expect(story.pending.isEmpty != repeats)
      #expect(story.rules.contains("D-273"))
    }
    #expect(UILocalNotification().regionTriggersOnce)
  }

  @Test("D-273 not without leave to use the place; at most 20 regions an app")
  func placesRefused() {
    var story = Story(.g3, app: .complete { $0.mayUseLocation = false })
    story.happens(.launch(bundleID: Story.bundle))
    story.act(story.request("r", .region(Region("home"))))
    story.happens(.home, .cross(region: "home", entering: true))
    #expect(story.shown.isEmpty)
    var many = Story(.g3)
    many.happens(.launch(bundleID: Story.bundle))
    for number in 0..<22 { many.act(many.request("r\(number)", .region(Region("\(number)")))) }
    #expect(many.pending.count == 20)
    #expect(many.said("no more than 20", "D-273"))
  }

  @Test("D-273 regions came with iOS 8")
  func regionsBefore() {
    var story = Story(IOSVersion(7))
    story.happens(.launch(bundleID: Story.bundle))
    var old = UILocalNotification(alertBody: "there")
    old.region = Region("home")
    story.act(.scheduleLocalNotification(old))
    // the older system knows no region: without a date it comes at once
    #expect(story.calls.contains("DRL(A)"))
  }
}
