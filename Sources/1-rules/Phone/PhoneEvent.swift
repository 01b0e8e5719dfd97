public import Basics
public import PushPayload

extension Phone {
  /// What can happen to a phone. An event without meaning in the present state is told in the timeline and changes
  /// nothing.
  public enum Event: Hashable, Sendable {
    // from outside
    /// A push that APNs found this phone for.
    case push(DeliveredPayload)
    /// APNs' answer to `Effect.registerForRemoteNotifications`; also unasked, when a token changes (D-046).
    case tokenIssued(bundleID: String, token: [UInt8], kind: TokenKind = .remote)
    case registrationFailed(bundleID: String, reason: String)
    /// APNs' answer to `Effect.registerForRemoteNotifications` of kind `voip`; also unasked (D-048).
    case voipTokenIssued(bundleID: String, token: [UInt8])
    /// The system takes a VoIP token back (D-048).
    case voipTokenInvalidated(bundleID: String)
    /// The push service has stored the token and made a registration id (D-018).
    case registrationIDReceived(bundleID: String, registrationID: String)
    case networkChanged(online: Bool)
    /// What the phone is connected to; a captive network lets nothing through to APNs.
    case setNetwork(Network)
    /// The app's server told its code which channel is the one that the code knows by a name of its own (D-189).
    case learnChannel(bundleID: String, name: String, channel: String)
    /// APNs has no such channel: the activity that wanted to listen runs on without (D-189).
    case channelRefused(bundleID: String, channel: String, reason: String)
    /// What APNs did with a push before, or instead of, bringing it (D-349).
    case pushFate(pushID: String, bundleID: String, DeliveryMetric)
    /// The push service has opened the connection that `Effect.connectForMessages` asked for (D-303).
    case messagesConnected(bundleID: String)
    /// The connection ended, by the service or on the way (D-304).
    case messagesDisconnected(bundleID: String)
    /// One in-app message came down the connection (D-300 … D-308); what was missed comes first, in order (D-305).
    case message(bundleID: String, InAppMessage)
    /// The answer to `Effect.fetchMessageHistory`, oldest first (D-302).
    case messageHistory(bundleID: String, [InAppMessage])
    /// The push service's answer to `Effect.changePreference` (D-332).
    case preferenceAnswered(bundleID: String, onlyScheduled: Bool, accepted: Bool)
    /// Nothing but time; send it when `Phone.due` has come.
    case timePassed

    // the user
    case installApp(AppDescription)
    case uninstallApp(bundleID: String)
    /// iOS 11 and later: the app goes, its icon and its data stay.
    case offloadApp(bundleID: String)
    /// The offloaded app is downloaded again and finds its data.
    case reinstallOffloaded(bundleID: String)
    /// All apps come back from a backup, on this phone or on a new one in its place: with new tokens (D-044).
    case restoreFromBackup(toNewPhone: Bool)
    /// Installs another iOS and restarts. A phone goes forward only.
    case updateIOS(IOSVersion)
    /// Opens the app by its icon.
    case launch(bundleID: String)
    /// Uses a notification: banner, View of a modal alert, slide on the lock screen, entry in the centre. nil: the
    /// newest one. On a locked phone it waits for `unlock` (D-139).
    case tap(bundleID: String, id: String?)
    /// Opens the long look of a notification (nil: the newest): its whole text, its actions, its content extension
    /// (D-204, D-258).
    case expand(bundleID: String, id: String?)
    /// Closes the long look.
    case collapse(bundleID: String)
    /// Close on a modal alert, or not looking at a banner (D-131, D-134).
    case closeAlert(bundleID: String)
    /// A button of a notification (nil: the newest one) by its identifier, with what was typed (D-141 … D-144).
    case action(bundleID: String, id: String?, action: String, text: String?)
    /// X or a swipe: takes one notification (nil: the newest one) away (D-145).
    case dismiss(bundleID: String, id: String?)
    /// Clears an entry (nil: all of the app) from the centre (D-145, D-147).
    case clear(bundleID: String, id: String?)
    /// Flicks the banner off the screen (D-146).
    case flickAway(bundleID: String)
    /// The in-app settings button: of a notification, or in Settings (nil) (D-031).
    case openNotificationSettings(bundleID: String, id: String?)
    /// Keep and Turn Off on a notification (nil: the newest one) that came by provisional permission (D-025).
    case keepProvisional(bundleID: String, id: String?, inSummary: Bool = false)
    case turnOff(bundleID: String, id: String?)
    /// Swipes a Live Activity away; nil: all of the app (D-189).
    case dismissActivity(bundleID: String, id: String?)
    /// Opens the app by touching a Live Activity; nil: the one on top (D-189).
    case openActivity(bundleID: String, id: String?)
    case lock
    /// A plain unlock, or the authentication that a tap on the locked screen waits for.
    case unlock
    /// Turns away from the authentication (D-139).
    case cancelUnlock
    /// A wrong passcode, a face that is not known: the phone stays locked and goes on asking.
    case failUnlock
    /// Leaves the app in front.
    case home
    /// Pulls the notification centre over the app in front (D-124).
    case openCentre
    case closeCentre
    case forceQuit(bundleID: String)
    case answerPrompt(allow: Bool)
    /// The question below an app's first time-sensitive notification: leave them on, or turn them off (D-266).
    case answerTimeSensitive(bundleID: String, keep: Bool)
    /// The user's switches in Settings (D-024, D-027).
    case changePermission(bundleID: String, UserSettings)
    case restart
    case airplane(Bool)
    /// The user's switch for one app (D-180).
    case changeBackgroundRefresh(bundleID: String, Bool)
    /// Opens one more window of an app that has several (iOS 13 and later).
    case openScene(bundleID: String)
    /// Goes to one of the app's windows.
    case showScene(bundleID: String, SceneID)
    /// Closes a window in the app switcher.
    case closeScene(bundleID: String, SceneID)
    /// Goes over the boundary of a region, deliberately enough for the phone to notice (D-273).
    case cross(region: String, entering: Bool)
    /// Another time zone, by travel or in Settings (D-272).
    case changeZone(Zone)
    /// On the call screen (D-186).
    case answerCall
    case declineCall
    /// Ends the call that was answered.
    case hangUp
    /// The phone's own switches; `locked` and `online` follow `lock`, `unlock` and `networkChanged` instead.
    case change(PhoneSettings)

    // the system
    /// Suspends an app in the background now, not only after its seconds (D-157).
    case suspend(bundleID: String)
    /// Ends an app, as the system does when it needs memory (D-162).
    case endBySystem(bundleID: String)
    /// The system needs memory and ends an app (D-162); nil: the one it would choose, suspended ones first.
    case terminateForMemory(bundleID: String?)
    /// Prepares a process before the user opens the app, iOS 15 and later (D-165).
    case prewarm(bundleID: String)
    /// The system takes back the memory of a scene behind (D-137); nil: of all of the app's.
    case disconnectScene(bundleID: String, SceneID?)

    /// The app's code does something outside a callback.
    case app(bundleID: String, AppAct)
  }

  /// What the phone wants done outside. Perform them in the order given.
  public enum Effect: Hashable, Sendable {
    /// Ask APNs for a token and answer with `tokenIssued` or `registrationFailed`. `fresh`: a reinstalled app wants a
    /// new one (D-044); else the same app on the same phone keeps its token (D-040).
    case registerForRemoteNotifications(
      bundleID: String, environment: AppDescription.APSEnvironment, kind: TokenKind, fresh: Bool)
    /// The app is gone, and all its tokens with it, of which one is told. APNs learns of it late (D-045); with
    /// `keepsWorking` the old tokens even reach the app once it is installed again (D-017).
    case tokenAbandoned(bundleID: String, token: [UInt8], keepsWorking: Bool)
    /// The app's code gives its token to the push service (D-016); answer with `registrationIDReceived`.
    case handTokenToService(bundleID: String, token: [UInt8], kind: TokenKind = .remote)
    /// One token of an app that stays has had its time: an activity's, when it is dismissed.
    case tokenEnded(bundleID: String, token: [UInt8], kind: TokenKind)
    /// An activity listens to a broadcast channel (iOS 18); answer with `channelRefused` if there is none.
    case subscribe(bundleID: String, environment: AppDescription.APSEnvironment, channel: String)
    /// The last activity on the channel is gone.
    case unsubscribe(bundleID: String, environment: AppDescription.APSEnvironment, channel: String)
    /// The SDK connects to the push service for in-app messages after the one numbered `after`; answer with
    /// `messagesConnected`, then with each message (D-303 … D-305).
    case connectForMessages(bundleID: String, registrationID: String?, after: Int64)
    /// The SDK closes that connection: the app has left the foreground (D-304).
    case disconnectFromMessages(bundleID: String)
    /// Answer with `messageHistory` (D-302).
    case fetchMessageHistory(bundleID: String, registrationID: String?)
    /// The SDK asks the push service to keep this value for its user; answer with `preferenceAnswered` (D-332).
    case changePreference(bundleID: String, registrationID: String?, onlyScheduled: Bool)
    /// Tell the courier, so that APNs keeps or brings what is for this phone (D-116).
    case connectionChanged(online: Bool)
    /// The push did not reach the phone: APNs keeps it (D-116).
    case notReached(pushID: String)
    /// The user turned an app's notifications off, or on again: with `deniedDropsAlertAtAPNs` APNs drops alert pushes
    /// for it as disabled (D-047).
    case alertsAllowed(bundleID: String, Bool)
  }

  /// What a token is for: an app has one of each (D-015, D-048), and one for each activity.
  public enum TokenKind: Hashable, Sendable {
    case remote
    /// PushKit's own (D-048); it comes back as `voipTokenIssued`.
    case voip
    /// Starts activities of one attributes type; none has to run (iOS 17.2).
    case liveActivityStart(attributesType: String)
    /// Updates and ends one running activity.
    case liveActivity(id: String)
  }
}

extension Phone.Event {
  /// APNs has issued a token of that kind.
  public static func issued(_ token: [UInt8], _ kind: Phone.TokenKind, to bundleID: String) -> Phone.Event {
    switch kind {
    case .voip: .voipTokenIssued(bundleID: bundleID, token: token)
    case .remote, .liveActivityStart, .liveActivity: .tokenIssued(bundleID: bundleID, token: token, kind: kind)
    }
  }
}
