/// What the app's own code does, in a callback or outside.
extension Phone {
  mutating func perform(_ act: AppAct, by app: Int) {
    let version = settings.iosVersion
    switch act {
    case .registerForRemoteNotificationTypes(let options):
      guard version.major < 8 else {
        return record(.fault("registerForRemoteNotificationTypes does nothing from iOS 8 on"), app, "D-012")
      }
      record(.app(act.words), app, "D-020")
      ask(app, by: .types, for: options)
    case .registerUserNotificationSettings(let options):
      guard has(IOSVersion(8), act, app) else { return }
      record(.app(act.words), app, "D-020")
      ask(app, by: .settings, for: options)
    case .requestAuthorization(let options):
      guard has(IOSVersion(10), act, app) else { return }
      record(.app(act.words), app, "D-021")
      ask(app, by: .authorization, for: options)
    case .registerForRemoteNotifications:
      guard has(IOSVersion(8), act, app) else { return }
      record(.app(act.words), app, "D-012")
      requestToken(app)
    case .unregisterForRemoteNotifications:
      record(.app(act.words), app, "D-029")
      apps[app].registration.unregistered = true
      apps[app].registration.waiting = false
    case .askAndRegister(let options):
      for step in Self.registration(options, version) { perform(step, by: app) }
    case .registerAsSeed:
      apps[app].categories = []  // the seed's code passes none
      perform(
        version.major >= 8
          ? .registerUserNotificationSettings(.usual) : .registerForRemoteNotificationTypes(.usual), by: app)
    case .handTokenToService:
      handTokens(app)
    case .readPermission: readPermission(app)
    case .setCategories(let categories):
      guard has(IOSVersion(8), act, app) else { return }
      setCategories(categories, of: app)
    case .setBadge(let number): setBadgeByApp(number, of: app)
    case .setBadgeCount(let number):
      guard has(IOSVersion(16), act, app) else { return }
      setBadgeCount(number, of: app)
    case .startActivity(let request): startActivity(request, by: app)
    case .updateActivity(let id, let content): updateActivity(id, content, by: app)
    case .endActivity(let id, let contentState, let dismissal): endActivity(id, contentState, dismissal, by: app)
    case .handActivityTokensToService: handActivityTokens(app)
    case .fetchMessageHistory: fetchMessageHistory(app)
    case .setPreference(let onlyScheduled): setPreference(onlyScheduled, of: app)
    case .share(let key, let value): share(key, value, by: app)
    case .readShared(let key): readShared(key, by: app)
    case .getDelivered: getDelivered(of: app)
    case .removeDelivered(let ids): removeDelivered(ids, of: app)
    case .removeAllDelivered: removeDelivered(nil, of: app)
    case .removeWithdrawn: removeWithdrawn(nil, of: app)
    case .beginBackgroundTask(let seconds):
      guard has(IOSVersion(4), act, app) else { return }
      beginBackgroundTask(seconds, by: app)
    case .endBackgroundTask: endBackgroundTask(by: app)
    case .readBackgroundRefreshStatus:
      guard has(IOSVersion(7), act, app) else { return }
      readRefreshStatus(app)
    case .setActivationConditions(let targets): setActivationConditions(targets, of: app)
    case .refreshUI: record(.app(act.words), app, "D-183")
    case .showPage(let page): showPage(page, by: app)
    case .download, .fetchContent: load(act, by: app)
    case .addNotification(let request): if has(IOSVersion(10), act, app) { addRequest(request, by: app) }
    case .removePending(let ids): if has(IOSVersion(10), act, app) { removePending(ids, by: app) }
    case .removeAllPending: if has(IOSVersion(10), act, app) { removePending(nil, by: app) }
    case .getPending: if has(IOSVersion(4), act, app) { getPending(by: app) }
    case .scheduleLocalNotification(let notification):
      if has(IOSVersion(4), act, app) { schedule(notification, atOnce: false, by: app) }
    case .presentLocalNotificationNow(let notification):
      if has(IOSVersion(4), act, app) { schedule(notification, atOnce: true, by: app) }
    case .cancelLocalNotification(let notification):
      if has(IOSVersion(4), act, app) { cancel(notification, by: app) }
    case .cancelAllLocalNotifications: if has(IOSVersion(4), act, app) { cancel(nil, by: app) }
    case .setPushTypes(let types, let delegateFirst):
      if has(IOSVersion(8), act, app) { setPushTypes(types, delegateFirst: delegateFirst, by: app) }
    case .reportIncomingCall(let caller):
      if has(IOSVersion(10), act, app) { reportIncomingCall(from: caller, by: app) }
    case .reportCallEnded: if has(IOSVersion(10), act, app) { reportCallEnded(by: app) }
    }
  }

  private mutating func has(_ since: IOSVersion, _ act: AppAct, _ app: Int) -> Bool {
    guard settings.iosVersion < since else { return true }
    record(.fault("\(act.words) needs iOS \(since)"), app, "D-006")
    return false
  }

  private static func registration(_ options: NotificationOptions, _ version: IOSVersion) -> [AppAct] {
    if version.major < 8 { return [.registerForRemoteNotificationTypes(options)] }
    let asking: AppAct =
      version.major < 10 ? .registerUserNotificationSettings(options) : .requestAuthorization(options)
    return [asking, .registerForRemoteNotifications]
  }
}

extension AppAct {
  /// By the call of that iOS.
  func words(on version: IOSVersion) -> String {
    guard case .setCategories(let categories) = self, version.major < 10 else { return words }
    return "its settings' categories: \(categories.map(\.id).joined(separator: ", "))"
  }

  /// For the timeline.
  var words: String {
    switch self {
    case .registerForRemoteNotificationTypes(let options): "registerForRemoteNotificationTypes(\(options))"
    case .registerUserNotificationSettings(let options): "registerUserNotificationSettings(\(options))"
    case .requestAuthorization(let options): "requestAuthorization(\(options))"
    case .registerForRemoteNotifications: "registerForRemoteNotifications"
    case .unregisterForRemoteNotifications: "unregisterForRemoteNotifications"
    case .askAndRegister(let options): "asks for \(options) and registers"
    case .registerAsSeed: "the seed's registration"
    case .handTokenToService: "handing the token to the service"
    case .readPermission: "reading its permission"
    case .setCategories(let categories): "setNotificationCategories(\(categories.map(\.id).joined(separator: ", ")))"
    case .setBadge(let number): "setting the badge to \(number)"
    case .setBadgeCount(let number): "setBadgeCount(\(number))"
    case .getDelivered: "getDeliveredNotifications"
    case .removeDelivered(let ids): "removeDeliveredNotifications(\(ids.joined(separator: ", ")))"
    case .removeAllDelivered: "removeAllDeliveredNotifications"
    case .removeWithdrawn: "removing what was withdrawn"
    case .beginBackgroundTask: "beginBackgroundTask"
    case .endBackgroundTask: "endBackgroundTask"
    case .readBackgroundRefreshStatus: "backgroundRefreshStatus"
    case .setActivationConditions(let targets): "activation conditions of its scene: \(targets.joined(separator: ", "))"
    case .refreshUI: "refreshing its UI"
    case .showPage(let page): "showing the page \(page)"
    case .download(let name): "downloading \(name)"
    case .fetchContent: "fetching new content"
    case .addNotification(let local): "add(\(local.id))"
    case .removePending(let ids): "removePendingNotificationRequests(\(ids.joined(separator: ", ")))"
    case .removeAllPending: "removeAllPendingNotificationRequests"
    case .getPending: "getPendingNotificationRequests"
    case .scheduleLocalNotification: "scheduleLocalNotification"
    case .presentLocalNotificationNow: "presentLocalNotificationNow"
    case .cancelLocalNotification: "cancelLocalNotification"
    case .cancelAllLocalNotifications: "cancelAllLocalNotifications"
    case .setPushTypes(let types, let delegateFirst):
      "desiredPushTypes = [\(types.map(\.rawValue).sorted().joined(separator: ", "))]\(delegateFirst ? "" : ", no delegate")"
    case .reportIncomingCall(let caller): "reportNewIncomingCall(\(caller))"
    case .reportCallEnded: "reportCall(endedAt:reason:)"
    case .startActivity(let request): "Activity.request(\(request.attributesType))"
    case .updateActivity(let id, _): "Activity.update(\(id ?? "the newest"))"
    case .endActivity(let id, _, _): "Activity.end(\(id ?? "the newest"))"
    case .handActivityTokensToService: "handing its ActivityKit tokens to the service"
    case .fetchMessageHistory: "asking for all messages"
    case .share(let key, _): "writing \(key) for its group"
    case .readShared(let key): "reading \(key) of its group"
    case .setPreference(let onlyScheduled): "setting “only the scheduled push” to \(onlyScheduled)"
    }
  }
}
