extension UInt8 {
  /// The value of a hex digit of either case; nil for any other character.
  @inlinable
  public var hexDigit: UInt8? {
    switch self {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
    default: nil
    }
  }

  @inlinable
  public var isHexDigit: Bool { self &- UInt8(ascii: "0") < 10 || (self | 0x20) &- UInt8(ascii: "a") < 6 }
}

extension Sequence where Element == UInt8 {
  /// Two lower-case hex digits a byte.
  public var hex: String {
    let digits = Array("0123456789abcdef".utf8)
    return String(decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }
}

/// Both digits of a byte, in the order of memory.
@inlinable
@inline(__always)
package func hexDigits(of byte: UInt8, upperCase: Bool = false) -> UInt16 {
  // both nibbles side by side; those above 9 get the letters' offset: (n + 6) carries into bit 4
  let nibbles = UInt16(byte >> 4) | UInt16(byte & 15) << 8
  let letters = ((nibbles &+ 0x0606) >> 4) & 0x0101
  return (nibbles &+ 0x3030 &+ letters &* (upperCase ? 0x07 : 0x27)).littleEndian
}

/// The bytes that an even number of hex digits (either case) stands for; nil for anything else.
@inlinable
public func bytes(fromHex text: some Collection<UInt8>) -> [UInt8]? {
  text.withContiguousStorageIfAvailable(bytes(ofHex:)) ?? Array(text).withUnsafeBufferPointer(bytes(ofHex:))
}

@usableFromInline
func bytes(ofHex text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
  guard text.count % 2 == 0 else { return nil }
  var isHex = true
  let bytes = [UInt8](unsafeUninitializedCapacity: text.count / 2) { bytes, count in
    while isHex, count < text.count / 2 {
      let (high, low) = (text[2 * count], text[2 * count + 1])
      isHex = high.isHexDigit && low.isHexDigit
      // the low half of a digit is its value, of a letter its place in the alphabet
      bytes[count] = (high & 15 &+ (high >> 6) &* 9) << 4 | (low & 15 &+ (low >> 6) &* 9) & 15
      count += 1
    }
  }
  return isHex ? bytes : nil
}
