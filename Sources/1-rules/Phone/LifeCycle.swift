import Basics
import PushPayload

/// The order of life-cycle calls (spec section F).
extension Phone {
  static let secondsToSuspension = Instant.Span.seconds(5)

  /// The app on the screen.
  var front: Int? { apps.firstIndex { $0.state.isFront } }

  mutating func setState(_ state: AppState, of app: Int, _ rule: Rule) {
    let old = apps[app].state
    guard old != state else { return }
    apps[app].state = state
    record(.state(from: old, to: state), app, rule)
  }

  /// Calls the app's code, if it has that method and this iOS makes the call; then the code does what its script
  /// says. Answers whether there was anything to call.
  @discardableResult
  mutating func call(
    _ method: Callback.Method, of app: Int, _ arguments: Callback.Arguments, _ rule: Rule
  ) -> Bool {
    guard apps[app].implements(method, in: settings.iosVersion) else { return false }
    record(
      .callback(
        Callback(
          method: method, state: apps[app].state, arguments: arguments, circumstances: circumstances(of: app))),
      app, rule)
    for act in apps[app].description.script[method] ?? [] { perform(act, by: app) }
    return true
  }

  @discardableResult
  mutating func call(_ method: Callback.Method, of app: Int, _ rule: Rule) -> Bool {
    call(method, of: app, .none, rule)
  }

  /// willFinish and didFinish, in front or behind (D-155, D-158). The options hold the payload or nothing.
  private mutating func start(_ app: Int, in state: AppState, with payload: JSONObject?, _ rule: Rule) {
    if apps[app].description.hasSceneManifest, settings.iosVersion.major >= 13 {
      record(.notModelled("scenes: called as an app without a scene manifest"), app, "D-161")
    }
    setState(state, of: app, rule)
    call(.willFinishLaunching, of: app, .launchOptions(remoteNotification: payload), rule)
    call(.didFinishLaunching, of: app, .launchOptions(remoteNotification: payload), rule)
    apps[app].delegateSet = apps[app].description.delegate == .beforeLaunchEnds && settings.iosVersion.major >= 10
  }

  /// Starts a process on the screen, up to but without `didBecomeActive`.
  mutating func launchInFront(_ app: Int, with payload: JSONObject?, _ rule: Rule) {
    start(app, in: .inactive, with: payload, rule)
  }

  /// Starts a process behind for an event: willFinish, didFinish, didEnterBackground (D-158).
  mutating func launchBehind(_ app: Int, with payload: JSONObject, _ rule: Rule) {
    start(app, in: .background, with: payload, rule)
    call(.didEnterBackground, of: app, "D-158")
    lateDelegate(app)
  }

  /// Brings a process that exists to the screen, up to but without `didBecomeActive` (D-156).
  mutating func enterForeground(_ app: Int, _ rule: Rule) {
    apps[app].suspendAt = nil
    if apps[app].state == .suspended { setState(.background, of: app, rule) }
    call(.willEnterForeground, of: app, rule)
    setState(.inactive, of: app, rule)
  }

  /// The last step to the screen; a prompt or the open centre keeps the app inactive.
  mutating func becomeActive(_ app: Int, _ rule: Rule) {
    guard apps[app].state == .inactive, prompt?.bundleID != apps[app].description.bundleID, !centreIsOpen, !isLocked
    else { return }
    setState(.active, of: app, rule)
    call(.didBecomeActive, of: app, rule)
    lateDelegate(app)
    if apps[app].registration.answerDue { later.append(.token(apps[app].description.bundleID)) }
    if let held = apps[app].held {
      apps[app].held = nil
      record(.system("the held background push comes now, the user opened the app"), app, "D-177")
      arriveInFront(held.notice, at: app)
    }
  }

  private mutating func lateDelegate(_ app: Int) {
    guard apps[app].description.delegate == .afterLaunch, settings.iosVersion.major >= 10 else { return }
    apps[app].delegateSet = true
  }

  /// Something comes over the app in front (D-124, D-160).
  mutating func resignActive(_ app: Int, _ rule: Rule) {
    guard apps[app].state == .active else { return }
    call(.willResignActive, of: app, rule)
    setState(.inactive, of: app, rule)
  }

  /// The app in front leaves the screen (D-157, D-164).
  mutating func leaveScreen(_ app: Int, _ rule: Rule) {
    guard apps[app].state.isFront else { return }
    centreIsOpen = false
    for index in apps[app].entries.indices { apps[app].entries[index].onScreen = false }
    guard settings.iosVersion.hasMultitasking else {
      call(.willTerminate, of: app, "D-164")
      return end(app, as: .notRunning, "D-164")
    }
    if apps[app].state == .active { call(.willResignActive, of: app, rule) }
    if apps[app].description.exitsOnSuspend {
      call(.willTerminate, of: app, "D-164")
      return end(app, as: .notRunning, "D-164")
    }
    setState(.background, of: app, rule)
    call(.didEnterBackground, of: app, rule)
    apps[app].suspendAt = now + Self.secondsToSuspension
  }

  /// Makes room on the screen for `app`.
  mutating func clearScreen(for app: Int) {
    guard let front, front != app else { return }
    leaveScreen(front, "D-157")
  }

  /// The process is gone; whatever waited in it is lost, and so is a held push (D-177).
  mutating func end(_ app: Int, as state: AppState, _ rule: Rule) {
    for answer in apps[app].awaited where answer.method == .willPresent {
      record(
        .withheld(pushID: answer.notice.pushID, reason: "the app ended before it answered willPresent"), app, "D-122")
    }
    apps[app].processEnded()
    setState(state, of: app, rule)
    if let held = apps[app].held {
      apps[app].held = nil
      record(.withheld(pushID: held.notice.pushID, reason: "it was held, and the app was ended"), app, "D-177")
    }
  }

  /// Suspends an app that nothing keeps running: no handler open, not within its seconds after leaving the screen.
  mutating func suspendIfIdle(_ app: Int, _ rule: Rule) {
    guard apps[app].state == .background, apps[app].suspendAt == nil,
      !apps[app].awaited.contains(where: { $0.method != .willPresent })
    else { return }
    setState(.suspended, of: app, rule)
  }

  // MARK: events

  mutating func home() {
    guard !isLocked, let front else { return record(.user("presses home; no app is in front"), nil, "D-157") }
    record(.user("leaves the app"), front, "D-157")
    leaveScreen(front, "D-157")
  }

  mutating func suspendNow(_ app: Int) {
    guard apps[app].state == .background else {
      return record(.system("only an app in the background can be suspended"), app, "D-157")
    }
    apps[app].suspendAt = nil
    suspendIfIdle(app, "D-157")
  }

  mutating func endBySystem(_ app: Int) {
    guard apps[app].state.isAlive else { return record(.system("it does not run"), app, "D-162") }
    if apps[app].state.isExecuting { call(.willTerminate, of: app, "D-162") }
    end(app, as: .notRunning, "D-162")
  }

  mutating func forceQuit(_ app: Int) {
    record(.user("swipes the app away"), app, "D-163")
    if apps[app].state.isExecuting { call(.willTerminate, of: app, "D-163") }
    if apps[app].state.isFront { centreIsOpen = false }
    end(app, as: .forceQuit, "D-163")
  }

  mutating func restart() {
    record(.user("restarts the phone"), nil, "D-163")
    prompt = nil
    waitingPrompts = []
    waitingTap = nil
    later = []
    centreIsOpen = false
    for app in apps.indices {
      end(app, as: .notRunning, "D-163")
      for index in apps[app].entries.indices { apps[app].entries[index].onScreen = false }
      apps[app].entries.removeAll { !$0.inCentre && !$0.onLockScreen }
    }
    isLocked = true
  }
}
