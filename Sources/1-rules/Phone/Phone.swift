public import Basics

/// One simulated iPhone: what its user sees and hears, and which code of which app runs with what.
///
/// A value: no clock, no socket, no chance. The same events at the same times give the same timeline. A driver feeds
/// `handle` in order, performs the effects in order, and sends `.timePassed` when `due` has come. Nothing that a
/// peer, a user or an app does traps; an event from before the last one counts as of now.
///
/// Every entry of the timeline names its rule of the device specification; what this phone does not know yet it calls
/// "not modelled" and leaves alone (docs/iphone.md lists both).
public struct Phone: Sendable {
  public internal(set) var settings: PhoneSettings
  public internal(set) var isLocked: Bool
  public internal(set) var isOnline: Bool
  /// All that happened since the start or since `takeTimeline`.
  public internal(set) var timeline: [TimelineEntry] = []

  var now = Instant(milliseconds: .min)
  /// In the order of installation, so that nothing depends on hashing.
  var apps: [InstalledApp] = []
  /// Lies over the app in front (D-124).
  var centreIsOpen = false
  /// The permission prompt on the screen (D-013), and those that wait for their app to come to front.
  var prompt: PermissionPrompt?
  var waitingPrompts: [PermissionPrompt] = []
  /// A notification used on the lock screen, before the user has authenticated (D-139).
  var waitingTap: (bundleID: String, id: String)?
  /// Answers that apps told us to remember beyond their removal (D-023).
  var rememberedPermissions: [String: (permission: Permission, since: Instant)] = [:]
  /// Apps that were here once: their next token is a new one (D-044).
  var removedBefore: Set<String> = []
  /// What the main run loop does after the present event: answers never come inside the call that asked.
  var later: [DeferredAnswer] = []
  var effects: [Effect] = []
  private var hasStarted = false

  public init(_ settings: PhoneSettings = PhoneSettings()) {
    self.settings = settings
    isLocked = settings.locked
    isOnline = settings.online
  }

  /// Takes one event and answers what to do outside, first effect first.
  public mutating func handle(_ event: Event, at time: Instant) -> [Effect] {
    let target = max(now, time)
    if !hasStarted {
      hasStarted = true
      now = target
      recordSettings()
    }
    while let next = due, next <= target {
      now = max(now, next)
      fire()
      runLater()
    }
    now = target
    step(event)
    runLater()
    defer { effects = [] }
    return effects
  }

  /// When the next thing happens by itself; nil: nothing waits.
  public var due: Instant? {
    var earliest: Instant?
    for app in apps {
      for time in [app.suspendAt, app.held?.until, app.awaited.map(\.due).min()] {
        guard let time else { continue }
        earliest = min(earliest ?? time, time)
      }
    }
    return earliest
  }

  /// The timeline so far, which then starts anew: what a host of many phones calls.
  public mutating func takeTimeline() -> [TimelineEntry] {
    defer { timeline = [] }
    return timeline
  }

  private mutating func step(_ event: Event) {
    switch event {
    case .push(let push): arrive(push)
    case .tokenIssued(let bundleID, let token): withApp(bundleID) { $0.takeToken(token, for: $1) }
    case .registrationFailed(let bundleID, let reason):
      withApp(bundleID) { $0.takeRegistrationFailure(reason, for: $1) }
    case .registrationIDReceived(let bundleID, let id): withApp(bundleID) { $0.takeRegistrationID(id, for: $1) }
    case .networkChanged(let online): changeNetwork(online: online)
    case .setNetwork(let network): record(.notModelled("the network \(network.rawValue)"), nil, "D-116")
    case .timePassed: break

    case .installApp(let description): install(description)
    case .uninstallApp(let bundleID): withApp(bundleID) { $0.uninstall($1) }
    case .offloadApp(let bundleID), .reinstallOffloaded(let bundleID):
      withApp(bundleID) { $0.record(.notModelled("an offloaded app"), $1, "D-045") }
    case .restoreFromBackup: record(.notModelled("a restore from a backup"), nil, "D-044")
    case .updateIOS(let version): record(.notModelled("an update to iOS \(version)"), nil, "D-006")
    case .launch(let bundleID): withApp(bundleID) { $0.openByIcon($1) }
    case .tap(let bundleID, let id): withApp(bundleID) { $0.tap($1, id: id) }
    case .expand(let bundleID, let id): withApp(bundleID) { $0.expand($1, id: id) }
    case .collapse(let bundleID): withApp(bundleID) { $0.collapse($1) }
    case .closeAlert(let bundleID): withApp(bundleID) { $0.closeAlert($1) }
    case .action(let bundleID, let id, let action, let text):
      withApp(bundleID) { $0.pressButton(action, of: id, text: text, $1) }
    case .dismiss(let bundleID, let id): withApp(bundleID) { $0.dismiss($1, id: id) }
    case .clear(let bundleID, let id): withApp(bundleID) { $0.clear($1, id: id) }
    case .flickAway(let bundleID): withApp(bundleID) { $0.flickAway($1) }
    case .openNotificationSettings(let bundleID, let id): withApp(bundleID) { $0.openSettings(of: $1, for: id) }
    case .keepProvisional(let bundleID, let id, let inSummary):
      withApp(bundleID) { $0.keepProvisional($1, id: id, inSummary: inSummary) }
    case .turnOff(let bundleID, let id): withApp(bundleID) { $0.turnOff($1, id: id) }
    case .lock: lock()
    case .unlock: unlock()
    case .cancelUnlock: cancelUnlock()
    case .failUnlock: record(.notModelled("a failed authentication"), nil, "D-139")
    case .home: home()
    case .openCentre: openCentre()
    case .closeCentre: closeCentre()
    case .forceQuit(let bundleID): withApp(bundleID) { $0.forceQuit($1) }
    case .answerPrompt(let allow): answerPrompt(allow: allow)
    case .answerTimeSensitive(let bundleID, let keep): withApp(bundleID) { $0.answerTimeSensitive($1, keep: keep) }
    case .changePermission(let bundleID, let settings):
      withApp(bundleID) { $0.changePermission(settings, for: $1) }
    case .restart: restart()
    case .airplane: record(.notModelled("airplane mode"), nil, "D-116")
    case .changeBackgroundRefresh(let bundleID, _):
      withApp(bundleID) { $0.record(.notModelled("the app's Background App Refresh"), $1, "D-181") }
    case .openScene(let bundleID), .showScene(let bundleID, _), .closeScene(let bundleID, _):
      withApp(bundleID) { $0.record(.notModelled("several scenes"), $1, "D-137") }
    case .change(let new): change(to: new)

    case .suspend(let bundleID): withApp(bundleID) { $0.suspendNow($1) }
    case .endBySystem(let bundleID): withApp(bundleID) { $0.endBySystem($1) }
    case .terminateForMemory: record(.notModelled("a lack of memory"), nil, "D-162")
    case .prewarm(let bundleID): withApp(bundleID) { $0.record(.notModelled("a prepared process"), $1, "D-165") }
    case .disconnectScene(let bundleID, _):
      withApp(bundleID) { $0.record(.notModelled("a scene disconnected by the system"), $1, "D-137") }
    case .app(let bundleID, let act):
      withApp(bundleID) { phone, app in
        guard phone.apps[app].state.isExecuting else {
          return phone.record(.system("its code does not run now: \(act.words) does not happen"), app, "D-071")
        }
        phone.perform(act, by: app)
      }
    }
  }

  /// What is due now. Every branch takes its timer away or sets it later than now, so that `handle` ends.
  private mutating func fire() {
    for app in apps.indices {
      if let suspendAt = apps[app].suspendAt, suspendAt <= now {
        apps[app].suspendAt = nil
        record(.system("a snapshot for the app switcher"), app, "D-157")
        suspendIfIdle(app, "D-157")
      }
      while let index = apps[app].awaited.firstIndex(where: { $0.due <= now }) {
        resolve(apps[app].awaited.remove(at: index), of: app)
      }
      if let held = apps[app].held, let until = held.until, until <= now {
        apps[app].held = nil
        deliverHeld(held, to: app)
      }
    }
  }

  // MARK: words

  func index(of bundleID: String) -> Int? { apps.firstIndex { $0.description.bundleID == bundleID } }

  private mutating func withApp(_ bundleID: String, _ body: (inout Phone, Int) -> Void) {
    guard let app = index(of: bundleID) else {
      timeline.append(
        TimelineEntry(
          time: now, bundleID: bundleID, appState: nil, locked: isLocked, what: .system("no such app on this phone"),
          rule: "D-015"))
      return
    }
    body(&self, app)
  }

  mutating func record(_ what: TimelineEntry.What, _ app: Int?, _ rule: Rule) {
    timeline.append(
      TimelineEntry(
        time: now, bundleID: app.map { apps[$0].description.bundleID }, appState: app.map { apps[$0].state },
        locked: isLocked, what: what, rule: rule))
  }

  private mutating func recordSettings() {
    let (set, notModelled) = settings.differences()
    let switches = set.map { ", \($0.name) \($0.value)" }.joined()
    record(.system("\(settings.name): iOS \(settings.iosVersion)\(switches)"), nil, "D-002")
    for one in notModelled { record(.notModelled("\(one.name) is set, but changes nothing"), nil, one.rule) }
  }

  private mutating func change(to new: PhoneSettings) {
    let old = settings
    settings = new
    settings.locked = isLocked
    settings.online = isOnline
    settings.iosVersion = old.iosVersion
    if new.iosVersion != old.iosVersion {
      record(.notModelled("an update from iOS \(old.iosVersion) to \(new.iosVersion)"), nil, "D-006")
    }
    guard settings != old else { return }
    recordSettings()
    for app in apps.indices where apps[app].held != nil { reconsiderHeld(app) }
  }
}

// MARK: what a host or a test may ask

extension Phone {
  public var bundleIDs: [String] { apps.map(\.description.bundleID) }

  /// nil: no such app.
  public func state(of bundleID: String) -> AppState? { index(of: bundleID).map { apps[$0].state } }

  /// The number on the icon; 0: none.
  public func badge(of bundleID: String) -> Int { index(of: bundleID).map { apps[$0].badge } ?? 0 }

  /// Request identifiers of what the notification centre lists, newest first.
  public func centre(of bundleID: String) -> [String] { ids(of: bundleID, where: \.inCentre) }

  /// Request identifiers of what the lock screen lists, newest first.
  public func lockScreen(of bundleID: String) -> [String] { ids(of: bundleID, where: \.onLockScreen) }

  /// The present token; nil before APNs has given one.
  public func token(of bundleID: String) -> [UInt8]? { index(of: bundleID).flatMap { apps[$0].registration.token } }

  /// nil until the push service has answered for a token (D-018).
  public func registrationID(of bundleID: String) -> String? {
    index(of: bundleID).flatMap { apps[$0].registration.registrationID }
  }

  /// The app whose permission prompt lies on the screen.
  public var promptedApp: String? { prompt?.bundleID }

  private func ids(of bundleID: String, where listed: (CentreEntry) -> Bool) -> [String] {
    guard let app = index(of: bundleID) else { return [] }
    return apps[app].entries.filter(listed).reversed().map(\.id)
  }
}
