public import Audience
public import Basics
public import Schedule

/// A device brought from elsewhere. It has no secret: its app gets one when it registers, and keeps the registration id.
public struct ImportedDevice: Sendable, Equatable {
  public var registrationID: String
  /// Whether the id came with the device; false: it was made up for a device that is new.
  public var isIDGiven: Bool
  public var token: [UInt8]
  public var environment: APNSEnvironment
  public var tags: [String]
  public var alias: String?
  public var mobile: String?
  public var badge: Int32
  public var onlyScheduled: Bool
  public var facts: DeviceFacts
  public var createdAt: Instant
  /// An answer of APNs that says that the token died before does not count.
  public var registeredAt: Instant
  public var seenAt: Instant
  public var quietHours: QuietHours?
  public var channels: [String]?
  /// Beside its own. One that another device of the app has stays that one's.
  public var tokens: [PurposeToken] = []

  public init(
    registrationID: String, isIDGiven: Bool, token: [UInt8], environment: APNSEnvironment, tags: [String] = [],
    alias: String? = nil, mobile: String? = nil, badge: Int32 = 0, onlyScheduled: Bool = false,
    facts: DeviceFacts = DeviceFacts(), createdAt: Instant, registeredAt: Instant, seenAt: Instant
  ) {
    self.registrationID = registrationID
    self.isIDGiven = isIDGiven
    self.token = token
    self.environment = environment
    self.tags = tags
    self.alias = alias
    self.mobile = mobile
    self.badge = badge
    self.onlyScheduled = onlyScheduled
    self.facts = facts
    self.createdAt = createdAt
    self.registeredAt = registeredAt
    self.seenAt = seenAt
  }
}

/// What became of an imported device; all but `kept` changed nothing.
public enum ImportAnswer: Sendable, Equatable {
  case kept
  /// The app has a device with this token, and with this id if one was given: it stays as it is.
  case known
  /// The token is that of the app's device of this registration id, which is another than was given.
  case tokenTaken(registrationID: String)
  case registrationIDTaken
  case aliasFull(devices: Int)
}

/// How far the import of a source has come.
public struct ImportMark: Sendable, Hashable {
  /// Names the source; another for other contents.
  public var source: String
  /// Bytes that are dealt with.
  public var position: Int64
  /// Lines that are dealt with.
  public var lines: Int64

  public init(source: String, position: Int64, lines: Int64) {
    self.source = source
    self.position = position
    self.lines = lines
  }
}
