import Basics
import Phone
import PushPayload
import Testing

@Suite("Installed, updated, offloaded, restored")
struct InstallationTests {
  static let token = RegistrationTests.token

  /// With a token, an entry in the centre and a badge.
  private func used(_ version: IOSVersion = .g3, _ adjust: (inout PhoneSettings) -> Void = { _ in }) -> Story {
    var story = Story(version, app: RegistrationTests.registering(), adjust)
    story.happens(
      .launch(bundleID: Story.bundle), .tokenIssued(bundleID: Story.bundle, token: Self.token), .home,
      .suspend(bundleID: Story.bundle))
    story.push(Sample.k1, id: "kept")
    story.forget()
    return story
  }

  @Test("D-040 an update of the app keeps token, permission, entries and badge; the process ends")
  func appUpdate() {
    for version in [IOSVersion.g1, .g2, .g3] {
      var story = used(version)
      story.happens(.installApp(RegistrationTests.registering()))
      #expect(story.state == .notRunning)
      #expect(story.phone.token(of: Story.bundle) == Self.token)
      #expect(story.centre == ["kept"])
      #expect(story.badge == 3)
      #expect(story.effects.isEmpty)
      story.push(Sample.k1)
      #expect(story.letters == "BCSN", "still allowed")
    }
  }

  @Test(
    "D-239 D-023 deleted and installed again: badge 0, nothing in the centre, and the prompt by the rule of its iOS")
  func reinstall() {
    for (version, hours, prompts) in [
      (IOSVersion(6, 1), 1, false), (IOSVersion(9, 3, 5), 23, false), (IOSVersion(9, 3, 5), 25, true),
      (IOSVersion(10), 1, true), (.g3, 1, true),
    ] as [(IOSVersion, Int64, Bool)] {
      var story = used(version)
      story.happens(.uninstallApp(bundleID: Story.bundle))
      story.pass(.hours(hours))
      story.happens(.installApp(RegistrationTests.registering()))
      #expect(story.badge == 0)
      #expect(story.centre == [])
      story.happens(.launch(bundleID: Story.bundle))
      #expect((story.phone.promptedApp != nil) == prompts, "iOS \(version) after \(hours) h")
    }
  }

  @Test("D-045 offloaded: icon, data and permission stay; to APNs and the centre it is gone")
  func offload() {
    var story = used()
    story.happens(.offloadApp(bundleID: Story.bundle))
    #expect(story.effects == [.tokenAbandoned(bundleID: Story.bundle, token: Self.token, keepsWorking: false)])
    #expect(story.phone.bundleIDs == [Story.bundle])
    #expect(story.centre == [])
    #expect(story.badge == 0)
    story.push(Sample.k2)
    #expect(story.letters == "-")
    #expect(story.said("the app is offloaded", "D-045"))
    story.forget()
    story.happens(.launch(bundleID: Story.bundle))
    #expect(story.calls == "-", "its icon only fetches it back")
    #expect(story.said("gets the offloaded app back", "D-045"))
    story.happens(.launch(bundleID: Story.bundle))
    #expect(story.phone.promptedApp == nil, "the answer is among what stayed")
    #expect(story.effects == [RegistrationTests.request(fresh: true)], "D-044: a new token")
  }

  @Test("D-045 the switch offloadedShowsPushes: the token stays good, shown, never woken; a tap fetches the app back")
  func offloadShows() {
    var story = used { $0.offloadedShowsPushes = true }
    story.happens(.offloadApp(bundleID: Story.bundle))
    #expect(story.effects.isEmpty)
    story.push(Sample.k2)
    #expect(story.letters == "BCSN")
    #expect(story.calls == "-")
    story.happens(.tap(bundleID: Story.bundle, id: nil))
    #expect(story.calls == "-")
    #expect(story.said("gets the offloaded app back", "D-045"))
    story.forget()
    story.push(Sample.k2)
    #expect(story.calls == "LO(p) DEB DRF(B)")
  }

  @Test("D-045 D-114 no code of an offloaded app runs, for VoIP and silent pushes neither")
  func offloadedRunsNothing() {
    for (payload, type) in [(Sample.k1, PushType.voip), (Sample.k3, .background)] {
      var story = used { $0.offloadedShowsPushes = true }
      story.happens(.offloadApp(bundleID: Story.bundle))
      story.push(payload, type)
      #expect(story.calls == "-")
      #expect(story.rules.contains("D-045"))
    }
  }

  @Test("D-045 offloading came with iOS 11; getting the app back needs the network")
  func offloadLimits() {
    var old = used(IOSVersion(10, 3, 4))
    old.happens(.offloadApp(bundleID: Story.bundle))
    #expect(old.phone.token(of: Story.bundle) == Self.token)
    var offline = used(IOSVersion(11))
    offline.happens(.offloadApp(bundleID: Story.bundle), .setNetwork(.captive), .launch(bundleID: Story.bundle))
    #expect(offline.said("no network to download it", "D-045"))
    offline.happens(.setNetwork(.online), .reinstallOffloaded(bundleID: Story.bundle))
    offline.forget()
    offline.happens(.launch(bundleID: Story.bundle))
    #expect(offline.calls.hasPrefix("LO(∅)"))
  }

  @Test(
    "D-044 D-023 restored from a backup, to this phone or a new one: new token, new prompt, nothing in the centre",
    arguments: [false, true], [IOSVersion.g1, .g2, .g3])
  func restore(toNewPhone: Bool, version: IOSVersion) {
    var story = used(version)
    story.happens(.restoreFromBackup(toNewPhone: toNewPhone))
    #expect(
      story.effects == [
        .tokenAbandoned(bundleID: Story.bundle, token: Self.token, keepsWorking: false),
        RegistrationTests.request(fresh: true),
      ])
    #expect(story.phone.token(of: Story.bundle) == nil)
    #expect(story.centre == [])
    #expect(story.badge == 0)
    #expect(story.state == .notRunning)
    #expect(story.phone.isBeforeFirstUnlock)
    story.happens(.tokenIssued(bundleID: Story.bundle, token: [1, 2]), .unlock)
    story.forget()
    story.happens(.launch(bundleID: Story.bundle))
    #expect(story.phone.promptedApp == Story.bundle)
  }

  @Test("D-044 after a restore didRegister comes unasked, at the first launch; the switch turns that off")
  func unasked() {
    for (told, calls) in [(true, "LO(∅) DBA didRegister"), (false, "LO(∅) DBA")] {
      var story = Story(.g3, app: .complete) { $0.registersAfterRestore = told }
      story.happens(.launch(bundleID: Story.bundle), .app(bundleID: Story.bundle, .registerForRemoteNotifications))
      story.happens(.tokenIssued(bundleID: Story.bundle, token: Self.token), .home)
      story.happens(.restoreFromBackup(toNewPhone: true))
      #expect(story.effects.contains(RegistrationTests.request(fresh: true)) == told)
      if told { story.happens(.tokenIssued(bundleID: Story.bundle, token: [9])) }
      story.happens(.unlock)
      story.forget()
      story.happens(.launch(bundleID: Story.bundle))
      #expect(story.calls == calls)
      #expect(story.rules.contains("D-044") == told)
    }
  }

  @Test("D-044 an app that asks by itself after a restore is told once")
  func asksItself() {
    var story = used()
    story.happens(.restoreFromBackup(toNewPhone: false), .tokenIssued(bundleID: Story.bundle, token: [9]), .unlock)
    story.forget()
    story.happens(.launch(bundleID: Story.bundle), .answerPrompt(allow: true))
    #expect(story.callbacks.filter { $0.method == .didRegisterForRemoteNotifications }.count == 1)
  }

  @Test("D-044 D-041 restored offline: the token is asked for when there is a network")
  func restoredOffline() {
    var story = used()
    story.happens(.setNetwork(.none), .restoreFromBackup(toNewPhone: false))
    #expect(!story.effects.contains(RegistrationTests.request(fresh: true)))
    story.happens(.setNetwork(.online))
    #expect(story.effects.contains(RegistrationTests.request(fresh: true)))
  }

  @Test("D-044 an app that had no token is told nothing after a restore")
  func neverRegistered() {
    var story = Story(.g3)
    story.happens(.restoreFromBackup(toNewPhone: true), .unlock)
    #expect(story.effects.isEmpty)
    story.forget()
    story.happens(.launch(bundleID: Story.bundle))
    #expect(story.calls == "LO(∅) DBA")
  }
}

@Suite("The token, point release by point release")
struct PointReleaseTests {
  static let versions = [
    IOSVersion(3, 1, 3), IOSVersion(6, 1, 6), IOSVersion(7), IOSVersion(7, 1, 2), IOSVersion(8), IOSVersion(8, 4, 1),
    IOSVersion(9), IOSVersion(9, 3, 6), IOSVersion(10), IOSVersion(10, 3, 4), IOSVersion(12, 5, 7), IOSVersion(13),
    IOSVersion(16, 7, 11), IOSVersion(17), IOSVersion(18, 5),
  ]

  @Test(
    "D-032 D-033 without permission a token: not to iOS 7, with the background mode on 8–9, always from 10",
    arguments: versions)
  func withoutPermission(version: IOSVersion) {
    for modes in [[], [.remoteNotification]] as [Set<AppDescription.BackgroundMode>] {
      var story = Story(version, app: .complete { $0.backgroundModes = modes }, allowed: false)
      story.bring(to: .active)
      story.happens(.app(bundleID: Story.bundle, .askAndRegister(.usual)), .answerPrompt(allow: false))
      story.happens(.tokenIssued(bundleID: Story.bundle, token: RegistrationTests.token))
      let told = version.major >= 10 || (version.major >= 8 && !modes.isEmpty)
      #expect(story.callbacks.contains { $0.method == .didRegisterForRemoteNotifications } == told, "\(modes)")
    }
  }

  @Test("D-033 Background App Refresh off takes the token from an app without permission, on iOS 8–9 only")
  func refreshOff() {
    for version in Self.versions where version.major >= 8 {
      var story = Story(version, allowed: false) { $0.backgroundRefresh = false }
      story.bring(to: .active)
      story.happens(.app(bundleID: Story.bundle, .registerForRemoteNotifications))
      story.happens(.tokenIssued(bundleID: Story.bundle, token: RegistrationTests.token))
      #expect((story.calls == "didRegister") == (version.major >= 10), "iOS \(version)")
    }
  }

  @Test("D-040 D-041 D-046 with permission: the token comes, the same again, another told again", arguments: versions)
  func withPermission(version: IOSVersion) {
    var story = Story(version, app: RegistrationTests.registering())
    story.happens(.launch(bundleID: Story.bundle))
    #expect(story.effects == [RegistrationTests.request()])
    story.forget()
    story.happens(.tokenIssued(bundleID: Story.bundle, token: RegistrationTests.token))
    story.happens(.forceQuit(bundleID: Story.bundle), .launch(bundleID: Story.bundle))
    story.happens(.tokenIssued(bundleID: Story.bundle, token: [7]))
    let tokens = story.callbacks.filter { $0.method == .didRegisterForRemoteNotifications }.map(\.arguments)
    #expect(tokens == [.token(RegistrationTests.token), .token(RegistrationTests.token), .token([7])])
  }

  @Test("D-049 the token comes as bytes; hex is the app's business")
  func bytes() {
    var story = Story(.g3, app: RegistrationTests.registering())
    story.happens(.launch(bundleID: Story.bundle), .tokenIssued(bundleID: Story.bundle, token: [0, 0x0F, 0xFF]))
    #expect(story.callbacks.last?.arguments == .token([0, 0x0F, 0xFF]))
    #expect(story.told.contains { $0.what.words.hasSuffix("000fff") })
  }

  @Test("D-047 C-21 the user turned the app off: with deniedDropsAlertAtAPNs no alert push arrives, silent ones do")
  func droppedAtAPNs() {
    for (drops, answer) in [(true, "-"), (false, "DRF(B)")] {
      var story = Story(.g3, allowed: false) { $0.deniedDropsAlertAtAPNs = drops }
      story.bring(to: .suspended)
      story.push(Sample.k2)
      #expect(story.calls == "DRF(B)", "never asked is not turned off")
      var refused = Phone.UserSettings()
      refused.allowed = false
      story.happens(.changePermission(bundleID: Story.bundle, refused))
      story.forget()
      story.push(Sample.k2)
      #expect(story.calls == answer)
      #expect(story.rules.contains("D-047") == drops)
      story.forget()
      story.push(Sample.k3, .background)
      #expect(story.calls == "DRF(B)")
    }
  }
}
