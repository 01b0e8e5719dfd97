import Basics

/// `UIBackgroundRefreshStatus` (D-181).
enum RefreshStatus: String, Hashable, Sendable {
  case available
  /// The user turned Background App Refresh off, for the app or the phone; Low Power Mode counts as that (D-179).
  case denied
  /// The user may not turn it on: parental controls, management.
  case restricted
}

/// Background App Refresh as apps see it, and what their code does in the time of a wake (D-181, D-183).
extension Phone {
  func refreshStatus(of app: Int) -> RefreshStatus {
    if settings.backgroundRefreshRestricted { return .restricted }
    return isRefreshOn(app) && !settings.isLowPower ? .available : .denied
  }

  /// The user's switches, of the phone and of the app (D-180).
  func isRefreshOn(_ app: Int) -> Bool { settings.backgroundRefresh && apps[app].description.backgroundRefresh }

  mutating func readRefreshStatus(_ app: Int) {
    record(.app("reads its backgroundRefreshStatus: \(refreshStatus(of: app).rawValue)"), app, "D-181")
  }

  /// An app that executes is told at once; a suspended one when it executes again, once, if it is still another status
  /// (Apple, "Processing queued notifications").
  mutating func tellRefreshStatus(_ app: Int) {
    guard apps[app].state.isExecuting, let told = apps[app].toldRefreshStatus else { return }
    let status = refreshStatus(of: app)
    guard status != told else { return }
    apps[app].toldRefreshStatus = status
    call(.backgroundRefreshStatusDidChange, of: app, "D-181")
  }

  mutating func changeBackgroundRefresh(_ on: Bool, of app: Int) {
    record(.user("turns the app's Background App Refresh \(on ? "on" : "off")"), app, "D-180")
    apps[app].description.backgroundRefresh = on
    tellRefreshStatus(app)
    reconsiderHeld(app)
  }

  // MARK: what code does in a wake

  mutating func showPage(_ page: String, by app: Int) {
    record(.app("shows the page \(page)"), app, "D-183")
    apps[app].page = page
  }

  /// A download or a fetch needs the network as a push does.
  mutating func load(_ act: AppAct, by app: Int) {
    guard isOnline else { return record(.app("\(act.words) fails: no network"), app, "D-183") }
    record(.app(act.words), app, "D-183")
  }

  /// What the app switcher shows of the app from now on.
  mutating func takeSnapshot(of app: Int, _ rule: Rule) {
    apps[app].snapshotPage = apps[app].page
    guard let page = apps[app].page else { return record(.system("a new snapshot for the app switcher"), app, rule) }
    record(.system("a new snapshot for the app switcher: the page \(page)"), app, rule)
  }

  /// The page that the app's picture in the app switcher shows (D-173, D-183); nil: none that the app has named.
  public func switcherPage(of bundleID: String) -> String? { index(of: bundleID).flatMap { apps[$0].snapshotPage } }
}
