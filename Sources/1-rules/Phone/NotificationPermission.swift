import Basics

/// `UNAuthorizationStatus` (D-024).
public enum AuthorizationStatus: String, CaseIterable, Hashable, Sendable {
  case notDetermined, denied, authorized
  /// Granted without asking: the centre's history only (D-025). iOS 12 and later.
  case provisional
  /// An App Clip's, for hours after each launch. iOS 14 and later.
  case ephemeral
}

/// What the user and the system said about showing (D-020 … D-027): whoever shows something asks here.
struct Permission: Hashable, Sendable {
  var status = AuthorizationStatus.notDetermined
  /// What the app asked for and got.
  var options: NotificationOptions = []
  var user = Phone.UserSettings()
  /// When an App Clip's permission ends; nil: it is none, or was asked for (D-024).
  var ephemeralUntil: Instant?

  /// The user said no; not merely has not been asked.
  var isTurnedOff: Bool { status == .denied || !user.allowed }

  var isGranted: Bool {
    switch status {
    case .authorized, .provisional, .ephemeral: user.allowed
    case .denied, .notDetermined: false
    }
  }

  /// Provisional: the centre's history only (D-025).
  var isQuiet: Bool { status == .provisional }

  /// The text of a notification may be seen somewhere (D-250 asks this).
  var alert: Bool { banner || lockScreen || centre }
  private var hasAlert: Bool { isGranted && options.contains(.alert) }
  /// A banner or a modal alert, by the alert style.
  var banner: Bool { hasAlert && !isQuiet && user.alert }
  var lockScreen: Bool { hasAlert && !isQuiet && user.lockScreen }
  var centre: Bool { hasAlert && (isQuiet || user.centre) }
  var sound: Bool { isGranted && !isQuiet && options.contains(.sound) && user.sound }
  var badge: Bool { isGranted && !isQuiet && options.contains(.badge) && user.badge }
  var carPlay: Bool { isGranted && !isQuiet && options.contains(.carPlay) && user.carPlay }
  /// Plays through mute and Focus; the option is granted to entitled apps only (D-263).
  var critical: Bool { isGranted && options.contains(.criticalAlert) && user.critical }
  /// The user left time-sensitive ones their right; the entitlement is the app's (D-262).
  var timeSensitive: Bool { isGranted && !isQuiet && user.timeSensitive }
  /// Waits for the scheduled summary, where the phone has one (D-265).
  var waitsForSummary: Bool { isGranted && user.scheduledDelivery }
  var announcement: Bool { isGranted && !isQuiet && user.announcement }

  func previews(on phone: PhoneSettings) -> PhoneSettings.Previews { user.previews ?? phone.previews }

  /// What an app reads when it asks, as types or options.
  var effective: NotificationOptions {
    guard isGranted else { return [] }
    var options = options
    if !user.alert { options.remove(.alert) }
    if !user.sound { options.remove(.sound) }
    if !user.badge { options.remove(.badge) }
    if !user.carPlay { options.remove(.carPlay) }
    if !user.critical { options.remove(.criticalAlert) }
    return options
  }
}

/// A `UNNotificationSettings` as the app's code reads it (D-029).
public struct SettingsArgument: Hashable, Sendable {
  public var authorizationStatus: AuthorizationStatus
  public var alert: Setting
  public var sound: Setting
  public var badge: Setting
  public var lockScreen: Setting
  public var notificationCenter: Setting
  public var carPlay: Setting
  public var criticalAlert: Setting
  public var announcement: Setting
  public var timeSensitive: Setting
  public var scheduledDelivery: Setting
  public var alertStyle: PhoneSettings.AlertStyle
  public var showPreviews: PhoneSettings.Previews
  public var providesAppNotificationSettings: Bool

  /// `UNNotificationSetting`.
  public enum Setting: String, CaseIterable, Sendable {
    /// This iOS has no such setting, or the app did not ask for it.
    case notSupported
    case disabled, enabled
  }
}

extension Phone {
  /// What `getNotificationSettings` would tell the app now; nil: no such app.
  public func notificationSettings(of bundleID: String) -> SettingsArgument? {
    index(of: bundleID).map(settingsArgument(of:))
  }

  func settingsArgument(of app: Int) -> SettingsArgument {
    let permission = apps[app].permission
    let user = permission.user
    let version = settings.iosVersion
    func setting(_ isOn: Bool, _ option: NotificationOptions, since: Int = 10) -> SettingsArgument.Setting {
      guard version.major >= since, option.isEmpty || permission.options.contains(option) else { return .notSupported }
      return isOn && permission.isGranted ? .enabled : .disabled
    }
    let isLoud = !permission.isQuiet
    let entitlements = apps[app].description.entitlements
    return SettingsArgument(
      authorizationStatus: permission.status, alert: setting(user.alert && isLoud, .alert),
      sound: setting(user.sound && isLoud, .sound), badge: setting(user.badge && isLoud, .badge),
      lockScreen: setting(user.lockScreen && isLoud, .alert), notificationCenter: setting(user.centre, .alert),
      carPlay: setting(user.carPlay && isLoud, .carPlay),
      criticalAlert: setting(user.critical, .criticalAlert, since: 12),
      announcement: setting(user.announcement && isLoud, .alert, since: 13),
      timeSensitive: entitlements.contains(.timeSensitive)
        ? setting(user.timeSensitive && isLoud, [], since: 15) : .notSupported,
      scheduledDelivery: setting(user.scheduledDelivery, [], since: 15),
      alertStyle: permission.banner ? user.style ?? settings.appearanceOfAlert : .none,
      showPreviews: permission.previews(on: settings),
      providesAppNotificationSettings: permission.options.contains(.providesAppNotificationSettings))
  }
}
