/// Whether bytes that come piece by piece are UTF-8 so far (RFC 3629 §4): told at the first byte that cannot be right, also
/// within a character.
struct UTF8Progress: Hashable {
  /// Bytes that the character under way still needs.
  private var missing: UInt8 = 0
  /// What the next of them may be; others are `0x80...0xBF`.
  private var low: UInt8 = 0x80
  private var high: UInt8 = 0xBF

  /// Between two characters.
  var isWhole: Bool { missing == 0 }

  /// false: no text begins with what was taken. Nothing more may be taken then.
  mutating func take(_ bytes: some Sequence<UInt8>) -> Bool {
    for byte in bytes {
      if missing > 0 {
        guard low <= byte, byte <= high else { return false }
        missing -= 1
        (low, high) = (0x80, 0xBF)
        continue
      }
      switch byte {
      case 0x00...0x7F: break
      case 0xC2...0xDF: missing = 1
      case 0xE0...0xEF:
        missing = 2
        if byte == 0xE0 { low = 0xA0 }  // shorter forms there are
        if byte == 0xED { high = 0x9F }  // surrogates
      case 0xF0...0xF4:
        missing = 3
        if byte == 0xF0 { low = 0x90 }
        if byte == 0xF4 { high = 0x8F }  // beyond U+10FFFF
      default: return false
      }
    }
    return true
  }
}
