import Basics
import BelfryTesting
import Synchronization
import Testing

@testable import Transport

/// What a client of a good will would say, then spoiled: frames changed, doubled, dropped, swapped, cut off, or noise.
private struct SpoiledTalk {
  private var dice: Dice

  init(seed: UInt64) { dice = Dice(seed: seed) }

  mutating func bytes() -> [UInt8] {
    var frames = goodFrames()
    for _ in 0..<Int.random(in: 1...6, using: &dice) { spoil(&frames) }
    var bytes = Int.random(in: 0..<20, using: &dice) == 0 ? [] : RawFrame.preface(settings())
    bytes += frames.flatMap(\.bytes)
    // Lengths, kinds and stream numbers that no frame of ours has.
    for _ in 0..<Int.random(in: 0...4, using: &dice) where !bytes.isEmpty {
      let at = Int.random(in: 0..<bytes.count, using: &dice)
      switch Int.random(in: 0..<4, using: &dice) {
      case 0: bytes[at] = UInt8.random(in: 0...255, using: &dice)
      case 1: bytes[at] ^= 1 << UInt8.random(in: 0..<8, using: &dice)
      case 2: bytes.insert(contentsOf: noise(40), at: at)
      default: bytes.removeSubrange(at..<min(bytes.count, at + 9))
      }
    }
    return bytes
  }

  private mutating func goodFrames() -> [RawFrame] {
    (0..<Int.random(in: 1...12, using: &dice)).flatMap { number -> [RawFrame] in
      let stream = Int32(2 * number + 1)
      switch Int.random(in: 0..<8, using: &dice) {
      case 0: return [.settings(settings())]
      case 1: return [RawFrame(kind: .ping, payload: noise(8, exactly: true))]
      case 2:
        return [.windowUpdate(Bool.random(using: &dice) ? 0 : stream, UInt32.random(in: 0...(1 << 31), using: &dice))]
      case 3: return [.request(stream), RawFrame(kind: .resetStream, stream: stream, payload: [0, 0, 0, 8])]
      case 4: return [RawFrame(kind: .goAway, payload: [0, 0, 0, 0, 0, 0, 0, 0] + noise(20))]
      case 5:
        var head = RawFrame.request(stream, endsStream: false)
        let tail = head.payload.suffix(4)
        head.payload.removeLast(4)
        head.flags = 0
        return [
          head, RawFrame(kind: .continuation, flags: RawFrame.endHeaders, stream: stream, payload: Array(tail)),
          RawFrame(kind: .data, flags: RawFrame.endStream, stream: stream, payload: noise(200)),
        ]
      default:
        return [
          .request(stream, extra: [("x-noise", noise(30).hex)], endsStream: false),
          RawFrame(kind: .data, flags: RawFrame.endStream, stream: stream, payload: noise(2000)),
        ]
      }
    }
  }

  private mutating func spoil(_ frames: inout [RawFrame]) {
    let at = Int.random(in: 0..<frames.count, using: &dice)
    switch Int.random(in: 0..<7, using: &dice) {
    case 0: frames[at].flags = UInt8.random(in: 0...255, using: &dice)
    case 1: frames[at].stream = Int32.random(in: 0...9, using: &dice)
    case 2: frames[at].kind = RawFrame.Kind(rawValue: UInt8.random(in: 0...9, using: &dice)) ?? .data
    case 3: frames[at].payload += noise(20)
    case 4: frames[at].payload = Array(frames[at].payload.dropLast(Int.random(in: 0...8, using: &dice)))
    case 5: frames.insert(frames[at], at: Int.random(in: 0...frames.count, using: &dice))
    default: frames.swapAt(at, Int.random(in: 0..<frames.count, using: &dice))
    }
  }

  private mutating func settings() -> [(UInt8, UInt32)] {
    (0..<Int.random(in: 0...3, using: &dice)).map { _ in
      (UInt8.random(in: 0...9, using: &dice), [0, 1, 100, 65_535, 1 << 24, .max].randomElement(using: &dice) ?? 0)
    }
  }

  private mutating func noise(_ most: Int, exactly: Bool = false) -> [UInt8] {
    (0..<(exactly ? most : Int.random(in: 0...most, using: &dice))).map { _ in UInt8.random(in: 0...255, using: &dice) }
  }
}

@Suite("No talk on the wire is too strange")
struct MutatedFramesTests {
  @Test(
    "a server outlives spoiled frames, serves the next client, and keeps nothing of them",
    arguments: 0..<8 as Range<UInt64>)
  func server(seed: UInt64) async throws {
    var limits = HTTP2Limits()
    limits.handshakeTimeout = .milliseconds(200)
    limits.requestTimeout = .milliseconds(200)
    limits.writeTimeout = .milliseconds(200)
    limits.idleTimeout = .milliseconds(200)
    let loops = LoopGroup(count: 1)
    let server = try await TestServer.bind(on: loops, tls: nil, limits: limits)
    let endpoint = server.endpoint
    try await onThread {
      for talk in 0..<60 as Range<UInt64> {
        var spoiled = SpoiledTalk(seed: seed << 32 | talk)
        let socket = try PlainSocket(endpoint)
        socket.send(spoiled.bytes())
        if talk % 3 == 0 { while !socket.readSome().isEmpty {} }  // to the end, which the server's times bring
      }
      let good = try RawClient(endpoint)
      good.send(.request(1))
      #expect(good.until { $0.stream == 1 }.last?.kind == .headers)
    }
    await server.stop(grace: .seconds(2))
    #expect(server.connectionCount == 0)
    await loops.stop()
    #expect(loops.loops[0].liveStreams.load(ordering: .relaxed) == 0)
    #expect(loops.loops[0].liveSessions.load(ordering: .relaxed) == 0)
  }
}
