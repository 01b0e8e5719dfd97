import Basics
import Phone
import PushPayload
import Testing

/// G3s of the specification: iOS 13 and later, and the app has a scene manifest.
@Suite("Scenes")
struct SceneTests {
  static func app(_ adjust: (inout AppDescription) -> Void = { _ in }) -> AppDescription {
    .complete {
      $0.hasSceneManifest = true
      adjust(&$0)
    }
  }

  struct Row: CustomTestStringConvertible, Sendable {
    var id: String
    var from: AppState
    var kind = "K1"
    var act: Act
    /// From the act on.
    var calls: String
    var delegate = AppDescription.DelegateTime.beforeLaunchEnds
    var disconnected = false
    var testDescription: String { "\(id): \(kind), \(act) from \(from), delegate \(delegate)" }
  }

  enum Act: String, Sendable { case tap, icon, close, unlockAfterTap, cancelAfterTap, unlock }

  static let rows = [
    Row(
      id: "D-136", from: .notRunning, act: .tap,
      calls: "LO(∅) configurationForConnecting SWC(p) sceneWEF DRR(default) sceneDBA"),
    Row(id: "D-136 D-130", from: .forceQuit, act: .tap, calls: "LO(∅) SWC(p) sceneWEF DRR(default) sceneDBA"),
    Row(
      id: "D-136 D-131", from: .notRunning, act: .icon,
      calls: "LO(∅) configurationForConnecting SWC(∅) sceneWEF sceneDBA"),
    Row(id: "D-136 D-131", from: .notRunning, act: .close, calls: "-"),
    Row(
      id: "D-132 D-136", from: .notRunning, kind: "K2", act: .tap,
      calls: "configurationForConnecting SWC(p) sceneWEF DRR(default) sceneDBA"),
    Row(id: "D-137", from: .suspended, act: .tap, calls: "sceneWEF DRR(default) sceneDBA"),
    Row(id: "D-137", from: .background, act: .tap, calls: "sceneWEF DRR(default) sceneDBA"),
    Row(
      id: "D-137", from: .suspended, act: .tap, calls: "SWC(p) sceneWEF DRR(default) sceneDBA", disconnected: true),
    Row(id: "D-134", from: .suspended, act: .icon, calls: "sceneWEF sceneDBA"),
    Row(id: "D-134 D-137", from: .suspended, act: .icon, calls: "SWC(∅) sceneWEF sceneDBA", disconnected: true),
    Row(id: "D-134", from: .background, act: .icon, calls: "sceneWEF sceneDBA"),
    Row(id: "D-134", from: .background, act: .close, calls: "-"),
    Row(id: "D-135", from: .active, act: .tap, calls: "DRR(default)"),
    Row(id: "D-135 out of the open centre", from: .inactive, act: .tap, calls: "DRR(default) sceneDBA"),
    Row(id: "D-137", from: .suspended, kind: "K2", act: .tap, calls: "sceneWEF DRR(default) sceneDBA"),
    Row(
      id: "D-138 behind", from: .suspended, act: .tap, calls: "SWC(p) sceneWEF sceneDBA", delegate: .never,
      disconnected: true),
    Row(
      id: "D-138", from: .notRunning, act: .tap,
      calls: "LO(∅) configurationForConnecting SWC(p) sceneWEF sceneDBA", delegate: .never),
    Row(id: "D-138 D-120", from: .suspended, act: .tap, calls: "sceneWEF DRF(I) sceneDBA", delegate: .never),
    Row(
      id: "D-004 D-138", from: .notRunning, act: .tap,
      calls: "LO(∅) configurationForConnecting SWC(p) sceneWEF sceneDBA", delegate: .afterLaunch),
  ]

  @Test("D-130 … D-138 of an app with scenes", arguments: rows)
  func act(row: Row) throws {
    for version in [IOSVersion(13), IOSVersion(15, 4, 1), .g3] {
      var story = Story(version, app: Self.app { $0.delegate = row.delegate })
      story.bring(to: row.from)
      if row.disconnected { story.happens(.disconnectScene(bundleID: Story.bundle, nil)) }
      let (payload, type) = try #require(Sample.of(row.kind))
      story.push(payload, type)
      story.forget()
      switch row.act {
      case .tap: story.happens(.tap(bundleID: Story.bundle, id: nil))
      case .icon: story.happens(.launch(bundleID: Story.bundle))
      case .close: story.happens(.closeAlert(bundleID: Story.bundle))
      case .unlock, .unlockAfterTap, .cancelAfterTap: break
      }
      #expect(story.calls == row.calls, "iOS \(version)")
    }
  }

  static let lockedRows = [
    Row(id: "D-139 D-137", from: .suspended, act: .unlockAfterTap, calls: "sceneWEF DRR(default) sceneDBA"),
    Row(id: "D-139 D-137", from: .active, act: .unlockAfterTap, calls: "sceneWEF DRR(default) sceneDBA"),
    Row(
      id: "D-139 D-136", from: .notRunning, act: .unlockAfterTap,
      calls: "LO(∅) configurationForConnecting SWC(p) sceneWEF DRR(default) sceneDBA"),
    Row(id: "D-139", from: .suspended, act: .cancelAfterTap, calls: "-"),
    Row(id: "D-140", from: .suspended, act: .unlock, calls: "-"),
    Row(id: "D-140", from: .active, act: .unlock, calls: "sceneWEF sceneDBA"),
  ]

  @Test("D-139 D-140 of an app with scenes, locked", arguments: lockedRows)
  func locked(row: Row) {
    var story = Story(.g3, app: Self.app())
    story.bring(to: row.from, locked: true)
    story.push(Sample.k1)
    story.forget()
    switch row.act {
    case .unlockAfterTap: story.happens(.tap(bundleID: Story.bundle, id: nil), .unlock)
    case .cancelAfterTap: story.happens(.tap(bundleID: Story.bundle, id: nil), .cancelUnlock, .unlock)
    case .unlock: story.happens(.unlock)
    case .tap, .icon, .close: break
    }
    #expect(story.calls == row.calls)
  }

  @Test("D-161 before iOS 13 a scene manifest means nothing; from 13.0 on the scene is called, not the app")
  func versions() {
    for (version, calls) in [
      (IOSVersion(12, 5, 7), "LO(∅) DBA"),
      (IOSVersion(13), "LO(∅) configurationForConnecting SWC(∅) sceneWEF sceneDBA"),
    ] {
      var story = Story(version, app: Self.app())
      story.happens(.launch(bundleID: Story.bundle))
      #expect(story.calls == calls)
    }
  }

  @Test("D-161 the process's notifications are still posted, in the order of the calls")
  func posted() {
    var story = Story(.g3, app: Self.app())
    story.happens(.launch(bundleID: Story.bundle), .home)
    let posted = story.told.filter { $0.rule == "D-161" && $0.what.words.hasPrefix("posts") }.map(\.what.words)
    #expect(
      posted == [
        "posts UIApplication.willEnterForegroundNotification", "posts UIApplication.didBecomeActiveNotification",
        "posts UIApplication.willResignActiveNotification", "posts UIApplication.didEnterBackgroundNotification",
      ])
    #expect(story.calls.hasSuffix("sceneWRA sceneDEB"))
  }

  @Test("D-160 D-161 a prompt over a scene: sceneWRA, sceneDBA after the answer")
  func prompt() {
    var story = Story(.g3, app: Self.app(), allowed: false)
    story.bring(to: .active)
    story.happens(.app(bundleID: Story.bundle, .requestAuthorization(.usual)), .answerPrompt(allow: true))
    #expect(story.calls == "sceneWRA sceneDBA authorization")
  }

  @Test("D-155 D-161 the app launches in the background state, until its scene comes to front")
  func launchState() {
    var story = Story(.g3, app: Self.app())
    story.happens(.launch(bundleID: Story.bundle))
    #expect(story.callbacks.map(\.method).first == .willFinishLaunching)
    #expect(story.callbacks.map(\.state) == [.background, .background, .background, .background, .background, .active])
  }

  @Test("D-166 launch options are nil whatever started the app; the reason is in the scene's options")
  func launchOptions() throws {
    var tapped = Story(.g3, app: Self.app())
    tapped.push(Sample.s2Visible, id: "n1")
    tapped.forget()
    tapped.happens(.endBySystem(bundleID: Story.bundle), .tap(bundleID: Story.bundle, id: nil))
    let options = tapped.callbacks.filter { $0.method == .didFinishLaunching || $0.method == .willFinishLaunching }
    #expect(
      options.map(\.arguments) == [.launchOptions(remoteNotification: nil), .launchOptions(remoteNotification: nil)])
    #expect(tapped.said("gets no launch options", "D-166"))
    let connected = try #require(tapped.callbacks.first { $0.method == .sceneWillConnect })
    let response = try #require(tapped.callbacks.first { $0.method == .didReceiveResponse })
    guard case .connectionOptions(let scene, let inOptions?) = connected.arguments,
      case .response(let received) = response.arguments
    else {
      Issue.record("SWC has the response, and so has the delegate")
      return
    }
    #expect(inOptions.notification.userInfo == Sample.s2Visible.object)
    #expect(inOptions.notification.identifier == received.notification.identifier, "one tap, told twice")
    #expect(received == inOptions)
    #expect(received.targetScene == scene)

    var woken = Story(.g3, app: Self.app())
    woken.push(Sample.k7, .background)
    #expect(woken.callbacks.first?.arguments == .launchOptions(remoteNotification: nil))
  }

  @Test("D-107 woken from not running no scene connects until the user opens; the switch connects one at once")
  func backgroundLaunch() {
    for (connects, calls) in [
      (false, "LO(∅) DRF(B)"), (true, "LO(∅) configurationForConnecting SWC(∅) sceneDEB DRF(B)"),
    ] {
      var story = Story(.g3, app: Self.app()) { $0.backgroundLaunchConnectsScene = connects }
      story.push(Sample.k3, .background)
      #expect(story.calls == calls)
      #expect(story.state == .suspended)
      story.forget()
      story.happens(.launch(bundleID: Story.bundle))
      #expect(story.calls == (connects ? "sceneWEF sceneDBA" : "configurationForConnecting SWC(∅) sceneWEF sceneDBA"))
    }
  }

  @Test("D-102 D-103 D-104 D-106 arrivals do not differ with scenes")
  func arrivals() {
    for (state, payload, type, calls) in [
      (AppState.active, Sample.k1, PushType.alert, "WP"), (.active, Sample.k2, .alert, "DRF(A) WP"),
      (.active, Sample.k3, .background, "DRF(A)"), (.suspended, Sample.k2, .alert, "DRF(B)"),
      (.suspended, Sample.k3, .background, "DRF(B)"),
    ] {
      var story = Story(.g3, app: Self.app())
      story.bring(to: state)
      story.push(payload, type)
      #expect(story.calls == calls)
    }
  }

  @Test(
    "D-141 D-142 D-148 buttons of an app with scenes: behind no scene connects, in front one does and has the response")
  func buttons() {
    for (from, action, calls) in [
      (AppState.notRunning, "later", "LO(∅) DRR(later)"), (.forceQuit, "later", "LO(∅) DRR(later)"),
      (.suspended, "later", "DRR(later)"), (.notRunning, "open", "LO(∅) SWC(p) sceneWEF DRR(open) sceneDBA"),
      (.suspended, "open", "sceneWEF DRR(open) sceneDBA"),
    ] {
      var story = ActionTests.story(.g3, from, app: Self.app())
      story.happens(.action(bundleID: Story.bundle, id: nil, action: action, text: nil))
      #expect(story.calls == calls)
    }
  }

  @Test("D-159 D-161 resumed for an event: a scene is told sceneDEB only with debOnResume")
  func resumed() {
    for (again, calls) in [(false, "DRF(B)"), (true, "sceneDEB DRF(B)")] {
      var story = Story(.g3, app: Self.app()) { $0.debOnResume = again }
      story.bring(to: .suspended)
      story.push(Sample.k3, .background)
      #expect(story.calls == calls)
    }
  }

  @Test("D-137 a scene disconnected by the system: told in the background, its session stays")
  func disconnected() {
    var story = Story(.g3, app: Self.app())
    story.bring(to: .suspended)
    story.happens(.disconnectScene(bundleID: Story.bundle, nil))
    #expect(story.calls == "sceneDidDisconnect")
    #expect(story.state == .suspended)
    #expect(story.phone.scenes(of: Story.bundle).map(\.phase) == [.unattached])
    story.happens(.launch(bundleID: Story.bundle))
    #expect(story.calls == "sceneDidDisconnect SWC(∅) sceneWEF sceneDBA", "no new configuration for an old session")
    story.forget()
    story.happens(.disconnectScene(bundleID: Story.bundle, nil))
    #expect(story.calls == "-", "not a scene in front")
  }

  @Test("D-162 D-163 an app with scenes ends: by the system without a word to the scene, by the user with one")
  func ends() {
    var system = Story(.g3, app: Self.app())
    system.bring(to: .suspended)
    system.happens(.endBySystem(bundleID: Story.bundle))
    #expect(system.calls == "-")
    #expect(system.phone.scenes(of: Story.bundle).map(\.phase) == [.unattached])
    var user = Story(.g3, app: Self.app())
    user.bring(to: .active)
    user.happens(.forceQuit(bundleID: Story.bundle))
    #expect(user.calls == "sceneDidDisconnect willTerminate")
    #expect(user.state == .forceQuit)
  }
}

@Suite("Several scenes")
struct SeveralScenesTests {
  static var app: AppDescription { SceneTests.app { $0.supportsMultipleScenes = true } }

  /// Two windows, the second in front.
  private func two() -> Story {
    var story = Story(.g3, app: Self.app)
    story.happens(.launch(bundleID: Story.bundle), .openScene(bundleID: Story.bundle))
    return story
  }

  @Test("D-137 a second window: the first goes behind as the second comes, the app stays in front")
  func second() {
    var story = Story(.g3, app: Self.app)
    story.bring(to: .active)
    story.happens(.openScene(bundleID: Story.bundle))
    #expect(story.calls == "sceneWRA configurationForConnecting SWC(∅) sceneWEF sceneDEB sceneDBA")
    #expect(story.state == .active)
    let scenes = story.phone.scenes(of: Story.bundle)
    #expect(scenes.map(\.id) == [SceneID(1), SceneID(2)])
    #expect(scenes.map(\.phase) == [.background, .foregroundActive])
    story.forget()
    story.happens(.showScene(bundleID: Story.bundle, SceneID(1)))
    #expect(story.calls == "sceneWRA sceneWEF sceneDEB sceneDBA")
    let told: [SceneID] = story.callbacks.compactMap {
      if case .scene(let scene) = $0.arguments { scene } else { nil }
    }
    #expect(told == [SceneID(2), SceneID(1), SceneID(2), SceneID(1)])
  }

  @Test("D-137 without several scenes there is no second window")
  func notSupported() {
    var story = Story(.g3, app: SceneTests.app())
    story.bring(to: .active)
    story.happens(.openScene(bundleID: Story.bundle))
    #expect(story.calls == "-")
    #expect(story.phone.scenes(of: Story.bundle).count == 1)
  }

  @Test("D-137 D-226 targetScene: the window that is for the target content, else the one used last")
  func target() {
    for (target, scene) in [("chat-7", 1), ("other", 2), (nil, 2)] as [(String?, Int)] {
      for state in [AppState.suspended, .active] {
        var story = Story(.g3, app: Self.app)
        story.happens(.launch(bundleID: Story.bundle))
        story.happens(.app(bundleID: Story.bundle, .setActivationConditions(["chat-7"])))
        story.happens(.openScene(bundleID: Story.bundle))
        if state == .suspended { story.happens(.home, .suspend(bundleID: Story.bundle)) }
        var aps: JSONObject = ["alert": "hi"]
        aps["target-content-id"] = target.map(JSONValue.string)
        story.push(["aps": .object(aps)])
        story.forget()
        story.happens(.tap(bundleID: Story.bundle, id: nil))
        let responses: [ResponseArgument] = story.callbacks.compactMap {
          if case .response(let response) = $0.arguments { response } else { nil }
        }
        #expect(responses.map(\.targetScene) == [SceneID(scene)], "\(target ?? "none"), \(state)")
        #expect(story.phone.scenes(of: Story.bundle).last?.id == SceneID(scene))
        #expect(story.phone.scenes(of: Story.bundle).last?.phase == .foregroundActive)
      }
    }
  }

  @Test("D-137 closing a window: disconnected and discarded; of an app that does not run it is told at the next launch")
  func closing() {
    var running = two()
    running.forget()
    running.happens(.closeScene(bundleID: Story.bundle, SceneID(1)))
    #expect(running.calls == "sceneDidDisconnect didDiscardSceneSessions")
    #expect(running.state == .active)
    var gone = two()
    gone.happens(.home, .endBySystem(bundleID: Story.bundle), .closeScene(bundleID: Story.bundle, SceneID(1)))
    gone.forget()
    gone.happens(.launch(bundleID: Story.bundle))
    #expect(gone.calls == "LO(∅) didDiscardSceneSessions SWC(∅) sceneWEF sceneDBA")
    #expect(gone.callbacks.contains { $0.arguments == .sceneSessions([SceneID(1)]) })
  }

  @Test("D-137 D-163 closing the only window is a force-quit")
  func onlyWindow() {
    var story = Story(.g3, app: Self.app)
    story.bring(to: .active)
    story.happens(.closeScene(bundleID: Story.bundle, SceneID(1)))
    #expect(story.state == .forceQuit)
    #expect(story.calls == "sceneDidDisconnect willTerminate")
  }

  @Test("D-137 the window in front closed: it leaves the screen first")
  func frontWindow() {
    var story = two()
    story.forget()
    story.happens(.closeScene(bundleID: Story.bundle, SceneID(2)))
    #expect(story.calls == "sceneWRA sceneDEB sceneDidDisconnect didDiscardSceneSessions")
    #expect(story.state == .background)
  }
}
