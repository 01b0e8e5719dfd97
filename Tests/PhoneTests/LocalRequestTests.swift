import Basics
import Phone
import PushPayload
import Testing

/// Leave, content, keeping, removing and replacing of what waits.
@Suite("Local notifications that wait")
struct LocalRequestTests {
  // MARK: D-279: permission and content

  @Test("D-279 without the user's leave a request is refused with UNErrorDomain 1")
  func refused() {
    for allowed in [nil, false, true] {
      var story = Story(.g3, allowed: false)
      if let allowed {
        var user = Phone.UserSettings()
        user.allowed = allowed
        story.happens(.changePermission(bundleID: Story.bundle, user))
      }
      story.happens(.launch(bundleID: Story.bundle))
      story.forget()
      story.act(story.request("a", .interval(.minutes(1))))
      let arguments = story.callbacks.map(\.arguments)
      #expect(arguments == [.completed(id: "a", allowed == true ? nil : .notificationsNotAllowed)])
      #expect(story.pending == (allowed == true ? ["a"] : []))
      if allowed != true { #expect(story.said("notificationsNotAllowed", "D-279")) }
    }
    #expect(NotificationError.notificationsNotAllowed.rawValue == 1)
  }

  @Test("D-279 a request that says nothing is refused with 1401, a calendar without components with 1400")
  func nothingToSay() {
    var story = Story(.g3)
    story.happens(.launch(bundleID: Story.bundle))
    story.forget()
    story.act(
      story.request("empty", nil, NotificationContent(userInfo: ["k": 1])),
      story.request("never", .calendar(CalendarPattern())))
    #expect(
      story.callbacks.map(\.arguments) == [
        .completed(id: "empty", .notificationInvalidNoContent), .completed(id: "never", .notificationInvalidNoDate),
      ])
    #expect(NotificationError.notificationInvalidNoContent.rawValue == 1401)
    #expect(NotificationError.notificationInvalidNoDate.rawValue == 1400)
  }

  @Test("D-256 an attachment that the system does not take refuses the request; a good one is shown and told")
  func attachments() {
    for (attachment, error) in [
      (NotificationAttachment(file: "a.png"), nil),
      (NotificationAttachment(file: "a.webp"), .attachmentUnrecognizedType),
      (NotificationAttachment(file: "a.png", bytes: 11 << 20), .attachmentInvalidFileSize),
      (NotificationAttachment(file: "a.png", bytes: 0), .attachmentCorrupt),
    ] as [(NotificationAttachment, NotificationError?)] {
      var story = Story(.g3)
      story.happens(.launch(bundleID: Story.bundle))
      story.forget()
      var content = NotificationContent(body: "Look")
      content.attachments = [NotificationAttachment(file: "good.mp3"), attachment]
      story.act(.addNotification(LocalNotification(id: "a", content: content)))
      #expect(story.callbacks.contains { $0.arguments == .completed(id: "a", error) })
      #expect(story.said("is refused", "D-256") == (error != nil))
      let told = story.callbacks.first { $0.method == .willPresent }
      guard case .notification(let notification)? = told?.arguments else {
        #expect(error != nil && told == nil)
        continue
      }
      #expect(notification.attachments == ["good.mp3", "a.png"])
      #expect(story.shown.first?.attachments == ["good.mp3", "a.png"])
    }
    #expect(NotificationAttachment.Flaw.allCases.map(\.code) == [101, 102, 105])
  }

  @Test("D-279 iOS 8 and 9 take it and show nothing; before, local notifications need nobody's leave")
  func olderPermission() {
    for (version, letters) in [(IOSVersion(8), "-"), (.g2, "-"), (IOSVersion(7, 1), "BCS"), (.g1, "BCS")] {
      var story = Story(version, allowed: false)
      story.happens(.launch(bundleID: Story.bundle))
      story.schedule(after: .minutes(1), badge: nil)
      story.happens(.home)
      story.pass(.minutes(2))
      #expect(story.letters == letters, "iOS \(version)")
      #expect(story.faults.isEmpty == (version.major < 8))
    }
    var off = Story(.g1, allowed: false)
    var user = Phone.UserSettings()
    user.allowed = false
    off.happens(.changePermission(bundleID: Story.bundle, user), .launch(bundleID: Story.bundle))
    off.schedule(after: .minutes(1))
    off.happens(.home)
    off.pass(.minutes(2))
    #expect(off.letters == "-")
  }

  @Test("D-279 only the granted types are shown")
  func grantedTypes() {
    var story = Story(.g3)
    var user = Phone.UserSettings()
    user.sound = false
    user.badge = false
    story.happens(.changePermission(bundleID: Story.bundle, user), .launch(bundleID: Story.bundle))
    story.schedule(after: .minutes(1))
    story.happens(.home)
    story.pass(.minutes(1))
    #expect(story.letters == "BC")
  }

  // MARK: D-280, D-235: keeping, removing, replacing

  @Test(
    "D-280 it survives the end of the app, a force-quit, a restart and an update of the app",
    arguments: localGenerations)
  func survives(version: IOSVersion) {
    let ends: [Phone.Event] = [
      .endBySystem(bundleID: Story.bundle), .forceQuit(bundleID: Story.bundle), .restart, .installApp(.complete),
    ]
    for end in ends {
      var story = Story(version)
      story.happens(.launch(bundleID: Story.bundle))
      story.schedule(after: .hours(1))
      story.happens(.home, end)
      story.forget()
      story.pass(.hours(1))
      #expect(story.shown.count == 1, "\(end)")
    }
  }

  @Test("D-280 it goes with the app")
  func deleted() {
    var story = Story(.g3)
    story.happens(.launch(bundleID: Story.bundle))
    story.schedule(after: .hours(1))
    story.happens(.uninstallApp(bundleID: Story.bundle), .installApp(.complete))
    #expect(story.pending.isEmpty)
    #expect(story.phone.due == nil)
  }

  @Test("D-280 removable by identifier or all; the code reads what waits")
  func removing() {
    var story = Story(.g3)
    story.happens(.launch(bundleID: Story.bundle))
    story.act(
      story.request("a", .interval(.hours(1))), story.request("b", .interval(.hours(2))),
      story.request("c", .interval(.hours(3))), .removePending(["b", "unknown"]))
    story.forget()
    story.act(.getPending)
    guard case .pending(let requests)? = story.callbacks.first?.arguments else {
      Issue.record("no answer")
      return
    }
    #expect(requests.map(\.id) == ["a", "c"])
    story.act(.removeAllPending)
    #expect(story.pending.isEmpty)
  }

  @Test("D-236 D-280 removing what is delivered leaves what waits, and the reverse")
  func deliveredAndPending() {
    var story = Story(.g3)
    story.bring(to: .active)
    story.act(story.request("shown"), story.request("waits", .interval(.hours(1))), .removeAllDelivered)
    #expect(story.pending == ["waits"])
    #expect(story.centre.isEmpty)
    story.act(story.request("shown"), .removeAllPending)
    #expect(story.pending.isEmpty)
    #expect(story.centre == ["shown"])
  }

  @Test(
    "D-237 D-280 cancelling on iOS 4–9: one like it, or all, those that are shown as well",
    arguments: [IOSVersion.g1, .g2])
  func cancelling(version: IOSVersion) {
    var story = Story(version)
    story.bring(to: .background)
    story.act(.beginBackgroundTask(seconds: nil))
    let tea = UILocalNotification(alertBody: "tea", fireDate: story.now + .hours(1))
    let soup = UILocalNotification(alertBody: "soup", fireDate: story.now + .hours(2))
    story.act(.scheduleLocalNotification(tea), .scheduleLocalNotification(soup), .cancelLocalNotification(tea))
    #expect(story.pending == ["local-2"])
    story.push(Sample.k1)
    story.act(.presentLocalNotificationNow(soup))
    #expect(story.centre.count == 2)
    story.act(.cancelAllLocalNotifications)
    #expect(story.pending.isEmpty)
    #expect(story.centre.count == 1)
  }

  @Test("D-235 the same identifier replaces: what waits in silence, what is shown with a new alert")
  func replacing() {
    var story = Story(.g3)
    story.bring(to: .active)
    story.act(story.request("a", .interval(.hours(1))), story.request("a", .interval(.hours(5))))
    #expect(story.pending == ["a"])
    story.pass(.hours(2))
    #expect(story.shown.isEmpty)
    story.act(story.request("b"), story.request("a"))
    #expect(story.centre == ["a", "b"])
    story.act(story.request("b"))
    #expect(story.centre == ["b", "a"])
    #expect(story.shown.count == 3)
  }

  @Test("D-245 the response tells the trigger and the date of delivery")
  func trigger() {
    var story = Story(.g3)
    story.happens(.launch(bundleID: Story.bundle))
    story.schedule(after: .minutes(1))
    story.happens(.home)
    story.pass(.minutes(1))
    let shownAt = story.told.last?.time
    story.forget()
    story.happens(.tap(bundleID: Story.bundle, id: "tea"))
    guard case .response(let response)? = story.callbacks.first(where: { $0.method == .didReceiveResponse })?.arguments
    else {
      Issue.record("no response")
      return
    }
    #expect(response.notification.trigger == .local(.interval(.minutes(1))))
    #expect(response.notification.trigger.className == "UNTimeIntervalNotificationTrigger")
    #expect(response.notification.identifier == "tea")
    #expect(response.notification.threadIdentifier == "kitchen")
    #expect(response.notification.date <= shownAt ?? story.now)
  }

  @Test("D-006 calls of another time are a fault: no requests before iOS 10, no local notifications before iOS 4")
  func otherTimes() {
    var old = Story(IOSVersion(3, 1))
    old.happens(.launch(bundleID: Story.bundle))
    old.act(.scheduleLocalNotification(UILocalNotification(alertBody: "b")))
    #expect(old.faults.count == 1)
    var story = Story(.g2)
    story.happens(.launch(bundleID: Story.bundle))
    story.act(story.request("a"), .removePending(["a"]))
    #expect(story.faults.count == 2)
    #expect(story.shown.isEmpty)
  }

  @Test("the older class still works on newer systems, and comes by the newer callbacks (D-006)")
  func bridged() {
    var story = Story(.g3)
    story.happens(.launch(bundleID: Story.bundle))
    story.act(.scheduleLocalNotification(UILocalNotification(alertBody: "b", fireDate: story.now + .minutes(1))))
    story.forget()
    story.pass(.minutes(1))
    #expect(story.calls == "WP")
  }

  @Test("an app that asks for another one in every callback comes to no end, but the phone does")
  func endless() {
    var app = AppDescription.complete
    app.script[.willPresent] = [
      .addNotification(LocalNotification(id: "x", content: NotificationContent(body: "again")))
    ]
    var story = Story(.g3, app: app)
    story.happens(.launch(bundleID: Story.bundle))
    story.act(story.request("x"))
    story.pass(.seconds(10))
    #expect(story.callbacks.count < 2_000)
    #expect(story.phone.due.map { $0 > story.now } ?? true)
    // and a minute's notification over ten years of time
    var leaping = Story(.g3)
    leaping.happens(.launch(bundleID: Story.bundle))
    leaping.schedule(after: .seconds(60), repeats: true)
    leaping.happens(.home)
    leaping.pass(.days(3_650))
    #expect(leaping.shown.count < 2_000)
    #expect(leaping.said("in one leap of time", "D-271"))
    leaping.forget()
    leaping.pass(.minutes(5))
    #expect(leaping.shown.count == 5)
  }
}
