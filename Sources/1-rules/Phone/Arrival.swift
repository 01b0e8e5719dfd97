import Basics
import PushPayload

/// The delivery matrix: what is called and shown when a push arrives (spec section D).
extension Phone {
  mutating func arrive(_ push: DeliveredPayload) {
    guard isOnline else {
      effects.append(.notReached(pushID: push.id))
      return record(.withheld(pushID: push.id, reason: "the phone is offline; APNs keeps one per app"), nil, "D-116")
    }
    guard let app = index(of: push.bundleID) else {
      let reason = "no app \(push.bundleID) on this phone; APNs will learn that its token is dead"
      return record(.withheld(pushID: push.id, reason: reason), nil, "D-015")
    }
    if let expiration = push.expiration, push.isExpired(at: now) {
      return record(.withheld(pushID: push.id, reason: "it expired at \(expiration)"), app, "D-116")
    }
    guard !apps[app].registration.unregistered else {
      return record(.withheld(pushID: push.id, reason: "the app unregistered itself"), app, "D-029")
    }
    var notice = Notice(push)
    recordArrival(of: push, app)
    if let reason = Self.notModelled(push.pushType) { return record(.notModelled(reason.0), app, reason.1) }
    if let flaw = notice.content.flaw {
      return record(.withheld(pushID: push.id, reason: "\(flaw); APNs would have refused it"), app, "D-200")
    }
    recordOddities(of: push, &notice.content, app)
    if apps[app].state.isFront, isLocked {
      holdForUnlock(notice, app)
    } else if apps[app].state.isFront {
      arriveInFront(notice, at: app)
    } else {
      arriveBehind(notice, at: app)
    }
  }

  private mutating func recordArrival(of push: DeliveredPayload, _ app: Int) {
    let way =
      push.acceptedAt.map { "server → APNs (took it \($0)) → this phone" } ?? "server → APNs → this phone"
    record(
      .arrived(
        pushID: push.id, kind: push.content.kind(push.pushType), text: "\(way): \(push.content.summary)"),
      app, "D-072")
  }

  private static func notModelled(_ type: PushType) -> (String, Rule)? {
    switch type {
    case .alert, .background: nil
    case .voip: ("VoIP pushes: PushKit and CallKit", "D-114")
    case .complication, .fileprovider, .mdm, .location, .liveactivity, .pushtotalk, .controls, .widgets:
      ("push type \(type.rawValue)", "D-189")
    }
  }

  /// What is odd about the push, and what the phone makes of it.
  private mutating func recordOddities(of push: DeliveredPayload, _ content: inout Content, _ app: Int) {
    for ignored in content.payload.ignored where ignored.path != .root {
      let reason = "\(ignored.path) \(ignored.found). \(ignored.effect)"
      record(.withheld(pushID: push.id, reason: reason), app, Self.rule(ofIgnored: ignored.path))
    }
    if push.pushType == .background, content.isVisible {
      record(
        .withheld(pushID: push.id, reason: "push type background with something to show: misconfigured, not shown"),
        app, "D-118")
      content = content.changed {
        $0.alert = nil
        $0.badge = nil
        $0.sound = nil
      }
    }
    if push.pushType == .background, push.priority == .immediate {
      record(
        .withheld(pushID: push.id, reason: "a background push with priority 10 is an error: throttled or dropped"),
        app, "D-176")
    }
    if push.pushType == .alert, !content.isVisible, content.wakes {
      record(
        .withheld(pushID: push.id, reason: "push type alert with nothing visible: misconfigured, APNs may drop it"),
        app, "D-118")
    }
    if content.payload.mutableContent, apps[app].description.hasServiceExtension, settings.iosVersion.major >= 10 {
      record(.notModelled("the service extension: the original is shown"), app, "D-250")
    }
    if settings.iosVersion.major >= 15, let level = content.payload.interruptionLevel, level != .active {
      record(.notModelled("interruption level \(level.rawValue): treated as active"), app, Self.rule(of: level))
    }
    if content.payload.sound?.isCritical == true {
      record(.notModelled("a critical sound: played as an ordinary one"), app, "D-224")
    }
    if let alert = content.payload.alert,
      [alert.title, alert.subtitle, alert.body].contains(where: { $0?.isLocalized == true })
    {
      record(.notModelled("localised texts: the plain text or the key is shown"), app, "D-205")
    }
  }

  private static func rule(of level: Payload.InterruptionLevel) -> Rule {
    switch level {
    case .passive: "D-260"
    case .active: "D-261"
    case .timeSensitive: "D-262"
    case .critical: "D-263"
    }
  }

  private static func rule(ofIgnored path: JSONPath) -> Rule {
    switch path.description {
    case "aps.badge": "D-213"
    case "aps.content-available": "D-171"
    default: "D-200"
    }
  }

  // MARK: in front

  /// Who gets a push while the app is on the screen.
  private enum FrontReceiver {
    /// `willPresent` decides (G3 with its delegate).
    case delegate
    /// DRF, else DRN: G1, G2, and G3 without delegate.
    case application
  }

  private func frontReceiver(of app: Int) -> FrontReceiver {
    switch settings.iosVersion.generation {
    case .g1, .g2: .application
    case .g3: apps[app].delegateSet ? .delegate : .application
    }
  }

  mutating func arriveInFront(_ notice: Notice, at app: Int) {
    recordWakeFlaw(notice, app)
    switch frontReceiver(of: app) {
    case .application: frontForApplication(notice, app)
    case .delegate: frontForDelegate(notice, app)
    }
  }

  private static func frontRule(_ kind: PushKind) -> Rule {
    switch kind {
    case .alert: "D-100"
    case .alertAndWake: "D-102"
    case .silent, .silentWithExtras: "D-103"
    case .badgeOnly, .soundOnly: "D-113"
    case .voip: "D-114"
    case .special: "D-189"
    case .nothing: "D-117"
    }
  }

  private mutating func frontForApplication(_ notice: Notice, _ app: Int) {
    let withoutDelegate = settings.iosVersion.generation == .g3
    let kind = notice.kind
    let rule = withoutDelegate && notice.content.isVisible ? "D-120" : Self.frontRule(kind)
    if kind == .nothing, withoutDelegate, apps[app].description.delegate != .never {
      return record(.withheld(pushID: notice.pushID, reason: "payload shows nothing"), app, "D-117")
    }
    if !deliver(notice, to: app, rule) {
      record(.withheld(pushID: notice.pushID, reason: "the app implements no callback for it"), app, "D-002")
    }
    if notice.content.isVisible {
      if withoutDelegate, settings.noDelegateShows {
        show(notice, at: app, as: [.banner, .list, .sound, .badge], "D-120")
      } else {
        record(
          .withheld(pushID: notice.pushID, reason: "the app is in front: nothing shown, no sound, badge untouched"),
          app,
          rule)
      }
    } else if kind == .nothing {
      record(.withheld(pushID: notice.pushID, reason: "payload shows nothing"), app, "D-117")
    }
  }

  private mutating func frontForDelegate(_ notice: Notice, _ app: Int) {
    let kind = notice.kind
    switch kind {
    case .nothing: record(.withheld(pushID: notice.pushID, reason: "payload shows nothing"), app, "D-117")
    case .silent, .silentWithExtras:
      if !deliver(notice, to: app, "D-103") {
        record(.withheld(pushID: notice.pushID, reason: "the app implements no callback for it"), app, "D-002")
      }
    case .alert, .badgeOnly, .soundOnly: askDelegate(notice, app, Self.frontRule(kind), canFetch: true)
    case .alertAndWake:
      let fetches =
        apps[app].description.backgroundModes.contains(.remoteNotification)
        && apps[app].implements(.didReceiveRemoteNotificationFetch, in: settings.iosVersion)
      let presents = apps[app].implements(.willPresent, in: settings.iosVersion)
      guard fetches, presents else {
        return askDelegate(notice, app, "D-102", canFetch: true)
      }
      switch settings.foregroundPairOrder {
      case .fetchFirst:
        fetch(notice, app, "D-102")
        askDelegate(notice, app, "D-102", canFetch: false)
      case .presentFirst:
        askDelegate(notice, app, "D-102", canFetch: false)
        fetch(notice, app, "D-102")
      }
    case .voip, .special:
      record(.notModelled("push type \(notice.push?.pushType.rawValue ?? "")"), app, Self.frontRule(kind))
    }
  }

  /// willPresent, or what comes in its place (D-121).
  private mutating func askDelegate(
    _ notice: Notice, _ app: Int, _ rule: Rule, canFetch: Bool
  ) {
    guard apps[app].permission.isGranted else {
      return record(
        .withheld(
          pushID: notice.pushID, reason: "notifications are not allowed: nothing shown, willPresent not called"),
        app, "D-034")
    }
    guard apps[app].implements(.willPresent, in: settings.iosVersion) else {
      if canFetch { fetch(notice, app, "D-121") }
      return record(
        .withheld(pushID: notice.pushID, reason: "the delegate has no willPresent: nothing shown"), app, "D-121")
    }
    call(.willPresent, of: app, .notification(NotificationArgument(notice, date: now)), rule)
    wait(for: .willPresent, notice, of: app, apps[app].description.presentationAnswer, "D-101")
  }

  /// DRF, else DRN, else nobody (D-003). Answers whether there was somebody.
  @discardableResult
  mutating func deliver(_ notice: Notice, to app: Int, _ rule: Rule) -> Bool {
    if fetch(notice, app, rule) { return true }
    return call(.didReceiveRemoteNotification, of: app, .userInfo(notice.content.userInfo), rule)
  }

  @discardableResult
  mutating func fetch(_ notice: Notice, _ app: Int, _ rule: Rule) -> Bool {
    guard call(.didReceiveRemoteNotificationFetch, of: app, .userInfo(notice.content.userInfo), rule) else {
      return false
    }
    wait(for: .didReceiveRemoteNotificationFetch, notice, of: app, apps[app].description.fetchAnswer, "D-005")
    return true
  }

  /// iOS 3: the app stays in front of a locked screen and gets the push after the unlock (D-062).
  private mutating func holdForUnlock(_ notice: Notice, _ app: Int) {
    showBehind(notice, at: app, "D-115")
    apps[app].waitingForUnlock.append(notice)
    record(.system("the callback waits for the unlock"), app, "D-062")
  }

  // MARK: behind

  private mutating func arriveBehind(_ notice: Notice, at app: Int) {
    recordWakeFlaw(notice, app)
    if notice.content.badgeIsMinusOne, settings.pushedMinusOneClears, apps[app].permission.badge {
      setBadge(0, of: app, "D-233")
    }
    let kind = notice.kind
    switch kind {
    case .nothing: record(.withheld(pushID: notice.pushID, reason: "payload shows nothing"), app, "D-117")
    case .alert: showBehind(notice, at: app, alertRule(app))
    case .badgeOnly: showBehind(notice, at: app, "D-111")
    case .soundOnly: showBehind(notice, at: app, "D-112")
    case .alertAndWake:
      showBehind(notice, at: app, apps[app].wasFrontAtLock ? "D-115" : wakeRule(app, visible: true))
      wake(app, with: notice, wakeRule(app, visible: true))
    case .silent, .silentWithExtras: wake(app, with: notice, wakeRule(app, visible: false))
    case .voip, .special:
      record(.notModelled("push type \(notice.push?.pushType.rawValue ?? "")"), app, Self.frontRule(kind))
    }
  }

  /// The row for a plain alert, by the app's state.
  private func alertRule(_ app: Int) -> Rule {
    switch apps[app].state {
    case .notRunning: "D-108"
    case .forceQuit: "D-109"
    case .suspended, .background, .inactive, .active: apps[app].wasFrontAtLock ? "D-115" : "D-105"
    }
  }

  private func wakeRule(_ app: Int, visible: Bool) -> Rule {
    switch apps[app].state {
    case .notRunning: "D-107"
    case .forceQuit: visible ? "D-109" : "D-110"
    case .suspended, .background, .inactive, .active: visible ? "D-104" : "D-106"
    }
  }

  private mutating func recordWakeFlaw(_ notice: Notice, _ app: Int) {
    guard let flaw = notice.content.wakeFlaw,
      !notice.content.payload.ignored.contains(where: { $0.path == Self.wakePath })
    else {
      return
    }
    record(.withheld(pushID: notice.pushID, reason: "\(flaw): does not wake"), app, "D-171")
  }

  private static let wakePath = JSONPath("aps", "content-available")
}
