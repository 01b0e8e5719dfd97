public import Basics
public import PushPayload

/// A push as APNs hands it to the phone: the payload's bytes and what of the headers has an effect here (D-086).
public struct DeliveredPayload: Hashable, Sendable {
  /// The `apns-id`.
  public var id: String
  /// The app that the token stands for (D-015).
  public var bundleID: String
  public var pushType: PushType
  public var priority: PushPriority
  /// `apns-collapse-id`; becomes the request identifier (D-235).
  public var collapseID: String?
  /// From this second on it must not be shown (D-116); nil: no `apns-expiration`. One that was past when APNs took the
  /// push, 0 among them, asked for one attempt at once, and this is that attempt.
  public var expiration: Instant?
  /// When APNs took it; nil when nobody knows.
  public var acceptedAt: Instant?
  /// The device token that it came by: tells the tokens of an app's Live Activities apart. nil: whichever it may mean.
  public var token: [UInt8]?
  /// The channel that it was broadcast on, in place of a token (iOS 18).
  public var channel: String?
  public let bytes: [UInt8]
  /// The bytes, read once.
  let content: Content

  public init(
    id: String, bundleID: String, pushType: PushType = .alert, priority: PushPriority = .immediate,
    collapseID: String? = nil, expiration: Instant? = nil, acceptedAt: Instant? = nil, token: [UInt8]? = nil,
    channel: String? = nil, bytes: [UInt8]
  ) {
    self.init(
      id: id, bundleID: bundleID, pushType: pushType, priority: priority, collapseID: collapseID,
      expiration: expiration, acceptedAt: acceptedAt, token: token, channel: channel, body: PayloadBody(bytes))
  }

  /// One of many pushes with the same body, which is read once for all of them.
  public init(
    id: String, bundleID: String, pushType: PushType = .alert, priority: PushPriority = .immediate,
    collapseID: String? = nil, expiration: Instant? = nil, acceptedAt: Instant? = nil, token: [UInt8]? = nil,
    channel: String? = nil, body: PayloadBody
  ) {
    self.id = id
    self.bundleID = bundleID
    self.pushType = pushType
    self.priority = priority
    self.collapseID = collapseID
    self.expiration = expiration
    self.acceptedAt = acceptedAt
    self.token = token
    self.channel = channel
    bytes = body.bytes
    content = body.content
  }

  public static func == (left: Self, right: Self) -> Bool { left.parts == right.parts && left.bytes == right.bytes }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(id)
    hasher.combine(bundleID)
    hasher.combine(bytes)
  }

  /// All that is not the payload.
  private var parts: Parts {
    Parts(
      id: id, bundleID: bundleID, pushType: pushType, priority: priority, collapseID: collapseID,
      expiration: expiration, acceptedAt: acceptedAt, token: token, channel: channel)
  }

  private struct Parts: Equatable {
    var id: String
    var bundleID: String
    var pushType: PushType
    var priority: PushPriority
    var collapseID: String?
    var expiration: Instant?
    var acceptedAt: Instant?
    var token: [UInt8]?
    var channel: String?
  }

  func isExpired(at now: Instant) -> Bool {
    guard let expiration, expiration.seconds > (acceptedAt?.seconds ?? 0) else { return false }
    return expiration.seconds <= now.seconds
  }

  /// The identifier of the notification request: the collapse id, else one of the system's own (D-235).
  var requestID: String { collapseID ?? id }
}

/// A payload's bytes, read once and shared by every phone that gets them.
public struct PayloadBody: Hashable, Sendable {
  public let bytes: [UInt8]
  let content: Content

  public init(_ bytes: [UInt8]) {
    self.bytes = bytes
    content = Content(bytes)
  }

  public static func == (left: Self, right: Self) -> Bool { left.bytes == right.bytes }

  public func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
}
