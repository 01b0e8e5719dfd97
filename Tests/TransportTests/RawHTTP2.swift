import BelfryTesting

@testable import Transport

/// A client that says exactly what a test wants; blocking, so within `onThread`.
final class RawClient {
  let socket: PlainSocket
  private var reader = RawFrameReader()

  init(_ endpoint: Endpoint, settings: [(UInt8, UInt32)] = []) throws {
    socket = try PlainSocket(endpoint)
    socket.send(RawFrame.preface(settings))
  }

  func send(_ frames: RawFrame...) { socket.send(frames.flatMap(\.bytes)) }

  /// nil at the end of the connection.
  func next() -> RawFrame? {
    while true {
      if let frame = reader.next() { return frame }
      let bytes = socket.readSome()
      guard !bytes.isEmpty else { return nil }
      reader.take(bytes)
    }
  }

  /// Frames up to and with the first that fits; what comes of SETTINGS and WINDOW_UPDATE is left out.
  func until(_ isLast: (RawFrame) -> Bool) -> [RawFrame] {
    var frames: [RawFrame] = []
    while let frame = next() {
      if frame.kind != .settings, frame.kind != .windowUpdate || isLast(frame) { frames.append(frame) }
      if isLast(frame) { break }
    }
    return frames
  }

  /// Whether the bytes end so once, whatever their frames.
  func untilBytes(suffix: [UInt8]) -> Bool {
    var seen: [UInt8] = []
    while !seen.suffix(suffix.count).elementsEqual(suffix) {
      let bytes = socket.readSome()
      guard !bytes.isEmpty else { return false }
      seen += bytes
    }
    return true
  }

  func untilEnd() -> [RawFrame] { until { _ in false } }

  /// Returns once the server has seen everything sent so far.
  func synchronize() -> [RawFrame] {
    send(RawFrame(kind: .ping, payload: Array("in sync?".utf8)))
    return until { $0.kind == .ping && $0.flags == RawFrame.acknowledge }.dropLast()
  }
}
