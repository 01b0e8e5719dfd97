public import Audience
public import Basics
public import Schedule

public struct StoredDevice: Sendable, Equatable {
  public var app: Int64
  public var ordinal: DeviceOrdinal
  public var registrationID: String
  public var token: [UInt8]
  public var environment: APNSEnvironment
  public var secretHash: [UInt8]
  /// Sorted by their bytes.
  public var tags: [String]
  public var alias: String?
  public var mobile: String?
  public var badge: Int32
  /// The user's preference: of the notifications only the scheduled one (D-331). false until the app says otherwise.
  public var onlyScheduled: Bool
  /// The first time that a token of it was registered.
  public var createdAt: Instant
  /// The last time its token was registered.
  public var registeredAt: Instant
  /// The last time it was heard of, to within a minute: registered, or called for itself.
  public var seenAt: Instant
  /// nil while the token lives.
  public var death: TokenDeath?
  public var facts: DeviceFacts
  /// Tokens that it has beside its own, alive.
  public var purposes: Set<TokenPurpose> = []
  /// When its user wants to see and hear nothing, by the clocks of its place; nil: whenever the app's own hours say.
  public var quietHours: QuietHours?
  /// The channels that its user wants notifications of, sorted; nil: all.
  public var channels: [String]?

  public init(
    app: Int64, ordinal: DeviceOrdinal, registrationID: String, token: [UInt8], environment: APNSEnvironment,
    secretHash: [UInt8], tags: [String], alias: String?, mobile: String?, badge: Int32, onlyScheduled: Bool = false,
    createdAt: Instant, registeredAt: Instant, seenAt: Instant, death: TokenDeath?, facts: DeviceFacts
  ) {
    self.app = app
    self.ordinal = ordinal
    self.registrationID = registrationID
    self.token = token
    self.environment = environment
    self.secretHash = secretHash
    self.tags = tags
    self.alias = alias
    self.mobile = mobile
    self.badge = badge
    self.onlyScheduled = onlyScheduled
    self.createdAt = createdAt
    self.registeredAt = registeredAt
    self.seenAt = seenAt
    self.death = death
    self.facts = facts
  }
}

/// What a device tells of itself.
public struct DeviceFacts: Sendable, Hashable {
  public var osVersion: String?
  public var appVersion: String?
  public var language: String?
  public var timeZone: String?
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

  /// What is known, by what it is.
  public var values: [DeviceFact: String] {
    var values: [DeviceFact: String] = [:]
    for fact in DeviceFact.allCases {
      values[fact] =
        switch fact {
        case .appVersion: appVersion
        case .osVersion: osVersion
        case .language: language
        case .timeZone: timeZone
        case .model: model
        case .permission: permission?.word
        }
    }
    return values
  }

  /// With what `newer` knows in the place of what this does.
  public func updated(by newer: DeviceFacts) -> DeviceFacts {
    DeviceFacts(
      osVersion: newer.osVersion ?? osVersion, appVersion: newer.appVersion ?? appVersion,
      language: newer.language ?? language, timeZone: newer.timeZone ?? timeZone, model: newer.model ?? model,
      permission: newer.permission ?? permission)
  }
}

extension StoredDevice {
  public var subject: AudienceSubject {
    var subject = AudienceSubject(
      ordinal: ordinal, registrationID: registrationID, tags: Set(tags), alias: alias, facts: facts.values,
      lastSeen: seenAt, created: createdAt)
    subject.purposes = purposes
    return subject
  }

  /// Changes with whatever an app server may edit, and with nothing else.
  public var fingerprint: UInt64 {
    var print = Fingerprint()
    for tag in tags { print.add(tag) }
    print.add(nil)
    print.add(alias)
    print.add(mobile)
    print.add(String(badge))
    print.add(String(onlyScheduled))
    return print.value
  }
}

/// A registration to be kept: a new device, or the one that has the token already.
public struct DeviceDraft: Sendable {
  public var app: Int64
  /// For a new device; one that is known keeps its own.
  public var registrationID: String
  public var token: [UInt8]
  public var environment: APNSEnvironment
  public var secretHash: [UInt8]
  public var facts: DeviceFacts
  public var at: Instant

  public init(
    app: Int64, registrationID: String, token: [UInt8], environment: APNSEnvironment, secretHash: [UInt8],
    facts: DeviceFacts, at: Instant
  ) {
    self.app = app
    self.registrationID = registrationID
    self.token = token
    self.environment = environment
    self.secretHash = secretHash
    self.facts = facts
    self.at = at
  }
}

/// A change of one device. Tags are removed before others are added.
public struct DeviceEdit: Sendable, Equatable {
  public typealias Text = Choice<String>

  /// A value, or none any more.
  public enum Choice<Value: Sendable & Equatable>: Sendable, Equatable {
    case set(Value)
    case clear

    /// nil for none any more.
    public var value: Value? {
      switch self {
      case .set(let value): value
      case .clear: nil
      }
    }
  }

  /// Another token, as if the device had registered with it: it lives from here on. Another device of the app that has
  /// it is dead from here on, since one installation has one token.
  public struct NewToken: Sendable, Equatable {
    public var token: [UInt8]
    public var environment: APNSEnvironment
    public var at: Instant

    public init(_ token: [UInt8], _ environment: APNSEnvironment, at: Instant) {
      self.token = token
      self.environment = environment
      self.at = at
    }
  }

  public var clearTags = false
  public var removeTags: [String] = []
  public var addTags: [String] = []
  public var alias: Text?
  public var mobile: Text?
  public var badge: Int32?
  public var onlyScheduled: Bool?
  public var quietHours: Choice<QuietHours>?
  public var channels: Choice<[String]>?
  /// What is known of these replaces what was.
  public var facts = DeviceFacts()
  public var token: NewToken?
  /// Tokens beside its own. Those of Live Activities beyond `DeviceLimits.activities` go, the oldest first.
  public var tokens: [TokenEdit] = []
  /// Only while the device's `fingerprint` is this.
  public var ifUnchanged: UInt64?

  public init() {}
}

public struct DeviceLimits: Sendable, Equatable {
  /// How many devices may share an alias. Default 10, as JPush has it since 2020.
  public var devicesPerAlias = 10
  /// Default 1,000.
  public var tagsPerDevice = 1000
  /// Of Live Activities and of attributes types that may start one, each; so that what an app forgets to end does not pile
  /// up. Default 20.
  public var activities = 20

  public init() {}
}

public enum DeviceEditAnswer: Sendable, Equatable {
  case done
  case noSuchDevice
  /// Its fingerprint is another; nothing was changed.
  case changedMeanwhile
  /// Nothing was changed.
  case aliasFull(devices: Int)
  /// Nothing was changed.
  case tooManyTags(Int)
}
