import Basics
import PushPayload

/// The delivery matrix: what is called and shown when a push arrives (spec section D).
///
///     reached ─▶ notification of the user? ─▶ readable ─▶ oddities ─┬─▶ wake by content-available, never delayed
///                  └▶ PushKit, Live Activity, other                └─▶ service extension ─▶ present
///
/// `present` looks the texts up and goes by the app's state at that moment; local notifications enter there.
extension Phone {
  mutating func arrive(_ push: DeliveredPayload) {
    guard let app = reached(by: push) else { return }
    var notice = Notice(push)
    recordArrival(of: push, app)
    guard isForTheUser(notice, push.pushType, app), isReadable(notice, app) else { return }
    recordOddities(of: push, &notice.content, app)
    recordWakeFlaw(notice, app)
    if apps[app].state.isFront, isLocked {
      present(notice, at: app)
    } else if apps[app].state.isFront {
      arriveInFront(notice, at: app)
    } else {
      arriveBehind(notice, at: app)
    }
  }

  // MARK: the steps before anything happens

  /// The app that the push is for; nil, and told: it does not come to this phone or its app.
  private mutating func reached(by push: DeliveredPayload) -> Int? {
    func withhold(_ reason: String, _ app: Int?, _ rule: Rule) -> Int? {
      record(.withheld(pushID: push.id, reason: reason), app, rule)
      return nil
    }
    guard isOnline else {
      effects.append(.notReached(pushID: push.id))
      return withhold("the phone is offline; APNs keeps one per app", nil, "D-116")
    }
    guard let app = index(of: push.bundleID) else {
      return withhold("no app \(push.bundleID) on this phone; APNs will learn that its token is dead", nil, "D-015")
    }
    if let expiration = push.expiration, push.isExpired(at: now) {
      return withhold("it expired at \(expiration)", app, "D-116")
    }
    guard !apps[app].registration.unregistered else {
      return withhold("the app unregistered itself", app, "D-029")
    }
    guard !apps[app].isOffloaded || (settings.offloadedShowsPushes && push.pushType == .alert) else {
      return withhold("the app is offloaded; its token is dead", app, "D-045")
    }
    guard !isDroppedAtAPNs(push, app) else {
      return withhold("APNs discarded it as disabled by the user; the provider saw 200", app, "D-047")
    }
    return app
  }

  /// Whether the push goes on to the user; what is for another part of the system goes there.
  private mutating func isForTheUser(_ notice: Notice, _ type: PushType, _ app: Int) -> Bool {
    switch type {
    case .alert, .background: return true
    case .voip: arriveVoIP(notice, at: app)
    case .liveactivity: arriveLiveActivity(notice, at: app)
    case .complication, .fileprovider, .mdm, .location, .pushtotalk, .controls, .widgets:
      record(.notModelled("push type \(type.rawValue)"), app, "D-189")
    }
    return false
  }

  private mutating func isReadable(_ notice: Notice, _ app: Int) -> Bool {
    guard let flaw = notice.content.flaw else { return true }
    record(.withheld(pushID: notice.pushID, reason: "\(flaw); APNs would have refused it"), app, "D-200")
    return false
  }

  private mutating func recordArrival(of push: DeliveredPayload, _ app: Int) {
    let way =
      push.acceptedAt.map { "server → APNs (took it \($0)) → this phone" } ?? "server → APNs → this phone"
    record(
      .arrived(
        pushID: push.id, kind: push.content.kind(push.pushType), text: "\(way): \(push.content.summary)"),
      app, "D-072")
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
    let limit = Self.payloadLimit(push.pushType, settings.iosVersion)
    if push.bytes.count > limit {
      let words = "its payload has \(push.bytes.count) bytes, and APNs took \(limit) at most for this iOS: not cut here"
      record(.system(words), app, "D-227")
    }
  }

  /// Bytes that APNs took for such a push when this iOS was the newest (D-227).
  private static func payloadLimit(_ type: PushType, _ version: IOSVersion) -> Int {
    switch version.major {
    case ...7: 256
    case 8: 2_048
    default: type == .voip ? 5_120 : 4_096
    }
  }

  private static func rule(ofIgnored path: JSONPath) -> Rule {
    switch path.description {
    case "aps.badge": "D-213"
    case "aps.content-available": "D-171"
    default: "D-200"
    }
  }

  // MARK: showing

  /// What is to be shown goes through the service extension, if it is for it (D-250), then to `present`.
  private mutating func throughExtension(_ notice: Notice, at app: Int, isFetched: Bool = false) {
    if startServiceExtension(for: notice, of: app, isFetched: isFetched) { return }
    present(notice, at: app, isFetched: isFetched)
  }

  /// Shows the notification, or asks the app about it, by where the app is at this moment. `isFetched`: the fetch
  /// callback has come already.
  mutating func present(_ notice: Notice, at app: Int, isFetched: Bool = false) {
    let notice = localised(notice, of: app)
    if notice.isLocal { return presentLocal(notice, at: app) }
    guard apps[app].state.isFront else { return showBehind(notice, at: app, behindRule(notice.kind, app)) }
    guard !isLocked else { return holdForUnlock(notice, app) }
    switch frontReceiver(of: app) {
    case .application: tellApplication(notice, app, isFetched: isFetched)
    case .delegate: askDelegate(notice, app, Self.frontRule(notice.kind), canFetch: !isFetched)
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
    switch (frontReceiver(of: app), notice.kind) {
    case (.application, _): applicationInFront(notice, app)
    case (.delegate, .nothing):
      record(.withheld(pushID: notice.pushID, reason: notice.content.whyNothing), app, "D-117")
    case (.delegate, .silent), (.delegate, .silentWithExtras):
      if !deliver(notice, to: app, "D-103") {
        record(.withheld(pushID: notice.pushID, reason: "the app implements no callback for it"), app, "D-002")
      }
    case (.delegate, .alert), (.delegate, .badgeOnly), (.delegate, .soundOnly), (.delegate, .voip),
      (.delegate, .special):
      throughExtension(notice, at: app)
    case (.delegate, .alertAndWake): bothInFront(notice, app)
    }
  }

  /// `content-available` waits for no service extension (D-253); without one DRF is the arrival itself (D-120).
  private mutating func applicationInFront(_ notice: Notice, _ app: Int) {
    let wakesFirst = notice.content.wakes && runsServiceExtension(notice, app)
    if wakesFirst { deliver(notice, to: app, "D-120") }
    throughExtension(notice, at: app, isFetched: wakesFirst)
  }

  /// K2 in front: the fetch callback for `content-available`, `willPresent` for the rest (D-102, C-25).
  private mutating func bothInFront(_ notice: Notice, _ app: Int) {
    guard apps[app].description.backgroundModes.contains(.remoteNotification),
      apps[app].implements(.didReceiveRemoteNotificationFetch, in: settings.iosVersion)
    else { return throughExtension(notice, at: app) }
    switch settings.foregroundPairOrder {
    case .fetchFirst:
      fetch(notice, app, "D-102")
      throughExtension(notice, at: app, isFetched: true)
    case .presentFirst:
      throughExtension(notice, at: app, isFetched: true)
      fetch(notice, app, "D-102")
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

  /// DRF or DRN, nothing on the screen. `isFetched`: the fetch callback has come already.
  private mutating func tellApplication(_ notice: Notice, _ app: Int, isFetched: Bool) {
    let withoutDelegate = settings.iosVersion.generation == .g3
    let kind = notice.kind
    let rule = withoutDelegate && notice.content.isVisible ? "D-120" : Self.frontRule(kind)
    if kind == .nothing, withoutDelegate, apps[app].description.delegate != .never {
      return record(.withheld(pushID: notice.pushID, reason: notice.content.whyNothing), app, "D-117")
    }
    if !isFetched, !deliver(notice, to: app, rule) {
      record(.withheld(pushID: notice.pushID, reason: "the app implements no callback for it"), app, "D-002")
    }
    if notice.content.isVisible {
      showWithoutDelegate(notice, at: app, rule)
    } else if kind == .nothing {
      record(.withheld(pushID: notice.pushID, reason: notice.content.whyNothing), app, "D-117")
    }
  }

  /// willPresent, or what comes in its place (D-121).
  mutating func askDelegate(
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
    if notice.content.badgeIsMinusOne, settings.pushedMinusOneClears, apps[app].permission.badge {
      setBadge(0, of: app, "D-233")
    }
    switch notice.kind {
    case .nothing: record(.withheld(pushID: notice.pushID, reason: notice.content.whyNothing), app, "D-117")
    case .alert, .badgeOnly, .soundOnly, .voip, .special: throughExtension(notice, at: app)
    case .alertAndWake:
      throughExtension(notice, at: app, isFetched: true)
      wake(app, with: notice, wakeRule(app, visible: true))
    case .silent, .silentWithExtras: wake(app, with: notice, wakeRule(app, visible: false))
    }
  }

  private func behindRule(_ kind: PushKind, _ app: Int) -> Rule {
    switch kind {
    case .badgeOnly: "D-111"
    case .soundOnly: "D-112"
    case .alertAndWake: apps[app].wasFrontAtLock ? "D-115" : wakeRule(app, visible: true)
    case .alert, .silent, .silentWithExtras, .voip, .special, .nothing: alertRule(app)
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
