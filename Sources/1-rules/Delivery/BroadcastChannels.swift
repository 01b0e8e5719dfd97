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
  /// One send to everybody who listens; answers `apns-request-id`. `expiration` is in seconds since 1970, 0 for those who are
  /// there now: a channel that keeps nothing takes no other.
  func send(
    _ push: LiveActivityPush, on channel: String, priority: PushPriority, expiration: Int64
  ) async throws(BroadcastFault) -> String
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
    /// No answer, or no credential that APNs takes; later it may be another.
    case unavailable
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
