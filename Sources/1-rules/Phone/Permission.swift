import Basics
import PushPayload

/// A prompt that asks the user, or will when its app is in front.
struct PermissionPrompt: Hashable, Sendable {
  var bundleID: String
  var asked: AskedBy
  var options: NotificationOptions
}

/// Which call asked: it decides how the app learns the answer (D-020).
enum AskedBy: String, Hashable, Sendable {
  /// `registerForRemoteNotificationTypes`: no answer but the token.
  case types
  /// `registerUserNotificationSettings`: `didRegisterUserNotificationSettings`.
  case settings
  /// `requestAuthorization`: its completion handler.
  case authorization
}

/// Asking and answering (spec section B2).
extension Phone {
  mutating func ask(_ app: Int, by asked: AskedBy, for wanted: NotificationOptions) {
    let options = askable(wanted, app)
    switch apps[app].permission.status {
    case .notDetermined:
      if options.contains(.provisional), asked == .authorization {
        change(app) {
          $0.status = .provisional
          $0.options = options.subtracting(.provisional)
        }
        record(.system("provisional permission, without a prompt"), app, "D-024")
        return answerLater(app, asked)
      }
      prompt(app, asked, options, "D-022")
    case .denied: answerLater(app, asked)
    case .authorized:
      change(app) { $0.options.formUnion(options.subtracting(.provisional)) }
      answerLater(app, asked)
    case .provisional, .ephemeral:
      guard !options.contains(.provisional), settings.promptWhileProvisional else {
        change(app) { $0.options.formUnion(options.subtracting(.provisional)) }
        return answerLater(app, asked)
      }
      prompt(app, asked, options, "D-026")
    }
  }

  /// Without what this iOS does not know, and what the app is not signed for.
  private mutating func askable(_ wanted: NotificationOptions, _ app: Int) -> NotificationOptions {
    var options = wanted.known(to: settings.iosVersion)
    let unknown = wanted.subtracting(options)
    if !unknown.isEmpty { record(.system("iOS \(settings.iosVersion) does not know \(unknown)"), app, "D-020") }
    let entitlement = AppDescription.Entitlement.criticalAlerts
    if options.contains(.criticalAlert), !apps[app].description.entitlements.contains(entitlement) {
      options.remove(.criticalAlert)
      record(.fault("criticalAlert needs the entitlement \(entitlement.rawValue): left out"), app, "D-020")
    }
    return options
  }

  private mutating func prompt(_ app: Int, _ asked: AskedBy, _ options: NotificationOptions, _ rule: Rule) {
    let bundleID = apps[app].description.bundleID
    guard !options.isEmpty else { return answerLater(app, asked) }
    guard prompt?.bundleID != bundleID, !waitingPrompts.contains(where: { $0.bundleID == bundleID }) else {
      return record(.system("asks while it is being asked: still one prompt"), app, "D-022")
    }
    if rule != "D-022" { record(.system("asks for more than it has: the user is asked"), app, rule) }
    waitingPrompts.append(PermissionPrompt(bundleID: bundleID, asked: asked, options: options))
  }

  /// Every change of what an app may show goes through here, so that the courier learns of it (D-047).
  mutating func change(_ app: Int, _ change: (inout Permission) -> Void) {
    let couldReach = !apps[app].permission.isTurnedOff
    change(&apps[app].permission)
    let canReach = !apps[app].permission.isTurnedOff
    guard settings.deniedDropsAlertAtAPNs, couldReach != canReach else { return }
    effects.append(.alertsAllowed(bundleID: apps[app].description.bundleID, canReach))
  }

  /// The switch was set or taken back: what the courier believes of each app follows (D-047).
  mutating func tellAlertsAllowed() {
    for app in apps where app.permission.isTurnedOff {
      effects.append(.alertsAllowed(bundleID: app.description.bundleID, !settings.deniedDropsAlertAtAPNs))
    }
  }

  /// APNs takes the push with 200 and discards it, since the user turned the app's notifications off (D-047).
  func isDroppedAtAPNs(_ push: DeliveredPayload, _ app: Int) -> Bool {
    settings.deniedDropsAlertAtAPNs && push.pushType == .alert && apps[app].permission.isTurnedOff
  }

  private mutating func answerLater(_ app: Int, _ asked: AskedBy) {
    later.append(.permission(apps[app].description.bundleID, asked))
  }

  /// Puts the first waiting prompt of the app in front on the screen (D-013, D-160).
  mutating func showPrompt() {
    guard prompt == nil, !isLocked, let front, apps[front].state == .active,
      let index = waitingPrompts.firstIndex(where: { $0.bundleID == apps[front].description.bundleID })
    else { return }
    let asking = waitingPrompts.remove(at: index)
    record(.system("a prompt asks whether to allow \(asking.options)"), front, "D-013")
    resignActive(front, "D-022")
    prompt = asking
  }

  mutating func answerPrompt(allow: Bool) {
    guard let answered = prompt else { return record(.user("finds no prompt to answer"), nil, "D-022") }
    guard !isLocked else { return record(.user("cannot answer, the phone is locked"), nil, "D-022") }
    prompt = nil
    guard let app = index(of: answered.bundleID) else { return }
    record(.user(allow ? "allows notifications" : "does not allow notifications"), app, "D-013")
    change(app) {
      $0.status = allow ? .authorized : .denied
      $0.options.formUnion(answered.options)
      $0.ephemeralUntil = nil
    }
    becomeActive(app, "D-022")
    answerLater(app, answered.asked)
    if allow { releaseToken(app) }
  }

  /// The app learns by the way it asked; stored answers need no prompt (D-013).
  mutating func tellPermission(_ app: Int, _ asked: AskedBy) {
    guard apps[app].state.isExecuting else {
      return record(.system("the answer about permission waits for no code, the app does not run"), app, "D-021")
    }
    let granted = apps[app].permission.effective
    switch asked {
    case .types:
      if apps[app].permission.isGranted { return requestToken(app) }
      record(.system("no permission, so no token and no callback"), app, "D-032")
    case .settings:
      let categories = apps[app].categories.map(\.id)
      call(
        .didRegisterUserNotificationSettings, of: app, .userNotificationSettings(granted, categories: categories),
        "D-020")
      guard !apps[app].registration.askedThisRun else { return }
      record(
        .system("no token will come: the app has not called registerForRemoteNotifications"), app, "D-012")
    case .authorization: call(.authorizationAnswer, of: app, .granted(!granted.isEmpty, granted), "D-021")
    }
  }

  mutating func changePermission(_ user: UserSettings, for app: Int) {
    let before = apps[app].permission.user
    change(app) { permission in
      permission.user = user
      switch permission.status {
      case .notDetermined, .authorized, .denied:
        permission.status = user.allowed ? .authorized : .denied
        if permission.options.isEmpty { permission.options = .usual }
      case .provisional, .ephemeral: if !user.allowed { permission.status = .denied }
      }
    }
    record(.user("changes the app's notifications in Settings: allowed \(user.allowed)"), app, "D-024")
    if user.allowed { releaseToken(app) }
    activitiesAllowed(before: before, app)
  }

  mutating func readPermission(_ app: Int) {
    let permission = apps[app].permission
    switch settings.iosVersion.major {
    case 10...:
      record(.app("getNotificationSettings"), app, "D-029")
      later.append(.permissionRead(apps[app].description.bundleID))
    case 8...9:
      let registration = apps[app].registration
      let registered = registration.token != nil && !registration.unregistered
      record(
        .app("reads its settings: \(permission.effective); isRegisteredForRemoteNotifications \(registered)"), app,
        "D-029")
    default:
      let types =
        settings.typesAreStale && permission.status != .notDetermined ? permission.options : permission.effective
      record(.app("reads its types: \(types)"), app, settings.typesAreStale ? "D-030" : "D-029")
    }
  }
}
