import PushPayload

/// One instance of an app's user interface: the `UISceneSession` that lives on when its scene is disconnected (D-137).
public struct SceneID: Hashable, Sendable, CustomStringConvertible {
  /// From 1 on, never used again while the app is installed.
  public var number: Int

  public init(_ number: Int) { self.number = number }

  public var description: String { "scene \(number)" }
}

/// `UIScene.ActivationState`.
public enum ScenePhase: String, CaseIterable, Hashable, Sendable {
  /// Not connected: there is a session, but no scene in memory.
  case unattached
  case background
  case foregroundInactive
  case foregroundActive
}

/// A session of an app, and how its scene stands.
struct Scene: Hashable, Sendable {
  var id: SceneID
  var phase = ScenePhase.unattached
  /// No configuration has been asked for yet.
  var isNew = true
  /// Target content identifiers that it is for (`UISceneActivationConditions`).
  var targets: [String] = []
}

/// The four calls of coming and going. With a scene manifest, from iOS 13 on, they go to the scene's delegate (D-161;
/// Apple, "Managing your app's life cycle").
enum Transition {
  case willEnterForeground
  case didBecomeActive
  case willResignActive
  case didEnterBackground

  var ofApp: Callback.Method {
    switch self {
    case .willEnterForeground: .willEnterForeground
    case .didBecomeActive: .didBecomeActive
    case .willResignActive: .willResignActive
    case .didEnterBackground: .didEnterBackground
    }
  }

  var ofScene: Callback.Method {
    switch self {
    case .willEnterForeground: .sceneWillEnterForeground
    case .didBecomeActive: .sceneDidBecomeActive
    case .willResignActive: .sceneWillResignActive
    case .didEnterBackground: .sceneDidEnterBackground
    }
  }

  /// What observers in the whole process get, scenes or not (Apple, `applicationDidEnterBackground(_:)`).
  var posted: String {
    switch self {
    case .willEnterForeground: "posts UIApplication.willEnterForegroundNotification"
    case .didBecomeActive: "posts UIApplication.didBecomeActiveNotification"
    case .willResignActive: "posts UIApplication.willResignActiveNotification"
    case .didEnterBackground: "posts UIApplication.didEnterBackgroundNotification"
    }
  }
}

/// Apps with scenes (G3s of the specification): D-136 … D-138, D-161, D-166.
extension Phone {
  /// Its life-cycle calls go to the delegates of its scenes.
  func usesScenes(_ app: Int) -> Bool { apps[app].description.hasSceneManifest && settings.iosVersion.major >= 13 }

  /// One of the four, to whom it belongs. A scene's phase is changed as the app's state is: before "did", after "will".
  mutating func announce(_ transition: Transition, of app: Int, _ rule: Rule) {
    guard usesScenes(app) else {
      call(transition.ofApp, of: app, rule)
      return
    }
    guard let scene = apps[app].scenes.last, scene.phase != .unattached else { return }
    announce(transition, to: scene.id, of: app, rule)
    record(.system(transition.posted), app, "D-161")
  }

  private mutating func announce(_ transition: Transition, to scene: SceneID, of app: Int, _ rule: Rule) {
    switch transition {
    case .didBecomeActive: setPhase(.foregroundActive, of: scene, app)
    case .didEnterBackground: setPhase(.background, of: scene, app)
    case .willEnterForeground, .willResignActive: break
    }
    call(transition.ofScene, of: app, .scene(scene), rule)
    switch transition {
    case .willEnterForeground, .willResignActive: setPhase(.foregroundInactive, of: scene, app)
    case .didBecomeActive, .didEnterBackground: break
    }
  }

  private mutating func setPhase(_ phase: ScenePhase, of scene: SceneID, _ app: Int) {
    guard let index = apps[app].scenes.firstIndex(where: { $0.id == scene }) else { return }
    apps[app].scenes[index].phase = phase
  }

  /// Connects the scene that is used next, if it is not connected: its options hold the response that it is for
  /// (D-136, D-166). Answers whether it had to.
  @discardableResult
  mutating func connectScene(of app: Int, with response: ResponseArgument?, _ rule: Rule) -> Bool {
    if apps[app].scenes.isEmpty { addScene(to: app) }
    guard let scene = apps[app].scenes.last, scene.phase == .unattached else { return false }
    let options = Callback.Arguments.connectionOptions(scene.id, notificationResponse: response)
    if scene.isNew {
      apps[app].scenes[apps[app].scenes.count - 1].isNew = false
      call(.configurationForConnectingScene, of: app, options, "D-161")
    }
    setPhase(.background, of: scene.id, app)
    call(.sceneWillConnect, of: app, options, rule)
    return true
  }

  private mutating func addScene(to app: Int) {
    apps[app].lastScene += 1
    apps[app].scenes.append(Scene(id: SceneID(apps[app].lastScene)))
  }

  /// `UNNotificationResponse.targetScene`: the scene that is for the notification's target content, else the one used
  /// last (D-137, D-226). nil: the app has no scenes, or none yet.
  func targetScene(of app: Int, for content: Content) -> SceneID? {
    guard usesScenes(app) else { return nil }
    if let target = content.payload.targetContentID,
      let scene = apps[app].scenes.last(where: { $0.targets.contains(target) })
    {
      return scene.id
    }
    return apps[app].scenes.last?.id
  }

  /// Before the app is brought to front for a notification: its target scene is the one that comes.
  mutating func chooseScene(of app: Int, for content: Content, _ rule: Rule) {
    guard usesScenes(app) else { return }
    if apps[app].scenes.isEmpty { addScene(to: app) }
    guard let target = targetScene(of: app, for: content) else { return }
    if apps[app].state.isFront { switchScene(of: app, to: target, rule) } else { moveLast(target, of: app) }
  }

  private mutating func moveLast(_ scene: SceneID, of app: Int) {
    guard let index = apps[app].scenes.firstIndex(where: { $0.id == scene }) else { return }
    apps[app].scenes.append(apps[app].scenes.remove(at: index))
  }

  /// Another window of the app in front: one goes behind as the other comes, the app itself stays in front.
  private mutating func switchScene(of app: Int, to scene: SceneID, _ rule: Rule) {
    guard let old = apps[app].scenes.last?.id, old != scene else { return }
    resignActive(app, rule)
    moveLast(scene, of: app)
    connectScene(of: app, with: nil, rule)
    announce(.willEnterForeground, to: scene, of: app, rule)
    announce(.didEnterBackground, to: old, of: app, rule)
    becomeActive(app, rule)
  }

  // MARK: events

  mutating func setActivationConditions(_ targets: [String], of app: Int) {
    guard usesScenes(app), !apps[app].scenes.isEmpty else {
      return record(.fault("has no scene to set activation conditions on"), app, "D-137")
    }
    record(.app(AppAct.setActivationConditions(targets).words), app, "D-137")
    apps[app].scenes[apps[app].scenes.count - 1].targets = targets
  }

  mutating func openScene(_ app: Int) {
    guard usesScenes(app), apps[app].description.supportsMultipleScenes, !apps[app].isOffloaded else {
      return record(.user("finds no way to open another window of the app"), app, "D-137")
    }
    guard !isLocked else { return record(.user("cannot open a window, the phone is locked"), app, "D-139") }
    record(.user("opens a new window"), app, "D-137")
    guard let front = apps[app].scenes.last?.id, apps[app].state.isFront else {
      addScene(to: app)
      return bringToFront(app)
    }
    addScene(to: app)
    let new = SceneID(apps[app].lastScene)
    moveLast(front, of: app)
    switchScene(of: app, to: new, "D-137")
  }

  mutating func showScene(_ scene: SceneID, of app: Int) {
    guard usesScenes(app), apps[app].scenes.contains(where: { $0.id == scene }), !apps[app].isOffloaded else {
      return record(.user("finds no window \(scene.number) of the app"), app, "D-137")
    }
    guard !isLocked else { return record(.user("cannot go to a window, the phone is locked"), app, "D-139") }
    record(.user("goes to \(scene)"), app, "D-137")
    guard !apps[app].state.isFront else { return switchScene(of: app, to: scene, "D-137") }
    moveLast(scene, of: app)
    bringToFront(app)
  }

  private mutating func bringToFront(_ app: Int) {
    clearScreen(for: app)
    if apps[app].state.isAlive { enterForeground(app, "D-137") } else { launchInFront(app, with: nil, "D-155") }
    becomeActive(app, "D-137")
  }

  /// The user removes a window from the app switcher (Apple, `didDiscardSceneSessions`). With its only window the app
  /// goes: that is a force-quit (D-163).
  mutating func closeScene(_ scene: SceneID, of app: Int) {
    guard usesScenes(app), let index = apps[app].scenes.firstIndex(where: { $0.id == scene }) else {
      return record(.user("finds no window \(scene.number) of the app"), app, "D-137")
    }
    guard apps[app].scenes.count > 1 else { return forceQuit(app) }
    record(.user("closes \(scene)"), app, "D-137")
    if apps[app].state.isFront, index == apps[app].scenes.count - 1 { leaveScreen(app, "D-157") }
    disconnect([scene], of: app)
    apps[app].scenes.removeAll { $0.id == scene }
    guard apps[app].state.isAlive else { return apps[app].discardedScenes.append(scene) }
    runBriefly(app) { phone, app in phone.call(.didDiscardSceneSessions, of: app, .sceneSessions([scene]), "D-137") }
  }

  /// The system takes scenes behind out of memory; their sessions stay (D-137).
  mutating func disconnectScene(_ scene: SceneID?, of app: Int) {
    let behind = apps[app].scenes.filter { $0.phase == .background && (scene == nil || $0.id == scene) }.map(\.id)
    guard !behind.isEmpty else { return record(.system("no scene behind to disconnect"), app, "D-137") }
    record(.system("the memory of its scenes behind is taken back"), app, "D-137")
    disconnect(behind, of: app)
  }

  /// `sceneDidDisconnect`, for those that are connected.
  mutating func disconnect(_ scenes: [SceneID], of app: Int) {
    runBriefly(app) { phone, app in
      for scene in phone.apps[app].scenes where scenes.contains(scene.id) && scene.phase != .unattached {
        phone.setPhase(.unattached, of: scene.id, app)
        phone.call(.sceneDidDisconnect, of: app, .scene(scene.id), "D-137")
      }
    }
  }

  /// A suspended app executes for the length of a call.
  private mutating func runBriefly(_ app: Int, _ body: (inout Phone, Int) -> Void) {
    let wasSuspended = apps[app].state == .suspended
    if wasSuspended { setState(.background, of: app, "D-137") }
    body(&self, app)
    if wasSuspended { suspendIfIdle(app, "D-137") }
  }

  /// The app's windows and how each stands, the one used last at the end. Empty without scenes.
  public func scenes(of bundleID: String) -> [(id: SceneID, phase: ScenePhase)] {
    index(of: bundleID).map { apps[$0].scenes.map { ($0.id, $0.phase) } } ?? []
  }
}
