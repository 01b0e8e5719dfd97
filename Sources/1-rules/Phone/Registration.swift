import Basics

/// An answer that the main run loop gives after the present event.
enum DeferredAnswer: Hashable, Sendable {
  case token(String)
  case permission(String, AskedBy)
  case delivered(String)
  /// nil: all.
  case removal(String, [String]?)
  /// What ActivityKit's sequences have for an app whose code begins to run.
  case activities(String)
  case permissionRead(String)
  /// An exception that nobody catches ends the app.
  case crash(String, Rule)
  /// A completion handler, or `didFailToRegister`, that tells the app's code something.
  case handler(String, Callback.Method, Callback.Arguments, Rule)
}

/// The token and its failure (spec sections B1, B3).
extension Phone {
  private static let mostAnswersAtOnce = 64

  /// Asks APNs, or answers at once what is known (D-040 … D-043).
  mutating func requestToken(_ app: Int) {
    let description = apps[app].description
    let listed = settings.listedForDevelopment
    apps[app].registration.askedThisRun = true
    apps[app].registration.unregistered = false
    if description.apsEnvironment == .none {
      fail(
        app, "NSCocoaErrorDomain", 3000, "no valid aps-environment entitlement string found for application", "D-042")
    } else if !listed, description.apsEnvironment == .development || settings.strictSeed {
      fail(app, "NSCocoaErrorDomain", 3000, "this phone is not listed for the developer account", "D-014")
    } else if !isOnline {
      if settings.offlineRegistrationFails {
        return fail(app, "NSURLErrorDomain", -1009, "The Internet connection appears to be offline.", "D-041")
      }
      apps[app].registration.waiting = true
      record(.system("no network: neither callback comes until there is one"), app, "D-041")
    } else if apps[app].registration.token != nil {
      apps[app].registration.waiting = true
      later.append(.token(description.bundleID))
    } else {
      apps[app].registration.waiting = true
      askAPNs(app)
    }
  }

  mutating func askAPNs(_ app: Int) {
    let description = apps[app].description
    record(.system("asks APNs for a token (\(description.apsEnvironment.rawValue))"), app, "D-043")
    effects.append(
      .registerForRemoteNotifications(
        bundleID: description.bundleID, environment: description.apsEnvironment, kind: .remote,
        fresh: removedBefore.contains(description.bundleID)))
  }

  private mutating func fail(_ app: Int, _ domain: String, _ code: Int, _ text: String, _ rule: Rule) {
    apps[app].registration.waiting = false
    later.append(
      .handler(
        apps[app].description.bundleID, .didFailToRegister, .failure(domain: domain, code: code, text: text), rule))
  }

  mutating func takeToken(_ token: [UInt8], _ kind: TokenKind, for app: Int) {
    switch kind {
    case .remote: takeRemoteToken(token, for: app)
    case .voip: takeVoIPToken(token, for: app)
    case .liveActivityStart(let type): takeStartToken(token, type, for: app)
    case .liveActivity(let id): takeActivityToken(token, id, for: app)
    }
  }

  private mutating func takeRemoteToken(_ token: [UInt8], for app: Int) {
    let old = apps[app].registration.token
    let waiting = apps[app].registration.waiting
    apps[app].registration.token = token
    removedBefore.remove(apps[app].description.bundleID)
    if waiting || apps[app].registration.unasked || (old != nil && old != token) {
      later.append(.token(apps[app].description.bundleID))
    }
  }

  mutating func takeRegistrationFailure(_ reason: String, for app: Int) {
    guard apps[app].registration.waiting else {
      return record(.system("a registration failed that nobody waits for: \(reason)"), app, "D-041")
    }
    fail(app, "NSCocoaErrorDomain", 3010, reason, "D-041")
  }

  mutating func takeRegistrationID(_ id: String, for app: Int) {
    apps[app].registration.registrationID = id
    let proof = "set up rightly, registered at APNs, token stored by the service"
    record(.system("registration id \(id): \(proof)"), app, "D-018")
  }

  /// The network is back: what waits for a token asks (D-041).
  mutating func askAgain() {
    askAgainForVoIPTokens()
    for app in apps.indices where apps[app].registration.waiting || apps[app].registration.unasked {
      if apps[app].registration.token == nil {
        askAPNs(app)
      } else {
        later.append(.token(apps[app].description.bundleID))
      }
    }
  }

  // MARK: telling the app

  /// Permission was given: what D-033 held back may come.
  mutating func releaseToken(_ app: Int) {
    guard apps[app].registration.waiting, apps[app].registration.token != nil else { return }
    later.append(.token(apps[app].description.bundleID))
  }

  /// Runs what the apps' run loops have to do, in order; a program that asks again in every answer is stopped.
  mutating func runLater() {
    var count = 0
    showPrompt()
    while !later.isEmpty {
      let answer = later.removeFirst()
      count += 1
      guard count <= Self.mostAnswersAtOnce else {
        later = []
        return record(.fault("asks again in every answer; stopped after \(Self.mostAnswersAtOnce)"), nil, "D-040")
      }
      tell(answer)
      showPrompt()
    }
  }

  private mutating func tell(_ answer: DeferredAnswer) {
    switch answer {
    case .token(let bundleID): if let app = index(of: bundleID) { tellToken(app) }
    case .permission(let bundleID, let asked): if let app = index(of: bundleID) { tellPermission(app, asked) }
    case .handler(let bundleID, let method, let arguments, let rule):
      guard let app = index(of: bundleID), apps[app].state.isExecuting else { return }
      call(method, of: app, arguments, rule)
    case .removal(let bundleID, let ids): if let app = index(of: bundleID) { removeNow(ids, of: app) }
    case .crash(let bundleID, let rule): if let app = index(of: bundleID) { crash(app, rule) }
    case .delivered(let bundleID):
      guard let app = index(of: bundleID), apps[app].state.isExecuting else { return }
      let delivered = apps[app].entries.filter(\.inCentre).map(\.argument)
      call(.deliveredNotifications, of: app, .delivered(delivered), "D-236")
    case .activities(let bundleID): if let app = index(of: bundleID) { resumeActivities(app) }
    case .permissionRead(let bundleID):
      guard let app = index(of: bundleID), apps[app].state.isExecuting else { return }
      call(.notificationSettings, of: app, .notificationSettings(settingsArgument(of: app)), "D-024")
    }
  }

  /// After a restore `didRegister…` may come without the app's asking (D-044): at its first launch.
  mutating func tellUnaskedToken(_ app: Int) {
    let registration = apps[app].registration
    guard registration.unasked, registration.token != nil, !registration.waiting else { return }
    later.append(.token(apps[app].description.bundleID))
  }

  private mutating func tellToken(_ app: Int) {
    guard let token = apps[app].registration.token else { return }
    guard apps[app].state.isExecuting else {
      apps[app].registration.answerDue = apps[app].state == .suspended
      return record(.system("the token is here; the app does not run"), app, "D-046")
    }
    if (8...9).contains(settings.iosVersion.major), !apps[app].permission.isGranted {
      guard refreshStatus(of: app) == .available, apps[app].description.backgroundModes.contains(.remoteNotification)
      else {
        return record(.system("the token is here; no callback without permission or background mode"), app, "D-033")
      }
    }
    let asked = apps[app].registration.waiting
    apps[app].registration.waiting = false
    apps[app].registration.answerDue = false
    if apps[app].registration.unasked {
      apps[app].registration.unasked = false
      if !asked { record(.system("told of its new token without asking, after the restore"), app, "D-044") }
    }
    call(.didRegisterForRemoteNotifications, of: app, .token(token), "D-015")
  }
}
