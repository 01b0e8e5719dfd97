public import Basics
public import PushPayload

/// A push as it leaves for APNs: one token, one body, all headers. Everything here is already checked.
public struct OutgoingPush: Sendable, Equatable {
  /// `apns-id`: a lower-case UUID, kept through every retry.
  public var id: String
  /// Raw bytes; hex in the path.
  public var token: [UInt8]
  /// With the suffix its push type wants.
  public var topic: String
  public var pushType: PushType
  public var priority: PushPriority
  /// Seconds since 1970; 0 for one attempt; nil leaves it to APNs (30 days).
  public var expiration: Int64?
  /// At most 64 bytes of UTF-8.
  public var collapseID: String?
  /// UTF-8 JSON, within the limit of its push type.
  public var payload: [UInt8]

  public init(
    id: String, token: [UInt8], topic: String, pushType: PushType, priority: PushPriority, expiration: Int64?,
    collapseID: String?, payload: [UInt8]
  ) {
    self.id = id
    self.token = token
    self.topic = topic
    self.pushType = pushType
    self.priority = priority
    self.expiration = expiration
    self.collapseID = collapseID
    self.payload = payload
  }
}

/// What became of a push. An answer is a value; only `unanswered` leaves doubt whether the phone saw it.
public enum PushOutcome: Sendable, Equatable {
  /// APNs took it. `uniqueID` is `apns-unique-id`, which only the sandbox gives.
  case accepted(uniqueID: String?)
  case refused(Refusal)
  /// No answer before it expired or the retries ran out; APNs may have delivered it.
  case unanswered(Cause)

  public struct Refusal: Sendable, Equatable {
    /// HTTP status.
    public var status: Int
    /// Apple's word, kept even when we do not know it; empty when the answer had none.
    public var reason: String
    /// Only with 410: since when the token is dead.
    public var since: Instant?
    /// What exactly is wrong and what to do, in the lint's words, of a push that was not sent because APNs was certain to
    /// refuse it; nil for what APNs itself said.
    public var explanation: String?
    public init(status: Int, reason: String, since: Instant?, explanation: String? = nil) {
      self.status = status
      self.reason = reason
      self.since = since
      self.explanation = explanation
    }
  }

  public enum Cause: Sendable, Equatable {
    case expired
    case retriesExhausted(String)
    case closed
    case cancelled
    /// Never left: the credential is refused or unreadable; the push waits for an operator (case C26).
    case suspended(String)
  }
}

/// Sends pushes of one app in one environment. `APNSClient` implements it; `belfry` joins the two.
public protocol PushSender: Sendable {
  /// Sends all and answers one outcome each, in order. Returns once every push ended; suspends while no stream is free,
  /// so that a caller with batches of bounded size runs in constant memory. Cancelling waits for what already left.
  func send(_ batch: [OutgoingPush]) async -> [PushOutcome]

  /// The same for pushes that lie ready in memory, from where they may leave without being copied. Default: the other.
  func send(_ batch: PushBatch) async -> [PushOutcome]
}

extension PushSender {
  public func send(_ batch: PushBatch) async -> [PushOutcome] {
    await send((0..<batch.count).map { batch.push(at: $0) })
  }
}
