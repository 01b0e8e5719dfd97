/// UUIDs in their canonical form of 36 letters, 8-4-4-4-12 (RFC 9562 §4).
public enum UUIDText {
  /// Whether the text is one, in either case.
  @inlinable
  public static func isCanonical(_ text: some Collection<UInt8>) -> Bool {
    guard text.count == 36 else { return false }
    return text.withContiguousStorageIfAvailable(isCanonical) ?? Array(text).withUnsafeBufferPointer(isCanonical)
  }

  /// Every push asks this, at both ends.
  @usableFromInline
  static func isCanonical(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    guard text.count == 36 else { return false }
    var isLegal = true
    for place in 0..<36 {
      isLegal = isLegal && (isDash(place) ? text[place] == UInt8(ascii: "-") : text[place].isHexDigit)
    }
    return isLegal
  }

  private static func isDash(_ place: Int) -> Bool { place == 8 || place == 13 || place == 18 || place == 23 }

  /// A UUID of version 4 (RFC 9562 §5.4) from 122 of the bits given.
  public static func version4(_ high: UInt64, _ low: UInt64, upperCase: Bool = false) -> [UInt8] {
    let high = high & 0xFFFF_FFFF_FFFF_0FFF | 0x4000
    let low = low & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
    let letters = (upperCase ? UInt8(ascii: "A") : UInt8(ascii: "a")) - 10
    return [UInt8](unsafeUninitializedCapacity: 36) { text, count in
      var digits = high
      var digit = 0
      for place in 0..<36 {
        if isDash(place) {
          text[place] = UInt8(ascii: "-")
          continue
        }
        let nibble = UInt8(truncatingIfNeeded: digits >> 60)
        text[place] = nibble < 10 ? UInt8(ascii: "0") + nibble : letters + nibble
        digit += 1
        digits = digit == 16 ? low : digits << 4
      }
      count = 36
    }
  }
}
