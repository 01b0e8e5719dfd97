public import Basics
import PushPayload

/// The local notifications of one app that wait (D-270 … D-280). They outlive its process and the phone's restart, and
/// go with the app.
struct LocalSchedule: Sendable {
  /// In the order of adding.
  private(set) var waiting: [Pending] = []
  /// When the first of them comes by time.
  private(set) var due: Instant?
  /// Requests without an identifier of their own are numbered.
  private var numbered = 0

  struct Pending: Sendable {
    var notification: LocalNotification
    var content: Content
    var added: Instant
    /// nil: it waits for a place, not for a time.
    var next: Instant?

    var region: Region? {
      switch notification.trigger {
      case .region(let region, _): region
      case .interval, .calendar, .fireDate, nil: nil
      }
    }
  }

  mutating func nextNumber() -> Int {
    numbered += 1
    return numbered
  }

  /// In place of one with the same identifier (D-235).
  mutating func add(_ pending: Pending) {
    waiting.removeAll { $0.notification.id == pending.notification.id }
    waiting.append(pending)
    findDue()
  }

  mutating func remove(where isMeant: (Pending) -> Bool) -> [Pending] {
    let removed = waiting.filter(isMeant)
    guard !removed.isEmpty else { return [] }
    waiting.removeAll(where: isMeant)
    findDue()
    return removed
  }

  /// The one that is due first, if it is due by then.
  func first(dueBy time: Instant) -> Int? {
    guard let due, due <= time else { return nil }
    return waiting.firstIndex { $0.next == due }
  }

  /// Takes one out to be delivered; `next` puts it back for another time.
  mutating func take(_ index: Int, next: Instant?) -> Pending {
    let pending = waiting[index]
    if let next { waiting[index].next = next } else { waiting.remove(at: index) }
    findDue()
    return pending
  }

  /// Answers those that have no time any more; they are gone.
  mutating func reckonAgain(_ next: (Pending) -> Instant?) -> [Pending] {
    for index in waiting.indices { waiting[index].next = next(waiting[index]) }
    findDue()
    return remove { $0.next == nil && $0.region == nil }
  }

  /// Leaves at most `limit`: those that come soonest, or that were added last (D-275). What waits for a place has no
  /// time and stays.
  mutating func cut(to limit: Int, keeping kept: PhoneSettings.PendingKept) -> Pending? {
    guard waiting.count > max(0, limit) else { return nil }
    let timed = waiting.indices.filter { waiting[$0].next != nil }
    let index: Int? =
      switch kept {
      case .soonest: timed.max { waiting[$0].next ?? .distantPast < waiting[$1].next ?? .distantPast }
      case .newest: timed.first
      }
    guard let index = index ?? waiting.indices.first else { return nil }
    defer { findDue() }
    return waiting.remove(at: index)
  }

  private mutating func findDue() { due = waiting.compactMap(\.next).min() }
}

/// How much has come in one leap of time, so that no leap is without end.
struct LocalLeap: Sendable {
  var until = Instant(milliseconds: .min)
  var count = 0
  private var instant = Instant(milliseconds: .min)
  private var countNow = 0

  /// A day of minutes, and some.
  private static let most = 1_500
  /// As many as can wait for the same moment.
  private static let mostAtOnce = 64

  /// Whether what comes again, or is asked for meanwhile, has to wait until the leap is over.
  var isLong: Bool { count >= Self.most || countNow >= Self.mostAtOnce }

  mutating func fired(at now: Instant) {
    count += 1
    countNow = now == instant ? countNow + 1 : 1
    instant = now
  }
}

extension Instant {
  fileprivate static let distantPast = Instant(milliseconds: .min)
}

/// What waits comes (section J).
extension Phone {
  /// Its identifiers, in the order of adding.
  public func pending(of bundleID: String) -> [LocalNotification] {
    index(of: bundleID).map { apps[$0].local.waiting.map(\.notification) } ?? []
  }

  /// When a notification that waits comes next: `nextTriggerDate`; nil: not by time, or there is none.
  public func nextTriggerDate(of id: String, in bundleID: String) -> Instant? {
    index(of: bundleID).flatMap { app in apps[app].local.waiting.first { $0.notification.id == id }?.next }
  }

  mutating func fireLocalNotifications(of app: Int) {
    while let index = apps[app].local.first(dueBy: now) {
      let pending = apps[app].local.waiting[index]
      leap.fired(at: now)
      var next: Instant?
      if let trigger = pending.notification.trigger, trigger.repeats {
        if leap.isLong {
          record(
            .system("\(pending.notification.id) has come \(leap.count) times in one leap of time; it goes on after it"),
            app, "D-271")
        }
        next = trigger.next(
          after: leap.isLong ? max(now, leap.until) : now, added: pending.added, in: settings.clocks)
      }
      deliver(apps[app].local.take(index, next: next), to: app)
    }
  }

  /// A place is entered or left, deliberately (D-273).
  mutating func cross(_ region: String, entering: Bool) {
    record(.user(entering ? "enters \(region)" : "leaves \(region)"), nil, "D-273")
    for app in apps.indices {
      let met = apps[app].local.waiting.filter {
        guard let own = $0.region, own.id == region else { return false }
        return entering ? own.notifiesOnEntry : own.notifiesOnExit
      }
      guard !met.isEmpty else { continue }
      guard apps[app].description.mayUseLocation else {
        record(.system("the app may not use the user's place: nothing comes of it"), app, "D-273")
        continue
      }
      for pending in met {
        if !(pending.notification.trigger?.repeats ?? false) {
          _ = apps[app].local.remove { $0.notification.id == pending.notification.id }
        }
        deliver(pending, to: app)
      }
    }
  }

  /// Travel or Settings: what goes by the phone's clocks goes by the new ones (D-272).
  mutating func changeZone(_ zone: Zone) {
    guard zone != settings.zone else { return }
    settings.zone = zone
    record(.system("the phone is in \(zone)"), nil, "D-272")
    tellMissingRules()
    followZone()
    rescheduleSummary()
  }

  mutating func tellMissingRules() {
    guard settings.zone.rules == nil else { return }
    record(.system("nobody has read the rules of \(settings.zone): it counts as UTC"), nil, "D-272")
  }

  mutating func followZone() {
    let clocks = settings.clocks
    let now = now
    for app in apps.indices
    where apps[app].local.waiting.contains(where: { $0.notification.trigger?.movesWithZone ?? false }) {
      record(.system("what waits for a time on the wall follows the zone"), app, "D-272")
      let over = apps[app].local.reckonAgain { pending in
        guard let trigger = pending.notification.trigger, trigger.movesWithZone else { return pending.next }
        if let next = trigger.next(after: now, added: pending.added, in: clocks) { return next }
        // a fire date that is over comes at once, a time of the calendar not again
        if case .fireDate = trigger { return now }
        return nil
      }
      for pending in over {
        record(.withheld(pushID: pending.notification.id, reason: "its time is over here"), app, "D-272")
      }
    }
  }

  private mutating func deliver(_ pending: LocalSchedule.Pending, to app: Int) {
    let notice = Notice(pending, bundleID: apps[app].description.bundleID)
    record(
      .system("\(notice.id): its \(pending.region == nil ? "time" : "place") has come"), app,
      pending.region == nil ? "D-270" : "D-273")
    guard !apps[app].isOffloaded else {
      return record(.withheld(pushID: notice.id, reason: "the app is offloaded"), app, "D-045")
    }
    present(notice, at: app)
  }

  // MARK: showing

  /// A local notification never passes the service extension, and knows no fetch callback (D-276, D-277, D-280).
  mutating func presentLocal(_ notice: Notice, at app: Int) {
    guard apps[app].state.isFront, !isLocked else {
      let shown = hidingBadge(notice, app)
      return showBehind(shown, at: app, "D-277")
    }
    if settings.iosVersion.major >= 10, apps[app].delegateSet {
      return askDelegate(notice, app, "D-276", canFetch: false)
    }
    if !call(
      .didReceiveLocalNotification, of: app, .localNotification(NotificationArgument(notice, date: now)), "D-276")
    {
      record(.withheld(pushID: notice.id, reason: "the app implements no callback for it"), app, "D-002")
    }
    showWithoutDelegate(notice, at: app, "D-276")
  }

  /// A badge of −1 hides the number and leaves what is listed (D-233).
  private mutating func hidingBadge(_ notice: Notice, _ app: Int) -> Notice {
    guard let badge = notice.content.payload.badge, badge < 0 else { return notice }
    var notice = notice
    notice.content = notice.content.changed { $0.badge = nil }
    let old = apps[app].badge
    if permission(of: app, for: notice).badge, old != 0 {
      apps[app].badge = 0
      record(.badge(from: old, to: 0), app, "D-233")
    }
    return notice
  }

  /// Who may be shown how. Before iOS 8 local notifications needed nobody's leave; only what the user switched off in
  /// Settings is not shown.
  func permission(of app: Int, for notice: Notice) -> Permission {
    var permission = apps[app].permission
    guard notice.isLocal, settings.iosVersion.major < 8, permission.user.allowed else { return permission }
    permission.status = .authorized
    permission.options.formUnion(.usual)
    return permission
  }

  /// Under the key of remote or of local notifications. An app with a delegate on iOS 10 and later learns of a local one
  /// by its response only (D-277).
  func launchOptions(
    with payload: JSONObject?, local: NotificationArgument?, of app: Int
  ) -> Callback.Arguments {
    guard let local, case .local = local.trigger else { return .launchOptions(remoteNotification: payload) }
    let hasDelegate = settings.iosVersion.major >= 10 && apps[app].description.delegate != .never
    return hasDelegate ? .launchOptions(remoteNotification: nil) : .localLaunchOptions(local)
  }

  /// What the app is told of a local notification that was used: the delegate as of any other, else
  /// `didReceiveLocalNotification`, after a launch only its options (D-277).
  mutating func respondLocally(to entry: CentreEntry, of app: Int, _ rule: Rule, isLaunch: Bool) {
    guard !isLaunch else { return }
    call(.didReceiveLocalNotification, of: app, .localNotification(entry.argument), rule)
  }
}

extension Notice {
  init(_ pending: LocalSchedule.Pending, bundleID: String) {
    self.init(pending.notification, pending.content, bundleID: bundleID)
  }

  var isLocal: Bool {
    switch origin {
    case .remote: false
    case .local: true
    }
  }
}
