public import Basics
public import PushPayload

/// An app as the phone needs to know it: what it may do, which calls it implements, and what its code does in them.
/// Nothing about it is guessed from the iOS version (D-002).
public struct AppDescription: Hashable, Sendable {
  public var bundleID: String
  public var name: String
  /// The `aps-environment` entitlement; a free developer account has none (D-010, D-042, D-043).
  public var apsEnvironment: APSEnvironment
  /// The calls that the app's code implements. Life-cycle calls that are left out are simply not made.
  public var implements: Set<Callback.Method>
  /// When the code sets itself as the delegate of the notification centre (D-004).
  public var delegate = DelegateTime.never
  /// Beside `aps-environment`.
  public var entitlements: Set<Entitlement> = []
  /// An App Clip that requests ephemeral notifications (`NSAppClipRequestEphemeralUserNotification`, D-024).
  public var isAppClip = false
  /// `UIBackgroundModes`.
  public var backgroundModes: Set<BackgroundMode> = []
  /// The user allows this app Background App Refresh (D-180).
  public var backgroundRefresh = true
  /// `UIApplicationExitsOnSuspend`: leaving the app ends it (D-164).
  public var exitsOnSuspend = false
  /// `com.apple.security.application-groups`: what it shares with its extensions, and with other apps of the same group.
  public var appGroups: [String] = []
  /// Sound files in the bundle and in `Library/Sounds` (D-220 … D-222).
  public var sounds: [SoundFile] = []
  /// Localizable.strings by language (`en`, `zh-Hans`), then by key (D-205).
  public var strings: [String: [String: String]] = [:]
  /// `CFBundleDevelopmentRegion`: the language of a phone whose own the app does not speak (D-205).
  public var developmentLanguage = "en"
  /// `UIApplicationSceneManifest`: from iOS 13 on the life-cycle calls go to the scene's delegate (D-161).
  public var hasSceneManifest = false
  /// `UIApplicationSupportsMultipleScenes`: the user may open more than one window.
  public var supportsMultipleScenes = false
  /// nil: the bundle has none (D-250).
  public var serviceExtension: ServiceExtension?
  /// What shows a notification that the user expands (D-258).
  public var contentExtensions: [ContentExtension] = []
  /// The app may use the user's place while it is in use, which region triggers need (D-273).
  public var mayUseLocation = true
  /// The SDK that the app is built with: from that of iOS 13 on, a VoIP push must be reported as a call (D-186). nil: as
  /// new as the phone's iOS.
  public var sdk: IOSVersion?

  /// What the app has to do with Live Activities; nil: its Info.plist has no `NSSupportsLiveActivities`.
  public var liveActivities: LiveActivitySupport?
  /// The app links the push service's SDK and receives in-app messages (D-300).
  public var usesMessages = false

  /// What `willPresent` answers, and when (D-101, D-122).
  public var presentation: PresentationOptions = []
  public var presentationAnswer = Answer.atOnce
  /// How the handler of the fetch callback is called (D-005, D-173).
  public var fetchResult = FetchResult.newData
  public var fetchAnswer = Answer.atOnce
  public var responseAnswer = Answer.atOnce
  /// How long its code takes in `didEnterBackground` and in `willTerminate`: longer than `PhoneSettings.leaveSeconds` is a
  /// fault (D-157, D-162).
  public var enterBackgroundSeconds: Int64 = 0
  public var terminateSeconds: Int64 = 0
  /// What the code does inside a call, in order. The older form of the VoIP call does what the newer one does, unless it
  /// is told otherwise.
  public var script: [Callback.Method: [AppAct]] = [:]

  /// An app that implements every call a phone of its time can make, has no delegate and no background mode.
  public init(
    bundleID: String, name: String? = nil, apsEnvironment: APSEnvironment = .production,
    implements: Set<Callback.Method> = Set(Callback.Method.allCases)
  ) {
    self.bundleID = bundleID
    self.name = name ?? bundleID
    self.apsEnvironment = apsEnvironment
    self.implements = implements
  }

  func acts(in method: Callback.Method) -> [AppAct] {
    if let acts = script[method] { return acts }
    return method == .pushRegistryDidReceiveWithoutHandler ? script[.pushRegistryDidReceive] ?? [] : []
  }

  public enum APSEnvironment: String, CaseIterable, Sendable { case none, development, production }

  /// By the key in the app's signature.
  public enum Entitlement: String, CaseIterable, Sendable {
    case timeSensitive = "com.apple.developer.usernotifications.time-sensitive"
    case criticalAlerts = "com.apple.developer.usernotifications.critical-alerts"
    /// A service extension may show nothing at all (D-254).
    case filtering = "com.apple.developer.usernotifications.filtering"
    case communication = "com.apple.developer.usernotifications.communication"
  }

  public enum DelegateTime: String, CaseIterable, Sendable {
    case never
    /// In `didFinishLaunching` or earlier: as Apple asks.
    case beforeLaunchEnds
    /// Later: the response that launched the app is lost (D-004).
    case afterLaunch
  }

  /// Those that push rules read; others come with their rules.
  public enum BackgroundMode: String, CaseIterable, Sendable {
    case remoteNotification = "remote-notification"
    /// PushKit calls no app without it (D-114).
    case voip
    /// Newsstand magazines of iOS 5 and 6 (D-188).
    case newsstand = "newsstand-content"
  }

  /// When the app calls a handler that it was given.
  public enum Answer: Hashable, Sendable {
    case atOnce
    case after(Instant.Span)
    case never
    /// A fault of the app: twice at once (D-005).
    case twice
  }

  /// `UIBackgroundFetchResult` (D-173).
  public enum FetchResult: String, CaseIterable, Sendable { case newData, noData, failed }
}

/// Something that the app's own code does.
public enum AppAct: Hashable, Sendable {
  /// iOS 3–7: asks and registers in one call (D-020).
  case registerForRemoteNotificationTypes(NotificationOptions)
  /// iOS 8 and later: asks only (D-012).
  case registerUserNotificationSettings(NotificationOptions)
  /// iOS 10 and later: asks only (D-021).
  case requestAuthorization(NotificationOptions)
  /// iOS 8 and later: asks APNs for the token.
  case registerForRemoteNotifications
  case unregisterForRemoteNotifications
  /// Whatever this iOS wants for "ask and register": the right calls in the right order.
  case askAndRegister(NotificationOptions)
  /// The seed's code: settings on iOS 8 and later, types before, nothing else (D-012).
  case registerAsSeed
  /// Gives its token to the push service, and PushKit's where it has one (D-016, D-048).
  case handTokenToService
  /// Asks for its own permission by the call of this iOS (D-024, D-029).
  case readPermission
  /// Registers its categories in place of the former ones: `setNotificationCategories`, on iOS 8 and 9 by
  /// `registerUserNotificationSettings` (D-242).
  case setCategories([NotificationCategory])
  /// `applicationIconBadgeNumber = n` (D-230 … D-233).
  case setBadge(Int)
  /// iOS 16 and later: `setBadgeCount(n)`, which answers whether it did (D-238).
  case setBadgeCount(Int)
  /// iOS 10 and later (D-236).
  case getDelivered
  case removeDelivered([String])
  case removeAllDelivered
  /// In the callback of a push: removes what it shows of the push that the payload's `_j_withdraw` names, by its `_j_msgid`,
  /// as an app does for a push service that withdraws (D-236).
  case removeWithdrawn
  /// Keeps the app running after it has left the screen (D-172): its work takes `seconds`, then its code ends the task;
  /// nil: only by `endBackgroundTask`, or never.
  case beginBackgroundTask(seconds: Int64?)
  /// Ends the task whose expiration handler runs, else the one that was begun last.
  case endBackgroundTask
  /// `UIApplication.backgroundRefreshStatus` (D-181).
  case readBackgroundRefreshStatus
  /// `UIScene.activationConditions` of the scene in front: the target content identifiers that it is for (D-226).
  case setActivationConditions([String])
  /// What code does in a wake, or at any time it runs (D-183).
  case refreshUI
  case showPage(String)
  case download(String)
  case fetchContent
  /// `UNUserNotificationCenter.add`, iOS 10 and later (D-270).
  case addNotification(LocalNotification)
  /// `removePendingNotificationRequests(withIdentifiers:)`, iOS 10 and later (D-280).
  case removePending([String])
  case removeAllPending
  /// `getPendingNotificationRequests`; before iOS 10 `scheduledLocalNotifications`.
  case getPending
  /// iOS 4 and later, deprecated in iOS 10 (D-274).
  case scheduleLocalNotification(UILocalNotification)
  /// Whatever its fire date says.
  case presentLocalNotificationNow(UILocalNotification)
  case cancelLocalNotification(UILocalNotification)
  case cancelAllLocalNotifications
  /// `PKPushRegistry.desiredPushTypes`, iOS 8 and later; the registry's delegate is set before, or not at all (D-048).
  case setPushTypes(Set<PushKitType>, delegateFirst: Bool = true)
  /// `CXProvider.reportNewIncomingCall`, iOS 10 and later (D-186).
  case reportIncomingCall(from: String)
  /// `CXProvider.reportCall(with:endedAt:reason:)`: the other side is gone.
  case reportCallEnded
  /// `Activity.request`, iOS 16.1 and later, only in front (D-189).
  case startActivity(ActivityRequest)
  /// `Activity.update`; nil: the app's newest.
  case updateActivity(id: String?, ActivityContent)
  /// `Activity.end`; nil: the app's newest. Without a content state the last one stays.
  case endActivity(id: String?, contentState: JSONObject?, LiveActivity.Dismissal)
  /// Gives the push service every ActivityKit token that it does not have yet.
  case handActivityTokensToService
  /// Asks the push service for all messages that there ever were (D-302).
  case fetchMessageHistory
  /// The user flips the app's own switch "only the scheduled push" (D-331, D-332).
  case setPreference(onlyScheduled: Bool)
  /// `UserDefaults(suiteName:)` of its app group, else its own: writes, nil removes.
  case share(key: String, JSONValue?)
  case readShared(String)
}

/// `PKPushType`, as far as this phone knows it; the others belong to the watch and to file providers.
public enum PushKitType: String, CaseIterable, Hashable, Sendable { case voip }
