import APNSClient
import Basics
import BelfryTesting
import Delivery
import Testing

@testable import Transport

/// Lets virtual time pass in small steps until something holds; the milliseconds that passed, `.max` when it never held.
private func virtualTime(_ clock: VirtualClock, _ holds: () async -> Bool) async -> Int64 {
  let begin = clock.uptime.milliseconds
  for _ in 0..<400 {
    for _ in 0..<10 {
      if await holds() { return clock.uptime.milliseconds - begin }
      try? await Task.sleep(for: .milliseconds(1))
    }
    clock.advance(by: .milliseconds(100))
  }
  return .max
}

/// The milliseconds of virtual time until all of them are accepted, `.max` when they never are.
private func virtualTime(_ clock: VirtualClock, sending pushes: [OutgoingPush], by client: APNSClient) async -> Int64 {
  let accepted = Locked(0)
  let sending = Task {
    let outcomes = await client.send(pushes)
    accepted.withLock { $0 = outcomes.accepted }
  }
  let time = await virtualTime(clock) { accepted.withLock { $0 } == pushes.count }
  await sending.value
  return time
}

@Suite("The provider client and connections that fail in odd ways", .timeLimit(.minutes(2)))
struct ConnectionTroubleTests {
  @Test(
    "C40 kept for hours, then packets vanish: the next push is answered by another within seconds, under its apns-id",
    arguments: [2, 12])
  func idleThenDark(hours: Int) async throws {
    let peer = try await ScriptedPeer.start(streams: 1) { _ in [.accept] }
    let proxy = FreezingProxy(to: peer.endpoint.port)
    let clock = VirtualClock()
    let fixture = try ClientFixture(peer, port: proxy.port, clock: clock) { $0.pool.idleLimit = .hours(24) }
    let client = fixture.client
    #expect(await client.send(pushes(0..<1)).accepted == 1)
    for _ in 0..<hours * 2 {
      let answered = await client.health.answeredPings
      #expect(await eventually { clock.sleeperCount > 0 })
      clock.advance(by: .minutes(30))
      #expect(await eventually { await client.health.answeredPings > answered })
    }
    #expect(await client.health.connections == 1 && proxy.count == 1, "it was not let go before")
    proxy.freeze()
    let time = await virtualTime(clock, sending: pushes(1..<2), by: client)
    #expect(time <= 8000, "\(time) ms")
    #expect(proxy.count == 2)
    #expect(peer.log.withLock { $0.requests.map(\.id) } == [apnsID(0), apnsID(1)])
    #expect(await client.health.lastFault?.place.contains("\(proxy.port)") == true, "the dead address is named")
    await fixture.stop()
    proxy.stop()
    await peer.stop()
  }

  @Test("GOAWAY, and the peer leaves it open: another takes over within a second, we close it at its last answer")
  func lingering() async throws {
    let permission = Locked(false)
    let peer = try await RawPeer.start(
      late: (
        permission,
        { total, _, stream in (2...6).contains(total) ? RawPeer.accept(stream) : [] }
      )
    ) { total, _, stream in
      switch total {
      case 2..<6: []
      case 6:
        RawFrame(
          kind: .goAway, payload: [0, 0, 0, UInt8(stream), 0, 0, 0, 0] + Array(#"{"reason":"Shutdown"}"#.utf8)
        ).bytes
      default: RawPeer.accept(stream)
      }
    }
    let clock = VirtualClock()
    let fixture = try StrangeServerTests.fixture(peer, clock: clock) { $0.pool.size.limit = 4 }
    let client = fixture.client
    #expect(await client.send(pushes(0..<1)).accepted == 1)
    let owed = Task { await client.send(pushes(1..<6)) }
    #expect(await eventually { await client.metrics.goAways == 1 })
    let time = await virtualTime(clock, sending: pushes(10..<20), by: client)
    #expect(time <= 1000, "\(time) ms")
    #expect(peer.seen.withLock { $0.connections } == 2 && peer.seen.withLock { $0.ended } == 0)
    permission.withLock { $0 = true }
    #expect(await owed.value.accepted == 5)
    #expect(await eventually { peer.seen.withLock { $0.ended } == 1 }, "closed by us")
    #expect(peer.seen.withLock { $0.requests } == 16, "nothing was sent twice")
    await fixture.stop()
    await peer.stop()
  }

  @Test("a peer that never acknowledges our SETTINGS is told SETTINGS_TIMEOUT and left (RFC 9113 §6.5.3)")
  func unacknowledged() async throws {
    let peer = try await RawPeer.start(acknowledges: false) { _, _, stream in RawPeer.accept(stream) }
    let loop = EventLoop(name: "client")
    let fault = Locked<TransportFault?>(nil)
    let tls = try TLSClientContext(trust: .pem(peer.authority.pem))
    loop.execute {
      var limits = HTTP2Limits()
      limits.handshakeTimeout = .milliseconds(300)
      _ = HTTP2ClientConnection.connect(
        to: peer.endpoint, tls: tls, on: loop, limits: limits, handler: Watching(fault))
    }
    #expect(await eventually { fault.withLock { $0 != nil } })
    #expect(fault.withLock { $0?.kind } == .timedOut(.settings))
    #expect(fault.withLock { $0?.what.contains("does not acknowledge our HTTP/2 SETTINGS") } == true)
    #expect(await eventually { peer.seen.withLock { $0.goAways } == [4] })
    await peer.stop()
    await loop.stop()
  }

  private final class Watching: HTTP2ClientHandler {
    private let fault: Locked<TransportFault?>
    init(_ fault: Locked<TransportFault?>) { self.fault = fault }
    func connected() {}
    func settingsChanged(maxConcurrentStreams: UInt32) {}
    func response(stream: Int32, _ response: HTTP2Response) {}
    func streamFailed(stream: Int32, code: HTTP2ErrorCode) {}
    func goAway(lastStream: Int32, code: HTTP2ErrorCode, debugData: [UInt8]) {}
    func pong() {}
    func closed(_ fault: TransportFault) { self.fault.withLock { $0 = fault } }
  }

  @Test(
    "an answer over a limit is told in its own words",
    arguments: [
      (70, 0, "the header of the answer is over 8000 bytes"), (120, 6, "the header of the answer is over 8000 bytes"),
      (120, 64, "the header of the answer is over 8000 bytes"), (1, 130, "Too many CONTINUATION frames"),
      (0, 70, "the body of the answer is over 65536 bytes"),
    ])
  func tooLarge(lines: Int, more: Int, words: String) async throws {
    let peer = try await RawPeer.start { total, _, stream in
      guard total > 1 else { return RawPeer.accept(stream) }
      guard lines > 0 else {
        let kibibyte = String(repeating: "x", count: 1024)
        return RawFrame.response(stream, status: "400", endsStream: false).bytes
          + (0..<more).flatMap { RawFrame.data(stream, kibibyte, endsStream: $0 == more - 1).bytes }
      }
      let fields = Array(repeating: ("x-long", String(repeating: "x", count: 120)), count: lines)
      var head = RawFrame.response(stream, status: "200", fields: fields)
      if more > 0 { head.flags &= ~RawFrame.endHeaders }
      let piece = RawFrame.block(fields)
      return head.bytes
        + (0..<more).flatMap {
          RawFrame(
            kind: .continuation, flags: $0 == more - 1 ? RawFrame.endHeaders : 0, stream: stream, payload: piece
          ).bytes
        }
    }
    let fixture = try StrangeServerTests.fixture(peer) { $0.pool.retry.attempts = 1 }
    #expect(await fixture.client.send(pushes(0..<1)).accepted == 1)
    guard case .unanswered(.retriesExhausted(let why)) = await fixture.client.send(pushes(1..<2)[0]) else {
      Issue.record("answered")
      return
    }
    #expect(why.contains(words), "\(why)")
    await fixture.stop()
    await peer.stop()
  }

  @Test("a peer that opens no window: pushes go by another connection, though this one has streams left")
  func narrowWindow() async throws {
    // this peer never says WINDOW_UPDATE: 64 KiB of bodies are all that a connection carries (RFC 9113 §6.9.2)
    let peer = try await RawPeer.start { _, _, stream in RawPeer.accept(stream) }
    let clock = VirtualClock()
    let fixture = try StrangeServerTests.fixture(peer, clock: clock) { configuration in
      configuration.pool.size.limit = 4
      configuration.pool.requestTimeout = .hours(1)
    }
    let client = fixture.client
    let body = #"{"aps":{"alert":""# + String(repeating: "x", count: 280) + #""}}"#
    #expect(await client.send(pushes(0..<1, payload: body)).accepted == 1)
    let stuck = Task { await client.send(pushes(1..<400, payload: body)) }
    #expect(await eventually { peer.seen.withLock { $0.requests } >= 200 })
    let answered = Locked(0)
    let sending = Task {
      let outcomes = await client.send(pushes(1000..<1050, payload: body))
      answered.withLock { $0 = outcomes.accepted }
    }
    _ = await virtualTime(clock) { peer.seen.withLock { $0.connections } >= 2 }
    let more = Task {
      let outcomes = await client.send(pushes(2000..<2050, payload: body))
      answered.withLock { $0 += outcomes.accepted }
    }
    let time = await virtualTime(clock) { answered.withLock { $0 } >= 50 }
    #expect(time <= 1000, "\(time) ms")
    #expect(peer.seen.withLock { $0.connections } >= 2)
    await fixture.stop()
    for task in [sending, more] { await task.value }
    _ = await stuck.value
    await peer.stop()
  }

  @Test("C41 one connection through SETTINGS 1, 1000, 1 after a 400, 0 for two seconds, 1000: all answered once")
  func streamLimits() async throws {
    let isShut = Locked(false)
    let opens = Locked(false)
    let peer = try await ScriptedPeer.start(streams: 1, keepsBodies: false) { request in
      switch request.ordinal {
      case 1: return [.announce(1000), .accept]
      case 500: return [.announce(1), .refuse(400, "BadDeviceToken")]
      case 1100:
        isShut.withLock { $0 = true }
        return [.announce(0), .accept, .when(opens, [.announce(1000)])]
      default: return [.accept]
      }
    }
    let clock = VirtualClock()
    let fixture = try ClientFixture(peer, clock: clock) { $0.pool.size.limit = 1 }
    let client = fixture.client
    let sending = Task { await client.send(pushes(0..<1500)) }
    #expect(await eventually { isShut.withLock { $0 } })
    #expect(await eventually { await client.metrics.inFlight == 0 })
    let before = peer.log.withLock { $0.requests.count }
    for _ in 0..<8 {
      #expect(await eventually { clock.sleeperCount > 0 })
      clock.advance(by: .milliseconds(250))
      try await Task.sleep(for: .milliseconds(2))
    }
    #expect(peer.log.withLock { $0.requests.count } == before && before < 1500, "two seconds without a stream")
    #expect(await client.metrics.waiting == 1500 - before)
    opens.withLock { $0 = true }
    let outcomes = await sending.value
    #expect(outcomes.accepted == 1499)
    let log = peer.log.withLock { $0 }
    #expect(log.connections == 1 && log.mostStreams <= 1000 && log.requests.count == 1500)
    #expect(Set(log.requests.map(\.id)).count == 1500)
    await fixture.stop()
    await peer.stop()
  }
}
