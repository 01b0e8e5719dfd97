import Basics
import CSodium

/// Randomness and hashes from libsodium, in the sizes used here.
enum Sodium {
  /// Safe to call from any thread, any number of times; -1 means that the system has no randomness.
  private static let isReady = sodium_init() >= 0

  static func randomBytes(_ count: Int) -> [UInt8] {
    precondition(isReady, "the system gives no random numbers")
    var bytes = [UInt8](repeating: 0, count: count)
    randombytes_buf(&bytes, count)
    return bytes
  }

  /// Lower-case hex digits, each of 4 random bits.
  static func randomHex(digits: Int) -> String { String(randomBytes((digits + 1) / 2).hex.prefix(digits)) }

  /// Of version 4 (RFC 9562 §5.4).
  static func randomUUID() -> String {
    func random() -> UInt64 { randomBytes(8).reduce(0) { $0 << 8 | UInt64($1) } }
    return UUIDBits(version4: random(), random()).text
  }

  /// BLAKE2b with 256 bits, keyed when a key (16 to 64 bytes) is given. For values that cannot be guessed.
  static func hash(_ bytes: [UInt8], key: [UInt8] = []) -> [UInt8] {
    var hash = [UInt8](repeating: 0, count: 32)
    crypto_generichash(&hash, hash.count, bytes, UInt64(bytes.count), key.isEmpty ? nil : key, key.count)
    return hash
  }

  /// 32 bytes (RFC 2104 with SHA-256), for a key of any length.
  static func hmacSHA256(_ bytes: [UInt8], key: [UInt8]) -> [UInt8] {
    var state = crypto_auth_hmacsha256_state()
    var code = [UInt8](repeating: 0, count: 32)
    crypto_auth_hmacsha256_init(&state, key, key.count)
    crypto_auth_hmacsha256_update(&state, bytes, UInt64(bytes.count))
    crypto_auth_hmacsha256_final(&state, &code)
    return code
  }

  /// Encrypts and authenticates (XSalsa20-Poly1305) under a key of 32 bytes; a random nonce stands before it.
  static func seal(_ bytes: [UInt8], key: [UInt8]) -> [UInt8] {
    precondition(key.count == crypto_secretbox_keybytes(), "a key of secretbox has 32 bytes")
    let nonce = randomBytes(crypto_secretbox_noncebytes())
    var box = [UInt8](repeating: 0, count: bytes.count + crypto_secretbox_macbytes())
    crypto_secretbox_easy(&box, bytes, UInt64(bytes.count), nonce, key)
    return nonce + box
  }

  /// nil for what was not sealed under this key, or was changed since.
  static func open(_ sealed: some Collection<UInt8>, key: [UInt8]) -> [UInt8]? {
    let nonce = Array(sealed.prefix(crypto_secretbox_noncebytes()))
    let box = Array(sealed.dropFirst(nonce.count))
    guard key.count == crypto_secretbox_keybytes(), box.count >= crypto_secretbox_macbytes() else { return nil }
    var bytes = [UInt8](repeating: 0, count: box.count - crypto_secretbox_macbytes())
    guard crypto_secretbox_open_easy(&bytes, box, UInt64(box.count), nonce, key) == 0 else { return nil }
    return bytes
  }

  /// In a time that tells nothing of where they differ.
  static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    left.count == right.count && sodium_memcmp(left, right, left.count) == 0
  }

  /// Argon2id in the form that holds its own parameters and salt; nil without memory. OWASP's smallest setting, 19 MiB
  /// and two passes: what is hashed has 96 random bits of its own.
  static func passwordHash(_ secret: String) -> String? {
    precondition(isReady, "the system gives no random numbers")
    var text = [CChar](repeating: 0, count: crypto_pwhash_strbytes())
    guard crypto_pwhash_str(&text, secret, UInt64(secret.utf8.count), 2, 19 << 20) == 0 else { return nil }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  static func verify(_ secret: String, against passwordHash: String) -> Bool {
    crypto_pwhash_str_verify(passwordHash, secret, UInt64(secret.utf8.count)) == 0
  }
}
