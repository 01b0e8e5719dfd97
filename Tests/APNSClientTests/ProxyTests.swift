import APNSClient
import Basics
import BelfryTesting
import Delivery
import Testing
import Transport

@Suite("The provider client and a proxy", .timeLimit(.minutes(2)))
struct ClientProxyTests {
  /// Runs a client by a proxy; the server's name is one that only the proxy is told.
  private func run<Result>(
    _ prefix: String, conduct: @escaping @Sendable (Int) -> ScriptedProxy.Conduct,
    script: @escaping ScriptedPeer.Script = { _ in [.accept] },
    _ body: (ClientFixture, ScriptedProxy, ScriptedPeer) async throws -> Result
  ) async throws -> Result {
    let peer = try await ScriptedPeer.start(script: script)
    let proxy = try await ScriptedProxy.start(to: peer.endpoint, conduct: conduct)
    let chosen = try Proxy("\(prefix)\(proxy.endpoint)")
    let fixture = try ClientFixture(peer) { configuration in
      configuration.server = APNSServer(Endpoint(host: "localhost", port: 2197))
      configuration.proxy = chosen
      configuration.pool.size.firstDelay = .milliseconds(30)
      configuration.pool.size.longestDelay = .milliseconds(60)
      configuration.pool.size.opensPerSecond = 100
      configuration.pool.retry.firstDelay = .milliseconds(20)
    }
    let result = try await body(fixture, proxy, peer)
    await fixture.stop()
    await proxy.stop()
    await peer.stop()
    return result
  }

  @Test(
    "brings pushes through, byte by byte too, and is told the server's name",
    arguments: [
      ("http://", ScriptedProxy.Conduct.connect(), "localhost:2197"),
      ("http://", .connect(inPieces: true), "localhost:2197"),
      ("http://lin:pw@", .connect(authorization: "Basic bGluOnB3"), "localhost:2197"),
      ("socks5://", .socks5(), "localhost"), ("socks5://", .socks5(inPieces: true), "localhost"),
      ("socks5://lin:pw@", .socks5(password: "pw"), "localhost"),
      ("socks5://lin:pw@", .socks5(password: "pw", inPieces: true), "localhost"),
    ])
  func through(prefix: String, conduct: ScriptedProxy.Conduct, wanted: String) async throws {
    let always: @Sendable (Int) -> ScriptedProxy.Conduct = { _ in conduct }
    try await run(prefix, conduct: always) { fixture, proxy, _ in
      #expect(await fixture.client.send(pushes(0..<50)).accepted == 50)
      #expect(Set(proxy.wanted) == [wanted])
    }
  }

  @Test(
    "that does not bring us there: pushes wait, the fault says what is wrong; then it does, and none is lost",
    arguments: [
      (ScriptedProxy.Conduct.says("HTTP/1.1 503 Service Unavailable\r\n\r\n"), "503 Service Unavailable"),
      (.says("HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=x\r\n\r\n"), "user and password"),
      (.says("HTTP/1.1 403 Forbidden\r\n\r\n"), "forbids"), (.says("SSH-2.0-x\r\n"), "SSH-2.0"), (.closes, "closed"),
    ])
  func refuses(conduct: ScriptedProxy.Conduct, words: String) async throws {
    let first: @Sendable (Int) -> ScriptedProxy.Conduct = { $0 < 3 ? conduct : .connect() }
    try await run("http://", conduct: first) { fixture, proxy, peer in
      #expect(await fixture.client.send(pushes(0..<20)).accepted == 20)
      #expect(proxy.connections >= 4)
      let faults = fixture.events.withLock { events in
        events.compactMap { event in if case .connectFailed(let fault) = event { fault } else { nil } }
      }
      #expect(faults.count >= 3 && faults.allSatisfy { $0.what.contains(words) }, "\(faults)")
      #expect(faults.allSatisfy { $0.place.contains("localhost:2197 by proxy \(proxy.endpoint)") }, "\(faults)")
      let log = peer.log.withLock { $0 }
      #expect(log.accepted.count == 20 && log.accepted.values.allSatisfy { $0 == 1 })
    }
  }

  @Test("that accepts and says nothing is left in time, and named")
  func silent() async throws {
    let peer = try await ScriptedPeer.start { _ in [.accept] }
    let proxy = try await ScriptedProxy.start(to: peer.endpoint) { $0 < 2 ? .silent : .socks5() }
    let fixture = try ClientFixture(peer) { configuration in
      configuration.server = APNSServer(Endpoint(host: "localhost", port: 2197))
      configuration.proxy = .socks5(proxy.endpoint)
      configuration.pool.connectTimeout = .milliseconds(400)
      configuration.pool.size.firstDelay = .milliseconds(30)
      configuration.pool.size.limit = 1
    }
    #expect(await fixture.client.send(pushes(0..<5)).accepted == 5)
    #expect(proxy.connections == 3)
    #expect(await fixture.client.health.lastFault?.place.contains("by proxy \(proxy.endpoint)") == true)
    await fixture.stop()
    await proxy.stop()
    await peer.stop()
  }

  @Test("that dies in mid-stream, again and again: each push ends once, none is lost")
  func dies() async throws {
    let count = Locked(0)
    let conduct: @Sendable (Int) -> ScriptedProxy.Conduct = { _ in .connect() }
    let script: ScriptedPeer.Script = { _ in
      count.withLock { $0 += 1 }
      return [.after(.milliseconds(2), [.accept])]
    }
    try await run("http://", conduct: conduct, script: script) { fixture, proxy, peer in
      let client = fixture.client
      let sending = Task { await client.send(pushes(0..<3000)) }
      for mark in [300, 900, 1500] {
        #expect(await eventually { count.withLock { $0 } >= mark })
        proxy.cut()
      }
      let outcomes = await sending.value
      #expect(outcomes.accepted == 3000)
      #expect(proxy.connections >= 4)
      #expect(peer.log.withLock { $0.accepted.count } == 3000)
    }
  }
}

/// Answers of a test instead of name servers.
final class ScriptedResolver: NameResolver {
  let asked = Locked(0)
  private let answer: @Sendable (Int) -> [Endpoint]?

  /// `answer` is given how often was asked before; nil is a failure.
  init(_ answer: @escaping @Sendable (Int) -> [Endpoint]?) { self.answer = answer }

  func addresses(
    of host: Endpoint, on loop: EventLoop, _ done: @escaping (Result<[Endpoint], TransportFault>) -> Void
  ) {
    let count = asked.withLock { asked in
      asked += 1
      return asked - 1
    }
    nonisolated(unsafe) let done = done  // runs on the same loop
    loop.execute { [answer] in
      guard let found = answer(count) else {
        return done(
          .failure(
            TransportFault(
              .nameNotFound, at: host.description, what: "the host name has no address", remedy: "Wait.")))
      }
      done(.success(found))
    }
  }
}

@Suite("The provider client and a host's addresses", .timeLimit(.minutes(2)))
struct ClientAddressTests {
  /// A client of a name with two addresses, that keeps one connection.
  private static func fixture(_ peer: ScriptedPeer, beside dark: Endpoint) throws -> ClientFixture {
    let good = peer.endpoint
    return try ClientFixture(peer) { configuration in
      configuration.server = APNSServer(Endpoint(host: "localhost", port: 2197))
      configuration.resolver = ScriptedResolver { _ in [dark, good] }
      configuration.pool.size.limit = 1
      configuration.pool.size.opensPerSecond = 100
      configuration.pool.requestTimeout = .hours(1)
    }
  }

  /// A push by each new connection until the client names an address as dark: by chance either is first, a few
  /// connections see both. Answers how many pushes that took.
  private static func pushUntilDark(_ fixture: ClientFixture, _ peer: ScriptedPeer) async -> Int {
    var rounds = 0
    while fixture.client.darkAddresses.isEmpty, rounds < 40 {
      #expect(await fixture.client.send(pushes(rounds..<rounds + 1)).accepted == 1)
      await dropConnections(fixture.client, peer)
      rounds += 1
    }
    return rounds
  }

  @Test("a name that is not found for 30 seconds costs no push; it is looked up anew each time")
  func lookUpFails() async throws {
    let peer = try await ScriptedPeer.start { _ in [.accept] }
    let clock = VirtualClock()
    let address = peer.endpoint
    let end = clock.uptime.milliseconds + 30_000
    let resolver = ScriptedResolver { _ in clock.uptime.milliseconds < end ? nil : [address] }
    let fixture = try ClientFixture(peer, clock: clock) { configuration in
      configuration.server = APNSServer(Endpoint(host: "localhost", port: 2197))
      configuration.resolver = resolver
    }
    let client = fixture.client
    let sending = Task { await client.send(pushes(0..<20)) }
    let over = Locked(false)
    let waiting = Task {
      let outcomes = await sending.value
      over.withLock { $0 = true }
      return outcomes
    }
    #expect(
      await eventually {
        clock.advance(by: .milliseconds(250))
        return over.withLock { $0 }
      })
    #expect(await waiting.value.accepted == 20)
    #expect((3...20).contains(resolver.asked.withLock { $0 }), "tried again, ever more rarely")
    #expect(await client.health.lastFault?.kind == .nameNotFound)
    await fixture.stop()
    await peer.stop()
  }

  @Test("C40 one address accepts and never answers: pushes go by another at once, and the dead one is named")
  func deafAddress() async throws {
    let peer = try await ScriptedPeer.start { _ in [.accept] }
    let deaf = FreezingProxy(to: peer.endpoint.port)
    deaf.freezeNew(true)
    let dark = Endpoint(host: "127.0.0.1", port: deaf.port)
    let fixture = try Self.fixture(peer, beside: dark)
    _ = await Self.pushUntilDark(fixture, peer)
    #expect(fixture.client.darkAddresses.map(\.address) == [dark])
    let tried = deaf.count
    for round in 0..<5 {
      #expect(await fixture.client.send(pushes(100 + round..<101 + round)).accepted == 1)
      await dropConnections(fixture.client, peer)
    }
    #expect(deaf.count == tried, "not tried again for a while")
    await fixture.stop()
    deaf.stop()
    await peer.stop()
  }

  @Test("C40 one address drops SYNs: pushes go by another at once, and the dark one is named")
  func droppedSYN() async throws {
    let backlog = try #require(FullBacklog(), "this kernel answers though the queue is full")
    let peer = try await ScriptedPeer.start { _ in [.accept] }
    let dark = backlog.endpoint
    let fixture = try Self.fixture(peer, beside: dark)
    let rounds = await Self.pushUntilDark(fixture, peer)
    #expect(fixture.client.darkAddresses.map(\.address) == [dark])
    #expect(peer.log.withLock { $0.accepted.count } == rounds, "each once")
    await fixture.stop()
    await peer.stop()
  }

  @Test("an address where nobody listens costs nothing but the look at the next")
  func refused() async throws {
    let peer = try await ScriptedPeer.start { _ in [.accept] }
    let gone = try await ScriptedPeer.start { _ in [.accept] }
    let nobody = gone.endpoint
    await gone.stop()
    let good = peer.endpoint
    let fixture = try ClientFixture(peer) { configuration in
      configuration.server = APNSServer(Endpoint(host: "localhost", port: 2197))
      configuration.resolver = ScriptedResolver { _ in [nobody, nobody, good] }
    }
    #expect(await fixture.client.send(pushes(0..<10)).accepted == 10)
    await fixture.stop()
    await peer.stop()
  }
}

/// Cuts what is connected and waits until the client has seen it.
private func dropConnections(_ client: APNSClient, _ peer: ScriptedPeer) async {
  peer.cutAll()
  #expect(await eventually { await client.health.connections == 0 })
}
