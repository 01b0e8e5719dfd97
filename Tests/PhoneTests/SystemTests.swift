import Basics
import Phone
import PushPayload
import Testing

@Suite("Launch reasons, memory, prepared processes")
struct LaunchTests {
  @Test("D-155 D-158 the timeline tells why a process starts")
  func reasons() {
    var icon = Story(.g3)
    icon.happens(.launch(bundleID: Story.bundle))
    #expect(icon.said("launched: the user opens the app", "D-155"))
    var tapped = Story(.g2)
    tapped.push(Sample.k1)
    tapped.happens(.tap(bundleID: Story.bundle, id: nil))
    #expect(tapped.said("launched: the user used a notification", "D-130"))
    var woken = Story(.g3)
    woken.push(Sample.k3, .background)
    #expect(woken.said("launched in the background: a push wakes the app", "D-107"))
  }

  @Test("D-162 memory: the suspended app left longest ago goes first, without a word; then those that execute behind")
  func memory() {
    var story = Story(.g3)
    let other = "com.example.other"
    story.happens(.installApp(AppDescription(bundleID: other)))
    story.happens(.launch(bundleID: Story.bundle), .launch(bundleID: other), .home)
    story.pass(.seconds(10))
    story.forget()
    story.happens(.terminateForMemory(bundleID: nil))
    #expect(story.state == .notRunning)
    #expect(story.phone.state(of: other) == .suspended)
    #expect(story.calls == "-")
    story.happens(.terminateForMemory(bundleID: nil))
    #expect(story.phone.state(of: other) == .notRunning)
    story.happens(.launch(bundleID: Story.bundle))
    story.forget()
    story.happens(.terminateForMemory(bundleID: nil))
    #expect(story.state == .active, "not the app in front")
    story.happens(.home, .terminateForMemory(bundleID: nil))
    #expect(story.calls == "WRA DEB willTerminate", "it was executing")
    #expect(story.state == .notRunning)
  }

  @Test("D-162 D-107 ended for memory is not force-quit: the next silent push starts it")
  func memoryIsNotForceQuit() {
    for version in [IOSVersion(7), .g2, .g3] {
      var story = Story(version)
      story.bring(to: .suspended)
      story.happens(.terminateForMemory(bundleID: Story.bundle))
      story.push(Sample.k3, .background)
      #expect(story.calls == "LO(p) DEB DRF(B)")
    }
  }

  @Test("D-163 willTerminate only if it executes, in every generation; scenes or not", arguments: [false, true])
  func willTerminate(scenes: Bool) {
    for version in [IOSVersion(4), .g1, .g2, .g3] {
      for (state, told) in [
        (AppState.notRunning, false), (.suspended, false), (.background, true), (.inactive, true), (.active, true),
      ] where state != .inactive || version.major >= 5 {
        var story = Story(version, app: .complete { $0.hasSceneManifest = scenes })
        story.bring(to: state)
        story.happens(.forceQuit(bundleID: Story.bundle))
        #expect(story.calls.contains("willTerminate") == told, "iOS \(version), \(state)")
        #expect(story.state == .forceQuit)
      }
    }
  }

  @Test("D-165 a prepared process: no call, still not running for every table; only from iOS 15 on")
  func prewarm() {
    for (version, prepared) in [(IOSVersion(14, 8, 1), false), (IOSVersion(15), true), (.g3, true)] {
      var story = Story(version)
      story.happens(.prewarm(bundleID: Story.bundle))
      #expect(story.calls == "-")
      #expect(story.state == .notRunning)
      #expect(story.said("a process is prepared", "D-165") == prepared)
      story.push(Sample.k1)
      #expect(story.rules.contains("D-108"))
      story.happens(.launch(bundleID: Story.bundle))
      #expect(story.calls == "LO(∅) DBA")
      #expect(story.said("was prepared before", "D-165") == prepared)
    }
    var swiped = Story(.g3)
    swiped.bring(to: .forceQuit)
    swiped.happens(.prewarm(bundleID: Story.bundle))
    swiped.push(Sample.k3, .background)
    #expect(swiped.calls == "-")
    #expect(swiped.state == .forceQuit)
  }
}

@Suite("Lock, passcode, restart")
struct RestartTests {
  @Test("D-139 a failed authentication: still locked, what was used goes on waiting; then it opens")
  func failed() {
    for version in [IOSVersion.g1, .g2, .g3] {
      var story = Story(version)
      story.bring(to: .suspended, locked: true)
      story.push(Sample.k1)
      story.forget()
      story.happens(.tap(bundleID: Story.bundle, id: nil), .failUnlock)
      #expect(story.calls == "-")
      #expect(story.phone.isLocked)
      #expect(story.said("is not recognised", "D-139"))
      story.happens(.unlock)
      #expect(story.calls.hasPrefix("WEF") && story.calls.hasSuffix("DBA"))
    }
  }

  @Test("D-139 without a passcode using a notification on the lock screen opens at once")
  func noPasscode() {
    var story = Story(.g3) { $0.passcode = false }
    story.bring(to: .suspended, locked: true)
    story.push(Sample.k1)
    story.forget()
    story.happens(.tap(bundleID: Story.bundle, id: nil))
    #expect(story.calls == "WEF DRR(default) DBA")
    #expect(!story.phone.isLocked)
    story.happens(.lock, .failUnlock)
    #expect(story.said("needs no passcode", "D-139"))
  }

  @Test("D-185 after a restart before the first unlock: shown, but background launches wait for the unlock")
  func firstUnlock() {
    for (payload, type, letters) in [(Sample.k3, PushType.background, "-"), (Sample.k2, .alert, "LWCSN")] {
      for version in [IOSVersion(7), .g2, .g3] {
        var story = Story(version)
        story.happens(.restart)
        #expect(story.phone.isBeforeFirstUnlock)
        story.forget()
        story.push(payload, type)
        #expect(story.calls == "-", "iOS \(version)")
        #expect(story.letters == letters)
        #expect(story.said("before the first unlock", "D-185"))
        story.happens(.failUnlock)
        #expect(story.calls == "-")
        story.happens(.unlock)
        #expect(!story.phone.isBeforeFirstUnlock)
        #expect(story.calls == "LO(p) DEB DRF(B)")
        story.forget()
        story.happens(.lock)
        story.push(payload, type)
        #expect(story.calls == "DRF(B)", "locked again is another thing")
      }
    }
  }

  @Test("D-185 the newest waits; without passcode, or with the switch off, nothing waits")
  func exceptions() {
    var several = Story(.g3)
    several.happens(.restart)
    for number in 1...3 as ClosedRange<Int64> {
      several.push(["aps": ["content-available": 1], "n": .number(JSONNumber(number))], .background)
    }
    several.happens(.unlock)
    #expect(several.callbacks.last?.arguments.userInfo?["n"] == 3)
    #expect(several.callbacks.filter { $0.method == .didReceiveRemoteNotificationFetch }.count == 1)
    for adjust in [{ $0.passcode = false }, { $0.launchesWaitForFirstUnlock = false }]
      as [(inout PhoneSettings) -> Void]
    {
      var story = Story(.g3, adjust)
      story.happens(.restart)
      story.forget()
      story.push(Sample.k3, .background)
      #expect(story.calls == "LO(p) DEB DRF(B)")
    }
    var open = Story(.g3) { $0.passcode = false }
    open.happens(.restart)
    #expect(!open.phone.isBeforeFirstUnlock)
    #expect(open.phone.isLocked)
  }

  @Test("D-185 D-139 a notification used before the first unlock: what waited comes first, then the tap")
  func tapBeforeFirstUnlock() {
    var story = Story(.g3)
    story.happens(.restart)
    story.push(Sample.k2)
    story.happens(.tap(bundleID: Story.bundle, id: nil), .unlock)
    #expect(story.calls == "LO(p) DEB DRF(B) WEF DRR(default) DBA")
  }

  @Test("D-185 D-141 before the first unlock a button asks for the passcode, and clearing runs no code")
  func buttons() {
    var story = ActionTests.story(.g3, .suspended)
    story.happens(.restart)
    story.forget()
    story.happens(.action(bundleID: Story.bundle, id: nil, action: "later", text: nil))
    #expect(story.calls == "-")
    story.happens(.unlock)
    #expect(story.calls == "LO(∅) DEB DRR(later)")
    var cleared = ActionTests.story(.g3, .suspended)
    cleared.happens(.restart)
    cleared.forget()
    cleared.happens(.dismiss(bundleID: Story.bundle, id: nil))
    #expect(cleared.calls == "-")
    #expect(cleared.said("before the first unlock", "D-185"))
  }

  @Test("D-163 D-185 a restart ends the force-quit, but the wake still waits for the unlock")
  func forceQuit() {
    var story = Story(.g3)
    story.bring(to: .forceQuit)
    story.happens(.restart)
    story.push(Sample.k3, .background)
    #expect(story.calls == "-")
    story.happens(.unlock)
    #expect(story.calls == "LO(p) DEB DRF(B)")
  }
}

@Suite("Network")
struct NetworkTests {
  @Test("D-116 a captive network lets nothing from APNs through, as no network does")
  func captive() {
    for network in [Network.none, .captive] {
      var story = Story(.g3)
      story.happens(.setNetwork(network))
      #expect(story.effects == [.connectionChanged(online: false)])
      #expect(!story.phone.isOnline)
      story.effects = []
      let id = story.push(Sample.k1)
      #expect(story.letters == "-")
      #expect(story.effects == [.notReached(pushID: id)])
      story.happens(.setNetwork(.online))
      #expect(story.effects.last == .connectionChanged(online: true))
    }
  }

  @Test("D-116 from one way of being offline to another the connection does not change")
  func sameForAPNs() {
    var story = Story(.g3) { $0.online = false }
    story.happens(.setNetwork(.captive), .setNetwork(.none))
    #expect(story.effects.isEmpty)
    #expect(story.said("wants a login first", "D-116"))
  }

  @Test("D-041 D-116 registering behind a captive network: silence until the login")
  func registering() {
    var story = Story(.g3, app: RegistrationTests.registering())
    story.happens(.setNetwork(.captive), .launch(bundleID: Story.bundle))
    #expect(!story.calls.contains("didFail"))
    story.effects = []
    story.happens(.setNetwork(.online))
    #expect(story.effects == [.connectionChanged(online: true), RegistrationTests.request()])
  }

  @Test("D-116 airplane mode takes the network away and gives it back; Wi-Fi may be on in it")
  func airplane() {
    var story = Story(.g3)
    story.happens(.airplane(true))
    #expect(story.phone.isInAirplaneMode && !story.phone.isOnline)
    story.happens(.airplane(false))
    #expect(story.phone.isOnline)
    #expect(story.effects == [.connectionChanged(online: false), .connectionChanged(online: true)])
    story.happens(.airplane(true), .setNetwork(.online))
    #expect(story.phone.isOnline, "Wi-Fi in airplane mode")
    story.happens(.airplane(false))
    #expect(story.phone.isOnline)
    var captive = Story(.g3)
    captive.happens(.setNetwork(.captive), .airplane(true), .airplane(false))
    #expect(captive.phone.network == .captive)
  }
}

@Suite("iOS updates and time")
struct UpdateTests {
  @Test("D-006 an update restarts the phone, ends all apps, and keeps token, permission and entries")
  func update() {
    var story = Story(IOSVersion(17, 1, 1), app: RegistrationTests.registering())
    story.happens(
      .launch(bundleID: Story.bundle), .tokenIssued(bundleID: Story.bundle, token: RegistrationTests.token), .home)
    let id = story.push(Sample.k1)
    story.forget()
    story.happens(.updateIOS(IOSVersion(17, 1, 2)))
    #expect(story.phone.settings.iosVersion == IOSVersion(17, 1, 2))
    #expect(story.said("updates iOS 17.1.1 to 17.1.2", "D-006"))
    #expect(story.state == .notRunning)
    #expect(story.phone.isLocked && story.phone.isBeforeFirstUnlock)
    #expect(story.phone.token(of: Story.bundle) == RegistrationTests.token)
    #expect(story.centre == [id])
    story.happens(.unlock)
    story.forget()
    story.push(Sample.k3, .background)
    #expect(story.calls.hasPrefix("LO(p)"), "permission and mode are as before")
  }

  @Test("D-006 the new iOS calls what it knows: 9.3.5 to 10.0, 12.4 to 13.0")
  func generations() {
    var older = Story(IOSVersion(9, 3, 5))
    older.happens(.updateIOS(IOSVersion(10)), .unlock)
    older.bring(to: .active)
    older.push(Sample.k1)
    #expect(older.calls == "WP")
    var scenes = Story(IOSVersion(12, 4), app: SceneTests.app())
    scenes.happens(.updateIOS(IOSVersion(13)), .unlock)
    scenes.forget()
    scenes.happens(.launch(bundleID: Story.bundle))
    #expect(scenes.calls.contains("SWC(∅) sceneWEF sceneDBA"))
  }

  @Test("D-006 a phone does not go back; the same version is no update")
  func noWayBack() {
    var story = Story(IOSVersion(17, 1, 2))
    story.bring(to: .active)
    story.happens(.updateIOS(IOSVersion(17, 1, 1)), .updateIOS(IOSVersion(17, 1, 2)))
    #expect(story.phone.settings.iosVersion == IOSVersion(17, 1, 2))
    #expect(story.state == .active)
  }

  @Test("D-006 changing the settings to another iOS is an update")
  func byChange() {
    var story = Story(IOSVersion(16))
    story.happens(.change(PhoneSettings(iosVersion: .g3)))
    #expect(story.phone.settings.iosVersion == .g3)
    #expect(story.phone.isLocked)
  }

  @Test("versions with three numbers are read, told and compared")
  func versions() throws {
    let point = try #require(IOSVersion("8.2.1"))
    #expect(point.description == "8.2.1")
    #expect(IOSVersion(8, 2) < point && point < IOSVersion(8, 3))
    #expect(IOSVersion("17")?.description == "17.0")
    for wrong in ["", "17.", "a", "1.2.3.4", "-1", "8.-2", "8.2.-1"] { #expect(IOSVersion(wrong) == nil, "\(wrong)") }
  }

  @Test("time that passes backwards moves no timer")
  func backwards() {
    var story = Story(.g3, app: BackgroundTaskTests.app(seconds: nil))
    story.bring(to: .active)
    story.happens(.home)
    let left = story.now
    story.now = left - .days(1)
    story.happens(.timePassed)
    #expect(story.state == .background)
    #expect(story.phone.due == left + .seconds(5))
    story.now = left
    story.pass(.seconds(30))
    #expect(story.calls == "WRA DEB taskExpired")
  }
}
