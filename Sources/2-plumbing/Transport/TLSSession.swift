import CLibraryShims
import COpenSSL

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// TLS between memory and memory: sealed bytes of the peer go in, plain bytes come out, and the other way round. Keeps
/// nothing of its own; OpenSSL keeps an unfinished record at most. On one loop.
final class TLSSession {
  enum Step {
    /// Something is done; there may be more.
    case progress(Int)
    case needsInput
    /// The peer said close_notify.
    case ended
    case failed(OpenSSLErrors)
  }

  private let ssl: OpaquePointer
  /// Kept for its ALPN callback's sake.
  private let owner: AnyObject
  /// What OpenSSL reads next; set for the time of one call.
  private var input = UnsafeRawBufferPointer(start: nil, count: 0)
  /// What OpenSSL wrote; the caller takes it after each call. Belongs to the loop.
  private let sealed: SealedOutput

  /// For a connection that came in.
  init?(server: TLSServerContext, sealed: SealedOutput) {
    guard let ssl = SSL_new(server.context) else { return nil }
    self.ssl = ssl
    owner = server
    self.sealed = sealed
    guard attachBIO() else { return nil }
    SSL_set_accept_state(ssl)
  }

  /// For a connection to `host`, whose certificate must name it.
  init?(client: TLSClientContext, host: String, sealed: SealedOutput) {
    guard let ssl = SSL_new(client.context) else { return nil }
    self.ssl = ssl
    owner = client
    self.sealed = sealed
    guard attachBIO() else { return nil }
    SSL_set_connect_state(ssl)
    if X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host) != 1 {
      ERR_clear_error()
      guard SSL_set1_host(ssl, host) == 1, belfry_SSL_set_tlsext_host_name(ssl, host) == 1 else { return nil }
    }
  }

  deinit { SSL_free(ssl) }

  private func attachBIO() -> Bool {
    guard let bio = BIO_new(loopBIOMethod) else { return false }
    BIO_set_data(bio, Unmanaged.passUnretained(self).toOpaque())
    BIO_set_init(bio, 1)
    SSL_set_bio(ssl, bio, bio)  // takes both references
    return true
  }

  // MARK: Steps

  /// Gives OpenSSL the peer's bytes for the time of `body`, which must step until `needsInput`, `ended` or `failed`.
  func withInput(_ bytes: UnsafeRawBufferPointer, _ body: () -> Void) {
    input = bytes
    body()
    input = UnsafeRawBufferPointer(start: nil, count: 0)
  }

  func shakeHands() -> Step {
    ERR_clear_error()
    let result = SSL_do_handshake(ssl)
    return result == 1 ? .progress(0) : verdict(result)
  }

  func read(into plain: UnsafeMutableRawBufferPointer) -> Step {
    ERR_clear_error()
    let result = SSL_read(ssl, plain.baseAddress, Int32(clamping: plain.count))
    return result > 0 ? .progress(Int(result)) : verdict(result)
  }

  /// Seals all of `plain`, which must not be empty, in records of 16 KiB.
  func write(_ plain: UnsafeRawBufferPointer) -> Step {
    ERR_clear_error()
    var done = 0
    while done < plain.count {
      let result = SSL_write(ssl, plain.baseAddress! + done, Int32(clamping: plain.count - done))
      guard result > 0 else { return verdict(result) }
      done += Int(result)
    }
    return .progress(done)
  }

  /// Writes close_notify.
  func sayGoodbye() {
    ERR_clear_error()
    _ = SSL_shutdown(ssl)
    ERR_clear_error()
  }

  private func verdict(_ result: Int32) -> Step {
    switch SSL_get_error(ssl, result) {
    case SSL_ERROR_WANT_READ: .needsInput
    case SSL_ERROR_ZERO_RETURN: .ended
    default: .failed(OpenSSLErrors.take())
    }
  }

  // MARK: Facts after the handshake

  var negotiatedProtocol: String? {
    var name: UnsafePointer<UInt8>?
    var length: UInt32 = 0
    SSL_get0_alpn_selected(ssl, &name, &length)
    guard let name, length > 0 else { return nil }
    return String(decoding: UnsafeBufferPointer(start: name, count: Int(length)), as: UTF8.self)
  }

  /// Server: the name that the client asked for (SNI, RFC 6066 §3); nil when it named none.
  var serverName: String? {
    SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name).map { String(cString: $0) }
  }

  var peerCertificate: PeerCertificate? {
    guard let certificate = SSL_get1_peer_certificate(ssl) else { return nil }
    defer { X509_free(certificate) }
    guard let der = derBytes({ i2d_X509(certificate, $0) }) else { return nil }
    let result = SSL_get_verify_result(ssl)
    let error = result == X509_V_OK ? nil : String(cString: X509_verify_cert_error_string(result))
    return PeerCertificate(der: der, verifyError: error)
  }

  // MARK: Faults

  /// Why the handshake failed, in words that help.
  func handshakeFault(_ errors: OpenSSLErrors, at place: String) -> TransportFault {
    let result = SSL_get_verify_result(ssl)
    if errors.mentions("certificate verify failed"), result != X509_V_OK {
      return verifyFault(result, at: place)
    }
    if let refusal = refusal(errors, at: place) { return refusal }
    if errors.mentions(
      "wrong version number", "http request", "packet length too long", "unexpected message", "bad record")
    {
      return TransportFault(
        .handshakeFailed, at: place, what: "the peer sent bytes that are no TLS (\(errors.text))",
        remedy: "Check that both ends mean the same port, and that both or neither speak TLS.")
    }
    return TransportFault(
      .handshakeFailed, at: place, what: "the TLS handshake failed (\(errors.text))",
      remedy: "Check that both ends speak TLS 1.2 or 1.3.")
  }

  /// Why TLS broke after the handshake; in TLS 1.3 a client learns only then that its certificate is refused.
  func laterFault(_ errors: OpenSSLErrors, at place: String) -> TransportFault {
    refusal(errors, at: place)
      ?? TransportFault(
        .connectionLost, at: place, what: "TLS broke (\(errors.text))",
        remedy: "Try again; if it repeats, look for a middlebox.")
  }

  private func refusal(_ errors: OpenSSLErrors, at place: String) -> TransportFault? {
    guard errors.mentions("alert") else { return nil }
    if errors.mentions("alert no application protocol") {
      return TransportFault(
        .applicationProtocolRefused, at: place, what: "the server does not speak HTTP/2 (ALPN h2)",
        remedy: "Check host and port: APNs listens on 443 and 2197.")
    }
    if errors.mentions("certificate", "unknown ca", "access denied") {
      return TransportFault(
        .certificateRefused, at: place, what: "the peer refused our certificate (\(errors.text))",
        remedy: "Check that it is valid, not revoked, and of an authority that the peer trusts.")
    }
    return nil
  }

  private func verifyFault(_ result: Int, at place: String) -> TransportFault {
    let words = String(cString: X509_verify_cert_error_string(result))
    switch Int32(clamping: result) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return TransportFault(
        .certificateExpired, at: place, what: "the server's certificate has expired",
        remedy: "Renew it on the server; if it is valid, set this machine's clock.")
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return TransportFault(
        .certificateNotYetValid, at: place, what: "the server's certificate is not valid yet",
        remedy: "Set this machine's clock, or use the certificate once its time has come.")
    case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH:
      return TransportFault(
        .certificateNameMismatch, at: place, what: "the server's certificate is for another name (\(words))",
        remedy: "Connect by a name that the certificate lists, or issue one for this name.")
    default:
      return TransportFault(
        .certificateUntrusted, at: place, what: "the server's certificate is not trusted (\(words))",
        remedy: "Give the authority that issued it (--ca FILE), or install it in the system.")
    }
  }

  // MARK: The BIO

  fileprivate func take(into memory: UnsafeMutableRawPointer, _ count: Int) -> Int {
    let taken = min(count, input.count)
    guard taken > 0 else { return 0 }
    memory.copyMemory(from: input.baseAddress!, byteCount: taken)
    input = UnsafeRawBufferPointer(rebasing: input[taken...])
    return taken
  }

  fileprivate func give(_ memory: UnsafeRawPointer, _ count: Int) {
    sealed.append(UnsafeRawBufferPointer(start: memory, count: count))
  }
}

/// Bytes on their way from OpenSSL to the socket; one per loop, empty between calls.
final class SealedOutput {
  private var memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 80 * 1024, alignment: 16)
  private(set) var count = 0

  deinit { memory.deallocate() }

  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: memory[..<count]) }

  func append(_ bytes: UnsafeRawBufferPointer) {
    if count + bytes.count > memory.count {
      let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: 2 * (count + bytes.count), alignment: 16)
      larger.copyMemory(from: self.bytes)
      memory.deallocate()
      memory = larger
    }
    UnsafeMutableRawBufferPointer(rebasing: memory[count...]).copyMemory(from: bytes)
    count += bytes.count
  }

  func clear() { count = 0 }
}

/// A BIO that reads from and writes to the `TLSSession` it carries.
nonisolated(unsafe) private let loopBIOMethod: OpaquePointer? = {  // made once, never changed
  let method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "belfry loop")
  BIO_meth_set_read(method) { bio, memory, count in
    belfry_BIO_clear_retry_flags(bio!)
    let session = Unmanaged<TLSSession>.fromOpaque(BIO_get_data(bio)).takeUnretainedValue()
    let taken = session.take(into: memory!, Int(count))
    guard taken > 0 else {
      belfry_BIO_set_retry_read(bio!)
      return -1
    }
    return Int32(taken)
  }
  BIO_meth_set_write(method) { bio, memory, count in
    belfry_BIO_clear_retry_flags(bio!)
    Unmanaged<TLSSession>.fromOpaque(BIO_get_data(bio)).takeUnretainedValue().give(memory!, Int(count))
    return count
  }
  BIO_meth_set_ctrl(method) { _, command, _, _ in
    command == BIO_CTRL_FLUSH ? 1 : 0
  }
  return method
}()
