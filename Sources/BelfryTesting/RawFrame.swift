/// An HTTP/2 frame as bytes on the wire (RFC 9113 §4.1), for peers that do what no library would.
public struct RawFrame: Equatable, Sendable {
  public enum Kind: UInt8, Sendable {
    case data, headers, priority, resetStream, settings, pushPromise, ping, goAway, windowUpdate, continuation
  }

  public var kind: Kind
  public var flags: UInt8 = 0
  public var stream: Int32 = 0
  public var payload: [UInt8] = []

  public init(kind: Kind, flags: UInt8 = 0, stream: Int32 = 0, payload: [UInt8] = []) {
    self.kind = kind
    self.flags = flags
    self.stream = stream
    self.payload = payload
  }

  public static let endStream: UInt8 = 1
  public static let acknowledge: UInt8 = 1
  public static let endHeaders: UInt8 = 4

  public var bytes: [UInt8] {
    let count = payload.count
    return [UInt8(count >> 16 & 255), UInt8(count >> 8 & 255), UInt8(count & 255), kind.rawValue, flags]
      + bigEndian(UInt32(bitPattern: stream)) + payload
  }

  public var endsStream: Bool { flags & Self.endStream != 0 }
  /// The error code of RST_STREAM and GOAWAY.
  public var code: UInt32 { number(at: kind == .goAway ? 4 : 0) }

  public func number(at place: Int) -> UInt32 { payload[place..<place + 4].reduce(0) { $0 << 8 | UInt32($1) } }

  /// The value of one parameter of SETTINGS.
  public func setting(_ id: UInt8) -> UInt32? {
    stride(from: 0, to: payload.count - 5, by: 6).first { payload[$0] == 0 && payload[$0 + 1] == id }
      .map { number(at: $0 + 2) }
  }

  /// What a client says first (RFC 9113 §3.4).
  public static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

  /// The client's preface and a SETTINGS frame.
  public static func preface(_ settings: [(UInt8, UInt32)] = []) -> [UInt8] {
    preface + self.settings(settings).bytes
  }

  public static func settings(_ entries: [(UInt8, UInt32)] = []) -> RawFrame {
    RawFrame(kind: .settings, payload: entries.flatMap { [0, $0.0] + bigEndian($0.1) })
  }

  public static let settingsAcknowledged = RawFrame(kind: .settings, flags: acknowledge)

  public static func windowUpdate(_ stream: Int32, _ count: UInt32) -> RawFrame {
    RawFrame(kind: .windowUpdate, stream: stream, payload: bigEndian(count))
  }

  /// `POST path` without a body; header block without tables or Huffman code (RFC 7541 §6.2.2).
  public static func request(
    _ stream: Int32, path: String = "/", extra: [(String, String)] = [], endsStream: Bool = true
  )
    -> RawFrame
  {
    let start: [UInt8] =
      [0x83, 0x87, 0x04] + length(path) + path.utf8 + [0x01] + length("localhost") + "localhost".utf8
    return RawFrame(
      kind: .headers, flags: endHeaders | (endsStream ? endStream : 0), stream: stream, payload: start + block(extra))
  }

  /// The head of an answer.
  public static func response(
    _ stream: Int32, status: String, fields: [(String, String)] = [], endsStream: Bool = true
  ) -> RawFrame {
    RawFrame(
      kind: .headers, flags: endHeaders | (endsStream ? endStream : 0), stream: stream,
      payload: [0x08] + length(status) + status.utf8 + block(fields))
  }

  public static func data(_ stream: Int32, _ text: String, endsStream: Bool) -> RawFrame {
    RawFrame(kind: .data, flags: endsStream ? endStream : 0, stream: stream, payload: Array(text.utf8))
  }

  /// Fields without tables or Huffman code.
  public static func block(_ fields: [(String, String)]) -> [UInt8] {
    fields.flatMap { name, value in [0x00] + length(name) + name.utf8 + length(value) + value.utf8 }
  }

  private static func length(_ text: String) -> [UInt8] {
    let count = text.utf8.count
    guard count >= 127 else { return [UInt8(count)] }
    var rest = count - 127
    var bytes: [UInt8] = [127]
    while rest >= 128 {
      bytes.append(UInt8(rest % 128 + 128))
      rest /= 128
    }
    return bytes + [UInt8(rest)]
  }
}

private func bigEndian(_ number: UInt32) -> [UInt8] {
  (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
}

/// Cuts a stream of bytes into frames.
public struct RawFrameReader {
  private var bytes: [UInt8] = []

  public init() {}

  public mutating func take(_ more: [UInt8]) { bytes += more }

  public mutating func next() -> RawFrame? {
    guard bytes.count >= 9 else { return nil }
    let count = Int(bytes[0]) << 16 | Int(bytes[1]) << 8 | Int(bytes[2])
    guard bytes.count >= 9 + count, let kind = RawFrame.Kind(rawValue: bytes[3]) else { return nil }
    let stream = bytes[5..<9].reduce(0 as UInt32) { $0 << 8 | UInt32($1) }
    defer { bytes.removeFirst(9 + count) }
    return RawFrame(
      kind: kind, flags: bytes[4], stream: Int32(bitPattern: stream), payload: Array(bytes[9..<9 + count]))
  }
}
