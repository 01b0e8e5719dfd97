import Basics
import PushPayload

/// Handlers that the app's code is given: called at once, later, twice or never (D-005, D-122, D-174).
extension Phone {
  /// The app's code was given a handler: it calls it as it was described to, or not at all.
  mutating func wait(
    for method: Callback.Method, _ notice: Notice, of app: Int, _ answer: AppDescription.Answer, _ rule: Rule
  ) {
    let limit = method == .willPresent ? settings.presentTime : settings.wakeTime
    var awaited = AwaitedAnswer(method: method, notice: notice, answersAt: now, deadline: now + limit, rule: rule)
    switch answer {
    case .atOnce: resolve(awaited, of: app)
    case .twice:
      resolve(awaited, of: app)
      record(.fault("called the handler of \(method.short) twice; the second call counts for nothing"), app, "D-005")
    case .after(let span):
      awaited.answersAt = now + max(span, .milliseconds(0))
      if awaited.answersAt == now { resolve(awaited, of: app) } else { apps[app].awaited.append(awaited) }
    case .never:
      awaited.answersAt = nil
      apps[app].awaited.append(awaited)
    }
  }

  /// The handler was called, or its time is over.
  mutating func resolve(_ awaited: AwaitedAnswer, of app: Int) {
    let inTime = awaited.answersAt.map { $0 <= awaited.deadline } ?? false
    switch awaited.method {
    case .willPresent: inTime ? presented(awaited, app) : notPresented(awaited, app)
    case .didReceiveRemoteNotificationFetch: inTime ? fetched(awaited, app) : notFetched(awaited, app)
    case .didReceiveResponse, .handleAction, .handleActionWithResponse, .handleLocalAction,
      .handleLocalActionWithResponse:
      inTime ? suspendIfIdle(app, "D-158") : actionNotHandled(awaited, app)
    case .didReceiveLocalNotification, .requestAdded, .pendingNotifications, .pushRegistryDidUpdate,
      .pushRegistryDidReceive, .pushRegistryDidReceiveWithoutHandler, .pushRegistryDidInvalidate,
      .incomingCallReported, .performAnswerCall, .performEndCall:
      break
    case .willFinishLaunching, .didFinishLaunching, .didBecomeActive, .willResignActive, .didEnterBackground,
      .willEnterForeground, .willTerminate, .didReceiveRemoteNotification, .openSettings,
      .didRegisterUserNotificationSettings, .authorizationAnswer, .notificationSettings,
      .didRegisterForRemoteNotifications, .didFailToRegister, .deliveredNotifications,
      .configurationForConnectingScene, .sceneWillConnect, .sceneWillEnterForeground, .sceneDidBecomeActive,
      .sceneWillResignActive, .sceneDidEnterBackground, .sceneDidDisconnect, .didDiscardSceneSessions,
      .backgroundRefreshStatusDidChange, .backgroundTaskExpired,
      .badgeCountAnswer,
      .serviceDidReceive, .serviceTimeWillExpire, .contentExtensionDidReceive, .contentExtensionResponse,
      .activityEnablementUpdates, .frequentPushEnablementUpdates, .pushToStartTokenUpdates, .activityUpdates,
      .pushTokenUpdates, .contentUpdates, .activityStateUpdates, .didReceiveMessage, .messageHistory, .preferenceAnswer:
      break
    }
  }

  private mutating func presented(_ awaited: AwaitedAnswer, _ app: Int) {
    let options = apps[app].description.presentation
    record(.app("answers willPresent: \(options)"), app, "D-101")
    guard !options.isEmpty else {
      return record(.withheld(pushID: awaited.notice.pushID, reason: "willPresent answered nothing"), app, "D-101")
    }
    show(awaited.notice, at: app, as: options, "D-101")
  }

  private mutating func notPresented(_ awaited: AwaitedAnswer, _ app: Int) {
    record(
      .withheld(
        pushID: awaited.notice.pushID,
        reason: "willPresent was not answered in \(settings.presentSeconds) s: not presented"),
      app, "D-122")
  }

  /// An app behind is ended for it, by the old calls; by the newer one only its fault is told (D-005).
  private mutating func actionNotHandled(_ awaited: AwaitedAnswer, _ app: Int) {
    record(.fault("did not call the handler of \(awaited.method.short)"), app, "D-005")
    guard awaited.method != .didReceiveResponse, !apps[app].state.isFront else { return suspendIfIdle(app, "D-158") }
    end(app, as: .notRunning, "D-005")
  }

  private mutating func fetched(_ awaited: AwaitedAnswer, _ app: Int) {
    let result = apps[app].description.fetchResult
    record(.app("calls the fetch handler: \(result.rawValue)"), app, "D-173")
    if apps[app].state == .background, result == .newData {
      takeSnapshot(of: app, "D-173")
    }
    suspendIfIdle(app, "D-158")
  }

  private mutating func notFetched(_ awaited: AwaitedAnswer, _ app: Int) {
    let seconds = settings.wakeTime.milliseconds / 1000
    record(.fault("did not call the fetch handler within \(seconds) s"), app, "D-005")
    apps[app].budget.penalize()
    switch apps[app].state {
    case .background, .suspended: end(app, as: .notRunning, "D-174")
    case .active, .inactive, .notRunning, .forceQuit: break
    }
  }
}
