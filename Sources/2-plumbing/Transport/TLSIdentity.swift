import COpenSSL

/// A certificate with its chain and private key. Holds bytes only, so it may be kept and shared freely.
public struct TLSIdentity: Sendable {
  public let certificate: Certificate
  /// Intermediate certificates, DER, in the order to send.
  public let chain: [[UInt8]]
  /// PKCS#8, DER. Secret.
  let privateKey: [UInt8]

  /// Takes what OpenSSL parsed: finds the certificate of the key among `certificates`; the others are the chain.
  init(certificates: [OpaquePointer], key: OpaquePointer) throws(TLSFault) {
    guard let leaf = certificates.first(where: { X509_check_private_key($0, key) == 1 }) else {
      _ = OpenSSLErrors.take()
      guard !certificates.isEmpty else {
        throw TLSFault(
          .certificateMissing, what: "There is a private key but no certificate",
          remedy: "Export certificate and key together.")
      }
      throw TLSFault(
        .keyMismatch, what: "The private key belongs to none of the certificates",
        remedy: "Export the certificate together with the key that it was requested with.")
    }
    _ = OpenSSLErrors.take()
    certificate = try Certificate(leaf)
    chain = certificates.filter { $0 != leaf }.compactMap { other in derBytes { i2d_X509(other, $0) } }
    guard let info = EVP_PKEY2PKCS8(key) else { throw OpenSSLErrors.take().libraryFault("encoding a private key") }
    defer { PKCS8_PRIV_KEY_INFO_free(info) }
    guard let privateKey = derBytes({ i2d_PKCS8_PRIV_KEY_INFO(info, $0) }) else {
      throw OpenSSLErrors.take().libraryFault("encoding a private key")
    }
    self.privateKey = privateKey
  }

  /// Reads PEM text that holds the certificate, its private key and maybe a chain, in any order. `password` opens an
  /// encrypted key.
  public init(pem: [UInt8], password: String? = nil) throws(TLSFault) {
    var certificates: [OpaquePointer] = []
    defer { for certificate in certificates { X509_free(certificate) } }
    withBIO(reading: pem) { bio in
      while let certificate = PEM_read_bio_X509(bio, nil, nil, nil) { certificates.append(certificate) }
    }
    _ = OpenSSLErrors.take()
    guard !certificates.isEmpty else {
      throw TLSFault(
        .certificateMissing, what: "The text holds no certificate",
        remedy: "Give PEM text with a \"BEGIN CERTIFICATE\" block beside the key.")
    }
    guard pem.contains(Array("PRIVATE KEY-----".utf8)) else {
      throw TLSFault(
        .keyMissing, what: "The text holds a certificate but no private key",
        remedy: "Add the \"BEGIN PRIVATE KEY\" block to the same file.")
    }
    guard let key = Self.key(inPEM: pem, password: password) else {
      let errors = OpenSSLErrors.take()
      if errors.mentions("bad password read") {
        throw TLSFault(
          .wrongPassword, what: "The private key is encrypted and no password was given", remedy: "Give its password.")
      }
      if errors.mentions("bad decrypt", "cipherfinal", "wrong final block length") {
        throw TLSFault(
          .wrongPassword, what: "The password does not open the private key", remedy: "Give the password of this file.")
      }
      if errors.mentions("unsupported", "unknown") {
        throw TLSFault(
          .unsupportedEncryption, what: "The private key has a form that OpenSSL does not open (\(errors.text))",
          remedy: "Convert it: openssl pkcs8 -topk8 -in old.pem -out new.pem")
      }
      throw TLSFault(
        .malformed, what: "The private key cannot be read (\(errors.text))", remedy: "Export the key again.")
    }
    defer { EVP_PKEY_free(key) }
    try self.init(certificates: certificates, key: key)
  }

  /// Reads PEM text, or else a .p12 file.
  public init(file bytes: [UInt8], password: String) throws(TLSFault) {
    if bytes.contains(Array("-----BEGIN".utf8)) {
      try self.init(pem: bytes, password: password)
    } else {
      try self.init(pkcs12: bytes, password: password)
    }
  }

  private static func key(inPEM pem: [UInt8], password: String?) -> OpaquePointer? {
    withBIO(reading: pem) { bio in
      guard let password else { return PEM_read_bio_PrivateKey(bio, nil, { _, _, _, _ in -1 }, nil) }
      var phrase = Array(password.utf8CString)
      return phrase.withUnsafeMutableBytes { PEM_read_bio_PrivateKey(bio, nil, nil, $0.baseAddress) }
    }
  }

  /// Certificate, chain and unencrypted key as PEM text. Secret.
  public var pem: [UInt8] {
    var text = certificate.pem
    for der in chain { text += (try? Certificate(der: der).pem) ?? [] }
    return text
      + (withKey { key in bytesWritten { PEM_write_bio_PKCS8PrivateKey($0, key, nil, nil, 0, nil, nil) } } ?? [])
  }

  /// `privateKey` is known to parse: it came from OpenSSL.
  func withKey<Result>(_ body: (OpaquePointer) -> Result) -> Result {
    let key = privateKey.withUnsafeBufferPointer { buffer -> OpaquePointer in
      var cursor = buffer.baseAddress
      return d2i_AutoPrivateKey(nil, &cursor, buffer.count)!
    }
    defer { EVP_PKEY_free(key) }
    return body(key)
  }

  /// The chain as OpenSSL wants it; freed after `body`.
  func withChain<Result>(_ body: (OpaquePointer) -> Result) -> Result {
    let stack = OPENSSL_sk_new_null()!
    defer {
      while let certificate = OPENSSL_sk_pop(stack) { X509_free(OpaquePointer(certificate)) }
      OPENSSL_sk_free(stack)
    }
    for der in chain {
      der.withUnsafeBufferPointer { buffer in
        var cursor = buffer.baseAddress
        if let certificate = d2i_X509(nil, &cursor, buffer.count) {
          OPENSSL_sk_push(stack, UnsafeRawPointer(certificate))
        }
      }
    }
    return body(stack)
  }
}
