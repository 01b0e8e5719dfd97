import Basics
import Phone
import PushPayload
import Testing

@Suite("Badge and notification centre")
struct CentreTests {
  /// Two entries, badge 3, the app suspended.
  private func withTwo(_ version: IOSVersion, _ adjust: (inout PhoneSettings) -> Void = { _ in }) -> Story {
    var story = Story(version, adjust)
    story.bring(to: .suspended)
    story.push(Sample.k1)
    story.push(Sample.k1)
    story.forget()
    return story
  }

  private func set(_ number: Int) -> Phone.Event { .app(bundleID: Story.bundle, .setBadge(number)) }

  @Test("D-228 opening the app by its icon removes nothing", arguments: [IOSVersion.g1, .g2, .g3])
  func iconRemovesNothing(version: IOSVersion) {
    var story = withTwo(version)
    story.happens(.launch(bundleID: Story.bundle), .home)
    #expect(story.centre.count == 2)
    #expect(story.badge == 3)
  }

  @Test(
    "D-229 the seed's cure: badge 0 in every call that brings the app to front", arguments: [IOSVersion.g1, .g2, .g3])
  func cure(version: IOSVersion) {
    for method in [Callback.Method.didFinishLaunching, .willEnterForeground] {
      var story = Story(version, app: .complete { $0.script[method] = [.setBadge(0)] })
      if method == .willEnterForeground { story.bring(to: .suspended) }
      story.push(Sample.k1)
      story.push(Sample.k1)
      story.happens(.launch(bundleID: Story.bundle))
      #expect(story.centre.isEmpty)
      #expect(story.badge == 0)
    }
  }

  @Test("D-229 in DRN alone it is not enough: by the icon DRN does not come")
  func cureInDRNAlone() {
    var story = Story(.g1, app: .complete { $0.script[.didReceiveRemoteNotification] = [.setBadge(0)] })
    story.bring(to: .suspended)
    story.push(Sample.k1)
    story.push(Sample.k1)
    story.happens(.launch(bundleID: Story.bundle))
    #expect(story.centre.count == 2)
    story.happens(.home, .tap(bundleID: Story.bundle, id: nil))
    #expect(story.centre.isEmpty)
  }

  @Test("D-230 C-18 badge 0 removes all of the app, by its own call or pushed; the switch zeroClears")
  func zeroClears() {
    for version in [IOSVersion.g1, .g2, .g3] {
      for clears in [true, false] {
        var own = withTwo(version) { $0.zeroClears = clears }
        own.happens(.launch(bundleID: Story.bundle), set(0))
        #expect(own.centre.isEmpty == clears)
        #expect(own.badge == 0)
        var pushed = withTwo(version) { $0.zeroClears = clears }
        pushed.push(["aps": ["badge": 0]])
        #expect(pushed.centre.isEmpty == clears)
        #expect(pushed.badge == 0)
      }
    }
  }

  @Test("D-230 only that app's notifications")
  func onlyItsOwn() {
    var story = withTwo(.g3)
    let other = "com.example.other"
    story.happens(
      .installApp(AppDescription(bundleID: other)), .changePermission(bundleID: other, Phone.UserSettings()),
      .push(DeliveredPayload(id: "o", bundleID: other, bytes: Sample.k1.encoded())))
    story.push(["aps": ["badge": 0]])
    #expect(story.centre.isEmpty)
    #expect(story.phone.centre(of: other) == ["o"])
    #expect(story.phone.badge(of: other) == 3)
  }

  @Test(
    "D-231 0 and at once 3: all are removed nevertheless, the badge ends at 3",
    arguments: [IOSVersion.g1, .g2, .g3])
  func zeroThenThree(version: IOSVersion) {
    var story = withTwo(version)
    story.happens(.launch(bundleID: Story.bundle), set(0), set(3))
    #expect(story.centre.isEmpty)
    #expect(story.badge == 3)
  }

  @Test(
    "D-232 0 when it is 0: nothing up to iOS 9, hence 1 and then 0; newer ones clear anyway; the switch zeroNeedsChange"
  )
  func zeroOnZero() {
    for (version, needs, cleared) in [
      (IOSVersion.g1, nil, false), (.g2, nil, false), (.g3, nil, true), (.g3, true, false), (.g2, false, true),
    ] as [(IOSVersion, Bool?, Bool)] {
      var story = Story(version) { $0.zeroNeedsChange = needs }
      story.push(["aps": ["alert": "no badge"]])
      story.happens(.launch(bundleID: Story.bundle), set(0))
      #expect(story.centre.isEmpty == cleared, "iOS \(version)")
      story.happens(set(1), set(0))
      #expect(story.centre.isEmpty)
    }
  }

  @Test(
    "D-233 −1 by the app hides the number and keeps the entries; up to iOS 10 it cleared; the switch minusOneClears")
  func minusOne() {
    for (version, clears, entries) in [
      (IOSVersion.g2, nil, 0), (IOSVersion(10, 3), nil, 0), (IOSVersion(11), nil, 2), (.g3, nil, 2), (.g3, true, 0),
      (.g2, false, 2),
    ] as [(IOSVersion, Bool?, Int)] {
      var story = withTwo(version) { $0.minusOneClears = clears }
      story.happens(.launch(bundleID: Story.bundle), set(-1))
      #expect(story.badge == 0)
      #expect(story.centre.count == entries)
    }
  }

  @Test("D-233 C22 a pushed −1 is ignored; with pushedMinusOneClears it clears, as one report has it")
  func pushedMinusOne() {
    for (clears, badge, entries) in [(false, 3, 2), (true, 0, 0)] {
      var story = withTwo(.g3) { $0.pushedMinusOneClears = clears }
      story.push(["aps": ["badge": -1]])
      #expect(story.badge == badge)
      #expect(story.centre.count == entries)
    }
  }

  @Test(
    "D-234 removing entries, clearing them, opening the app: the badge stays",
    arguments: [IOSVersion.g1, .g2, .g3])
  func badgeStays(version: IOSVersion) {
    for event in [
      Phone.Event.clear(bundleID: Story.bundle, id: nil), .clear(bundleID: Story.bundle, id: "p1"),
      .tap(bundleID: Story.bundle, id: "p2"), .launch(bundleID: Story.bundle),
    ] {
      var story = withTwo(version)
      story.happens(event)
      #expect(story.badge == 3)
    }
    var story = withTwo(version)
    story.happens(.launch(bundleID: Story.bundle), .app(bundleID: Story.bundle, .removeAllDelivered))
    #expect(story.centre.isEmpty == (version == .g3))
    #expect(story.badge == 3)
  }

  @Test("D-235 the same identifier replaces: one entry, on top, alerted again", arguments: [IOSVersion.g1, .g2, .g3])
  func collapse(version: IOSVersion) {
    var story = Story(version)
    story.push(["aps": ["alert": "1:0", "sound": "default"]], collapse: "score")
    let other = story.push(["aps": ["alert": "other"]])
    story.forget()
    story.push(["aps": ["alert": "2:0", "sound": "default"]], collapse: "score")
    #expect(story.centre == ["score", other])
    #expect(story.letters == "BCS")
    #expect(story.shown.first?.body == "2:0")
    story.happens(.tap(bundleID: Story.bundle, id: "score"))
    #expect(story.centre == [other])
  }

  @Test("D-236 the app lists and removes what is in the centre, from iOS 10 on; unknown ids are ignored")
  func delivered() {
    var story = withTwo(.g3)
    story.happens(.launch(bundleID: Story.bundle), .app(bundleID: Story.bundle, .getDelivered))
    guard case .delivered(let notifications) = story.callbacks.last?.arguments else {
      Issue.record("no list")
      return
    }
    #expect(notifications.map(\.identifier) == ["p1", "p2"])
    story.happens(.app(bundleID: Story.bundle, .removeDelivered(["p1", "unknown"])))
    #expect(story.centre == ["p2"])
    story.happens(.app(bundleID: Story.bundle, .removeAllDelivered))
    #expect(story.centre.isEmpty)
    var old = withTwo(.g2)
    old.happens(.launch(bundleID: Story.bundle), .app(bundleID: Story.bundle, .removeAllDelivered))
    #expect(old.centre.count == 2)
    #expect(old.faults.map(\.rule) == ["D-236"])
  }

  @Test("D-236 a silent push that names a withdrawn push has the app remove that notification, and no other")
  func withdrawn() {
    var story = Story(
      .g3, app: .complete { $0.script[.didReceiveRemoteNotificationFetch] = [.removeWithdrawn] })
    for number in 1...2 {
      story.push(["aps": ["alert": "a"], "_j_msgid": .number(JSONNumber(100_000_000_000_000_000 + number))])
    }
    #expect(story.centre.sorted() == ["p1", "p2"])
    story.push(["aps": ["content-available": 1], "_j_withdraw": 100_000_000_000_000_001])
    #expect(story.centre == ["p2"])
    for strange: JSONValue in ["100000000000000002", 7, .null] {
      story.push(["aps": ["content-available": 1], "_j_withdraw": strange])
    }
    story.happens(.app(bundleID: Story.bundle, .removeWithdrawn))
    #expect(story.centre == ["p2"])
  }

  @Test("D-236 the list has date, request and content, oldest first; what is asked is done in the order of asking")
  func deliveredInOrder() throws {
    var story = Story(
      .g3,
      app: .complete {
        $0.script[.didBecomeActive] = [.getDelivered, .removeDelivered(["score"]), .getDelivered, .removeAllDelivered]
      })
    story.push(Sample.k1)
    let first = story.now
    story.push(
      [
        "aps": ["alert": ["title": "Goal", "subtitle": "2:0", "body": "Lin"], "thread-id": "t", "category": "c"],
        "k": 1,
      ],
      collapse: "score")
    let second = story.now
    story.happens(.launch(bundleID: Story.bundle))
    let lists = story.callbacks.compactMap { if case .delivered(let list) = $0.arguments { list } else { nil } }
    #expect(lists.map { $0.map(\.identifier) } == [["p1", "score"], ["p1"]])
    let both = try #require(lists.first)
    #expect(both.map(\.date) == [first, second])
    let score = try #require(both.last)
    #expect([score.title, score.subtitle, score.body] == ["Goal", "2:0", "Lin"])
    #expect(score.threadIdentifier == "t" && score.categoryIdentifier == "c" && score.userInfo["k"] == 1)
    #expect(score.trigger == .push)
    #expect(story.centre.isEmpty)
  }

  @Test("D-237 before iOS 10 an app can list or remove no remote notification; badge 0 is the only way")
  func oldApps() {
    for version in [IOSVersion.g1, .g2] {
      for act in [AppAct.getDelivered, .removeDelivered(["p1"]), .removeAllDelivered] {
        var story = withTwo(version)
        story.happens(.launch(bundleID: Story.bundle), .app(bundleID: Story.bundle, act))
        #expect(story.faults.map(\.rule) == ["D-236"])
        #expect(story.centre.count == 2)
        story.happens(set(0))
        #expect(story.centre.isEmpty)
      }
    }
  }

  @Test("D-238 setBadgeCount answers with an error for a negative number and without permission for badges")
  func badgeCount() {
    for (number, allowed, badge, error) in [
      (5, true, 5, nil), (0, true, 0, nil), (-1, true, 3, 1600), (.min, true, 3, 1600), (5, false, 3, 1),
      (0, false, 3, 1),
    ] as [(Int, Bool, Int, Int?)] {
      var story = withTwo(IOSVersion(16))
      story.user { $0.badge = allowed }
      story.happens(.launch(bundleID: Story.bundle), .app(bundleID: Story.bundle, .setBadgeCount(number)))
      #expect(story.badge == badge)
      #expect(story.centre.isEmpty == (badge == 0))
      guard let last = story.callbacks.last, last.method == .badgeCountAnswer else {
        Issue.record("no answer for \(number)")
        continue
      }
      if let error {
        guard case .failure("UNErrorDomain", error, _) = last.arguments else {
          Issue.record("another error for \(number)")
          continue
        }
      } else {
        #expect(last.arguments == .none)
      }
    }
    var old = withTwo(IOSVersion(15))
    old.happens(.launch(bundleID: Story.bundle), .app(bundleID: Story.bundle, .setBadgeCount(5)))
    #expect(old.badge == 3)
    #expect(old.faults.map(\.rule) == ["D-006"])
  }

  @Test("D-238 applicationIconBadgeNumber without permission for badges: no effect from iOS 8 on")
  func badgeNumberWithoutPermission() {
    for (version, badge) in [(IOSVersion(7), 9), (.g2, 3), (.g3, 3)] {
      var story = withTwo(version)
      story.user { $0.badge = false }
      story.happens(.launch(bundleID: Story.bundle), set(9))
      #expect(story.badge == badge)
    }
  }

  @Test("D-153 an entry stays when its apns-expiration passes, also for a year")
  func entriesDoNotExpire() {
    var story = Story(.g3)
    story.push(Sample.k1, expires: story.now + .hours(1))
    story.pass(.days(365))
    #expect(story.centre == ["p1"])
    #expect(story.phone.due == nil)
  }

  @Test("D-239 a reinstalled app has no badge and no entries", arguments: [IOSVersion.g1, .g2, .g3])
  func reinstall(version: IOSVersion) {
    var story = withTwo(version)
    story.happens(.uninstallApp(bundleID: Story.bundle), .installApp(.complete))
    #expect(story.badge == 0)
    #expect(story.centre.isEmpty)
  }
}
