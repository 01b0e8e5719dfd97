internal import COpenSSL

/// Why a key could not be read; safe to show, holds no key material.
public struct KeyFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// What was found, in words.
  public let found: String
  /// What to do next; a whole sentence.
  public let remedy: String

  public var description: String { "\(found). \(remedy)" }
}

/// A private key on the curve P-256, the only kind that signs provider tokens (ES256, RFC 7518 §3.4). Immutable; any
/// thread may sign with it.
public struct P256PrivateKey: Sendable {
  private let key: OpenSSLKey

  /// A new key from OpenSSL's random generator.
  public static func generate() throws(KeyFault) -> P256PrivateKey {
    guard let key = newP256Key() else {
      throw KeyFault(found: "OpenSSL made no P-256 key", remedy: "Check the machine's OpenSSL configuration.")
    }
    return P256PrivateKey(key: OpenSSLKey(owning: key))
  }

  /// Reads the text of a `.p8` file (PKCS#8 PEM). A byte order mark, CRLF and the two characters `\n` where a line
  /// should end, as environment variables make of it, are understood (case C26).
  public init(pem: [UInt8]) throws(KeyFault) {
    key = try OpenSSLKey(pem: pem, isPrivate: true)
  }

  private init(key: OpenSSLKey) { self.key = key }

  /// PKCS#8 PEM, as Apple hands out `.p8` files.
  public var pem: [UInt8] {
    key.pem { bio, pointer in PEM_write_bio_PKCS8PrivateKey(bio, pointer, nil, nil, 0, nil, nil) }
  }

  public var publicKey: P256PublicKey { P256PublicKey(key: key) }

  /// The JOSE form of the signature: r‖s, 64 bytes (RFC 7518 §3.4); nil only when OpenSSL fails.
  public func signature(of message: [UInt8]) -> [UInt8]? {
    guard let der = derSignature(of: message) else { return nil }
    return der.withUnsafeBufferPointer { buffer in
      var cursor = buffer.baseAddress
      guard let parsed = d2i_ECDSA_SIG(nil, &cursor, buffer.count) else { return nil }
      defer { ECDSA_SIG_free(parsed) }
      var raw = [UInt8](repeating: 0, count: 64)
      let written = raw.withUnsafeMutableBufferPointer { raw in
        BN_bn2binpad(ECDSA_SIG_get0_r(parsed), raw.baseAddress, 32) == 32
          && BN_bn2binpad(ECDSA_SIG_get0_s(parsed), raw.baseAddress.map { $0 + 32 }, 32) == 32
      }
      return written ? raw : nil
    }
  }

  /// The ASN.1 form that OpenSSL and Java make (70–72 bytes); Apple takes both.
  public func derSignature(of message: [UInt8]) -> [UInt8]? {
    guard let context = EVP_MD_CTX_new() else { return nil }
    defer { EVP_MD_CTX_free(context) }
    guard EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key.pointer) == 1 else { return nil }
    var length = 80
    var signature = [UInt8](repeating: 0, count: length)
    guard EVP_DigestSign(context, &signature, &length, message, message.count) == 1 else { return nil }
    return Array(signature.prefix(length))
  }
}

/// The half that verifies. Immutable; any thread may verify with it.
public struct P256PublicKey: Sendable {
  fileprivate let key: OpenSSLKey

  fileprivate init(key: OpenSSLKey) { self.key = key }

  /// SubjectPublicKeyInfo PEM.
  public init(pem: [UInt8]) throws(KeyFault) { key = try OpenSSLKey(pem: pem, isPrivate: false) }

  public var pem: [UInt8] { key.pem { bio, pointer in PEM_write_bio_PUBKEY(bio, pointer) } }

  /// SHA-256 over its SubjectPublicKeyInfo: `AB:CD:…`, what `openssl pkey -in key.p8 -pubout -outform DER | sha256sum` says.
  public var fingerprint: String { sha256Fingerprint(derBytes { i2d_PUBKEY(key.pointer, $0) } ?? []) }

  /// Whether `signature` is ours over SHA-256 of `message`, given as r‖s (64 bytes) or as a DER SEQUENCE: real
  /// providers send either (Pushy and Apple's shell recipe send DER).
  public func verifies(_ signature: [UInt8], of message: [UInt8]) -> Bool {
    defer { ERR_clear_error() }
    if signature.count == 64, let der = Self.der(fromRaw: signature), verifies(der: der, of: message) { return true }
    return verifies(der: signature, of: message)
  }

  private func verifies(der: [UInt8], of message: [UInt8]) -> Bool {
    guard let context = EVP_MD_CTX_new() else { return false }
    defer { EVP_MD_CTX_free(context) }
    guard EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key.pointer) == 1 else { return false }
    return EVP_DigestVerify(context, der, der.count, message, message.count) == 1
  }

  private static func der(fromRaw raw: [UInt8]) -> [UInt8]? {
    guard let signature = ECDSA_SIG_new() else { return nil }
    defer { ECDSA_SIG_free(signature) }
    let (r, s) = raw.withUnsafeBufferPointer { bytes in
      (BN_bin2bn(bytes.baseAddress, 32, nil), BN_bin2bn(bytes.baseAddress.map { $0 + 32 }, 32, nil))
    }
    guard let r, let s, ECDSA_SIG_set0(signature, r, s) == 1 else {
      BN_free(r)
      BN_free(s)
      return nil
    }
    var der = [UInt8](repeating: 0, count: 80)
    let length = der.withUnsafeMutableBufferPointer { buffer in
      var cursor = buffer.baseAddress
      return i2d_ECDSA_SIG(signature, &cursor)
    }
    return length > 0 ? Array(der.prefix(Int(length))) : nil
  }
}

/// An EVP_PKEY that frees itself.
private final class OpenSSLKey: @unchecked Sendable {  // never written after init; OpenSSL counts references atomically
  let pointer: OpaquePointer

  init(owning pointer: OpaquePointer) { self.pointer = pointer }

  deinit { EVP_PKEY_free(pointer) }

  convenience init(pem: [UInt8], isPrivate: Bool) throws(KeyFault) {
    let remedy =
      isPrivate
      ? "Give the .p8 file that Apple's developer site hands out (PKCS#8 PEM, EC P-256)."
      : "Give a PEM public key of the curve P-256."
    defer { ERR_clear_error() }
    let text = Self.repaired(pem)
    guard let bio = BIO_new_mem_buf(text, Int32(clamping: text.count)) else {
      throw KeyFault(found: "the key is empty", remedy: remedy)
    }
    defer { BIO_free(bio) }
    let read =
      isPrivate ? PEM_read_bio_PrivateKey(bio, nil, refusePassword, nil) : PEM_read_bio_PUBKEY(bio, nil, nil, nil)
    guard let read else {
      let found =
        text.isEmpty
        ? "the key is empty" : Self.contains(text, "-----BEGIN") ? "the PEM block is no key" : "this is no PEM text"
      throw KeyFault(found: found, remedy: remedy)
    }
    guard EVP_PKEY_is_a(read, "EC") == 1 else {
      let kind = EVP_PKEY_get0_type_name(read).map { String(cString: $0) } ?? "another"
      EVP_PKEY_free(read)
      throw KeyFault(found: "the key is of type \(kind), not EC", remedy: remedy)
    }
    var name = [CChar](repeating: 0, count: 64)
    var length = 0
    let named = EVP_PKEY_get_group_name(read, &name, name.count, &length) == 1
    let curve = named ? String(decoding: name.prefix(length).map(UInt8.init(bitPattern:)), as: UTF8.self) : "unnamed"
    guard curve == "prime256v1" || curve == "P-256" else {
      EVP_PKEY_free(read)
      throw KeyFault(found: "the key is on the curve \(curve), not P-256", remedy: remedy)
    }
    self.init(owning: read)
  }

  func pem(_ write: (OpaquePointer, OpaquePointer) -> Int32) -> [UInt8] {
    guard let bio = BIO_new(BIO_s_mem()) else { return [] }
    defer { BIO_free(bio) }
    guard write(bio, pointer) == 1 else { return [] }
    var text: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 512)
    while true {
      let count = BIO_read(bio, &chunk, Int32(chunk.count))
      guard count > 0 else { return text }
      text += chunk.prefix(Int(count))
    }
  }

  /// Drops a byte order mark and turns the two characters `\n` into a line end.
  private static func repaired(_ pem: [UInt8]) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity(pem.count)
    var rest = pem.starts(with: [0xEF, 0xBB, 0xBF]) ? pem.dropFirst(3) : pem[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "\\"), rest.first == UInt8(ascii: "n") {
        rest = rest.dropFirst()
        text.append(UInt8(ascii: "\n"))
      } else {
        text.append(byte)
      }
    }
    return text
  }

  private static func contains(_ text: [UInt8], _ words: String) -> Bool {
    String(decoding: text, as: UTF8.self).contains(words)
  }
}

/// OpenSSL would ask at the terminal otherwise.
private func refusePassword(
  _: UnsafeMutablePointer<CChar>?, _: Int32, _: Int32, _: UnsafeMutableRawPointer?
) -> Int32 { -1 }

private func newP256Key() -> OpaquePointer? {
  guard let context = EVP_PKEY_CTX_new_from_name(nil, "EC", nil) else { return nil }
  defer { EVP_PKEY_CTX_free(context) }
  var key: OpaquePointer?
  guard EVP_PKEY_keygen_init(context) == 1, EVP_PKEY_CTX_set_group_name(context, "P-256") == 1,
    EVP_PKEY_generate(context, &key) == 1
  else { return nil }
  return key
}
