import Basics

/// Permission that nobody was asked for, and the user's later word on it (D-024, D-025, D-031).
extension Phone {
  /// Keep on a quiet notification: authorized, and still nothing but the centre's history, at once or in the summary.
  mutating func keepProvisional(_ app: Int, id: String?, inSummary: Bool) {
    guard let entry = provisionalEntry(id, of: app) else { return }
    let waits = inSummary && settings.iosVersion.major >= 15 && !settings.summaryTimes.isEmpty
    record(.user("keeps the app's notifications, from \(entry.id)"), app, "D-025")
    if inSummary, !waits { record(.system("there is no scheduled summary: delivered at once"), app, "D-025") }
    change(app) {
      $0.status = .authorized
      $0.user.alert = false
      $0.user.lockScreen = false
      $0.user.sound = false
      $0.user.badge = false
      $0.user.scheduledDelivery = waits
    }
    record(.system("authorized, without alerts, sounds and badges"), app, "D-025")
  }

  mutating func turnOff(_ app: Int, id: String?) {
    guard let entry = provisionalEntry(id, of: app) else { return }
    record(.user("turns the app's notifications off, from \(entry.id)"), app, "D-025")
    change(app) {
      $0.status = .denied
      $0.user.allowed = false
    }
  }

  /// Each notification that came by provisional permission carries the two buttons.
  private mutating func provisionalEntry(_ id: String?, of app: Int) -> CentreEntry? {
    guard apps[app].permission.status == .provisional, !isLocked, let entry = entry(id, of: app) else {
      record(.user("finds no notification with Keep and Turn Off"), app, "D-025")
      return nil
    }
    return entry
  }

  // MARK: App Clips

  /// Each launch by the user gives an App Clip hours to notify, unless it has been asked about or turned off.
  mutating func grantEphemeral(_ app: Int) {
    guard apps[app].description.isAppClip, settings.iosVersion.major >= 14 else { return }
    switch apps[app].permission.status {
    case .denied, .authorized, .provisional: return
    case .notDetermined, .ephemeral: break
    }
    let hours = max(0, settings.ephemeralHours)
    record(.system("an App Clip: it may notify for \(hours) hours"), app, "D-024")
    let end = now + .hours(hours)
    change(app) {
      $0.status = .ephemeral
      $0.options.formUnion(.usual)
      $0.ephemeralUntil = end
    }
  }

  mutating func endEphemeral(_ app: Int) {
    change(app) {
      $0.ephemeralUntil = nil
      if $0.status == .ephemeral { $0.status = .notDetermined }
    }
    record(.system("the App Clip's hours are over"), app, "D-024")
  }

  // MARK: the app's own settings

  /// The button that leads into the app's own settings: on a notification that is pulled open, or in Settings.
  mutating func openSettings(of app: Int, for id: String?) {
    guard apps[app].permission.isGranted, apps[app].permission.options.contains(.providesAppNotificationSettings) else {
      return record(.user("finds no button for the app's own settings"), app, "D-031")
    }
    guard let id else {
      guard !isLocked else { return record(.user("cannot open Settings, the phone is locked"), app, "D-031") }
      return openSettings(of: app, on: nil)
    }
    guard let entry = entry(id, of: app) else {
      return record(.user("finds no notification of the app to act on"), app, "D-151")
    }
    guard !isLocked else {
      return askWho(WaitingUse(bundleID: apps[app].description.bundleID, id: entry.id, act: .settings), "D-031")
    }
    openSettings(of: app, on: entry)
  }

  /// The app comes to the front, and its delegate is asked; the notification stays where it is.
  mutating func openSettings(of app: Int, on entry: CentreEntry?) {
    record(.user("opens the app's own settings\(entry.map { " from \($0.id)" } ?? " from Settings")"), app, "D-031")
    if entry == nil { leaveScreen(app, "D-157") }  // for Settings
    bringToFront(app, payload: nil, nil, fromCentre: centreIsOpen || entry?.onScreen == false, "D-031") { phone, _ in
      guard phone.apps[app].delegateSet, phone.call(.openSettings, of: app, .settingsFor(entry?.argument), "D-031")
      else { return phone.record(.system("the app has no delegate with openSettingsFor"), app, "D-031") }
    }
  }
}
