import Basics
import PushPayload

/// What PushKit knows of one app (D-048, D-114, D-186).
struct PushKitRegistration: Hashable, Sendable {
  // of this run: a registry is made at every launch (Apple, `PKPushRegistry`)
  var types: Set<PushKitType> = []
  var hasDelegate = false

  // of the installation
  var token: [UInt8]?
  /// The one that the push service has.
  var handed: [UInt8]?
  /// The app asked while the phone was offline.
  var isWaiting = false
  /// VoIP pushes for which no call was reported.
  var failures = 0
  /// A push was handed over, and no call has been reported for it.
  var owesCall = false
  /// The delegate's app is suspended, and has not been told of what became of its token.
  var isUntold = false

  mutating func processEnded() {
    types = []
    hasDelegate = false
    owesCall = false
    isUntold = false  // the registry of the next run is told what holds then
  }
}

/// VoIP pushes and their own token (D-048, D-114, D-186, D-187).
extension Phone {
  /// PushKit's token of the app; nil before APNs has given one.
  public func voipToken(of bundleID: String) -> [UInt8]? { index(of: bundleID).flatMap { apps[$0].pushKit.token } }

  /// Assigning `desiredPushTypes` asks for the token: whoever is to be told must be there before (D-048).
  mutating func setPushTypes(_ types: Set<PushKitType>, delegateFirst: Bool, by app: Int) {
    record(.app("desiredPushTypes = [\(types.map(\.rawValue).sorted().joined(separator: ", "))]"), app, "D-048")
    if !delegateFirst {
      record(.fault("no delegate before desiredPushTypes: neither token nor push reaches it"), app, "D-048")
    }
    apps[app].pushKit.types = types
    apps[app].pushKit.hasDelegate = delegateFirst
    guard types.contains(.voip) else { return }
    guard apps[app].description.apsEnvironment != .none else {
      return record(.system("no aps-environment entitlement: no VoIP token"), app, "D-048")
    }
    guard apps[app].description.backgroundModes.contains(.voip) else {
      return record(.fault("UIBackgroundModes has no voip: PushKit gives no token and no push"), app, "D-114")
    }
    if let token = apps[app].pushKit.token { return tellCredentials(token, to: app) }
    guard isOnline else {
      apps[app].pushKit.isWaiting = true
      return record(.system("no network: the VoIP token comes when there is one"), app, "D-041")
    }
    askForVoIPToken(app)
  }

  private mutating func askForVoIPToken(_ app: Int) {
    let description = apps[app].description
    apps[app].pushKit.isWaiting = false
    record(.system("asks APNs for a VoIP token (\(description.apsEnvironment.rawValue))"), app, "D-048")
    effects.append(
      .registerForRemoteNotifications(
        bundleID: description.bundleID, environment: description.apsEnvironment, kind: .voip,
        fresh: voipRemovedBefore.contains(description.bundleID)))
  }

  /// PushKit's where the service does not have it yet, else its own; both where it has neither (D-016, D-048).
  mutating func handTokens(_ app: Int) {
    let bundleID = apps[app].description.bundleID
    let voip = apps[app].pushKit.token
    let isNew = voip != nil && voip != apps[app].pushKit.handed
    if let voip, isNew {
      record(.app("hands its VoIP token to the push service"), app, "D-048")
      effects.append(.handTokenToService(bundleID: bundleID, token: voip, kind: .voip))
      apps[app].pushKit.handed = voip
    }
    guard let token = apps[app].registration.token else {
      return isNew ? () : record(.fault("has no token to hand to the service"), app, "D-016")
    }
    if isNew, apps[app].registration.handed == token { return }
    record(.app("hands its token to the push service"), app, "D-016")
    effects.append(.handTokenToService(bundleID: bundleID, token: token))
    apps[app].registration.handed = token
  }

  /// The network is back.
  mutating func askAgainForVoIPTokens() {
    for app in apps.indices where apps[app].pushKit.isWaiting { askForVoIPToken(app) }
  }

  mutating func takeVoIPToken(_ token: [UInt8], for app: Int) {
    apps[app].pushKit.token = token
    voipRemovedBefore.remove(apps[app].description.bundleID)
    tellCredentials(token, to: app)
  }

  private mutating func tellCredentials(_ token: [UInt8], to app: Int) {
    guard apps[app].state.isAlive, apps[app].pushKit.hasDelegate, apps[app].pushKit.types.contains(.voip) else {
      return record(.system("the VoIP token is here; no delegate of a push registry to tell"), app, "D-048")
    }
    guard apps[app].state.isExecuting else {
      apps[app].pushKit.isUntold = true
      return record(.system("the VoIP token is here; the app is told when its code runs again"), app, "D-048")
    }
    apps[app].pushKit.isUntold = false
    later.append(
      .handler(
        apps[app].description.bundleID, .pushRegistryDidUpdate, .credentials(.voip, token: token), "D-048"))
  }

  mutating func invalidateVoIPToken(of app: Int) {
    guard apps[app].pushKit.token != nil else { return }
    apps[app].pushKit.token = nil
    record(.system("the VoIP token is no longer valid"), app, "D-048")
    guard apps[app].state.isAlive, apps[app].pushKit.hasDelegate else { return }
    guard apps[app].state.isExecuting else {
      apps[app].pushKit.isUntold = true
      return record(.system("the app is told when its code runs again"), app, "D-048")
    }
    tellInvalidated(app)
  }

  private mutating func tellInvalidated(_ app: Int) {
    apps[app].pushKit.isUntold = false
    later.append(
      .handler(apps[app].description.bundleID, .pushRegistryDidInvalidate, .pushKitType(.voip), "D-048"))
  }

  /// A suspended app's code runs again: it hears what became of its token meanwhile.
  mutating func tellWaitingCredentials(_ app: Int) {
    guard apps[app].pushKit.isUntold else { return }
    if let token = apps[app].pushKit.token { tellCredentials(token, to: app) } else { tellInvalidated(app) }
  }

  // MARK: a VoIP push

  mutating func arriveVoIP(_ notice: Notice, at app: Int) {
    if let (reason, rule) = whyNoVoIP(notice, app) {
      return record(.withheld(pushID: notice.pushID, reason: reason), app, rule)
    }
    switch apps[app].state {
    case .notRunning: launchBehind(app, with: nil, "D-114", because: .call)
    case .forceQuit: launchBehind(app, with: nil, "D-187", because: .call)
    case .suspended: setState(.background, of: app, "D-114")
    case .background, .inactive, .active: break
    }
    apps[app].pushKit.owesCall = true
    if apps[app].pushKit.hasDelegate, apps[app].pushKit.types.contains(.voip) {
      let method: Callback.Method =
        apps[app].implements(.pushRegistryDidReceive, in: settings.iosVersion)
        ? .pushRegistryDidReceive : .pushRegistryDidReceiveWithoutHandler
      call(method, of: app, .pushKitPayload(.voip, notice.content.userInfo), "D-114")
    } else {
      let reason = "the app's code has set up no push registry in this run: nobody gets it"
      record(.withheld(pushID: notice.pushID, reason: reason), app, "D-114")
    }
    if apps[app].pushKit.owesCall, mustReportCalls(app) { return endForNoCall(app) }
    apps[app].pushKit.owesCall = false
    suspendIfIdle(app, "D-158")
  }

  private func whyNoVoIP(_ notice: Notice, _ app: Int) -> (reason: String, rule: Rule)? {
    let version = settings.iosVersion
    if version.major < 8 { return ("iOS \(version) has no PushKit", "D-114") }
    if let flaw = notice.content.flaw { return ("\(flaw); APNs would have refused it", "D-200") }
    if !apps[app].description.backgroundModes.contains(.voip) {
      return ("the app has no background mode voip", "D-114")
    }
    if !apps[app].implements(.pushRegistryDidReceive, in: version),
      !apps[app].implements(.pushRegistryDidReceiveWithoutHandler, in: version)
    {
      return ("the app implements no callback for VoIP pushes", "D-114")
    }
    if apps[app].pushKit.failures > max(0, settings.voipFailuresAllowed) {
      return ("failed to report an incoming call too many times; only a new installation mends it", "D-186")
    }
    if apps[app].state == .forceQuit, !settings.voipAfterForceQuit {
      return ("the user swiped the app away", "D-187")
    }
    if launchesWait, !apps[app].state.isAlive {
      return ("before the first unlock no app is launched behind", "D-185")
    }
    if apps[app].isOffloaded { return ("the app is offloaded", "D-045") }
    return nil
  }

  /// From the SDK of iOS 13 on, on iOS 13 and later.
  private func mustReportCalls(_ app: Int) -> Bool {
    settings.iosVersion.major >= 13 && (apps[app].description.sdk ?? settings.iosVersion).major >= 13
  }

  private mutating func endForNoCall(_ app: Int) {
    apps[app].pushKit.failures += 1
    record(
      .fault("killed because it never posted an incoming call to the system after receiving a PushKit VoIP push"), app,
      "D-186")
    if apps[app].state.isFront { centreIsOpen = false }
    end(app, as: .notRunning, "D-186")
  }
}
