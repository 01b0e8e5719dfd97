import CNgHTTP2

/// One header field to send. The name must be lower case (RFC 9113 §8.2.1).
public struct HTTP2Field: Hashable, Sendable {
  public var name: [UInt8]
  public var value: [UInt8]
  /// Kept out of the peer's table: for values that differ each time, so that they do not push out those that repeat.
  public var neverIndexed: Bool

  public init(name: [UInt8], value: [UInt8], neverIndexed: Bool = false) {
    self.name = name
    self.value = value
    self.neverIndexed = neverIndexed
  }

  public init(_ name: String, _ value: String, neverIndexed: Bool = false) {
    self.init(name: Array(name.utf8), value: Array(value.utf8), neverIndexed: neverIndexed)
  }

  /// Whether HTTP/2 may carry it: no upper case, no control characters (RFC 9113 §8.2.1).
  var isValid: Bool {
    nghttp2_check_header_name(name, name.count) != 0 && nghttp2_check_header_value(value, value.count) != 0
  }
}

/// A few names of fields, in lower case, to tell those that are wanted from those that are not.
public struct HTTP2FieldNames: Sendable {
  private let names: [StaticString]
  /// Bit `n` is set when a name has `n` letters (63 for more).
  private let lengths: UInt64

  public init(_ names: [StaticString]) {
    self.names = names
    lengths = names.reduce(0) { $0 | 1 << UInt64(min(63, $1.utf8CodeUnitCount)) }
  }

  func contains(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
    guard lengths & (1 << UInt64(min(63, name.count))) != 0 else { return false }
    return names.contains { candidate in
      candidate.utf8CodeUnitCount == name.count
        && name.elementsEqual(UnsafeBufferPointer(start: candidate.utf8Start, count: candidate.utf8CodeUnitCount))
    }
  }
}

/// Fields prepared once for many messages and never copied again. Pseudo fields (`:method`, `:scheme`, `:authority`) go
/// first by themselves; `:path` belongs to the message, not here. Names are made lower case.
public final class HTTP2FieldBlock: Sendable {
  public let fields: [HTTP2Field]
  nonisolated(unsafe) let pseudo: [nghttp2_nv]  // points into `memory`
  nonisolated(unsafe) let regular: [nghttp2_nv]  // points into `memory`
  nonisolated(unsafe) private let memory: UnsafeMutableRawBufferPointer  // written only in init, lives like the block
  /// The first field that HTTP/2 cannot carry.
  let invalid: String?

  public init(_ given: [HTTP2Field]) {
    let fields = given.map { field in
      var field = field
      field.name = field.name.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
      return field
    }
    self.fields = fields
    invalid = fields.first { !$0.isValid && $0.name.first != UInt8(ascii: ":") }.map {
      String(decoding: $0.name, as: UTF8.self)
    }
    let memory = UnsafeMutableRawBufferPointer.allocate(
      byteCount: fields.reduce(1) { $0 + $1.name.count + $1.value.count }, alignment: 1)
    var cursor = memory.baseAddress!.assumingMemoryBound(to: UInt8.self)
    var pseudo: [nghttp2_nv] = []
    var regular: [nghttp2_nv] = []
    for field in fields {
      let entry = place(field, at: &cursor)
      if field.name.first == UInt8(ascii: ":") { pseudo.append(entry) } else { regular.append(entry) }
    }
    self.memory = memory
    self.pseudo = pseudo
    self.regular = regular
  }

  deinit { memory.deallocate() }
}

let noCopy = UInt8(NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue | NGHTTP2_NV_FLAG_NO_COPY_VALUE.rawValue)
let noIndex = UInt8(NGHTTP2_NV_FLAG_NO_INDEX.rawValue)

/// Copies a field to `cursor`, moves it on, and describes the copy.
func place(_ field: HTTP2Field, at cursor: inout UnsafeMutablePointer<UInt8>) -> nghttp2_nv {
  let name = cursor
  field.name.withUnsafeBufferPointer { name.update(from: $0.baseAddress ?? UnsafePointer(name), count: $0.count) }
  let value = cursor + field.name.count
  field.value.withUnsafeBufferPointer { value.update(from: $0.baseAddress ?? UnsafePointer(value), count: $0.count) }
  cursor = value + field.value.count
  return nghttp2_nv(
    name: name, value: value, namelen: field.name.count, valuelen: field.value.count,
    flags: noCopy | (field.neverIndexed ? noIndex : 0))
}
