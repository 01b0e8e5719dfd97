import Basics

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
    var copy = self
    return copy.withUTF8 { bytes in
      var size = bytes.count + 2
      for byte in bytes where byte.mustBeEscaped { size += byte.shortEscape == nil ? 5 : 1 }
      return size
    }
  }

  func writeJSON(to json: inout [UInt8]) {
    json.append(UInt8(ascii: "\""))
    var copy = self
    copy.withUTF8 { bytes in
      var start = 0
      for index in bytes.indices where bytes[index].mustBeEscaped {
        json.append(contentsOf: bytes[start..<index])
        start = index + 1
        json.append(UInt8(ascii: "\\"))
        if let short = bytes[index].shortEscape {
          json.append(short)
        } else {
          json.append(contentsOf: "u00".utf8)
          json.append(contentsOf: CollectionOfOne(bytes[index]).hex.utf8)
        }
      }
      json.append(contentsOf: bytes[start...])
    }
    json.append(UInt8(ascii: "\""))
  }
}

extension UInt8 {
  /// RFC 8259 §7.
  fileprivate var mustBeEscaped: Bool { self < 0x20 || self == UInt8(ascii: "\"") || self == UInt8(ascii: "\\") }

  /// The letter after the backslash, where there is a short form.
  fileprivate var shortEscape: UInt8? {
    switch self {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): self
    case 0x08: UInt8(ascii: "b")
    case 0x09: UInt8(ascii: "t")
    case 0x0A: UInt8(ascii: "n")
    case 0x0C: UInt8(ascii: "f")
    case 0x0D: UInt8(ascii: "r")
    default: nil
    }
  }
}
