/// The fields of a request or an answer, names in lower case, in the order of the wire. One block of bytes, so that a
/// message costs no allocation per field.
public struct HTTP2FieldList: Hashable, Sendable {
  struct Entry: Hashable, Sendable {
    var name: Int32
    var value: Int32
    var end: Int32
  }

  var bytes: [UInt8] = []
  var entries: [Entry] = []

  public init() {}

  public var count: Int { entries.count }

  public func name(at index: Int) -> ArraySlice<UInt8> {
    bytes[Int(entries[index].name)..<Int(entries[index].value)]
  }

  /// The name as it lies in memory, for looking at only.
  public func withName<Result>(at index: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    let entry = entries[index]
    return bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[Int(entry.name)..<Int(entry.value)])) }
  }

  public func value(at index: Int) -> ArraySlice<UInt8> {
    bytes[Int(entries[index].value)..<Int(entries[index].end)]
  }

  /// The first value under that name.
  public subscript(_ name: StaticString) -> ArraySlice<UInt8>? {
    for index in entries.indices where isNamed(name, at: index) { return value(at: index) }
    return nil
  }

  /// How many fields have that name.
  public func count(of name: StaticString) -> Int { entries.indices.count { isNamed(name, at: $0) } }

  /// The first value under that name, as text; bytes that are no UTF-8 are replaced.
  public func text(_ name: StaticString) -> String? { self[name].map { String(decoding: $0, as: UTF8.self) } }

  /// All of it as text, for logs and tests.
  public var pairs: [(name: String, value: String)] {
    entries.indices.map {
      (String(decoding: name(at: $0), as: UTF8.self), String(decoding: value(at: $0), as: UTF8.self))
    }
  }

  func isNamed(_ name: StaticString, at index: Int) -> Bool {
    let entry = entries[index]
    let length = Int(entry.value - entry.name)
    guard length == name.utf8CodeUnitCount else { return false }
    return bytes.withUnsafeBufferPointer { bytes in
      for offset in 0..<length where bytes[Int(entry.name) + offset] != name.utf8Start[offset] { return false }
      return true
    }
  }

  mutating func append(name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>) {
    let start = Int32(clamping: bytes.count)
    bytes.append(contentsOf: name)
    let middle = Int32(clamping: bytes.count)
    bytes.append(contentsOf: value)
    entries.append(Entry(name: start, value: middle, end: Int32(clamping: bytes.count)))
  }

  /// A field as a peer might have sent it.
  public mutating func append(name: String, value: String) {
    var (name, value) = (name, value)
    name.withUTF8 { name in value.withUTF8 { append(name: name, value: $0) } }
  }

  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    entries.removeAll(keepingCapacity: true)
  }
}

/// A request as it came in, whole. HTTP/2's own rules are already checked (RFC 9113 §8), ours are not.
public struct HTTP2Request: Sendable {
  /// With the pseudo fields `:method`, `:path`, `:scheme`, `:authority` among them.
  public var fields: HTTP2FieldList
  public var body: [UInt8]
  /// What was over a limit; then `fields` or `body` stop there, and the handler should say 431 or 413.
  public var excess: Excess?

  public enum Excess: Sendable {
    case headerList
    case body
  }

  public var method: ArraySlice<UInt8> { fields[":method"] ?? [] }
  /// With the query, as sent.
  public var path: ArraySlice<UInt8> { fields[":path"] ?? [] }
}

/// An answer as it came in, whole.
public struct HTTP2Response: Sendable {
  public var status: Int
  /// Without `:status`.
  public var fields: HTTP2FieldList
  public var body: [UInt8]
}

/// Error codes of RST_STREAM and GOAWAY (RFC 9113 §7).
public struct HTTP2ErrorCode: RawRepresentable, Hashable, Sendable {
  public var rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  public static let noError = HTTP2ErrorCode(rawValue: 0)
  public static let protocolError = HTTP2ErrorCode(rawValue: 1)
  public static let internalError = HTTP2ErrorCode(rawValue: 2)
  public static let flowControlError = HTTP2ErrorCode(rawValue: 3)
  public static let settingsTimeout = HTTP2ErrorCode(rawValue: 4)
  public static let streamClosed = HTTP2ErrorCode(rawValue: 5)
  public static let frameSizeError = HTTP2ErrorCode(rawValue: 6)
  /// The peer did not process the stream: the same request may be sent again at once.
  public static let refusedStream = HTTP2ErrorCode(rawValue: 7)
  public static let cancel = HTTP2ErrorCode(rawValue: 8)
  public static let compressionError = HTTP2ErrorCode(rawValue: 9)
  public static let connectError = HTTP2ErrorCode(rawValue: 10)
  public static let enhanceYourCalm = HTTP2ErrorCode(rawValue: 11)
  public static let inadequateSecurity = HTTP2ErrorCode(rawValue: 12)
  public static let http11Required = HTTP2ErrorCode(rawValue: 13)
}
