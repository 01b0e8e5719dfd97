import APNSClient
import Basics
import BelfryTesting
import Delivery
import Testing
import Transport

@Suite("The provider client and GOAWAY", .timeLimit(.minutes(5)))
struct GoAwayTests {
  @Test("C01 a GOAWAY after every 5,000 streams: all 100,000 end with an answer, none is shown twice")
  func everyFewStreams() async throws {
    let peer = try await ScriptedPeer.start(streams: 1, keepsBodies: false) { request in
      switch request.ordinal {
      case 1: [.announce(1000), .accept]
      case 5000: [.accept, .goAway(last: request.stream, debug: #"{"reason":"Shutdown"}"#)]
      default: [.accept]
      }
    }
    let fixture = try ClientFixture(peer) { $0.pool.size.opensPerSecond = 100 }
    var accepted = 0
    for start in stride(from: 0, to: 100_000, by: 5000) {
      let outcomes = await fixture.client.send(pushes(start..<start + 5000))
      accepted += outcomes.accepted
      #expect(outcomes.count == 5000)
    }
    #expect(accepted == 100_000)
    let log = peer.log.withLock { $0 }
    #expect(log.accepted.count == 100_000)
    #expect(log.accepted.values.allSatisfy { $0 == 1 }, "none is shown twice")
    #expect(log.connections >= 20)
    // When the pool has several connections open, the last of them end before their 5,000.
    let said = log.requests.count { $0.ordinal == 5000 }
    #expect(said >= 10)
    func reasons() -> [String?] {
      fixture.events.withLock { $0.compactMap { if case .goAway(_, let reason) = $0 { .some(reason) } else { nil } } }
    }
    #expect(await eventually { reasons().count == said }, "\(reasons().count) of \(said) are told")
    #expect(reasons().allSatisfy { $0 == "Shutdown" }, "the cause is told")
    await fixture.stop()
    await peer.stop()
  }

  @Test("C02 GOAWAY two below the newest open stream, on three connections: the two go again at once, none fails")
  func lastStreamBelow() async throws {
    let peer = try await ScriptedPeer.start(streams: 1000, keepsBodies: false) { request in
      guard request.connection < 3 else { return [.accept] }
      switch request.ordinal {
      case 1: return [.accept]
      case 20:
        // nineteen wait; the newest two are told to be unprocessed, the others are answered a little later
        let streams = (2...18).map { ScriptedPeer.Action.acceptStream(Int32($0 * 2 - 1)) }
        return [.goAway(last: request.stream - 4, debug: ""), .after(.milliseconds(20), streams)]
      default: return []
      }
    }
    let fixture = try ClientFixture(peer) { configuration in
      configuration.pool.size.limit = 3
      configuration.pool.size.opensPerSecond = 20
      configuration.pool.streamsEach = 20
      configuration.pool.requestTimeout = .hours(1)  // at once, not after a time-out
    }
    let outcomes = await fixture.client.send(pushes(0..<60))
    #expect(outcomes.accepted == 60)
    let log = peer.log.withLock { $0 }
    #expect(log.accepted.values.allSatisfy { $0 == 1 } && log.accepted.count == 60)
    let twice = Dictionary(grouping: log.requests, by: \.id).filter { $0.value.count > 1 }
    #expect(!twice.isEmpty)
    #expect(twice.values.allSatisfy { Set($0.map(\.connection)).count == $0.count }, "each time by another connection")
    await fixture.stop()
    await peer.stop()
  }

  @Test("two GOAWAYs in a row, the second with a lower number")
  func twoGoAways() async throws {
    let peer = try await ScriptedPeer.start { request in
      guard request.connection == 0 else { return [.accept] }
      switch request.ordinal {
      case 1: return [.accept]
      case 10:
        return [
          .goAway(last: .max, debug: "closing"), .goAway(last: 5, debug: "closing"),
          .acceptStream(3), .acceptStream(5), .close,
        ]
      default: return []
      }
    }
    let fixture = try ClientFixture(peer) { $0.pool.size.limit = 1 }
    #expect(await fixture.client.send(pushes(0..<10)).accepted == 10)
    #expect(peer.log.withLock { $0.accepted.values.allSatisfy { $0 == 1 } })
    await fixture.stop()
    await peer.stop()
  }

  @Test("a connection that is cut: what it owed goes again under the same apns-id")
  func cut() async throws {
    let peer = try await ScriptedPeer.start { request in
      request.connection == 0 && request.ordinal == 30
        ? [.abort] : request.connection == 0 && request.ordinal > 1 ? [] : [.accept]
    }
    let fixture = try ClientFixture(peer) { $0.pool.size.limit = 1 }
    #expect(await fixture.client.send(pushes(0..<30)).accepted == 30)
    let log = peer.log.withLock { $0 }
    #expect(Set(log.requests.map(\.id)).count == 30)
    #expect(log.requests.count > 30)
    await fixture.stop()
    await peer.stop()
  }

  @Test("a connection that is cut, with expiration 0: said to be unanswered, not sent twice")
  func cutOnce() async throws {
    let peer = try await ScriptedPeer.start { request in
      request.connection == 0 && request.ordinal == 30
        ? [.abort] : request.connection == 0 && request.ordinal > 1 ? [] : [.accept]
    }
    let fixture = try ClientFixture(peer) { $0.pool.size.limit = 1 }
    let outcomes = await fixture.client.send(pushes(0..<30, expiration: 0))
    #expect(outcomes.accepted == 1 && outcomes.count { $0 == .unanswered(.expired) } == 29)
    #expect(peer.log.withLock { $0.requests.count } == 30)
    await fixture.stop()
    await peer.stop()
  }
}

@Suite("The provider client and stream limits")
struct StreamLimitTests {
  @Test("C41 SETTINGS 1, then 1000, then 1 after each 400: no push fails for the limit")
  func followsSettings() async throws {
    let peer = try await ScriptedPeer.start(streams: 1, keepsBodies: false) { request in
      if request.ordinal == 1 { return [.announce(1000), .accept] }
      if request.total % 100 == 0 { return [.announce(1), .refuse(400, "BadDeviceToken")] }
      if request.total % 100 == 5 { return [.announce(1000), .accept] }
      return [.accept]
    }
    let fixture = try ClientFixture(peer) { $0.pool.size.limit = 1 }
    let outcomes = await fixture.client.send(pushes(0..<1500))
    let refused = outcomes.count { outcome in
      if case .refused(let refusal) = outcome { refusal.reason == "BadDeviceToken" } else { false }
    }
    #expect(refused >= 15 && outcomes.accepted + refused == 1500)
    let log = peer.log.withLock { $0 }
    #expect(log.connections == 1 && log.mostStreams <= 1000)
    #expect(log.requests.count == 1500, "answered once each")
    await fixture.stop()
    await peer.stop()
  }

  @Test("C41 SETTINGS 0 for a while: the client waits or opens another connection")
  func noStreams() async throws {
    let peer = try await ScriptedPeer.start(streams: 1, keepsBodies: false) { request in
      if request.connection == 0, request.ordinal == 1 {
        return [.announce(0), .after(.milliseconds(400), [.announce(1000)]), .accept]
      }
      return request.ordinal == 1 ? [.announce(1000), .accept] : [.accept]
    }
    for limit in [1, 4] {
      let fixture = try ClientFixture(peer) { $0.pool.size.limit = limit }
      #expect(await fixture.client.send(pushes(0..<1500)).accepted == 1500)
      await fixture.stop()
    }
    await peer.stop()
  }

  @Test("C41 REFUSED_STREAM on every tenth: each goes again at once and is accepted once")
  func refusedStreams() async throws {
    let peer = try await ScriptedPeer.start(keepsBodies: false) { request in
      request.total % 10 == 0 ? [.reset(.refusedStream)] : [.accept]
    }
    let fixture = try ClientFixture(peer) { $0.pool.size.limit = 1 }
    #expect(await fixture.client.send(pushes(0..<1500)).accepted == 1500)
    let log = peer.log.withLock { $0 }
    #expect(log.accepted.count == 1500 && log.accepted.values.allSatisfy { $0 == 1 })
    await fixture.stop()
    await peer.stop()
  }
}
