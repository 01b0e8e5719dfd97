import Basics
import PushPayload

/// What the app's code does with local notifications: the calls of iOS 4–9 and of iOS 10 and later (D-270 … D-280).
extension Phone {
  // MARK: iOS 10 and later

  mutating func addRequest(_ request: LocalNotification, by app: Int) {
    if case .interval(let span, let repeats) = request.trigger {
      // The trigger's initialiser raises; the request is never made (Apple, `init(timeInterval:repeats:)`).
      if span.milliseconds <= 0 { return raise("time interval must be greater than 0", app, "D-271") }
      if repeats, span < .seconds(60) { return raise("time interval must be at least 60 if repeating", app, "D-271") }
    }
    record(.app("add(\(request.id))"), app, "D-270")
    let content = Content(request.content)
    guard apps[app].permission.isGranted else { return refuse(request, .notificationsNotAllowed, app) }
    guard content.isVisible else { return refuse(request, .notificationInvalidNoContent, app) }
    if case .calendar(let pattern, _, _) = request.trigger, pattern == CalendarPattern() {
      return refuse(request, .notificationInvalidNoDate, app)
    }
    if let flaw = request.content.attachments.lazy.compactMap(\.flaw).first {
      return refuse(request, flaw.error, app, "D-256")
    }
    complete(request, nil, app)
    keep(request, content, by: app)
  }

  private mutating func refuse(
    _ request: LocalNotification, _ error: NotificationError, _ app: Int, _ rule: Rule = "D-279"
  ) {
    record(.withheld(pushID: request.id, reason: "the request is refused: \(error.name)"), app, rule)
    complete(request, error, app, rule)
  }

  private mutating func complete(
    _ request: LocalNotification, _ error: NotificationError?, _ app: Int, _ rule: Rule = "D-270"
  ) {
    later.append(
      .handler(apps[app].description.bundleID, .requestAdded, .completed(id: request.id, error), rule))
  }

  mutating func removePending(_ ids: [String]?, by app: Int) {
    record(
      .app(ids.map { "removes the requests \($0.joined(separator: ", "))" } ?? "removes all requests"), app, "D-280")
    tellRemoved(apps[app].local.remove { ids?.contains($0.notification.id) ?? true }, app)
  }

  mutating func getPending(by app: Int) {
    let requests = apps[app].local.waiting.map(\.notification)
    guard settings.iosVersion.major >= 10 else {
      let ids = requests.map(\.id).joined(separator: ", ")
      return record(.app("reads scheduledLocalNotifications: [\(ids)]"), app, "D-280")
    }
    record(.app("getPendingNotificationRequests"), app, "D-280")
    later.append(
      .handler(apps[app].description.bundleID, .pendingNotifications, .pending(requests), "D-280"))
  }

  // MARK: iOS 4–9

  mutating func schedule(_ notification: UILocalNotification, atOnce: Bool, by app: Int) {
    let version = settings.iosVersion
    if notification.fireDate != nil, notification.region != nil, !atOnce {
      return raise("a local notification has either a fire date or a region", app, "D-274")
    }
    record(.app(atOnce ? "presentLocalNotificationNow" : "scheduleLocalNotification"), app, "D-270")
    let content = NotificationContent(notification, for: version)
    let said = Content(content)
    if version.major >= 8, !apps[app].permission.isGranted {
      record(
        .fault("schedules a local notification without the user's leave: nothing of it will be shown"), app, "D-279")
    }
    guard said.isVisible else {
      return record(.withheld(pushID: "local", reason: "it says nothing: no text, badge or sound"), app, "D-279")
    }
    var trigger: NotificationTrigger?
    if !atOnce { trigger = Self.trigger(of: notification, on: version) }
    let id = "local-\(apps[app].local.nextNumber())"
    keep(LocalNotification(id: id, content: content, trigger: trigger), said, by: app)
  }

  private static func trigger(of notification: UILocalNotification, on version: IOSVersion) -> NotificationTrigger? {
    if let region = notification.region, version.major >= 8 {
      return .region(region, repeats: !notification.regionTriggersOnce)
    }
    return notification.fireDate.map {
      .fireDate($0, wallClock: notification.timeZone, repeats: notification.repeatInterval)
    }
  }

  /// One like this; nil: all. Those that are shown go as well (D-237).
  mutating func cancel(_ notification: UILocalNotification?, by app: Int) {
    record(.app(notification == nil ? "cancelAllLocalNotifications" : "cancelLocalNotification"), app, "D-280")
    let content = notification.map { NotificationContent($0, for: settings.iosVersion) }
    let trigger = notification.flatMap { Self.trigger(of: $0, on: settings.iosVersion) }
    tellRemoved(
      apps[app].local.remove { pending in
        content.map { $0 == pending.notification.content && trigger == pending.notification.trigger } ?? true
      }, app)
    let shown = apps[app].entries.filter { entry in
      switch entry.notice.origin {
      case .remote: false
      case .local(let local): content.map { $0 == local.content } ?? true
      }
    }.map(\.id)
    guard !shown.isEmpty else { return }
    apps[app].entries.removeAll { shown.contains($0.id) }
    record(.removed(ids: shown, reason: "cancelled by the app"), app, "D-237")
  }

  // MARK: both

  /// Lets it wait; without a trigger it comes when the present event is over.
  private mutating func keep(_ request: LocalNotification, _ content: Content, by app: Int) {
    var pending = LocalSchedule.Pending(notification: request, content: content, added: now, next: now)
    if let trigger = request.trigger {
      pending.next = trigger.next(after: now, added: now, in: settings.clocks)
      if pending.next == nil, case .fireDate = trigger { pending.next = now }
    }
    if let region = pending.region {
      guard settings.iosVersion.major >= 8 else { return }
      guard apps[app].local.waiting.filter({ $0.region != nil }).count < max(0, settings.regionLimit) else {
        return record(
          .withheld(pushID: request.id, reason: "no more than \(settings.regionLimit) regions are watched for an app"),
          app, "D-273")
      }
      if !apps[app].description.mayUseLocation {
        record(.system("waits at \(region.id), but the app may not use the user's place"), app, "D-273")
      }
    } else if pending.next == nil {
      _ = apps[app].local.remove { $0.notification.id == request.id }
      return record(.withheld(pushID: request.id, reason: "its time never comes again"), app, "D-272")
    }
    if leap.isLong, let next = pending.next { pending.next = max(next, leap.until + .seconds(1)) }
    apps[app].local.add(pending)
    guard let cut = apps[app].local.cut(to: settings.pendingLimit, keeping: settings.pendingKept) else { return }
    record(
      .withheld(
        pushID: cut.notification.id,
        reason:
          "more than \(settings.pendingLimit) wait: the \(settings.pendingKept.rawValue) are kept, this one is not"),
      app, "D-275")
  }

  private mutating func tellRemoved(_ removed: [LocalSchedule.Pending], _ app: Int) {
    guard !removed.isEmpty else { return }
    record(.removed(ids: removed.map(\.notification.id), reason: "pending, removed by the app"), app, "D-280")
  }

  /// An exception that nobody catches ends the app, once the present event is over.
  mutating func raise(_ reason: String, _ app: Int, _ rule: Rule) {
    record(.fault("uncaught exception NSInternalInconsistencyException: \(reason)"), app, rule)
    later.append(.crash(apps[app].description.bundleID, rule))
  }

  mutating func crash(_ app: Int, _ rule: Rule) {
    guard apps[app].state.isAlive else { return }
    if apps[app].state.isFront { centreIsOpen = false }
    end(app, as: .notRunning, rule)
  }
}

extension Content {
  /// What a local notification says, in the form of a payload.
  convenience init(_ content: NotificationContent) {
    var payload = Payload()
    if content.title != nil || content.subtitle != nil || content.body != nil {
      var alert = Payload.Alert(title: content.title, subtitle: content.subtitle, body: content.body)
      alert.launchImage = content.launchImage
      alert.actionLocKey = content.action
      payload.alert = alert
    }
    payload.badge = content.badge
    payload.sound = content.sound
    payload.threadID = content.threadID
    payload.category = content.category
    payload.targetContentID = content.targetContentID
    payload.interruptionLevel = content.interruptionLevel
    payload.relevanceScore = content.relevanceScore
    payload.hasAps = true
    self.init(payload, userInfo: content.userInfo, attachments: content.attachments)
  }
}

extension NotificationContent {
  /// What this iOS reads of the older class: titles from 8.2 on, categories from 8 on; a badge of 0 means no change
  /// (D-278).
  init(_ notification: UILocalNotification, for version: IOSVersion) {
    self.init(
      title: version >= IOSVersion(8, 2) ? notification.alertTitle : nil, body: notification.alertBody,
      badge: notification.applicationIconBadgeNumber == 0 ? nil : Int64(notification.applicationIconBadgeNumber),
      sound: notification.soundName, userInfo: notification.userInfo)
    if version.major >= 8 { category = notification.category }
    launchImage = notification.alertLaunchImage
    if notification.hasAction { action = notification.alertAction } else { hasAction = false }
  }
}
