extension Callback {
  /// What was known of the app when a call was chosen: with it the reason is told when it is asked for, not before.
  struct Circumstances: Hashable, Sendable {
    var version = IOSVersion(0)
    var delegateSet = false
    var usesScenes = false
    fileprivate private(set) var implemented: Implemented = []

    fileprivate struct Implemented: OptionSet, Hashable {
      let rawValue: UInt8
      static let drn = Self(rawValue: 1)
      static let drf = Self(rawValue: 2)
      static let actionWithResponse = Self(rawValue: 4)
    }

    /// What the description alone says.
    init(_ description: AppDescription) {
      let methods: [(Method, Implemented)] = [
        (.didReceiveRemoteNotification, .drn), (.didReceiveRemoteNotificationFetch, .drf),
        (.handleActionWithResponse, .actionWithResponse),
      ]
      for (method, bit) in methods where description.implements.contains(method) { implemented.insert(bit) }
    }

    fileprivate var hasDRF: Bool { version.major >= 7 && implemented.contains(.drf) }
    fileprivate var isG3: Bool { version.generation == .g3 }
  }

  /// Why this call and not another, by the circumstances it was made in; nil where no other could be meant.
  public func choice(by rule: Rule) -> String? {
    switch method {
    case .willFinishLaunching, .didFinishLaunching: launchChoice
    case .didReceiveRemoteNotification: drnChoice
    case .didReceiveRemoteNotificationFetch: drfChoice(rule)
    case .willPresent:
      rule == "D-102"
        ? "WP beside DRF: it is shown by the delegate's word, and content-available is 1 (D-102)"
        : circumstances.hasDRF ? "WP and not DRF: the delegate is set (D-101)" : "WP: the delegate is set (D-101)"
    case .didReceiveResponse: responseChoice
    case .handleAction, .handleActionWithResponse, .handleLocalAction, .handleLocalActionWithResponse: actionChoice
    case .didReceiveLocalNotification:
      circumstances.isG3 ? "not WP or DRR: no delegate is set (D-120)" : nil
    case .sceneWillConnect:
      arguments.userInfo == nil
        ? nil
        : circumstances.delegateSet
          ? "SWC beside DRR: the scene was not connected (D-136)"
          : "SWC and not DRF: no delegate is set, only the scene's options carry it (D-138)"
    case .sceneWillEnterForeground, .sceneDidBecomeActive, .sceneWillResignActive, .sceneDidEnterBackground:
      "the scene's call and not the application delegate's: the app has a scene manifest (D-161)"
    case .didBecomeActive, .willResignActive, .didEnterBackground, .willEnterForeground:
      circumstances.version.major >= 13 ? "the application delegate's call: the app has no scene manifest (D-161)" : nil
    case .authorizationAnswer, .didRegisterUserNotificationSettings:
      "the way of the call that asked (D-020)"
    case .pushRegistryDidReceive: "PKR and not DRF or WP: VoIP pushes are PushKit's (D-114)"
    case .pushRegistryDidReceiveWithoutHandler:
      circumstances.version.major < 11
        ? "PKR and not DRF or WP: VoIP pushes are PushKit's; the handler came with iOS 11 (D-114)"
        : "PKR and not DRF or WP: VoIP pushes are PushKit's; the app does not implement the call of iOS 11 (D-114)"
    case .didReceiveMessage: "the SDK's handler: messages come from the push service, not from APNs (D-300)"
    case .activityEnablementUpdates, .frequentPushEnablementUpdates, .pushToStartTokenUpdates, .activityUpdates,
      .pushTokenUpdates, .contentUpdates, .activityStateUpdates:
      "ActivityKit's sequence and no delegate: a Live Activity is no notification (D-189)"
    case .messageHistory, .preferenceAnswer, .willTerminate, .configurationForConnectingScene, .sceneDidDisconnect,
      .didDiscardSceneSessions,
      .backgroundRefreshStatusDidChange, .backgroundTaskExpired, .openSettings, .notificationSettings,
      .didRegisterForRemoteNotifications, .didFailToRegister, .deliveredNotifications, .badgeCountAnswer,
      .serviceDidReceive, .serviceTimeWillExpire, .contentExtensionDidReceive, .contentExtensionResponse,
      .requestAdded, .pendingNotifications, .pushRegistryDidUpdate, .pushRegistryDidInvalidate,
      .incomingCallReported, .performAnswerCall, .performEndCall:
      nil
    }
  }

  private var launchChoice: String {
    if circumstances.usesScenes { return "no launch options: an app with scenes gets none (D-166)" }
    if arguments.userInfo != nil {
      return state == .background
        ? "with the payload: content-available started the app (D-107)"
        : "with the payload: the notification was used (D-130)"
    }
    return "without a payload: no notification started the app (D-131)"
  }

  private var drnChoice: String {
    let why =
      circumstances.version.major < 7
      ? "iOS \(circumstances.version) has no DRF, it came with iOS 7" : "the app does not implement DRF"
    return "DRN and not DRF: \(why) (D-002)"
  }

  private func drfChoice(_ rule: Rule) -> String {
    let drn =
      circumstances.implemented.contains(.drn)
      ? "DRF and not DRN: both are implemented (D-003)" : "DRF and not DRN: the app does not implement DRN (D-002)"
    guard circumstances.isG3 else { return drn }
    switch rule {
    case "D-102": return "\(drn); beside WP: content-available is 1 and the app has the background mode (D-102)"
    case "D-103": return "\(drn); not WP: nothing in it is for the user (D-103)"
    case "D-121": return "\(drn); not WP: the delegate does not implement it (D-121)"
    case _ where state == .background: return "\(drn); not WP: the app is not in front (D-101)"
    case _ where !circumstances.delegateSet: return "\(drn); not WP or DRR: no delegate is set (D-120)"
    default: return drn
    }
  }

  private var responseChoice: String {
    guard case .response(let response) = arguments else { return "DRR: the delegate is set (D-133)" }
    switch response.actionIdentifier {
    case Callback.defaultAction: return "DRR and not DRF: the delegate is set (D-133)"
    case Callback.dismissAction: return "DRR: the category has customDismissAction (D-145)"
    default: return "DRR and not HAI: the delegate is set (D-141)"
    }
  }

  private var actionChoice: String {
    let newer =
      circumstances.isG3
      ? "no delegate is set (D-120)" : "iOS \(circumstances.version) has no delegate, it came with iOS 10 (D-006)"
    guard circumstances.version.major >= 9 else { return "HAI and not DRR: \(newer)" }
    let hasText = method == .handleActionWithResponse || method == .handleLocalActionWithResponse
    let text =
      hasText
      ? "with the response info of iOS 9 (D-144)"
      : "without response info: the app does not implement that call (D-144)"
    return "HAI and not DRR: \(newer); \(text)"
  }
}

extension TimelineEntry {
  /// Why this happened, line by line: of a callback the Swift name and why this call and not another; then the rule in a
  /// sentence with its sources. Made when it is asked for.
  public var explanation: [String] {
    guard case .callback(let callback) = what else { return [rule.explanation] }
    let method = callback.method
    return ["\(method.swiftName) of \(method.owner.rawValue)", callback.choice(by: rule), rule.explanation]
      .compactMap { $0 }
  }
}

extension Phone {
  func circumstances(of app: Int) -> Callback.Circumstances {
    var circumstances = apps[app].circumstances
    circumstances.version = settings.iosVersion
    circumstances.delegateSet = apps[app].delegateSet
    circumstances.usesScenes = usesScenes(app)
    return circumstances
  }
}
