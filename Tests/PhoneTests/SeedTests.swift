import Basics
import Phone
import PushPayload
import Testing

/// What the seeds say about delivery, word for word with `strictSeed`, and as it is today without.
@Suite("The seeds: a locked phone (S4)")
struct LockedSeedTests {
  struct Row: CustomTestStringConvertible, Sendable {
    var id: String
    var state: AppState
    var version: IOSVersion
    var strict: Bool
    /// From the arrival on, the unlock included.
    var calls: String
    var testDescription: String { "\(id) iOS \(version)\(strict ? ", strictSeed" : ""), \(state)" }
  }

  static let rows = [
    Row(id: "D-060", state: .notRunning, version: IOSVersion(3, 1), strict: false, calls: "LO(p) DBA"),
    Row(id: "D-060", state: .notRunning, version: IOSVersion(4), strict: false, calls: "LO(p) DBA"),
    Row(id: "D-060", state: .notRunning, version: .g1, strict: true, calls: "LO(p) DBA"),
    Row(id: "D-060", state: .notRunning, version: .g2, strict: true, calls: "LO(p) DRF(I) DBA"),
    Row(id: "D-060", state: .notRunning, version: .g3, strict: true, calls: "LO(p) DRR(default) DBA"),
    Row(id: "D-060 today", state: .notRunning, version: .g1, strict: false, calls: "-"),
    Row(id: "D-060 today", state: .notRunning, version: .g3, strict: false, calls: "-"),
    Row(id: "D-061", state: .background, version: IOSVersion(4), strict: false, calls: "WEF DRN(I) DBA"),
    Row(id: "D-061", state: .suspended, version: .g1, strict: true, calls: "WEF DRN(I) DBA"),
    Row(id: "D-061", state: .suspended, version: .g2, strict: true, calls: "WEF DRF(I) DBA"),
    Row(id: "D-061", state: .suspended, version: .g3, strict: true, calls: "WEF DRR(default) DBA"),
    Row(id: "D-061 today", state: .suspended, version: .g3, strict: false, calls: "-"),
    Row(id: "D-062", state: .active, version: IOSVersion(3, 1), strict: false, calls: "DRN(I) DBA"),
    Row(id: "D-062", state: .active, version: IOSVersion(4), strict: false, calls: "WEF DRN(I) DBA"),
    Row(id: "D-062", state: .active, version: .g1, strict: true, calls: "WEF DRN(I) DBA"),
    Row(id: "D-062", state: .active, version: .g2, strict: true, calls: "WEF DRF(I) DBA"),
    Row(id: "D-062 today", state: .active, version: .g2, strict: false, calls: "WEF DBA"),
  ]

  @Test("D-060 D-061 D-062 after unlocking", arguments: rows)
  func unlocking(row: Row) {
    var story = Story(row.version) { $0.strictSeed = row.strict }
    story.bring(to: row.state, locked: true)
    story.push(Sample.s0Ordinary)
    #expect(story.calls == "-", "nothing runs before the unlock")
    story.happens(.unlock)
    #expect(story.calls == row.calls)
  }
}

@Suite("The seeds: an app in front behind the lock, iOS 3")
struct FrontBehindLockTests {
  @Test("D-062 each push that came while locked is told after the unlock, also one that showed nothing")
  func several() {
    var story = Story(IOSVersion(3, 1))
    story.bring(to: .active, locked: true)
    story.push(Sample.s0Ordinary)
    story.push(Sample.k5)
    story.happens(.unlock)
    #expect(story.calls == "DRN(I) DRN(I) DBA")
    var quiet = Story(IOSVersion(3, 1))
    quiet.bring(to: .active, locked: true)
    quiet.push(Sample.k5)
    quiet.happens(.unlock)
    #expect(quiet.calls == "DRN(I) DBA")
  }
}

@Suite("The seeds: an unlocked phone (S4)")
struct UnlockedSeedTests {
  static let before = [IOSVersion(3, 1), IOSVersion(4), .g1]

  @Test("D-063 not running, Launch or the notification: started with the payload", arguments: before + [.g2, .g3])
  func launch(version: IOSVersion) {
    var story = Story(version)
    story.push(Sample.s0Ordinary)
    story.happens(.tap(bundleID: Story.bundle, id: nil))
    #expect(story.calls.hasPrefix("LO(p)"))
  }

  @Test("D-064 D-068 D-131 not running, Close or by the icon: started without it", arguments: before + [.g2, .g3])
  func close(version: IOSVersion) {
    var story = Story(version)
    story.push(Sample.s0Ordinary)
    story.happens(.closeAlert(bundleID: Story.bundle), .launch(bundleID: Story.bundle))
    #expect(story.calls == "LO(∅) DBA")
  }

  @Test("D-065 background, Launch or tap: to the front, with the payload")
  func backgroundTap() {
    for (version, calls) in [
      (IOSVersion(4), "WEF DRN(I) DBA"), (.g1, "WEF DRN(I) DBA"), (.g2, "WEF DRF(I) DBA"),
      (.g3, "WEF DRR(default) DBA"),
    ] {
      var story = Story(version)
      story.bring(to: .background)
      story.push(Sample.s0Ordinary)
      story.happens(.tap(bundleID: Story.bundle, id: nil))
      #expect(story.calls == calls)
    }
  }

  @Test("D-066 background, Close or icon: no callback with the payload", arguments: [IOSVersion(4), .g1, .g2, .g3])
  func backgroundIcon(version: IOSVersion) {
    var story = Story(version)
    story.bring(to: .background)
    story.push(Sample.s0Ordinary)
    story.happens(.closeAlert(bundleID: Story.bundle), .launch(bundleID: Story.bundle))
    #expect(story.calls == "WEF DBA")
  }

  @Test("D-067 foreground: nothing on the screen, no sound, only the delegate", arguments: before + [.g2])
  func foreground(version: IOSVersion) {
    var story = Story(version)
    story.bring(to: .active)
    story.push(Sample.s0Ordinary)
    #expect(story.letters == "-")
    #expect(story.badge == 0)
    #expect(story.calls == (version == .g2 ? "DRF(A)" : "DRN(A)"))
  }
}

@Suite("The seeds: what a push is (S0)")
struct DeliverySeedTests {
  @Test("D-070 D-071 the system shows, with the app neither in front nor behind, and none of its code runs")
  func system() {
    for version in [IOSVersion.g1, .g2, .g3] {
      for state in [AppState.notRunning, .forceQuit] {
        var story = Story(version)
        story.bring(to: state)
        story.push(Sample.s0Ordinary)
        #expect(story.letters == "BCSN")
        #expect(story.centre.count == 1)
        #expect(story.badge == 1)
        #expect(story.calls == "-")
      }
    }
  }

  @Test("D-072 the four steps of the way are told")
  func fourSteps() {
    var story = Story(.g3)
    let took = story.now
    story.happens(
      .push(
        DeliveredPayload(id: "p", bundleID: Story.bundle, acceptedAt: took, bytes: Sample.s0Ordinary.encoded())))
    #expect(story.said("server → APNs (took it \(took)) → this phone", "D-072"))
    #expect(story.rules.contains("D-108"))
  }

  @Test("D-073 C-13 in the background only the mode and content-available together reach code")
  func backgroundNeedsBoth() {
    for (mode, payload, calls) in [
      (true, Sample.s0Background, "DRF(B)"), (true, Sample.s0Ordinary, "-"), (false, Sample.s0Background, "-"),
    ] {
      var story = Story(.g2, app: .complete { $0.backgroundModes = mode ? [.remoteNotification] : [] })
      story.bring(to: .suspended)
      story.push(payload)
      #expect(story.calls == calls)
      #expect(story.letters == "BCSN")
    }
  }

  @Test("D-074 a local notification is another thing: this phone knows remote ones only, and may get them late")
  func late() {
    var story = Story(.g3)
    story.pass(.hours(5))
    story.push(Sample.s0Ordinary)
    #expect(story.letters == "BCSN")
  }

  @Test("D-075 an ordinary push: in front DRN before iOS 7, DRF from 7; by banner the payload, by icon nothing")
  func ordinary() {
    for (version, front, tapped) in [
      (IOSVersion.g1, "DRN(A)", "LO(p) DBA"), (IOSVersion(7), "DRF(A)", "LO(p) DRF(I) DBA"),
      (.g2, "DRF(A)", "LO(p) DRF(I) DBA"),
    ] {
      var story = Story(version)
      story.bring(to: .active)
      story.push(Sample.s0Ordinary)
      #expect(story.calls == front)
      #expect(story.letters == "-")
      var cold = Story(version)
      cold.push(Sample.s0Ordinary)
      cold.happens(.tap(bundleID: Story.bundle, id: nil))
      #expect(cold.calls == tapped)
      var icon = Story(version)
      icon.push(Sample.s0Ordinary)
      icon.happens(.launch(bundleID: Story.bundle))
      #expect(icon.calls == "LO(∅) DBA")
    }
  }

  @Test("D-076 D-212 the seed's sample: the app gets _j_msgid, key1 and key2")
  func customKeys() {
    var story = Story(.g2)
    story.bring(to: .active)
    story.push(Sample.s0Ordinary)
    let userInfo = story.callbacks.first?.arguments.userInfo
    #expect(userInfo?["_j_msgid"] == 200_806_057)
    #expect(userInfo?["key1"] == "value1")
    #expect(userInfo?["key2"] == "value2")
  }

  @Test("D-077 D-213 +1 never reaches a phone; one that got it leaves the number")
  func badgeArithmetic() {
    var story = Story(.g3)
    story.push(["aps": ["alert": "a", "badge": 5]])
    story.push(["aps": ["alert": "b", "badge": "+1"]])
    #expect(story.badge == 5)
    #expect(story.rules.contains("D-213"))
  }

  @Test("D-078 D-220 default is the system's sound, a name a file of the app")
  func sounds() {
    var story = Story(.g3, app: .complete { $0.sounds = ["bell.caf"] })
    story.push(["aps": ["alert": "a", "sound": "default"]])
    story.push(["aps": ["alert": "a", "sound": "bell.caf"]])
    #expect(story.shown.map(\.sound) == [.system, .file("bell.caf")])
  }

  @Test("D-079 a background push looks exactly like an ordinary one")
  func looksTheSame() {
    for version in [IOSVersion.g1, .g2, .g3] {
      for state in [AppState.notRunning, .forceQuit, .suspended, .background] {
        var ordinary = Story(version)
        ordinary.bring(to: state)
        ordinary.push(Sample.s0Ordinary)
        var background = Story(version)
        background.bring(to: state)
        background.push(Sample.s0Background)
        #expect(ordinary.letters == background.letters)
        #expect(ordinary.shown.map(\.body) == background.shown.map(\.body))
      }
    }
  }

  @Test("D-080 behind: code runs, for minutes with strictSeed (C-02), for 30 s today")
  func sneakyRefresh() {
    for (strict, alive) in [(true, AppState.background), (false, .notRunning)] {
      var story = Story(.g2, app: .complete { $0.fetchAnswer = .after(.seconds(120)) }) { $0.strictSeed = strict }
      story.bring(to: .background)
      story.push(Sample.s0Background)
      #expect(story.calls == "DRF(B)")
      story.pass(.seconds(60))
      #expect(story.state == alive)
    }
  }

  @Test("D-080 D-081 C-01 exited: no content with strictSeed; today an app that the system ended is woken")
  func exited() {
    for (payload, type) in [(Sample.s0Background, PushType.alert), (Sample.s0Silent, .background)] {
      for version in [IOSVersion.g2, .g3] {
        for (strict, state, calls) in [
          (true, AppState.notRunning, "-"), (true, .forceQuit, "-"), (false, .notRunning, "LO(p) DEB DRF(B)"),
          (false, .forceQuit, "-"),
        ] {
          var story = Story(version) { $0.strictSeed = strict }
          story.bring(to: state)
          story.push(payload, type)
          #expect(story.calls == calls, "\(state) strict \(strict)")
        }
      }
    }
  }

  @Test("D-081 the seed's silent push, alert \"\" and all, shows nothing anywhere and reaches code in front and behind")
  func silent() {
    for (state, calls) in [(AppState.active, "DRF(A)"), (.background, "DRF(B)"), (.suspended, "DRF(B)")] {
      var story = Story(.g2)
      story.bring(to: state)
      story.push(Sample.s0Silent, .background)
      #expect(story.calls == calls)
      #expect(story.letters == "-")
      #expect(story.callbacks.first?.arguments.userInfo?["key1"] == "value1")
    }
  }
}

@Suite("The seeds: the payload (S2)")
struct PayloadSeedTests {
  @Test("D-085 a push informs the user whether or not the app is in front")
  func informs() {
    for state in AppState.allCases {
      var story = Story(.g3)
      story.bring(to: state)
      story.push(Sample.s2Titled)
      #expect(story.letters == "BCSN", "\(state)")
    }
  }

  @Test("D-086 headers: of all metadata the phone sees collapse id, expiration, priority and type by their effects")
  func headers() {
    var story = Story(.g3)
    story.push(Sample.k1, collapse: "score")
    story.push(Sample.k1, collapse: "score")
    story.push(Sample.k1, expires: story.now)
    #expect(story.centre == ["score"])
    #expect(story.said("it expired", "D-116"))
  }

  @Test("D-087 C-03 content-available does not make a visible push silent")
  func visibleAndWaking() {
    var story = Story(.g3)
    story.bring(to: .suspended)
    story.push(Sample.s2Visible)
    #expect(story.letters == "BCSN")
    #expect(story.calls == "DRF(B)")
  }

  @Test("D-088 D-089 the visible sample: titled, badge 3, default sound")
  func visibleSample() throws {
    var story = Story(.g3)
    story.push(Sample.s2Titled)
    let shown = try #require(story.shown.first)
    #expect(shown.heading == "重要提示")
    #expect(shown.body == "请及时查看最新活动信息。")
    #expect(shown.badge == 3)
    #expect(shown.sound == .system)
    #expect(story.badge == 3)
  }

  @Test("D-088 D-089 the silent sample: nothing to see, the app is told to sync")
  func silentSample() {
    var story = Story(.g3)
    story.bring(to: .suspended)
    story.push(Sample.s2Silent, .background)
    #expect(story.letters == "-")
    #expect(story.callbacks.first?.arguments.userInfo?["customData"] == ["task": "sync"])
  }

  @Test("D-090 not shown: the timeline says which reason it is")
  func whyNotShown() {
    var none = Story(.g3)
    none.push(["aps": ["category": "x"]])
    #expect(none.said("payload shows nothing", "D-117"))
    var denied = Story(.g3, allowed: false)
    denied.push(Sample.k1)
    #expect(denied.said("nothing shown", "D-034"))
    var front = Story(.g2)
    front.bring(to: .active)
    front.push(Sample.k1)
    #expect(front.said("in front", "D-100"))
    var focused = Story(.g3) { $0.focus = Focus() }
    focused.push(Sample.k1)
    #expect(focused.phone.timeline.contains { $0.rule == "D-264" && $0.what.name == "withheld" })
  }

  @Test("D-091 the phone shows the number that came, right or wrong")
  func badgeIsTheServers() {
    var story = Story(.g3)
    for number in [7, 3, 41] as [Int64] {
      story.push(["aps": ["badge": .number(JSONNumber(number))]])
      #expect(story.badge == Int(number))
    }
  }

  @Test("D-092 suspended alone does not prevent a wake; the six things that do, each with its reason")
  func notTriggered() {
    var plain = Story(.g3)
    plain.bring(to: .suspended)
    plain.push(Sample.s2Silent, .background)
    #expect(plain.calls == "DRF(B)")

    func reason(
      _ rule: Rule, _ words: String, state: AppState = .suspended, payload: JSONValue = Sample.s2Silent,
      app: AppDescription = .complete, _ adjust: (inout PhoneSettings) -> Void = { _ in }
    ) {
      var story = Story(.g3, app: app, adjust)
      story.bring(to: state)
      story.push(payload, .background)
      #expect(story.calls == "-", "\(words)")
      #expect(story.said(words, rule), "\(words)")
    }
    reason("D-171", "not the number 1", payload: ["aps": ["content-available": 2]])
    reason("D-170", "no background mode", app: .complete { $0.backgroundModes = [] })
    reason("D-170", "no fetch callback", app: .complete { $0.implements.remove(.didReceiveRemoteNotificationFetch) })
    reason("D-110", "swiped the app away", state: .forceQuit)
    reason("D-180", "Background App Refresh is off") { $0.backgroundRefresh = false }
    reason("D-180", "Background App Refresh is off", app: .complete { $0.backgroundRefresh = false })
    reason("D-179", "Low Power Mode") { $0.lowPower = true }
    reason("D-175", "used up") { $0.silentBudgetPerHour = 0 }
  }
}
