import Basics
import Phone
import PushPayload

/// A phone with one app, and what happens to it, told in the specification's own abbreviations.
struct Story {
  static let bundle = "com.example.news"

  var phone: Phone
  var now = Instant(seconds: 1_796_029_200)
  var effects: [Phone.Effect] = []
  private var begun = 0
  private var pushes = 0

  /// Installed, notifications allowed.
  init(
    _ ios: IOSVersion, app: AppDescription = .complete, allowed: Bool = true,
    _ adjust: (inout PhoneSettings) -> Void = { _ in }
  ) {
    var settings = PhoneSettings(iosVersion: ios)
    adjust(&settings)
    phone = Phone(settings)
    happens(.installApp(app))
    if allowed { happens(.changePermission(bundleID: Self.bundle, Phone.UserSettings())) }
    forget()
  }

  /// What was told before this line counts no more.
  mutating func forget() {
    begun = phone.timeline.count
    effects = []
  }

  /// One event after the other, a second apart.
  mutating func happens(_ events: Phone.Event...) {
    for event in events {
      now = now + .seconds(1)
      effects += phone.handle(event, at: now)
    }
  }

  mutating func pass(_ span: Instant.Span) {
    now = now + span
    effects += phone.handle(.timePassed, at: now)
  }

  /// A push arrives now; answers its id.
  @discardableResult
  mutating func push(
    _ payload: JSONValue, _ type: PushType = .alert, priority: PushPriority? = nil, collapse: String? = nil,
    expires: Instant? = nil, id: String? = nil
  ) -> String {
    pushes += 1
    let id = id ?? "p\(pushes)"
    happens(
      .push(
        DeliveredPayload(
          id: id, bundleID: Self.bundle, pushType: type,
          priority: priority ?? (type == .background ? .considerate : .immediate), collapseID: collapse,
          expiration: expires, bytes: payload.encoded())))
    return id
  }

  /// Brings the app there by the user's or the system's acts.
  mutating func bring(to state: AppState, locked: Bool = false) {
    let bundle = Self.bundle
    switch state {
    case .notRunning: break
    case .forceQuit: happens(.launch(bundleID: bundle), .home, .forceQuit(bundleID: bundle))
    case .suspended: happens(.launch(bundleID: bundle), .home, .suspend(bundleID: bundle))
    case .background: happens(.launch(bundleID: bundle), .home)
    case .inactive: happens(.launch(bundleID: bundle), .openCentre)
    case .active: happens(.launch(bundleID: bundle))
    }
    if locked { happens(.lock) }
    forget()
  }

  // MARK: what was told

  var told: ArraySlice<TimelineEntry> { phone.timeline[min(begun, phone.timeline.count)...] }

  var callbacks: [Callback] {
    told.compactMap { if case .callback(let callback) = $0.what { callback } else { nil } }
  }

  /// `LO(p) DRF(I) DBA`: willFinish is not written, it goes with LO.
  var calls: String {
    let words = callbacks.filter { $0.method != .willFinishLaunching }.map(\.abbreviation)
    return words.isEmpty ? "-" : words.joined(separator: " ")
  }

  var shown: [TimelineEntry.Shown] {
    told.compactMap { if case .shown(let shown) = $0.what { shown } else { nil } }
  }

  /// `BCSN`
  var letters: String { shown.isEmpty ? "-" : shown.map(\.parts.letters).joined(separator: " ") }

  var rules: Set<String> { Set(told.map(\.rule.id)) }

  func said(_ words: String, _ rule: Rule) -> Bool {
    told.contains { $0.rule == rule && $0.what.words.contains(words) }
  }

  var faults: [TimelineEntry] { told.filter { if case .fault = $0.what { true } else { false } } }

  var state: AppState? { phone.state(of: Self.bundle) }
  var badge: Int { phone.badge(of: Self.bundle) }
  var centre: [String] { phone.centre(of: Self.bundle) }
  var lockScreen: [String] { phone.lockScreen(of: Self.bundle) }
}

extension Callback {
  var abbreviation: String {
    let letter =
      switch state {
      case .active: "A"
      case .inactive: "I"
      case .background: "B"
      case .notRunning, .forceQuit, .suspended: "?"
      }
    switch method {
    case .didFinishLaunching:
      if case .localLaunchOptions = arguments { return "LO(local)" }
      return arguments.userInfo == nil ? "LO(∅)" : "LO(p)"
    case .didReceiveRemoteNotification, .didReceiveRemoteNotificationFetch, .didReceiveLocalNotification,
      .pushRegistryDidReceive, .pushRegistryDidReceiveWithoutHandler:
      return "\(method.short)(\(letter))"
    case .didReceiveResponse:
      guard case .response(let response) = arguments else { return "DRR(?)" }
      switch response.actionIdentifier {
      case Callback.defaultAction: return "DRR(default)"
      case Callback.dismissAction: return "DRR(dismiss)"
      default: return "DRR(\(response.actionIdentifier))"
      }
    case .handleAction, .handleActionWithResponse, .handleLocalAction, .handleLocalActionWithResponse:
      guard case .action(let action) = arguments else { return "HAI(?)" }
      return "HAI(\(action.identifier))"
    case .requestAdded, .pendingNotifications, .pushRegistryDidUpdate, .pushRegistryDidInvalidate,
      .incomingCallReported, .performAnswerCall, .performEndCall:
      return method.short
    case .willFinishLaunching, .didBecomeActive, .willResignActive, .didEnterBackground, .willEnterForeground,
      .willTerminate, .willPresent, .openSettings, .didRegisterUserNotificationSettings, .authorizationAnswer,
      .notificationSettings, .didRegisterForRemoteNotifications, .didFailToRegister, .deliveredNotifications,
      .configurationForConnectingScene, .sceneWillEnterForeground, .sceneDidBecomeActive,
      .sceneWillResignActive, .sceneDidEnterBackground, .sceneDidDisconnect, .didDiscardSceneSessions,
      .backgroundRefreshStatusDidChange, .backgroundTaskExpired, .badgeCountAnswer:
      return method.short
    case .serviceDidReceive, .serviceTimeWillExpire, .contentExtensionDidReceive, .contentExtensionResponse,
      .activityEnablementUpdates,
      .frequentPushEnablementUpdates, .pushToStartTokenUpdates, .activityUpdates, .pushTokenUpdates, .contentUpdates,
      .activityStateUpdates, .didReceiveMessage, .messageHistory, .preferenceAnswer:
      return method.short
    case .sceneWillConnect: return arguments.userInfo == nil ? "SWC(∅)" : "SWC(p)"
    }
  }
}

extension AppDescription {
  /// Implements every call, has the delegate in time and the background mode, and lets all show in front.
  static var complete: AppDescription {
    var app = AppDescription(bundleID: Story.bundle, name: "News")
    app.delegate = .beforeLaunchEnds
    app.backgroundModes = [.remoteNotification]
    app.presentation = [.banner, .list, .sound, .badge]
    return app
  }

  static func complete(_ adjust: (inout AppDescription) -> Void) -> AppDescription {
    var app = complete
    adjust(&app)
    return app
  }
}

extension IOSVersion {
  static let g1 = IOSVersion(6, 1)
  static let g2 = IOSVersion(9, 3)
  static let g3 = IOSVersion(17)
}

/// The specification's kinds, as payloads.
enum Sample {
  static let k1: JSONValue = ["aps": ["alert": ["title": "New", "body": "Hello"], "badge": 3, "sound": "default"]]
  static let k2: JSONValue = [
    "aps": ["alert": ["title": "New", "body": "Hello"], "badge": 3, "sound": "default", "content-available": 1]
  ]
  static let k3: JSONValue = ["aps": ["content-available": 1]]
  static let k4: JSONValue = ["aps": ["badge": 3]]
  static let k5: JSONValue = ["aps": ["sound": "default"]]
  static let k7: JSONValue = ["aps": ["content-available": 1], "customData": ["task": "sync"]]

  /// Payload and push type of a kind.
  static func of(_ kind: String) -> (JSONValue, PushType)? {
    switch kind {
    case "K1": (k1, .alert)
    case "K2": (k2, .alert)
    case "K3": (k3, .background)
    case "K4": (k4, .alert)
    case "K5": (k5, .alert)
    case "K6": (k1, .voip)
    case "K7": (k7, .background)
    default: nil
    }
  }

  // The seeds' own payloads (S0 tip 5, S2)
  static let s0Ordinary: JSONValue = [
    "_j_msgid": 200_806_057, "aps": ["alert": "显示内容", "badge": 1, "sound": "default"], "key1": "value1",
    "key2": "value2",
  ]
  static let s0Background: JSONValue = [
    "_j_msgid": 2_090_737_306,
    "aps": ["alert": "显示内容", "badge": 1, "content-available": 1, "sound": "default"], "key1": "value1",
  ]
  static let s0Silent: JSONValue = [
    "_j_msgid": 3_938_587_719, "aps": ["alert": "", "content-available": 1], "key1": "value1",
  ]
  static let s2Visible: JSONValue = [
    "aps": [
      "alert": ["title": "新消息", "body": "您有一条新的通知"], "badge": 1, "sound": "default", "content-available": 1,
    ],
    "customData": ["type": "message", "id": "12345"],
  ]
  static let s2Titled: JSONValue = [
    "aps": ["alert": ["title": "重要提示", "body": "请及时查看最新活动信息。"], "badge": 3, "sound": "default"]
  ]
  static let s2Silent: JSONValue = ["aps": ["content-available": 1], "customData": ["task": "sync"]]
}
