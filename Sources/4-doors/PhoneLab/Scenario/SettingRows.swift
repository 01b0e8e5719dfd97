internal import Phone
internal import PushPayload

/// The switches of a phone, by their names in `PhoneSettings`.
enum SettingRows {
  static let phone: [Row<PhoneSettings>] = [
    Row("name", \.name, "What the timeline calls it."),
    Row(
      "ios", .text, "The iOS that it runs, such as \"17.5\"; default 17.0."
    ) {
      (settings, reading) throws(ScenarioFault) in
      guard let version = IOSVersion(try reading.text(like: "a version such as \"17.5\"")) else {
        throw reading.wrong("Write a version such as \"17.5\".")
      }
      settings.iosVersion = version
    }.written { .string("\($0.iosVersion)") },
    Row("appearanceOfAlert", \.appearanceOfAlert, "How an alert looks on the unlocked screen (D-127)."),
    Row("previews", \.previews, "When texts of notifications can be read (D-126)."),
    Row(
      "focus", .either([.flag, .text, .named("focus")]),
      "A Focus is on: true, its name, or which, and what it lets through (D-264)."
    ) {
      (settings, reading) throws(ScenarioFault) in
      settings.focus = try Self.focus(reading)
    }.written { settings in
      guard let focus = settings.focus else { return false }
      return .object(JSONObject(focusRows.map { .init($0.name, $0.write?(focus) ?? .null) }))
    },
    Row("mute", \.mute, "The ring/silent switch (D-225)."),
    Row("voiceOverAnnouncements", \.voiceOverAnnouncements, "Notifications are spoken (D-027)."),
    Row("bannerSeconds", \.bannerSeconds, "Seconds until a banner goes away by itself (D-127)."),
    Row("lowPower", \.lowPower, "Low Power Mode (D-179)."),
    Row("backgroundRefresh", \.backgroundRefresh, "Background App Refresh for the whole phone (D-180)."),
    Row("backgroundRefreshRestricted", \.backgroundRefreshRestricted, "Nobody may turn it on here (D-181)."),
    Row(
      "summaryTimes", .list(.text), "When the scheduled summary comes, such as [\"08:00\", \"18:00\"] (D-265)."
    ) {
      (settings, reading) throws(ScenarioFault) in
      var times: [Int] = []
      for time in try reading.list() { times.append(try time.minuteOfDay()) }
      settings.summaryTimes = times
    }.written { .array($0.summaryTimes.map { .string(clock($0)) }) },
    Row("online", \.online, "It has a network."),
    Row("locked", \.locked, "It is locked when the first step comes."),
    Row("zone", \.zone, "Its time zone, such as \"Europe/Berlin\" (D-272)."),
    Row("language", \.language, "Its language, such as \"de\" (D-205)."),
    Row("passcode", \.passcode, "The lock asks for a passcode (D-185)."),
    Row("listedForDevelopment", \.listedForDevelopment, "Listed for the developer account (D-014)."),
    Row("strictSeed", \.strictSeed, "Behaves as the articles say where they differ from Apple."),
    Row("iOS9StaleTokens", \.iOS9StaleTokens, "After a reinstall the old token still reaches the phone (D-017)."),
    Row("staleTypesBug", \.staleTypesBug, "An app reads what it registered, whatever the user set (D-030)."),
    Row("promptMemory", \.promptMemory, "How long an answer about notifications outlives its app (D-023)."),
    Row("silentBudgetPerHour", \.silentBudgetPerHour, "Wakes per hour and app (D-175)."),
    Row("powerBudgetPerDay", \.powerBudgetPerDay, "Wakes per day and app (D-175)."),
    Row("developerAttached", \.developerAttached, "Attached to Xcode: no budget of wakes (D-175)."),
    Row("backgroundSeconds", \.backgroundSeconds, "Seconds to call the fetch handler (D-172)."),
    Row("backgroundTaskSeconds", \.backgroundTaskSeconds, "Seconds of background tasks after leaving (D-172)."),
    Row("leaveSeconds", \.leaveSeconds, "Seconds for didEnterBackground and for willTerminate (D-157, D-162)."),
    Row("presentSeconds", \.presentSeconds, "Seconds to answer willPresent (D-122)."),
    Row("extensionSeconds", \.extensionSeconds, "Seconds of a service extension (D-252)."),
    Row(
      "backgroundLaunchConnectsScene", \.backgroundLaunchConnectsScene, "A background launch connects a scene (D-107)."),
    Row(
      "launchesWaitForFirstUnlock", \.launchesWaitForFirstUnlock, "Nothing is launched before the first unlock (D-185)."
    ),
    Row("registersAfterRestore", \.registersAfterRestore, "An app is told its new token after a restore (D-044)."),
    Row("offloadedShowsPushes", \.offloadedShowsPushes, "Pushes for an offloaded app are shown (D-045)."),
    Row("foregroundPairOrder", \.foregroundPairOrder, "Which of willPresent and the fetch callback is first (D-102)."),
    Row("noDelegateShows", \.noDelegateShows, "iOS 10+ without a delegate shows in front (D-120)."),
    Row("debOnResume", \.debOnResume, "didEnterBackground again on each resume (D-159)."),
    Row("zeroClears", \.zeroClears, "Badge 0 removes the app's notifications (D-230)."),
    Row("zeroNeedsChange", \.zeroNeedsChange, "Badge 0 on a badge of 0 does nothing (D-232)."),
    Row("minusOneClears", \.minusOneClears, "An app's own badge of -1 clears (D-233)."),
    Row("pushedMinusOneClears", \.pushedMinusOneClears, "A pushed badge of -1 clears (D-233)."),
    Row("refreshOffBlocksPush", \.refreshOffBlocksPush, "Background App Refresh off keeps pushes out (D-180)."),
    Row("voipAfterForceQuit", \.voipAfterForceQuit, "VoIP pushes launch a force-quit app (D-187)."),
    Row("voipFailuresAllowed", \.voipFailuresAllowed, "Calls that may go unreported (D-186)."),
    Row("pendingLimit", \.pendingLimit, "Local notifications of an app that may wait (D-275)."),
    Row("pendingKept", \.pendingKept, "Which stay when there are more (D-275)."),
    Row("regionLimit", \.regionLimit, "Of them, those that may wait for a region (D-273)."),
    Row(
      "promptWhileProvisional", \.promptWhileProvisional, "Asking for more while provisional shows the prompt (D-026)."),
    Row("actionLaunchOptions", \.actionLaunchOptions, "A button that starts the app fills its launch options (D-141)."),
    Row("ephemeralHours", \.ephemeralHours, "Hours that an App Clip may notify after a launch (D-024)."),
    Row("extensionMemoryMegabytes", \.extensionMemoryMegabytes, "Megabytes a service extension may take (D-255)."),
    Row("activityPushesPerHour", \.activityPushesPerHour, "Of an app's Live Activities at priority 10 (D-189)."),
    Row("frequentActivityPushesPerHour", \.frequentActivityPushesPerHour, "The same with frequent updates."),
    Row("activityHours", \.activityHours, "The system ends a Live Activity that old."),
    Row("activityStayHours", \.activityStayHours, "One that has ended stays no longer."),
    Row("mostActivities", \.mostActivities, "Activities of one app at the same time."),
    Row("hasDynamicIsland", \.hasDynamicIsland, "The phone has a Dynamic Island."),
    Row("activityStartWakesForceQuit", \.activityStartWakesForceQuit, "A start by push wakes a force-quit app."),
    Row("restartEndsActivities", \.restartEndsActivities, "Live Activities end when the phone restarts."),
    Row("offlineRegistrationFails", \.offlineRegistrationFails, "Registering offline fails at once (D-041)."),
    Row("deniedDropsAlertAtAPNs", \.deniedDropsAlertAtAPNs, "APNs drops alerts of phones that may not show (D-047)."),
  ]

  /// The user's switches for one app in Settings (D-027).
  static let user: [Row<Phone.UserSettings>] = [
    Row("allowed", \.allowed, "Allow Notifications."),
    Row("alert", \.alert, "Alerts."),
    Row("sound", \.sound, "Sounds."),
    Row("badge", \.badge, "Badges."),
    Row("lockScreen", \.lockScreen, "On the lock screen."),
    Row("centre", \.centre, "In the notification centre."),
    Row("style", \.style, "Banner style of this app."),
    Row("previews", \.previews, "Previews of this app (D-126)."),
    Row("timeSensitive", \.timeSensitive, "Time Sensitive Notifications (D-262)."),
    Row("scheduledDelivery", \.scheduledDelivery, "In the scheduled summary instead of at once (D-265)."),
    Row("critical", \.critical, "Critical Alerts (D-263)."),
    Row("carPlay", \.carPlay, "Show in CarPlay."),
    Row("announcement", \.announcement, "Announce Notifications."),
    Row("liveActivities", \.liveActivities, "Live Activities of the app."),
    Row("frequentActivityPushes", \.frequentActivityPushes, "More frequent updates of them."),
    Row("grouping", \.grouping, "How its entries lie together (D-240)."),
  ]

  static let focusRows: [Row<Focus>] = [
    Row("name", \.name, "Such as \"Sleep\"."),
    Row(
      "allowedApps", .list(.text), "Bundle ids that come through."
    ) { (focus, reading) throws(ScenarioFault) in
      focus.allowedApps = Set(try reading.texts())
    }.written { .array($0.allowedApps.sorted().map(JSONValue.string)) },
    Row("allowsTimeSensitive", \.allowsTimeSensitive, "Time-sensitive notifications come through (D-262)."),
    Row("silencesUnlocked", \.silencesUnlocked, "Silence: Always, of iOS 7–14 (D-268)."),
  ]

  /// `17:00` of minutes after midnight.
  private static func clock(_ minutes: Int) -> String {
    [minutes / 60, minutes % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
  }

  private static func focus(_ reading: Reading) throws(ScenarioFault) -> Focus? {
    if let flag = reading.value.bool { return flag ? Focus() : nil }
    if let name = reading.value.string { return Focus(name) }
    var focus = Focus()
    try focusRows.read(reading, into: &focus)
    return focus
  }
}

extension Reading {
  /// `17:00` as minutes after midnight.
  func minuteOfDay() throws(ScenarioFault) -> Int {
    let parts = value.string?.split(separator: ":", omittingEmptySubsequences: false).map { Int($0) } ?? []
    guard parts.count == 2, let hour = parts[0], let minute = parts[1], 0..<24 ~= hour, 0..<60 ~= minute else {
      throw wrong("Write a time of day such as \"17:00\".")
    }
    return hour * 60 + minute
  }
}
