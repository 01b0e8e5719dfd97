import Basics
import Phone
import PushPayload
import Testing

@Suite("Permission without a prompt, and every switch of Settings")
struct PermissionChoiceTests {
  private static let bundle = Story.bundle

  /// With provisional permission and one quiet notification.
  private func provisional(_ adjust: (inout PhoneSettings) -> Void = { _ in }) -> Story {
    var story = Story(.g3, allowed: false, adjust)
    story.bring(to: .active)
    story.happens(.app(bundleID: Self.bundle, .requestAuthorization([.usual, .provisional])), .home)
    story.push(Sample.k1)
    story.forget()
    return story
  }

  private func status(_ story: Story) -> AuthorizationStatus? {
    story.phone.notificationSettings(of: Self.bundle)?.authorizationStatus
  }

  @Test("D-020 criticalAlert is left out for an app without the entitlement")
  func critical() {
    for entitled in [false, true] {
      var story = Story(.g3, app: .complete { if entitled { $0.entitlements = [.criticalAlerts] } }, allowed: false)
      story.bring(to: .active)
      story.happens(
        .app(bundleID: Self.bundle, .requestAuthorization([.alert, .criticalAlert])), .answerPrompt(allow: true))
      #expect(
        story.callbacks.last?.arguments == .granted(true, entitled ? [.alert, .criticalAlert] : .alert))
      #expect(story.faults.map(\.rule) == (entitled ? [] : ["D-020"]))
    }
  }

  @Test("D-021 provisional is granted at once, without a prompt, from iOS 12 on")
  func grantedAtOnce() {
    for (version, prompts) in [(IOSVersion(11), true), (IOSVersion(12), false)] {
      var story = Story(version, allowed: false)
      story.bring(to: .active)
      story.happens(.app(bundleID: Self.bundle, .requestAuthorization([.usual, .provisional])))
      #expect((story.phone.promptedApp != nil) == prompts)
      #expect(story.callbacks.contains { $0.arguments == .granted(true, .usual) } != prompts)
    }
  }

  @Test("D-025 Keep: authorized, and still the centre's history only", arguments: [true, false])
  func keep(inSummary: Bool) {
    var story = provisional { $0.summaryTimes = inSummary ? [480] : [] }
    story.happens(.keepProvisional(bundleID: Self.bundle, id: nil, inSummary: inSummary))
    #expect(status(story) == .authorized)
    let settings = story.phone.notificationSettings(of: Self.bundle)
    #expect(settings?.alert == .disabled && settings?.sound == .disabled && settings?.badge == .disabled)
    #expect(settings?.notificationCenter == .enabled)
    #expect(settings?.scheduledDelivery == (inSummary ? .enabled : .disabled))
    #expect(story.calls == "-", "no callback tells the app")
    guard !inSummary else { return }
    story.push(Sample.k1)
    #expect(story.letters == "C")
  }

  @Test("D-025 the summary is offered only where there is one")
  func noSummary() {
    var story = provisional()
    story.happens(.keepProvisional(bundleID: Self.bundle, id: nil, inSummary: true))
    #expect(story.phone.notificationSettings(of: Self.bundle)?.scheduledDelivery == .disabled)
    #expect(story.said("no scheduled summary", "D-025"))
  }

  @Test("D-025 Turn Off: denied, nothing is shown any more")
  func turnOff() {
    var story = provisional()
    story.happens(.turnOff(bundleID: Self.bundle, id: nil))
    #expect(status(story) == .denied)
    story.push(Sample.k1)
    #expect(story.letters == "-")
    story.happens(.turnOff(bundleID: Self.bundle, id: nil), .keepProvisional(bundleID: Self.bundle, id: nil))
    #expect(status(story) == .denied, "the buttons are gone")
  }

  @Test("D-026 asking for more while provisional prompts; the switch promptWhileProvisional off: it does not")
  func askForMore() {
    for (prompts, allow, then) in [
      (true, true, AuthorizationStatus.authorized), (true, false, .denied), (false, true, .provisional),
    ] {
      var story = provisional { $0.promptWhileProvisional = prompts }
      story.happens(
        .launch(bundleID: Self.bundle), .app(bundleID: Self.bundle, .requestAuthorization([.usual, .carPlay])))
      #expect((story.phone.promptedApp == Self.bundle) == prompts)
      if prompts { story.happens(.answerPrompt(allow: allow)) }
      #expect(status(story) == then)
      #expect(story.rules.contains("D-026") == prompts)
    }
  }

  @Test("D-026 asking provisionally again changes nothing")
  func askAgain() {
    var story = provisional()
    story.happens(
      .launch(bundleID: Self.bundle), .app(bundleID: Self.bundle, .requestAuthorization([.usual, .provisional])))
    #expect(story.phone.promptedApp == nil)
    #expect(status(story) == .provisional)
  }

  @Test("D-024 an App Clip may notify for eight hours after each launch, from iOS 14 on; the user may turn it off")
  func ephemeral() {
    let clip = AppDescription.complete { $0.isAppClip = true }
    for (version, then) in [(IOSVersion(13), AuthorizationStatus.notDetermined), (IOSVersion(14), .ephemeral)] {
      var story = Story(version, app: clip, allowed: false)
      story.happens(.launch(bundleID: Self.bundle))
      #expect(status(story) == then)
    }
    var story = Story(.g3, app: clip, allowed: false)
    story.happens(.launch(bundleID: Self.bundle), .home)
    story.push(Sample.k1)
    #expect(story.letters == "BCSN")
    story.pass(.hours(7))
    story.happens(.launch(bundleID: Self.bundle))
    story.happens(.endBySystem(bundleID: Self.bundle), .launch(bundleID: Self.bundle), .home)
    story.pass(.hours(7))
    #expect(status(story) == .ephemeral, "each launch starts anew")
    story.pass(.hours(2))
    #expect(status(story) == .notDetermined)
    story.forget()
    story.push(Sample.k1)
    #expect(story.letters == "-")
    story.happens(.launch(bundleID: Self.bundle))
    var denied = Phone.UserSettings()
    denied.allowed = false
    story.happens(.changePermission(bundleID: Self.bundle, denied))
    #expect(status(story) == .denied)
  }

  struct Switch: CustomTestStringConvertible, Sendable {
    var name: String
    var flip: @Sendable (inout Phone.UserSettings) -> Void
    var read: @Sendable (SettingsArgument) -> SettingsArgument.Setting
    var testDescription: String { name }
  }

  static let switches = [
    Switch(name: "alert", flip: { $0.alert = false }, read: { $0.alert }),
    Switch(name: "sound", flip: { $0.sound = false }, read: { $0.sound }),
    Switch(name: "badge", flip: { $0.badge = false }, read: { $0.badge }),
    Switch(name: "lock screen", flip: { $0.lockScreen = false }, read: { $0.lockScreen }),
    Switch(name: "centre", flip: { $0.centre = false }, read: { $0.notificationCenter }),
    Switch(name: "CarPlay", flip: { $0.carPlay = false }, read: { $0.carPlay }),
    Switch(name: "critical", flip: { $0.critical = false }, read: { $0.criticalAlert }),
    Switch(name: "time sensitive", flip: { $0.timeSensitive = false }, read: { $0.timeSensitive }),
    Switch(name: "announcement", flip: { $0.announcement = false }, read: { $0.announcement }),
  ]

  @Test("D-027 D-029 each switch is read as exactly its own setting", arguments: switches)
  func read(one: Switch) throws {
    var story = Story(.g3, app: .complete { $0.entitlements = [.criticalAlerts, .timeSensitive] }, allowed: false)
    story.bring(to: .active)
    story.happens(
      .app(bundleID: Self.bundle, .requestAuthorization([.usual, .carPlay, .criticalAlert])),
      .answerPrompt(allow: true))
    let before = try #require(story.phone.notificationSettings(of: Self.bundle))
    #expect(Self.switches.allSatisfy { $0.read(before) == .enabled })
    var user = Phone.UserSettings()
    one.flip(&user)
    story.happens(
      .changePermission(bundleID: Self.bundle, user), .app(bundleID: Self.bundle, .readPermission))
    guard case .notificationSettings(let after) = try #require(story.callbacks.last).arguments else {
      Issue.record("\(story.calls)")
      return
    }
    for other in Self.switches { #expect(other.read(after) == (other.name == one.name ? .disabled : .enabled)) }
    #expect(after.json.object?["authorizationStatus"] == "authorized")
  }

  @Test("D-027 what was not asked for, or does not exist yet, is not supported")
  func notSupported() throws {
    for (version, announcement, summary) in [
      (IOSVersion(10), SettingsArgument.Setting.notSupported, SettingsArgument.Setting.notSupported),
      (IOSVersion(13), .enabled, .notSupported), (IOSVersion(15), .enabled, .disabled),
    ] {
      let settings = try #require(Story(version).phone.notificationSettings(of: Self.bundle))
      #expect(settings.announcement == announcement && settings.scheduledDelivery == summary)
      #expect(settings.carPlay == .notSupported && settings.criticalAlert == .notSupported)
      #expect(settings.timeSensitive == .notSupported, "without the entitlement")
    }
  }

  @Test("D-027 locked: the lock screen's switch takes L and W, no more; alert off leaves the lists")
  func locked() {
    for (letters, flip) in [
      ("CSN", { $0.lockScreen = false }), ("LWSN", { $0.centre = false }), ("LWCSN", { $0.alert = false }),
    ] as [(String, (inout Phone.UserSettings) -> Void)] {
      var story = Story(.g3)
      var user = Phone.UserSettings()
      flip(&user)
      story.happens(.changePermission(bundleID: Self.bundle, user), .lock)
      story.forget()
      story.push(Sample.k1)
      #expect(story.letters == letters)
    }
  }

  @Test(
    "D-028 D-029 no act of an app switches its notifications on or off; unregistering stops delivery, and is undone")
  func noSwitching() {
    var story = Story(.g3)
    story.bring(to: .active)
    story.happens(.app(bundleID: Self.bundle, .registerForRemoteNotifications))
    story.happens(.tokenIssued(bundleID: Self.bundle, token: [1]), .home)
    let before = story.phone.notificationSettings(of: Self.bundle)
    story.happens(.app(bundleID: Self.bundle, .unregisterForRemoteNotifications))
    #expect(story.phone.notificationSettings(of: Self.bundle) == before)
    story.forget()
    story.push(Sample.k1)
    #expect(story.letters == "-")
    #expect(story.said("unregistered itself", "D-029"))
    story.happens(.launch(bundleID: Self.bundle), .app(bundleID: Self.bundle, .registerForRemoteNotifications), .home)
    story.push(Sample.k1)
    #expect(story.letters == "BCSN")
  }

  @Test("D-029 iOS 9 also reads whether it is registered")
  func registered() {
    var story = Story(.g2)
    story.bring(to: .active)
    story.happens(.app(bundleID: Self.bundle, .readPermission))
    #expect(story.said("isRegisteredForRemoteNotifications false", "D-029"))
    story.happens(
      .app(bundleID: Self.bundle, .registerForRemoteNotifications), .tokenIssued(bundleID: Self.bundle, token: [1]),
      .app(bundleID: Self.bundle, .readPermission))
    #expect(story.said("isRegisteredForRemoteNotifications true", "D-029"))
  }

  @Test("D-031 the in-app settings button: with the notification, or nil from Settings; the entry stays")
  func openSettings() {
    for (state, fromSettings, calls) in [
      (AppState.notRunning, false, "LO(∅) openSettings DBA"), (.suspended, false, "WEF openSettings DBA"),
      (.suspended, true, "WEF openSettings DBA"), (.active, true, "WRA DEB WEF openSettings DBA"),
    ] {
      var story = Story(IOSVersion(12), allowed: false)
      story.bring(to: .active)
      story.happens(
        .app(bundleID: Self.bundle, .requestAuthorization([.usual, .providesAppNotificationSettings])),
        .answerPrompt(allow: true))
      if !state.isFront { story.happens(.home, .suspend(bundleID: Self.bundle)) }
      if !state.isAlive { story.happens(.endBySystem(bundleID: Self.bundle)) }
      story.push(Sample.k1, id: "n")
      story.forget()
      story.happens(.openNotificationSettings(bundleID: Self.bundle, id: fromSettings ? nil : "n"))
      #expect(story.calls == calls)
      #expect(story.centre == ["n"])
      guard
        case .settingsFor(let notification) = story.callbacks.first(where: { $0.method == .openSettings })?.arguments
      else {
        Issue.record("\(story.calls)")
        continue
      }
      #expect(notification?.identifier == (fromSettings ? nil : "n"))
    }
  }

  @Test("D-031 on the lock screen after the unlock")
  func openSettingsLocked() {
    var story = Story(.g3, allowed: false)
    story.bring(to: .active)
    story.happens(
      .app(bundleID: Self.bundle, .requestAuthorization([.usual, .providesAppNotificationSettings])),
      .answerPrompt(allow: true), .home, .lock)
    story.push(Sample.k1, id: "n")
    story.forget()
    story.happens(.openNotificationSettings(bundleID: Self.bundle, id: "n"))
    #expect(story.calls == "-")
    story.happens(.unlock)
    #expect(story.calls == "WEF openSettings DBA")
  }

  @Test("D-031 no button before iOS 12, without the option, or without the permission")
  func noButton() {
    for (version, options) in [
      (IOSVersion(11), [.usual, .providesAppNotificationSettings]), (.g3, .usual),
    ] as [(IOSVersion, NotificationOptions)] {
      var story = Story(version, allowed: false)
      story.bring(to: .active)
      story.happens(
        .app(bundleID: Self.bundle, .requestAuthorization(options)), .answerPrompt(allow: true), .home)
      story.forget()
      story.happens(.openNotificationSettings(bundleID: Self.bundle, id: nil))
      #expect(story.calls == "-")
      #expect(story.said("finds no button", "D-031"))
    }
  }

  @Test("D-047 C-21 APNs drops alerts for an app that was turned off: told by effects, gone with wake and all")
  func droppedAtAPNs() {
    var story = Story(.g3) { $0.deniedDropsAlertAtAPNs = true }
    story.bring(to: .suspended)
    var denied = Phone.UserSettings()
    denied.allowed = false
    story.happens(.changePermission(bundleID: Self.bundle, denied))
    #expect(story.effects == [.alertsAllowed(bundleID: Self.bundle, false)])
    story.push(Sample.k2)
    #expect(story.calls == "-", "not even the wake")
    #expect(story.said("disabled by the user", "D-047"))
    story.push(Sample.k3, .background)
    #expect(story.calls == "DRF(B)", "background pushes come")
    story.effects = []
    story.happens(.changePermission(bundleID: Self.bundle, Phone.UserSettings()))
    #expect(story.effects == [.alertsAllowed(bundleID: Self.bundle, true)])
    story.push(Sample.k1)
    #expect(story.letters == "BCSN")
  }

  @Test("D-047 by default nothing is dropped, and the switch tells what stands when it is set")
  func notDropped() {
    var story = Story(.g3)
    story.bring(to: .suspended)
    var denied = Phone.UserSettings()
    denied.allowed = false
    story.happens(.changePermission(bundleID: Self.bundle, denied))
    #expect(story.effects.isEmpty)
    story.push(Sample.k2)
    #expect(story.calls == "DRF(B)")
    var settings = story.phone.settings
    settings.deniedDropsAlertAtAPNs = true
    story.happens(.change(settings))
    #expect(story.effects == [.alertsAllowed(bundleID: Self.bundle, false)])
  }
}
