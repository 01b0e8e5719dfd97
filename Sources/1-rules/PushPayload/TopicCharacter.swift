extension UInt8 {
  /// Whether a bundle id, and so a topic, may hold this character: letters, digits, dots and hyphens (Apple,
  /// CFBundleIdentifier); `_` is seen in the wild.
  public var isTopicCharacter: Bool {
    isLetter || isDigit || self == UInt8(ascii: ".") || self == UInt8(ascii: "-") || self == UInt8(ascii: "_")
  }
}
