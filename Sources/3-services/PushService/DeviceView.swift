public import Audience
public import Basics
public import Schedule
public import Store

/// What a device tells of itself; at most 64 bytes each.
public struct DeviceDescription: Sendable, Equatable {
  /// `18.1`.
  public var osVersion: String?
  /// `2.10`.
  public var appVersion: String?
  /// `zh-Hans-CN`.
  public var language: String?
  /// `Asia/Shanghai`.
  public var timeZone: String?
  /// `iPhone17,1`.
  public var model: String?
  public var permission: NotificationPermission?

  public init(
    osVersion: String? = nil, appVersion: String? = nil, language: String? = nil, timeZone: String? = nil,
    model: String? = nil, permission: NotificationPermission? = nil
  ) {
    self.osVersion = osVersion
    self.appVersion = appVersion
    self.language = language
    self.timeZone = timeZone
    self.model = model
    self.permission = permission
  }
}

/// What a device or its app says when it registers.
public struct DeviceRegistration: Sendable, Equatable {
  /// The device token as text; only 64 or more hex digits are taken, anything else is explained (case C18).
  public var token: String
  public var environment: APNSEnvironment
  /// When given, must be the app's own.
  public var bundleID: String?
  /// All there is to know: what is not here is not known any more.
  public var facts: DeviceDescription

  public init(
    token: String, environment: APNSEnvironment, bundleID: String? = nil,
    facts: DeviceDescription = DeviceDescription()
  ) {
    self.token = token
    self.environment = environment
    self.bundleID = bundleID
    self.facts = facts
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
  public var facts: DeviceDescription
  public var createdAt: Instant
  /// When its user wants to see and hear nothing; nil: when the app's own hours say.
  public var quietHours: QuietHours?
  /// The channels that its user wants, sorted; nil: all.
  public var channels: [String]?
  /// Tokens that it has beside its own, alive.
  public var purposes: Set<TokenPurpose>
  /// The last time its token was registered.
  public var registeredAt: Instant
  /// The last time it was heard of, to within a minute.
  public var seenAt: Instant
  /// Why nothing is sent to it now (`Unregistered since …`); nil while its token lives.
  public var deadReason: String?
  /// Its number among the app's devices; what a list goes by.
  public var ordinal: DeviceOrdinal
  /// Changes with whatever an app server may edit, and with nothing else.
  public var fingerprint: UInt64
}

/// A change of a device; removal comes before addition. Applied whole or not at all.
public struct DeviceChange: Sendable, Equatable {
  public typealias Choice = DeviceEdit.Choice
  public typealias Text = Choice<String>

  public struct Token: Sendable, Equatable {
    /// As `DeviceRegistration.token`.
    public var text: String
    public var environment: APNSEnvironment

    public init(_ text: String, _ environment: APNSEnvironment) {
      self.text = text
      self.environment = environment
    }
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
  /// The user's own quiet hours, by the clocks of the device's place, in the place of the app's.
  public var quietHours: Choice<QuietHours>?
  /// The channels whose notifications the user wants; a push of no channel comes all the same.
  public var channels: Choice<[String]>?
  /// What is known of these replaces what was.
  public var facts: DeviceDescription
  /// APNs gave the device another: it stays the device it is, and lives from here on. Another device of the app that has
  /// this token is the same phone under an older registration, and is dead from here on.
  public var token: Token?
  /// Tokens beside its own, as text like `DeviceRegistration.token`; nil: there is none any more (a call is refused by the
  /// user, an activity has ended).
  public var tokens: [TokenPurpose: String?] = [:]
  /// Only while the device's fingerprint is this.
  public var ifUnchanged: UInt64?

  public init(
    clearTags: Bool = false, removeTags: [String] = [], addTags: [String] = [], alias: Text? = nil,
    mobile: Text? = nil, badge: Int? = nil, onlyScheduled: Bool? = nil,
    facts: DeviceDescription = DeviceDescription(), token: Token? = nil, ifUnchanged: UInt64? = nil
  ) {
    self.clearTags = clearTags
    self.removeTags = removeTags
    self.addTags = addTags
    self.alias = alias
    self.mobile = mobile
    self.badge = badge
    self.onlyScheduled = onlyScheduled
    self.facts = facts
    self.token = token
    self.ifUnchanged = ifUnchanged
  }
}

/// Whether a device can be reached at once.
public struct DeviceStatus: Sendable, Equatable {
  public var registrationID: String
  /// Connected now, or heard of within ten minutes (jpush.md §7).
  public var isOnline: Bool
  public var seenAt: Instant
}
