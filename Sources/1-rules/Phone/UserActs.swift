import Basics
import PushPayload

/// What the user wants of a notification on the lock screen, before the phone knows who it is.
struct WaitingUse: Hashable, Sendable {
  var bundleID: String
  var id: String
  var act: Act

  enum Act: Hashable, Sendable {
    case use
    case press(NotificationAction, text: String?)
    case settings

    /// Something else than the app that was on the screen is there afterwards.
    var opensApp: Bool {
      switch self {
      case .use, .settings: true
      case .press(let button, _): button.options.contains(.foreground)
      }
    }
  }

  var words: String {
    switch act {
    case .use: "uses the notification \(id)"
    case .press(let button, _): "presses \(button.id) of the notification \(id)"
    case .settings: "opens the app's own settings from the notification \(id)"
    }
  }
}

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
      grantEphemeral(app)
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

  mutating func tap(_ app: Int, id: String?) {
    guard let entry = entry(id, of: app) else {
      return record(.user("finds no notification of the app to use"), app, "D-151")
    }
    guard !hasCloseOnly(entry) else {
      return record(.user("finds only Close on the alert \(entry.id)"), app, "D-127")
    }
    guard !isLocked else {
      return askWho(WaitingUse(bundleID: apps[app].description.bundleID, id: entry.id, act: .use), "D-139")
    }
    use(entry, of: app, by: nil)
  }

  /// The entry of that identifier; nil: the newest.
  func entry(_ id: String?, of app: Int) -> CentreEntry? {
    guard let id else { return apps[app].entries.last }
    return apps[app].entries.last { $0.id == id }
  }

  /// On the lock screen: what the user wants waits until the phone knows who it is (D-139, D-143).
  mutating func askWho(_ wanted: WaitingUse, _ rule: Rule) {
    waitingTap = wanted
    record(
      .user("\(wanted.words) on the lock screen\(settings.passcode ? "; the phone asks who it is" : "")"),
      index(of: wanted.bundleID), rule)
  }

  /// The notification leaves, the badge stays, the app gets the payload. `rule` where another than the act's own says
  /// so.
  private mutating func use(_ entry: CentreEntry, of app: Int, by rule: Rule?) {
    let rule = rule ?? Self.useRule(apps[app].state)
    longLook = nil
    record(.user("uses the notification \(entry.id)"), app, rule)
    remove([entry.id], of: app, "used", rule)
    bringToFront(app, for: Response(Callback.defaultAction, to: entry), payload: entry.notice.content.userInfo, rule)
  }

  /// What the user did with a notification, on its way to the app's code.
  struct Response {
    var action: String
    var entry: CentreEntry
    /// nil: the button has no text field.
    var text: String?

    init(_ action: String, to entry: CentreEntry, text: String? = nil) {
      self.action = action
      self.entry = entry
      self.text = text
    }
  }

  private func argument(_ response: Response, _ app: Int) -> ResponseArgument {
    ResponseArgument(
      response.action, to: response.entry.argument, userText: response.text,
      targetScene: targetScene(of: app, for: response.entry.notice.content))
  }

  /// Brings the app to the front, where it learns what the user did with a notification; `payload` goes into the launch
  /// options.
  mutating func bringToFront(_ app: Int, for response: Response, payload: JSONObject?, _ rule: Rule) {
    let content = response.entry.notice.content
    if !apps[app].state.isAlive, let image = content.payload.alert?.launchImage {
      record(.system("shows the launch image \(image)"), app, "D-209")
    }
    chooseScene(of: app, for: content, rule)
    // not the banner over the app, then out of the centre, which lies over it meanwhile (D-135)
    let fromCentre = centreIsOpen || !response.entry.onScreen
    bringToFront(app, payload: payload, argument(response, app), fromCentre: fromCentre, rule) { phone, occasion in
      phone.tell(response, to: app, rule, occasion)
    }
  }

  /// How the app's code came to run for what it is told.
  struct Occasion {
    var isLaunch = false
    /// A scene has connected, with the response in its options.
    var toldScene = false
  }

  /// Brings the app to the front; `body` runs before it becomes active.
  mutating func bringToFront(
    _ app: Int, payload: JSONObject?, _ response: ResponseArgument?, fromCentre: Bool, _ rule: Rule,
    _ body: (inout Phone, Occasion) -> Void
  ) {
    guard !apps[app].isOffloaded else { return reinstallOffloaded(app) }
    switch apps[app].state {
    case .notRunning, .forceQuit:
      clearScreen(for: app)
      grantEphemeral(app)
      let toldScene = launchInFront(app, with: payload, rule, response: response)
      body(&self, Occasion(isLaunch: true, toldScene: toldScene))
      becomeActive(app, rule)
    case .suspended, .background:
      clearScreen(for: app)
      let toldScene = enterForeground(app, rule, response: response)
      body(&self, Occasion(toldScene: toldScene))
      becomeActive(app, rule)
    case .active, .inactive:
      if fromCentre { resignActive(app, rule) }
      body(&self, Occasion())
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

  /// DRR with the delegate; else by the older calls: HAI for a button, DRF or DRN for the notification itself.
  mutating func tell(_ response: Response, to app: Int, _ rule: Rule, _ occasion: Occasion) {
    let notice = response.entry.notice
    if settings.iosVersion.major >= 10, occasion.isLaunch, apps[app].description.delegate == .afterLaunch {
      return record(.fault("delegate set too late: the response that launched the app is lost"), app, "D-004")
    }
    if settings.iosVersion.major >= 10, apps[app].delegateSet {
      guard call(.didReceiveResponse, of: app, .response(argument(response, app)), rule) else {
        return record(
          .withheld(pushID: notice.pushID, reason: "the delegate has no didReceive response"), app, "D-002")
      }
      return wait(for: .didReceiveResponse, notice, of: app, apps[app].description.responseAnswer, "D-005")
    }
    if occasion.toldScene {
      return record(.system("only the connection options of the scene carry the notification"), app, "D-138")
    }
    switch response.action {
    case Callback.defaultAction: tellUse(response.entry, to: app, rule, occasion)
    case Callback.dismissAction:
      record(.withheld(pushID: notice.pushID, reason: "no delegate to learn that it was dismissed"), app, "D-145")
    default: tellAction(response, to: app, rule)
    }
  }

  /// DRF, else DRN; after a cold start DRN is not called, the launch options have told already (D-130).
  private mutating func tellUse(_ entry: CentreEntry, to app: Int, _ rule: Rule, _ occasion: Occasion) {
    let notice = entry.notice
    if notice.isLocal { return respondLocally(to: entry, of: app, rule, isLaunch: occasion.isLaunch) }
    if fetch(notice, app, rule) { return }
    if !occasion.isLaunch {
      call(.didReceiveRemoteNotification, of: app, .userInfo(notice.content.userInfo), rule)
    }
  }

  // MARK: lock

  mutating func lock() {
    guard !isLocked else { return }
    longLook = nil
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
    if let waited, let app = index(of: waited.bundleID), let entry = entry(waited.id, of: app) {
      perform(waited.act, on: entry, of: app)
      if !waited.act.opensApp { returnToScreen(wasFront) }
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

  private mutating func perform(_ act: WaitingUse.Act, on entry: CentreEntry, of app: Int) {
    switch act {
    case .use: use(entry, of: app, by: nil)
    case .press(let button, let text): press(button, text: text, on: entry, of: app)
    case .settings: openSettings(of: app, on: entry)
    }
  }

  /// The lock screen's slider is the alert's View button: unlocking is using it (D-060 … D-062).
  private mutating func useByUnlock(_ entry: CentreEntry, of app: Int) {
    if apps[app].state.isFront { return resumeInFront(app) }
    guard entry.notice.content.hasViewButton else {
      return record(.system("the alert has only Close: unlocking starts nothing"), app, "D-127")
    }
    use(entry, of: app, by: apps[app].state.isAlive ? "D-061" : "D-060")
  }

  /// iOS 3: the app lay in front behind the lock; it gets what came meanwhile (D-062).
  private mutating func resumeInFront(_ app: Int) {
    let waiting = apps[app].waitingForUnlock
    apps[app].waitingForUnlock = []
    remove(waiting.map(\.id), of: app, "used by unlocking", "D-062")
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
    centreIsOpen = true
    if let front { resignActive(front, "D-124") }
  }

  mutating func closeCentre() {
    guard centreIsOpen else { return }
    centreIsOpen = false
    record(.user("closes the notification centre"), front, "D-124")
    if let front { becomeActive(front, "D-124") }
  }
}
