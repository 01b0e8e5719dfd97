public import PushPayload

/// The broadcast channels of one app in one environment, at APNs. `APNSClient` implements it; `belfry` joins the two.
public protocol BroadcastChannels: Sendable {
  /// Makes one and answers its id, base64 of APNs' choice.
  func createChannel(_ policy: ChannelStoragePolicy) async throws(BroadcastFault) -> String
  /// Every channel of the app.
  func channels() async throws(BroadcastFault) -> [String]
  func channel(_ id: String) async throws(BroadcastFault) -> ChannelStoragePolicy
  /// For good.
  func deleteChannel(_ id: String) async throws(BroadcastFault)
  /// One send to everybody who listens, tried a few times.
  func send(_ broadcast: OutgoingBroadcast) async throws(BroadcastFault)
}

/// An update or an end of Live Activities as it leaves for APNs. Everything here is already checked.
public struct OutgoingBroadcast: Sendable, Equatable {
  /// `apns-request-id`: a lower-case UUID, kept through every retry.
  public var id: String
  public var channel: String
  public var priority: PushPriority
  /// Seconds since 1970; 0 for those who are there now: a channel that keeps nothing takes no other.
  public var expiration: Int64
  /// UTF-8 JSON, within the limit of broadcasts.
  public var payload: [UInt8]

  public init(id: String, channel: String, priority: PushPriority, expiration: Int64, payload: [UInt8]) {
    self.id = id
    self.channel = channel
    self.priority = priority
    self.expiration = expiration
    self.payload = payload
  }
}

/// Why a request about channels did not do what was asked. Safe to show.
public struct BroadcastFault: Error, Sendable, Equatable {
  public enum Kind: Sendable, Equatable {
    /// APNs has no such channel.
    case noSuchChannel
    /// The push is not what phones, or APNs, take.
    case invalid
    /// APNs said no, in its word.
    case refused(String)
    /// No answer, or none that says more than "later".
    case unavailable
    /// APNs refuses the credential, until somebody acts.
    case held
  }

  public var kind: Kind
  /// A sentence.
  public var meaning: String
  /// A sentence.
  public var remedy: String

  public init(_ kind: Kind, meaning: String, remedy: String) {
    self.kind = kind
    self.meaning = meaning
    self.remedy = remedy
  }
}
