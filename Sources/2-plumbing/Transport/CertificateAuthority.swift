public import Basics
import CLibraryShims
import COpenSSL

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A certificate authority of our own: for the simulator and for tests. Keys are P-256, signatures SHA-256.
public struct CertificateAuthority: Sendable {
  /// Secret; `identity.pem` is what to keep.
  public let identity: TLSIdentity
  public var certificate: Certificate { identity.certificate }
  /// The certificate alone, PEM.
  public var pem: [UInt8] { certificate.pem }
  public var fingerprint: String { certificate.fingerprint }

  /// Takes up an authority that was kept as PEM text with its key.
  public init(pem: [UInt8]) throws(TLSFault) { identity = try TLSIdentity(pem: pem) }

  private init(identity: TLSIdentity) { self.identity = identity }

  public static func create(
    commonName: String, notBefore: Instant, notAfter: Instant
  ) throws(TLSFault) -> CertificateAuthority {
    let draft = try CertificateDraft(
      commonName: commonName, userID: nil, notBefore: notBefore, notAfter: notAfter,
      extensions: [
        (NID_basic_constraints, "critical,CA:TRUE"), (NID_key_usage, "critical,keyCertSign,cRLSign"),
        (NID_subject_key_identifier, "hash"),
      ], raw: [])
    return CertificateAuthority(identity: try draft.signed(by: nil))
  }

  /// A certificate for a TLS server; names are DNS names (`*.example.com` too) or IP addresses.
  public func issueServer(names: [String], notBefore: Instant, notAfter: Instant) throws(TLSFault) -> TLSIdentity {
    var entries: [String] = []
    for name in names {
      if isAddress(name) {
        entries.append("IP:\(name)")
      } else if !name.isEmpty, name.utf8.allSatisfy({ isNameByte($0) }) {
        entries.append("DNS:\(name)")
      } else {
        throw TLSFault(
          .malformed, what: "\"\(name)\" is neither a DNS name nor an IP address",
          remedy: "Use letters, digits, dots and hyphens, or an address without brackets.")
      }
    }
    let draft = try CertificateDraft(
      commonName: names.first ?? "server", userID: nil, notBefore: notBefore, notAfter: notAfter,
      extensions: [
        (NID_basic_constraints, "critical,CA:FALSE"), (NID_key_usage, "critical,digitalSignature"),
        (NID_ext_key_usage, "serverAuth"), (NID_subject_key_identifier, "hash"),
        (NID_authority_key_identifier, "keyid:always"),
      ] + (entries.isEmpty ? [] : [(NID_subject_alt_name, entries.joined(separator: ","))]), raw: [])
    return try draft.signed(by: identity)
  }

  /// A certificate for a TLS client, as Apple's push certificates are: UID is the topic, the rest are extensions.
  public func issueClient(
    commonName: String, userID: String?, extensions: [CertificateExtension] = [], notBefore: Instant, notAfter: Instant
  ) throws(TLSFault) -> TLSIdentity {
    let draft = try CertificateDraft(
      commonName: commonName, userID: userID, notBefore: notBefore, notAfter: notAfter,
      extensions: [
        (NID_basic_constraints, "critical,CA:FALSE"), (NID_key_usage, "critical,digitalSignature"),
        (NID_ext_key_usage, "clientAuth"), (NID_subject_key_identifier, "hash"),
        (NID_authority_key_identifier, "keyid:always"),
      ], raw: extensions)
    return try draft.signed(by: identity)
  }
}

/// An extension by its OID; `der` is the value inside the octet string (`05 00` for NULL).
public struct CertificateExtension: Hashable, Sendable {
  public var oid: String
  public var der: [UInt8]

  public init(oid: String, der: [UInt8]) {
    self.oid = oid
    self.der = der
  }

  /// Markers of Apple's push certificates (spec/apns.md §7).
  public static let appleSandboxPush = CertificateExtension(oid: "1.2.840.113635.100.6.3.1", der: [5, 0])
  public static let appleProductionPush = CertificateExtension(oid: "1.2.840.113635.100.6.3.2", der: [5, 0])
}

private func isAddress(_ text: String) -> Bool {
  var memory = in6_addr()
  return inet_pton(AF_INET, text, &memory) == 1 || inet_pton(AF_INET6, text, &memory) == 1
}

private func isNameByte(_ byte: UInt8) -> Bool {
  byte.isASCIILetterOrDigit || ".-*_".utf8.contains(byte)
}

/// A certificate before its signature.
private struct CertificateDraft {
  var commonName: String
  var userID: String?
  var notBefore: Instant
  var notAfter: Instant
  /// OpenSSL's number and its configuration text.
  var extensions: [(kind: Int32, value: String)]
  var raw: [CertificateExtension]

  init(
    commonName: String, userID: String?, notBefore: Instant, notAfter: Instant,
    extensions: [(kind: Int32, value: String)], raw: [CertificateExtension]
  ) throws(TLSFault) {
    guard (1...64).contains(commonName.unicodeScalars.count) else {
      throw TLSFault(
        .malformed, what: "A common name must have 1 to 64 characters", remedy: "Shorten it (RFC 5280, ub-common-name)."
      )
    }
    self.commonName = commonName
    self.userID = userID
    self.notBefore = notBefore
    self.notAfter = notAfter
    self.extensions = extensions
    self.raw = raw
  }

  /// nil signs itself.
  func signed(by authority: TLSIdentity?) throws(TLSFault) -> TLSIdentity {
    guard let key = belfry_EVP_EC_gen_p256() else { throw OpenSSLErrors.take().libraryFault("making a key") }
    defer { EVP_PKEY_free(key) }
    guard let certificate = X509_new() else { throw OpenSSLErrors.take().libraryFault("making a certificate") }
    defer { X509_free(certificate) }
    let done =
      if let authority {
        authority.certificate.withParsed { issuer in
          authority.withKey { fill(certificate, key: key, issuer: issuer, issuerKey: $0) }
        }
      } else {
        fill(certificate, key: key, issuer: certificate, issuerKey: key)
      }
    guard done else { throw OpenSSLErrors.take().libraryFault("making a certificate") }
    return try TLSIdentity(certificates: [certificate], key: key)
  }

  private func fill(
    _ certificate: OpaquePointer, key: OpaquePointer, issuer: OpaquePointer, issuerKey: OpaquePointer
  ) -> Bool {
    var serial: UInt64 = 0
    guard withUnsafeMutableBytes(of: &serial, { RAND_bytes($0.baseAddress, Int32($0.count)) }) == 1 else {
      return false
    }
    let utf8Text: Int32 = 0x1000  // MBSTRING_UTF8
    guard X509_set_version(certificate, 2) == 1,
      ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial >> 1 | 1) == 1,
      ASN1_TIME_set(X509_getm_notBefore(certificate), time_t(notBefore.seconds)) != nil,
      ASN1_TIME_set(X509_getm_notAfter(certificate), time_t(notAfter.seconds)) != nil,
      X509_set_pubkey(certificate, key) == 1,
      let name = X509_get_subject_name(certificate)
    else { return false }
    if let userID {
      guard X509_NAME_add_entry_by_NID(name, NID_userId, utf8Text, userID, -1, -1, 0) == 1 else { return false }
    }
    guard X509_NAME_add_entry_by_NID(name, NID_commonName, utf8Text, commonName, -1, -1, 0) == 1,
      X509_set_issuer_name(certificate, X509_get_subject_name(issuer)) == 1
    else { return false }
    for (kind, value) in extensions {
      var context = X509V3_CTX()
      X509V3_set_ctx(&context, issuer, certificate, nil, nil, 0)
      belfry_X509V3_set_ctx_nodb(&context)
      guard let item = X509V3_EXT_conf_nid(nil, &context, kind, value) else { return false }
      defer { X509_EXTENSION_free(item) }
      guard X509_add_ext(certificate, item, -1) == 1 else { return false }
    }
    for item in raw { guard add(item, to: certificate) else { return false } }
    return X509_sign(certificate, issuerKey, EVP_sha256()) > 0
  }

  private func add(_ item: CertificateExtension, to certificate: OpaquePointer) -> Bool {
    guard let object = OBJ_txt2obj(item.oid, 1), let value = ASN1_STRING_type_new(V_ASN1_OCTET_STRING) else {
      return false
    }
    defer {
      ASN1_OBJECT_free(object)
      ASN1_STRING_free(value)
    }
    guard ASN1_STRING_set(value, item.der, Int32(clamping: item.der.count)) == 1,
      let made = X509_EXTENSION_create_by_OBJ(nil, object, 0, value)
    else { return false }
    defer { X509_EXTENSION_free(made) }
    return X509_add_ext(certificate, made, -1) == 1
  }
}
