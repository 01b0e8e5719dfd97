/// User and password of `Authorization: Basic` (RFC 7617). Not compared here: that takes constant time in `PushService`.
struct BasicCredentials: Equatable, Sendable {
  var user: String
  var password: String

  /// nil for any other scheme and for what is not Base64 of UTF-8 with a colon.
  init?(_ header: String) {
    let parts = header.utf8.split(separator: UInt8(ascii: " "), maxSplits: 1)
    guard
      parts.count == 2, String(decoding: parts[0], as: UTF8.self).lowercased() == "basic",
      let bytes = Self.decodedBase64(parts[1]), let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
      let user = String(validating: bytes[..<colon], as: UTF8.self),
      let password = String(validating: bytes[(colon + 1)...], as: UTF8.self)
    else { return nil }
    self.user = user
    self.password = password
  }

  /// RFC 4648 §4; padding may be left out, spaces around are skipped.
  private static func decodedBase64(_ text: some Collection<UInt8>) -> [UInt8]? {
    var bytes: [UInt8] = []
    var bits: UInt32 = 0
    var count = 0
    for byte in text where byte != UInt8(ascii: " ") && byte != UInt8(ascii: "=") {
      guard let digit = digit(byte) else { return nil }
      bits = bits << 6 | UInt32(digit)
      count += 6
      if count >= 8 {
        count -= 8
        bytes.append(UInt8(truncatingIfNeeded: bits >> count))
      }
    }
    return bytes
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte - UInt8(ascii: "A")
    case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - UInt8(ascii: "a") + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0") + 52
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }
}
