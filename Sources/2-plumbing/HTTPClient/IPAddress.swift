#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// An address of IPv4 or IPv6. One of IPv6 that stands for one of IPv4 (`::ffff:10.0.0.1`) is that.
public struct IPAddress: Hashable, Sendable, CustomStringConvertible {
  /// 4, or 16.
  public let bytes: [UInt8]

  /// nil unless there are 4 bytes, or 16.
  public init?(bytes: some Collection<UInt8>) {
    let bytes = Array(bytes)
    guard bytes.count == 4 || bytes.count == 16 else { return nil }
    self.bytes = bytes.starts(with: Self.mapped) ? Array(bytes[12...]) : bytes
  }

  /// As people write it: `192.0.2.1`, `2001:db8::1`.
  public init?(_ text: String) {
    var bytes = [UInt8](repeating: 0, count: 16)
    if inet_pton(AF_INET, text, &bytes) == 1 {
      self.init(bytes: bytes[..<4])
    } else if inet_pton(AF_INET6, text, &bytes) == 1 {
      self.init(bytes: bytes)
    } else {
      return nil
    }
  }

  public var description: String {
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    guard inet_ntop(bytes.count == 4 ? AF_INET : AF_INET6, bytes, &text, socklen_t(text.count)) != nil else {
      return ""
    }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// Whether it is of the public internet, so that whoever may name it reaches nothing by it that only this machine or its
  /// network can. (IANA's registries of special-purpose addresses, RFC 6890 with its updates.)
  public var isPublic: Bool { bytes.count == 4 ? Self.isPublicV4(bytes) : Self.isPublicV6(bytes) }

  private static let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
  private static let nat64: [UInt8] = [0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0]

  private static func isPublicV4(_ a: [UInt8]) -> Bool {
    switch (a[0], a[1], a[2]) {
    case (0, _, _), (10, _, _), (127, _, _), (224..., _, _): false
    case (100, 64...127, _): false  // shared by carriers
    case (169, 254, _), (172, 16...31, _), (192, 168, _): false
    case (192, 0, 0), (192, 0, 2), (198, 51, 100), (203, 0, 113), (192, 88, 99): false
    case (198, 18...19, _): false
    default: true
    }
  }

  /// What leads to an address of IPv4 is judged as that.
  private static func isPublicV6(_ a: [UInt8]) -> Bool {
    if a.starts(with: nat64) { return isPublicV4(Array(a[12...])) }
    if a[0] == 0x20, a[1] == 0x02 { return isPublicV4(Array(a[2..<6])) }  // 6to4
    guard a[0] & 0xE0 == 0x20 else { return false }  // 2000::/3 is all that is given out
    if a[0] == 0x20, a[1] == 0x01, a[2] < 0x02 { return false }  // 2001::/23, Teredo among them
    if a[0] == 0x20, a[1] == 0x01, a[2] == 0x0D, a[3] == 0xB8 { return false }
    if a[0] == 0x3F, a[1] == 0xFF, a[2] & 0xF0 == 0 { return false }
    return true
  }
}

/// Addresses that begin with the same bits.
public struct AddressRange: Hashable, Sendable, CustomStringConvertible {
  public let first: IPAddress
  /// How many bits are the same.
  public let length: Int

  /// `10.0.0.0/8`, `fd00::/8`, or one address; nil for anything else, and where bits beyond the length are set.
  public init?(_ text: String) {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard let first = IPAddress(String(parts[0])) else { return nil }
    let bits = first.bytes.count * 8
    guard parts.count == 1 || parts[1].allSatisfy(\.isWholeNumber),
      let length = parts.count == 1 ? bits : Int(parts[1]), 0...bits ~= length,
      Self.head(of: first.bytes, length) == first.bytes
    else { return nil }
    self.first = first
    self.length = length
  }

  public func contains(_ address: IPAddress) -> Bool {
    address.bytes.count == first.bytes.count && Self.head(of: address.bytes, length) == first.bytes
  }

  public var description: String { length == first.bytes.count * 8 ? "\(first)" : "\(first)/\(length)" }

  private static func head(of bytes: [UInt8], _ length: Int) -> [UInt8] {
    bytes.enumerated().map { index, byte in
      let kept = min(max(length - index * 8, 0), 8)
      return kept == 0 ? 0 : byte & (0xFF << UInt8(8 - kept))
    }
  }
}
