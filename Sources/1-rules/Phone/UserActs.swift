import Basics
import PushPayload

/// What the user does, and what the app's code gets from it (spec section E).
extension Phone {
  /// By the icon: the app learns of no notification, and none is taken away (D-131, D-134, D-228).
  mutating func openByIcon(_ app: Int) {
    guard !isLocked else { return record(.user("cannot open the app, the phone is locked"), app, "D-139") }
    guard !apps[app].isOffloaded else { return reinstallOffloaded(app) }
    switch apps[app].state {
    case .notRunning, .forceQuit:
      record(.user("opens the app by its icon"), app, "D-131")
      clearScreen(for: app)
      launchInFront(app, with: nil, "D-155")
      becomeActive(app, "D-155")
    case .suspended, .background:
      record(.user("opens the app by its icon"), app, "D-134")
      clearScreen(for: app)
      enterForeground(app, "D-156")
      becomeActive(app, "D-156")
    case .inactive, .active: record(.user("opens the app, which is in front already"), app, "D-134")
    }
  }

  mutating func closeAlert(_ app: Int) {
    let rule: Rule = apps[app].state.isAlive ? "D-134" : "D-131"
    record(.user("closes the alert"), app, rule)
    let ids = apps[app].entries.filter { $0.onScreen && !$0.inCentre && !$0.onLockScreen }.map(\.id)
    for index in apps[app].entries.indices { apps[app].entries[index].onScreen = false }
    guard !ids.isEmpty else { return }
    apps[app].entries.removeAll { ids.contains($0.id) }
    record(.removed(ids: ids, reason: "closed by the user"), app, rule)
  }

  mutating func tap(_ app: Int, id: String?) {
    let entries = apps[app].entries
    guard let entry = id.map({ id in entries.last { $0.id == id } }) ?? entries.last else {
      return record(.user("finds no notification of the app to use"), app, "D-151")
    }
    guard !isLocked else {
      waitingTap = (apps[app].description.bundleID, entry.id)
      return record(
        .user(
          "uses the notification \(entry.id) on the lock screen\(settings.passcode ? "; the phone asks who it is" : "")"
        ),
        app, "D-139")
    }
    use(entry, of: app, by: nil)
  }

  /// The notification leaves, the badge stays, the app gets the payload. `rule` where another than the act's own says
  /// so.
  private mutating func use(_ entry: CentreEntry, of app: Int, by rule: Rule?) {
    let rule = rule ?? Self.useRule(apps[app].state)
    record(.user("uses the notification \(entry.id)"), app, rule)
    apps[app].entries.removeAll { $0.id == entry.id }
    record(.removed(ids: [entry.id], reason: "used"), app, rule)
    guard !apps[app].isOffloaded else { return reinstallOffloaded(app) }
    let content = entry.notice.content
    chooseScene(of: app, for: content, rule)
    let response = ResponseArgument(
      Callback.defaultAction, to: entry.argument, targetScene: targetScene(of: app, for: content))
    switch apps[app].state {
    case .notRunning, .forceQuit:
      clearScreen(for: app)
      let toldScene = launchInFront(app, with: content.userInfo, rule, response: response)
      respond(entry, of: app, rule, isLaunch: true, toldScene: toldScene)
      becomeActive(app, rule)
    case .suspended, .background:
      clearScreen(for: app)
      let toldScene = enterForeground(app, rule, response: response)
      respond(entry, of: app, rule, isLaunch: false, toldScene: toldScene)
      becomeActive(app, rule)
    case .active, .inactive:
      // not the banner over the app, then out of the centre, which lies over it meanwhile (D-135)
      let fromCentre = centreIsOpen || !entry.onScreen
      if fromCentre { resignActive(app, rule) }
      respond(entry, of: app, rule, isLaunch: false)
      centreIsOpen = false
      if fromCentre { becomeActive(app, rule) }
    }
  }

  private static func useRule(_ state: AppState) -> Rule {
    switch state {
    case .notRunning, .forceQuit: "D-130"
    case .suspended, .background: "D-133"
    case .inactive, .active: "D-135"
    }
  }

  /// DRR, else DRF, else DRN; after a cold start DRN is not called, the launch options have told already (D-130).
  private mutating func respond(
    _ entry: CentreEntry, of app: Int, _ rule: Rule, isLaunch: Bool, toldScene: Bool = false
  ) {
    if settings.iosVersion.major >= 10, apps[app].delegateSet {
      guard
        call(
          .didReceiveResponse, of: app,
          .response(
            ResponseArgument(
              Callback.defaultAction, to: entry.argument,
              targetScene: targetScene(of: app, for: entry.notice.content))), rule)
      else {
        return record(
          .withheld(pushID: entry.notice.pushID, reason: "the delegate has no didReceive response"), app, "D-002")
      }
      return wait(for: .didReceiveResponse, entry.notice, of: app, apps[app].description.responseAnswer, "D-005")
    }
    if settings.iosVersion.major >= 10, apps[app].description.delegate == .afterLaunch, isLaunch {
      return record(.fault("delegate set too late: the response that launched the app is lost"), app, "D-004")
    }
    if toldScene {
      return record(.system("only the connection options of the scene carry the notification"), app, "D-138")
    }
    if fetch(entry.notice, app, rule) { return }
    if !isLaunch { call(.didReceiveRemoteNotification, of: app, .userInfo(entry.notice.content.userInfo), rule) }
  }

  // MARK: lock

  mutating func lock() {
    guard !isLocked else { return }
    record(.user("locks the phone"), nil, "D-157")
    if let front {
      if settings.iosVersion.hasMultitasking {
        leaveScreen(front, "D-157")
        apps[front].wasFrontAtLock = apps[front].state.isAlive
      } else {
        resignActive(front, "D-062")
      }
    }
    centreIsOpen = false
    lowerAllBanners()
    isLocked = true
  }

  mutating func cancelUnlock() {
    guard isLocked else { return }
    let wanted = waitingTap
    waitingTap = nil
    record(.user("turns away from the unlock"), wanted.flatMap { index(of: $0.bundleID) }, "D-139")
  }

  /// The phone goes on asking; a notification that was used goes on waiting (D-139).
  mutating func failUnlock() {
    guard isLocked else { return }
    guard settings.passcode else { return record(.user("needs no passcode"), nil, "D-139") }
    record(.user("is not recognised; the phone stays locked"), waitingTap.flatMap { index(of: $0.bundleID) }, "D-139")
  }

  mutating func unlock() {
    guard isLocked else { return }
    isLocked = false
    let waited = waitingTap
    waitingTap = nil
    let newest = newestOnLockScreen
    let wasFront = apps.firstIndex(where: \.wasFrontAtLock)
    record(.user("unlocks the phone"), nil, waited == nil ? "D-140" : "D-139")
    leaveLockScreen()
    endWaitForFirstUnlock()
    if let waited, let app = index(of: waited.bundleID),
      let entry = apps[app].entries.first(where: { $0.id == waited.id })
    {
      use(entry, of: app, by: nil)
    } else if waited == nil, settings.strictSeed || settings.iosVersion.major <= 4, let newest {
      useByUnlock(newest.entry, of: newest.app)
    } else {
      record(.system("unlocking starts nothing and tells no app of a notification"), nil, "D-140")
      returnToScreen(wasFront)
    }
    dropVanished()
  }

  private var newestOnLockScreen: (app: Int, entry: CentreEntry)? {
    var newest: (app: Int, entry: CentreEntry)?
    for app in apps.indices {
      guard let entry = apps[app].entries.last(where: \.onLockScreen) else { continue }
      if newest.map({ entry.shownAt > $0.entry.shownAt }) ?? true { newest = (app, entry) }
    }
    return newest
  }

  /// Lock-screen entries move to the centre, where there is one (D-140).
  private mutating func leaveLockScreen() {
    for app in apps.indices {
      apps[app].wasFrontAtLock = false
      for index in apps[app].entries.indices { apps[app].entries[index].onLockScreen = false }
    }
  }

  /// What was on the lock screen and is in no list is gone: before iOS 5 all of it, later by the user's settings.
  private mutating func dropVanished() {
    for app in apps.indices { apps[app].entries.removeAll(where: \.isGone) }
  }

  /// The lock screen's slider is the alert's View button: unlocking is using it (D-060 … D-062).
  private mutating func useByUnlock(_ entry: CentreEntry, of app: Int) {
    if apps[app].state.isFront { return resumeInFront(app) }
    use(entry, of: app, by: apps[app].state.isAlive ? "D-061" : "D-060")
  }

  /// iOS 3: the app lay in front behind the lock; it gets what came meanwhile (D-062).
  private mutating func resumeInFront(_ app: Int) {
    let waiting = apps[app].waitingForUnlock
    apps[app].waitingForUnlock = []
    let used = apps[app].entries.map(\.id).filter { id in waiting.contains { $0.id == id } }
    if !used.isEmpty {
      apps[app].entries.removeAll { used.contains($0.id) }
      record(.removed(ids: used, reason: "used by unlocking"), app, "D-062")
    }
    for notice in waiting { deliver(notice, to: app, "D-062") }
    becomeActive(app, "D-062")
  }

  /// The app that was on the screen when the phone was locked is there again.
  private mutating func returnToScreen(_ app: Int?) {
    if let app, apps[app].state.isAlive, !apps[app].state.isFront {
      enterForeground(app, "D-156")
      becomeActive(app, "D-156")
    } else if let front {
      resumeInFront(front)
    }
  }

  // MARK: the centre over the app

  mutating func openCentre() {
    guard settings.iosVersion.hasCentre else { return record(.user("finds no notification centre"), nil, "D-124") }
    guard !isLocked, !centreIsOpen else { return }
    record(.user("pulls the notification centre down"), front, "D-124")
    guard let front else { return }
    centreIsOpen = true
    resignActive(front, "D-124")
  }

  mutating func closeCentre() {
    guard centreIsOpen else { return }
    centreIsOpen = false
    record(.user("closes the notification centre"), front, "D-124")
    if let front { becomeActive(front, "D-124") }
  }
}
