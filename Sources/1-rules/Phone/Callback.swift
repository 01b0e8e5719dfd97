/// One call that the app's code received.
public struct Callback: Hashable, Sendable {
  public var method: Method
  /// `UIApplication.applicationState` as the code would read it: active, inactive or background.
  public var state: AppState
  public var arguments: Arguments
  /// What the phone knew of the app when it chose this call.
  var circumstances: Circumstances

  /// The calls that the tables of the specification name. Those of extensions come with their rules (D-250). A new one needs a line in each switch over methods: here, in `CallbackDeclarations.swift`,
  /// and where its reason is told.
  public enum Method: String, CaseIterable, Hashable, Sendable {
    case willFinishLaunching, didFinishLaunching
    case didBecomeActive, willResignActive, didEnterBackground, willEnterForeground, willTerminate
    /// The app's delegate is asked for the configuration of a scene that is new (D-161).
    case configurationForConnectingScene
    /// SWC: what connected the scene is in its options (D-136, D-166).
    case sceneWillConnect
    case sceneWillEnterForeground, sceneDidBecomeActive, sceneWillResignActive, sceneDidEnterBackground
    case sceneDidDisconnect
    case didDiscardSceneSessions
    /// `UIApplication.backgroundRefreshStatusDidChangeNotification` (D-181).
    case backgroundRefreshStatusDidChange
    /// The expiration handler of `beginBackgroundTask` (D-172).
    case backgroundTaskExpired
    /// DRN of the specification.
    case didReceiveRemoteNotification
    /// DRF: with a handler that must be called once.
    case didReceiveRemoteNotificationFetch
    /// WP.
    case willPresent
    /// DRR.
    case didReceiveResponse
    /// The in-app settings button was used (D-031).
    case openSettings
    /// HAI: a button of a remote or local notification, iOS 8; with the typed text from iOS 9 on.
    case handleAction, handleActionWithResponse
    case handleLocalAction, handleLocalActionWithResponse
    case didRegisterUserNotificationSettings
    /// The handler of `requestAuthorization`.
    case authorizationAnswer
    /// The handler of `getNotificationSettings`.
    case notificationSettings
    case didRegisterForRemoteNotifications, didFailToRegister
    /// The handler of `getDeliveredNotifications`.
    case deliveredNotifications
    /// The handler of `setBadgeCount` (D-238).
    case badgeCountAnswer
    /// NSE and NSX: the service extension, in a process of its own (D-250, D-252).
    case serviceDidReceive, serviceTimeWillExpire
    /// The content extension: a notification was expanded (D-258), an action used in it (D-149).
    case contentExtensionDidReceive, contentExtensionResponse
    /// iOS 4–9, and without a delegate later (D-276).
    case didReceiveLocalNotification
    /// The handler of `add(_:withCompletionHandler:)`: nothing, or why the request is refused (D-279).
    case requestAdded
    /// The handler of `getPendingNotificationRequests`.
    case pendingNotifications
    /// PushKit's token (D-048).
    case pushRegistryDidUpdate
    /// PKR: iOS 11 and later with a completion handler, before without one (D-114).
    case pushRegistryDidReceive, pushRegistryDidReceiveWithoutHandler
    case pushRegistryDidInvalidate
    /// The handler of `reportNewIncomingCall`.
    case incomingCallReported
    /// `CXAnswerCallAction`, `CXEndCallAction` (D-186).
    case performAnswerCall, performEndCall
    /// ActivityKit's asynchronous sequences: the next value comes while the app's code runs (D-189).
    case activityEnablementUpdates, frequentPushEnablementUpdates
    case pushToStartTokenUpdates, activityUpdates, pushTokenUpdates, contentUpdates, activityStateUpdates
    /// The push service's SDK: a message came (D-308), all there ever were came (D-302), and what became of a changed
    /// preference (D-332).
    case didReceiveMessage, messageHistory, preferenceAnswer

    /// The short name that the specification's tables use.
    public var short: String {
      switch self {
      case .willFinishLaunching: "willFinish"
      case .didFinishLaunching: "didFinish"
      case .didBecomeActive: "DBA"
      case .willResignActive: "WRA"
      case .didEnterBackground: "DEB"
      case .willEnterForeground: "WEF"
      case .willTerminate: "willTerminate"
      case .configurationForConnectingScene: "configurationForConnecting"
      case .sceneWillConnect: "SWC"
      case .sceneWillEnterForeground: "sceneWEF"
      case .sceneDidBecomeActive: "sceneDBA"
      case .sceneWillResignActive: "sceneWRA"
      case .sceneDidEnterBackground: "sceneDEB"
      case .sceneDidDisconnect: "sceneDidDisconnect"
      case .didDiscardSceneSessions: "didDiscardSceneSessions"
      case .backgroundRefreshStatusDidChange: "refreshStatusDidChange"
      case .backgroundTaskExpired: "taskExpired"
      case .didReceiveRemoteNotification: "DRN"
      case .didReceiveRemoteNotificationFetch: "DRF"
      case .willPresent: "WP"
      case .didReceiveResponse: "DRR"
      case .openSettings: "openSettings"
      case .handleAction, .handleActionWithResponse: "HAI"
      case .handleLocalAction, .handleLocalActionWithResponse: "HAI(local)"
      case .didRegisterUserNotificationSettings: "didRegisterSettings"
      case .authorizationAnswer: "authorization"
      case .notificationSettings: "settings"
      case .didRegisterForRemoteNotifications: "didRegister"
      case .didFailToRegister: "didFail"
      case .deliveredNotifications: "delivered"
      case .badgeCountAnswer: "badgeCount"
      case .serviceDidReceive: "NSE"
      case .serviceTimeWillExpire: "NSX"
      case .contentExtensionDidReceive: "NCE"
      case .contentExtensionResponse: "NCR"
      case .didReceiveLocalNotification: "DRL"
      case .requestAdded: "added"
      case .pendingNotifications: "pending"
      case .pushRegistryDidUpdate: "didUpdate"
      case .pushRegistryDidReceive, .pushRegistryDidReceiveWithoutHandler: "PKR"
      case .pushRegistryDidInvalidate: "didInvalidate"
      case .incomingCallReported: "callReported"
      case .performAnswerCall: "answerCall"
      case .performEndCall: "endCall"
      case .activityEnablementUpdates: "activitiesEnabled"
      case .frequentPushEnablementUpdates: "frequentPushesEnabled"
      case .pushToStartTokenUpdates: "startToken"
      case .activityUpdates: "activity"
      case .pushTokenUpdates: "activityToken"
      case .contentUpdates: "activityContent"
      case .activityStateUpdates: "activityState"
      case .didReceiveMessage: "message"
      case .messageHistory: "messageHistory"
      case .preferenceAnswer: "preference"
      }
    }

    /// The first iOS that calls it.
    var since: IOSVersion {
      switch self {
      case .didFinishLaunching, .didBecomeActive, .willResignActive, .willTerminate, .didReceiveRemoteNotification,
        .didRegisterForRemoteNotifications, .didFailToRegister:
        IOSVersion(3)
      case .didEnterBackground, .willEnterForeground, .backgroundTaskExpired, .didReceiveLocalNotification:
        IOSVersion(4)
      case .willFinishLaunching: IOSVersion(6)
      case .didReceiveRemoteNotificationFetch, .backgroundRefreshStatusDidChange: IOSVersion(7)
      case .didRegisterUserNotificationSettings, .handleAction, .handleLocalAction, .pushRegistryDidUpdate,
        .pushRegistryDidReceiveWithoutHandler, .pushRegistryDidInvalidate:
        IOSVersion(8)
      case .handleActionWithResponse, .handleLocalActionWithResponse: IOSVersion(9)
      case .willPresent, .didReceiveResponse, .authorizationAnswer, .notificationSettings, .deliveredNotifications,
        .requestAdded, .pendingNotifications, .incomingCallReported, .performAnswerCall, .performEndCall:
        IOSVersion(10)
      case .pushRegistryDidReceive: IOSVersion(11)
      case .openSettings: IOSVersion(12)
      case .serviceDidReceive, .serviceTimeWillExpire, .contentExtensionDidReceive, .contentExtensionResponse:
        IOSVersion(10)
      case .configurationForConnectingScene, .sceneWillConnect, .sceneWillEnterForeground, .sceneDidBecomeActive,
        .sceneWillResignActive, .sceneDidEnterBackground, .sceneDidDisconnect, .didDiscardSceneSessions:
        IOSVersion(13)
      case .badgeCountAnswer: IOSVersion(16)
      case .activityEnablementUpdates, .activityUpdates, .pushTokenUpdates, .activityStateUpdates: IOSVersion(16, 1)
      case .contentUpdates, .frequentPushEnablementUpdates: IOSVersion(16, 2)
      case .pushToStartTokenUpdates: IOSVersion(17, 2)
      case .didReceiveMessage, .messageHistory, .preferenceAnswer: IOSVersion(3)
      }
    }
  }

  /// What `UNNotificationResponse.actionIdentifier` holds when the notification itself was used.
  public static let defaultAction = "com.apple.UNNotificationDefaultActionIdentifier"
  /// And when it was dismissed (D-145).
  public static let dismissAction = "com.apple.UNNotificationDismissActionIdentifier"
}
