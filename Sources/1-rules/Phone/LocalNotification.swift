public import Basics
public import PushPayload

/// A notification that an app makes on the phone itself: a `UNNotificationRequest` (iOS 10 and later).
public struct LocalNotification: Hashable, Sendable {
  /// The request's identifier; the same one replaces (D-235).
  public var id: String
  public var content: NotificationContent
  /// nil: at once (D-274).
  public var trigger: NotificationTrigger?

  public init(id: String, content: NotificationContent, trigger: NotificationTrigger? = nil) {
    self.id = id
    self.content = content
    self.trigger = trigger
  }
}

/// `UNMutableNotificationContent`: what a local notification says.
public struct NotificationContent: Hashable, Sendable {
  public var title: Payload.Text?
  public var subtitle: Payload.Text?
  public var body: Payload.Text?
  /// nil leaves the number, 0 removes it (D-278).
  public var badge: Int64?
  public var sound: Payload.Sound?
  public var threadID: String?
  public var category: String?
  public var launchImage: String?
  /// The button of a modal alert beside Close, and its text; nil: the system's word (`UILocalNotification.hasAction`).
  public var hasAction = true
  public var action: String?
  public var targetContentID: String?
  public var interruptionLevel: Payload.InterruptionLevel?
  public var relevanceScore: Double?
  /// One that the system does not take refuses the whole request (D-256).
  public var attachments: [NotificationAttachment] = []
  public var userInfo = JSONObject()

  /// Texts as they are to be shown; `localizedUserNotificationString` is set on the properties.
  public init(
    title: String? = nil, body: String? = nil, badge: Int64? = nil, sound: String? = nil,
    userInfo: JSONObject = JSONObject()
  ) {
    self.title = title.map(Payload.Text.literal)
    self.body = body.map(Payload.Text.literal)
    self.badge = badge
    self.sound = sound.map { Payload.Sound(name: $0) }
    self.userInfo = userInfo
  }
}

/// What lets a local notification come: the subclasses of `UNNotificationTrigger`, and the fire date of iOS 4–9.
public enum NotificationTrigger: Hashable, Sendable {
  /// `UNTimeIntervalNotificationTrigger`; more than nothing, and 60 s or more to repeat (D-271).
  case interval(Instant.Span, repeats: Bool = false)
  /// `UNCalendarNotificationTrigger`; `zone` nil: the phone's, whichever it is then (D-272).
  case calendar(CalendarPattern, zone: Zone? = nil, repeats: Bool = false)
  /// `UNLocationNotificationTrigger` (D-273).
  case region(Region, repeats: Bool = false)
  /// `UILocalNotification.fireDate`; with `wallClock` it moves with the phone's zone (D-274).
  case fireDate(Instant, wallClock: Zone? = nil, repeats: RepeatInterval? = nil)
}

/// `CLRegion`: a place by name, and which crossing of its boundary counts (D-273).
public struct Region: Hashable, Sendable {
  public var id: String
  public var notifiesOnEntry = true
  public var notifiesOnExit = true

  public init(_ id: String, onEntry: Bool = true, onExit: Bool = true) {
    self.id = id
    notifiesOnEntry = onEntry
    notifiesOnExit = onExit
  }
}

/// `UILocalNotification.repeatInterval`; less than a minute is not supported.
public enum RepeatInterval: String, CaseIterable, Hashable, Sendable {
  case minute, hour, day, week, month, quarter, year
}

/// Apple's `UILocalNotification`: what apps scheduled on iOS 4–9, and may on later ones.
public struct UILocalNotification: Hashable, Sendable {
  /// nil or past: at once (D-274).
  public var fireDate: Instant?
  /// nil: `fireDate` is an instant; else a time on the wall, which moves with the phone's zone (D-274).
  public var timeZone: Zone?
  public var repeatInterval: RepeatInterval?
  /// iOS 8 and later; with a fire date as well it raises an exception (D-274).
  public var region: Region?
  public var regionTriggersOnce = true
  public var alertBody: String?
  /// iOS 8.2 and later.
  public var alertTitle: String?
  /// Whether the modal alert has a second button, and what is on it; nil: the system's word.
  public var hasAction = true
  public var alertAction: String?
  public var alertLaunchImage: String?
  public var soundName: String?
  /// 0: no change (D-278).
  public var applicationIconBadgeNumber = 0
  /// iOS 8 and later.
  public var category: String?
  public var userInfo = JSONObject()

  public init(alertBody: String? = nil, fireDate: Instant? = nil) {
    self.alertBody = alertBody
    self.fireDate = fireDate
  }
}

/// `UNError.Code`, in the domain `UNErrorDomain` (D-238, D-279).
public enum NotificationError: Int, CaseIterable, Hashable, Error {
  case notificationsNotAllowed = 1
  case attachmentUnrecognizedType = 101
  case attachmentInvalidFileSize = 102
  case attachmentCorrupt = 105
  case notificationInvalidNoDate = 1400
  case notificationInvalidNoContent = 1401
  case badgeInputInvalid = 1600

  public static let domain = "UNErrorDomain"

  public var name: String {
    switch self {
    case .notificationsNotAllowed: "notificationsNotAllowed"
    case .attachmentUnrecognizedType: "attachmentUnrecognizedType"
    case .attachmentInvalidFileSize: "attachmentInvalidFileSize"
    case .attachmentCorrupt: "attachmentCorrupt"
    case .notificationInvalidNoDate: "notificationInvalidNoDate"
    case .notificationInvalidNoContent: "notificationInvalidNoContent"
    case .badgeInputInvalid: "badgeInputInvalid"
    }
  }
}
