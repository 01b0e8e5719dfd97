public import Audience
public import Basics
public import PushPayload

/// What a caller asked for, already checked for shape by the door that took it. What depends on devices, apps or the
/// final payload is checked by `PushService`.
public struct PushOrder: Sendable, Equatable {
  public var audience: AudienceExpression
  /// String or object, as given.
  public var alert: JSONValue?
  /// String or object, as given.
  public var sound: JSONValue?
  public var badge: BadgeChange?
  public var contentAvailable: Bool
  public var mutableContent: Bool
  public var category: String?
  public var threadID: String?
  public var interruptionLevel: String?
  /// Flattened beside `aps`; must not name `aps` or begin with `_j_`.
  public var extras: JSONObject
  /// Seconds; 0 for one attempt; nil for a day.
  public var timeToLive: Int64?
  public var collapseID: String?
  public var production: Bool
  public var sendNumber: Int32?
  /// The scheduled push: also for users who want no other (D-333). nil: it is if a schedule made it.
  public var isScheduled: Bool?
  /// What it is about, as the app calls it: kept from users who chose others (`DeviceChange.channels`). nil: of no channel.
  public var channel: String?
  /// The push whose notification it takes the place of; what of that has not left never will.
  public var replaces: Int64?
  /// What it does where it is quiet (`Scheduling.Settings.quietHours`).
  public var inQuietHours: QuietChoice
  /// Each device gets it when the clocks of its place show this; nil: at once.
  public var localDue: LocalTime?
  /// nil: as fast as can be.
  public var rate: PushRate?
  /// `cid`: the same within a day answers the first receipt again and sends nothing.
  public var clientID: String?
  /// Whether the client id may only come with the same request again; another one is refused (9409).
  public var isKeyed = false
  /// The push to a group that this is a part of.
  public var groupPush: Int64?
  /// Where what becomes of it on each device is told, besides the app's webhooks.
  public var callback: CallbackOrder?
  /// What the door wants told beside the receipt (fields ignored, fields not for iOS).
  public var warnings: [String]
  /// In place of a notification; then what describes one means nothing.
  public var special: SpecialContent?
  /// Goes to the VoIP tokens of the same audience beside the notification, as a push of its own.
  public var voip: JSONObject?
  /// How it differs by recipient; nil: not at all.
  public var personal: PersonalContent?
  /// What goes to the running app, by the gateway.
  public var message: MessageContent?
  /// There is nothing for APNs beside the message.
  public var isMessageAlone = false
  /// The request as accepted; kept with the push.
  public var original: [UInt8]

  public init(
    audience: AudienceExpression, alert: JSONValue? = nil, sound: JSONValue? = nil, badge: BadgeChange? = nil,
    contentAvailable: Bool = false, mutableContent: Bool = false, category: String? = nil, threadID: String? = nil,
    interruptionLevel: String? = nil, extras: JSONObject = JSONObject(), timeToLive: Int64? = nil,
    collapseID: String? = nil, production: Bool = true, sendNumber: Int32? = nil, isScheduled: Bool? = nil,
    rate: PushRate? = nil, inQuietHours: QuietChoice = .wait, clientID: String? = nil, warnings: [String] = [],
    personal: PersonalContent? = nil, original: [UInt8] = []
  ) {
    self.audience = audience
    self.alert = alert
    self.sound = sound
    self.badge = badge
    self.contentAvailable = contentAvailable
    self.mutableContent = mutableContent
    self.category = category
    self.threadID = threadID
    self.interruptionLevel = interruptionLevel
    self.extras = extras
    self.timeToLive = timeToLive
    self.collapseID = collapseID
    self.production = production
    self.sendNumber = sendNumber
    self.isScheduled = isScheduled
    self.rate = rate
    self.inQuietHours = inQuietHours
    self.clientID = clientID
    self.warnings = warnings
    self.personal = personal
    self.original = original
  }
}

/// JPush's `callback` (jpush.md §11).
public struct CallbackOrder: Sendable, Equatable {
  /// As `WebhookRule` has it; nil: nowhere besides the app's webhooks.
  public var url: String?
  /// Those that go to `url`.
  public var events: Set<WebhookEvent>
  /// Comes with every event of the push, wherever that goes.
  public var params: JSONObject?

  public init(url: String?, events: Set<WebhookEvent>, params: JSONObject?) {
    self.url = url
    self.events = events
    self.params = params
  }
}

/// The answer to an accepted push: stored durably, sent from here on.
public struct PushReceipt: Sendable, Hashable {
  /// 18 digits, unique over restarts; grows with time.
  public var messageID: Int64
  /// 0 when the caller gave none.
  public var sendNumber: Int32
  /// The push to a group that this is a part of.
  public var groupPush: Int64?
  /// Devices that will be tried.
  public var targeted: Int
  /// The order's own and what was found since (devices of the other environment, names that match nobody).
  public var warnings: [String]
  /// Aliases, tags and registration ids of the audience that nobody has (case C29).
  public var unmatched: [String]
  /// The client id was used before; this is what was answered then, and nothing is sent.
  public var isRepeated = false

  public init(messageID: Int64, sendNumber: Int32, targeted: Int, warnings: [String], unmatched: [String]) {
    self.messageID = messageID
    self.sendNumber = sendNumber
    self.targeted = targeted
    self.warnings = warnings
    self.unmatched = unmatched
  }
}

/// What a push would be.
public struct PushPreview: Sendable {
  /// Its message id is 0.
  public var receipt: PushReceipt
  public var pushType: PushType
  public var priority: PushPriority
  /// Of the finished payload, the largest where it differs by language, with defaults in its places.
  public var bytes: Int
  /// What APNs takes.
  public var limit: Int
}

/// What a push does to the badge number that the service keeps for each device (jpush.md §4.4).
public enum BadgeChange: Sendable, Hashable {
  /// 0 removes the number.
  case set(Int)
  /// Negative to count down; the result never goes below 0.
  case add(Int)
}

/// What becomes of a push where it is quiet.
public enum QuietChoice: String, CaseIterable, Sendable {
  /// It is sent when the quiet hours are over, if it lives as long.
  case wait
  /// It is sent all the same.
  case pass
  /// It is not sent there.
  case drop
}
