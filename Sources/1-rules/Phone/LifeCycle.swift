import Basics
import PushPayload

/// Why a process is started. The timeline tells it always, the app's code learns it only in part: by its launch options
/// or its scene's connection options (D-155, D-158, D-166).
enum LaunchReason {
  case icon
  case notification
  case push
  /// A button of a notification, or its dismissal.
  case act
  case call

  var words: String {
    switch self {
    case .icon: "launched: the user opens the app"
    case .notification: "launched: the user used a notification"
    case .push: "launched in the background: a push wakes the app"
    case .act: "launched in the background: the user acted on a notification"
    case .call: "launched in the background: a VoIP push"
    }
  }
}

/// The order of life-cycle calls (spec section F).
extension Phone {
  /// The app on the screen.
  var front: Int? { apps.firstIndex { $0.state.isFront } }

  mutating func setState(_ state: AppState, of app: Int, _ rule: Rule) {
    let old = apps[app].state
    guard old != state else { return }
    apps[app].state = state
    record(.state(from: old, to: state), app, rule)
    if apps[app].description.usesMessages, old.isFront != state.isFront { frontChanged(app) }
    if apps[app].description.liveActivities != nil, !old.isExecuting, state.isExecuting {
      later.append(.activities(apps[app].description.bundleID))
    }
    guard state == .background else { return }
    apps[app].backgroundSince = now
    if old == .suspended {
      tellRefreshStatus(app)
      tellWaitingCredentials(app)
    }
  }

  /// Calls the app's code, if it has that method and this iOS makes the call; then the code does what its script
  /// says. Answers whether there was anything to call.
  @discardableResult
  mutating func call(
    _ method: Callback.Method, of app: Int, _ arguments: Callback.Arguments, _ rule: Rule
  ) -> Bool {
    guard apps[app].implements(method, in: settings.iosVersion) else { return false }
    recordCall(method, of: app, arguments, rule)
    if apps[app].description.usesMessages { noteNotification(arguments.userInfo, of: app) }
    for act in apps[app].description.acts(in: method) {
      if act == .removeWithdrawn { removeWithdrawn(arguments.userInfo, of: app) } else { perform(act, by: app) }
    }
    return true
  }

  @discardableResult
  mutating func call(_ method: Callback.Method, of app: Int, _ rule: Rule) -> Bool {
    call(method, of: app, .none, rule)
  }

  /// The call alone: of the app's code by `call`, of an extension, which runs beside the app, without more.
  mutating func recordCall(
    _ method: Callback.Method, of app: Int, _ arguments: Callback.Arguments, _ rule: Rule
  ) {
    let callback = Callback(
      method: method, state: apps[app].state, arguments: arguments, circumstances: circumstances(of: app))
    record(.callback(callback), app, rule)
  }

  /// willFinish and didFinish (D-155, D-158). The options hold the payload or nothing; with scenes always nothing, and
  /// the app launches in the background state until a scene comes to front (D-166; Apple, `applicationState`).
  private mutating func start(
    _ app: Int, in state: AppState, with payload: JSONObject?, _ reason: LaunchReason, _ rule: Rule,
    local: NotificationArgument? = nil
  ) {
    let hasScenes = usesScenes(app)
    setState(hasScenes ? .background : state, of: app, rule)
    record(.system(reason.words), app, rule)
    if apps[app].isPrepared {
      apps[app].isPrepared = false
      record(.system("its process was prepared before; only now its code is called"), app, "D-165")
    }
    apps[app].toldRefreshStatus = refreshStatus(of: app)
    if hasScenes, payload != nil {
      record(.system("an app with scenes gets no launch options"), app, "D-166")
    }
    let options = launchOptions(with: hasScenes ? nil : payload, local: hasScenes ? nil : local, of: app)
    call(.willFinishLaunching, of: app, options, rule)
    call(.didFinishLaunching, of: app, options, rule)
    apps[app].delegateSet = apps[app].description.delegate == .beforeLaunchEnds && settings.iosVersion.major >= 10
    tellDiscardedScenes(app)
    tellUnaskedToken(app)
  }

  /// Windows that were closed while the app did not run (Apple, `didDiscardSceneSessions`).
  private mutating func tellDiscardedScenes(_ app: Int) {
    guard !apps[app].discardedScenes.isEmpty else { return }
    let scenes = apps[app].discardedScenes
    apps[app].discardedScenes = []
    if usesScenes(app) { call(.didDiscardSceneSessions, of: app, .sceneSessions(scenes), "D-137") }
  }

  /// Starts a process on the screen, up to but without `didBecomeActive`. `response`: what the user did with a
  /// notification, for the scene that connects. Answers whether a scene was given it.
  @discardableResult
  mutating func launchInFront(
    _ app: Int, with payload: JSONObject?, _ rule: Rule, response: ResponseArgument? = nil
  ) -> Bool {
    let local = payload == nil ? nil : response?.notification
    start(
      app, in: .inactive, with: payload, payload == nil && response == nil ? .icon : .notification, rule, local: local)
    guard usesScenes(app) else { return false }
    return enterForeground(app, rule, response: response)
  }

  /// Starts a process behind for an event: willFinish, didFinish, didEnterBackground (D-158). Of an app with scenes none
  /// connects (D-107).
  mutating func launchBehind(
    _ app: Int, with payload: JSONObject?, _ rule: Rule, because reason: LaunchReason = .push
  ) {
    start(app, in: .background, with: payload, reason, rule)
    if usesScenes(app) {
      if settings.backgroundLaunchConnectsScene {
        connectScene(of: app, with: nil, "D-107")
      } else {
        record(.system("no scene connects until the user opens the app"), app, "D-107")
      }
    }
    announce(.didEnterBackground, of: app, "D-158")
    lateDelegate(app)
  }

  /// A suspended process executes again, behind, for an event (D-159).
  mutating func resumeBehind(_ app: Int, _ rule: Rule) {
    setState(.background, of: app, rule)
    if settings.debOnResume { announce(.didEnterBackground, of: app, "D-159") }
  }

  /// Brings a process that exists to the screen, up to but without `didBecomeActive` (D-156). Answers whether a scene
  /// connected and was given the response (D-137).
  @discardableResult
  mutating func enterForeground(_ app: Int, _ rule: Rule, response: ResponseArgument? = nil) -> Bool {
    apps[app].suspendAt = nil
    apps[app].isLeaving = false
    if apps[app].state == .suspended { setState(.background, of: app, rule) }
    let connected = usesScenes(app) && connectScene(of: app, with: response, rule)
    announce(.willEnterForeground, of: app, rule)
    setState(.inactive, of: app, rule)
    return connected && response != nil
  }

  /// The last step to the screen; a prompt or the open centre keeps the app inactive.
  mutating func becomeActive(_ app: Int, _ rule: Rule) {
    guard apps[app].state == .inactive, prompt?.bundleID != apps[app].description.bundleID, !centreIsOpen, !isLocked
    else { return }
    setState(.active, of: app, rule)
    announce(.didBecomeActive, of: app, rule)
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
    announce(.willResignActive, of: app, rule)
    setState(.inactive, of: app, rule)
  }

  /// The app in front leaves the screen (D-157, D-164).
  mutating func leaveScreen(_ app: Int, _ rule: Rule) {
    guard apps[app].state.isFront else { return }
    centreIsOpen = false
    for index in apps[app].entries.indices { apps[app].entries[index].overlay = nil }
    guard settings.iosVersion.hasMultitasking else {
      callWillTerminate(app, "D-164")
      return end(app, as: .notRunning, "D-164")
    }
    if apps[app].state == .active { announce(.willResignActive, of: app, rule) }
    if apps[app].description.exitsOnSuspend {
      callWillTerminate(app, "D-164")
      return end(app, as: .notRunning, "D-164")
    }
    setState(.background, of: app, rule)
    announce(.didEnterBackground, of: app, rule)
    apps[app].suspendAt = now + settings.leaveTime
    apps[app].isLeaving = true
  }

  /// The time after leaving the screen is over: suspended, or ended if `didEnterBackground` has not returned (D-157).
  mutating func finishLeaving(_ app: Int) {
    apps[app].suspendAt = nil
    let left = apps[app].isLeaving
    apps[app].isLeaving = false
    if left, apps[app].description.enterBackgroundSeconds > max(0, settings.leaveSeconds) {
      record(.fault("didEnterBackground did not return within \(settings.leaveSeconds) s: ended"), app, "D-157")
      return end(app, as: .notRunning, "D-157")
    }
    takeSnapshot(of: app, "D-157")
    suspendIfIdle(app, "D-157")
  }

  /// The last call to a process; what it cannot do in its seconds is not done (D-162).
  private mutating func callWillTerminate(_ app: Int, _ rule: Rule) {
    guard call(.willTerminate, of: app, rule),
      apps[app].description.terminateSeconds > max(0, settings.leaveSeconds)
    else { return }
    record(
      .fault("willTerminate did not return within \(settings.leaveSeconds) s: killed before it was done"), app, "D-162")
  }

  /// Makes room on the screen for `app`.
  mutating func clearScreen(for app: Int) {
    longLook = nil
    guard front != app else { return }
    centreIsOpen = false
    if let front { leaveScreen(front, "D-157") }
  }

  /// The process is gone; whatever waited in it is lost, and so is a held push (D-177).
  mutating func end(_ app: Int, as state: AppState, _ rule: Rule) {
    for answer in apps[app].awaited where answer.method == .willPresent {
      record(
        .withheld(pushID: answer.notice.pushID, reason: "the app ended before it answered willPresent"), app, "D-122")
    }
    apps[app].processEnded()
    setState(state, of: app, rule)
    dropCall(of: app)
    if let held = apps[app].held {
      apps[app].held = nil
      record(.withheld(pushID: held.notice.pushID, reason: "it was held, and the app was ended"), app, "D-177")
    }
  }

  /// Suspends an app that nothing keeps running: no handler open, no background task, not within its seconds after
  /// leaving the screen.
  mutating func suspendIfIdle(_ app: Int, _ rule: Rule) {
    guard apps[app].state == .background, apps[app].suspendAt == nil, apps[app].backgroundTasks.isEmpty,
      !isInCall(app), !apps[app].awaited.contains(where: { $0.method != .willPresent })
    else { return }
    setState(.suspended, of: app, rule)
  }

  // MARK: events

  mutating func home() {
    guard !isLocked, let front else {
      if centreIsOpen { return closeCentre() }
      return record(.user("presses home; no app is in front"), nil, "D-157")
    }
    record(.user("leaves the app"), front, "D-157")
    leaveScreen(front, "D-157")
  }

  mutating func suspendNow(_ app: Int) {
    guard apps[app].state == .background else {
      return record(.system("only an app in the background can be suspended"), app, "D-157")
    }
    if !apps[app].backgroundTasks.isEmpty {
      record(.system("a background task keeps the app running"), app, "D-172")
    }
    apps[app].suspendAt = nil
    apps[app].isLeaving = false
    suspendIfIdle(app, "D-157")
  }

  mutating func endBySystem(_ app: Int) {
    guard apps[app].state.isAlive else { return record(.system("it does not run"), app, "D-162") }
    if apps[app].state.isFront { centreIsOpen = false }
    if apps[app].state.isExecuting { callWillTerminate(app, "D-162") }
    end(app, as: .notRunning, "D-162")
  }

  /// Whom the system would choose: of the suspended apps the one left longest ago, else of those that execute behind.
  mutating func endForMemory() {
    for state in [AppState.suspended, .background] {
      let candidates = apps.indices.filter { apps[$0].state == state }
      let oldest = candidates.min {
        (apps[$0].backgroundSince ?? now) < (apps[$1].backgroundSince ?? now)
      }
      guard let oldest else { continue }
      record(.system("memory is short"), oldest, "D-162")
      return endBySystem(oldest)
    }
    record(.system("memory is short; no app behind to end"), nil, "D-162")
  }

  mutating func forceQuit(_ app: Int) {
    record(.user("swipes the app away"), app, "D-163")
    if apps[app].state.isExecuting {
      disconnect(apps[app].scenes.map(\.id), of: app)
      callWillTerminate(app, "D-163")
    }
    if apps[app].state.isFront { centreIsOpen = false }
    end(app, as: .forceQuit, "D-163")
    guard apps[app].description.supportsMultipleScenes else { return }
    apps[app].discardedScenes += apps[app].scenes.map(\.id)
    apps[app].scenes = []
  }

  /// A process before its time (Apple, "About the app launch sequence"): none of the app's code is called (D-165).
  mutating func prewarm(_ app: Int) {
    guard settings.iosVersion.major >= 15 else {
      return record(.system("iOS \(settings.iosVersion) prepares no processes"), app, "D-165")
    }
    guard apps[app].state == .notRunning, !apps[app].isOffloaded else {
      return record(.system("no process is prepared: the app runs, was swiped away, or is not here"), app, "D-165")
    }
    apps[app].isPrepared = true
    record(.system("a process is prepared; the app counts as not running"), app, "D-165")
  }
}
