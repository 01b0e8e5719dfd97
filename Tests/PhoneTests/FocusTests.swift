import Basics
import Phone
import PushPayload
import Testing

@Suite("Focus and Do Not Disturb")
struct FocusTests {
  @Test(
    "D-264 held by a Focus: to the centre silently, the number is set; D-260 … D-263 what breaks through",
    arguments: [false, true])
  func held(locked: Bool) {
    let loud = locked ? "LWCSN" : "BCSN"
    for (level, letters) in [
      ("passive", "CN"), ("active", "CN"), ("time-sensitive", loud), ("critical", loud),
    ] {
      var story = Story.urgent(.g3, locked: locked) { $0.focus = Focus("Work") }
      story.push(levelled(level))
      #expect(story.letters == letters, "\(level)")
      #expect(story.badge == 3)
      #expect(story.rules.contains("D-264") == (level == "active" || (level == "passive" && locked)))
      #expect(story.centre.count == 1)
    }
  }

  @Test("D-264 an app that the Focus allows is not held; another is")
  func allowed() {
    for (apps, letters) in [([Story.bundle], "BCSN"), (["com.example.other"], "CN")] {
      var story = Story(.g3) { $0.focus = Focus("Work", allowedApps: Set(apps)) }
      story.push(Sample.k1)
      #expect(story.letters == letters)
    }
  }

  @Test("D-262 a Focus may keep out time-sensitive ones too, never critical ones")
  func withoutTimeSensitive() {
    for (level, letters) in [("time-sensitive", "CN"), ("critical", "BCSN")] {
      var story = Story.urgent(.g3) { $0.focus = Focus("Sleep", allowsTimeSensitive: false) }
      story.push(levelled(level))
      #expect(story.letters == letters)
    }
  }

  @Test("D-264 no callback differs: the wake and willPresent come; in front only banner and sound are kept back")
  func callbacks() {
    var behind = Story(.g3) { $0.focus = Focus("Work") }
    behind.bring(to: .suspended)
    behind.push(Sample.k2)
    #expect(behind.calls == "DRF(B)")
    #expect(behind.letters == "CN")
    var front = Story(.g3) { $0.focus = Focus("Work") }
    front.bring(to: .active)
    front.push(Sample.k1)
    #expect(front.calls == "WP")
    #expect(front.letters == "CN")
  }

  @Test("D-264 a Focus that is turned off holds no more; what it held is not shown again")
  func turnedOff() {
    var story = Story(.g3) { $0.focus = Focus("Work") }
    story.push(Sample.k5)
    #expect(story.letters == "-")
    #expect(story.said("held back by the Focus Work", "D-264"))
    var settings = story.phone.settings
    settings.focus = nil
    story.forget()
    story.happens(.change(settings))
    #expect(story.letters == "-")
    story.push(Sample.k1)
    #expect(story.letters == "BCSN")
  }

  @Test("D-268 Do Not Disturb of iOS 6–14: locked no banner, light or sound, and the entry stays in list and centre")
  func doNotDisturb() {
    for (version, open, locked) in [
      (IOSVersion(5), "BCSN", "LWCSN"), (IOSVersion(6), "BCSN", "LCN"), (.g2, "BCSN", "LCN"),
      (IOSVersion(14), "BCSN", "LCN"), (IOSVersion(15), "CN", "CN"),
    ] {
      for (isLocked, letters) in [(false, open), (true, locked)] {
        var story = Story(version) { $0.focus = Focus() }
        story.bring(to: .suspended, locked: isLocked)
        story.push(Sample.k1)
        #expect(story.letters == letters, "iOS \(version)")
        #expect(story.lockScreen.isEmpty == !letters.contains("L"))
      }
    }
  }

  @Test("D-268 from iOS 7 on the user may silence always; the app in front is not silenced")
  func always() {
    for (version, letters) in [(IOSVersion(6), "BCSN"), (.g2, "CN"), (IOSVersion(14), "CN")] {
      var story = Story(version) { $0.focus = Focus(silencesUnlocked: true) }
      story.push(Sample.k1)
      #expect(story.letters == letters)
    }
    var front = Story(IOSVersion(14)) { $0.focus = Focus(silencesUnlocked: true) }
    front.bring(to: .active)
    front.push(Sample.k1)
    #expect(front.letters == "BCSN")
  }
}
