import Basics
import BelfryTesting

@testable import Transport

/// A provider that says exactly what a test wants, frame by frame, over TLS; and sees exactly what comes.
actor RawProvider {
  nonisolated let loop: EventLoop
  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
  private var stream: StreamConnection?
  private var reader = RawFrameReader()
  private var frames: [RawFrame] = []
  private var isOver = false
  private var wake: CheckedContinuation<Void, Never>?

  init(loop: EventLoop) { self.loop = loop }

  /// Returns once TLS is up and the preface with these SETTINGS is sent, or the connection is over.
  func connect(to endpoint: Endpoint, tls: TLSClientContext, settings: [(UInt8, UInt32)]) async {
    stream = .connect(
      to: endpoint, tls: tls, on: loop, limits: StreamLimits(),
      handler: RawBridge(self, first: RawFrame.preface(settings)))
    await withCheckedContinuation { wake = $0 }
  }

  func send(_ frames: RawFrame...) {
    frames.flatMap(\.bytes).withUnsafeBytes { _ = stream?.write($0) }
  }

  /// The next frame; nil at the end of the connection.
  func next() async -> RawFrame? {
    while frames.isEmpty, !isOver { await withCheckedContinuation { wake = $0 } }
    return frames.isEmpty ? nil : frames.removeFirst()
  }

  /// Frames up to and with the first that fits, or to the end.
  func until(_ isLast: (RawFrame) -> Bool) async -> [RawFrame] {
    var seen: [RawFrame] = []
    while let frame = await next() {
      seen.append(frame)
      if isLast(frame) { break }
    }
    return seen
  }

  /// What came before the server had seen everything sent so far.
  func synchronize() async -> [RawFrame] {
    send(RawFrame(kind: .ping, payload: Array("in sync?".utf8)))
    return await until { $0.kind == .ping && $0.flags == RawFrame.acknowledge }.dropLast()
  }

  func close() { stream?.close() }

  fileprivate func received(_ bytes: UnsafeRawBufferPointer) {
    reader.take(Array(bytes))
    while let frame = reader.next() { frames.append(frame) }
    wake?.resume()
    wake = nil
  }

  fileprivate func opened() {
    wake?.resume()
    wake = nil
  }

  fileprivate func ended() {
    isOver = true
    wake?.resume()
    wake = nil
  }
}

private final class RawBridge: StreamHandler {
  private let provider: RawProvider
  private let first: [UInt8]

  init(_ provider: RawProvider, first: [UInt8]) {
    self.provider = provider
    self.first = first
  }

  func opened(_ stream: StreamConnection) {
    first.withUnsafeBytes { _ = stream.write($0) }
    provider.assumeIsolated { $0.opened() }
  }
  func received(_ bytes: UnsafeRawBufferPointer) {
    nonisolated(unsafe) let bytes = bytes  // used within the call, on the loop
    provider.assumeIsolated { $0.received(bytes) }
  }
  func writable() {}
  func receivedEnd() { provider.assumeIsolated { $0.ended() } }
  func timeCheck(now: Int64) -> Int64 { .max }
  func closed(_ fault: TransportFault) { provider.assumeIsolated { $0.ended() } }
}
