extension Phone {
  /// What can happen to a phone. An event without meaning in the present state is told in the timeline and changes
  /// nothing.
  public enum Event: Hashable, Sendable {
    // from outside
    /// A push that APNs found this phone for.
    case push(DeliveredPayload)
    /// APNs' answer to `Effect.registerForRemoteNotifications`; also unasked, when a token changes (D-046).
    case tokenIssued(bundleID: String, token: [UInt8])
    case registrationFailed(bundleID: String, reason: String)
    /// The push service has stored the token and made a registration id (D-018).
    case registrationIDReceived(bundleID: String, registrationID: String)
    case networkChanged(online: Bool)
    /// Nothing but time; send it when `Phone.due` has come.
    case timePassed

    // the user
    case installApp(AppDescription)
    case uninstallApp(bundleID: String)
    /// Opens the app by its icon.
    case launch(bundleID: String)
    /// Uses a notification: banner, View of a modal alert, slide on the lock screen, entry in the centre. nil: the
    /// newest one. On a locked phone it waits for `unlock` (D-139).
    case tap(bundleID: String, id: String?)
    /// Close on a modal alert, or not looking at a banner (D-131, D-134).
    case closeAlert(bundleID: String)
    /// Clears an entry (nil: all of the app) from the centre.
    case clear(bundleID: String, id: String?)
    case lock
    /// A plain unlock, or the authentication that a tap on the locked screen waits for.
    case unlock
    /// Turns away from the authentication (D-139).
    case cancelUnlock
    /// Leaves the app in front.
    case home
    /// Pulls the notification centre over the app in front (D-124).
    case openCentre
    case closeCentre
    case forceQuit(bundleID: String)
    case answerPrompt(allow: Bool)
    /// The user's switches in Settings (D-024, D-027).
    case changePermission(bundleID: String, UserSettings)
    case restart
    /// The phone's own switches; `locked` and `online` follow `lock`, `unlock` and `networkChanged` instead.
    case change(PhoneSettings)

    // the system
    /// Suspends an app in the background now, not only after its seconds (D-157).
    case suspend(bundleID: String)
    /// Ends an app, as the system does when it needs memory (D-162).
    case endBySystem(bundleID: String)

    /// The app's code does something outside a callback.
    case app(bundleID: String, AppAct)
  }

  /// What the phone wants done outside. Perform them in the order given.
  public enum Effect: Hashable, Sendable {
    /// Ask APNs for a token and answer with `tokenIssued` or `registrationFailed`. `fresh`: a reinstalled app wants a
    /// new one (D-044); else the same app on the same phone keeps its token (D-040).
    case registerForRemoteNotifications(
      bundleID: String, environment: AppDescription.APSEnvironment, kind: TokenKind, fresh: Bool)
    /// The app is gone. APNs learns of it late (D-045); with `keepsWorking` the old token even reaches the app once it
    /// is installed again (D-017).
    case tokenAbandoned(bundleID: String, token: [UInt8], keepsWorking: Bool)
    /// The app's code gives its token to the push service (D-016); answer with `registrationIDReceived`.
    case handTokenToService(bundleID: String, token: [UInt8])
    /// Tell the courier, so that APNs keeps or brings what is for this phone (D-116).
    case connectionChanged(online: Bool)
    /// The push did not reach the phone: APNs keeps it (D-116).
    case notReached(pushID: String)
  }

  public enum TokenKind: String, Sendable {
    case remote
    /// Not modelled yet (D-048).
    case voip
  }

  /// What the user decided for one app in Settings (D-027). Each switch takes away exactly its part.
  public struct UserSettings: Hashable, Sendable {
    public var allowed = true
    public var alert = true
    public var sound = true
    public var badge = true
    public var lockScreen = true
    public var centre = true
    /// nil: as the phone (`PhoneSettings.appearanceOfAlert`).
    public var style: PhoneSettings.AlertStyle?

    public init() {}
  }
}
