import Basics

/// The key under which secrets are kept that must be read again: those of webhooks, and credentials. Without it what is
/// sealed can neither be read nor changed unseen (libsodium's secretbox, XSalsa20-Poly1305).
///
/// After a rotation it is several: the first seals, the others, of before, only open.
public struct SealingKey: Sendable {
  private let keys: [[UInt8]]

  /// What is sealed for one purpose opens for no other, so that nobody who may write to the store can pass one for another.
  public enum Purpose: String, Sendable {
    case webhookSecret = "webhook secret"
    case credential = "credential"
  }

  /// 64 hex digits, as `openssl rand -hex 32` prints them, or several such with white space between, the newest first; nil
  /// for anything else.
  public init?(hex: String) {
    let words = hex.split(whereSeparator: \.isWhitespace)
    let keys = words.compactMap { $0.utf8.count == 64 ? Basics.bytes(fromHex: $0.utf8) : nil }
    guard !keys.isEmpty, keys.count == words.count else { return nil }
    self.keys = keys
  }

  private init(keys: [[UInt8]]) { self.keys = keys }

  /// A new one, of the system's randomness.
  public static func random() -> SealingKey { SealingKey(keys: [Sodium.randomBytes(32)]) }

  /// A new one that opens also what this one opens.
  public func renewed() -> SealingKey { SealingKey(keys: [Sodium.randomBytes(32)] + keys) }

  /// For the file that it is kept in: a line each, the newest first.
  public var hex: String { keys.map(\.hex).joined(separator: "\n") }

  /// Each time another text, which tells nothing but its length.
  public func seal(_ secret: [UInt8], for purpose: Purpose) -> [UInt8] {
    [Self.form] + Sodium.seal(secret, key: Self.key(for: purpose, keys[0]))
  }

  /// nil for what was not sealed under this key for this purpose, or was changed since.
  public func open(_ sealed: [UInt8], for purpose: Purpose) -> [UInt8]? {
    guard sealed.first == Self.form else { return nil }
    return keys.lazy.compactMap { Sodium.open(sealed.dropFirst(), key: Self.key(for: purpose, $0)) }.first
  }

  private static func key(for purpose: Purpose, _ key: [UInt8]) -> [UInt8] {
    Sodium.hash(Array(purpose.rawValue.utf8), key: key)
  }

  /// Stands before what is sealed, so that another way may come beside this one.
  private static let form: UInt8 = 1
}

/// Neither a log nor a dump shows the key.
extension SealingKey: CustomStringConvertible, CustomReflectable {
  public var description: String { "a sealing key" }
  public var customMirror: Mirror { Mirror(self, children: []) }
}
