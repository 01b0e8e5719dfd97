import Basics
import Phone
import PushPayload
import Testing

@Suite("The scheduled summary")
struct SummaryTests {
  /// Eight and eighteen o'clock; stories begin at nine.
  private func story(
    _ version: IOSVersion = .g3, app: AppDescription = .urgent, times: [Int] = [8 * 60, 18 * 60]
  ) -> Story {
    var story = Story(version, app: app) { $0.summaryTimes = times }
    story.user { $0.scheduledDelivery = true }
    return story
  }

  private func scored(_ score: Double?, _ level: String? = nil) -> JSONValue {
    levelled(level, score.map { ["relevance-score": JSONNumber($0).map(JSONValue.number) ?? 0] } ?? [:])
  }

  private func summaries(_ story: Story) -> [TimelineEntry.Summary] {
    story.told.compactMap { if case .summary(let summary) = $0.what { summary } else { nil } }
  }

  @Test("D-265 active and passive ones wait, unseen, and come at the user's time by relevance, with one banner")
  func collected() {
    var story = story()
    let ids = [scored(0.2), scored(nil, "passive"), scored(0.9), scored(0.2)].map { story.push($0) }
    #expect(story.letters == "-")
    #expect(story.centre.isEmpty)
    #expect(story.phone.screen.centre.isEmpty)
    #expect(story.badge == 3)
    #expect(story.said("waits for the scheduled summary of 2026-11-30T18:00:00.000Z", "D-265"))
    story.pass(.hours(8))
    #expect(summaries(story).isEmpty)
    story.pass(.hours(1))
    let summary = summaries(story)
    #expect(summary.map { $0.entries.map(\.id) } == [[ids[2], ids[3], ids[0], ids[1]]])
    #expect(summary.first?.parts.letters == "BC")
    #expect(story.told.last?.time == Instant(seconds: 1_796_061_600))
    #expect(Set(story.centre) == Set(ids))
    let group = story.phone.screen.centre
    #expect(group.map { $0.notifications.map(\.id) } == [[ids[2], ids[3], ids[0], ids[1]]])
    #expect(group.first?.bundleID == nil)
  }

  @Test("D-265 one summary for all apps, the most relevant featured in its banner, which goes away by itself")
  func severalApps() {
    var story = story()
    let other = "com.example.other"
    var user = Phone.UserSettings()
    user.scheduledDelivery = true
    story.happens(
      .installApp(AppDescription(bundleID: other, name: "Other")), .changePermission(bundleID: other, user))
    story.push(scored(0.1))
    story.happens(.push(DeliveredPayload(id: "o", bundleID: other, bytes: scored(0.7).encoded())))
    story.forget()
    // to the second, so that the banner is still there
    while let due = story.phone.due, due > story.now { story.pass(due - story.now) }
    #expect(summaries(story).first?.entries.map(\.bundleID) == [other, Story.bundle])
    var again = self.story()
    again.push(scored(0.1))
    if let due = again.phone.due { again.pass(due - again.now) }
    #expect(again.phone.screen.banners.map(\.heading) == ["Scheduled Summary: News"])
    again.pass(.seconds(5))
    #expect(again.phone.screen.banners.isEmpty)
  }

  @Test("D-262 D-263 time-sensitive and critical ones break through")
  func breakThrough() {
    for level in ["time-sensitive", "critical"] {
      var story = Story.urgent(.g3) { $0.summaryTimes = [480] }
      story.user { $0.scheduledDelivery = true }
      story.push(scored(0.5, level))
      #expect(story.letters == "BCSN")
    }
  }

  @Test("D-265 not before iOS 15, not without times, not for an app that is not in it")
  func notAtAll() {
    var old = story(IOSVersion(14))
    old.push(Sample.k1)
    #expect(old.letters == "BCSN")
    var timeless = story(times: [])
    timeless.push(Sample.k1)
    #expect(timeless.letters == "BCSN")
    var out = Story(.g3) { $0.summaryTimes = [480] }
    out.push(Sample.k1)
    #expect(out.letters == "BCSN")
    var nonsense = story(times: [-1, 1440])
    nonsense.push(Sample.k1)
    #expect(nonsense.phone.due == nil)
  }

  @Test("D-265 locked it lights the screen; under a Focus it goes to the centre silently")
  func lockedOrHeld() {
    var locked = story()
    locked.push(scored(0.5))
    locked.happens(.lock)
    locked.pass(.hours(9))
    #expect(summaries(locked).map(\.parts.letters) == ["LWC"])
    #expect(locked.lockScreen.count == 1)
    var held = story()
    held.push(scored(0.5))
    var settings = held.phone.settings
    settings.focus = Focus("Sleep")
    held.happens(.change(settings))
    held.pass(.hours(9))
    #expect(summaries(held).map(\.parts.letters) == ["C"])
    #expect(held.said("held back by the Focus", "D-264"))
  }

  @Test("D-265 a waiting one is replaced, removed by the app and by badge 0, and comes at once when the times end")
  func whileWaiting() {
    var story = story()
    story.push(levelled(nil, alert: "1:0"), collapse: "score")
    story.push(levelled(nil, alert: "2:0"), collapse: "score")
    story.pass(.hours(9))
    #expect(summaries(story).map { $0.entries.map(\.id) } == [["score"]])
    #expect(story.phone.screen.centre.first?.notifications.map(\.body) == ["2:0"])

    for event in [
      Phone.Event.app(bundleID: Story.bundle, .removeAllDelivered), .app(bundleID: Story.bundle, .setBadge(0)),
    ] {
      var removed = self.story()
      removed.push(Sample.k1)
      removed.happens(.launch(bundleID: Story.bundle), event)
      removed.pass(.hours(9))
      #expect(summaries(removed).isEmpty)
      #expect(removed.phone.due == nil)
    }

    var ended = self.story()
    ended.push(Sample.k1)
    var settings = ended.phone.settings
    settings.summaryTimes = []
    ended.happens(.change(settings))
    #expect(summaries(ended).count == 1)
  }

  @Test("D-265 the times of day are those of the phone's zone, as is the clock on the screen")
  func zone() {
    var story = Story(.g3) {
      $0.summaryTimes = [18 * 60]
      $0.zone = Zone("Asia/Shanghai", rules: TimeZoneRules(fixed: 8 * 3600, abbreviation: "CST"))
    }
    story.user { $0.scheduledDelivery = true }
    #expect(story.phone.screen.clock == "17:00")
    story.push(scored(0.5))
    #expect(story.phone.due == Instant(seconds: 1_796_032_800))
    story.happens(.changeZone(.utc))
    #expect(story.phone.due == Instant(seconds: 1_796_061_600))
    #expect(story.phone.screen.clock == "09:00")
  }

  @Test("D-265 its wake does not wait")
  func wake() {
    var story = story()
    story.bring(to: .suspended)
    story.push(Sample.k2)
    #expect(story.calls == "DRF(B)")
    #expect(story.letters == "-")
  }
}
