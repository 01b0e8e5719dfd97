import Basics
import Phone
import PushPayload
import Testing

extension AppDescription {
  /// Makes its push registry at every launch, and reports each call.
  static var calling: AppDescription {
    .complete {
      $0.backgroundModes.insert(.voip)
      $0.script[.didFinishLaunching] = [.setPushTypes([.voip])]
      $0.script[.pushRegistryDidReceive] = [.reportIncomingCall(from: "Lin")]
      $0.implements.remove(.incomingCallReported)
    }
  }

  static func calling(_ adjust: (inout AppDescription) -> Void) -> AppDescription {
    var app = calling
    adjust(&app)
    return app
  }
}

@Suite("PushKit and calls")
struct PushKitTests {
  private func story(
    _ version: IOSVersion, _ state: AppState, app: AppDescription = .calling,
    _ adjust: (inout PhoneSettings) -> Void = { _ in }
  ) -> Story {
    var story = Story(version, app: app, adjust)
    story.bring(to: state)
    return story
  }

  private func voip(_ story: inout Story) { story.push(["aps": [:], "caller": "Lin"], .voip) }

  // MARK: D-048

  @Test("D-048 setting the types asks for a token of its own, and the delegate gets it")
  func token() {
    var story = story(.g3, .notRunning)
    story.happens(.launch(bundleID: Story.bundle))
    #expect(
      story.effects == [
        .registerForRemoteNotifications(
          bundleID: Story.bundle, environment: .production, kind: .voip, fresh: false)
      ])
    story.forget()
    story.happens(.voipTokenIssued(bundleID: Story.bundle, token: [9, 9]))
    #expect(story.callbacks.map(\.arguments) == [.credentials(.voip, token: [9, 9])])
    #expect(story.phone.voipToken(of: Story.bundle) == [9, 9])
    #expect(story.phone.token(of: Story.bundle) == nil)
    // the next launch gets the same one, without asking APNs
    story.happens(.home, .endBySystem(bundleID: Story.bundle))
    story.forget()
    story.happens(.launch(bundleID: Story.bundle))
    #expect(story.calls == "LO(∅) DBA didUpdate")
    #expect(story.effects.isEmpty)
  }

  @Test("D-016 D-048 the app hands PushKit's token to the service as it hands its own")
  func handed() {
    var story = story(
      .g3, .notRunning, app: .calling { $0.script[.pushRegistryDidUpdate] = [.handTokenToService] })
    story.happens(.launch(bundleID: Story.bundle))
    story.forget()
    story.happens(.voipTokenIssued(bundleID: Story.bundle, token: [9, 9]))
    #expect(story.effects == [.handTokenToService(bundleID: Story.bundle, token: [9, 9], kind: .voip)])
    story.forget()
    story.happens(
      .tokenIssued(bundleID: Story.bundle, token: [7]), .app(bundleID: Story.bundle, .handTokenToService))
    #expect(story.effects == [.handTokenToService(bundleID: Story.bundle, token: [7])], "the service has the other")
    story.forget()
    story.happens(.voipTokenIssued(bundleID: Story.bundle, token: [8]))
    #expect(story.effects == [.handTokenToService(bundleID: Story.bundle, token: [8], kind: .voip)], "it alone is new")
  }

  @Test("D-045 D-048 deleted with a VoIP token only: APNs learns of it, and the app's next token is another")
  func deleted() {
    var story = story(.g3, .notRunning)
    story.happens(.launch(bundleID: Story.bundle), .voipTokenIssued(bundleID: Story.bundle, token: [9]))
    story.forget()
    story.happens(.uninstallApp(bundleID: Story.bundle))
    #expect(story.effects == [.tokenAbandoned(bundleID: Story.bundle, token: [9], keepsWorking: false)])
    story.forget()
    story.happens(.installApp(.calling), .launch(bundleID: Story.bundle))
    #expect(
      story.effects == [
        .registerForRemoteNotifications(bundleID: Story.bundle, environment: .production, kind: .voip, fresh: true)
      ])
  }

  @Test("D-048 the delegate must be there before the types")
  func delegateLate() {
    var story = story(
      .g3, .active, app: .calling { $0.script[.didFinishLaunching] = [.setPushTypes([.voip], delegateFirst: false)] })
    story.happens(.voipTokenIssued(bundleID: Story.bundle, token: [9]))
    #expect(story.calls == "-")
    voip(&story)
    #expect(!story.calls.contains("PKR"))
  }

  @Test("D-048 a token taken back is told")
  func invalidated() {
    var story = story(.g3, .active)
    story.happens(.voipTokenIssued(bundleID: Story.bundle, token: [9]))
    story.forget()
    story.happens(.voipTokenInvalidated(bundleID: Story.bundle))
    #expect(story.callbacks.map(\.arguments) == [.pushKitType(.voip)])
    #expect(story.phone.voipToken(of: Story.bundle) == nil)
  }

  @Test("D-048 a suspended app hears of a new or lost token when its code runs again; an ended one at its next launch")
  func toldLater() {
    for lost in [true, false] {
      for state in [AppState.suspended, .notRunning] {
        var story = story(.g3, .active)
        story.happens(.voipTokenIssued(bundleID: Story.bundle, token: [9]), .home, .suspend(bundleID: Story.bundle))
        if state == .notRunning { story.happens(.endBySystem(bundleID: Story.bundle)) }
        story.forget()
        story.happens(
          lost
            ? .voipTokenInvalidated(bundleID: Story.bundle) : .voipTokenIssued(bundleID: Story.bundle, token: [8]))
        #expect(story.calls == "-")
        story.happens(.launch(bundleID: Story.bundle))
        let told = story.callbacks.map(\.arguments).filter {
          $0 != .none && $0 != .launchOptions(remoteNotification: nil)
        }
        switch (state, lost) {
        case (_, false): #expect(told == [.credentials(.voip, token: [8])])
        case (.suspended, true): #expect(told == [.pushKitType(.voip)])
        default: #expect(told.isEmpty && story.effects.count == 1, "the new registry asks for another")
        }
        story.forget()
        story.happens(.home, .suspend(bundleID: Story.bundle), .launch(bundleID: Story.bundle))
        #expect(story.calls == "WRA DEB WEF DBA", "told once")
      }
    }
  }

  @Test("D-048 after a restore the VoIP token is a fresh one, whichever token is asked for first")
  func freshAfterRestore() {
    let app = AppDescription.calling { $0.script[.didFinishLaunching] = [] }
    for remoteFirst in [true, false] {
      var story = story(.g3, .active, app: app)
      story.act(.registerForRemoteNotifications)
      story.act(.setPushTypes([.voip]))
      story.happens(
        .tokenIssued(bundleID: Story.bundle, token: [1]), .voipTokenIssued(bundleID: Story.bundle, token: [2]),
        .restoreFromBackup(toNewPhone: false), .unlock, .launch(bundleID: Story.bundle))
      #expect(story.phone.voipToken(of: Story.bundle) == nil)
      if remoteFirst { story.happens(.tokenIssued(bundleID: Story.bundle, token: [3])) }
      for fresh in [true, false] {
        story.forget()
        story.act(.setPushTypes([.voip]))
        let asked = Phone.Effect.registerForRemoteNotifications(
          bundleID: Story.bundle, environment: .production, kind: .voip, fresh: fresh)
        #expect(story.effects == (fresh ? [asked] : []))
        story.happens(.voipTokenIssued(bundleID: Story.bundle, token: [4]))
      }
    }
  }

  @Test(
    "D-048 a VoIP token that comes by the common event is PushKit's as well")
  func commonEvent() {
    var story = story(.g3, .active)
    story.happens(.tokenIssued(bundleID: Story.bundle, token: [7], kind: .voip))
    #expect(story.phone.voipToken(of: Story.bundle) == [7])
    #expect(story.callbacks.map(\.arguments) == [.credentials(.voip, token: [7])])
  }

  @Test(
    "D-114 D-186 PKR without a handler to iOS 10, with one from 11 on; the older form if the app has only that",
    arguments: [
      (IOSVersion(8), false, false), (IOSVersion(10, 3), false, false), (IOSVersion(11), false, true),
      (.g3, false, true), (.g3, true, false),
    ])
  func receiveForm(version: IOSVersion, onlyOlder: Bool, withHandler: Bool) {
    let app = AppDescription.calling { if onlyOlder { $0.implements.remove(.pushRegistryDidReceive) } }
    var story = story(version, .suspended, app: app)
    voip(&story)
    let selector = "pushRegistry:didReceiveIncomingPushWithPayload:forType:"
    #expect(
      story.callbacks.map(\.method.selector) == [selector + (withHandler ? "withCompletionHandler:" : "")])
    #expect(story.callbacks.allSatisfy { $0.choice(by: "D-114")?.contains("PushKit") == true })
    #expect(story.phone.call != nil || version.major < 10, "both do the same")
  }

  @Test("D-048 offline the token waits for the network; without mode or entitlement there is none")
  func noToken() {
    var offline = story(.g3, .notRunning) { $0.online = false }
    offline.happens(.launch(bundleID: Story.bundle))
    #expect(offline.effects.isEmpty)
    offline.happens(.networkChanged(online: true))
    #expect(
      offline.effects.contains(
        .registerForRemoteNotifications(bundleID: Story.bundle, environment: .production, kind: .voip, fresh: false)))
    for app in [AppDescription.calling { $0.backgroundModes.remove(.voip) }, .calling { $0.apsEnvironment = .none }] {
      var story = story(.g3, .notRunning, app: app)
      story.happens(.launch(bundleID: Story.bundle))
      #expect(story.effects.isEmpty)
    }
  }

  // MARK: D-114, D-187

  @Test(
    "D-114 D-187 the app is started or woken in any state; never another callback",
    arguments: [
      (IOSVersion(7, 1), AppState.suspended, "-"), (.g1, .notRunning, "-"), (.g2, .notRunning, "LO(∅) DEB PKR(B)"),
      (.g2, .forceQuit, "LO(∅) DEB PKR(B)"), (.g2, .suspended, "PKR(B)"), (.g2, .active, "PKR(A)"),
      (.g3, .notRunning, "LO(∅) DEB PKR(B)"), (.g3, .forceQuit, "LO(∅) DEB PKR(B)"), (.g3, .suspended, "PKR(B)"),
      (.g3, .background, "PKR(B)"), (.g3, .inactive, "PKR(I)"), (.g3, .active, "PKR(A)"),
    ])
  func arrival(version: IOSVersion, state: AppState, calls: String) {
    var story = story(version, state)
    voip(&story)
    #expect(story.calls == calls)
    #expect(story.letters == "-")
    #expect(story.rules.contains("D-114"))
    if calls.contains("PKR") {
      #expect(
        story.callbacks.contains { $0.arguments == .pushKitPayload(.voip, ["aps": [:], "caller": "Lin"]) })
    } else {
      #expect(story.said("no PushKit", "D-114"))
    }
  }

  @Test("D-187 the switch voipAfterForceQuit")
  func afterForceQuit() {
    var story = story(.g3, .forceQuit) { $0.voipAfterForceQuit = false }
    voip(&story)
    #expect(story.calls == "-")
    #expect(story.said("swiped the app away", "D-187"))
  }

  @Test("D-114 without the background mode nothing comes")
  func noMode() {
    var story = story(.g3, .suspended, app: .calling { $0.backgroundModes = [] })
    voip(&story)
    #expect(story.calls == "-")
  }

  // MARK: D-186

  @Test("D-186 from iOS 13 on a push without a call ends the app; before, and with an older SDK, it does not")
  func mustReport() {
    let silent = AppDescription.calling { $0.script[.pushRegistryDidReceive] = [] }
    for (version, sdk, ended) in [
      (IOSVersion(12, 4), nil, false), (IOSVersion(13), nil, true), (.g3, nil, true), (.g3, IOSVersion(12), false),
      (.g3, IOSVersion(13), true), (.g2, nil, false),
    ] as [(IOSVersion, IOSVersion?, Bool)] {
      for state in [AppState.suspended, .active, .notRunning] {
        var story = story(
          version, state,
          app: {
            var app = silent
            app.sdk = sdk
            return app
          }())
        voip(&story)
        #expect(story.calls.contains("PKR"))
        #expect((story.state == .notRunning) == ended, "iOS \(version), \(state)")
        #expect(story.said("never posted an incoming call", "D-186") == ended)
      }
    }
  }

  @Test("D-186 after too many failures no VoIP push comes, until the app is installed anew")
  func stopped() {
    let silent = AppDescription.calling { $0.script[.pushRegistryDidReceive] = [] }
    var story = story(.g3, .notRunning, app: silent) { $0.voipFailuresAllowed = 2 }
    for _ in 0..<3 { voip(&story) }
    #expect(story.callbacks.filter { $0.method == .pushRegistryDidReceive }.count == 3)
    story.forget()
    voip(&story)
    #expect(story.calls == "-")
    #expect(story.said("too many times", "D-186"))
    story.happens(.uninstallApp(bundleID: Story.bundle), .installApp(.calling))
    voip(&story)
    #expect(story.calls.contains("PKR"))
  }

  @Test("D-186 the call screen is the system's: it rings, is answered, ended; the app runs on meanwhile")
  func answered() {
    for locked in [false, true] {
      var story = story(.g3, .suspended)
      if locked { story.happens(.lock) }
      voip(&story)
      #expect(story.phone.call?.caller == "Lin")
      #expect(story.shown.map(\.parts) == [.call])
      #expect(story.state == .background)
      story.pass(.minutes(5))
      #expect(story.state == .background)
      story.forget()
      story.happens(.answerCall)
      #expect(story.calls == "answerCall")
      #expect(story.phone.call?.isAnswered == true)
      story.happens(.answerCall, .declineCall)
      #expect(story.calls == "answerCall")
      story.happens(.hangUp)
      #expect(story.calls == "answerCall endCall")
      #expect(story.phone.call == nil)
      #expect(story.state == .suspended)
    }
  }

  @Test("D-186 declined; the caller gives up; the app is ended")
  func declined() {
    var declined = story(.g3, .suspended)
    voip(&declined)
    declined.happens(.declineCall)
    #expect(declined.calls == "PKR(B) endCall")
    #expect(declined.phone.call == nil)
    #expect(declined.state == .suspended)
    var gone = story(.g3, .suspended)
    voip(&gone)
    gone.act(.reportCallEnded)
    #expect(gone.phone.call == nil)
    var ended = story(.g3, .suspended)
    voip(&ended)
    ended.happens(.forceQuit(bundleID: Story.bundle))
    #expect(ended.phone.call == nil)
  }

  @Test("D-186 the handler of the report is called")
  func reported() {
    var story = story(.g3, .suspended, app: .calling { $0.implements.insert(.incomingCallReported) })
    voip(&story)
    #expect(story.calls == "PKR(B) callReported")
  }

  private func twoCalls(answered: Bool) -> Story {
    var story = story(.g3, .suspended)
    voip(&story)
    if answered { story.happens(.answerCall) }
    story.act(.reportIncomingCall(from: "Bo"))
    story.forget()
    return story
  }

  @Test("D-186 a second call rings beside the first: answering it ends that one, declining it leaves it")
  func second() {
    var answer = twoCalls(answered: true)
    #expect(answer.phone.screen.call?.caller == "Lin" && answer.phone.screen.waitingCall?.caller == "Bo")
    answer.happens(.answerCall)
    #expect(answer.callbacks.map(\.arguments) == [.call(from: "Lin"), .call(from: "Bo")])
    #expect(answer.calls == "endCall answerCall")
    #expect(answer.phone.call?.caller == "Bo" && answer.phone.call?.isAnswered == true)
    #expect(answer.phone.waitingCall == nil && answer.state == .background)

    var decline = twoCalls(answered: true)
    decline.happens(.declineCall)
    #expect(decline.callbacks.map(\.arguments) == [.call(from: "Bo")])
    #expect(decline.phone.call?.caller == "Lin" && decline.phone.waitingCall == nil)

    var hangUp = twoCalls(answered: true)
    hangUp.happens(.hangUp)
    #expect(hangUp.phone.call?.caller == "Bo" && hangUp.phone.call?.isAnswered == false)
    #expect(hangUp.state == .background, "a call of its own still rings")
  }

  @Test("D-186 two that ring: the first is answered first; a third finds no place; all end with their app")
  func severalRing() {
    var story = twoCalls(answered: false)
    story.act(.reportIncomingCall(from: "Cy"))
    #expect(story.said("no place for a third call", "D-186") && story.shown.isEmpty)
    story.happens(.answerCall)
    #expect(story.phone.call?.caller == "Lin" && story.phone.call?.isAnswered == true)
    story.act(.reportCallEnded)
    #expect(story.phone.waitingCall == nil && story.phone.call?.caller == "Lin", "the later one is over")
    var ended = twoCalls(answered: false)
    ended.happens(.forceQuit(bundleID: Story.bundle))
    #expect(ended.phone.call == nil && ended.phone.waitingCall == nil)
  }
}
