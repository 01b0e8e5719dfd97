import Basics
import Delivery
import PushPayload
public import Transport

/// What an operator may want to know of a client. Holds no secret and no payload; a device token only shortened.
public enum APNSClientEvent: Sendable, Equatable {
  case connected(Endpoint)
  /// A connection ended; `why` is for a log.
  case disconnected(Endpoint, why: String)
  /// A connection never came to be; the fault names the address (case C40).
  case connectFailed(TransportFault)
  /// Apple's reason, when the GOAWAY had one.
  case goAway(Endpoint, reason: String?)
  /// Pushes are being held until somebody acts; said once for each trouble (cases C26, C27, C28, C37).
  case alarm(String)
  /// APNs did not take a push; it may go again all the same.
  case refused(RefusedPush)
  /// From now on pushes leave by another credential, which APNs has accepted; the words name it.
  case credentialRotated(String)
  /// The client certificate ends within 30, 7 or 1 days; each said once by each client (case C28).
  case certificateEnding(String)
  /// The client certificate is past its end, or before its beginning: pushes are being held; said once by each client.
  case certificateUnusable(String)
}

/// A push that APNs answered with a refusal, for a log.
public struct RefusedPush: Sendable, Equatable {
  /// `apns-id`.
  public var id: String
  /// As it was sent, with its suffix.
  public var topic: String { pushType.completed(topic: bundle) }
  public var status: Int
  /// Apple's word, empty when the answer had none.
  public var reason: String
  private var bundle: String
  private var pushType: PushType
  private var start: UInt32

  /// The device token's first four bytes in hex, and a sign that more follow: `0a1b2c3d…`.
  public var token: String {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: start >> UInt32($0)) }.hex + "…"
  }

  init(_ push: OutgoingPush, _ refusal: PushOutcome.Refusal) {
    id = push.id
    bundle = push.topic
    pushType = push.pushType
    status = refusal.status
    reason = refusal.reason
    start = push.token.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
  }
}

/// A client at one moment.
public struct APNSClientHealth: Sendable, Equatable {
  /// Connections that APNs has greeted.
  public var connections: Int
  /// Pushes without an outcome, among them those that wait.
  public var unfinished: Int
  /// Pushes that wait for a stream.
  public var waiting: Int
  /// PINGs that APNs answered since the start, on connections that had nothing else to say.
  public var answeredPings: Int
  /// Why pushes are held, nil if they are not.
  public var held: String?
  /// The last connection that failed, with its address.
  public var lastFault: TransportFault?
}
