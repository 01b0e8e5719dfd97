import Basics
import Phone
import PushPayload
import Testing

@Suite("Registration and the token")
struct RegistrationTests {
  static let token: [UInt8] = Array(repeating: 0xA7, count: 32)

  /// Asks and registers when it starts, and hands the token on.
  static func registering(_ act: AppAct = .askAndRegister(.usual)) -> AppDescription {
    .complete {
      $0.script[.didFinishLaunching] = [act]
      $0.script[.didRegisterForRemoteNotifications] = [.handTokenToService]
    }
  }

  static func request(
    _ environment: AppDescription.APSEnvironment = .production, fresh: Bool = false
  ) -> Phone.Effect {
    .registerForRemoteNotifications(bundleID: Story.bundle, environment: environment, kind: .remote, fresh: fresh)
  }

  @Test("D-010 D-042 without the entitlement (a free account) registering fails")
  func noEntitlement() {
    var story = Story(.g3, app: .complete { $0.apsEnvironment = .none }, allowed: false)
    story.bring(to: .active)
    story.happens(.app(bundleID: Story.bundle, .registerForRemoteNotifications))
    #expect(story.calls == "didFail")
    #expect(story.rules.contains("D-042"))
    #expect(
      story.callbacks.first?.arguments
        == .failure(
          domain: "NSCocoaErrorDomain", code: 3000,
          text: "no valid aps-environment entitlement string found for application"))
    #expect(story.effects.isEmpty)
  }

  @Test("D-011 D-072 what is shown came through APNs, and the timeline tells the way")
  func cameThroughAPNs() {
    var story = Story(.g3)
    story.push(Sample.k1, id: "7b2f")
    #expect(story.told.first?.rule == "D-072")
    #expect(story.said("server → APNs → this phone", "D-072"))
    #expect(story.shown.map(\.pushID) == ["7b2f"])
  }

  @Test("D-012 the seed's code asks, but from iOS 8 on yields no token", arguments: [IOSVersion(8), .g2, .g3])
  func seedCode(version: IOSVersion) {
    var story = Story(version, app: Self.registering(.registerAsSeed), allowed: false)
    story.happens(.launch(bundleID: Story.bundle), .answerPrompt(allow: true))
    #expect(story.effects.isEmpty)
    #expect(story.said("has not called registerForRemoteNotifications", "D-012"))
  }

  @Test("D-012 the seed's code before iOS 8 registers too", arguments: [IOSVersion(3), .g1, IOSVersion(7)])
  func seedCodeBefore8(version: IOSVersion) {
    var story = Story(version, app: Self.registering(.registerAsSeed), allowed: false)
    story.happens(.launch(bundleID: Story.bundle))
    #expect(story.effects.isEmpty)
    story.happens(.answerPrompt(allow: true))
    #expect(story.effects == [Self.request()])
  }

  @Test("D-012 from iOS 8 on registerForRemoteNotificationTypes does nothing")
  func oldCallIsGone() {
    var story = Story(.g2, allowed: false)
    story.bring(to: .active)
    story.happens(.app(bundleID: Story.bundle, .registerForRemoteNotificationTypes(.usual)))
    #expect(story.faults.map(\.rule) == ["D-012"])
    #expect(story.phone.promptedApp == nil)
  }

  @Test("D-013 one prompt; later requests get the stored answer", arguments: [IOSVersion(8), .g2, .g3], [true, false])
  func onePrompt(version: IOSVersion, allow: Bool) {
    var story = Story(version, app: Self.registering(), allowed: false)
    story.happens(.launch(bundleID: Story.bundle))
    #expect(story.phone.promptedApp == Story.bundle)
    story.happens(.answerPrompt(allow: allow), .forceQuit(bundleID: Story.bundle))
    story.forget()
    story.happens(.launch(bundleID: Story.bundle))
    #expect(story.phone.promptedApp == nil)
    let options: NotificationOptions = allow ? .usual : []
    let answer: Callback.Arguments =
      version.major < 10 ? .userNotificationSettings(options, categories: []) : .granted(allow, options)
    #expect(story.callbacks.contains { $0.arguments == answer })
  }

  @Test("D-014 development builds register only on phones listed for the account; store builds anywhere")
  func listedPhones() {
    for (environment, strict, registers) in [
      (AppDescription.APSEnvironment.development, false, false), (.production, false, true), (.production, true, false),
    ] {
      var story = Story(.g3, app: .complete { $0.apsEnvironment = environment }) {
        $0.listedForDevelopment = false
        $0.strictSeed = strict
      }
      story.bring(to: .active)
      story.happens(.app(bundleID: Story.bundle, .registerForRemoteNotifications))
      #expect(story.effects.isEmpty != registers)
      #expect(story.rules.contains("D-014") != registers)
    }
  }

  @Test(
    "D-015 the token comes by callback, once; D-016 the app hands it to the service",
    arguments: [IOSVersion.g1, .g2, .g3])
  func token(version: IOSVersion) {
    var story = Story(version, app: Self.registering(), allowed: false)
    story.happens(.launch(bundleID: Story.bundle), .answerPrompt(allow: true))
    #expect(story.effects == [Self.request()])
    story.forget()
    story.happens(.tokenIssued(bundleID: Story.bundle, token: Self.token))
    #expect(story.callbacks.map(\.arguments) == [.token(Self.token)])
    #expect(story.effects == [.handTokenToService(bundleID: Story.bundle, token: Self.token)])
    #expect(story.rules.isSuperset(of: ["D-015", "D-016"]))
  }

  @Test("D-015 a push for another app's token reaches no other app")
  func exactApp() {
    var story = Story(.g3)
    story.bring(to: .active)
    story.happens(
      .push(DeliveredPayload(id: "p", bundleID: "com.example.other", bytes: Sample.k1.encoded())))
    #expect(story.calls == "-")
    #expect(story.letters == "-")
    #expect(story.said("no app com.example.other", "D-015"))
  }

  @Test("D-017 iOS 9: a reinstall wants a new token, and the old one stays good")
  func staleTokens() {
    var story = Story(.g2, app: Self.registering(), allowed: false)
    story.happens(.launch(bundleID: Story.bundle), .answerPrompt(allow: true))
    story.happens(.tokenIssued(bundleID: Story.bundle, token: Self.token))
    story.forget()
    story.happens(.uninstallApp(bundleID: Story.bundle))
    #expect(story.effects == [.tokenAbandoned(bundleID: Story.bundle, token: Self.token, keepsWorking: true)])
    story.happens(.installApp(Self.registering()))
    story.forget()
    story.happens(.launch(bundleID: Story.bundle))
    #expect(story.effects == [Self.request(fresh: true)])
  }

  @Test("D-017 the same push by old and new token shows twice, with one collapse id once")
  func twiceOnOnePhone() {
    var story = Story(.g2)
    story.push(Sample.k1)
    story.push(Sample.k1)
    #expect(story.centre.count == 2)
    var collapsed = Story(.g2)
    collapsed.push(Sample.k1, collapse: "m1")
    collapsed.push(Sample.k1, collapse: "m1")
    #expect(collapsed.centre == ["m1"])
  }

  @Test("D-017 other versions give the old token up", arguments: [IOSVersion(8), IOSVersion(10), .g3])
  func tokensEnd(version: IOSVersion) {
    var story = Story(version, app: Self.registering())
    story.happens(.launch(bundleID: Story.bundle), .tokenIssued(bundleID: Story.bundle, token: Self.token))
    story.forget()
    story.happens(.uninstallApp(bundleID: Story.bundle))
    #expect(story.effects == [.tokenAbandoned(bundleID: Story.bundle, token: Self.token, keepsWorking: false)])
  }

  @Test("D-018 the registration id is there once the service has answered, and proves the rest")
  func registrationID() {
    var story = Story(.g3, app: Self.registering())
    story.happens(.launch(bundleID: Story.bundle), .tokenIssued(bundleID: Story.bundle, token: Self.token))
    #expect(story.phone.registrationID(of: Story.bundle) == nil)
    story.happens(.registrationIDReceived(bundleID: Story.bundle, registrationID: "1a0018970a8a1b2c3d4"))
    #expect(story.phone.registrationID(of: Story.bundle) == "1a0018970a8a1b2c3d4")
    #expect(story.said("registered at APNs, token stored", "D-018"))
  }

  @Test("D-019 D-041 offline: silence, then the token when the network is back")
  func offline() {
    var story = Story(.g3, app: Self.registering()) { $0.online = false }
    story.happens(.launch(bundleID: Story.bundle))
    #expect(!story.calls.contains("didRegister") && !story.calls.contains("didFail"))
    #expect(story.effects.isEmpty)
    story.forget()
    story.happens(.networkChanged(online: true))
    #expect(story.effects == [.connectionChanged(online: true), Self.request()])
    story.happens(.tokenIssued(bundleID: Story.bundle, token: Self.token))
    #expect(story.calls == "didRegister")
  }

  @Test("D-041 the switch offlineRegistrationFails: failure at once")
  func offlineFails() {
    var story = Story(.g3, app: Self.registering()) {
      $0.online = false
      $0.offlineRegistrationFails = true
    }
    story.happens(.launch(bundleID: Story.bundle))
    #expect(story.calls.contains("didFail"))
    #expect(story.rules.contains("D-041"))
  }

  @Test("D-040 registering again: the same token, at once, without asking APNs")
  func sameToken() {
    var story = Story(.g3, app: Self.registering())
    story.happens(.launch(bundleID: Story.bundle), .tokenIssued(bundleID: Story.bundle, token: Self.token))
    for _ in 0..<3 {
      story.happens(.endBySystem(bundleID: Story.bundle))
      story.forget()
      story.happens(.launch(bundleID: Story.bundle))
      #expect(story.callbacks.last?.arguments == .token(Self.token))
      #expect(story.effects == [.handTokenToService(bundleID: Story.bundle, token: Self.token)])
    }
  }

  @Test("D-040 an app that registers in the answer itself does not hang the phone")
  func registersForEver() {
    var story = Story(
      .g3, app: .complete { $0.script[.didRegisterForRemoteNotifications] = [.registerForRemoteNotifications] })
    story.happens(.launch(bundleID: Story.bundle), .app(bundleID: Story.bundle, .registerForRemoteNotifications))
    story.happens(.tokenIssued(bundleID: Story.bundle, token: Self.token))
    #expect(story.said("asks again in every answer", "D-040"))
  }

  @Test("D-043 the entitlement chooses the environment of the token")
  func environments() {
    for environment in [AppDescription.APSEnvironment.development, .production] {
      var story = Story(.g3, app: .complete { $0.apsEnvironment = environment })
      story.bring(to: .active)
      story.happens(.app(bundleID: Story.bundle, .registerForRemoteNotifications))
      #expect(story.effects == [Self.request(environment)])
    }
  }

  @Test("D-041 APNs' refusal reaches the app")
  func refused() {
    var story = Story(.g3, app: Self.registering())
    story.happens(.launch(bundleID: Story.bundle))
    story.forget()
    story.happens(.registrationFailed(bundleID: Story.bundle, reason: "no such topic"))
    #expect(
      story.callbacks.first?.arguments == .failure(domain: "NSCocoaErrorDomain", code: 3010, text: "no such topic"))
  }

  @Test("D-032 before iOS 8 no token without permission")
  func noTokenWithoutPermission() {
    var story = Story(.g1, app: Self.registering(), allowed: false)
    story.happens(.launch(bundleID: Story.bundle), .answerPrompt(allow: false))
    #expect(story.effects.isEmpty)
    #expect(story.rules.contains("D-032"))
  }

  @Test("D-033 without permission: iOS 8–9 tells the token only with the background mode, iOS 10 always")
  func tokenWithoutPermission() {
    for (version, modes, told) in [
      (IOSVersion.g2, [], false), (.g2, [.remoteNotification], true), (.g3, [], true),
    ] as [(IOSVersion, Set<AppDescription.BackgroundMode>, Bool)] {
      var story = Story(version, app: .complete { $0.backgroundModes = modes }, allowed: false)
      story.bring(to: .active)
      story.happens(.app(bundleID: Story.bundle, .registerForRemoteNotifications))
      story.happens(.tokenIssued(bundleID: Story.bundle, token: Self.token))
      #expect(story.calls.contains("didRegister") == told)
      guard !told else { continue }
      story.happens(.changePermission(bundleID: Story.bundle, Phone.UserSettings()))
      #expect(story.calls == "didRegister", "once it is allowed")
    }
  }

  @Test("D-046 a token that changes while the app runs is told again")
  func tokenChanges() {
    var story = Story(.g3, app: Self.registering())
    story.happens(.launch(bundleID: Story.bundle), .tokenIssued(bundleID: Story.bundle, token: Self.token))
    story.forget()
    story.happens(.tokenIssued(bundleID: Story.bundle, token: [1, 2, 3]))
    #expect(story.callbacks.map(\.arguments) == [.token([1, 2, 3])])
  }
}

@Suite("Permission")
struct PermissionTests {
  @Test("D-020 what this iOS does not know is left out of the question")
  func options() {
    let all: NotificationOptions = [.usual, .newsstand, .carPlay, .criticalAlert, .announcement, .timeSensitive]
    #expect(NotificationOptions.usual.known(to: IOSVersion(3)) == .usual)
    #expect(all.known(to: .g1) == [.usual, .newsstand])
    #expect(all.known(to: .g2) == .usual)
    #expect(all.known(to: IOSVersion(10)) == [.usual, .carPlay])
    #expect(all.known(to: IOSVersion(13)) == [.usual, .carPlay, .criticalAlert, .announcement])
    #expect(all.known(to: IOSVersion(15)) == [.usual, .carPlay, .criticalAlert, .timeSensitive])
  }

  @Test("D-020 how the answer comes: token only, settings callback, completion handler")
  func ways() {
    for (version, call) in [(IOSVersion.g1, "-"), (.g2, "didRegisterSettings"), (.g3, "authorization")] {
      var story = Story(version, allowed: false)
      story.bring(to: .active)
      story.happens(.app(bundleID: Story.bundle, .askAndRegister(.usual)))
      story.forget()
      story.happens(.answerPrompt(allow: true))
      #expect(story.calls.replacing("DBA", with: "").trimmed == call.replacing("-", with: ""))
    }
  }

  @Test("D-021 granted if at least one option is, false if denied")
  func granted() {
    for (options, allow, granted) in [
      (NotificationOptions.badge, true, true), (.usual, false, false), ([], true, false),
    ] {
      var story = Story(.g3, allowed: false)
      story.bring(to: .active)
      story.happens(.app(bundleID: Story.bundle, .requestAuthorization(options)), .answerPrompt(allow: allow))
      #expect(
        story.callbacks.last { $0.method == .authorizationAnswer }?.arguments
          == .granted(granted, granted ? options : []))
    }
  }

  @Test("D-022 the prompt comes at most once, and over the app: WRA, then DBA", arguments: [IOSVersion.g1, .g2, .g3])
  func promptOnce(version: IOSVersion) {
    var story = Story(version, allowed: false)
    story.bring(to: .active)
    story.happens(
      .app(bundleID: Story.bundle, .askAndRegister(.usual)), .app(bundleID: Story.bundle, .askAndRegister(.usual)))
    #expect(story.calls == "WRA")
    #expect(story.state == .inactive)
    #expect(story.said("still one prompt", "D-022"))
    story.happens(.answerPrompt(allow: false))
    #expect(story.calls.hasPrefix("WRA DBA"))
    story.happens(.app(bundleID: Story.bundle, .askAndRegister(.usual)))
    #expect(story.phone.promptedApp == nil)
  }

  @Test("D-022 an app that is not in front asks when it comes there")
  func promptWaits() {
    var story = Story(.g3, allowed: false)
    story.bring(to: .background)
    story.happens(.app(bundleID: Story.bundle, .requestAuthorization(.usual)))
    #expect(story.phone.promptedApp == nil)
    story.happens(.launch(bundleID: Story.bundle))
    #expect(story.phone.promptedApp == Story.bundle)
  }

  @Test("D-023 an answer outlives the app for a day up to iOS 9, not after")
  func promptMemory() {
    for (version, wait, remembered) in [
      (IOSVersion.g2, Instant.Span.hours(23), true), (.g2, .hours(25), false), (.g3, .seconds(1), false),
    ] {
      var story = Story(version, allowed: false)
      story.bring(to: .active)
      story.happens(.app(bundleID: Story.bundle, .askAndRegister(.usual)), .answerPrompt(allow: true))
      story.happens(.uninstallApp(bundleID: Story.bundle))
      story.pass(wait)
      story.happens(.installApp(.complete), .launch(bundleID: Story.bundle))
      story.happens(.app(bundleID: Story.bundle, .askAndRegister(.usual)))
      #expect((story.phone.promptedApp == nil) == remembered, "iOS \(version) after \(wait)")
    }
  }

  @Test("D-023 the switch promptMemory")
  func promptMemorySwitch() {
    var story = Story(.g3) { $0.promptMemory = .hours(1) }
    story.happens(.uninstallApp(bundleID: Story.bundle), .installApp(.complete))
    story.push(Sample.k1)
    #expect(story.letters == "BCSN")
  }

  @Test("D-024 the user changes it in Settings; no callback, the app learns by asking")
  func settings() {
    var story = Story(.g3)
    story.bring(to: .active)
    var denied = Phone.UserSettings()
    denied.allowed = false
    story.happens(.changePermission(bundleID: Story.bundle, denied))
    #expect(story.calls == "-")
    story.happens(.app(bundleID: Story.bundle, .readPermission))
    #expect(story.said("denied", "D-024"))
  }

  @Test("D-024 provisional: no prompt; D-025 it shows in the centre only")
  func provisional() {
    var story = Story(.g3, allowed: false)
    story.bring(to: .active)
    story.happens(.app(bundleID: Story.bundle, .requestAuthorization([.usual, .provisional])), .home)
    #expect(story.phone.promptedApp == nil)
    story.forget()
    story.push(Sample.k1)
    #expect(story.letters == "C")
  }

  @Test("D-029 D-030 what the app reads: the user's choice, but up to iOS 7 in the field what it had registered")
  func reading() {
    for (version, bug, words) in [
      (IOSVersion.g1, nil, "badge+sound+alert"), (.g1, false, "nothing"), (.g2, nil, "nothing"),
    ] as [(IOSVersion, Bool?, String)] {
      var story = Story(version) { $0.staleTypesBug = bug }
      var denied = Phone.UserSettings()
      denied.allowed = false
      story.bring(to: .active)
      story.happens(.changePermission(bundleID: Story.bundle, denied), .app(bundleID: Story.bundle, .readPermission))
      #expect(story.said(words, bug == nil && version == .g1 ? "D-030" : "D-029"))
    }
  }

  @Test("D-034 denied: nothing shown, content-available still wakes", arguments: [IOSVersion.g2, .g3])
  func denied(version: IOSVersion) {
    var story = Story(version, allowed: false)
    story.bring(to: .suspended)
    story.push(Sample.k2)
    #expect(story.letters == "-")
    #expect(story.calls == "DRF(B)")
    #expect(story.said("nothing shown", "D-034"))
  }

  @Test("D-027 each switch of the user takes away exactly its part")
  func parts() {
    let rows: [(String, (inout Phone.UserSettings) -> Void)] = [
      ("BCS", { $0.badge = false }), ("BCN", { $0.sound = false }), ("CSN", { $0.alert = false }),
      ("BSN", { $0.centre = false }), ("CSN", { $0.style = PhoneSettings.AlertStyle.none }),
    ]
    for (letters, change) in rows {
      var user = Phone.UserSettings()
      change(&user)
      var story = Story(.g3)
      story.happens(.changePermission(bundleID: Story.bundle, user))
      story.push(Sample.k1)
      #expect(story.letters == letters)
    }
  }
}

extension String {
  var trimmed: String { split(separator: " ").joined(separator: " ") }
}
