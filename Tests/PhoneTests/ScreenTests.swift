import Basics
import Phone
import PushPayload
import Testing

@Suite("The screen")
struct ScreenTests {
  @Test("a fresh phone: clock, icons, nothing else")
  func fresh() {
    let story = Story(.g3)
    let screen = story.phone.screen
    #expect(screen.clock == "09:00")
    #expect(!screen.isLocked)
    #expect(screen.icons.map(\.name) == ["News"] && screen.icons.map(\.badge) == [0])
    #expect(screen.front == nil && screen.banners.isEmpty && screen.alert == nil && screen.prompt == nil)
    #expect(screen.centre.isEmpty && screen.lockScreen.isEmpty && !screen.isCentreOpen)
    #expect(screen.indicators.focus == nil && screen.indicators.isOnline && !screen.indicators.isMuted)
  }

  @Test("D-127 a banner hangs for bannerSeconds and stays in the centre; the newer one takes its place")
  func temporary() {
    var story = Story(.g3)
    let first = story.push(Sample.k1)
    #expect(story.phone.screen.banners.map(\.id) == [first])
    let banner = story.phone.screen.banners.first
    #expect(banner?.appName == "News" && banner?.heading == "New" && banner?.body == "Hello")
    let second = story.push(Sample.k1)
    #expect(story.phone.screen.banners.map(\.id) == [second])
    story.pass(.seconds(4))
    #expect(story.phone.screen.banners.map(\.id) == [second])
    story.pass(.seconds(1))
    #expect(story.phone.screen.banners.isEmpty)
    #expect(story.centre == [second, first])
    var longer = Story(.g3) { $0.bannerSeconds = 60 }
    longer.push(Sample.k1)
    longer.pass(.seconds(59))
    #expect(longer.phone.screen.banners.count == 1)
  }

  @Test("D-127 from iOS 11 on the style modal is a banner that stays until it is swiped away or the phone is locked")
  func persistent() {
    for event in [Phone.Event.flickAway(bundleID: Story.bundle), .closeAlert(bundleID: Story.bundle), .lock] {
      var story = Story(IOSVersion(11)) { $0.appearanceOfAlert = .modal }
      story.push(Sample.k1)
      let id = story.push(Sample.k1)
      story.pass(.hours(1))
      #expect(story.phone.screen.banners.count == 2)
      #expect(story.phone.screen.banners.first?.id == id)
      #expect(story.phone.screen.alert == nil)
      story.happens(event)
      if story.phone.isLocked { story.happens(.unlock) }
      #expect(story.phone.screen.banners.isEmpty)
      #expect(story.centre.count == 2)
    }
  }

  @Test("D-127 iOS 5–10 by style, iOS 3–4 always: a modal alert that stays until answered, with its buttons")
  func modal() {
    for version in [IOSVersion(4), IOSVersion(5), IOSVersion(10)] {
      var story = Story(version) { $0.appearanceOfAlert = .modal }
      story.push(["aps": ["alert": ["body": "Hi", "action-loc-key": "Answer"]]])
      story.push(["aps": ["alert": ["body": "Bye", "action-loc-key": .null]]])
      story.pass(.hours(1))
      #expect(story.phone.screen.alert?.notification.body == "Bye")
      #expect(story.phone.screen.alert?.buttons == ["Close"])
      #expect(story.phone.screen.banners.isEmpty)
      story.happens(.closeAlert(bundleID: Story.bundle))
      #expect(story.phone.screen.alert == nil)
      story.push(["aps": ["alert": ["body": "Hi", "action-loc-key": "Answer"]]])
      #expect(story.phone.screen.alert?.buttons == ["Close", "Answer"])
      story.happens(.closeAlert(bundleID: Story.bundle))
      story.push(["aps": ["alert": "Hi"]])
      #expect(story.phone.screen.alert?.buttons == ["Close", "View"])
    }
  }

  @Test("D-027 a banner whose app is not in the centre is gone when it goes")
  func bannerOnly() {
    var story = Story(.g3)
    story.user { $0.centre = false }
    let id = story.push(Sample.k1)
    #expect(story.letters == "BSN")
    #expect(story.phone.screen.banners.map(\.id) == [id])
    story.pass(.seconds(5))
    #expect(story.said("the banner went away", "D-127"))
    story.happens(.tap(bundleID: Story.bundle, id: nil))
    #expect(story.said("finds no notification", "D-151"))
  }

  @Test(
    "D-140 the lock screen lists what came while locked; unlocking moves it to the centre", arguments: [5, 9, 11, 17])
  func lockScreen(version: Int) {
    var story = Story(IOSVersion(version))
    let before = story.push(Sample.k1)
    story.happens(.lock)
    let id = story.push(Sample.k1)
    #expect(story.phone.screen.isLocked)
    #expect(story.phone.screen.lockScreen.flatMap(\.notifications).map(\.id) == [id])
    #expect(story.phone.screen.banners.isEmpty)
    story.happens(.unlock)
    #expect(story.phone.screen.lockScreen.isEmpty)
    #expect(story.centre == [id, before])
    story.happens(.lock)
    #expect(story.phone.screen.lockScreen.isEmpty)
  }

  @Test("D-140 D-027 what only the lock screen may list is gone after the unlock")
  func lockScreenOnly() {
    var story = Story(.g3)
    story.user { $0.centre = false }
    story.happens(.lock)
    story.push(Sample.k1)
    #expect(story.letters == "LWSN")
    story.happens(.unlock, .tap(bundleID: Story.bundle, id: nil))
    #expect(story.said("finds no notification", "D-151"))
  }

  @Test("D-027 each of the user's switches takes away exactly its part")
  func switches() {
    struct Row {
      var name: String
      var open: String
      var locked: String
      var adjust: (inout Phone.UserSettings) -> Void
    }
    let rows = [
      Row(name: "none", open: "BCSN", locked: "LWCSN") { _ in },
      Row(name: "alerts off", open: "CSN", locked: "LWCSN") { $0.alert = false },
      Row(name: "style none", open: "CSN", locked: "LWCSN") { $0.style = PhoneSettings.AlertStyle.none },
      Row(name: "lock screen off", open: "BCSN", locked: "CSN") { $0.lockScreen = false },
      Row(name: "centre off", open: "BSN", locked: "LWSN") { $0.centre = false },
      Row(name: "sound off", open: "BCN", locked: "LWCN") { $0.sound = false },
      Row(name: "badge off", open: "BCS", locked: "LWCS") { $0.badge = false },
      Row(name: "not allowed", open: "-", locked: "-") { $0.allowed = false },
    ]
    for version in [IOSVersion(5), .g2, .g3] {
      for row in rows {
        for (locked, letters) in [(false, row.open), (true, row.locked)] {
          var story = Story(version)
          story.user(row.adjust)
          if locked { story.happens(.lock) }
          story.push(Sample.k1)
          #expect(story.letters == letters, "\(row.name), iOS \(version), locked \(locked)")
        }
      }
    }
  }

  @Test("D-027 in front too: without banners by style or switch willPresent's banner does not come")
  func switchesInFront() {
    for adjust in [
      { $0.style = PhoneSettings.AlertStyle.none }, { $0.alert = false },
    ] as [(inout Phone.UserSettings) -> Void] {
      var story = Story(.g3)
      story.user(adjust)
      story.bring(to: .active)
      story.push(Sample.k1)
      #expect(story.letters == "CSN")
    }
  }

  @Test("D-013 the prompt, with the words of its time")
  func prompt() {
    for (version, text, button) in [
      (IOSVersion(6), "“News” Would Like to Send You Push Notifications", "OK"),
      (.g2, "“News” Would Like to Send You Notifications", "OK"),
      (.g3, "“News” Would Like to Send You Notifications", "Allow"),
    ] {
      var story = Story(version, allowed: false)
      story.happens(.launch(bundleID: Story.bundle), .app(bundleID: Story.bundle, .askAndRegister(.usual)))
      #expect(story.phone.screen.front?.bundleID == Story.bundle)
      #expect(story.phone.screen.prompt?.text == text)
      #expect(story.phone.screen.prompt?.buttons == ["Don’t Allow", button])
      story.happens(.answerPrompt(allow: true))
      #expect(story.phone.screen.prompt == nil)
    }
  }

  @Test("indicators, badges on icons, the app in front, the open centre")
  func rest() {
    var story = Story(.g3) {
      $0.focus = Focus("Work")
      $0.lowPower = true
      $0.mute = true
      $0.online = false
    }
    story.happens(.networkChanged(online: true))
    story.push(Sample.k1)
    story.happens(.networkChanged(online: false), .launch(bundleID: Story.bundle), .openCentre)
    #expect(!story.phone.screen.indicators.isAirplane)
    story.happens(.airplane(true))
    let screen = story.phone.screen
    #expect(screen.indicators.isAirplane)
    #expect(screen.indicators.focus == "Work")
    #expect(screen.indicators.isLowPower && screen.indicators.isMuted && !screen.indicators.isOnline)
    #expect(screen.icons.map(\.badge) == [3])
    #expect(screen.front?.name == "News")
    #expect(screen.isCentreOpen)
    #expect(screen.centre.flatMap(\.notifications).count == 1)
  }

  @Test("D-124 the centre opens over the home screen too; home, an entry or an icon closes it")
  func centreAtHome() {
    for event in [
      Phone.Event.home, .closeCentre, .tap(bundleID: Story.bundle, id: nil), .launch(bundleID: Story.bundle),
    ] {
      var story = Story(.g3)
      story.push(Sample.k1)
      story.happens(.openCentre)
      #expect(story.phone.screen.isCentreOpen)
      story.happens(event)
      #expect(!story.phone.screen.isCentreOpen)
      if event != .home, event != .closeCentre { #expect(story.state == .active) }
    }
  }

  @Test("D-243 an entry shows its buttons, by the registered category")
  func buttons() {
    var story = Story(.g3)
    let reply = NotificationAction(id: "reply", title: "Reply")
    story.happens(
      .launch(bundleID: Story.bundle),
      .app(bundleID: Story.bundle, .setCategories([NotificationCategory(id: "chat", actions: [reply])])), .home)
    story.push(["aps": ["alert": "Hi", "category": "chat"]])
    story.push(["aps": ["alert": "Hi", "category": "unknown"]])
    #expect(story.phone.screen.centre.flatMap(\.notifications).map(\.actions) == [[], [reply]])
  }

  @Test("D-243 a banner shows the first two buttons, pulled open or in the centre up to ten")
  func bannerButtons() {
    var story = Story(.g3)
    let actions = (1...12).map { NotificationAction(id: "a\($0)") }
    story.happens(
      .launch(bundleID: Story.bundle),
      .app(bundleID: Story.bundle, .setCategories([NotificationCategory(id: "chat", actions: actions)])), .home)
    let id = story.push(["aps": ["alert": "Hi", "category": "chat"]])
    func count(_ screen: Screen) -> [Int?] {
      [screen.banners.first?.actions.count, screen.centre.first?.notifications.first?.actions.count]
    }
    #expect(count(story.phone.screen) == [2, 10])
    story.happens(.expand(bundleID: Story.bundle, id: id))
    #expect(count(story.phone.screen) == [10, 10] && story.phone.screen.expanded?.actions.count == 10)
  }

  @Test("D-186 a call is on the screen, locked or not, until it is over", arguments: [false, true])
  func call(locked: Bool) {
    var story = Story(.g3, app: .calling)
    story.bring(to: .suspended, locked: locked)
    story.push(["aps": [:], "caller": "Lin"], .voip)
    #expect(story.phone.screen.call?.caller == "Lin")
    #expect(story.phone.screen.banners.isEmpty)
    story.happens(.declineCall)
    #expect(story.phone.screen.call == nil)
  }

  @Test("D-127 iOS 7: a local notification needs no permission, and hangs as a banner like any other")
  func localWithoutPermission() {
    var story = Story(IOSVersion(7), allowed: false)
    story.bring(to: .active)
    story.schedule(after: .seconds(20))
    story.happens(.home)
    story.pass(.seconds(20))
    #expect(story.phone.screen.banners.map(\.body) == ["is ready"])
  }

  @Test("D-204 D-258 a notification that is pulled open is on the screen until it is closed or used")
  func expanded() {
    for event in [Phone.Event.collapse(bundleID: Story.bundle), .tap(bundleID: Story.bundle, id: nil)] {
      var story = Story(.g3)
      let id = story.push(Sample.k1)
      story.happens(.expand(bundleID: Story.bundle, id: nil))
      #expect(story.phone.screen.expanded?.id == id)
      #expect(story.phone.screen.expanded?.body == "Hello")
      story.happens(event)
      #expect(story.phone.screen.expanded == nil)
    }
  }

  @Test("D-126 the screen hides what the previews hide")
  func hidden() {
    var story = Story(.g3)
    story.happens(.lock)
    story.push(Sample.k1)
    #expect(story.phone.screen.lockScreen.flatMap(\.notifications).map(\.body) == ["Notification"])
    story.happens(.unlock)
    #expect(story.phone.screen.centre.flatMap(\.notifications).map(\.body) == ["Hello"])
  }

  @Test("D-025 a provisional entry offers Keep and Turn Off")
  func provisional() {
    var story = Story(.g3, allowed: false)
    story.happens(
      .launch(bundleID: Story.bundle),
      .app(bundleID: Story.bundle, .requestAuthorization([.alert, .sound, .provisional])), .home)
    story.push(Sample.k1)
    #expect(story.phone.screen.centre.flatMap(\.notifications).map(\.choices) == [["Keep", "Turn Off"]])
  }

  @Test("before iOS 5 there is no centre; iOS 4 lists nothing")
  func noCentre() {
    var story = Story(IOSVersion(4))
    story.push(Sample.k1)
    #expect(story.phone.screen.centre.isEmpty)
    #expect(story.phone.screen.alert != nil)
  }
}
