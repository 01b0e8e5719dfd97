/// The phone restarts, is updated, or gets all its apps from a backup.
extension Phone {
  /// Locked, and with a passcode set nothing has been unlocked since the restart: notifications show without their
  /// content, and no app is launched in the background (D-185).
  public var isBeforeFirstUnlock: Bool { awaitsFirstUnlock }

  /// No app is launched in the background now.
  var launchesWait: Bool { awaitsFirstUnlock && settings.launchesWaitForFirstUnlock }

  mutating func restart() {
    record(.user("restarts the phone"), nil, "D-163")
    boot()
  }

  private mutating func boot() {
    longLook = nil
    for app in apps.indices { endServiceExtension(of: app) }
    prompt = nil
    waitingPrompts = []
    waitingTap = nil
    later = []
    centreIsOpen = false
    banner = nil
    call = nil
    waitingCall = nil
    for app in apps.indices {
      end(app, as: .notRunning, "D-163")
      restartActivities(app)
      for index in apps[app].entries.indices { apps[app].entries[index].overlay = nil }
      apps[app].entries.removeAll(where: \.isGone)
    }
    isLocked = true
    awaitsFirstUnlock = settings.passcode
    if awaitsFirstUnlock { record(.system("restarted; before the first unlock"), nil, "D-185") }
  }

  /// The first unlock since the restart: what waited for it comes now (D-185).
  mutating func endWaitForFirstUnlock() {
    guard awaitsFirstUnlock else { return }
    awaitsFirstUnlock = false
    record(.system("the first unlock since the restart"), nil, "D-185")
    for app in apps.indices { reconsiderHeld(app) }
  }

  /// Another iOS, a point release among them. Apps, permissions and tokens stay, everything that runs is ended (D-044
  /// names restores and erased systems, not updates).
  mutating func updateIOS(to version: IOSVersion) {
    guard version > settings.iosVersion else {
      let words =
        version == settings.iosVersion ? "has iOS \(version) already" : "an iPhone does not go back to iOS \(version)"
      return record(.user(words), nil, "D-006")
    }
    record(.user("updates iOS \(settings.iosVersion) to \(version)"), nil, "D-006")
    settings.iosVersion = version
    boot()
    recordSettings()
  }

  /// All apps and their data come back; what belongs to the phone does not: tokens (D-044), answers about notifications
  /// (D-023), and what the centre listed.
  mutating func restore(toNewPhone: Bool) {
    record(.user("restores a backup to \(toNewPhone ? "a new phone" : "this phone")"), nil, "D-044")
    boot()
    rememberedPermissions = [:]
    removedBefore = []
    voipRemovedBefore = []
    for app in apps.indices { restore(app) }
  }

  private mutating func restore(_ app: Int) {
    setState(.notRunning, of: app, "D-044")
    change(app) { $0 = Permission() }
    apps[app].entries = []
    apps[app].collected = []
    apps[app].badge = 0
    apps[app].isOffloaded = false
    let hadToken = apps[app].registration.token != nil
    abandonToken(of: app, keepsWorking: false)
    apps[app].registration.token = nil
    apps[app].registration.waiting = false
    apps[app].pushKit = PushKitRegistration()
    guard hadToken, settings.registersAfterRestore, !apps[app].registration.unregistered else { return }
    apps[app].registration.unasked = true
    if isOnline { askAPNs(app) }
  }
}
