import Basics
import BelfryTesting
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
    /// Connections that clients ended.
    var ended = 0
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
  ///   - late: what follows the script's bytes as soon as the test lets it.
  ///   - drip: from then on, on the first connection, one byte of a frame that never ends, every 20 ms.
  static func start(
    inPieces: Bool = false, acknowledges: Bool = true, drip: Bool = false,
    late: (permission: Locked<Bool>, script: Script)? = nil, script: @escaping Script
  ) async throws -> RawPeer {
    let certificates = try PeerCertificates()
    let tls = try TLSServerContext(identity: certificates.server)
    let loops = LoopGroup(count: 1)
    let seen = Locked(Seen())
    let listener = try await StreamListener.bind(
      Endpoint(host: "127.0.0.1", port: 0), loops: loops, tls: tls, limits: StreamLimits()
    ) { stream in
      let number = seen.withLock { seen in
        seen.connections += 1
        return seen.connections - 1
      }
      return Handler(stream, seen, inPieces, acknowledges, drip && number == 0, late, script)
    }
    return RawPeer(certificates.authority, listener, loops, seen)
  }

  func stop() async {
    await listener.close()
    await loops.stop()
  }

  static func accept(_ stream: Int32) -> [UInt8] { RawFrame.response(stream, status: "200").bytes }

  private final class Handler: StreamHandler {
    private let stream: StreamConnection
    private let seen: Locked<Seen>
    private let inPieces: Bool
    private let acknowledges: Bool
    private let drip: Bool
    private let late: (permission: Locked<Bool>, script: Script)?
    private let script: Script
    private var reader = RawFrameReader()
    private var prefaceLeft = RawFrame.preface.count
    private var ordinal = 0

    init(
      _ stream: StreamConnection, _ seen: Locked<Seen>, _ inPieces: Bool, _ acknowledges: Bool, _ drip: Bool,
      _ late: (permission: Locked<Bool>, script: Script)?, _ script: @escaping Script
    ) {
      self.stream = stream
      self.seen = seen
      self.inPieces = inPieces
      self.acknowledges = acknowledges
      self.drip = drip
      self.late = late
      self.script = script
    }

    func opened(_ stream: StreamConnection) { say(.settings([(3, 1000)])) }

    private func say(_ frame: RawFrame) { say(frame.bytes) }

    private func say(_ bytes: some Sequence<UInt8>) {
      for piece in inPieces ? bytes.map({ [$0] }) : [Array(bytes)] where !piece.isEmpty {
        piece.withUnsafeBytes { _ = stream.write($0) }
      }
    }

    func received(_ more: UnsafeRawBufferPointer) {
      var more = Array(more)
      let skipped = min(prefaceLeft, more.count)
      more.removeFirst(skipped)
      prefaceLeft -= skipped
      reader.take(more)
      while let frame = reader.next() { take(frame) }
    }

    private func take(_ frame: RawFrame) {
      switch frame.kind {
      case .settings: if frame.flags & RawFrame.acknowledge == 0, acknowledges { say(.settingsAcknowledged) }
      case .ping:
        guard frame.flags & RawFrame.acknowledge == 0, !isDripping else { return }
        say(RawFrame(kind: .ping, flags: RawFrame.acknowledge, payload: frame.payload))
      case .goAway: seen.withLock { $0.goAways.append(frame.code) }
      case .data, .headers:
        guard frame.endsStream else { return }
        ordinal += 1
        let total = seen.withLock { seen in
          seen.requests += 1
          return seen.requests
        }
        guard !isDripping else { return }
        if drip { return startDripping() }
        say(script(total, ordinal, frame.stream))
        if let late { sayLate(late.script(total, ordinal, frame.stream), late.permission) }
      case .priority, .resetStream, .pushPromise, .windowUpdate, .continuation: break
      }
    }

    private func sayLate(_ bytes: [UInt8], _ permission: Locked<Bool>) {
      guard !bytes.isEmpty, !stream.isClosed else { return }
      if permission.withLock({ $0 }) { return say(bytes) }
      nonisolated(unsafe) let handler = self  // the timer fires on this connection's loop
      stream.loop.schedule(after: .milliseconds(5)) { handler.sayLate(bytes, permission) }
    }

    private var isDripping = false

    private func startDripping() {
      isDripping = true
      say(RawFrame(kind: .data, stream: 1, payload: [UInt8](repeating: 0, count: 16_384)).bytes.prefix(9))
      dripOn()
    }

    private func dripOn() {
      guard !stream.isClosed else { return }
      say([0])
      nonisolated(unsafe) let handler = self  // the timer fires on this connection's loop
      stream.loop.schedule(after: .milliseconds(20)) { handler.dripOn() }
    }

    func writable() {}
    func receivedEnd() {
      seen.withLock { $0.ended += 1 }
      stream.close()
    }
    func timeCheck(now: Int64) -> Int64 { .max }
    func closed(_ fault: TransportFault) {}
  }
}
