public import Basics
public import PushPayload

/// A push on its way to a phone, as APNs hands it over.
public struct DeliveredPush: Hashable, Sendable {
  /// `apns-id`, in the letters that the provider used.
  public var id: String
  /// The device token that it came by; empty for a broadcast.
  public var token: [UInt8]
  /// With the suffix of the push type.
  public var topic: String
  public var bundleID: String
  public var environment: SimulatedEnvironment
  public var pushType: PushType
  public var priority: PushPriority
  public var collapseID: String?
  /// Seconds since 1970 as the provider sent it; nil when the header was absent.
  public var expiration: Int64?
  /// The body, byte for byte.
  public var payload: [UInt8]
  /// When APNs took it.
  public var receivedAt: Instant
  /// The channel that it was broadcast on, in place of a token; nil for a push to one device.
  public var channelID: String?

  public init(
    id: String, token: [UInt8], topic: String, bundleID: String, environment: SimulatedEnvironment, pushType: PushType,
    priority: PushPriority, collapseID: String?, expiration: Int64?, payload: [UInt8], receivedAt: Instant,
    channelID: String? = nil
  ) {
    self.id = id
    self.token = token
    self.topic = topic
    self.bundleID = bundleID
    self.environment = environment
    self.pushType = pushType
    self.priority = priority
    self.collapseID = collapseID
    self.expiration = expiration
    self.payload = payload
    self.receivedAt = receivedAt
    self.channelID = channelID
  }

  /// From then on nobody may show it: its expiration, and 30 days at most, 8 hours for a broadcast. A date that is past,
  /// 0 among them, leaves the one attempt at once. (Apple, "Viewing the status of push notifications using Metrics and
  /// APNs")
  var storedUntil: Instant {
    let ceiling = receivedAt + (channelID == nil ? .days(30) : .hours(8))
    guard let expiration else { return ceiling }
    return min(Instant(seconds: expiration), ceiling)
  }
}
