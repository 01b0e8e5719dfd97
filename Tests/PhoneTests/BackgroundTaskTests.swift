import Basics
import Phone
import PushPayload
import Testing

@Suite("Background tasks")
struct BackgroundTaskTests {
  /// Begins a task when it leaves the screen.
  static func app(seconds: Int64?, ends: Bool = true) -> AppDescription {
    .complete {
      $0.script[.didEnterBackground] = [.beginBackgroundTask(seconds: seconds)]
      if ends { $0.script[.backgroundTaskExpired] = [.endBackgroundTask] }
    }
  }

  static let versions: [(version: IOSVersion, seconds: Int64)] = [
    (IOSVersion(4), 600), (IOSVersion(6, 1, 3), 600), (IOSVersion(7), 180), (IOSVersion(12, 5, 7), 180),
    (IOSVersion(13), 30), (IOSVersion(17, 0, 1), 30),
  ]

  @Test("D-172 the time after leaving the screen: 600 s to iOS 6, 180 s to iOS 12, 30 s from 13; then the handler")
  func budget() {
    for (version, seconds) in Self.versions {
      var story = Story(version, app: Self.app(seconds: nil))
      story.bring(to: .active)
      story.happens(.home)
      story.pass(.milliseconds(seconds * 1000 - 1))
      #expect(story.state == .background, "iOS \(version)")
      #expect(!story.calls.contains("taskExpired"))
      story.pass(.milliseconds(1))
      #expect(story.calls.hasSuffix("taskExpired"), "iOS \(version)")
      #expect(story.state == .suspended, "the task was ended in its handler")
      #expect(story.faults.isEmpty)
    }
  }

  @Test("D-172 the setting backgroundTaskSeconds; the timeline opens with it")
  func setting() {
    var story = Story(.g3, app: Self.app(seconds: nil)) { $0.backgroundTaskSeconds = 7 }
    #expect(story.phone.timeline.first?.what.words.contains("backgroundTaskSeconds 7000") == true)
    story.bring(to: .active)
    story.happens(.home)
    story.pass(.seconds(7))
    #expect(story.state == .suspended)
    #expect(story.calls == "WRA DEB taskExpired")
  }

  @Test("D-172 D-174 a task that is not ended in its handler ends the app: not running, not force-quit")
  func notEnded() {
    for handler in [true, false] {
      var app = Self.app(seconds: nil, ends: false)
      if !handler { app.implements.remove(.backgroundTaskExpired) }
      var story = Story(.g3, app: app)
      story.bring(to: .active)
      story.happens(.home)
      story.pass(.seconds(30))
      #expect(story.state == .notRunning)
      #expect(story.faults.map(\.rule) == ["D-172"])
      #expect(story.calls == (handler ? "WRA DEB taskExpired" : "WRA DEB"), "no willTerminate")
      story.forget()
      story.push(Sample.k3, .background)
      #expect(story.calls == "LO(p) DEB DRF(B)", "it may be woken again")
    }
  }

  @Test("D-172 work that is done in time: the task ends, the app is suspended")
  func done() {
    var story = Story(.g3, app: Self.app(seconds: 20))
    story.bring(to: .active)
    story.happens(.home)
    story.pass(.seconds(19))
    #expect(story.state == .background)
    story.pass(.seconds(1))
    #expect(story.state == .suspended)
    #expect(story.calls == "WRA DEB")
    #expect(story.said("ends background task 1", "D-172"))
  }

  @Test("D-172 in front a task has no limit, and the time begins anew each time the app leaves")
  func front() {
    var story = Story(.g3)
    story.bring(to: .active)
    story.happens(.app(bundleID: Story.bundle, .beginBackgroundTask(seconds: nil)))
    story.pass(.hours(1))
    #expect(story.calls == "-")
    story.happens(.home)
    story.pass(.seconds(20))
    story.happens(.launch(bundleID: Story.bundle), .home)
    story.pass(.seconds(29))
    #expect(story.state == .background)
    story.pass(.seconds(1))
    #expect(story.state == .notRunning)
  }

  @Test("D-172 several tasks: one limit, a handler each; only when all are ended the app stays")
  func several() {
    var app = AppDescription.complete
    app.script[.didEnterBackground] = [.beginBackgroundTask(seconds: nil), .beginBackgroundTask(seconds: nil)]
    app.script[.backgroundTaskExpired] = [.endBackgroundTask]
    var story = Story(.g3, app: app)
    story.bring(to: .active)
    story.happens(.home)
    story.pass(.seconds(10))
    story.happens(.app(bundleID: Story.bundle, .beginBackgroundTask(seconds: 5)))
    story.pass(.seconds(30))
    #expect(story.state == .suspended)
    let expired = story.callbacks.filter { $0.method == .backgroundTaskExpired }.map(\.arguments)
    #expect(expired == [.backgroundTask(1), .backgroundTask(2)], "the third was done in time")
  }

  @Test("D-172 iOS 7: a wake that begins a task runs for minutes after its handler; iOS 17 for the rest of 30 s")
  func wakes() {
    for (version, alive) in [(IOSVersion(7), AppState.background), (.g3, .suspended)] {
      var app = AppDescription.complete
      app.script[.didReceiveRemoteNotificationFetch] = [.beginBackgroundTask(seconds: nil)]
      app.script[.backgroundTaskExpired] = [.endBackgroundTask]
      var story = Story(version, app: app)
      story.bring(to: .suspended)
      story.push(Sample.k3, .background)
      #expect(story.state == .background)
      story.pass(.seconds(120))
      #expect(story.state == alive, "iOS \(version)")
      story.pass(.seconds(60))
      #expect(story.state == .suspended)
    }
  }

  @Test("D-172 the handler of a fetch has its own 30 s, task or not")
  func fetchHandler() {
    var app = AppDescription.complete
    app.fetchAnswer = .never
    app.script[.didReceiveRemoteNotificationFetch] = [.beginBackgroundTask(seconds: nil)]
    var story = Story(IOSVersion(7, 1, 2), app: app)
    story.bring(to: .suspended)
    story.push(Sample.k3, .background)
    story.pass(.seconds(30))
    #expect(story.state == .notRunning)
    #expect(story.rules.contains("D-174"))
  }

  @Test("D-172 the system does not suspend an app with a task; ending it does, at once; ending none is a fault")
  func kept() {
    var story = Story(.g3, app: Self.app(seconds: nil))
    story.bring(to: .active)
    story.happens(.home, .suspend(bundleID: Story.bundle))
    #expect(story.state == .background)
    #expect(story.said("keeps the app running", "D-172"))
    story.happens(.app(bundleID: Story.bundle, .endBackgroundTask))
    #expect(story.state == .suspended)
    story.happens(.launch(bundleID: Story.bundle), .app(bundleID: Story.bundle, .endBackgroundTask))
    #expect(story.faults.map(\.rule) == ["D-172"])
  }

  @Test("D-172 D-006 before iOS 4 there are no background tasks")
  func tooOld() {
    var story = Story(IOSVersion(3, 1, 3))
    story.bring(to: .active)
    story.happens(.app(bundleID: Story.bundle, .beginBackgroundTask(seconds: 5)))
    #expect(story.said("needs iOS 4.0", "D-006"))
  }

  @Test("D-172 due tells when the time is over; tasks die with the process")
  func due() {
    var story = Story(.g3, app: Self.app(seconds: nil))
    story.bring(to: .active)
    story.happens(.home)
    let left = story.now
    story.pass(.seconds(6))
    #expect(story.phone.due == left + .seconds(30))
    story.happens(.forceQuit(bundleID: Story.bundle))
    #expect(story.phone.due == nil)
    #expect(story.calls == "WRA DEB willTerminate", "it was executing")
  }
}

@Suite("Background App Refresh")
struct BackgroundRefreshTests {
  static let reading: Phone.Event = .app(bundleID: Story.bundle, .readBackgroundRefreshStatus)

  @Test("D-181 available; denied by the app's switch, the phone's, or Low Power Mode (D-179); restricted")
  func statuses() {
    let rows: [(String, (inout PhoneSettings) -> Void)] = [
      ("available", { _ in }), ("denied", { $0.backgroundRefresh = false }), ("denied", { $0.lowPower = true }),
      ("restricted", { $0.backgroundRefreshRestricted = true }),
      ("restricted", { ($0.backgroundRefreshRestricted, $0.backgroundRefresh) = (true, false) }),
    ]
    for (status, adjust) in rows {
      var story = Story(.g3, adjust)
      story.bring(to: .active)
      story.happens(Self.reading)
      #expect(story.said("backgroundRefreshStatus: \(status)", "D-181"))
    }
    var own = Story(.g3, app: .complete { $0.backgroundRefresh = false })
    own.bring(to: .active)
    own.happens(Self.reading)
    #expect(own.said("backgroundRefreshStatus: denied", "D-181"))
  }

  @Test("D-181 the status came with iOS 7, Low Power Mode with iOS 9")
  func versions() {
    for (version, words, rule) in [
      (IOSVersion(6, 1, 6), "needs iOS 7.0", "D-006"), (IOSVersion(8, 4, 1), "Status: available", "D-181"),
      (IOSVersion(9), "Status: denied", "D-181"),
    ] as [(IOSVersion, String, Rule)] {
      var story = Story(version) { $0.lowPower = true }
      story.bring(to: .active)
      story.happens(Self.reading)
      #expect(story.said(words, rule), "iOS \(version)")
    }
  }

  @Test("D-181 the change is told at once to an app that executes, and once to a suspended one when it executes again")
  func changes() {
    var story = Story(.g3)
    story.bring(to: .active)
    story.happens(.changeBackgroundRefresh(bundleID: Story.bundle, false))
    #expect(story.calls == "refreshStatusDidChange")
    story.happens(.home, .suspend(bundleID: Story.bundle))
    story.forget()
    var settings = story.phone.settings
    settings.lowPower = true
    story.happens(.change(settings))
    #expect(story.calls == "-", "denied already")
    settings.lowPower = false
    story.happens(.change(settings), .changeBackgroundRefresh(bundleID: Story.bundle, true))
    #expect(story.calls == "-", "suspended")
    story.happens(.launch(bundleID: Story.bundle))
    #expect(story.calls == "refreshStatusDidChange WEF DBA")
    story.happens(.home, .suspend(bundleID: Story.bundle))
    story.forget()
    story.happens(
      .changeBackgroundRefresh(bundleID: Story.bundle, false), .changeBackgroundRefresh(bundleID: Story.bundle, true),
      .launch(bundleID: Story.bundle))
    #expect(story.calls == "WEF DBA", "off and on again: no other status")
  }

  @Test("D-180 D-181 the user's switch for one app keeps wakes from it, and from it alone")
  func perApp() {
    var story = Story(.g3)
    let other = "com.example.other"
    var second = AppDescription.complete
    second.bundleID = other
    story.happens(.installApp(second), .changeBackgroundRefresh(bundleID: Story.bundle, false))
    story.forget()
    story.push(Sample.k3, .background)
    #expect(story.calls == "-")
    #expect(story.said("Background App Refresh is off", "D-180"))
    story.happens(
      .push(DeliveredPayload(id: "o", bundleID: other, pushType: .background, bytes: Sample.k3.encoded())))
    #expect(story.calls == "LO(p) DEB DRF(B)")
  }

  @Test("D-180 D-181 a restricted phone wakes no app")
  func restricted() {
    var story = Story(.g3) { $0.backgroundRefreshRestricted = true }
    story.bring(to: .suspended)
    story.push(Sample.k3, .background)
    #expect(story.calls == "-")
  }

  @Test("D-179 before iOS 9 there is no Low Power Mode to hold a push")
  func oldLowPower() {
    for (version, woken) in [(IOSVersion(7, 1), true), (IOSVersion(11), false)] {
      var story = Story(version) { $0.lowPower = true }
      story.bring(to: .suspended)
      story.push(Sample.k3, .background)
      #expect((story.calls == "DRF(B)") == woken, "iOS \(version)")
    }
  }
}

@Suite("What a wake may do")
struct WakeWorkTests {
  @Test("D-183 a wake refreshes the UI, changes the page, downloads and fetches; the switcher shows the new page")
  func work() {
    var app = AppDescription.complete
    app.script[.didReceiveRemoteNotificationFetch] = [
      .fetchContent, .download("update-7"), .showPage("inbox"), .refreshUI,
    ]
    for version in [IOSVersion(7), .g2, .g3] {
      var story = Story(version, app: app)
      story.bring(to: .suspended)
      story.push(Sample.k7, .background)
      let acts = story.told.filter { $0.rule == "D-183" }.map(\.what.words)
      #expect(acts == ["fetching new content", "downloading update-7", "shows the page inbox", "refreshing its UI"])
      #expect(story.said("snapshot for the app switcher: the page inbox", "D-173"))
      #expect(story.phone.switcherPage(of: Story.bundle) == "inbox")
      #expect(story.letters == "-")
    }
  }

  @Test("D-173 D-183 without new data the switcher keeps its old picture")
  func noData() {
    var app = AppDescription.complete
    app.script[.didFinishLaunching] = [.showPage("home")]
    app.script[.didReceiveRemoteNotificationFetch] = [.showPage("inbox")]
    app.fetchResult = .noData
    var story = Story(.g3, app: app)
    story.happens(.launch(bundleID: Story.bundle), .home)
    story.pass(.seconds(5))
    #expect(story.phone.switcherPage(of: Story.bundle) == "home")
    story.push(Sample.k3, .background)
    #expect(story.phone.switcherPage(of: Story.bundle) == "home")
  }

  @Test("D-183 a wake may post a local notification, which is shown as any other", arguments: [IOSVersion(10), .g3])
  func postsLocally(version: IOSVersion) {
    var app = AppDescription.complete
    let content = NotificationContent(body: "3 new articles")
    app.script[.didReceiveRemoteNotificationFetch] = [.addNotification(LocalNotification(id: "new", content: content))]
    var story = Story(version, app: app)
    story.bring(to: .suspended)
    story.push(Sample.k3, .background)
    #expect(story.shown.map(\.body) == ["3 new articles"])
    #expect(story.centre == ["new"])
    #expect(story.state == .suspended)
  }

  @Test("D-183 without network the code runs, but what it loads fails")
  func offline() {
    var story = Story(.g3)
    story.bring(to: .background)
    story.happens(.setNetwork(.captive), .app(bundleID: Story.bundle, .download("update-7")))
    #expect(story.said("downloading update-7 fails: no network", "D-183"))
  }

  @Test("D-184 a woken app is in the background for its code, never in front", arguments: [IOSVersion(7), .g2, .g3])
  func stateInWake(version: IOSVersion) {
    for state in [AppState.suspended, .notRunning] {
      var story = Story(version)
      story.bring(to: state)
      story.push(Sample.k3, .background)
      #expect(story.callbacks.allSatisfy { $0.state == .background })
      #expect(!story.told.contains { $0.appState?.isFront == true })
    }
  }
}

@Suite("Newsstand")
struct NewsstandTests {
  @Test("D-188 D-106 a newsstand app of iOS 5–6: one push in 24 h would wake it; noted, not carried out")
  func newsstand() {
    for (version, noted) in [(IOSVersion(4, 3), false), (IOSVersion(5), true), (IOSVersion(6, 1, 3), true)] {
      var story = Story(version, app: .complete { $0.backgroundModes = [.newsstand] })
      story.bring(to: .suspended)
      story.push(Sample.k3, .background)
      #expect(story.said("would wake the newsstand app", "D-188") == noted, "iOS \(version)")
      story.forget()
      story.push(Sample.k3, .background)
      #expect(story.said("had its one push of these 24 hours", "D-188") == noted)
      story.pass(.hours(24))
      story.push(Sample.k3, .background)
      #expect(story.said("would wake the newsstand app", "D-188") == noted)
      #expect(story.calls == "-")
    }
  }

  @Test("D-188 other apps of that time are not woken, and from iOS 7 on the mode has no meaning")
  func others() {
    var plain = Story(.g1)
    plain.bring(to: .suspended)
    plain.push(Sample.k3, .background)
    #expect(!plain.rules.contains("D-188"))
    var newer = Story(.g2, app: .complete { $0.backgroundModes = [.newsstand] })
    newer.bring(to: .suspended)
    newer.push(Sample.k3, .background)
    #expect(newer.said("no background mode", "D-170"))
  }
}
