extension Callback.Method {
  /// From the headers UIApplication.h and UNUserNotificationCenter.h and Apple's pages of the same methods; those of the
  /// extensions from `UNNotificationServiceExtension` and `UNNotificationContentExtension`.
  var declaration: Declaration {
    switch self {
    case .willFinishLaunching:
      Declaration(
        .application,
        "- (BOOL)application:(UIApplication *)application"
          + " willFinishLaunchingWithOptions:(NSDictionary<UIApplicationLaunchOptionsKey, id> *)launchOptions",
        "func application(_ application: UIApplication,"
          + " willFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?) -> Bool")
    case .didFinishLaunching:
      Declaration(
        .application,
        "- (BOOL)application:(UIApplication *)application"
          + " didFinishLaunchingWithOptions:(NSDictionary<UIApplicationLaunchOptionsKey, id> *)launchOptions",
        "func application(_ application: UIApplication,"
          + " didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?) -> Bool")
    case .didBecomeActive: Self.applicationCall("applicationDidBecomeActive")
    case .willResignActive: Self.applicationCall("applicationWillResignActive")
    case .didEnterBackground: Self.applicationCall("applicationDidEnterBackground")
    case .willEnterForeground: Self.applicationCall("applicationWillEnterForeground")
    case .willTerminate: Self.applicationCall("applicationWillTerminate")
    case .configurationForConnectingScene:
      Declaration(
        .application,
        "- (UISceneConfiguration *)application:(UIApplication *)application"
          + " configurationForConnectingSceneSession:(UISceneSession *)connectingSceneSession"
          + " options:(UISceneConnectionOptions *)options",
        "func application(_ application: UIApplication,"
          + " configurationForConnecting connectingSceneSession: UISceneSession,"
          + " options: UIScene.ConnectionOptions) -> UISceneConfiguration")
    case .sceneWillConnect:
      Declaration(
        .scene,
        "- (void)scene:(UIScene *)scene willConnectToSession:(UISceneSession *)session"
          + " options:(UISceneConnectionOptions *)connectionOptions",
        "func scene(_ scene: UIScene, willConnectTo session: UISceneSession,"
          + " options connectionOptions: UIScene.ConnectionOptions)")
    case .sceneWillEnterForeground: Self.sceneCall("sceneWillEnterForeground")
    case .sceneDidBecomeActive: Self.sceneCall("sceneDidBecomeActive")
    case .sceneWillResignActive: Self.sceneCall("sceneWillResignActive")
    case .sceneDidEnterBackground: Self.sceneCall("sceneDidEnterBackground")
    case .sceneDidDisconnect: Self.sceneCall("sceneDidDisconnect")
    case .didDiscardSceneSessions:
      Declaration(
        .application,
        "- (void)application:(UIApplication *)application"
          + " didDiscardSceneSessions:(NSSet<UISceneSession *> *)sceneSessions",
        "func application(_ application: UIApplication,"
          + " didDiscardSceneSessions sceneSessions: Set<UISceneSession>)")
    case .backgroundRefreshStatusDidChange:
      Declaration(
        .notification, "UIApplicationBackgroundRefreshStatusDidChangeNotification",
        "UIApplication.backgroundRefreshStatusDidChangeNotification")
    case .backgroundTaskExpired:
      Declaration(
        .applicationHandler,
        "- (UIBackgroundTaskIdentifier)beginBackgroundTaskWithExpirationHandler:(void (^)(void))handler",
        "func beginBackgroundTask(expirationHandler handler: (() -> Void)?) -> UIBackgroundTaskIdentifier")
    case .didReceiveRemoteNotification:
      Declaration(
        .application,
        "- (void)application:(UIApplication *)application didReceiveRemoteNotification:(NSDictionary *)userInfo",
        "func application(_ application: UIApplication,"
          + " didReceiveRemoteNotification userInfo: [AnyHashable: Any])")
    case .didReceiveRemoteNotificationFetch:
      Declaration(
        .application,
        "- (void)application:(UIApplication *)application didReceiveRemoteNotification:(NSDictionary *)userInfo"
          + " fetchCompletionHandler:(void (^)(UIBackgroundFetchResult))completionHandler",
        "func application(_ application: UIApplication,"
          + " didReceiveRemoteNotification userInfo: [AnyHashable: Any],"
          + " fetchCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void)")
    case .handleAction:
      Declaration(
        .application,
        "- (void)application:(UIApplication *)application handleActionWithIdentifier:(NSString *)identifier"
          + " forRemoteNotification:(NSDictionary *)userInfo completionHandler:(void (^)(void))completionHandler",
        "func application(_ application: UIApplication, handleActionWithIdentifier identifier: String?,"
          + " forRemoteNotification userInfo: [AnyHashable: Any], completionHandler: @escaping () -> Void)")
    case .handleActionWithResponse:
      Declaration(
        .application,
        "- (void)application:(UIApplication *)application handleActionWithIdentifier:(NSString *)identifier"
          + " forRemoteNotification:(NSDictionary *)userInfo withResponseInfo:(NSDictionary *)responseInfo"
          + " completionHandler:(void (^)(void))completionHandler",
        "func application(_ application: UIApplication, handleActionWithIdentifier identifier: String?,"
          + " forRemoteNotification userInfo: [AnyHashable: Any],"
          + " withResponseInfo responseInfo: [AnyHashable: Any], completionHandler: @escaping () -> Void)")
    case .handleLocalAction:
      Declaration(
        .application,
        "- (void)application:(UIApplication *)application handleActionWithIdentifier:(NSString *)identifier"
          + " forLocalNotification:(UILocalNotification *)notification"
          + " completionHandler:(void (^)(void))completionHandler",
        "func application(_ application: UIApplication, handleActionWithIdentifier identifier: String?,"
          + " for notification: UILocalNotification, completionHandler: @escaping () -> Void)")
    case .handleLocalActionWithResponse:
      Declaration(
        .application,
        "- (void)application:(UIApplication *)application handleActionWithIdentifier:(NSString *)identifier"
          + " forLocalNotification:(UILocalNotification *)notification"
          + " withResponseInfo:(NSDictionary *)responseInfo completionHandler:(void (^)(void))completionHandler",
        "func application(_ application: UIApplication, handleActionWithIdentifier identifier: String?,"
          + " for notification: UILocalNotification, withResponseInfo responseInfo: [AnyHashable: Any],"
          + " completionHandler: @escaping () -> Void)")
    case .willPresent:
      Declaration(
        .centreDelegate,
        "- (void)userNotificationCenter:(UNUserNotificationCenter *)center"
          + " willPresentNotification:(UNNotification *)notification"
          + " withCompletionHandler:(void (^)(UNNotificationPresentationOptions))completionHandler",
        "func userNotificationCenter(_ center: UNUserNotificationCenter, willPresent notification: UNNotification,"
          + " withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void)")
    case .didReceiveResponse:
      Declaration(
        .centreDelegate,
        "- (void)userNotificationCenter:(UNUserNotificationCenter *)center"
          + " didReceiveNotificationResponse:(UNNotificationResponse *)response"
          + " withCompletionHandler:(void (^)(void))completionHandler",
        "func userNotificationCenter(_ center: UNUserNotificationCenter,"
          + " didReceive response: UNNotificationResponse,"
          + " withCompletionHandler completionHandler: @escaping () -> Void)")
    case .openSettings:
      Declaration(
        .centreDelegate,
        "- (void)userNotificationCenter:(UNUserNotificationCenter *)center"
          + " openSettingsForNotification:(UNNotification *)notification",
        "func userNotificationCenter(_ center: UNUserNotificationCenter,"
          + " openSettingsFor notification: UNNotification?)")
    case .didRegisterUserNotificationSettings:
      Declaration(
        .application,
        "- (void)application:(UIApplication *)application"
          + " didRegisterUserNotificationSettings:(UIUserNotificationSettings *)notificationSettings",
        "func application(_ application: UIApplication,"
          + " didRegister notificationSettings: UIUserNotificationSettings)")
    case .didRegisterForRemoteNotifications:
      Declaration(
        .application,
        "- (void)application:(UIApplication *)application"
          + " didRegisterForRemoteNotificationsWithDeviceToken:(NSData *)deviceToken",
        "func application(_ application: UIApplication,"
          + " didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data)")
    case .didFailToRegister:
      Declaration(
        .application,
        "- (void)application:(UIApplication *)application"
          + " didFailToRegisterForRemoteNotificationsWithError:(NSError *)error",
        "func application(_ application: UIApplication,"
          + " didFailToRegisterForRemoteNotificationsWithError error: any Error)")
    case .authorizationAnswer:
      Declaration(
        .centre,
        "- (void)requestAuthorizationWithOptions:(UNAuthorizationOptions)options"
          + " completionHandler:(void (^)(BOOL granted, NSError *error))completionHandler",
        "func requestAuthorization(options: UNAuthorizationOptions,"
          + " completionHandler: @escaping (Bool, (any Error)?) -> Void)")
    case .notificationSettings:
      Declaration(
        .centre,
        "- (void)getNotificationSettingsWithCompletionHandler:"
          + "(void (^)(UNNotificationSettings *settings))completionHandler",
        "func getNotificationSettings(completionHandler: @escaping (UNNotificationSettings) -> Void)")
    case .deliveredNotifications:
      Declaration(
        .centre,
        "- (void)getDeliveredNotificationsWithCompletionHandler:"
          + "(void (^)(NSArray<UNNotification *> *notifications))completionHandler",
        "func getDeliveredNotifications(completionHandler: @escaping ([UNNotification]) -> Void)")
    case .badgeCountAnswer:
      Declaration(
        .centre,
        "- (void)setBadgeCount:(NSInteger)newBadgeCount"
          + " withCompletionHandler:(void (^)(NSError *error))completionHandler",
        "func setBadgeCount(_ newBadgeCount: Int,"
          + " withCompletionHandler completionHandler: (@Sendable ((any Error)?) -> Void)? = nil)")
    case .serviceDidReceive:
      Declaration(
        .serviceExtension,
        "- (void)didReceiveNotificationRequest:(UNNotificationRequest *)request"
          + " withContentHandler:(void (^)(UNNotificationContent *contentToDeliver))contentHandler",
        "func didReceive(_ request: UNNotificationRequest,"
          + " withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void)")
    case .serviceTimeWillExpire:
      Declaration(
        .serviceExtension, "- (void)serviceExtensionTimeWillExpire", "func serviceExtensionTimeWillExpire()")
    case .contentExtensionDidReceive:
      Declaration(
        .contentExtension, "- (void)didReceiveNotification:(UNNotification *)notification",
        "func didReceive(_ notification: UNNotification)")
    case .contentExtensionResponse:
      Declaration(
        .contentExtension,
        "- (void)didReceiveNotificationResponse:(UNNotificationResponse *)response"
          + " completionHandler:(void (^)(UNNotificationContentExtensionResponseOption option))completion",
        "func didReceive(_ response: UNNotificationResponse, completionHandler completion:"
          + " @escaping (UNNotificationContentExtensionResponseOption) -> Void)")
    case .didReceiveLocalNotification:
      Declaration(
        .application,
        "- (void)application:(UIApplication *)application"
          + " didReceiveLocalNotification:(UILocalNotification *)notification",
        "func application(_ application: UIApplication, didReceive notification: UILocalNotification)")
    case .requestAdded:
      Declaration(
        .centre,
        "- (void)addNotificationRequest:(UNNotificationRequest *)request"
          + " withCompletionHandler:(void (^)(NSError *error))completionHandler",
        "func add(_ request: UNNotificationRequest,"
          + " withCompletionHandler completionHandler: (((any Error)?) -> Void)?)")
    case .pendingNotifications:
      Declaration(
        .centre,
        "- (void)getPendingNotificationRequestsWithCompletionHandler:"
          + "(void (^)(NSArray<UNNotificationRequest *> *requests))completionHandler",
        "func getPendingNotificationRequests(completionHandler: @escaping ([UNNotificationRequest]) -> Void)")
    case .pushRegistryDidUpdate: Self.credentialsUpdated
    case .pushRegistryDidReceive: Self.pushKitPushReceived
    case .pushRegistryDidReceiveWithoutHandler: Self.pushKitPushReceivedBefore11
    case .pushRegistryDidInvalidate: Self.credentialsInvalidated
    case .incomingCallReported: Self.callReported
    case .performAnswerCall: Self.answerCall
    case .performEndCall: Self.endCall
    case .activityEnablementUpdates:
      Declaration(.activityAuthorization, sequence: "var activityEnablementUpdates: ActivityEnablementUpdates { get }")
    case .frequentPushEnablementUpdates:
      Declaration(
        .activityAuthorization, sequence: "var frequentPushEnablementUpdates: FrequentPushEnablementUpdates { get }")
    case .pushToStartTokenUpdates:
      Declaration(
        .activity, sequence: "static var pushToStartTokenUpdates: Activity<Attributes>.PushTokenUpdates { get }")
    case .activityUpdates:
      Declaration(.activity, sequence: "static var activityUpdates: Activity<Attributes>.ActivityUpdates { get }")
    case .pushTokenUpdates:
      Declaration(.activity, sequence: "var pushTokenUpdates: Activity<Attributes>.PushTokenUpdates { get }")
    case .contentUpdates:
      Declaration(.activity, sequence: "var contentUpdates: Activity<Attributes>.ContentUpdates { get }")
    case .activityStateUpdates:
      Declaration(.activity, sequence: "var activityStateUpdates: Activity<Attributes>.ActivityStateUpdates { get }")
    case .didReceiveMessage: Declaration(.sdk, sequence: "var messages: Messages { get }")
    case .messageHistory: Declaration(.sdk, sequence: "var messageHistory: [Message] { get }")
    case .preferenceAnswer: Declaration(.sdk, sequence: "var onlyScheduled: Bool { get }")
    }
  }

  private static func sceneCall(_ name: String) -> Declaration {
    Declaration(.scene, "- (void)\(name):(UIScene *)scene", "func \(name)(_ scene: UIScene)")
  }

  /// A life-cycle call: one argument, no answer.
  private static func applicationCall(_ name: String) -> Declaration {
    Declaration(
      .application, "- (void)\(name):(UIApplication *)application", "func \(name)(_ application: UIApplication)")
  }
}
