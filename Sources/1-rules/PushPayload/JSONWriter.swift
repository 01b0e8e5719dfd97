extension JSONValue {
  /// The shortest UTF-8 JSON of this value: no white space, nothing escaped that need not be (RFC 8259 §7: the quote,
  /// the backslash, controls below U+0020), members in their order, numbers in the digits they were written in.
  public func encoded() -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(encodedSize)
    write(to: &bytes)
    return bytes
  }

  /// Bytes that `encoded()` gives, without making them: what counts against APNs' limit.
  public var encodedSize: Int {
    switch self {
    case .null: 4
    case .bool(let bool): bool ? 4 : 5
    case .number(let number): number.literal.utf8.count
    case .string(let string): string.encodedSize
    case .array(let elements):
      elements.reduce(2 + max(0, elements.count - 1)) { $0 + $1.encodedSize }
    case .object(let object):
      object.members.reduce(2 + max(0, object.members.count - 1)) { $0 + $1.key.encodedSize + 1 + $1.value.encodedSize }
    }
  }

  /// `encoded()` as text.
  public var text: String { String(decoding: encoded(), as: UTF8.self) }

  func write(to bytes: inout [UInt8]) {
    switch self {
    case .null: bytes.append(contentsOf: "null".utf8)
    case .bool(let bool): bytes.append(contentsOf: (bool ? "true" : "false").utf8)
    case .number(let number): bytes.append(contentsOf: number.literal.utf8)
    case .string(let string): string.writeJSON(to: &bytes)
    case .array(let elements):
      bytes.append(UInt8(ascii: "["))
      for (index, element) in elements.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        element.write(to: &bytes)
      }
      bytes.append(UInt8(ascii: "]"))
    case .object(let object):
      bytes.append(UInt8(ascii: "{"))
      for (index, member) in object.members.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        member.key.writeJSON(to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        member.value.write(to: &bytes)
      }
      bytes.append(UInt8(ascii: "}"))
    }
  }
}

extension String {
  fileprivate var encodedSize: Int {
    utf8.reduce(2) { size, byte in
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"), 0x08, 0x09, 0x0A, 0x0C, 0x0D: size + 2
      case 0x00..<0x20: size + 6
      default: size + 1
      }
    }
  }

  func writeJSON(to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    for byte in utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"):
        bytes.append(UInt8(ascii: "\\"))
        bytes.append(byte)
      case 0x08: bytes.append(contentsOf: "\\b".utf8)
      case 0x09: bytes.append(contentsOf: "\\t".utf8)
      case 0x0A: bytes.append(contentsOf: "\\n".utf8)
      case 0x0C: bytes.append(contentsOf: "\\f".utf8)
      case 0x0D: bytes.append(contentsOf: "\\r".utf8)
      case 0x00..<0x20:
        let digits = Array("0123456789abcdef".utf8)
        bytes.append(contentsOf: "\\u00".utf8)
        bytes.append(digits[Int(byte >> 4)])
        bytes.append(digits[Int(byte & 15)])
      default: bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }
}
