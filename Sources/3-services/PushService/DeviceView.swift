public import Audience
public import Basics

/// What a device or its app says when it registers.
public struct DeviceRegistration: Sendable, Equatable {
  /// The device token as text; only 64 or more hex digits are taken, anything else is explained (case C18).
  public var token: String
  public var environment: APNSEnvironment
  /// When given, must be the app's own.
  public var bundleID: String?
  public var osVersion: String?
  public var appVersion: String?
  public var language: String?
  public var timeZone: String?

  public init(
    token: String, environment: APNSEnvironment, bundleID: String? = nil, osVersion: String? = nil,
    appVersion: String? = nil, language: String? = nil, timeZone: String? = nil
  ) {
    self.token = token
    self.environment = environment
    self.bundleID = bundleID
    self.osVersion = osVersion
    self.appVersion = appVersion
    self.language = language
    self.timeZone = timeZone
  }
}

/// The answer to a registration. The secret is told at each registration and replaces the one before.
public struct Registered: Sendable, Hashable {
  /// 19 lower-case hex digits; the same for the same token.
  public var registrationID: String
  /// 64 lower-case hex digits: authenticates the device's own calls.
  public var deviceSecret: String
}

/// What an app server sees of a device.
public struct DeviceView: Sendable, Equatable {
  public var registrationID: String
  /// Sorted by their bytes.
  public var tags: [String]
  public var alias: String?
  public var mobile: String?
  public var environment: APNSEnvironment
  public var badge: Int
  /// The user's preference: of the notifications only the scheduled one (D-331).
  public var onlyScheduled: Bool
  public var createdAt: Instant
  /// The last time its token was registered.
  public var registeredAt: Instant
  /// The last time it was heard of, to within a minute.
  public var seenAt: Instant
  /// Why nothing is sent to it now (`Unregistered since …`); nil while its token lives.
  public var deadReason: String?
}

/// A change of a device; removal comes before addition. Applied whole or not at all.
public struct DeviceChange: Sendable, Equatable {
  public enum Text: Sendable, Equatable {
    case set(String)
    case clear
  }

  public var clearTags: Bool
  public var removeTags: [String]
  public var addTags: [String]
  public var alias: Text?
  public var mobile: Text?
  /// Sets the badge that `+n` counts from, as the app does when it is opened (case C07); 0–99999.
  public var badge: Int?
  /// The user's preference: true for the scheduled push alone; it counts from the answer on (D-332).
  public var onlyScheduled: Bool?

  public init(
    clearTags: Bool = false, removeTags: [String] = [], addTags: [String] = [], alias: Text? = nil,
    mobile: Text? = nil, badge: Int? = nil, onlyScheduled: Bool? = nil
  ) {
    self.clearTags = clearTags
    self.removeTags = removeTags
    self.addTags = addTags
    self.alias = alias
    self.mobile = mobile
    self.badge = badge
    self.onlyScheduled = onlyScheduled
  }
}

/// Whether a device can be reached at once.
public struct DeviceStatus: Sendable, Equatable {
  public var registrationID: String
  /// Connected now, or heard of within ten minutes (jpush.md §7).
  public var isOnline: Bool
  public var seenAt: Instant
}
