import CLibraryShims
import COpenSSL

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A client's certificate as the handshake saw it.
public struct PeerCertificate: Hashable, Sendable {
  public let der: [UInt8]
  /// nil when the chain leads to the authorities that the server was given and is valid now; else OpenSSL's words.
  public let verifyError: String?
}

/// How a server speaks TLS (1.2 and 1.3). May be shared by any number of listeners. Takes clients without ALPN; those
/// that offer protocols but none of ours are refused with the alert `no_application_protocol` (RFC 7301 §3.2).
public final class TLSServerContext: Sendable {
  public enum ClientCertificates: Hashable, Sendable {
    case none
    /// Asked for, not required, of any authority: the handler judges. `authorities` (PEM) decide `verifyError`.
    case optional(authorities: [UInt8])
  }

  nonisolated(unsafe) let context: OpaquePointer  // complete before anyone else sees it; OpenSSL locks inside
  /// In the form of ALPN: a length byte before each name.
  let protocols: [UInt8]

  /// `protocols` by preference; HTTP/2 is `h2`.
  public init(
    identity: TLSIdentity, clientCertificates: ClientCertificates = .none, protocols: [String] = ["h2"]
  ) throws(TLSFault) {
    context = try newContext(TLS_server_method(), identity: identity)
    self.protocols = alpnForm(protocols)
    switch clientCertificates {
    case .none: break
    case .optional(let authorities):
      try trust(authorities, in: context)
      SSL_CTX_set_verify(context, SSL_VERIFY_PEER) { _, _ in 1 }  // judged by the handler
    }
    SSL_CTX_set_alpn_select_cb(context, selectProtocol, Unmanaged.passUnretained(self).toOpaque())
  }

  deinit { SSL_CTX_free(context) }
}

/// How a client speaks TLS (1.2 and 1.3). The server's chain, dates and name are always checked.
public final class TLSClientContext: Sendable {
  public enum Trust: Hashable, Sendable {
    /// The machine's certificate store.
    case system
    /// Only these authorities.
    case pem([UInt8])
  }

  nonisolated(unsafe) let context: OpaquePointer  // complete before anyone else sees it; OpenSSL locks inside
  let offersH2: Bool

  /// `offersH2` false sends no ALPN at all, as some APNs clients do.
  public init(trust: Trust, identity: TLSIdentity? = nil, offersH2: Bool = true) throws(TLSFault) {
    context = try newContext(TLS_client_method(), identity: identity)
    self.offersH2 = offersH2
    switch trust {
    case .system:
      guard SSL_CTX_set_default_verify_paths(context) == 1 else {
        throw OpenSSLErrors.take().libraryFault("reading the system's authorities")
      }
    case .pem(let authorities): try Transport.trust(authorities, in: context)
    }
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
    if offersH2 {
      let offer = alpnForm(["h2"])
      SSL_CTX_set_alpn_protos(context, offer, UInt32(offer.count))
    }
  }

  deinit { SSL_CTX_free(context) }
}

private func alpnForm(_ names: [String]) -> [UInt8] {
  names.flatMap { name in [UInt8(clamping: name.utf8.count)] + name.utf8.prefix(255) }
}

private func newContext(_ method: OpaquePointer?, identity: TLSIdentity?) throws(TLSFault) -> OpaquePointer {
  guard let context = SSL_CTX_new(method) else { throw OpenSSLErrors.take().libraryFault("making a TLS context") }
  var done = belfry_SSL_CTX_harden(context) == 1
  if done, let identity {
    done = identity.certificate.withParsed { certificate in
      identity.withKey { key in
        identity.withChain { SSL_CTX_use_cert_and_key(context, certificate, key, $0, 1) == 1 }
      }
    }
  }
  guard done else {
    SSL_CTX_free(context)
    throw OpenSSLErrors.take().libraryFault("preparing TLS")
  }
  return context
}

private func trust(_ authorities: [UInt8], in context: OpaquePointer) throws(TLSFault) {
  let store = SSL_CTX_get_cert_store(context)
  let count = withBIO(reading: authorities) { bio in
    var count = 0
    while let certificate = PEM_read_bio_X509(bio, nil, nil, nil) {
      X509_STORE_add_cert(store, certificate)
      X509_free(certificate)
      count += 1
    }
    return count
  }
  _ = OpenSSLErrors.take()
  guard count > 0 || authorities.isEmpty else {
    throw TLSFault(
      .certificateMissing, what: "The authorities' file holds no certificate",
      remedy: "Give PEM text with \"BEGIN CERTIFICATE\" blocks.")
  }
}

private func selectProtocol(
  _: OpaquePointer?, _ chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
  _ chosenLength: UnsafeMutablePointer<UInt8>?,
  _ offered: UnsafePointer<UInt8>?, _ offeredLength: UInt32, _ server: UnsafeMutableRawPointer?
) -> Int32 {
  guard let chosen, let chosenLength, let offered, let server else { return SSL_TLSEXT_ERR_ALERT_FATAL }
  let ours = Unmanaged<TLSServerContext>.fromOpaque(server).takeUnretainedValue().protocols
  var index = 0
  while index < ours.count {
    let wanted = ours[(index + 1)...].prefix(Int(ours[index]))
    var cursor = 0
    while cursor < Int(offeredLength) {
      let length = Int(offered[cursor])
      guard cursor + 1 + length <= Int(offeredLength) else { return SSL_TLSEXT_ERR_ALERT_FATAL }
      if wanted.elementsEqual(UnsafeBufferPointer(start: offered + cursor + 1, count: length)) {
        chosen.pointee = offered + cursor + 1  // OpenSSL copies it out of the hello
        chosenLength.pointee = UInt8(length)
        return SSL_TLSEXT_ERR_OK
      }
      cursor += 1 + length
    }
    index += 1 + wanted.count
  }
  return SSL_TLSEXT_ERR_ALERT_FATAL
}
