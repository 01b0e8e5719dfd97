public import Transport

/// What an operator may want to know of a client. Holds no secret and no device token.
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
  /// The client certificate ends within 30 days; said once by each client (case C28).
  case certificateEnding(String)
}

/// A client at one moment.
public struct APNSClientHealth: Sendable, Equatable {
  /// Connections that APNs has greeted.
  public var connections: Int
  /// Pushes without an outcome, among them those that wait.
  public var unfinished: Int
  /// Pushes that wait for a stream.
  public var waiting: Int
  /// Why pushes are held, nil if they are not.
  public var held: String?
  /// The last connection that failed, with its address.
  public var lastFault: TransportFault?
}
