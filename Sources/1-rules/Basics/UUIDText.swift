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
    [UInt8](unsafeUninitializedCapacity: 36) { text, count in
      UUIDBits(version4: high, low).write(to: UnsafeMutableRawPointer(text.baseAddress!), upperCase: upperCase)
      count = 36
    }
  }
}

/// A UUID as its 128 bits.
public struct UUIDBits: Hashable, Sendable {
  public var high: UInt64
  public var low: UInt64

  public init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// Version 4 (RFC 9562 §5.4) from 122 of the bits given.
  public init(version4 high: UInt64, _ low: UInt64) {
    self.high = high & 0xFFFF_FFFF_FFFF_0FFF | 0x4000
    self.low = low & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
  }

  /// In lower case.
  public var text: String {
    String(unsafeUninitializedCapacity: 36) { text in
      write(to: UnsafeMutableRawPointer(text.baseAddress!))
      return 36
    }
  }

  /// 36 letters.
  package func write(to target: UnsafeMutableRawPointer, upperCase: Bool = false) {
    var at = 0
    for place in 0..<16 {
      if place == 4 || place == 6 || place == 8 || place == 10 {
        target.storeBytes(of: UInt8(ascii: "-"), toByteOffset: at, as: UInt8.self)
        at += 1
      }
      let byte = UInt8(truncatingIfNeeded: (place < 8 ? high : low) >> UInt64(56 - 8 * (place & 7)))
      target.storeBytes(of: hexDigits(of: byte, upperCase: upperCase), toByteOffset: at, as: UInt16.self)
      at += 2
    }
  }
}
