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
}

extension Sequence where Element == UInt8 {
  /// Two lower-case hex digits a byte.
  public var hex: String {
    let digits = Array("0123456789abcdef".utf8)
    return String(decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }
}

/// The bytes that an even number of hex digits (either case) stands for; nil for anything else.
@inlinable
public func bytes(fromHex text: some Collection<UInt8>) -> [UInt8]? {
  guard text.count % 2 == 0 else { return nil }
  var bytes: [UInt8] = []
  bytes.reserveCapacity(text.count / 2)
  var high: UInt8?
  for character in text {
    guard let digit = character.hexDigit else { return nil }
    if let first = high {
      bytes.append(first << 4 | digit)
      high = nil
    } else {
      high = digit
    }
  }
  return bytes
}
