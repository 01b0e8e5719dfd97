import Basics
import PushPayload

extension Phone {
  /// What the user sees now: as of the last event. Made anew each time that it is asked for, in time proportional to the
  /// notifications that can be seen.
  public var screen: Screen {
    var screen = Screen(clock: clock, isLocked: isLocked, indicators: indicators)
    screen.icons = apps.map(icon)
    screen.front = isLocked ? nil : front.map { icon(apps[$0]) }
    if isLocked { screen.lockScreen = groups(where: \.onLockScreen) }
    if settings.iosVersion.hasCentre { screen.centre = groups(where: \.inCentre) }
    screen.isCentreOpen = centreIsOpen
    if !isLocked {
      screen.banners = notifications { $0.overlay == .banner || $0.overlay == .persistentBanner }
      screen.alert = modalAlert
    }
    screen.prompt = prompt.flatMap(question)
    return screen
  }

  private var clock: String { String(now.description.dropFirst(11).prefix(5)) }

  private var indicators: Screen.Indicators {
    Screen.Indicators(
      focus: settings.focus?.name, isLowPower: settings.lowPower, isOnline: isOnline, isMuted: settings.mute)
  }

  private func icon(_ app: InstalledApp) -> Screen.Icon {
    Screen.Icon(bundleID: app.description.bundleID, name: app.description.name, badge: app.badge)
  }

  /// The newest first, over all apps.
  private func notifications(where wanted: (CentreEntry) -> Bool) -> [Screen.Notification] {
    entries(where: wanted).map { drawn($0.entry, of: $0.app) }
  }

  private func groups(where wanted: (CentreEntry) -> Bool) -> [Screen.Group] {
    entries(where: wanted).map { entry, app in
      Screen.Group(
        bundleID: apps[app].description.bundleID, title: apps[app].description.name,
        notifications: [drawn(entry, of: app)])
    }
  }

  /// Newest first; what came at the same moment in the reverse order of coming.
  private func entries(where wanted: (CentreEntry) -> Bool) -> [(entry: CentreEntry, app: Int)] {
    var found: [(entry: CentreEntry, app: Int)] = []
    for app in apps.indices {
      for entry in apps[app].entries.reversed() where wanted(entry) { found.append((entry, app)) }
    }
    return found.sorted { $0.entry.shownAt > $1.entry.shownAt }
  }

  private func drawn(_ entry: CentreEntry, of app: Int) -> Screen.Notification {
    let words = words(of: entry.notice, of: app)
    return Screen.Notification(
      bundleID: apps[app].description.bundleID, appName: apps[app].description.name, id: entry.id,
      heading: words.heading, subtitle: words.subtitle, body: words.body, shownAt: entry.shownAt)
  }

  private var modalAlert: Screen.Alert? {
    guard let newest = entries(where: { $0.overlay == .modal }).first else { return nil }
    return Screen.Alert(
      notification: drawn(newest.entry, of: newest.app), buttons: Self.buttons(of: newest.entry.notice.content))
  }

  /// Close, and what shows the app: View, or the word of `action-loc-key`; null there takes it away (D-127, D-209).
  private static func buttons(of content: Content) -> [String] {
    let alert = content.userInfo["aps"]?.object?["alert"]?.object
    if alert?["action-loc-key"] == .null { return ["Close"] }
    return ["Close", content.payload.alert?.actionLocKey ?? content.payload.alert?.action ?? "View"]
  }

  private func question(_ prompt: PermissionPrompt) -> Screen.Prompt? {
    guard let app = index(of: prompt.bundleID) else { return nil }
    let kind = settings.iosVersion.major < 8 ? "Push Notifications" : "Notifications"
    return Screen.Prompt(
      bundleID: prompt.bundleID, text: "“\(apps[app].description.name)” Would Like to Send You \(kind)",
      detail: "Notifications may include alerts, sounds, and icon badges. These can be configured in Settings.",
      buttons: ["Don’t Allow", settings.iosVersion.major < 10 ? "OK" : "Allow"])
  }
}
