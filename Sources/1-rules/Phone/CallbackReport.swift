extension Callback {
  /// What a push service counts (D-128).
  public enum Report: String, CaseIterable, Sendable {
    /// The app's code got the push.
    case received
    /// The user used it.
    case click
  }

  /// What the app's push SDK may report from this call, by what its code can see: the call, its arguments, and the
  /// application's state. nil: nothing. Opening by the icon is never a click (D-128).
  ///
  /// In iOS 9 and before state inactive tells a use; a push that comes while the centre lies over the app looks the same,
  /// and is counted wrongly (D-124, D-125). One use may be told by several calls: count it by the notification.
  public var report: Report? {
    switch method {
    case .didFinishLaunching:
      // launched behind for content-available, the options hold the payload too (D-107)
      state == .inactive && arguments.userInfo != nil ? .click : nil
    case .sceneWillConnect: arguments.userInfo == nil ? nil : .click
    case .didReceiveRemoteNotification, .didReceiveRemoteNotificationFetch: state == .inactive ? .click : .received
    case .willPresent: isRemote ? .received : nil
    case .didReceiveResponse: isRemote && !isDismissal ? .click : nil
    case .handleAction, .handleActionWithResponse: .click
    case .serviceDidReceive, .pushRegistryDidReceive, .pushRegistryDidReceiveWithoutHandler: .received
    case .willFinishLaunching, .didBecomeActive, .willResignActive, .didEnterBackground, .willEnterForeground,
      .willTerminate, .configurationForConnectingScene, .sceneWillEnterForeground, .sceneDidBecomeActive,
      .sceneWillResignActive, .sceneDidEnterBackground, .sceneDidDisconnect, .didDiscardSceneSessions,
      .backgroundRefreshStatusDidChange, .backgroundTaskExpired, .openSettings, .handleLocalAction,
      .handleLocalActionWithResponse, .didRegisterUserNotificationSettings, .authorizationAnswer,
      .notificationSettings, .didRegisterForRemoteNotifications, .didFailToRegister, .deliveredNotifications,
      .badgeCountAnswer, .serviceTimeWillExpire, .contentExtensionDidReceive, .contentExtensionResponse,
      .didReceiveLocalNotification, .requestAdded, .pendingNotifications, .pushRegistryDidUpdate,
      .pushRegistryDidInvalidate, .incomingCallReported, .performAnswerCall, .performEndCall,
      .activityEnablementUpdates,
      .frequentPushEnablementUpdates, .pushToStartTokenUpdates, .activityUpdates, .pushTokenUpdates, .contentUpdates,
      .activityStateUpdates, .didReceiveMessage, .messageHistory, .preferenceAnswer:
      nil
    }
  }

  private var isRemote: Bool {
    if case .notification(let notification) = arguments { return notification.trigger == .push }
    if case .response(let response) = arguments { return response.notification.trigger == .push }
    return false
  }

  private var isDismissal: Bool {
    guard case .response(let response) = arguments else { return false }
    return response.actionIdentifier == Callback.dismissAction
  }
}
