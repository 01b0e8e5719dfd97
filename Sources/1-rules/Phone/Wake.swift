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
}
