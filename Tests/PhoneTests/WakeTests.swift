import Basics
import Phone
import PushPayload
import Testing

@Suite("Background execution")
struct WakeTests {
  @Test("D-170 the first condition missing is the reason told; permission is not among them")
  func firstMissing() {
    var app = AppDescription.complete
    app.backgroundModes = []
    app.implements.remove(.didReceiveRemoteNotificationFetch)
    app.backgroundRefresh = false
    var story = Story(.g3, app: app, allowed: false) { $0.lowPower = true }
    story.bring(to: .forceQuit)
    let reasons = [
      "no background mode", "no fetch callback", "swiped the app away", "Background App Refresh", "Low Power Mode",
    ]
    for reason in reasons {
      story.forget()
      story.push(Sample.k3, .background)
      #expect(story.told.contains { $0.what.words.contains(reason) }, "\(reason)")
      #expect(story.calls == "-")
      switch reason {
      case reasons[0]: app.backgroundModes = [.remoteNotification]
      case reasons[1]: app.implements.insert(.didReceiveRemoteNotificationFetch)
      case reasons[2]: break
      case reasons[3]: app.backgroundRefresh = true
      default: break
      }
      story.happens(.installApp(app))
      if reason != reasons[2], reason != reasons[3], reason != reasons[4] {
        story.happens(.forceQuit(bundleID: Story.bundle))
      }
    }
    story.happens(.change(PhoneSettings(iosVersion: .g3)))
    story.forget()
    story.push(Sample.k3, .background)
    #expect(story.calls == "LO(p) DEB DRF(B)", "and not denied permission")
  }

  @Test(
    "D-182 after a force-quit no wake, until the user opens the app or the phone restarts",
    arguments: [IOSVersion(7), .g2, .g3])
  func forceQuit(version: IOSVersion) {
    for restarts in [false, true] {
      for kind in [Sample.k3, Sample.k7] {
        var story = Story(version)
        story.bring(to: .forceQuit)
        story.push(kind, .background)
        #expect(story.calls == "-")
        if restarts {
          story.happens(.restart, .unlock)
        } else {
          story.happens(.launch(bundleID: Story.bundle), .home, .endBySystem(bundleID: Story.bundle))
        }
        story.forget()
        story.push(kind, .background)
        #expect(story.calls == "LO(p) DEB DRF(B)")
      }
    }
  }

  @Test("D-171 C23 only the number 1 wakes", arguments: [true, "1", 0, 2, .null] as [JSONValue])
  func onlyOne(value: JSONValue) {
    var story = Story(.g3)
    story.bring(to: .suspended)
    story.push(["aps": ["content-available": value]], .background)
    #expect(story.calls == "-")
    #expect(story.rules.contains("D-171"))
  }

  @Test("D-175 three wakes an hour and app, then one every twenty minutes; none counted under Xcode")
  func budget() {
    for (attached, woken) in [(false, 3), (true, 5)] {
      var story = Story(.g3) { $0.developerAttached = attached }
      story.bring(to: .suspended)
      for _ in 0..<5 { story.push(Sample.k3, .background) }
      #expect(story.callbacks.count == woken)
    }
    var story = Story(.g3)
    story.bring(to: .suspended)
    for _ in 0..<3 { story.push(Sample.k3, .background) }
    story.pass(.minutes(20))
    story.push(Sample.k3, .background)
    story.push(Sample.k3, .background)
    #expect(story.callbacks.count == 4)
    story.pass(.days(1))
    story.forget()
    for _ in 0..<5 { story.push(Sample.k3, .background) }
    #expect(story.callbacks.count == 3)
  }

  @Test("D-175 the daily power budget")
  func powerBudget() {
    var story = Story(.g3) { $0.powerBudgetPerDay = 1 }
    story.bring(to: .suspended)
    story.push(Sample.k3, .background)
    story.push(Sample.k3, .background)
    #expect(story.callbacks.count == 1)
    story.pass(.days(1))
    #expect(story.callbacks.count == 2, "the held one comes the next day")
  }

  @Test("D-176 C23 type background with priority 10 is told as throttled or dropped")
  func priority() {
    var story = Story(.g3)
    story.bring(to: .suspended)
    story.push(Sample.k3, .background, priority: .immediate)
    #expect(story.said("throttled or dropped", "D-176"))
  }

  @Test("D-177 one push is held, a newer one takes its place, ending the app loses it, time brings it")
  func held() {
    var story = Story(.g3)
    story.bring(to: .suspended)
    for number in 0..<6 {
      story.push(["aps": ["content-available": 1], "n": .number(JSONNumber(number))], .background)
    }
    #expect(story.said("a newer one takes its place", "D-177"))
    story.pass(.minutes(20))
    #expect(story.callbacks.last?.arguments.userInfo?["n"] == 5)
    story.push(Sample.k3, .background)
    story.forget()
    story.happens(.forceQuit(bundleID: Story.bundle))
    #expect(story.said("held, and the app was ended", "D-177"))
    story.pass(.hours(2))
    #expect(story.calls == "-")
  }

  @Test("D-178 a visible push is shown without a budget, only its wake is lost")
  func visibleIsNotThrottled() {
    var story = Story(.g3) { $0.silentBudgetPerHour = 0 }
    story.bring(to: .suspended)
    story.push(Sample.k2)
    #expect(story.letters == "BCSN")
    #expect(story.calls == "-")
    #expect(story.rules.contains("D-175"))
  }

  @Test("D-180 C-23 Background App Refresh off: blocks, but not on iOS 8–10; the switch decides")
  func refreshOff() {
    for (version, set, woken) in [
      (IOSVersion(7), nil, false), (IOSVersion(8), nil, true), (IOSVersion(10), nil, true), (.g3, nil, false),
      (.g3, false, true), (.g2, true, false),
    ] as [(IOSVersion, Bool?, Bool)] {
      var story = Story(version) {
        $0.backgroundRefresh = false
        $0.refreshOffBlocksPush = set
      }
      story.bring(to: .suspended)
      story.push(Sample.k3, .background)
      #expect((story.calls == "DRF(B)") == woken, "iOS \(version)")
    }
  }

  @Test("D-173 new data takes a new snapshot, the other results none")
  func results() {
    for result in AppDescription.FetchResult.allCases {
      var story = Story(.g3, app: .complete { $0.fetchResult = result })
      story.bring(to: .suspended)
      story.push(Sample.k3, .background)
      #expect(story.said("snapshot", "D-173") == (result == .newData))
    }
  }
}
