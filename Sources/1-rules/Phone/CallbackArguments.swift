public import Basics
public import PushPayload

extension Callback {
  /// What the code gets, as the app sees it.
  public enum Arguments: Hashable, Sendable {
    case none
    /// The dictionary under `UIApplicationLaunchOptionsRemoteNotificationKey`; nil: no launch options (LO(∅)).
    case launchOptions(remoteNotification: JSONObject?)
    /// The `UILocalNotification` under `UIApplicationLaunchOptionsLocalNotificationKey` (D-277).
    case localLaunchOptions(NotificationArgument)
    /// The whole payload: `aps` and every custom key, unchanged (D-001).
    case userInfo(JSONObject)
    /// A `UNNotification`.
    case notification(NotificationArgument)
    /// A `UNNotificationResponse`.
    case response(ResponseArgument)
    /// What `handleActionWithIdentifier:` gets.
    case action(ActionArgument)
    /// The notification that the settings were opened for; nil: from Settings (D-031).
    case settingsFor(NotificationArgument?)
    case token([UInt8])
    case failure(domain: String, code: Int, text: String)
    /// `granted`, and which options; `error` is nil (D-021).
    case granted(Bool, NotificationOptions)
    /// A `UIUserNotificationSettings`: its types, and the identifiers of its categories (D-020, D-242).
    case userNotificationSettings(NotificationOptions, categories: [String])
    /// A `UNNotificationSettings` (D-029).
    case notificationSettings(SettingsArgument)
    /// Oldest first (D-236).
    case delivered([NotificationArgument])
    /// A `UILocalNotification`, or a request of iOS 10 and later as that class would show it (D-276).
    case localNotification(NotificationArgument)
    /// The end of `add` for the request of this identifier; nil: no error (D-279).
    case completed(id: String, NotificationError?)
    /// The requests that wait (D-280).
    case pending([LocalNotification])
    /// `PKPushCredentials`: the token of this type (D-048).
    case credentials(PushKitType, token: [UInt8])
    /// `PKPushPayload`: `dictionaryPayload` and `type`.
    case pushKitPayload(PushKitType, JSONObject)
    case pushKitType(PushKitType)
    /// Who calls (D-186).
    case call(from: String)
    /// A scene's delegate is called about its scene (D-161).
    case scene(SceneID)
    /// `UIScene.ConnectionOptions` (SWC(p), SWC(∅)).
    case connectionOptions(SceneID, notificationResponse: ResponseArgument?)
    case sceneSessions([SceneID])
    /// `UIBackgroundTaskIdentifier` of the task that is over (D-172).
    case backgroundTask(Int)
    /// The next value of ActivityKit's token sequences; `activity` is nil for the push-to-start token.
    case activityToken(attributesType: String, activity: String?, token: [UInt8])
    /// An `Activity` as `activityUpdates` and `contentUpdates` give it.
    case activity(id: String, attributesType: String, contentState: JSONObject)
    case activityState(id: String, ActivityState)
    case enabled(Bool)
    case message(InAppMessage)
    case messages([InAppMessage])
    /// The value that holds now, and why it is not the wanted one; nil: it is.
    case preference(onlyScheduled: Bool, failure: String?)

    /// The payload inside, wherever this form keeps it.
    public var userInfo: JSONObject? {
      switch self {
      case .launchOptions(let userInfo): userInfo
      case .userInfo(let userInfo): userInfo
      case .notification(let notification), .localLaunchOptions(let notification),
        .localNotification(let notification):
        notification.userInfo
      case .pushKitPayload(_, let payload): payload
      case .response(let response): response.notification.userInfo
      case .action(let action): action.notification.userInfo
      case .settingsFor(let notification): notification?.userInfo
      case .connectionOptions(_, let response): response?.notification.userInfo
      case .none, .token, .failure, .granted, .userNotificationSettings, .notificationSettings, .delivered, .scene,
        .sceneSessions, .backgroundTask, .completed, .pending, .credentials, .pushKitType, .call,
        .activityToken, .activity, .activityState, .enabled, .message, .messages,
        .preference:
        nil
      }
    }
  }
}

/// A `UNNotification` as the app's code reads it: when it was delivered, and its request with identifier, content and
/// trigger (D-245).
public struct NotificationArgument: Hashable, Sendable {
  /// `request.identifier`: the collapse id, else one of the system's own (D-235).
  public let identifier: String
  /// `date`: when it was delivered.
  public let date: Instant
  public let trigger: Trigger
  private let said: Content

  /// Which subclass of `UNNotificationTrigger` the request holds.
  public enum Trigger: Hashable, Sendable {
    /// `UNPushNotificationTrigger`: it came through APNs.
    case push
    /// It was made on this phone; nil: to come at once (D-274).
    indirect case local(NotificationTrigger?)
  }

  init(_ notice: Notice, date: Instant) {
    identifier = notice.id
    self.date = date
    said = notice.content
    switch notice.origin {
    case .remote: trigger = .push
    case .local(let local): trigger = .local(local.trigger)
    }
  }

  // `request.content`, by the names of `UNNotificationContent`

  public var title: String { said.payload.alert?.title?.shown ?? "" }
  public var subtitle: String { said.payload.alert?.subtitle?.shown ?? "" }
  public var body: String { said.payload.alert?.body?.shown ?? "" }
  public var badge: Int64? { said.payload.badge }
  public var sound: Payload.Sound? { said.payload.sound }
  public var threadIdentifier: String { said.payload.threadID ?? "" }
  public var categoryIdentifier: String { said.payload.category ?? "" }
  public var interruptionLevel: Payload.InterruptionLevel { said.payload.interruptionLevel ?? .active }
  public var relevanceScore: Double { said.payload.relevanceScore ?? 0 }
  public var targetContentIdentifier: String? { said.payload.targetContentID }
  public var filterCriteria: String? { said.payload.filterCriteria }
  /// Names of the attached files.
  public var attachments: [String] { said.attachments.map(\.file) }
  public var userInfo: JSONObject { said.userInfo }

  public static func == (left: Self, right: Self) -> Bool {
    left.identifier == right.identifier && left.date == right.date && left.trigger == right.trigger
      && (left.said === right.said
        || (left.said.payload == right.said.payload && left.userInfo == right.userInfo
          && left.said.attachments == right.said.attachments))
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(identifier)
    hasher.combine(date)
  }
}

/// A `UNNotificationResponse`; with `userText` a `UNTextInputNotificationResponse`.
public struct ResponseArgument: Hashable, Sendable {
  /// `Callback.defaultAction`, `Callback.dismissAction`, or the identifier of a button.
  public var actionIdentifier: String
  public var notification: NotificationArgument
  /// What the user typed; "" when nothing was typed, nil for an action without a text field (D-144).
  public var userText: String?
  /// The scene that will reflect the response; nil without scenes (D-137).
  public var targetScene: SceneID?

  init(
    _ actionIdentifier: String, to notification: NotificationArgument, userText: String? = nil,
    targetScene: SceneID? = nil
  ) {
    self.actionIdentifier = actionIdentifier
    self.notification = notification
    self.userText = userText
    self.targetScene = targetScene
  }
}

/// The arguments of `handleActionWithIdentifier:`, iOS 8 and 9.
public struct ActionArgument: Hashable, Sendable {
  public var identifier: String
  public var notification: NotificationArgument
  /// Under `UIUserNotificationActionResponseTypedTextKey` of the response info; nil: an empty dictionary (D-144).
  public var typedText: String?
}
