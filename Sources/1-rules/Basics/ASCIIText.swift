extension UInt8 {
  /// `A` to `Z`, `a` to `z`, `0` to `9`.
  package var isASCIILetterOrDigit: Bool {
    switch self {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: false
    }
  }
}
