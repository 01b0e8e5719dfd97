import Basics

/// Apps come, are replaced, and go (D-023, D-045, D-239).
extension Phone {
  mutating func install(_ description: AppDescription) {
    if let app = index(of: description.bundleID) { return update(app, to: description) }
    let app = apps.count
    apps.append(InstalledApp(description))
    var kept = false
    if let remembered = rememberedPermissions.removeValue(forKey: description.bundleID),
      (now - remembered.since) < settings.permissionMemory
    {
      change(app) { $0 = remembered.permission }
      kept = true
    }
    record(.system("installed\(kept ? "; the old answer about notifications is kept" : "")"), app, "D-023")
  }

  /// A new version over the old one: token, permission, entries and data stay, the process does not.
  private mutating func update(_ app: Int, to description: AppDescription) {
    record(.system("updates the app"), app, "D-002")
    endServiceExtension(of: app)
    if apps[app].state.isFront { centreIsOpen = false }
    end(app, as: .notRunning, "D-162")
    apps[app].description = description
    apps[app].isOffloaded = false
  }

  mutating func uninstall(_ app: Int) {
    record(.user("deletes the app"), app, "D-045")
    let gone = apps[app]
    let bundleID = gone.description.bundleID
    if gone.state.isFront { centreIsOpen = false }
    if gone.permission.status != .notDetermined { rememberedPermissions[bundleID] = (gone.permission, now) }
    removeActivities(of: app)
    disconnectFromMessages(app, "the app is deleted")
    dropCall(of: app)
    abandonToken(of: app, keepsWorking: settings.keepsStaleTokens)
    change(app) { $0 = Permission() }
    forget(bundleID)
    apps.remove(at: app)
    removeContainers(of: gone.description)
  }

  /// APNs learns late that nothing takes the token any more (D-045); the next one is another (D-044).
  mutating func abandonToken(of app: Int, keepsWorking: Bool) {
    let bundleID = apps[app].description.bundleID
    if apps[app].pushKit.token != nil { voipRemovedBefore.insert(bundleID) }
    if apps[app].registration.token != nil { removedBefore.insert(bundleID) }
    guard let token = apps[app].registration.token ?? apps[app].pushKit.token else { return }
    effects.append(.tokenAbandoned(bundleID: bundleID, token: token, keepsWorking: keepsWorking))
  }

  private mutating func forget(_ bundleID: String) {
    if prompt?.bundleID == bundleID { prompt = nil }
    waitingPrompts.removeAll { $0.bundleID == bundleID }
    if waitingTap?.bundleID == bundleID { waitingTap = nil }
  }

  // MARK: offloading (iOS 11)

  /// Only the icon and the data of the app are here (D-045).
  public func isOffloaded(_ bundleID: String) -> Bool { index(of: bundleID).map { apps[$0].isOffloaded } ?? false }

  /// The app's code goes; its icon, its data, its permission and what it has scheduled stay. To APNs and to the centre it
  /// is gone like a deleted one, unless `offloadedShowsPushes`.
  mutating func offload(_ app: Int) {
    guard settings.iosVersion.major >= 11 else {
      return record(.user("finds no way to offload an app on iOS \(settings.iosVersion)"), app, "D-045")
    }
    guard !apps[app].isOffloaded else { return record(.user("the app is offloaded already"), app, "D-045") }
    record(.user("offloads the app: its icon and data stay"), app, "D-045")
    if apps[app].state.isFront { centreIsOpen = false }
    end(app, as: .notRunning, "D-045")
    forget(apps[app].description.bundleID)
    apps[app].isOffloaded = true
    guard !settings.offloadedShowsPushes else { return }
    abandonToken(of: app, keepsWorking: settings.keepsStaleTokens)
    apps[app].registration.token = nil
    apps[app].registration.waiting = false
    apps[app].pushKit.token = nil
    removeAll(of: app, "the app was offloaded", "D-239")
    apps[app].collected = []
    if apps[app].badge != 0 { setBadge(0, of: app, "D-239") }
  }

  /// From Settings, or by a tap on the icon; it needs the network.
  mutating func reinstallOffloaded(_ app: Int) {
    guard apps[app].isOffloaded else { return record(.user("the app is not offloaded"), app, "D-045") }
    guard isOnline else {
      return record(.user("wants the offloaded app back; there is no network to download it"), app, "D-045")
    }
    apps[app].isOffloaded = false
    record(.user("gets the offloaded app back, with its data"), app, "D-045")
  }
}
