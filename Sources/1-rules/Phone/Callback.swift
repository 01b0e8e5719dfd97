public import PushPayload

/// One call that the app's code received.
public struct Callback: Hashable, Sendable {
  public var method: Method
  /// `UIApplication.applicationState` as the code would read it: active, inactive or background.
  public var state: AppState
  public var arguments: Arguments

  /// The calls that the tables of the specification name. Those of actions, extensions and PushKit come with their
  /// rules (D-141, D-250, D-114).
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
    case didRegisterUserNotificationSettings
    /// The handler of `requestAuthorization`.
    case authorizationAnswer
    case didRegisterForRemoteNotifications, didFailToRegister
    /// The handler of `getDeliveredNotifications`.
    case deliveredNotifications

    /// As Apple's documentation spells it.
    public var selector: String {
      switch self {
      case .willFinishLaunching: "application:willFinishLaunchingWithOptions:"
      case .didFinishLaunching: "application:didFinishLaunchingWithOptions:"
      case .didBecomeActive: "applicationDidBecomeActive:"
      case .willResignActive: "applicationWillResignActive:"
      case .didEnterBackground: "applicationDidEnterBackground:"
      case .willEnterForeground: "applicationWillEnterForeground:"
      case .willTerminate: "applicationWillTerminate:"
      case .configurationForConnectingScene: "application:configurationForConnectingSceneSession:options:"
      case .sceneWillConnect: "scene:willConnectToSession:options:"
      case .sceneWillEnterForeground: "sceneWillEnterForeground:"
      case .sceneDidBecomeActive: "sceneDidBecomeActive:"
      case .sceneWillResignActive: "sceneWillResignActive:"
      case .sceneDidEnterBackground: "sceneDidEnterBackground:"
      case .sceneDidDisconnect: "sceneDidDisconnect:"
      case .didDiscardSceneSessions: "application:didDiscardSceneSessions:"
      case .backgroundRefreshStatusDidChange: "UIApplicationBackgroundRefreshStatusDidChangeNotification"
      case .backgroundTaskExpired: "beginBackgroundTaskWithExpirationHandler: handler"
      case .didReceiveRemoteNotification: "application:didReceiveRemoteNotification:"
      case .didReceiveRemoteNotificationFetch: "application:didReceiveRemoteNotification:fetchCompletionHandler:"
      case .willPresent: "userNotificationCenter(_:willPresent:withCompletionHandler:)"
      case .didReceiveResponse: "userNotificationCenter(_:didReceive:withCompletionHandler:)"
      case .didRegisterUserNotificationSettings: "application:didRegisterUserNotificationSettings:"
      case .authorizationAnswer: "requestAuthorization completion"
      case .didRegisterForRemoteNotifications: "application:didRegisterForRemoteNotificationsWithDeviceToken:"
      case .didFailToRegister: "application:didFailToRegisterForRemoteNotificationsWithError:"
      case .deliveredNotifications: "getDeliveredNotifications completion"
      }
    }

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
      case .didRegisterUserNotificationSettings: "didRegisterSettings"
      case .authorizationAnswer: "authorization"
      case .didRegisterForRemoteNotifications: "didRegister"
      case .didFailToRegister: "didFail"
      case .deliveredNotifications: "delivered"
      }
    }

    /// The first iOS that calls it.
    var since: IOSVersion {
      switch self {
      case .didFinishLaunching, .didBecomeActive, .willResignActive, .willTerminate, .didReceiveRemoteNotification,
        .didRegisterForRemoteNotifications, .didFailToRegister:
        IOSVersion(3)
      case .didEnterBackground, .willEnterForeground, .backgroundTaskExpired: IOSVersion(4)
      case .willFinishLaunching: IOSVersion(6)
      case .didReceiveRemoteNotificationFetch, .backgroundRefreshStatusDidChange: IOSVersion(7)
      case .didRegisterUserNotificationSettings: IOSVersion(8)
      case .willPresent, .didReceiveResponse, .authorizationAnswer, .deliveredNotifications: IOSVersion(10)
      case .configurationForConnectingScene, .sceneWillConnect, .sceneWillEnterForeground, .sceneDidBecomeActive,
        .sceneWillResignActive, .sceneDidEnterBackground, .sceneDidDisconnect, .didDiscardSceneSessions:
        IOSVersion(13)
      }
    }
  }

  /// What the code gets, as the app sees it.
  public enum Arguments: Hashable, Sendable {
    case none
    /// The dictionary under `UIApplicationLaunchOptionsRemoteNotificationKey`; nil: no launch options (LO(∅)).
    case launchOptions(remoteNotification: JSONObject?)
    /// The whole payload: `aps` and every custom key, unchanged (D-001).
    case userInfo(JSONObject)
    /// A `UNNotification`: request identifier and `content.userInfo`.
    case notification(id: String, userInfo: JSONObject)
    /// A `UNNotificationResponse`.
    case response(action: String, id: String, userInfo: JSONObject)
    case token([UInt8])
    case failure(domain: String, code: Int, text: String)
    case granted(Bool, NotificationOptions)
    case delivered([String])
    /// A scene's delegate is called about its scene (D-161).
    case scene(SceneID)
    /// `UIScene.ConnectionOptions`: `notificationResponse` is a `.response`, or nil (SWC(p), SWC(∅)).
    indirect case connectionOptions(SceneID, notificationResponse: Arguments?)
    case sceneSessions([SceneID])
    /// `UIBackgroundTaskIdentifier` of the task that is over (D-172).
    case backgroundTask(Int)

    /// The payload inside, wherever this form keeps it.
    public var userInfo: JSONObject? {
      switch self {
      case .launchOptions(let userInfo): userInfo
      case .userInfo(let userInfo), .notification(_, let userInfo), .response(_, _, let userInfo): userInfo
      case .connectionOptions(_, let response): response?.userInfo
      case .none, .token, .failure, .granted, .delivered, .scene, .sceneSessions, .backgroundTask: nil
      }
    }
  }

  /// What `UNNotificationResponse.actionIdentifier` holds when the notification itself was used.
  public static let defaultAction = "com.apple.UNNotificationDefaultActionIdentifier"
}

/// What an app asks to be allowed: the bits of `UNAuthorizationOptions` and of the older types (D-020).
public struct NotificationOptions: OptionSet, Hashable, Sendable, CustomStringConvertible {
  public let rawValue: UInt16
  public init(rawValue: UInt16) { self.rawValue = rawValue }

  public static let badge = Self(rawValue: 1)
  public static let sound = Self(rawValue: 2)
  public static let alert = Self(rawValue: 4)
  public static let carPlay = Self(rawValue: 8)
  public static let criticalAlert = Self(rawValue: 16)
  public static let providesAppNotificationSettings = Self(rawValue: 32)
  public static let provisional = Self(rawValue: 64)
  public static let announcement = Self(rawValue: 128)
  public static let timeSensitive = Self(rawValue: 256)
  public static let newsstand = Self(rawValue: 512)

  /// The three of the seed's code (D-012).
  public static let usual: Self = [.badge, .sound, .alert]

  private static let table: [(option: Self, name: String, since: IOSVersion, before: IOSVersion)] = [
    (.badge, "badge", IOSVersion(3), .never), (.sound, "sound", IOSVersion(3), .never),
    (.alert, "alert", IOSVersion(3), .never), (.newsstand, "newsstand", IOSVersion(5), IOSVersion(8)),
    (.carPlay, "carPlay", IOSVersion(10), .never), (.criticalAlert, "criticalAlert", IOSVersion(12), .never),
    (.provisional, "provisional", IOSVersion(12), .never),
    (.providesAppNotificationSettings, "providesAppNotificationSettings", IOSVersion(12), .never),
    (.announcement, "announcement", IOSVersion(13), IOSVersion(15)),
    (.timeSensitive, "timeSensitive", IOSVersion(15), .never),
  ]

  /// Those that this iOS knows (D-020).
  public func known(to version: IOSVersion) -> Self {
    Self.table.reduce(into: []) { known, row in
      if contains(row.option), version >= row.since, version < row.before { known.insert(row.option) }
    }
  }

  public var names: [String] { Self.table.filter { contains($0.option) }.map(\.name) }

  public var description: String { isEmpty ? "nothing" : names.joined(separator: "+") }
}

extension IOSVersion {
  fileprivate static let never = IOSVersion(.max)
}

/// What `willPresent` answers (D-101): the bits of `UNNotificationPresentationOptions`.
public struct PresentationOptions: OptionSet, Hashable, Sendable, CustomStringConvertible {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  public static let badge = Self(rawValue: 1)
  public static let sound = Self(rawValue: 2)
  /// The option of iOS 10–13; counts as banner and list.
  public static let alert = Self(rawValue: 4)
  public static let list = Self(rawValue: 8)
  public static let banner = Self(rawValue: 16)

  public var description: String {
    let names: [(Self, String)] = [
      (.badge, "badge"), (.sound, "sound"), (.alert, "alert"), (.list, "list"), (.banner, "banner"),
    ]
    let present = names.filter { contains($0.0) }.map(\.1)
    return present.isEmpty ? "nothing" : present.joined(separator: "+")
  }
}
