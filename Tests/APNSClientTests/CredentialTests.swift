import APNSClient
import Basics
import BelfryTesting
import Delivery
import PushPayload
import Testing
import Transport

@Suite("The provider client and its credential")
struct CredentialTests {
  @Test("C27 3 hours, 2 topics, 4 connections: no 429, no 403, one token for each 50 minutes; restarts cost nothing")
  func threeHours() async throws {
    let clock = VirtualClock()
    let judge = TokenJudge(clock)
    let peer = try await ScriptedPeer.start(streams: 1, keepsBodies: false) { judge.answer($0) }
    let text = try P256PrivateKey.generate()
    func node() throws -> [ClientFixture] {
      let key = try ClientFixture.key(text)
      return try (0..<2).map { _ in
        try ClientFixture(peer, credential: .token(key), clock: clock) { configuration in
          configuration.pool.size.limit = 2
          configuration.pool.streamsEach = 20
        }
      }
    }
    var clients = try node()
    var sent = 0
    for minute in stride(from: 0, to: 180, by: 5) {
      for (index, fixture) in clients.enumerated() {
        let batch = pushes(sent..<sent + 40, topic: "com.example.app\(index)")
        #expect(await fixture.client.send(batch).accepted == 40)
        sent += 40
      }
      if [60, 65, 70].contains(minute) {
        for fixture in clients { await fixture.stop() }
        clients = try node()
      }
      clock.advance(by: .minutes(5))
    }
    let state = judge.state.withLock { $0 }
    #expect(state.refusals.isEmpty)
    #expect(state.tokens.count == 7, "two before, two for short-lived nodes, three after")
    #expect(peer.log.withLock { $0.connections } >= 4)
    for fixture in clients { await fixture.stop() }
    await peer.stop()
  }

  @Test(
    "C27 a clock that is off: one alarm that says by how much, pushes wait, nothing is signed in a loop",
    arguments: [61, -61])
  func wrongClock(minutes: Int) async throws {
    let truth = VirtualClock()
    let judge = TokenJudge(truth)
    let peer = try await ScriptedPeer.start(streams: 1) { judge.answer($0) }
    let clock = VirtualClock(now: truth.now + .minutes(Int64(minutes)))
    let fixture = try ClientFixture(peer, clock: clock)
    for _ in 0..<10 {
      let outcomes = await fixture.client.send(pushes(0..<20))
      #expect(outcomes.allSatisfy { if case .unanswered(.suspended) = $0 { true } else { false } })
    }
    #expect(judge.state.withLock { $0.refusals.count } == 1)
    #expect(fixture.alarms.count == 1)
    #expect(fixture.alarms.first?.contains(minutes > 0 ? "61 minutes ahead" : "61 minutes behind") == true)
    #expect(await fixture.client.health.held != nil)
    clock.set(to: truth.now)
    #expect(await fixture.client.send(pushes(0..<20)).accepted == 20, "the clock is right: at once")
    #expect(await fixture.client.health.held == nil)
    await fixture.stop()
    await peer.stop()
  }

  @Test("C27 a clock that jumps while running neither ages nor renews the token")
  func jumps() async throws {
    let truth = VirtualClock()
    let judge = TokenJudge(truth)
    let peer = try await ScriptedPeer.start(streams: 1) { judge.answer($0) }
    let clock = VirtualClock(now: truth.now)
    let fixture = try ClientFixture(peer, clock: clock)
    for jump in [0, 60, -120] as [Int64] {
      clock.set(to: clock.now + .minutes(jump))
      #expect(await fixture.client.send(pushes(0..<5)).accepted == 5)
    }
    #expect(judge.state.withLock { $0.tokens.count } == 1)
    await fixture.stop()
    await peer.stop()
  }

  @Test("C26 swapped ids: sending stops with one alarm that names the file, pushes wait, no token is blamed")
  func swapped() async throws {
    let clock = VirtualClock()
    let judge = TokenJudge(clock) { $0.header["kid"]?.string == ClientFixture.keyID }
    let peer = try await ScriptedPeer.start(streams: 1) { judge.answer($0) }
    let key = try ProviderKey(
      p8: P256PrivateKey.generate().pem, keyID: ClientFixture.teamID, teamID: ClientFixture.keyID, name: "AuthKey_X.p8")
    let fixture = try ClientFixture(peer, credential: .token(key), clock: clock)
    for _ in 0..<5 {
      let outcomes = await fixture.client.send(pushes(0..<50))
      #expect(outcomes.allSatisfy { if case .unanswered(.suspended) = $0 { true } else { false } })
    }
    #expect(judge.state.withLock { $0.refusals.count } == 1, "asked once, not for each push")
    #expect(fixture.alarms.count == 1)
    #expect(fixture.alarms.first?.contains("AuthKey_X.p8") == true)
    #expect(fixture.alarms.first?.contains("key id, team id") == true)
    await fixture.client.resume()
    _ = await fixture.client.send(pushes(0..<50))
    #expect(judge.state.withLock { $0.refusals.count } == 2, "the operator said to try again")
    await fixture.stop()
    await peer.stop()
  }

  @Test("a key that is revoked while a thousand pushes are on their way: one alarm, all wait")
  func revoked() async throws {
    let revoked = Locked(false)
    let clock = VirtualClock()
    let judge = TokenJudge(clock) { _ in revoked.withLock { !$0 } }
    let peer = try await ScriptedPeer.start(streams: 1, keepsBodies: false) { judge.answer($0) }
    let fixture = try ClientFixture(peer, clock: clock)
    #expect(await fixture.client.send(pushes(0..<100)).accepted == 100)
    revoked.withLock { $0 = true }
    let outcomes = await fixture.client.send(pushes(0..<2000))
    #expect(outcomes.count == 2000)
    #expect(outcomes.allSatisfy { if case .unanswered(.suspended) = $0 { true } else { false } })
    #expect(fixture.alarms.count == 1)
    await fixture.stop()
    await peer.stop()
  }

  @Test("BadCertificate in a GOAWAY holds the sending and names the file")
  func badCertificate() async throws {
    let peer = try await ScriptedPeer.start(clientCertificates: true) { request in
      [.goAway(last: 0, debug: #"{"reason":"BadCertificateEnvironment"}"#), .close]
    }
    let now = SystemClock().now
    let identity = try peer.authority.issueClient(
      commonName: "Apple Push Services: com.example.app", userID: "com.example.app", notBefore: now - .days(1),
      notAfter: now + .days(1))
    let fixture = try ClientFixture(peer, credential: .certificate(identity, name: "push.p12"))
    let outcomes = await fixture.client.send(pushes(0..<10))
    #expect(outcomes.allSatisfy { if case .unanswered(.suspended) = $0 { true } else { false } })
    #expect(fixture.alarms.count == 1 && fixture.alarms.first?.contains("push.p12") == true)
    await fixture.stop()
    await peer.stop()
  }

  @Test(
    "C28 a certificate out of its time is not used: pushes wait with one alarm; its end is told 30, 7 and 1 days ahead")
  func certificateDates() async throws {
    let peer = try await ScriptedPeer.start(clientCertificates: true) { _ in [.accept] }
    let now = SystemClock().now
    let identity = try peer.authority.issueClient(
      commonName: "Apple Push Services: com.example.app", userID: "com.example.app", notBefore: now - .days(1),
      notAfter: now + .days(365))
    let clock = VirtualClock(now: now)
    let fixture = try ClientFixture(peer, credential: .certificate(identity, name: "push.p12"), clock: clock)
    func endings() -> [String] {
      fixture.events.withLock { $0.compactMap { if case .certificateEnding(let words) = $0 { words } else { nil } } }
    }
    func isHeld(_ outcomes: [PushOutcome]) -> Bool {
      outcomes.allSatisfy { if case .unanswered(.suspended(let why)) = $0 { why.contains("push.p12") } else { false } }
    }
    #expect(await fixture.client.send(pushes(0..<3)).accepted == 3)
    #expect(endings().isEmpty && fixture.alarms.isEmpty)
    for (day, told) in [(334, 0), (336, 1), (357, 1), (359, 2), (363, 2), (364, 3)] as [(Int64, Int)] {
      clock.set(to: now + .days(day) + .minutes(1))
      for _ in 0..<2 { #expect(await fixture.client.send(pushes(0..<3)).accepted == 3) }
      #expect(endings().count == told && fixture.alarms.isEmpty, "day \(day)")
    }
    #expect(endings().last?.contains("in no more than a day") == true)
    #expect(await fixture.client.metrics.credential.certificateEnd == identity.certificate.notAfter)
    let sent = peer.log.withLock { $0.requests.count }
    clock.set(to: now + .days(366))
    for _ in 0..<2 { #expect(isHeld(await fixture.client.send(pushes(0..<3)))) }
    #expect(fixture.alarms.count == 1 && fixture.alarms.first?.contains("ended at") == true)
    clock.set(to: now - .days(2))
    #expect(isHeld(await fixture.client.send(pushes(0..<3))))
    #expect(fixture.alarms.count == 2 && fixture.alarms.last?.contains("clock") == true)
    #expect(peer.log.withLock { $0.requests.count } == sent, "nothing left with a certificate that none may take")
    clock.set(to: now)
    #expect(await fixture.client.send(pushes(0..<3)).accepted == 3, "the clock is right: at once")
    await fixture.stop()
    await peer.stop()
  }

  @Test(
    "C37 a wrong topic for 1,000 devices: one alarm after a few identical answers, no token is blamed, other topics go on"
  )
  func wrongTopic() async throws {
    for reason in ["DeviceTokenNotForTopic", "TopicDisallowed"] {
      let peer = try await ScriptedPeer.start(streams: 1, keepsBodies: false) { request in
        let answer: ScriptedPeer.Action = request.topic == "com.example.wrong" ? .refuse(400, reason) : .accept
        return request.ordinal == 1 ? [.announce(30), answer] : [answer]
      }
      let fixture = try ClientFixture(peer) { $0.pool.size.limit = 1 }
      let outcomes = await fixture.client.send(pushes(0..<1000, topic: "com.example.wrong"))
      let refused = outcomes.count { outcome in
        guard case .refused(let refusal) = outcome else { return false }
        return !refusal.retires(tokenRegisteredAt: Instant(seconds: 0))
      }
      let held = outcomes.count { if case .unanswered(.suspended) = $0 { true } else { false } }
      #expect(refused + held == 1000)
      #expect((10...100).contains(refused), "\(refused) answers were enough")
      #expect(fixture.alarms.count == 1)
      #expect(await fixture.client.send(pushes(0..<10)).accepted == 10)
      await fixture.stop()
      await peer.stop()
    }
  }

  @Test("C37 the second environment is never tried")
  func oneEnvironment() async throws {
    let down = Locked(true)
    let production = try await ScriptedPeer.start { _ in
      down.withLock { $0 } ? [.refuse(503, "ServiceUnavailable")] : [.accept]
    }
    let sandbox = try await ScriptedPeer.start { _ in [.refuse(400, "BadDeviceToken")] }
    let fixture = try ClientFixture(production) { $0.pool.retry.firstDelay = .milliseconds(50) }
    let client = fixture.client
    let task = Task { await client.send(pushes(0..<5)) }
    #expect(await eventually { production.log.withLock { $0.requests.count } >= 5 })
    down.withLock { $0 = false }
    #expect(await task.value.accepted == 5)
    #expect(sandbox.log.withLock { $0.connections } == 0)
    await fixture.stop()
    await production.stop()
    await sandbox.stop()
  }
}
