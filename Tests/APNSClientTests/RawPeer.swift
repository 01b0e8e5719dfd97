import Basics
import Synchronization

@testable import Transport

/// A server that says bytes of a test's choice over real TLS, where no HTTP/2 library would.
final class RawPeer: Sendable {
  /// What a request is answered with; requests count from 1, of all connections and of this one.
  typealias Script = @Sendable (_ total: Int, _ ordinal: Int, _ stream: Int32) -> [UInt8]

  let authority: CertificateAuthority
  let endpoint: Endpoint
  let seen: Locked<Seen>
  private let listener: StreamListener
  private let loops: LoopGroup

  struct Seen: Sendable {
    var connections = 0
    var requests = 0
    /// Error codes of the GOAWAY frames that clients sent.
    var goAways: [UInt32] = []
  }

  private init(
    _ authority: CertificateAuthority, _ listener: StreamListener, _ loops: LoopGroup, _ seen: Locked<Seen>
  ) {
    self.authority = authority
    self.listener = listener
    self.loops = loops
    self.seen = seen
    endpoint = listener.endpoint
  }

  /// - Parameters:
  ///   - inPieces: each byte goes in a TLS record of its own.
  ///   - acknowledges: whether the client's SETTINGS are acknowledged.
  ///   - drip: from then on, on the first connection, one byte of a frame that never ends, every 20 ms.
  static func start(
    inPieces: Bool = false, acknowledges: Bool = true, drip: Bool = false, script: @escaping Script
  ) async throws -> RawPeer {
    let clock = SystemClock()
    let (begin, end) = (clock.now - .days(1), clock.now + .days(30))
    let authority = try CertificateAuthority.create(commonName: "Test CA", notBefore: begin, notAfter: end)
    let identity = try authority.issueServer(names: ["localhost", "127.0.0.1"], notBefore: begin, notAfter: end)
    let tls = try TLSServerContext(identity: identity)
    let loops = LoopGroup(count: 1)
    let seen = Locked(Seen())
    let listener = try await StreamListener.bind(
      Endpoint(host: "127.0.0.1", port: 0), loops: loops, tls: tls, limits: StreamLimits()
    ) { stream in
      let number = seen.withLock { seen in
        seen.connections += 1
        return seen.connections - 1
      }
      return Handler(stream, seen, inPieces, acknowledges, drip && number == 0, script)
    }
    return RawPeer(authority, listener, loops, seen)
  }

  func stop() async {
    await listener.close()
    await loops.stop()
  }

  // MARK: Bytes

  static func frame(_ kind: UInt8, flags: UInt8 = 0, stream: Int32 = 0, _ payload: [UInt8] = []) -> [UInt8] {
    let count = UInt32(payload.count)
    let number = UInt32(bitPattern: stream)
    var bytes: [UInt8] = []
    for shift: UInt32 in [16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: count >> shift)) }
    bytes += [kind, flags]
    for shift: UInt32 in [24, 16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
    return bytes + payload
  }

  /// HEADERS with END_HEADERS; a header block without tables or Huffman code (RFC 7541 §6.2.2).
  static func headers(
    _ stream: Int32, status: String, fields: [(String, String)] = [], ends: Bool = true
  ) -> [UInt8] {
    frame(1, flags: ends ? 5 : 4, stream: stream, [8, 3] + Array(status.utf8) + block(fields))
  }

  static func block(_ fields: [(String, String)]) -> [UInt8] {
    var bytes: [UInt8] = []
    for (name, value) in fields {
      bytes += [0, UInt8(name.utf8.count)]
      bytes += Array(name.utf8)
      bytes.append(UInt8(value.utf8.count))
      bytes += Array(value.utf8)
    }
    return bytes
  }

  static func data(_ stream: Int32, _ text: String, ends: Bool) -> [UInt8] {
    frame(0, flags: ends ? 1 : 0, stream: stream, Array(text.utf8))
  }

  static func accept(_ stream: Int32) -> [UInt8] { headers(stream, status: "200") }

  private final class Handler: StreamHandler {
    private let stream: StreamConnection
    private let seen: Locked<Seen>
    private let inPieces: Bool
    private let acknowledges: Bool
    private let drip: Bool
    private let script: Script
    private var bytes: [UInt8] = []
    private var sawPreface = false
    private var ordinal = 0

    init(
      _ stream: StreamConnection, _ seen: Locked<Seen>, _ inPieces: Bool, _ acknowledges: Bool, _ drip: Bool,
      _ script: @escaping Script
    ) {
      self.stream = stream
      self.seen = seen
      self.inPieces = inPieces
      self.acknowledges = acknowledges
      self.drip = drip
      self.script = script
    }

    func opened(_ stream: StreamConnection) { say(frame(4, [0, 3, 0, 0, 3, 0xE8])) }

    private func frame(_ kind: UInt8, flags: UInt8 = 0, _ payload: [UInt8]) -> [UInt8] {
      RawPeer.frame(kind, flags: flags, payload)
    }

    private func say(_ bytes: [UInt8]) {
      for piece in inPieces ? bytes.map({ [$0] }) : [bytes] where !piece.isEmpty {
        piece.withUnsafeBytes { _ = stream.write($0) }
      }
    }

    func received(_ more: UnsafeRawBufferPointer) {
      bytes += more
      if !sawPreface {
        guard bytes.count >= 24 else { return }
        bytes.removeFirst(24)
        sawPreface = true
      }
      while bytes.count >= 9 {
        let count = Int(bytes[0]) << 16 | Int(bytes[1]) << 8 | Int(bytes[2])
        guard bytes.count >= 9 + count else { return }
        let (kind, flags) = (bytes[3], bytes[4])
        let id = bytes[5..<9].reduce(0 as Int32) { $0 << 8 | Int32($1) }
        let payload = Array(bytes[9..<9 + count])
        bytes.removeFirst(9 + count)
        take(kind, flags, id, payload)
      }
    }

    private func take(_ kind: UInt8, _ flags: UInt8, _ id: Int32, _ payload: [UInt8]) {
      switch kind {
      case 4: if flags & 1 == 0, acknowledges { say(frame(4, flags: 1, [])) }
      case 6: if flags & 1 == 0, !isDripping { say(frame(6, flags: 1, payload)) }
      case 7: seen.withLock { $0.goAways.append(payload[4..<8].reduce(0) { $0 << 8 | UInt32($1) }) }
      case 0, 1:
        guard flags & 1 != 0 else { return }
        ordinal += 1
        let total = seen.withLock { seen in
          seen.requests += 1
          return seen.requests
        }
        guard !isDripping else { return }
        if drip { return startDripping() }
        say(script(total, ordinal, id))
      default: break
      }
    }

    private var isDripping = false

    private func startDripping() {
      isDripping = true
      say([0, 0x40, 0, 0, 0, 0, 0, 0, 1])  // DATA of 16 KiB on stream 1
      dripOn()
    }

    private func dripOn() {
      guard !stream.isClosed else { return }
      say([0])
      nonisolated(unsafe) let handler = self  // the timer fires on this connection's loop
      stream.loop.schedule(after: .milliseconds(20)) { handler.dripOn() }
    }

    func writable() {}
    func receivedEnd() { stream.close() }
    func timeCheck(now: Int64) -> Int64 { .max }
    func closed(_ fault: TransportFault) {}
  }
}
