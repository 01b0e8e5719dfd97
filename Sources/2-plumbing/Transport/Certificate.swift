public import Basics
import COpenSSL

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// What one X.509 certificate says. Reading it does not judge it.
public struct Certificate: Hashable, Sendable {
  public let der: [UInt8]
  public let notBefore: Instant
  public let notAfter: Instant
  public let commonName: String?
  /// The subject's UID (0.9.2342.19200300.100.1.1): the bundle id in Apple's push certificates.
  public let userID: String?
  /// The whole subject: `CN=…, UID=…`.
  public let subject: String
  public let issuer: String
  /// Values of extensions by dotted OID: the DER inside the octet string.
  public let extensions: [String: [UInt8]]
  /// DNS names and addresses that it is for.
  public let names: [String]
  /// SHA-256 over `der`: `AB:CD:…`.
  public let fingerprint: String

  public init(der: [UInt8]) throws(TLSFault) {
    let parsed = der.withUnsafeBufferPointer { buffer -> OpaquePointer? in
      var cursor = buffer.baseAddress
      guard let certificate = d2i_X509(nil, &cursor, buffer.count) else { return nil }
      guard cursor == buffer.baseAddress.map({ $0 + buffer.count }) else {
        X509_free(certificate)
        return nil
      }
      return certificate
    }
    guard let parsed else {
      throw TLSFault(
        .malformed, what: "This is no X.509 certificate (\(OpenSSLErrors.take().text))",
        remedy: "Give the certificate in DER form, or as PEM text.")
    }
    defer { X509_free(parsed) }
    try self.init(parsed)
  }

  /// The first certificate in PEM text.
  public init(pem: [UInt8]) throws(TLSFault) {
    guard let parsed = withBIO(reading: pem, { PEM_read_bio_X509($0, nil, nil, nil) }) else {
      _ = OpenSSLErrors.take()
      throw TLSFault(
        .certificateMissing, what: "The text holds no certificate",
        remedy: "Give PEM text with a \"BEGIN CERTIFICATE\" block.")
    }
    defer { X509_free(parsed) }
    try self.init(parsed)
  }

  init(_ parsed: OpaquePointer) throws(TLSFault) {
    guard let der = derBytes({ i2d_X509(parsed, $0) }), let notBefore = instant(X509_get0_notBefore(parsed)),
      let notAfter = instant(X509_get0_notAfter(parsed)), let subject = X509_get_subject_name(parsed),
      let issuer = X509_get_issuer_name(parsed)
    else {
      throw TLSFault(
        .malformed, what: "The certificate has no readable subject or dates (\(OpenSSLErrors.take().text))",
        remedy: "Ask its issuer for a new one.")
    }
    self.der = der
    self.notBefore = notBefore
    self.notAfter = notAfter
    commonName = entry(NID_commonName, of: subject)
    userID = entry(NID_userId, of: subject)
    self.subject = text(of: subject)
    self.issuer = text(of: issuer)
    extensions = readExtensions(parsed)
    names = readNames(parsed)
    fingerprint = sha256Fingerprint(der)
  }

  public var pem: [UInt8] {
    withParsed { certificate in bytesWritten { PEM_write_bio_X509($0, certificate) } } ?? []
  }

  /// `der` is known to parse: it came from OpenSSL.
  func withParsed<Result>(_ body: (OpaquePointer) -> Result) -> Result {
    let parsed = der.withUnsafeBufferPointer { buffer -> OpaquePointer in
      var cursor = buffer.baseAddress
      return d2i_X509(nil, &cursor, buffer.count)!
    }
    defer { X509_free(parsed) }
    return body(parsed)
  }
}

private func instant(_ time: UnsafePointer<ASN1_TIME>?) -> Instant? {
  var calendar = tm()
  guard let time, ASN1_TIME_to_tm(time, &calendar) == 1 else { return nil }
  return Instant(seconds: Int64(timegm(&calendar)))
}

private func utf8(_ value: UnsafePointer<ASN1_STRING>?) -> String? {
  var memory: UnsafeMutablePointer<UInt8>?
  guard let value else { return nil }
  let length = ASN1_STRING_to_UTF8(&memory, value)
  guard length >= 0, let memory else { return nil }
  defer { CRYPTO_free(memory, nil, 0) }
  return String(decoding: UnsafeBufferPointer(start: memory, count: Int(length)), as: UTF8.self)
}

private func entry(_ kind: Int32, of name: OpaquePointer) -> String? {
  let index = X509_NAME_get_index_by_NID(name, kind, -1)
  guard index >= 0, let entry = X509_NAME_get_entry(name, index) else { return nil }
  return utf8(X509_NAME_ENTRY_get_data(entry))
}

private func text(of name: OpaquePointer) -> String {
  (0..<X509_NAME_entry_count(name)).compactMap { index -> String? in
    guard let entry = X509_NAME_get_entry(name, index), let value = utf8(X509_NAME_ENTRY_get_data(entry)) else {
      return nil
    }
    let kind = OBJ_obj2nid(X509_NAME_ENTRY_get_object(entry))
    let label = kind == NID_undef ? "?" : kind == NID_userId ? "UID" : String(cString: OBJ_nid2sn(kind))
    return "\(label)=\(value)"
  }.joined(separator: ", ")
}

private func readExtensions(_ certificate: OpaquePointer) -> [String: [UInt8]] {
  var extensions: [String: [UInt8]] = [:]
  for index in 0..<max(0, X509_get_ext_count(certificate)) {
    guard let item = X509_get_ext(certificate, index), let object = X509_EXTENSION_get_object(item),
      let value = X509_EXTENSION_get_data(item)
    else { continue }
    var oid = [CChar](repeating: 0, count: 128)
    let length = OBJ_obj2txt(&oid, Int32(oid.count), object, 1)
    guard length > 0, Int(length) < oid.count else { continue }
    let name = String(decoding: oid[..<Int(length)].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    extensions[name] = Array(
      UnsafeBufferPointer(start: ASN1_STRING_get0_data(value), count: Int(ASN1_STRING_length(value))))
  }
  return extensions
}

private func readNames(_ certificate: OpaquePointer) -> [String] {
  guard let raw = X509_get_ext_d2i(certificate, NID_subject_alt_name, nil, nil) else { return [] }
  let stack = OpaquePointer(raw)
  defer { GENERAL_NAMES_free(stack) }
  return (0..<max(0, OPENSSL_sk_num(stack))).compactMap { index in
    guard let item = OPENSSL_sk_value(stack, index) else { return nil }
    var kind: Int32 = 0
    let value = GENERAL_NAME_get0_value(item.assumingMemoryBound(to: GENERAL_NAME.self), &kind)
    guard let value else { return nil }
    let string = value.assumingMemoryBound(to: ASN1_STRING.self)
    let bytes = Array(UnsafeBufferPointer(start: ASN1_STRING_get0_data(string), count: Int(ASN1_STRING_length(string))))
    switch kind {
    case GEN_DNS: return String(decoding: bytes, as: UTF8.self)
    case GEN_IPADD: return addressText(bytes)
    default: return nil
    }
  }
}

private func addressText(_ bytes: [UInt8]) -> String? {
  var text = [CChar](repeating: 0, count: 64)
  let family = bytes.count == 4 ? AF_INET : AF_INET6
  guard bytes.count == 4 || bytes.count == 16, inet_ntop(family, bytes, &text, socklen_t(text.count)) != nil else {
    return nil
  }
  return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

/// SHA-256 (FIPS 180-4).
func sha256(_ bytes: [UInt8]) -> [UInt8] {
  var digest = [UInt8](repeating: 0, count: 32)
  EVP_Digest(bytes, bytes.count, &digest, nil, EVP_sha256(), nil)
  return digest
}

/// `AB:CD:…`.
func sha256Fingerprint(_ bytes: [UInt8]) -> String {
  sha256(bytes).map { [$0].hex.uppercased() }.joined(separator: ":")
}
