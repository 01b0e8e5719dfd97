import Basics
import Phone
import PushPayload
import Testing

@Suite("The timeline")
struct TimelineTests {
  private var woken: Story {
    var story = Story(.g3)
    story.bring(to: .suspended)
    story.push(Sample.s2Silent, .background, id: "3f2a")
    return story
  }

  @Test("one line each: time, state, arrow, what, rule")
  func lines() {
    let lines = woken.told.map(\.description)
    #expect(
      lines == [
        #"09:00:06.000  suspended   ⇣ push 3f2a (K7) server → APNs → this phone: {"aps":{"content-available":1},"customData":{"task":"sync"}}  D-072"#,
        "09:00:06.000  background  · suspended → background  D-106",
        #"09:00:06.000  background  → application:didReceiveRemoteNotification:fetchCompletionHandler: [background] {"aps":{"content-available":1},"customData":{"task":"sync"}}  D-106"#,
        "09:00:06.000  background  ← calls the fetch handler: newData  D-173",
        "09:00:06.000  background  · a new snapshot for the app switcher  D-173",
        "09:00:06.000  suspended   · background → suspended  D-158",
      ])
  }

  @Test("a line is cut to the terminal, its rule is not")
  func cut() {
    for entry in woken.told {
      let line = entry.line(width: 60)
      #expect(line.count <= 60)
      #expect(line.hasSuffix(entry.rule.id))
    }
    _ = woken.told.first?.line(width: 0)
  }

  @Test("as JSON, with the payload as the app got it")
  func json() throws {
    let callback = try #require(woken.told.first { $0.what.name == "callback" })
    let json = try #require(callback.json.object)
    #expect(json["rule"] == "D-106")
    #expect(json["state"] == "background")
    #expect(json["app"] == .string(Story.bundle))
    #expect(json["callback"]?.object?["short"] == "DRF")
    #expect(json["callback"]?.object?["userInfo"] == Sample.s2Silent)
    for entry in woken.told { #expect(throws: Never.self) { try JSONReader.read(entry.json.encoded()) } }
  }

  @Test("the switches of the phone open the timeline, those not modelled say so")
  func switches() {
    var settings = PhoneSettings(iosVersion: .g3)
    settings.strictSeed = true
    settings.focus = Focus("Work")
    settings.previews = .never
    settings.summaryTimes = [480]
    var phone = Phone(settings)
    _ = phone.handle(.timePassed, at: Instant(seconds: 0))
    let words = phone.timeline.map(\.what.words)
    #expect(
      words.first?.contains("iOS 17.0, previews never, focus “Work”, summaryTimes [480], strictSeed true") == true)
    #expect(phone.timeline.count == 1, "all of them are modelled")
  }

  @Test("taking the timeline starts a new one")
  func take() {
    var story = Story(.g3)
    let first = story.phone.takeTimeline()
    #expect(!first.isEmpty)
    #expect(story.phone.timeline.isEmpty)
    story.push(Sample.k1)
    #expect(!story.phone.timeline.isEmpty)
  }

  @Test("an event from before the last one counts as of now")
  func clockJumpsBack() {
    var story = Story(.g3)
    let last = story.now
    story.now = last - .hours(1)
    story.push(Sample.k1)
    #expect(story.told.allSatisfy { $0.time == last })
  }
}
