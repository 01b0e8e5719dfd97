import COpenSSL

extension TLSIdentity {
  /// Reads a .p12 file, also the RC2-40 and 3DES ones of older Macs (case C28). A wrong password is told apart from an
  /// encryption that this machine's OpenSSL does not open.
  public init(pkcs12: [UInt8], password: String) throws(TLSFault) {
    try self.init(pkcs12: pkcs12, password: password, library: LegacyLibrary(hasLegacy: true))
  }

  init(pkcs12: [UInt8], password: String, library: LegacyLibrary) throws(TLSFault) {
    guard let file = library.decode(pkcs12) else {
      _ = OpenSSLErrors.take()
      throw TLSFault(
        .malformed, what: "This is no PKCS#12 (.p12) file",
        remedy: "Export certificate and key as .p12 again; a file that opens as text is PEM.")
    }
    defer { PKCS12_free(file) }
    var key: OpaquePointer?
    var leaf: OpaquePointer?
    var others: OpaquePointer?
    ERR_clear_error()
    let opened = PKCS12_parse(file, password, &key, &leaf, &others)
    defer {
      if let key { EVP_PKEY_free(key) }
      if let leaf { X509_free(leaf) }
      if let others {
        while let certificate = OPENSSL_sk_pop(others) { X509_free(OpaquePointer(certificate)) }
        OPENSSL_sk_free(others)
      }
    }
    guard opened == 1 else { throw Self.fault(OpenSSLErrors.take(), hasLegacy: library.hasLegacy) }
    _ = OpenSSLErrors.take()
    var certificates: [OpaquePointer] = leaf.map { [$0] } ?? []
    if let others {
      certificates += (0..<max(0, OPENSSL_sk_num(others))).compactMap { index in
        OPENSSL_sk_value(others, index).map { OpaquePointer($0) }
      }
    }
    guard let key else {
      throw TLSFault(
        .keyMissing, what: "The .p12 file holds no private key",
        remedy: "In Keychain Access select the certificate with its key, then export both.")
    }
    try self.init(certificates: certificates, key: key)
  }

  private static func fault(_ errors: OpenSSLErrors, hasLegacy: Bool) -> TLSFault {
    if errors.mentions("unsupported", "unknown digest", "unknown pbe") {
      let cause = hasLegacy ? errors.text : "this OpenSSL has no legacy provider; \(errors.text)"
      return TLSFault(
        .unsupportedEncryption, what: "The .p12 file is encrypted in a way that cannot be opened here (\(cause))",
        remedy: "Convert it: openssl pkcs12 -legacy -in old.p12 -nodes | openssl pkcs12 -export -out new.p12")
    }
    if errors.mentions("mac verify failure", "mac verify error", "bad decrypt", "cipherfinal error") {
      return TLSFault(
        .wrongPassword, what: "The password does not open the .p12 file",
        remedy: "Give the password that was typed when it was exported; it may be empty.")
    }
    return TLSFault(.malformed, what: "The .p12 file cannot be read (\(errors.text))", remedy: "Export it again.")
  }

  public enum PKCS12Encryption: Hashable, Sendable {
    case aes256
    /// RC2-40 for certificates, 3DES for the key, SHA-1: what Keychain Access of older Macs wrote. For tests.
    case legacy
  }

  /// A .p12 file. Secret.
  public func pkcs12(password: String, encryption: PKCS12Encryption = .aes256) throws(TLSFault) -> [UInt8] {
    let library = LegacyLibrary(hasLegacy: true)
    let file = withKey { key in
      certificate.withParsed { certificate in
        withChain { chain -> [UInt8]? in
          let (keyCipher, certificateCipher) =
            switch encryption {
            case .aes256: (NID_aes_256_cbc, NID_aes_256_cbc)
            case .legacy: (NID_pbe_WithSHA1And3_Key_TripleDES_CBC, NID_pbe_WithSHA1And40BitRC2_CBC)
            }
          let made = PKCS12_create_ex(
            password, self.certificate.commonName, key, certificate, chain, keyCipher, certificateCipher, 2048, -1, 0,
            library.context, nil)
          guard let made else { return nil }
          defer { PKCS12_free(made) }
          let digest = encryption == .legacy ? EVP_sha1() : EVP_sha256()
          guard PKCS12_set_mac(made, password, -1, nil, 0, 2048, digest) == 1 else { return nil }
          return derBytes { i2d_PKCS12(made, $0) }
        }
      }
    }
    guard let file else { throw OpenSSLErrors.take().libraryFault("writing a .p12 file") }
    return file
  }
}

/// A corner of OpenSSL of its own where ciphers of the past may be used: nothing else in the process sees them.
final class LegacyLibrary {
  let context: OpaquePointer?
  private let providers: [OpaquePointer]
  let hasLegacy: Bool

  /// Without `hasLegacy` as on a machine whose OpenSSL was built without the legacy provider.
  init(hasLegacy wanted: Bool) {
    context = OSSL_LIB_CTX_new()
    let legacy = wanted ? OSSL_PROVIDER_load(context, "legacy") : nil
    hasLegacy = legacy != nil
    providers = [OSSL_PROVIDER_load(context, "default"), legacy].compactMap { $0 }
    ERR_clear_error()
  }

  deinit {
    for provider in providers { OSSL_PROVIDER_unload(provider) }
    OSSL_LIB_CTX_free(context)
  }

  func decode(_ bytes: [UInt8]) -> OpaquePointer? {
    var file: OpaquePointer? = PKCS12_init_ex(NID_pkcs7_data, context, nil)
    let decoded = bytes.withUnsafeBufferPointer { buffer -> OpaquePointer? in
      var cursor = buffer.baseAddress
      return d2i_PKCS12(&file, &cursor, buffer.count)
    }
    return decoded
  }
}
