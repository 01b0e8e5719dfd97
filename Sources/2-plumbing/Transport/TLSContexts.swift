/// A client's certificate as the handshake saw it.
public struct PeerCertificate: Hashable, Sendable {
  public let der: [UInt8]
  /// nil when the chain leads to the authorities that the server was given and is valid now; else OpenSSL's words.
  public let verifyError: String?
}

/// How a server speaks TLS (1.2 and 1.3). May be shared by any number of listeners.
public final class TLSServerContext: Sendable {
  public enum ClientCertificates: Hashable, Sendable {
    case none
    /// Asked for, not required, of any authority: the handler judges. `authorities` (PEM) decide `verifyError`.
    case optional(authorities: [UInt8])
  }

  public init(identity: TLSIdentity, clientCertificates: ClientCertificates = .none) throws(TLSFault) {
    fatalError("coming")
  }
}

/// How a client speaks TLS (1.2 and 1.3). The server's chain, dates and name are always checked.
public final class TLSClientContext: Sendable {
  public enum Trust: Hashable, Sendable {
    /// The machine's certificate store.
    case system
    /// Only these authorities.
    case pem([UInt8])
  }

  /// `offersH2` false sends no ALPN at all, as some APNs clients do.
  public init(trust: Trust, identity: TLSIdentity? = nil, offersH2: Bool = true) throws(TLSFault) {
    fatalError("coming")
  }
}
