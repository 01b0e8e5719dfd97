import Basics
import Phone
import PushPayload
import Testing

extension Story {
  mutating func act(_ acts: AppAct...) {
    for act in acts { happens(.app(bundleID: Self.bundle, act)) }
  }

  /// Schedules by the call of this phone's iOS, to come after `span`.
  mutating func schedule(after span: Instant.Span, badge: Int64? = 3, repeats: Bool = false) {
    var content = NotificationContent(
      title: "Tea", body: "is ready", badge: badge, sound: "default", userInfo: ["k": 1])
    guard phone.settings.iosVersion.major >= 10 else {
      var old = UILocalNotification(alertBody: "is ready", fireDate: now + .seconds(1) + span)
      old.applicationIconBadgeNumber = Int(badge ?? 0)
      old.soundName = "default"
      old.userInfo = ["k": 1]
      if repeats { old.repeatInterval = .minute }
      return act(.scheduleLocalNotification(old))
    }
    content.threadID = "kitchen"
    act(.addNotification(LocalNotification(id: "tea", content: content, trigger: .interval(span, repeats: repeats))))
  }

  var pending: [String] { phone.pending(of: Self.bundle).map(\.id) }

  func request(_ id: String, _ trigger: NotificationTrigger? = nil, _ content: NotificationContent? = nil) -> AppAct {
    .addNotification(LocalNotification(id: id, content: content ?? NotificationContent(body: "b"), trigger: trigger))
  }
}

let localGenerations = [IOSVersion(4, 3), .g1, .g2, .g3]

@Suite("Local notifications")
struct LocalNotificationTests {
  // MARK: D-270, D-277: it comes

  @Test(
    "D-270 D-277 it comes at its time, without network, in every state of the app behind",
    arguments: localGenerations, [AppState.notRunning, .forceQuit, .suspended])
  func comes(version: IOSVersion, state: AppState) {
    for locked in [false, true] {
      var story = Story(version) { $0.previews = .always }
      story.happens(.launch(bundleID: Story.bundle))
      story.schedule(after: .minutes(10))
      story.happens(.networkChanged(online: false), .home)
      switch state {
      case .notRunning: story.happens(.endBySystem(bundleID: Story.bundle))
      case .forceQuit: story.happens(.forceQuit(bundleID: Story.bundle))
      case .suspended, .background, .inactive, .active: story.pass(.seconds(10))
      }
      if locked { story.happens(.lock) }
      story.forget()
      story.pass(.minutes(10))
      let hasCentre = version.major >= 5
      #expect(story.letters == (locked ? "LW" : "B") + (hasCentre ? "C" : "") + "SN")
      #expect(story.calls == "-")
      #expect(story.badge == 3)
      #expect(story.rules.isSuperset(of: ["D-270", "D-277"]))
      #expect(story.shown.first?.body == "is ready")
    }
  }

  @Test(
    "D-277 a tap: launched with the local key on G1 and G2, told when suspended; G3 the response",
    arguments: [
      (IOSVersion.g1, AppState.notRunning, "LO(local) DBA"), (.g1, .suspended, "WEF DRL(I) DBA"),
      (.g2, .forceQuit, "LO(local) DBA"), (.g2, .suspended, "WEF DRL(I) DBA"),
      (.g3, .notRunning, "LO(∅) DRR(default) DBA"), (.g3, .suspended, "WEF DRR(default) DBA"),
    ])
  func tap(version: IOSVersion, state: AppState, calls: String) {
    var story = Story(version)
    story.happens(.launch(bundleID: Story.bundle))
    story.schedule(after: .minutes(10))
    story.happens(.home)
    story.happens(
      state == .suspended
        ? .suspend(bundleID: Story.bundle)
        : state == .forceQuit ? .forceQuit(bundleID: Story.bundle) : .endBySystem(bundleID: Story.bundle))
    story.pass(.minutes(10))
    story.forget()
    story.happens(.tap(bundleID: Story.bundle, id: nil))
    #expect(story.calls == calls)
    #expect(story.callbacks.contains { $0.arguments.userInfo == ["k": 1] })
    #expect(story.centre.isEmpty)
    #expect(story.badge == 3)
  }

  @Test("D-002 D-277 without a delegate a newer iOS tells as an older one")
  func withoutDelegate() {
    var story = Story(.g3, app: .complete { $0.delegate = .never })
    story.happens(.launch(bundleID: Story.bundle))
    story.schedule(after: .minutes(1))
    story.happens(.home, .endBySystem(bundleID: Story.bundle))
    story.pass(.minutes(1))
    story.forget()
    story.happens(.tap(bundleID: Story.bundle, id: nil))
    #expect(story.calls == "LO(local) DBA")
  }

  // MARK: D-276: in front

  @Test(
    "D-276 in front nothing is shown: the app is told; G3 its delegate decides",
    arguments: [
      (IOSVersion.g1, "DRL(A)", "-"), (.g2, "DRL(A)", "-"), (.g3, "WP", "BCSN"),
    ])
  func inFront(version: IOSVersion, calls: String, shown: String) {
    var story = Story(version)
    story.happens(.launch(bundleID: Story.bundle))
    story.schedule(after: .minutes(1))
    story.forget()
    story.pass(.minutes(1))
    #expect(story.calls == calls)
    #expect(story.letters == shown)
    #expect(story.badge == (shown == "-" ? 0 : 3))
    #expect(story.rules.contains("D-276"))
  }

  @Test("D-124 D-276 under the open centre the old call comes in state inactive")
  func underCentre() {
    var story = Story(.g2)
    story.happens(.launch(bundleID: Story.bundle))
    story.schedule(after: .minutes(1))
    story.happens(.openCentre)
    story.forget()
    story.pass(.minutes(1))
    #expect(story.calls == "DRL(I)")
  }

  @Test("D-276 without any callback it is told as lost, and nothing traps")
  func nobody() {
    var story = Story(.g2, app: .complete { $0.implements.remove(.didReceiveLocalNotification) })
    story.happens(.launch(bundleID: Story.bundle))
    story.schedule(after: .minutes(1))
    story.pass(.minutes(1))
    #expect(story.said("implements no callback", "D-002"))
  }

  @Test("D-280 it never passes the service extension, and no fetch callback comes for it")
  func noExtension() {
    var story = Story(.g3, app: .complete { $0.serviceExtension = ServiceExtension() })
    story.happens(.launch(bundleID: Story.bundle), .home)
    story.happens(.launch(bundleID: Story.bundle))
    story.schedule(after: .minutes(1))
    story.happens(.home)
    story.forget()
    story.pass(.minutes(1))
    #expect(story.calls == "-")
    #expect(story.letters == "BCSN")
  }

  // MARK: D-271, D-274: when

  @Test("D-271 an interval of nothing, or a short repeating one, raises an exception that ends the app")
  func badIntervals() {
    for (span, repeats, reason) in [
      (Instant.Span.seconds(0), false, "greater than 0"), (.seconds(-5), true, "greater than 0"),
      (.seconds(59), true, "at least 60 if repeating"),
    ] {
      var story = Story(.g3)
      story.happens(.launch(bundleID: Story.bundle))
      story.act(story.request("a", .interval(span, repeats: repeats)))
      #expect(story.said(reason, "D-271"))
      #expect(story.state == .notRunning)
      #expect(story.pending.isEmpty)
    }
  }

  @Test("D-271 a repeating interval comes again and again, and its next date moves")
  func repeatingInterval() {
    var story = Story(.g3)
    story.happens(.launch(bundleID: Story.bundle))
    story.schedule(after: .seconds(60), repeats: true)
    story.happens(.home)
    let first = story.phone.nextTriggerDate(of: "tea", in: Story.bundle)
    story.pass(.seconds(70))
    let second = story.phone.nextTriggerDate(of: "tea", in: Story.bundle)
    #expect(second == first.map { $0 + .seconds(60) })
    story.pass(.minutes(3))
    #expect(story.shown.count == 4)
    #expect(story.pending == ["tea"])
    #expect(story.centre == ["tea"])
  }

  @Test("D-274 no trigger means at once, on every generation", arguments: localGenerations)
  func atOnce(version: IOSVersion) {
    var story = Story(version)
    story.bring(to: .background)
    if version.major >= 10 {
      story.act(story.request("now"))
    } else {
      story.act(.scheduleLocalNotification(UILocalNotification(alertBody: "b")))
      story.act(.scheduleLocalNotification(UILocalNotification(alertBody: "past", fireDate: Instant(seconds: 0))))
      var later = UILocalNotification(alertBody: "now", fireDate: story.now + .days(9))
      later.repeatInterval = nil
      story.act(.presentLocalNotificationNow(later))
    }
    #expect(story.shown.count == (version.major >= 10 ? 1 : 3))
    #expect(story.pending.isEmpty)
  }

  @Test("D-274 both a date and a region raise an exception")
  func bothTriggers() {
    var story = Story(.g2)
    story.happens(.launch(bundleID: Story.bundle))
    var both = UILocalNotification(alertBody: "b", fireDate: story.now + .hours(1))
    both.region = Region("home")
    story.act(.scheduleLocalNotification(both))
    #expect(story.said("either a fire date or a region", "D-274"))
    #expect(story.state == .notRunning)
  }

  // MARK: D-275: how many

  @Test(
    "D-275 at most 64 wait: the soonest, or the newest; a repeating one counts one", arguments: [IOSVersion.g2, .g3])
  func limit(version: IOSVersion) {
    for kept in PhoneSettings.PendingKept.allCases {
      var story = Story(version) { $0.pendingKept = kept }
      story.happens(.launch(bundleID: Story.bundle))
      for number in 0..<70 {
        let date = story.now + .days(100 - Int64(number))
        if version.major >= 10 {
          story.act(story.request("n\(number)", .interval(date - story.now)))
        } else {
          var old = UILocalNotification(alertBody: "\(number)", fireDate: date)
          old.repeatInterval = .day
          story.act(.scheduleLocalNotification(old))
        }
      }
      #expect(story.pending.count == 64)
      // the first ones come last
      #expect(story.told.filter { $0.rule == "D-275" }.count == 6)
      if version.major >= 10 { #expect(story.pending.first == "n6") }
    }
    var story = Story(version)
    story.happens(.launch(bundleID: Story.bundle))
    for number in 0..<70 {
      let date = story.now + .days(Int64(number) + 1)
      story.act(
        version.major >= 10
          ? story.request("n\(number)", .interval(date - story.now))
          : .scheduleLocalNotification(UILocalNotification(alertBody: "\(number)", fireDate: date)))
    }
    #expect(story.pending.count == 64)
    if version.major >= 10 { #expect(story.pending.last == "n63") }
  }

  // MARK: D-278: badges

  @Test("D-278 a badge alone, then the icon: launched without payload", arguments: [IOSVersion.g1, .g2, .g3])
  func badgeOnly(version: IOSVersion) {
    var story = Story(version)
    story.happens(.launch(bundleID: Story.bundle))
    if version.major >= 10 {
      story.act(story.request("b", .interval(.minutes(1)), NotificationContent(badge: 7)))
    } else {
      var old = UILocalNotification(fireDate: story.now + .minutes(1))
      old.applicationIconBadgeNumber = 7
      story.act(.scheduleLocalNotification(old))
    }
    story.happens(.home, .endBySystem(bundleID: Story.bundle))
    story.pass(.minutes(2))
    #expect(story.badge == 7)
    #expect(story.centre.isEmpty)
    story.forget()
    story.happens(.launch(bundleID: Story.bundle))
    #expect(story.calls == "LO(∅) DBA")
  }

  @Test("D-278 badge 0 of the old class changes nothing; of the new content it removes, nil leaves")
  func badgeZero() {
    for (badge, left) in [(Int64?.none, 5), (0, 0), (2, 2)] {
      var story = Story(.g3)
      story.happens(.launch(bundleID: Story.bundle))
      story.act(.setBadge(5), story.request("b", .interval(.minutes(1)), NotificationContent(body: "b", badge: badge)))
      story.happens(.home)
      story.pass(.minutes(1))
      #expect(story.badge == left)
    }
    var story = Story(.g2)
    story.happens(.launch(bundleID: Story.bundle))
    story.act(
      .setBadge(5), .scheduleLocalNotification(UILocalNotification(alertBody: "b", fireDate: story.now + .minutes(1))))
    story.happens(.home)
    story.pass(.minutes(1))
    #expect(story.badge == 5)
  }

  @Test("D-233 a local badge of −1 hides the number and keeps what is listed", arguments: [IOSVersion.g2, .g3])
  func minusOne(version: IOSVersion) {
    var story = Story(version)
    story.bring(to: .background)
    story.push(Sample.k1)
    if version.major >= 10 {
      story.act(story.request("b", nil, NotificationContent(badge: -1)))
    } else {
      var old = UILocalNotification()
      old.applicationIconBadgeNumber = -1
      story.act(.presentLocalNotificationNow(old))
    }
    #expect(story.badge == 0)
    #expect(story.centre.count == 1)
  }
}
