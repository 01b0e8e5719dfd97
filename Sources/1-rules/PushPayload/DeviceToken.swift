import Basics

/// Reads a device token from what an app or a person sends: the hex of its bytes, either case, spaces around allowed.
///
/// A token is opaque and of no promised length (Apple, "Registering your app with APNs"); 32 bytes is usual, 100 the
/// most that was announced, fewer than 32 was never seen. What looks like something else is named and never converted
/// in silence, since a guess that is wrong pushes to nobody (case C18).
public enum DeviceTokenText {
  /// Lengths in bytes of what passes for a token.
  public static let lengths = 32...100

  /// - Throws: what the text is instead, in words that may be shown to whoever sent it.
  public static func read(_ text: String) throws(DeviceTokenFault) -> [UInt8] {
    let trimmed = text.utf8.trimmingSpaces
    if let kind = DeviceTokenFault.Kind(lookingAt: trimmed) {
      throw DeviceTokenFault(kind, length: trimmed.count, suggestion: kind.suggestion(from: trimmed))
    }
    guard let bytes = bytes(fromHex: trimmed) else {
      throw DeviceTokenFault(.notHex, length: trimmed.count, suggestion: nil)
    }
    guard lengths ~= bytes.count else {
      throw DeviceTokenFault(
        bytes.count < lengths.lowerBound ? .tooShort : .tooLong, length: trimmed.count, suggestion: nil)
    }
    return bytes
  }
}

/// Why a text is no device token.
public struct DeviceTokenFault: Error, Hashable, Sendable {
  public let kind: Kind
  /// Characters of the text, without the spaces around it.
  public let length: Int
  /// The hex that was probably meant, where the bytes could be read.
  public let suggestion: String?

  public enum Kind: String, CaseIterable, Sendable {
    case empty
    /// `(null)`, `undefined` and their like: the app sent what its language prints for nothing.
    case placeholder
    /// `{length = 32, bytes = 0x11aa ... eeff }`, what iOS 13 and later print for `Data`.
    case truncatedDescription
    /// `<11aa22bb 33cc44dd …>`, what iOS printed for `Data` before 13.
    case description
    case base64
    case oddHex
    case notHex
    case tooShort
    case tooLong
  }

  init(_ kind: Kind, length: Int, suggestion: String?) {
    self.kind = kind
    self.length = length
    self.suggestion = suggestion
  }

  /// What was found, in words; quotes nothing of the text.
  public var found: String {
    switch kind {
    case .empty: "no device token"
    case .placeholder: "the word for nothing instead of a device token"
    case .truncatedDescription:
      "the description that iOS 13 and later print for Data; the middle of the token is missing"
    case .description: "the description that iOS before 13 printed for Data, not its hex"
    case .base64: "base64 instead of hex"
    case .oddHex: "\(length) hex digits; a byte needs two, so one is missing"
    case .notHex: "\(length) characters that are not all hex digits"
    case .tooShort: "\(length) hex digits; a device token has at least \(DeviceTokenText.lengths.lowerBound * 2)"
    case .tooLong: "\(length) hex digits; a device token has at most \(DeviceTokenText.lengths.upperBound * 2)"
    }
  }

  /// What to do next; a whole sentence.
  public var remedy: String {
    switch kind {
    case .empty, .placeholder:
      return "Send the token only once didRegisterForRemoteNotificationsWithDeviceToken was called."
    case .description, .base64:
      let meant = suggestion.map { " If this token was meant, its hex is \($0)." } ?? ""
      return "In the app, send deviceToken.map { String(format: \"%02x\", $0) }.joined().\(meant)"
    case .truncatedDescription, .oddHex, .notHex, .tooShort, .tooLong:
      return "In the app, send deviceToken.map { String(format: \"%02x\", $0) }.joined()."
    }
  }
}

extension DeviceTokenFault.Kind {
  /// What the text is if it plainly is something other than hex of a wrong length.
  fileprivate init?(lookingAt text: Substring.UTF8View) {
    let lowered = String(decoding: text.prefix(80).map { $0 | ($0 >= 0x41 && $0 <= 0x5A ? 0x20 : 0) }, as: UTF8.self)
    switch lowered {
    case "": self = .empty
    case "(null)", "<null>", "null", "nil", "undefined", "none", "optional(nil)", "nan", "[object object]", "token":
      self = .placeholder
    case _ where lowered.hasPrefix("{") && lowered.hasSuffix("}") || lowered.hasPrefix("{length"):
      self = .truncatedDescription
    case _ where lowered.hasPrefix("<"): self = .description
    case _ where text.allSatisfy(\.isHexDigit):
      guard text.count % 2 == 1 else { return nil }
      self = .oddHex
    // hex with a slip of the finger is legal base64 too, but of random bytes only a third are hex digits
    case _
    where text.count(where: \.isHexDigit) * 4 < text.count * 3
      && bytes(fromBase64: text).map { DeviceTokenText.lengths ~= $0.count } == true:
      self = .base64
    default: return nil
    }
  }

  fileprivate func suggestion(from text: Substring.UTF8View) -> String? {
    let meant: [UInt8]?
    switch self {
    case .description: meant = bytes(fromHex: text.filter(\.isHexDigit))
    case .base64: meant = bytes(fromBase64: text)
    case .empty, .placeholder, .truncatedDescription, .oddHex, .notHex, .tooShort, .tooLong: meant = nil
    }
    guard let meant, DeviceTokenText.lengths ~= meant.count else { return nil }
    return meant.hex
  }
}

extension UInt8 {
  fileprivate var isSpace: Bool { self == 0x20 || (0x09...0x0D) ~= self }
}

extension String.UTF8View {
  fileprivate var trimmingSpaces: Substring.UTF8View {
    var rest = self[...]
    while rest.first?.isSpace == true { rest.removeFirst() }
    while rest.last?.isSpace == true { rest.removeLast() }
    return rest
  }
}
