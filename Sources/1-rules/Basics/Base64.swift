extension Collection where Element == UInt8 {
  /// The standard alphabet with padding (RFC 4648 §4).
  public var base64: String {
    let digits = digits(of: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    let padding = [UInt8](repeating: UInt8(ascii: "="), count: (3 - count % 3) % 3)
    return String(decoding: digits + padding, as: UTF8.self)
  }

  /// The URL alphabet without padding, as in JSON Web Tokens (RFC 4648 §5, RFC 7515 §2).
  public var base64URL: String {
    let digits = digits(of: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
    return String(decoding: digits, as: UTF8.self)
  }

  private func digits(of alphabet: StaticString) -> [UInt8] {
    alphabet.withUTF8Buffer { alphabet in
      var text: [UInt8] = []
      text.reserveCapacity((count * 4 + 2) / 3)
      var held: UInt32 = 0
      var bits: UInt32 = 0
      for byte in self {
        held = held << 8 | UInt32(byte)
        bits += 8
        while bits >= 6 {
          bits -= 6
          text.append(alphabet[Int(held >> bits & 63)])
        }
      }
      if bits > 0 { text.append(alphabet[Int(held << (6 - bits) & 63)]) }
      return text
    }
  }
}

/// The bytes that base64 stands for, in the standard or the URL alphabet, with or without padding; nil for other text.
public func bytes(fromBase64 text: some BidirectionalCollection<UInt8>) -> [UInt8]? {
  var text = text[...]
  for _ in 0..<2 where text.last == UInt8(ascii: "=") { text.removeLast() }
  var bytes: [UInt8] = []
  bytes.reserveCapacity(text.count * 3 / 4)
  var held: UInt32 = 0
  var bits: UInt32 = 0
  for character in text {
    guard let digit = character.base64Digit else { return nil }
    held = held << 6 | UInt32(digit)
    bits += 6
    if bits >= 8 {
      bits -= 8
      bytes.append(UInt8(truncatingIfNeeded: held >> bits))
    }
  }
  return bits < 6 ? bytes : nil
}

extension UInt8 {
  fileprivate var base64Digit: UInt8? {
    switch self {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): self - UInt8(ascii: "A")
    case UInt8(ascii: "a")...UInt8(ascii: "z"): self - UInt8(ascii: "a") + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0") + 52
    case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
    case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
    default: nil
    }
  }
}
