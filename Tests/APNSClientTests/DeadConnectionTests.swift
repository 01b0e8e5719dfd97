import APNSClient
import Basics
import BelfryTesting
import Delivery
import Testing
import Transport

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

@Suite("The provider client and a network that fails", .timeLimit(.minutes(2)))
struct DeadConnectionTests {
  static func hasty(_ configuration: inout APNSClient.Configuration) {
    configuration.pool.silence = .milliseconds(200)
    configuration.pool.pingTimeout = .milliseconds(300)
    configuration.pool.connectTimeout = .milliseconds(600)
    configuration.pool.size.firstDelay = .milliseconds(50)
  }

  @Test(
    "C40 packets dropped without a word: the next push is answered through another connection, under the same apns-id")
  func dropped() async throws {
    let peer = try await ScriptedPeer.start(streams: 1) { _ in [.accept] }
    let proxy = FreezingProxy(to: peer.endpoint.port)
    let fixture = try ClientFixture(peer, port: proxy.port) { configuration in
      Self.hasty(&configuration)
      configuration.pool.requestTimeout = .hours(1)  // so that only the PING that stays without answer can help
    }
    #expect(await fixture.client.send(pushes(0..<1)).accepted == 1)
    proxy.freeze()
    #expect(await fixture.client.send(pushes(1..<2)).accepted == 1)
    #expect(proxy.count == 2)
    await fixture.stop()
    proxy.stop()
    await peer.stop()
  }

  @Test("C40 a client that was itself held up, as on a machine without a free core, takes no peer for dead")
  func heldUp() async throws {
    let peer = try await ScriptedPeer.start(streams: 1) { _ in [.after(.milliseconds(2500), [.accept])] }
    let fixture = try ClientFixture(peer) { configuration in
      Self.hasty(&configuration)
      configuration.pool.connectTimeout = .minutes(1)
      configuration.pool.requestTimeout = .minutes(1)
    }
    let task = Task { await fixture.client.send(pushes(0..<1)) }
    #expect(await eventually { peer.log.withLock { $0.requests.count } == 1 })
    for _ in 0..<2 {
      peer.hold(microseconds: 400_000)
      // the client has asked by PING by then; the answer comes while it is held up
      try await Task.sleep(for: .milliseconds(250))
      fixture.loop.execute { usleep(700_000) }
      try await Task.sleep(for: .milliseconds(750))
    }
    #expect(await task.value.accepted == 1)
    #expect(peer.log.withLock { $0.requests.count } == 1)
    #expect(peer.log.withLock { $0.connections } == 1)
    await fixture.stop()
    await peer.stop()
  }

  @Test("C40 an address that accepts and never answers: left in time, and named")
  func deaf() async throws {
    let peer = try await ScriptedPeer.start(streams: 1) { _ in [.accept] }
    let proxy = FreezingProxy(to: peer.endpoint.port)
    proxy.freezeNew(true)
    let fixture = try ClientFixture(peer, port: proxy.port) { configuration in
      Self.hasty(&configuration)
      configuration.pool.size.limit = 1
    }
    let client = fixture.client
    let task = Task { await client.send(pushes(0..<1)) }
    #expect(await eventually { proxy.count >= 2 })
    proxy.freezeNew(false)
    #expect(await task.value.accepted == 1)
    let named = fixture.events.withLock { events in
      events.contains { event in
        if case .connectFailed(let fault) = event { fault.place.contains("\(proxy.port)") } else { false }
      }
    }
    #expect(named)
    #expect(await client.health.lastFault?.place.contains("\(proxy.port)") == true)
    await fixture.stop()
    proxy.stop()
    await peer.stop()
  }

  @Test(
    "C40 hours of idleness, then a network that drops packets: the next push goes by a new connection at once",
    arguments: [2, 12])
  func idle(hours: Int) async throws {
    let peer = try await ScriptedPeer.start(streams: 1) { _ in [.accept] }
    let proxy = FreezingProxy(to: peer.endpoint.port)
    let clock = VirtualClock()
    let fixture = try ClientFixture(peer, port: proxy.port, clock: clock)
    #expect(await fixture.client.send(pushes(0..<1)).accepted == 1)
    #expect(await eventually { clock.sleeperCount > 0 })
    clock.advance(by: .hours(Int64(hours)))
    #expect(await eventually { await fixture.client.health.connections == 0 })
    proxy.freeze()
    #expect(await fixture.client.send(pushes(1..<2)).accepted == 1)
    #expect(proxy.count == 2)
    await fixture.stop()
    proxy.stop()
    await peer.stop()
  }

  @Test("C40 503 for a while loses nothing")
  func unavailable() async throws {
    let peer = try await ScriptedPeer.start(streams: 1) { request in
      request.total < 60 ? [.answer(status: 503, body: "<html>")] : [.accept]
    }
    let fixture = try ClientFixture(peer) { configuration in
      configuration.pool.retry.firstDelay = .milliseconds(20)
    }
    #expect(await fixture.client.send(pushes(0..<20)).accepted == 20)
    await fixture.stop()
    await peer.stop()
  }

  @Test("a single request without an answer is tried again under the same apns-id after its time")
  func silentStream() async throws {
    let peer = try await ScriptedPeer.start { request in request.total == 3 ? [] : [.accept] }
    let fixture = try ClientFixture(peer) { $0.pool.requestTimeout = .milliseconds(300) }
    #expect(await fixture.client.send(pushes(0..<5)).accepted == 5)
    let ids = peer.log.withLock { $0.requests.map(\.id) }
    #expect(ids.count == 6 && Set(ids).count == 5)
    await fixture.stop()
    await peer.stop()
  }

  @Test("nobody listens: unanswered after the patience given, with the reason")
  func nobody() async throws {
    let peer = try await ScriptedPeer.start { _ in [.accept] }
    let port = peer.endpoint.port
    await peer.stop()
    let fixture = try ClientFixture(peer, port: port) { configuration in
      configuration.pool.patience = .milliseconds(400)
      configuration.pool.size.firstDelay = .milliseconds(50)
    }
    guard case .unanswered(.retriesExhausted(let why)) = await fixture.client.send(pushes(0..<1)[0]) else {
      Issue.record("answered")
      return
    }
    #expect(why.contains("127.0.0.1:\(port)"))
    await fixture.stop()
  }

  @Test("a server that nobody vouches for is not sent anything")
  func untrusted() async throws {
    let peer = try await ScriptedPeer.start { _ in [.accept] }
    let other = try await ScriptedPeer.start { _ in [.accept] }
    let fixture = try ClientFixture(peer) { configuration in
      configuration.trust = .pem(other.authority.pem)
      configuration.pool.patience = .milliseconds(300)
    }
    guard case .unanswered(.retriesExhausted) = await fixture.client.send(pushes(0..<1)[0]) else {
      Issue.record("answered")
      return
    }
    #expect(await fixture.client.health.lastFault?.kind == .certificateUntrusted)
    #expect(peer.log.withLock { $0.requests.isEmpty })
    await fixture.stop()
    await peer.stop()
    await other.stop()
  }
}
