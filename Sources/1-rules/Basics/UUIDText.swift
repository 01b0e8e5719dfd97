/// UUIDs in their canonical form of 36 letters, 8-4-4-4-12 (RFC 9562 §4).
public enum UUIDText {
  /// Whether the text is one, in either case.
  @inlinable
  public static func isCanonical(_ text: some Collection<UInt8>) -> Bool {
    guard text.count == 36 else { return false }
    var place = 0
    for character in text {
      let isLegal =
        switch place {
        case 8, 13, 18, 23: character == UInt8(ascii: "-")
        default: character.hexDigit != nil
        }
      guard isLegal else { return false }
      place += 1
    }
    return true
  }

  /// A UUID of version 4 (RFC 9562 §5.4) from 122 of the bits given.
  public static func version4(_ high: UInt64, _ low: UInt64, upperCase: Bool = false) -> [UInt8] {
    let high = high & 0xFFFF_FFFF_FFFF_0FFF | 0x4000
    let low = low & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
    let letters = upperCase ? UInt8(ascii: "A") : UInt8(ascii: "a")
    var text: [UInt8] = []
    text.reserveCapacity(36)
    for place in 0..<32 {
      if place == 8 || place == 12 || place == 16 || place == 20 { text.append(UInt8(ascii: "-")) }
      let nibble = UInt8((place < 16 ? high : low) >> UInt64(60 - 4 * (place & 15)) & 15)
      text.append(nibble < 10 ? UInt8(ascii: "0") + nibble : letters + nibble - 10)
    }
    return text
  }
}
