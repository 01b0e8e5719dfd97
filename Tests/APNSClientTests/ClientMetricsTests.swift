import APNSClient
import Basics
import BelfryTesting
import Delivery
import PushPayload
import Testing
import Transport

@Suite("The provider client spares devices and counts")
struct ClientMetricsTests {
  @Test("§8.2 TooManyRequests holds the pushes to that device back, also those offered later, and no others")
  func sparesDevice() async throws {
    let clock = VirtualClock()
    let isStrict = Locked(true)
    let busy = pushes(1..<2)[0].token
    let peer = try await ScriptedPeer.start { request in
      request.token == busy.hex && isStrict.withLock { $0 } ? [.refuse(429, "TooManyRequests")] : [.accept]
    }
    let fixture = try ClientFixture(peer, clock: clock)
    let first = Task { await fixture.client.send(pushes(1..<2)) }
    #expect(await eventually { await fixture.client.metrics.pausedDevices == 1 })
    var again = pushes(100..<103)
    for index in again.indices { again[index].token = busy }
    let later = Task { [again] in await fixture.client.send(again) }
    #expect(await fixture.client.send(pushes(2..<50)).accepted == 48, "others go on")
    #expect(await eventually { await fixture.client.metrics.waiting == 4 })
    #expect(peer.log.withLock { log in log.requests.count { $0.token == busy.hex } } == 1)
    isStrict.withLock { $0 = false }
    let all = Task { await first.value + later.value }
    let isDone = Locked(false)
    let watcher = Task {
      let outcomes = await all.value
      isDone.withLock { $0 = true }
      return outcomes
    }
    #expect(
      await eventually {
        clock.advance(by: .seconds(1))
        return isDone.withLock { $0 }
      })
    #expect(await watcher.value.accepted == 4)
    let metrics = await fixture.client.metrics
    #expect(metrics.refused == ["TooManyRequests": 1])
    #expect(metrics.accepted == 52)
    await fixture.stop()
    await peer.stop()
  }

  @Test("§13 of the answers each is counted by reason, each push's end by outcome, latency in buckets that add up")
  func counts() async throws {
    let peer = try await ScriptedPeer.start { request in
      switch request.ordinal % 5 {
      case 0: [.refuse(410, "Unregistered")]
      case 1: [.accept]
      case 2: [.refuse(400, "NotYetInvented")]
      case 3: [.answer(status: 418, body: "<html>")]
      default: [.accept]
      }
    }
    let fixture = try ClientFixture(peer)
    let batch = pushes(0..<100)
    let outcomes = await fixture.client.send(batch)
    let metrics = await fixture.client.metrics
    #expect(Int(metrics.accepted) == outcomes.accepted && outcomes.accepted == 40)
    #expect(metrics.refused == ["Unregistered": 20, "NotYetInvented": 20, "status 418": 20])
    #expect(metrics.latency.count == 100)
    #expect(metrics.inFlight == 0 && metrics.waiting == 0 && metrics.streamsInUse == 0)
    #expect(metrics.connections == 1 && metrics.connectionsOpened == 1 && metrics.streamsAllowed == 1000)
    #expect(metrics.credential.standing == .good && metrics.credential.tokenAge != nil)
    #expect(metrics.credential.certificateEnd == nil)
    let told = fixture.events.withLock { events in
      events.compactMap { event in if case .refused(let push) = event { push } else { nil } }
    }
    #expect(told.count == 60)
    for push in told {
      #expect(push.token == "00000000…", "shortened")
      #expect(batch.contains { $0.id == push.id })
    }
    await fixture.stop()
    await peer.stop()
  }

  @Test("a peer that invents reasons fills no memory")
  func inventedReasons() async throws {
    let peer = try await ScriptedPeer.start { [.refuse(400, "Invented\($0.total)")] }
    let fixture = try ClientFixture(peer)
    _ = await fixture.client.send(pushes(0..<300))
    let refused = await fixture.client.metrics.refused
    #expect(refused.count <= APNSClientMetrics.reasonLimit + 1)
    #expect(refused.values.reduce(0, +) == 300)
    #expect(refused["other"] == 300 - UInt64(APNSClientMetrics.reasonLimit))
    await fixture.stop()
    await peer.stop()
  }

  @Test(
    "a key of the other environment stops the client of this one only",
    arguments: ["BadEnvironmentKeyInToken", "BadEnvironmentKeyIdInToken"])
  func environmentKey(reason: String) async throws {
    let wrong = try await ScriptedPeer.start { _ in [.refuse(403, reason)] }
    let right = try await ScriptedPeer.start { _ in [.accept] }
    let key = try ClientFixture.key()
    let sandbox = try ClientFixture(wrong, credential: .token(key))
    let production = try ClientFixture(right, credential: .token(key))
    for _ in 0..<5 {
      let outcomes = await sandbox.client.send(pushes(0..<20))
      #expect(outcomes.allSatisfy { if case .unanswered(.suspended) = $0 { true } else { false } })
    }
    #expect(wrong.log.withLock { $0.requests.count } == 1)
    #expect(sandbox.alarms.count == 1 && sandbox.alarms[0].contains(reason))
    #expect(await sandbox.client.metrics.credential.standing == .held)
    #expect(await production.client.send(pushes(0..<20)).accepted == 20)
    #expect(await production.client.metrics.credential.standing == .good)
    for fixture in [sandbox, production] { await fixture.stop() }
    for peer in [wrong, right] { await peer.stop() }
  }

  @Test(
    "403s that say Forbidden, or what nobody knows, stop after a few: they do not burn the queue",
    arguments: ["Forbidden", "NotYetInvented"])
  func unknownForbidden(reason: String) async throws {
    let peer = try await ScriptedPeer.start { _ in [.refuse(403, reason)] }
    let fixture = try ClientFixture(peer) { $0.pool.streamsEach = 1 }
    let outcomes = await fixture.client.send(pushes(0..<200))
    let refused = outcomes.count { if case .refused = $0 { true } else { false } }
    #expect((10...14).contains(refused))
    #expect(fixture.alarms.count == 1)
    await fixture.stop()
    await peer.stop()
  }

  @Test("buckets are bounded above, and every duration is in one")
  func histogram() {
    var histogram = LatencyHistogram()
    for milliseconds in [-5, 0, 1, 2, 3, 100, 101, 10_000, 10_001, .max] as [Int64] {
      histogram.record(.milliseconds(milliseconds))
    }
    #expect(histogram.counts == [3, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 2])
    #expect(histogram.count == 10)
  }
}
