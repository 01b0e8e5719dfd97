import Basics
import PushPayload

extension Phone {
  /// What the user sees now: as of the last event. Made anew each time that it is asked for, in time proportional to the
  /// notifications that can be seen.
  public var screen: Screen {
    var screen = Screen(clock: clock, isLocked: isLocked, indicators: indicators)
    screen.icons = apps.map(icon)
    screen.front = isLocked ? nil : front.map { icon(apps[$0]) }
    if isLocked { screen.lockScreen = groups(of: listed(where: \.onLockScreen), onLockScreen: true) }
    if settings.iosVersion.hasCentre { screen.centre = groups(of: listed(where: \.inCentre), onLockScreen: false) }
    screen.isCentreOpen = centreIsOpen
    if !isLocked {
      screen.banners = banners
      screen.alert = modalAlert
    }
    if let longLook {
      screen.expanded =
        listed { $0.id == longLook.id }.first { apps[$0.app].description.bundleID == longLook.bundleID }.map(drawn)
    }
    screen.prompt = prompt.flatMap(question)
    screen.call = call
    screen.waitingCall = waitingCall
    screen.activities = lockScreenActivities
    screen.island = dynamicIsland
    return screen
  }

  private var clock: String {
    let local = settings.clocks.local(at: now)
    return [local.hour, local.minute].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
  }

  private var indicators: Screen.Indicators {
    Screen.Indicators(
      focus: settings.focus?.name, isLowPower: settings.lowPower, isOnline: isOnline,
      isAirplane: networkBeforeAirplane != nil, isMuted: settings.mute)
  }

  private func icon(_ app: InstalledApp) -> Screen.Icon {
    Screen.Icon(bundleID: app.description.bundleID, name: app.description.name, badge: app.badge)
  }

  /// Newest first; what came at the same moment in the reverse order of coming.
  private func listed(where wanted: (CentreEntry) -> Bool) -> [Listed] {
    var found: [Listed] = []
    for app in apps.indices {
      for entry in apps[app].entries.reversed() where wanted(entry) { found.append(Listed(entry: entry, app: app)) }
    }
    return found.sorted { $0.entry.listedAt > $1.entry.listedAt }
  }

  func drawn(_ listed: Listed) -> Screen.Notification {
    let app = apps[listed.app]
    let words = words(of: listed.entry.notice, of: listed.app)
    var drawn = Screen.Notification(
      bundleID: app.description.bundleID, appName: app.description.name, id: listed.entry.id,
      heading: words.heading, subtitle: words.subtitle, body: words.body, shownAt: listed.entry.shownAt,
      actions: buttons(of: listed.entry, listed.app))
    if app.timeSensitiveQuestion == .asked(listed.entry.id) {
      drawn.choices = ["Leave On", "Turn Off"]
    } else if app.permission.isQuiet {
      drawn.choices = ["Keep", "Turn Off"]
    }
    return drawn
  }

  /// The newest, and the summary's own banner, which features the most relevant of what it brings.
  private var banners: [Screen.Notification] {
    var banners = listed { $0.overlay?.isBanner == true }.map(drawn)
    for index in banners.indices where banners[index].id != longLook?.id {
      banners[index].actions = Array(banners[index].actions.prefix(Self.mostInBanner))
    }
    guard let banner, banner.entry == nil else { return banners }
    let brought = listed { $0.summarizedAt != nil }
    let latest = brought.compactMap(\.entry.summarizedAt).max()
    let newest = brought.filter { $0.entry.summarizedAt == latest }
    guard let featured = newest.min(by: { Self.isFeatured($0.entry, before: $1.entry) }) else { return banners }
    var summary = drawn(featured)
    if newest.count > 1 { summary.body += " and \(newest.count - 1) more" }
    summary.heading = "Scheduled Summary: \(summary.heading)"
    summary.choices = []
    banners.insert(summary, at: 0)
    return banners
  }

  private var modalAlert: Screen.Alert? {
    guard let newest = listed(where: { $0.overlay == .modal }).first else { return nil }
    let drawn = drawn(newest)
    return Screen.Alert(notification: drawn, buttons: alertButtons(of: newest.entry.notice.content, newest.app))
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
