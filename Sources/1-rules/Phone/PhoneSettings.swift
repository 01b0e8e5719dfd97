public import Basics

/// The switches of a phone (spec, "Switches of a phone"). The timeline opens with those that differ from the default.
public struct PhoneSettings: Hashable, Sendable {
  public var name = "iPhone"
  public var iosVersion: IOSVersion
  /// How an alert looks on an unlocked screen, iOS 5 and later; before, always modal (D-127).
  public var appearanceOfAlert = AlertStyle.banner
  /// When texts show on the screen, iOS 11 and later (D-126).
  public var previews = Previews.whenUnlocked
  /// nil: off (D-264, D-268).
  public var focus: Focus?
  /// The ring/silent switch: sounds become a vibration (D-225).
  public var mute = false
  /// Notifications that come up are spoken, by VoiceOver or over headphones (D-027).
  public var voiceOverAnnouncements = false
  /// Seconds until a banner goes away by itself (D-127).
  public var bannerSeconds: Int64 = 5
  /// Low Power Mode: background pushes wait (D-179).
  public var lowPower = false
  /// Background App Refresh for the whole phone (D-180).
  public var backgroundRefresh = true
  /// Nobody on this phone may turn Background App Refresh on: parental controls, management (D-181).
  public var backgroundRefreshRestricted = false
  /// When the scheduled summary comes, iOS 15 and later: minutes after midnight in the phone's zone. Whether an app is in
  /// it is the user's choice for that app, `UserSettings.scheduledDelivery` (D-265).
  public var summaryTimes: [Int] = []
  public var online = true
  public var locked = false
  /// Where the phone is: local notifications by the calendar come by its clocks (D-272). Without rules it counts as UTC.
  public var zone = Zone.utc
  /// In which texts named by key are looked up: `en`, `zh-Hans-CN` (D-205).
  public var language = "en"
  /// The lock asks for a passcode, a face or a finger; and after a restart nothing runs before the first unlock (D-185).
  public var passcode = true
  /// The phone is listed for the developer account, so that development builds run and register (D-014).
  public var listedForDevelopment = true

  /// Behaves as the seeds say where they differ from Apple (C-01, C-02, D-060–D-062, D-107).
  public var strictSeed = false

  /// After a reinstall the old token still reaches the phone (D-017). nil: on for iOS 9.
  public var iOS9StaleTokens: Bool?
  /// `enabledRemoteNotificationTypes` answers what was registered, whatever the user set (D-030). nil: on to iOS 7.
  public var staleTypesBug: Bool?
  /// How long a permission outlives the app that asked for it (D-023). nil: 24 h to iOS 9, none after.
  public var promptMemory: Instant.Span?

  /// An app with provisional permission that asks for more has the user prompted (D-026); off: it gets what it asked for,
  /// quietly as before.
  public var promptWhileProvisional = true
  /// An app that a button of a notification starts finds the payload in its launch options (D-141); off: they are empty.
  public var actionLaunchOptions = false
  /// Hours that an App Clip may notify after each launch (D-024).
  public var ephemeralHours: Int64 = 8

  /// Wakes per hour and app (D-175).
  public var silentBudgetPerHour = 3
  /// Wakes per day and app; nil: unlimited (D-175).
  public var powerBudgetPerDay: Int?
  /// Attached to Xcode: no wake budget at all (D-175).
  public var developerAttached = false
  /// Seconds an app has to call the fetch handler (D-172); `strictSeed` makes it 180.
  public var backgroundSeconds: Int64 = 30
  /// Seconds of background tasks after the app has left the screen (D-172). nil: 600 to iOS 6, 180 to iOS 12, 30 after.
  public var backgroundTaskSeconds: Int64?
  /// Seconds an app has for `didEnterBackground`, after which it is suspended, and for `willTerminate`; Apple says about
  /// five (D-157, D-162).
  public var leaveSeconds: Int64 = 5
  /// Seconds a delegate has to answer `willPresent` (D-122).
  public var presentSeconds: Int64 = 30
  /// Seconds a service extension has before `serviceExtensionTimeWillExpire` (D-252).
  public var extensionSeconds: Int64 = 30
  /// Megabytes a service extension may take; Apple gives no number, reports go from 12 to 180 (D-255).
  public var extensionMemoryMegabytes = 24

  /// Which of `willPresent` and the fetch callback comes first for one push in front (D-102, C-25).
  public var foregroundPairOrder = PairOrder.fetchFirst
  /// iOS 10 and later without a delegate shows pushes in front (D-120, C-20).
  public var noDelegateShows = false
  /// `didEnterBackground` again when a suspended app is resumed for an event (D-159, C-24).
  public var debOnResume = false
  /// An app with scenes that is launched in the background has a scene connected at once (D-107).
  public var backgroundLaunchConnectsScene = false
  /// After a restart background launches wait for the first unlock, on a phone with a passcode (D-185).
  public var launchesWaitForFirstUnlock = true
  /// After a restore an app is told of its new token without asking (D-044).
  public var registersAfterRestore = true
  /// The token of an offloaded app stays good, and the system shows what comes for it (D-045).
  public var offloadedShowsPushes = false
  /// Badge 0 removes the app's delivered notifications (D-230, C-18).
  public var zeroClears = true
  /// Badge 0 on a badge that is 0 does nothing (D-232). nil: on to iOS 9.
  public var zeroNeedsChange: Bool?
  /// An app's own −1 also empties its part of the centre, as reports to iOS 10 say (D-233). nil: on to iOS 10.
  public var minusOneClears: Bool?
  /// A pushed badge of −1 removes badge and notifications (D-233's field report); off: it is ignored (C22).
  public var pushedMinusOneClears = false
  /// Background App Refresh off keeps background pushes out (D-180, C-23). nil: on, but off for iOS 8–10.
  public var refreshOffBlocksPush: Bool?
  /// A VoIP push starts an app that the user swiped away (D-187).
  public var voipAfterForceQuit = true
  /// How often an app may fail to report a call before it gets no VoIP push any more until it is installed anew; the
  /// number is a field report's (D-186).
  public var voipFailuresAllowed = 4
  /// At most so many local notifications of an app wait (D-275).
  public var pendingLimit = 64
  /// Which of them stay when there are more: Apple's older page keeps the soonest, one radar of iOS 10 the newest (D-275).
  public var pendingKept = PendingKept.soonest
  /// At most so many of them may wait for a region (D-273).
  public var regionLimit = 20
  /// Registering while offline fails at once instead of waiting in silence (D-041, C-22).
  public var offlineRegistrationFails = false
  /// Pushes at priority 10 that an app's Live Activities take in an hour; nil: no limit, since Apple publishes none
  /// (D-189).
  public var activityPushesPerHour: Int?
  /// The same for an app that declares frequent updates, and whose user lets it.
  public var frequentActivityPushesPerHour: Int?
  /// The system ends a Live Activity that old. Apple: eight hours.
  public var activityHours: Int64 = 8
  /// One that has ended stays on the Lock Screen no longer. Apple: four hours.
  public var activityStayHours: Int64 = 4
  /// Activities of one app at the same time; Apple names the error, not the number.
  public var mostActivities = 5
  /// The phone has a Dynamic Island.
  public var hasDynamicIsland = true
  /// A start by push also wakes an app that the user swiped away (an Apple engineer, forum thread 834934).
  public var activityStartWakesForceQuit = true
  /// Live Activities end when the phone restarts; the field says that they go on.
  public var restartEndsActivities = false
  /// A phone whose user turned an app's notifications off gets no alert push for it from APNs (D-047, C-21): none that
  /// came would be shown, but with it goes the wake of `content-available`.
  public var deniedDropsAlertAtAPNs = false

  public init(iosVersion: IOSVersion = IOSVersion(17)) { self.iosVersion = iosVersion }

  public enum AlertStyle: String, CaseIterable, Sendable { case none, banner, modal }
  public enum Previews: String, CaseIterable, Sendable { case always, whenUnlocked, never }
  public enum PairOrder: String, CaseIterable, Sendable { case fetchFirst, presentFirst }
  public enum PendingKept: String, CaseIterable, Sendable { case soonest, newest }
}

extension PhoneSettings {
  var keepsStaleTokens: Bool { iOS9StaleTokens ?? (iosVersion.major == 9) }
  var typesAreStale: Bool { staleTypesBug ?? (iosVersion.major <= 7) }
  var permissionMemory: Instant.Span { promptMemory ?? (iosVersion.major <= 9 ? .hours(24) : .seconds(0)) }
  var zeroMustChange: Bool { zeroNeedsChange ?? (iosVersion.major <= 9) }
  var minusOneRemoves: Bool { minusOneClears ?? (iosVersion.major <= 10) }
  var bannerTime: Instant.Span { .seconds(max(0, bannerSeconds)) }
  var refreshBlocks: Bool { refreshOffBlocksPush ?? !(8...10).contains(iosVersion.major) }
  var wakeTime: Instant.Span { .seconds(max(0, strictSeed ? max(180, backgroundSeconds) : backgroundSeconds)) }
  /// Low Power Mode came with iOS 9.
  var isLowPower: Bool { lowPower && iosVersion.major >= 9 }
  var backgroundTaskTime: Instant.Span {
    if let backgroundTaskSeconds { return .seconds(max(0, backgroundTaskSeconds)) }
    return .seconds(iosVersion.major < 7 ? 600 : iosVersion.major < 13 ? 180 : 30)
  }
  var extensionTime: Instant.Span { .seconds(max(0, extensionSeconds)) }
  var leaveTime: Instant.Span { .seconds(max(0, leaveSeconds)) }
  var presentTime: Instant.Span { .seconds(max(0, presentSeconds)) }

  /// The switches that differ from the default of this iOS version, by name.
  func differences() -> [(name: String, value: String)] {
    var plain = PhoneSettings(iosVersion: iosVersion)
    plain.name = name
    guard self != plain else { return [] }
    var set: [(String, String)] = []
    func note<Value: Equatable>(_ name: String, _ value: Value, _ usual: Value) {
      if value != usual { set.append((name, "\(value)")) }
    }
    note("appearanceOfAlert", appearanceOfAlert.rawValue, plain.appearanceOfAlert.rawValue)
    note("previews", previews.rawValue, plain.previews.rawValue)
    note("focus", focus?.description ?? "off", "off")
    note("mute", mute, plain.mute)
    note("voiceOverAnnouncements", voiceOverAnnouncements, plain.voiceOverAnnouncements)
    note("bannerSeconds", bannerSeconds, plain.bannerSeconds)
    note("lowPower", lowPower, plain.lowPower)
    note("backgroundRefresh", backgroundRefresh, plain.backgroundRefresh)
    note("backgroundRefreshRestricted", backgroundRefreshRestricted, plain.backgroundRefreshRestricted)
    note("summaryTimes", summaryTimes, plain.summaryTimes)
    note("online", online, plain.online)
    note("locked", locked, plain.locked)
    note("zone", zone, plain.zone)
    note("language", language, plain.language)
    note("passcode", passcode, plain.passcode)
    note("listedForDevelopment", listedForDevelopment, plain.listedForDevelopment)
    note("strictSeed", strictSeed, plain.strictSeed)
    note("iOS9StaleTokens", keepsStaleTokens, plain.keepsStaleTokens)
    note("staleTypesBug", typesAreStale, plain.typesAreStale)
    note("promptMemory", permissionMemory.milliseconds, plain.permissionMemory.milliseconds)
    note("promptWhileProvisional", promptWhileProvisional, plain.promptWhileProvisional)
    note("actionLaunchOptions", actionLaunchOptions, plain.actionLaunchOptions)
    note("ephemeralHours", ephemeralHours, plain.ephemeralHours)
    note("silentBudgetPerHour", silentBudgetPerHour, plain.silentBudgetPerHour)
    note("powerBudgetPerDay", powerBudgetPerDay, plain.powerBudgetPerDay)
    note("developerAttached", developerAttached, plain.developerAttached)
    note("backgroundSeconds", backgroundSeconds, plain.backgroundSeconds)
    note("backgroundTaskSeconds", backgroundTaskTime.milliseconds, plain.backgroundTaskTime.milliseconds)
    note("leaveSeconds", leaveSeconds, plain.leaveSeconds)
    note("presentSeconds", presentSeconds, plain.presentSeconds)
    note("extensionSeconds", extensionSeconds, plain.extensionSeconds)
    note("extensionMemoryMegabytes", extensionMemoryMegabytes, plain.extensionMemoryMegabytes)
    note("foregroundPairOrder", foregroundPairOrder.rawValue, plain.foregroundPairOrder.rawValue)
    note("noDelegateShows", noDelegateShows, plain.noDelegateShows)
    note("debOnResume", debOnResume, plain.debOnResume)
    note("backgroundLaunchConnectsScene", backgroundLaunchConnectsScene, plain.backgroundLaunchConnectsScene)
    note("launchesWaitForFirstUnlock", launchesWaitForFirstUnlock, plain.launchesWaitForFirstUnlock)
    note("registersAfterRestore", registersAfterRestore, plain.registersAfterRestore)
    note("offloadedShowsPushes", offloadedShowsPushes, plain.offloadedShowsPushes)
    note("zeroClears", zeroClears, plain.zeroClears)
    note("zeroNeedsChange", zeroMustChange, plain.zeroMustChange)
    note("minusOneClears", minusOneRemoves, plain.minusOneRemoves)
    note("pushedMinusOneClears", pushedMinusOneClears, plain.pushedMinusOneClears)
    note("refreshOffBlocksPush", refreshBlocks, plain.refreshBlocks)
    note("voipAfterForceQuit", voipAfterForceQuit, plain.voipAfterForceQuit)
    note("voipFailuresAllowed", voipFailuresAllowed, plain.voipFailuresAllowed)
    note("pendingLimit", pendingLimit, plain.pendingLimit)
    note("pendingKept", pendingKept.rawValue, plain.pendingKept.rawValue)
    note("regionLimit", regionLimit, plain.regionLimit)
    note("offlineRegistrationFails", offlineRegistrationFails, plain.offlineRegistrationFails)
    note("activityPushesPerHour", activityPushesPerHour, plain.activityPushesPerHour)
    note("frequentActivityPushesPerHour", frequentActivityPushesPerHour, plain.frequentActivityPushesPerHour)
    note("activityHours", activityHours, plain.activityHours)
    note("activityStayHours", activityStayHours, plain.activityStayHours)
    note("mostActivities", mostActivities, plain.mostActivities)
    note("hasDynamicIsland", hasDynamicIsland, plain.hasDynamicIsland)
    note("activityStartWakesForceQuit", activityStartWakesForceQuit, plain.activityStartWakesForceQuit)
    note("restartEndsActivities", restartEndsActivities, plain.restartEndsActivities)
    note("deniedDropsAlertAtAPNs", deniedDropsAlertAtAPNs, plain.deniedDropsAlertAtAPNs)
    return set
  }
}
