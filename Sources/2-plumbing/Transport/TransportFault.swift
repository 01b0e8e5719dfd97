/// Why bytes could not travel, in a form that a person can act on and a program can branch on. Holds no secret.
public struct TransportFault: Error, Hashable, Sendable, CustomStringConvertible {
  public enum Kind: Hashable, Sendable {
    /// Another program listens there.
    case addressInUse
    /// The machine has no such address.
    case addressNotAvailable
    /// The port is below 1024 or guarded by policy.
    case permissionDenied
    /// The name has no address.
    case nameNotFound
    /// Nobody listens there.
    case connectionRefused
    /// No route, network down.
    case unreachable
    /// The peer was silent for too long; the phase says while what.
    case timedOut(Phase)
    /// The peer vanished or reset the connection.
    case connectionLost
    /// The peer ended the connection in order.
    case closedByPeer
    /// The peer's certificate is past its `notAfter`.
    case certificateExpired
    /// The peer's certificate is before its `notBefore`; or this machine's clock is wrong.
    case certificateNotYetValid
    /// No path to a trusted authority.
    case certificateUntrusted
    /// The certificate names another host.
    case certificateNameMismatch
    /// The peer refused our certificate (TLS alert).
    case certificateRefused
    /// TLS failed in another way, among them bytes that are no TLS at all.
    case handshakeFailed
    /// The peer speaks TLS but does not take `h2`.
    case applicationProtocolRefused
    /// The proxy wants a user and password, or others.
    case proxyAuthentication
    /// The proxy forbids the place, or cannot reach it.
    case proxyRefused
    /// HTTP/2 or WebSocket rules broken by the peer.
    case protocolViolation
    /// The peer went over a limit of ours.
    case limitExceeded
    /// No file descriptors left.
    case outOfDescriptors
    /// We closed it: `close()`, `stop()`.
    case stopped
    /// Anything else the system said.
    case system
  }

  public enum Phase: String, Hashable, Sendable {
    case connecting, proxy, handshake, request, idle, writing, ping, settings
  }

  public let kind: Kind
  /// The address or file: `127.0.0.1:8443`.
  public let place: String
  /// What happened, without a full stop.
  public let what: String
  /// What to do next; a whole sentence.
  public let remedy: String

  public init(_ kind: Kind, at place: String, what: String, remedy: String) {
    self.kind = kind
    self.place = place
    self.what = what
    self.remedy = remedy
  }

  /// One line for a terminal or a log.
  public var description: String { "\(place): \(what). \(remedy)" }
}

/// Why a certificate or key cannot be used. Holds no secret.
public struct TLSFault: Error, Hashable, Sendable, CustomStringConvertible {
  public enum Kind: Hashable, Sendable {
    case wrongPassword
    /// The file is encrypted with something this machine's OpenSSL does not open.
    case unsupportedEncryption
    case malformed
    case certificateMissing
    case keyMissing
    /// The private key belongs to another certificate.
    case keyMismatch
    /// OpenSSL failed in a way that is not the input's fault.
    case library
  }

  public let kind: Kind
  /// What was found, without a full stop.
  public let what: String
  /// What to do next; a whole sentence.
  public let remedy: String

  public init(_ kind: Kind, what: String, remedy: String) {
    self.kind = kind
    self.what = what
    self.remedy = remedy
  }

  public var description: String { "\(what). \(remedy)" }
}
