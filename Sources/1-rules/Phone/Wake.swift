import Basics
import PushPayload

/// Background execution: whether `content-available` wakes the app, and what becomes of what does not (section G).
extension Phone {
  /// Why an app is not woken, in the order of D-170: the first one missing is the reason that is told.
  private enum Obstacle {
    case oldSystem
    case offloaded
    case strictSeed
    case noMode
    case noCallback
    case forceQuit
    case refreshOff
    case lowPower
    case firstUnlock
    case budget
  }

  private func lastingObstacle(_ app: Int) -> Obstacle? {
    if settings.iosVersion.major < 7 { return .oldSystem }
    if apps[app].isOffloaded { return .offloaded }
    if settings.strictSeed, !apps[app].state.isAlive { return .strictSeed }
    if !apps[app].description.backgroundModes.contains(.remoteNotification) { return .noMode }
    if !apps[app].implements(.didReceiveRemoteNotificationFetch, in: settings.iosVersion) { return .noCallback }
    if apps[app].state == .forceQuit { return .forceQuit }
    if settings.refreshBlocks {
      if settings.backgroundRefreshRestricted || !isRefreshOn(app) { return .refreshOff }
      if settings.isLowPower { return .lowPower }
    }
    if launchesWait { return .firstUnlock }
    return nil
  }

  /// Runs the app's code in the background for a push, if nothing stands against it.
  mutating func wake(_ app: Int, with notice: Notice, _ rule: Rule) {
    var obstacle = lastingObstacle(app)
    if obstacle == nil, !apps[app].budget.take(settings, at: now) { obstacle = .budget }
    switch obstacle {
    case nil: run(app, with: notice, rule)
    case .oldSystem: noWakeBeforeIOS7(app, notice, rule)
    case .offloaded: noWake(app, notice, "the app is offloaded", "D-045")
    case .strictSeed: noWake(app, notice, "the app has exited: no content reaches its code", rule)
    case .noMode: noWake(app, notice, "the app has no background mode remote-notification", "D-170")
    case .noCallback: noWake(app, notice, "the app implements no fetch callback", "D-170")
    case .forceQuit: noWake(app, notice, "the user swiped the app away: no wake until it is opened", rule)
    case .refreshOff: noWake(app, notice, "Background App Refresh is off", "D-180")
    case .lowPower: hold(app, notice, "Low Power Mode", until: nil, "D-179")
    case .firstUnlock:
      hold(app, notice, "before the first unlock since the restart", until: nil, "D-185", alsoVisible: true)
    case .budget:
      hold(
        app, notice, "its wakes for now are used up", until: apps[app].budget.nextWake(settings, after: now),
        "D-175")
    }
  }

  private mutating func noWake(_ app: Int, _ notice: Notice, _ reason: String, _ rule: Rule) {
    record(.withheld(pushID: notice.pushID, reason: "no wake: \(reason)"), app, rule)
  }

  /// A newsstand app is due one wake in 24 hours (D-188): noted here, not carried out.
  private mutating func noWakeBeforeIOS7(_ app: Int, _ notice: Notice, _ rule: Rule) {
    let version = settings.iosVersion
    guard version.major >= 5, apps[app].description.backgroundModes.contains(.newsstand) else {
      return noWake(app, notice, "iOS \(version) wakes no app; only newsstand apps, once a day", rule)
    }
    if let last = apps[app].newsstandAt, now - last < .hours(24) {
      return noWake(app, notice, "the newsstand app had its one push of these 24 hours", "D-188")
    }
    apps[app].newsstandAt = now
    noWake(app, notice, "iOS \(version) would wake the newsstand app, once in 24 hours; noted only", "D-188")
  }

  /// Only a silent push is held, and only the newest (D-177); the wake of a visible one is lost (D-178), except that it
  /// waits for the first unlock (D-185).
  private mutating func hold(
    _ app: Int, _ notice: Notice, _ reason: String, until: Instant?, _ rule: Rule, alsoVisible: Bool = false
  ) {
    guard alsoVisible || !notice.content.isVisible else { return noWake(app, notice, reason, rule) }
    record(.withheld(pushID: notice.pushID, reason: "held: \(reason)"), app, rule)
    if let old = apps[app].held {
      record(.withheld(pushID: old.notice.pushID, reason: "it was held, and a newer one takes its place"), app, "D-177")
    }
    apps[app].held = HeldPush(notice: notice, until: until)
  }

  /// Its time has come.
  mutating func deliverHeld(_ held: HeldPush, to app: Int) {
    if let push = held.notice.push, let expiration = push.expiration, push.isExpired(at: now) {
      return record(.withheld(pushID: push.id, reason: "it expired at \(expiration)"), app, "D-116")
    }
    record(.system("the held background push comes now"), app, "D-177")
    wake(app, with: held.notice, apps[app].state == .notRunning ? "D-107" : "D-106")
  }

  /// A switch has changed.
  mutating func reconsiderHeld(_ app: Int) {
    guard let held = apps[app].held, !apps[app].state.isFront else { return }
    apps[app].held = nil
    deliverHeld(held, to: app)
  }

  private mutating func run(_ app: Int, with notice: Notice, _ rule: Rule) {
    switch apps[app].state {
    case .notRunning: launchBehind(app, with: notice.content.userInfo, rule)
    case .suspended: resumeBehind(app, rule)
    case .background: break
    case .forceQuit, .inactive, .active: return
    }
    fetch(notice, app, rule)
    suspendIfIdle(app, "D-158")
  }
}
