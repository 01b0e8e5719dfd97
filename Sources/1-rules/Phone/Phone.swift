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
  public internal(set) var settings: PhoneSettings {
    _read { yield switches.settings }
    set { switches = Switches(newValue) }
  }
  public internal(set) var isLocked: Bool
  public internal(set) var network: Network
  public internal(set) var isInAirplaneMode = false
  /// All that happened since the start or since `takeTimeline`.
  public internal(set) var timeline: [TimelineEntry] = []

  private var switches: Switches
  var now = Instant(milliseconds: .min)
  /// In the order of installation, so that nothing depends on hashing.
  var apps: [InstalledApp] = []
  /// Of app groups, and of apps without.
  var shared = SharedContainers()
  /// What the phone was connected to when airplane mode was turned on.
  var networkBeforeAirplane: Network?
  /// Restarted with a passcode, and not unlocked since (D-185).
  var awaitsFirstUnlock = false
  /// Lies over the app in front (D-124).
  var centreIsOpen = false
  /// The banner that goes away by itself (D-127).
  var banner: TemporaryBanner?
  /// When the scheduled summary comes; nil: nothing waits for it (D-265).
  var summaryDue: Instant?
  /// The permission prompt on the screen (D-013), and those that wait for their app to come to front.
  var prompt: PermissionPrompt?
  var waitingPrompts: [PermissionPrompt] = []
  /// The notification that is expanded (D-258).
  var longLook: LongLook?
  /// What was done with a notification on the lock screen, before the user has authenticated (D-139, D-143).
  var waitingTap: WaitingUse?
  /// Answers that apps told us to remember beyond their removal (D-023).
  var rememberedPermissions: [String: (permission: Permission, since: Instant)] = [:]
  /// Apps that were here once: their next token is a new one (D-044).
  var removedBefore: Set<String> = []
  /// The same for their VoIP tokens (D-048).
  var voipRemovedBefore: Set<String> = []
  /// What the main run loop does after the present event: answers never come inside the call that asked.
  var later: [DeferredAnswer] = []
  var effects: [Effect] = []
  var leap = LocalLeap()
  /// On the system's call screen (D-186).
  public internal(set) var call: PhoneCall?
  /// Came while there was `call`, and rings beside it (D-186).
  public internal(set) var waitingCall: PhoneCall?
  private var hasStarted = false

  public init(_ settings: PhoneSettings = PhoneSettings()) {
    switches = Switches(settings)
    isLocked = settings.locked
    network = settings.online ? .online : .none
  }

  /// The settings in memory of their own: they seldom change, and copies of a phone share them.
  private final class Switches: Sendable {
    let settings: PhoneSettings

    init(_ settings: PhoneSettings) { self.settings = settings }
  }

  /// Takes one event and answers what to do outside, first effect first.
  public mutating func handle(_ event: Event, at time: Instant) -> [Effect] {
    let target = max(now, time)
    if !hasStarted {
      hasStarted = true
      now = target
      recordSettings()
    }
    leap = LocalLeap()
    leap.until = target
    passTime(to: target)
    step(event)
    runLater()
    passTime(to: target)
    defer { effects = [] }
    return effects
  }

  /// Does what is due until then; also what the event itself has made due at once.
  private mutating func passTime(to target: Instant) {
    while let next = due, next <= target {
      now = max(now, next)
      fire()
      runLater()
    }
    now = target
  }

  /// When the next thing happens by itself; nil: nothing waits.
  public var due: Instant? {
    var earliest = Earliest()
    earliest.consider(banner?.until)
    earliest.consider(summaryDue)
    // by index: a copy of an app costs more than all that is asked of it here
    for app in apps.indices {
      earliest.consider(apps[app].suspendAt)
      earliest.consider(apps[app].held?.until)
      earliest.consider(apps[app].permission.ephemeralUntil)
      for awaited in apps[app].awaited { earliest.consider(awaited.due) }
      for run in apps[app].serviceRuns { earliest.consider(run.due) }
      earliest.consider(backgroundTasksDue(of: app))
      earliest.consider(apps[app].local.due)
      if !apps[app].activities.kept.isEmpty { earliest.consider(apps[app].activities.nextDue(activityRules)) }
    }
    return earliest.time
  }

  /// The first of several times, of which some may not be there.
  struct Earliest {
    private(set) var time: Instant?

    mutating func consider(_ other: Instant?) {
      guard let other, time.map({ other < $0 }) ?? true else { return }
      time = other
    }
  }

  /// The timeline so far, which then starts anew: what a host of many phones calls.
  public mutating func takeTimeline() -> [TimelineEntry] {
    defer { timeline = [] }
    return timeline
  }

  private mutating func step(_ event: Event) {
    take(event)
    // without a passcode the lock asks for nothing: what was used on it opens at once (D-139)
    if !settings.passcode, isLocked, waitingTap != nil { unlock() }
  }

  private mutating func take(_ event: Event) {
    switch event {
    case .push(let push): arrive(push)
    case .tokenIssued(let bundleID, let token, let kind): withApp(bundleID) { $0.takeToken(token, kind, for: $1) }
    case .registrationFailed(let bundleID, let reason):
      withApp(bundleID) { $0.takeRegistrationFailure(reason, for: $1) }
    case .registrationIDReceived(let bundleID, let id): withApp(bundleID) { $0.takeRegistrationID(id, for: $1) }
    case .networkChanged(let online): setNetwork(online ? .online : .none)
    case .setNetwork(let network): setNetwork(network)
    case .voipTokenIssued(let bundleID, let token): withApp(bundleID) { $0.takeVoIPToken(token, for: $1) }
    case .voipTokenInvalidated(let bundleID): withApp(bundleID) { $0.invalidateVoIPToken(of: $1) }
    case .learnChannel(let bundleID, let name, let channel):
      withApp(bundleID) { $0.apps[$1].activities.channels[name] = channel }
    case .channelRefused(let bundleID, let channel, let reason):
      withApp(bundleID) { $0.channelRefused(channel, reason, for: $1) }
    case .pushFate(let pushID, let bundleID, let fate): withApp(bundleID) { $0.tellFate(fate, of: pushID, for: $1) }
    case .messagesConnected(let bundleID): withApp(bundleID) { $0.messagesConnected($1) }
    case .messagesDisconnected(let bundleID): withApp(bundleID) { $0.messagesDisconnected($1) }
    case .message(let bundleID, let message): withApp(bundleID) { $0.takeMessage(message, for: $1) }
    case .messageHistory(let bundleID, let messages): withApp(bundleID) { $0.takeHistory(messages, for: $1) }
    case .preferenceAnswered(let bundleID, let onlyScheduled, let accepted):
      withApp(bundleID) { $0.preferenceAnswered(onlyScheduled, accepted: accepted, for: $1) }
    case .timePassed: break

    case .installApp(let description): install(description)
    case .uninstallApp(let bundleID): withApp(bundleID) { $0.uninstall($1) }
    case .offloadApp(let bundleID): withApp(bundleID) { $0.offload($1) }
    case .reinstallOffloaded(let bundleID): withApp(bundleID) { $0.reinstallOffloaded($1) }
    case .restoreFromBackup(let toNewPhone): restore(toNewPhone: toNewPhone)
    case .updateIOS(let version): updateIOS(to: version)
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
    case .dismissActivity(let bundleID, let id): withApp(bundleID) { $0.dismissActivity($1, id: id) }
    case .openActivity(let bundleID, let id): withApp(bundleID) { $0.openActivity($1, id: id) }
    case .lock: lock()
    case .unlock: unlock()
    case .cancelUnlock: cancelUnlock()
    case .failUnlock: failUnlock()
    case .home: home()
    case .openCentre: openCentre()
    case .closeCentre: closeCentre()
    case .forceQuit(let bundleID): withApp(bundleID) { $0.forceQuit($1) }
    case .answerPrompt(let allow): answerPrompt(allow: allow)
    case .answerTimeSensitive(let bundleID, let keep): withApp(bundleID) { $0.answerTimeSensitive($1, keep: keep) }
    case .changePermission(let bundleID, let settings):
      withApp(bundleID) { $0.changePermission(settings, for: $1) }
    case .restart: restart()
    case .airplane(let on): setAirplane(on)
    case .changeBackgroundRefresh(let bundleID, let on): withApp(bundleID) { $0.changeBackgroundRefresh(on, of: $1) }
    case .openScene(let bundleID): withApp(bundleID) { $0.openScene($1) }
    case .showScene(let bundleID, let scene): withApp(bundleID) { $0.showScene(scene, of: $1) }
    case .closeScene(let bundleID, let scene): withApp(bundleID) { $0.closeScene(scene, of: $1) }
    case .cross(let region, let entering): cross(region, entering: entering)
    case .changeZone(let zone): changeZone(zone)
    case .answerCall: answerCall()
    case .declineCall: endCallByUser(answered: false)
    case .hangUp: endCallByUser(answered: true)
    case .change(let new): change(to: new)

    case .suspend(let bundleID): withApp(bundleID) { $0.suspendNow($1) }
    case .endBySystem(let bundleID): withApp(bundleID) { $0.endBySystem($1) }
    case .terminateForMemory(let bundleID):
      if let bundleID { withApp(bundleID) { $0.endBySystem($1) } } else { endForMemory() }
    case .prewarm(let bundleID): withApp(bundleID) { $0.prewarm($1) }
    case .disconnectScene(let bundleID, let scene): withApp(bundleID) { $0.disconnectScene(scene, of: $1) }
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
    if let banner, banner.until <= now { lowerBanner() }
    if let summaryDue, summaryDue <= now { deliverSummary() }
    for app in apps.indices {
      if let suspendAt = apps[app].suspendAt, suspendAt <= now { finishLeaving(app) }
      fireBackgroundTasks(of: app)
      fireLocalNotifications(of: app)
      settleActivities(app)
      while let index = apps[app].awaited.firstIndex(where: { $0.due <= now }) {
        resolve(apps[app].awaited.remove(at: index), of: app)
      }
      if let until = apps[app].permission.ephemeralUntil, until <= now { endEphemeral(app) }
      while let index = apps[app].serviceRuns.firstIndex(where: { $0.due <= now }) {
        finish(apps[app].serviceRuns.remove(at: index), of: app)
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

  mutating func recordSettings() {
    let switches = settings.differences().map { ", \($0.name) \($0.value)" }.joined()
    record(.system("\(settings.name): iOS \(settings.iosVersion)\(switches)"), nil, "D-002")
    tellMissingRules()
  }

  private mutating func change(to new: PhoneSettings) {
    let old = settings
    settings = new
    settings.locked = isLocked
    settings.online = isOnline
    settings.iosVersion = old.iosVersion
    if new.iosVersion != old.iosVersion { updateIOS(to: new.iosVersion) }
    guard settings != old else { return }
    recordSettings()
    if settings.deniedDropsAlertAtAPNs != old.deniedDropsAlertAtAPNs { tellAlertsAllowed() }
    if settings.zone != old.zone { followZone() }
    if !settings.passcode { endWaitForFirstUnlock() }
    for app in apps.indices {
      tellRefreshStatus(app)
      reconsiderHeld(app)
    }
    if settings.summaryTimes != old.summaryTimes || settings.zone != old.zone { rescheduleSummary() }
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
