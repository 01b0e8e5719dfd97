import Basics
import PushPayload

/// Background execution: whether `content-available` wakes the app, and what becomes of what does not (section G).
extension Phone {
  /// Why an app is not woken, in the order of D-170: the first one missing is the reason that is told.
  private enum Obstacle {
    case oldSystem
    case strictSeed
    case noMode
    case noCallback
    case forceQuit
    case refreshOff
    case lowPower
    case budget
  }

  private func lastingObstacle(_ app: Int) -> Obstacle? {
    let description = apps[app].description
    if settings.iosVersion.major < 7 { return .oldSystem }
    if settings.strictSeed, !apps[app].state.isAlive { return .strictSeed }
    if !description.backgroundModes.contains(.remoteNotification) { return .noMode }
    if !apps[app].implements(.didReceiveRemoteNotificationFetch, in: settings.iosVersion) { return .noCallback }
    if apps[app].state == .forceQuit { return .forceQuit }
    if settings.refreshBlocks, !(settings.backgroundRefresh && description.backgroundRefresh) { return .refreshOff }
    if settings.refreshBlocks, settings.lowPower { return .lowPower }
    return nil
  }

  /// Runs the app's code in the background for a push, if nothing stands against it.
  mutating func wake(_ app: Int, with push: DeliveredPayload, _ content: Content, _ rule: Rule) {
    var obstacle = lastingObstacle(app)
    if obstacle == nil, !apps[app].budget.take(settings, at: now) { obstacle = .budget }
    switch obstacle {
    case nil: run(app, with: push, content, rule)
    case .oldSystem: noWake(app, push, "iOS \(settings.iosVersion) wakes no app; only newsstand apps, once a day", rule)
    case .strictSeed: noWake(app, push, "the app has exited: no content reaches its code", rule)
    case .noMode: noWake(app, push, "the app has no background mode remote-notification", "D-170")
    case .noCallback: noWake(app, push, "the app implements no fetch callback", "D-170")
    case .forceQuit: noWake(app, push, "the user swiped the app away: no wake until it is opened", rule)
    case .refreshOff: noWake(app, push, "Background App Refresh is off", "D-180")
    case .lowPower: hold(app, push, content, "Low Power Mode", until: nil, "D-179")
    case .budget:
      hold(
        app, push, content, "its wakes for now are used up", until: apps[app].budget.nextWake(settings, after: now),
        "D-175")
    }
  }

  private mutating func noWake(_ app: Int, _ push: DeliveredPayload, _ reason: String, _ rule: Rule) {
    record(.withheld(pushID: push.id, reason: "no wake: \(reason)"), app, rule)
  }

  /// Only a silent push is held, and only the newest (D-177); the wake of a visible one is lost (D-178).
  private mutating func hold(
    _ app: Int, _ push: DeliveredPayload, _ content: Content, _ reason: String, until: Instant?, _ rule: Rule
  ) {
    guard !content.isVisible else { return noWake(app, push, reason, rule) }
    record(.withheld(pushID: push.id, reason: "held: \(reason)"), app, rule)
    if let old = apps[app].held {
      record(.withheld(pushID: old.push.id, reason: "it was held, and a newer one takes its place"), app, "D-177")
    }
    apps[app].held = HeldPush(push: push, until: until)
  }

  /// Its time has come.
  mutating func deliverHeld(_ held: HeldPush, to app: Int) {
    if let expiration = held.push.expiration, held.push.isExpired(at: now) {
      return record(.withheld(pushID: held.push.id, reason: "it expired at \(expiration)"), app, "D-116")
    }
    record(.system("the held background push comes now"), app, "D-177")
    wake(app, with: held.push, Content(held.push.bytes), apps[app].state == .notRunning ? "D-107" : "D-106")
  }

  /// A switch has changed.
  mutating func reconsiderHeld(_ app: Int) {
    guard let held = apps[app].held, !apps[app].state.isFront else { return }
    apps[app].held = nil
    deliverHeld(held, to: app)
  }

  private mutating func run(_ app: Int, with push: DeliveredPayload, _ content: Content, _ rule: Rule) {
    switch apps[app].state {
    case .notRunning: launchBehind(app, with: content.userInfo, rule)
    case .suspended:
      setState(.background, of: app, rule)
      if settings.debOnResume { call(.didEnterBackground, of: app, "D-159") }
    case .background: break
    case .forceQuit, .inactive, .active: return
    }
    fetch(push, content, app, rule)
    suspendIfIdle(app, "D-158")
  }

  // MARK: handlers

  /// The app's code was given a handler: it calls it as it was described to, or not at all.
  mutating func wait(
    for method: Callback.Method, _ push: DeliveredPayload, of app: Int, _ answer: AppDescription.Answer, _ rule: Rule
  ) {
    let limit = method == .willPresent ? settings.presentTime : settings.wakeTime
    var awaited = AwaitedAnswer(method: method, push: push, answersAt: now, deadline: now + limit, rule: rule)
    switch answer {
    case .atOnce: resolve(awaited, of: app)
    case .twice:
      resolve(awaited, of: app)
      record(.fault("called the handler of \(method.short) twice; the second call counts for nothing"), app, "D-005")
    case .after(let span):
      awaited.answersAt = now + max(span, .milliseconds(0))
      if awaited.answersAt == now { resolve(awaited, of: app) } else { apps[app].awaited.append(awaited) }
    case .never:
      awaited.answersAt = nil
      apps[app].awaited.append(awaited)
    }
  }

  /// The handler was called, or its time is over.
  mutating func resolve(_ awaited: AwaitedAnswer, of app: Int) {
    let inTime = awaited.answersAt.map { $0 <= awaited.deadline } ?? false
    switch awaited.method {
    case .willPresent: inTime ? presented(awaited, app) : notPresented(awaited, app)
    case .didReceiveRemoteNotificationFetch: inTime ? fetched(awaited, app) : notFetched(awaited, app)
    case .didReceiveResponse:
      guard !inTime else { return }
      record(.fault("did not call the handler of didReceive response"), app, "D-005")
    case .willFinishLaunching, .didFinishLaunching, .didBecomeActive, .willResignActive, .didEnterBackground,
      .willEnterForeground, .willTerminate, .didReceiveRemoteNotification, .didRegisterUserNotificationSettings,
      .authorizationAnswer, .didRegisterForRemoteNotifications, .didFailToRegister, .deliveredNotifications:
      break
    }
  }

  private mutating func presented(_ awaited: AwaitedAnswer, _ app: Int) {
    let options = apps[app].description.presentation
    record(.app("answers willPresent: \(options)"), app, "D-101")
    let content = Content(awaited.push.bytes)
    guard !options.isEmpty else {
      return record(.withheld(pushID: awaited.push.id, reason: "willPresent answered nothing"), app, "D-101")
    }
    show(awaited.push, content, at: app, as: options, "D-101")
  }

  private mutating func notPresented(_ awaited: AwaitedAnswer, _ app: Int) {
    record(
      .withheld(
        pushID: awaited.push.id, reason: "willPresent was not answered in \(settings.presentSeconds) s: not presented"),
      app, "D-122")
  }

  private mutating func fetched(_ awaited: AwaitedAnswer, _ app: Int) {
    let result = apps[app].description.fetchResult
    record(.app("calls the fetch handler: \(result.rawValue)"), app, "D-173")
    if apps[app].state == .background, result == .newData {
      record(.system("a new snapshot for the app switcher"), app, "D-173")
    }
    suspendIfIdle(app, "D-158")
  }

  private mutating func notFetched(_ awaited: AwaitedAnswer, _ app: Int) {
    let seconds = settings.wakeTime.milliseconds / 1000
    record(.fault("did not call the fetch handler within \(seconds) s"), app, "D-005")
    apps[app].budget.penalize()
    switch apps[app].state {
    case .background, .suspended: end(app, as: .notRunning, "D-174")
    case .active, .inactive, .notRunning, .forceQuit: break
    }
  }
}
