import Basics

/// The key under which secrets are kept that must be read again: those of webhooks, and credentials. Without it what is
/// sealed can neither be read nor changed unseen (libsodium's secretbox, XSalsa20-Poly1305).
public struct SealingKey: Sendable {
  private let bytes: [UInt8]

  /// What is sealed for one purpose opens for no other, so that nobody who may write to the store can pass one for another.
  public enum Purpose: String, Sendable {
    case webhookSecret = "webhook secret"
    case credential = "credential"
  }

  /// 64 hex digits, as `openssl rand -hex 32` prints them; nil for anything else.
  public init?(hex: String) {
    guard hex.utf8.count == 64, let bytes = Basics.bytes(fromHex: hex.utf8) else { return nil }
    self.bytes = bytes
  }

  private init(bytes: [UInt8]) { self.bytes = bytes }

  /// A new one, of the system's randomness.
  public static func random() -> SealingKey { SealingKey(bytes: Sodium.randomBytes(32)) }

  /// For the file that it is kept in.
  public var hex: String { bytes.hex }

  /// Each time another text, which tells nothing but its length.
  public func seal(_ secret: [UInt8], for purpose: Purpose) -> [UInt8] {
    [Self.form] + Sodium.seal(secret, key: key(for: purpose))
  }

  /// nil for what was not sealed under this key for this purpose, or was changed since.
  public func open(_ sealed: [UInt8], for purpose: Purpose) -> [UInt8]? {
    guard sealed.first == Self.form else { return nil }
    return Sodium.open(sealed.dropFirst(), key: key(for: purpose))
  }

  private func key(for purpose: Purpose) -> [UInt8] { Sodium.hash(Array(purpose.rawValue.utf8), key: bytes) }

  /// Stands before what is sealed, so that another way may come beside this one.
  private static let form: UInt8 = 1
}

/// Neither a log nor a dump shows the key.
extension SealingKey: CustomStringConvertible, CustomReflectable {
  public var description: String { "a sealing key" }
  public var customMirror: Mirror { Mirror(self, children: []) }
}
