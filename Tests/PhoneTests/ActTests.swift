import Basics
import Phone
import PushPayload
import Testing

@Suite("What the user does")
struct ActTests {
  struct Row: CustomTestStringConvertible, Sendable {
    var id: String
    var from: AppState
    var locked = false
    var kind = "K1"
    var act: Act
    /// What is called from the act on, in G1, G2, G3.
    var calls: [String]
    var testDescription: String { "\(id): \(kind), \(act) from \(from)\(locked ? ", locked" : "")" }
  }

  enum Act: String, Sendable { case tap, icon, close, unlock, unlockAfterTap, cancelAfterTap }

  static let rows = [
    Row(id: "D-130", from: .notRunning, act: .tap, calls: ["LO(p) DBA", "LO(p) DRF(I) DBA", "LO(p) DRR(default) DBA"]),
    Row(id: "D-130", from: .forceQuit, act: .tap, calls: ["LO(p) DBA", "LO(p) DRF(I) DBA", "LO(p) DRR(default) DBA"]),
    Row(
      id: "D-130", from: .forceQuit, kind: "K2", act: .tap,
      calls: ["LO(p) DBA", "LO(p) DRF(I) DBA", "LO(p) DRR(default) DBA"]),
    Row(id: "D-131", from: .notRunning, act: .icon, calls: ["LO(∅) DBA", "LO(∅) DBA", "LO(∅) DBA"]),
    Row(id: "D-131", from: .forceQuit, act: .icon, calls: ["LO(∅) DBA", "LO(∅) DBA", "LO(∅) DBA"]),
    Row(id: "D-131", from: .notRunning, act: .close, calls: ["-", "-", "-"]),
    Row(
      id: "D-132 falls out of D-107 and D-133", from: .notRunning, kind: "K2", act: .tap,
      calls: ["LO(p) DBA", "WEF DRF(I) DBA", "WEF DRR(default) DBA"]),
    Row(
      id: "D-133", from: .suspended, act: .tap, calls: ["WEF DRN(I) DBA", "WEF DRF(I) DBA", "WEF DRR(default) DBA"]),
    Row(
      id: "D-133", from: .background, act: .tap, calls: ["WEF DRN(I) DBA", "WEF DRF(I) DBA", "WEF DRR(default) DBA"]),
    Row(
      id: "D-133", from: .suspended, kind: "K2", act: .tap,
      calls: ["WEF DRN(I) DBA", "WEF DRF(I) DBA", "WEF DRR(default) DBA"]),
    Row(id: "D-134", from: .suspended, act: .icon, calls: ["WEF DBA", "WEF DBA", "WEF DBA"]),
    Row(id: "D-134", from: .background, act: .icon, calls: ["WEF DBA", "WEF DBA", "WEF DBA"]),
    Row(id: "D-134", from: .background, act: .close, calls: ["-", "-", "-"]),
    Row(
      id: "D-139", from: .notRunning, locked: true, act: .unlockAfterTap,
      calls: ["LO(p) DBA", "LO(p) DRF(I) DBA", "LO(p) DRR(default) DBA"]),
    Row(
      id: "D-139", from: .suspended, locked: true, act: .unlockAfterTap,
      calls: ["WEF DRN(I) DBA", "WEF DRF(I) DBA", "WEF DRR(default) DBA"]),
    Row(
      id: "D-139", from: .active, locked: true, act: .unlockAfterTap,
      calls: ["WEF DRN(I) DBA", "WEF DRF(I) DBA", "WEF DRR(default) DBA"]),
    Row(id: "D-139", from: .suspended, locked: true, act: .cancelAfterTap, calls: ["-", "-", "-"]),
    Row(id: "D-140", from: .notRunning, locked: true, act: .unlock, calls: ["-", "-", "-"]),
    Row(id: "D-140", from: .suspended, locked: true, act: .unlock, calls: ["-", "-", "-"]),
    Row(id: "D-140", from: .active, locked: true, act: .unlock, calls: ["WEF DBA", "WEF DBA", "WEF DBA"]),
  ]

  @Test("D-130 … D-140", arguments: rows)
  func act(row: Row) throws {
    for (version, calls) in zip([IOSVersion.g1, .g2, .g3], row.calls) {
      var story = Story(version)
      story.bring(to: row.from, locked: row.locked)
      let (payload, type) = try #require(Sample.of(row.kind))
      story.push(payload, type)
      let (centre, badge) = (story.centre, story.badge)
      story.forget()
      let used: Bool
      switch row.act {
      case .tap:
        story.happens(.tap(bundleID: Story.bundle, id: nil))
        used = true
      case .icon:
        story.happens(.launch(bundleID: Story.bundle))
        used = false
      case .close:
        story.happens(.closeAlert(bundleID: Story.bundle))
        used = false
      case .unlock:
        story.happens(.unlock)
        used = false
      case .unlockAfterTap:
        story.happens(.tap(bundleID: Story.bundle, id: nil))
        #expect(story.calls == "-", "nothing before the user has authenticated")
        story.happens(.unlock)
        used = true
      case .cancelAfterTap:
        story.happens(.tap(bundleID: Story.bundle, id: nil), .cancelUnlock, .unlock)
        used = false
      }
      #expect(story.calls == calls, "iOS \(version)")
      #expect(story.badge == badge, "the badge stays")
      #expect(story.centre == (used ? [] : centre), "used: p leaves the centre; else nothing does")
      #expect(story.lockScreen.isEmpty || story.phone.isLocked)
    }
  }

  @Test("D-130 iOS 9 with DRN only: the launch options have told, DRN is not called")
  func onlyDRN() {
    var story = Story(.g2, app: .complete { $0.implements.remove(.didReceiveRemoteNotificationFetch) })
    story.push(Sample.k1)
    story.happens(.tap(bundleID: Story.bundle, id: nil))
    #expect(story.calls == "LO(p) DBA")
  }

  @Test("D-133 K2: DRF at arrival and again at the tap on iOS 9")
  func twice() {
    var story = Story(.g2)
    story.bring(to: .suspended)
    story.push(Sample.k2)
    story.happens(.tap(bundleID: Story.bundle, id: nil))
    #expect(story.calls == "DRF(B) WEF DRF(I) DBA")
  }

  @Test("D-134 a held silent push comes when the user opens the app")
  func heldComes() {
    var story = Story(.g3) { $0.lowPower = true }
    story.bring(to: .suspended)
    story.push(Sample.k7, .background)
    #expect(story.calls == "-")
    story.happens(.launch(bundleID: Story.bundle))
    #expect(story.calls == "WEF DBA DRF(A)")
    #expect(story.rules.contains("D-177"))
  }

  @Test("D-135 the banner over the app in front: the response alone; out of the open centre with WRA and DBA")
  func bannerInFront() {
    var story = Story(.g3)
    story.bring(to: .active)
    story.push(Sample.k1)
    story.push(Sample.k1)
    story.forget()
    story.happens(.tap(bundleID: Story.bundle, id: nil))
    #expect(story.calls == "DRR(default)")
    #expect(story.centre.count == 1)
    story.happens(.openCentre, .tap(bundleID: Story.bundle, id: nil))
    #expect(story.calls == "DRR(default) WRA DRR(default) DBA")
    #expect(story.centre.isEmpty)
  }

  @Test("D-135 an older entry while the app is in front comes out of the centre, which lies over the app meanwhile")
  func olderEntry() {
    for (version, calls) in [(IOSVersion.g1, "WRA DRN(I) DBA"), (.g2, "WRA DRF(I) DBA"), (.g3, "WRA DRR(default) DBA")]
    {
      var story = Story(version)
      story.push(Sample.k1)
      story.pass(.seconds(5))  // its banner goes away
      story.happens(.launch(bundleID: Story.bundle))
      story.forget()
      story.happens(.tap(bundleID: Story.bundle, id: nil))
      #expect(story.calls == calls)
    }
  }

  @Test("D-139 a notification that vanished before the user authenticated starts nothing")
  func vanished() {
    var story = Story(.g3)
    let other = "com.example.other"
    story.happens(
      .installApp(AppDescription(bundleID: other)), .changePermission(bundleID: other, Phone.UserSettings()), .lock)
    story.happens(.push(DeliveredPayload(id: "o", bundleID: other, bytes: Sample.k1.encoded())))
    story.push(Sample.k1)
    story.forget()
    story.happens(.tap(bundleID: Story.bundle, id: nil))
    story.push(["aps": ["badge": 0]])
    story.happens(.unlock)
    #expect(story.calls == "-")
    #expect(story.phone.centre(of: other) == ["o"])
  }

  @Test("D-140 entries of the lock screen move to the centre")
  func lockScreenEmpties() {
    var story = Story(.g3)
    story.bring(to: .notRunning, locked: true)
    let id = story.push(Sample.k1)
    #expect(story.lockScreen == [id])
    story.happens(.unlock)
    #expect(story.lockScreen.isEmpty)
    #expect(story.centre == [id])
    #expect(story.said("starts nothing", "D-140"))
  }

  @Test("D-151 what shows no entry cannot be tapped", arguments: ["K3", "K4", "K5", "K7"])
  func nothingToTap(kind: String) throws {
    let (payload, type) = try #require(Sample.of(kind))
    var story = Story(.g3)
    story.bring(to: .forceQuit)
    story.push(payload, type)
    story.happens(.tap(bundleID: Story.bundle, id: nil))
    #expect(story.calls == "-")
    #expect(story.rules.contains("D-151"))
  }
}
