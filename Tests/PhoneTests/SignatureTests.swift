import Basics
import Phone
import PushPayload
import Testing

@Suite("What each call is named")
struct SignatureTests {
  /// As Apple's documentation of UIKit, UserNotifications, PushKit and CallKit names them.
  static let names: [(Callback.Method, selector: String, swift: String)] = [
    (
      .willFinishLaunching, "application:willFinishLaunchingWithOptions:",
      "application(_:willFinishLaunchingWithOptions:)"
    ),
    (
      .didFinishLaunching, "application:didFinishLaunchingWithOptions:",
      "application(_:didFinishLaunchingWithOptions:)"
    ),
    (.didBecomeActive, "applicationDidBecomeActive:", "applicationDidBecomeActive(_:)"),
    (.willResignActive, "applicationWillResignActive:", "applicationWillResignActive(_:)"),
    (.didEnterBackground, "applicationDidEnterBackground:", "applicationDidEnterBackground(_:)"),
    (.willEnterForeground, "applicationWillEnterForeground:", "applicationWillEnterForeground(_:)"),
    (.willTerminate, "applicationWillTerminate:", "applicationWillTerminate(_:)"),
    (
      .configurationForConnectingScene, "application:configurationForConnectingSceneSession:options:",
      "application(_:configurationForConnecting:options:)"
    ),
    (.sceneWillConnect, "scene:willConnectToSession:options:", "scene(_:willConnectTo:options:)"),
    (.sceneWillEnterForeground, "sceneWillEnterForeground:", "sceneWillEnterForeground(_:)"),
    (.sceneDidBecomeActive, "sceneDidBecomeActive:", "sceneDidBecomeActive(_:)"),
    (.sceneWillResignActive, "sceneWillResignActive:", "sceneWillResignActive(_:)"),
    (.sceneDidEnterBackground, "sceneDidEnterBackground:", "sceneDidEnterBackground(_:)"),
    (.sceneDidDisconnect, "sceneDidDisconnect:", "sceneDidDisconnect(_:)"),
    (.didDiscardSceneSessions, "application:didDiscardSceneSessions:", "application(_:didDiscardSceneSessions:)"),
    (
      .backgroundRefreshStatusDidChange, "UIApplicationBackgroundRefreshStatusDidChangeNotification",
      "UIApplication.backgroundRefreshStatusDidChangeNotification"
    ),
    (.backgroundTaskExpired, "beginBackgroundTaskWithExpirationHandler:", "beginBackgroundTask(expirationHandler:)"),
    (
      .didReceiveRemoteNotification, "application:didReceiveRemoteNotification:",
      "application(_:didReceiveRemoteNotification:)"
    ),
    (
      .didReceiveRemoteNotificationFetch, "application:didReceiveRemoteNotification:fetchCompletionHandler:",
      "application(_:didReceiveRemoteNotification:fetchCompletionHandler:)"
    ),
    (
      .willPresent, "userNotificationCenter:willPresentNotification:withCompletionHandler:",
      "userNotificationCenter(_:willPresent:withCompletionHandler:)"
    ),
    (
      .didReceiveResponse, "userNotificationCenter:didReceiveNotificationResponse:withCompletionHandler:",
      "userNotificationCenter(_:didReceive:withCompletionHandler:)"
    ),
    (
      .openSettings, "userNotificationCenter:openSettingsForNotification:",
      "userNotificationCenter(_:openSettingsFor:)"
    ),
    (
      .handleAction, "application:handleActionWithIdentifier:forRemoteNotification:completionHandler:",
      "application(_:handleActionWithIdentifier:forRemoteNotification:completionHandler:)"
    ),
    (
      .handleActionWithResponse,
      "application:handleActionWithIdentifier:forRemoteNotification:withResponseInfo:completionHandler:",
      "application(_:handleActionWithIdentifier:forRemoteNotification:withResponseInfo:completionHandler:)"
    ),
    (
      .handleLocalAction, "application:handleActionWithIdentifier:forLocalNotification:completionHandler:",
      "application(_:handleActionWithIdentifier:for:completionHandler:)"
    ),
    (
      .handleLocalActionWithResponse,
      "application:handleActionWithIdentifier:forLocalNotification:withResponseInfo:completionHandler:",
      "application(_:handleActionWithIdentifier:for:withResponseInfo:completionHandler:)"
    ),
    (
      .didRegisterUserNotificationSettings, "application:didRegisterUserNotificationSettings:",
      "application(_:didRegister:)"
    ),
    (
      .authorizationAnswer, "requestAuthorizationWithOptions:completionHandler:",
      "requestAuthorization(options:completionHandler:)"
    ),
    (
      .notificationSettings, "getNotificationSettingsWithCompletionHandler:",
      "getNotificationSettings(completionHandler:)"
    ),
    (
      .didRegisterForRemoteNotifications, "application:didRegisterForRemoteNotificationsWithDeviceToken:",
      "application(_:didRegisterForRemoteNotificationsWithDeviceToken:)"
    ),
    (
      .didFailToRegister, "application:didFailToRegisterForRemoteNotificationsWithError:",
      "application(_:didFailToRegisterForRemoteNotificationsWithError:)"
    ),
    (
      .deliveredNotifications, "getDeliveredNotificationsWithCompletionHandler:",
      "getDeliveredNotifications(completionHandler:)"
    ),
    (.badgeCountAnswer, "setBadgeCount:withCompletionHandler:", "setBadgeCount(_:withCompletionHandler:)"),
    (.serviceDidReceive, "didReceiveNotificationRequest:withContentHandler:", "didReceive(_:withContentHandler:)"),
    (.serviceTimeWillExpire, "serviceExtensionTimeWillExpire", "serviceExtensionTimeWillExpire()"),
    (.contentExtensionDidReceive, "didReceiveNotification:", "didReceive(_:)"),
    (
      .contentExtensionResponse, "didReceiveNotificationResponse:completionHandler:",
      "didReceive(_:completionHandler:)"
    ),
    (.didReceiveLocalNotification, "application:didReceiveLocalNotification:", "application(_:didReceive:)"),
    (.requestAdded, "addNotificationRequest:withCompletionHandler:", "add(_:withCompletionHandler:)"),
    (
      .pendingNotifications, "getPendingNotificationRequestsWithCompletionHandler:",
      "getPendingNotificationRequests(completionHandler:)"
    ),
    (.pushRegistryDidUpdate, "pushRegistry:didUpdatePushCredentials:forType:", "pushRegistry(_:didUpdate:for:)"),
    (
      .pushRegistryDidReceive, "pushRegistry:didReceiveIncomingPushWithPayload:forType:withCompletionHandler:",
      "pushRegistry(_:didReceiveIncomingPushWith:for:completion:)"
    ),
    (
      .pushRegistryDidReceiveWithoutHandler, "pushRegistry:didReceiveIncomingPushWithPayload:forType:",
      "pushRegistry(_:didReceiveIncomingPushWith:for:)"
    ),
    (
      .pushRegistryDidInvalidate, "pushRegistry:didInvalidatePushTokenForType:",
      "pushRegistry(_:didInvalidatePushTokenFor:)"
    ),
    (
      .incomingCallReported, "reportNewIncomingCallWithUUID:update:completion:",
      "reportNewIncomingCall(with:update:completion:)"
    ),
    (.performAnswerCall, "provider:performAnswerCallAction:", "provider(_:perform:)"),
    (.performEndCall, "provider:performEndCallAction:", "provider(_:perform:)"),
  ]

  /// ActivityKit and the SDK know no Objective-C: properties, whose name is the same in both columns.
  static let properties: [(Callback.Method, String)] = [
    (.activityEnablementUpdates, "ActivityAuthorizationInfo.activityEnablementUpdates"),
    (.frequentPushEnablementUpdates, "ActivityAuthorizationInfo.frequentPushEnablementUpdates"),
    (.pushToStartTokenUpdates, "Activity.pushToStartTokenUpdates"), (.activityUpdates, "Activity.activityUpdates"),
    (.pushTokenUpdates, "Activity.pushTokenUpdates"), (.contentUpdates, "Activity.contentUpdates"),
    (.activityStateUpdates, "Activity.activityStateUpdates"), (.didReceiveMessage, "BelfryKit.messages"),
    (.messageHistory, "BelfryKit.messageHistory"), (.preferenceAnswer, "BelfryKit.onlyScheduled"),
  ]

  @Test("every call has its selector and its Swift name, exactly")
  func names() {
    for (method, selector, swift) in Self.names {
      #expect(method.selector == selector)
      #expect(method.swiftName == swift)
    }
    for (method, name) in Self.properties {
      #expect(method.selector == name)
      #expect(method.swiftName == name)
    }
    #expect(Set(Self.names.map(\.0) + Self.properties.map(\.0)) == Set(Callback.Method.allCases))
  }

  @Test("declarations are whole: return type, parameters with names and types")
  func declarations() {
    #expect(
      Callback.Method.willPresent.swift
        == "func userNotificationCenter(_ center: UNUserNotificationCenter, willPresent notification: UNNotification, "
        + "withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void)")
    #expect(
      Callback.Method.didReceiveRemoteNotification.objectiveC
        == "- (void)application:(UIApplication *)application didReceiveRemoteNotification:(NSDictionary *)userInfo")
    for (method, _) in Self.properties {
      #expect(method.swift.contains("var ") && method.swift.hasSuffix("{ get }"), "\(method)")
    }
    let properties = Set(Self.properties.map(\.0))
    for method in Callback.Method.allCases where method.owner != .notification && !properties.contains(method) {
      #expect(method.objectiveC.hasPrefix("- ("), "\(method)")
      #expect(method.swift.hasPrefix("func "), "\(method)")
      for text in [method.objectiveC, method.swift] {
        #expect(text.count { $0 == "(" } == text.count { $0 == ")" }, "\(method)")
      }
    }
  }
}

@Suite("Why this call and not another")
struct ReasonTests {
  private func choices(_ story: Story) -> [String: String] {
    var choices: [String: String] = [:]
    for entry in story.told {
      guard case .callback(let callback) = entry.what else { continue }
      choices[callback.method.short] = callback.choice(by: entry.rule)
    }
    return choices
  }

  private func choice(
    _ short: String, _ version: IOSVersion, _ state: AppState, _ kind: String,
    app adjust: (inout AppDescription) -> Void = { _ in }, tap: Bool = false
  ) throws -> String {
    var story = Story(version, app: .complete(adjust))
    story.bring(to: state)
    let (payload, type) = try #require(Sample.of(kind))
    story.push(payload, type)
    if tap { story.happens(.tap(bundleID: Story.bundle, id: nil)) }
    return try #require(choices(story)[short], "\(story.calls)")
  }

  @Test("D-003 D-002 DRF or DRN")
  func fetchOrNot() throws {
    #expect(try choice("DRF", .g2, .active, "K1") == "DRF and not DRN: both are implemented (D-003)")
    #expect(
      try choice("DRF", .g2, .active, "K1", app: { $0.implements.remove(.didReceiveRemoteNotification) })
        == "DRF and not DRN: the app does not implement DRN (D-002)")
    #expect(
      try choice("DRN", .g1, .active, "K1") == "DRN and not DRF: iOS 6.1 has no DRF, it came with iOS 7 (D-002)")
    #expect(
      try choice("DRN", .g2, .active, "K1", app: { $0.implements.remove(.didReceiveRemoteNotificationFetch) })
        == "DRN and not DRF: the app does not implement DRF (D-002)")
  }

  @Test("D-101 … D-103, D-120, D-121 the delegate's calls or the application's")
  func delegate() throws {
    #expect(try choice("WP", .g3, .active, "K1") == "WP and not DRF: the delegate is set (D-101)")
    #expect(try choice("WP", .g3, .active, "K2").hasPrefix("WP beside DRF"))
    #expect(try choice("DRF", .g3, .active, "K2").hasSuffix("the app has the background mode (D-102)"))
    #expect(try choice("DRF", .g3, .active, "K3").hasSuffix("not WP: nothing in it is for the user (D-103)"))
    #expect(
      try choice("DRF", .g3, .active, "K1", app: { $0.implements.remove(.willPresent) })
        .hasSuffix("not WP: the delegate does not implement it (D-121)"))
    #expect(
      try choice("DRF", .g3, .active, "K1", app: { $0.delegate = .never })
        .hasSuffix("not WP or DRR: no delegate is set (D-120)"))
    #expect(try choice("DRF", .g3, .suspended, "K3").hasSuffix("not WP: the app is not in front (D-101)"))
    #expect(
      try choice("DRR", .g3, .suspended, "K1", tap: true) == "DRR and not DRF: the delegate is set (D-133)")
  }

  @Test("D-130 D-131 D-107 what the launch options hold")
  func launch() throws {
    #expect(
      try choice("didFinish", .g3, .notRunning, "K1", tap: true)
        == "with the payload: the notification was used (D-130)")
    #expect(
      try choice("didFinish", .g3, .notRunning, "K3")
        == "with the payload: content-available started the app (D-107)")
    var story = Story(.g3)
    story.happens(.launch(bundleID: Story.bundle))
    #expect(choices(story)["didFinish"] == "without a payload: no notification started the app (D-131)")
    var scenes = Story(.g3, app: .complete { $0.hasSceneManifest = true })
    scenes.push(Sample.k1)
    scenes.happens(.tap(bundleID: Story.bundle, id: nil))
    #expect(choices(scenes)["didFinish"]?.hasSuffix("(D-166)") == true)
    #expect(choices(scenes)["SWC"] == "SWC beside DRR: the scene was not connected (D-136)")
  }

  @Test("D-141 D-144 D-145 buttons by the call of their iOS")
  func actions() {
    let rows: [(IOSVersion, (inout AppDescription) -> Void, String)] = [
      (IOSVersion(8), { _ in }, "HAI and not DRR: iOS 8.0 has no delegate, it came with iOS 10 (D-006)"),
      (
        .g2, { _ in },
        "HAI and not DRR: iOS 9.3 has no delegate, it came with iOS 10 (D-006); with the response info of iOS 9 (D-144)"
      ),
      (
        .g2, { $0.implements.remove(.handleActionWithResponse) },
        "HAI and not DRR: iOS 9.3 has no delegate, it came with iOS 10 (D-006); "
          + "without response info: the app does not implement that call (D-144)"
      ),
      (
        .g3, { $0.delegate = .never },
        "HAI and not DRR: no delegate is set (D-120); with the response info of iOS 9 (D-144)"
      ),
    ]
    for (version, adjust, words) in rows {
      var story = ActionTests.story(version, .suspended, app: .complete(adjust))
      story.happens(.action(bundleID: Story.bundle, id: nil, action: "later", text: nil))
      #expect(choices(story)["HAI"] == words)
    }
    var story = ActionTests.story(.g3, .suspended)
    story.happens(.action(bundleID: Story.bundle, id: nil, action: "later", text: nil))
    #expect(choices(story)["DRR"] == "DRR and not HAI: the delegate is set (D-141)")
    story.push(ActionTests.payload)
    story.happens(.dismiss(bundleID: Story.bundle, id: nil))
    #expect(choices(story)["DRR"] == "DRR: the category has customDismissAction (D-145)")
  }

  @Test("an entry explains itself: Swift name, the choice, the rule with its source; so does its JSON")
  func explanation() throws {
    var story = Story(.g3)
    story.bring(to: .suspended)
    story.push(Sample.k3, .background)
    let entry = try #require(story.told.first { $0.what.name == "callback" })
    #expect(
      entry.explanation == [
        "application(_:didReceiveRemoteNotification:fetchCompletionHandler:) of UIApplicationDelegate",
        "DRF and not DRN: both are implemented (D-003); not WP: the app is not in front (D-101)",
        "D-106: behind, a silent push wakes the app if nothing stands against it "
          + "[Apple, “Pushing background updates to your App”; Apple, “UIApplicationDelegate, remote notifications”]",
      ])
    let json = try #require(entry.json.object)
    #expect(json["because"] == "behind, a silent push wakes the app if nothing stands against it")
    let callback = try #require(json["callback"]?.object)
    #expect(callback["method"] == "application:didReceiveRemoteNotification:fetchCompletionHandler:")
    #expect(callback["swift"] == "application(_:didReceiveRemoteNotification:fetchCompletionHandler:)")
    #expect(callback["why"]?.string?.hasPrefix("DRF and not DRN") == true)
  }

  @Test("every rule that has words has sources, and each source a title")
  func sources() {
    #expect(Rule.all.count > 200)
    for rule in Rule.all {
      #expect(rule.sentence?.isEmpty == false && !rule.sources.isEmpty, "\(rule)")
      for source in rule.sources { #expect(!source.title.isEmpty && !source.code.isEmpty) }
    }
    #expect(Rule("D-060").sources.map(\.description) == ["seed article 004", "Apple, “UILocalNotification”"])
    #expect(Rule("D-026").sources.map(\.description) == ["our decision"])
    #expect(Rule("D-999").explanation == "D-999")
  }
}
