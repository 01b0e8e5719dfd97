internal import Basics

/// User and password of `Authorization: Basic` (RFC 7617). Not compared here: that takes constant time in `PushService`.
struct BasicCredentials: Equatable, Sendable {
  var user: String
  var password: String

  /// nil for any other scheme and for what is not Base64 of UTF-8 with a colon.
  init?(_ header: String) {
    let parts = header.utf8.split(separator: UInt8(ascii: " "), maxSplits: 1)
    guard
      parts.count == 2, String(decoding: parts[0], as: UTF8.self).lowercased() == "basic",
      let bytes = bytes(fromBase64: parts[1].filter { $0 != UInt8(ascii: " ") }),
      let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
      let user = String(validating: bytes[..<colon], as: UTF8.self),
      let password = String(validating: bytes[(colon + 1)...], as: UTF8.self)
    else { return nil }
    self.user = user
    self.password = password
  }
}
