import APNSClient
import Basics
import BelfryTesting
import Delivery
import PushPayload
import Testing
import Transport

@Suite("Another credential takes over", .timeLimit(.minutes(2)))
struct RotationTests {
  static let oldID = "OLDOLD1234"
  static let newID = "NEWNEW5678"

  static func key(_ id: String) throws -> ProviderKey {
    try ProviderKey(
      p8: P256PrivateKey.generate().pem, keyID: id, teamID: ClientFixture.teamID, name: "AuthKey_\(id).p8")
  }

  /// A peer that, as APNs, refuses on a connection any key but its first, and any key in `refused` everywhere.
  static func peer(refusing refused: Locked<Set<String>> = Locked([])) async throws -> (
    ScriptedPeer, Locked<[Int: Set<String>]>
  ) {
    let seen = Locked([Int: Set<String>]())
    let peer = try await ScriptedPeer.start { request in
      let key = keyID(request) ?? ""
      let keys = seen.withLock { seen in
        seen[request.connection, default: []].insert(key)
        return seen[request.connection] ?? []
      }
      if refused.withLock({ $0.contains(key) }) { return [.refuse(403, "InvalidProviderToken")] }
      return keys.count > 1 ? [.refuse(403, "UnrelatedKeyIdInToken")] : [.accept]
    }
    return (peer, seen)
  }

  static func keyID(_ request: ScriptedPeer.Request) -> String? {
    JSONWebToken(String((request.authorization ?? "").dropFirst("bearer ".count)))?.header["kid"]?.string
  }

  static func rotations(_ fixture: ClientFixture) -> [String] {
    fixture.events.withLock { events in
      events.compactMap { event in if case .credentialRotated(let name) = event { name } else { nil } }
    }
  }

  @Test("without a gap: every push is accepted, no connection sees two keys, the old ones end")
  func withoutGap() async throws {
    let (peer, seen) = try await Self.peer()
    let fixture = try ClientFixture(peer, credential: .token(Self.key(Self.oldID))) { configuration in
      configuration.pool.streamsEach = 20
    }
    let isOver = Locked(false)
    let traffic = Task {
      var (sent, accepted) = (0, 0)
      while !isOver.withLock({ $0 }) {
        accepted += await fixture.client.send(pushes(sent..<sent + 100)).accepted
        sent += 100
      }
      return (sent, accepted)
    }
    #expect(await eventually { peer.log.withLock { $0.requests.count > 200 } })
    try await fixture.client.rotate(to: .token(Self.key(Self.newID)))
    #expect(await eventually { await fixture.client.metrics.credential.rotations == 1 })
    let before = peer.log.withLock { $0.requests.count }
    #expect(await eventually { peer.log.withLock { $0.requests.count > before + 300 } })
    isOver.withLock { $0 = true }
    let (sent, accepted) = await traffic.value
    #expect(accepted == sent)
    #expect(fixture.alarms.isEmpty)
    #expect(Self.rotations(fixture).count == 1 && Self.rotations(fixture)[0].contains(Self.newID))
    #expect(seen.withLock { $0.values.allSatisfy { $0.count == 1 } })
    let last = peer.log.withLock { $0.requests.suffix(100).map(Self.keyID) }
    #expect(Set(last) == [Self.newID])
    #expect(await eventually { peer.log.withLock { $0.openConnections } == (await fixture.client.metrics.connections) })
    await fixture.stop()
    await peer.stop()
  }

  @Test("a key that APNs refuses does not take over: the old one goes on, one alarm names both, nothing is lost")
  func refused() async throws {
    let (peer, _) = try await Self.peer(refusing: Locked([Self.newID]))
    let fixture = try ClientFixture(peer, credential: .token(Self.key(Self.oldID)))
    #expect(await fixture.client.send(pushes(0..<10)).accepted == 10)
    try await fixture.client.rotate(to: .token(Self.key(Self.newID)))
    var sent = 10
    #expect(
      await eventually {
        let accepted = await fixture.client.send(pushes(sent..<sent + 10)).accepted
        sent += 10
        return await fixture.client.metrics.credential.rotationsRefused == 1 && accepted == 10
      })
    #expect(await fixture.client.send(pushes(sent..<sent + 50)).accepted == 50)
    #expect(peer.log.withLock { log in log.requests.count { Self.keyID($0) == Self.newID } } == 1, "one push tried it")
    #expect(peer.log.withLock { $0.accepted.values.allSatisfy { $0 == 1 } })
    #expect(fixture.alarms.count == 1)
    for word in [Self.oldID, Self.newID, "InvalidProviderToken"] { #expect(fixture.alarms[0].contains(word)) }
    let status = await fixture.client.metrics.credential
    #expect(status.standing == .good && !status.isRotating && status.rotations == 0)
    await fixture.stop()
    await peer.stop()
  }

  @Test("a credential that is held is replaced at once, and sending goes on")
  func whileHeld() async throws {
    let (peer, _) = try await Self.peer(refusing: Locked([Self.oldID]))
    let fixture = try ClientFixture(peer, credential: .token(Self.key(Self.oldID)))
    let outcomes = await fixture.client.send(pushes(0..<10))
    #expect(outcomes.allSatisfy { if case .unanswered(.suspended) = $0 { true } else { false } })
    try await fixture.client.rotate(to: .token(Self.key(Self.newID)))
    #expect(await fixture.client.send(pushes(0..<10)).accepted == 10)
    #expect(await fixture.client.health.held == nil)
    await fixture.stop()
    await peer.stop()
  }

  @Test(
    "an idle client tries the new key with its next pushes; a key that was replaced before it was tried is forgotten")
  func idle() async throws {
    let (peer, _) = try await Self.peer()
    let fixture = try ClientFixture(peer, credential: .token(Self.key(Self.oldID)))
    try await fixture.client.rotate(to: .token(Self.key("MIDMID0000")))
    try await fixture.client.rotate(to: .token(Self.key(Self.newID)))
    #expect(await fixture.client.metrics.credential.isRotating)
    for number in 0..<10 { #expect(await fixture.client.send(pushes(number..<number + 1)).accepted == 1) }
    #expect(await fixture.client.metrics.credential.rotations == 1)
    #expect(peer.log.withLock { log in log.requests.allSatisfy { Self.keyID($0) != "MIDMID0000" } })
    #expect(peer.log.withLock { $0.requests.last.flatMap(Self.keyID) } == Self.newID)
    await fixture.stop()
    await peer.stop()
  }

  @Test("a connection that ends before the new key had its answer is followed by another")
  func connectionLost() async throws {
    let lost = Locked(0)
    let peer = try await ScriptedPeer.start { request in
      guard Self.keyID(request) == Self.newID else { return [.accept] }
      let isFirst = lost.withLock { lost in
        lost += 1
        return lost == 1
      }
      return isFirst ? [.abort] : [.accept]
    }
    let fixture = try ClientFixture(peer, credential: .token(Self.key(Self.oldID))) { configuration in
      configuration.pool.size.firstDelay = .milliseconds(10)
    }
    #expect(await fixture.client.send(pushes(0..<1)).accepted == 1)
    try await fixture.client.rotate(to: .token(Self.key(Self.newID)))
    var sent = 1
    #expect(
      await eventually {
        let accepted = await fixture.client.send(pushes(sent..<sent + 5)).accepted
        sent += 5
        return await fixture.client.metrics.credential.rotations == 1 && accepted == 5
      })
    #expect(lost.withLock { $0 } >= 2)
    #expect(fixture.alarms.isEmpty)
    await fixture.stop()
    await peer.stop()
  }

  @Test(
    "C28 a certificate follows another; one that APNs refuses by GOAWAY is told and not used", arguments: [true, false])
  func certificates(isGood: Bool) async throws {
    let clock = SystemClock()
    let isNew = Locked(false)
    let refusedOnce = Locked(0)
    let peer = try await ScriptedPeer.start(clientCertificates: true) { request in
      guard request.connection > 0, !isGood else { return [.accept] }
      refusedOnce.withLock { $0 += 1 }
      return [.goAway(last: 0, debug: #"{"reason":"BadCertificate"}"#), .close]
    }
    func certificate(_ name: String) throws -> Credential {
      .certificate(
        try peer.authority.issueClient(
          commonName: name, userID: "com.example.app", notBefore: clock.now - .days(1), notAfter: clock.now + .days(60)),
        name: name)
    }
    let fixture = try ClientFixture(peer, credential: certificate("old.p12"))
    #expect(await fixture.client.send(pushes(0..<10)).accepted == 10)
    isNew.withLock { $0 = true }
    try await fixture.client.rotate(to: certificate("new.p12"))
    var sent = 10
    #expect(
      await eventually {
        let accepted = await fixture.client.send(pushes(sent..<sent + 10)).accepted
        sent += 10
        let status = await fixture.client.metrics.credential
        return accepted == 10 && (isGood ? status.rotations : status.rotationsRefused) == 1
      })
    #expect(await fixture.client.send(pushes(sent..<sent + 10)).accepted == 10)
    #expect(fixture.alarms.isEmpty == isGood, "\(fixture.alarms)")
    #expect(isGood || fixture.alarms.first?.contains("new.p12 does not take over") == true)
    await fixture.stop()
    await peer.stop()
  }

  @Test(
    "C27 §6 three days, keys rotated and nodes restarted by chance: no 429, no 403, never two keys on a connection",
    arguments: [1, 2] as [UInt64])
  func threeDays(seed: UInt64) async throws {
    var dice = Dice(seed: seed)
    let clock = VirtualClock()
    let judge = TokenJudge(clock)
    let seen = Locked([Int: Set<String>]())
    let peer = try await ScriptedPeer.start(streams: 1, keepsBodies: false) { request in
      _ = seen.withLock { $0[request.connection, default: []].insert(Self.keyID(request) ?? "") }
      return judge.answer(request)
    }
    func start(_ key: ProviderKey) throws -> ClientFixture {
      try ClientFixture(peer, credential: .token(key), clock: clock) { configuration in
        configuration.pool.size.limit = 2
        configuration.pool.streamsEach = 2
      }
    }
    var key = try Self.key("KEY0000000")
    var fixtures = try (0..<2).map { _ in try start(key) }
    var (sent, rotations) = (0, 0)
    for _ in 0..<216 {
      for fixture in fixtures {
        let batch = pushes(sent..<sent + 6)
        let isDone = Locked(false)
        let sending = Task {
          defer { isDone.withLock { $0 = true } }
          return await fixture.client.send(batch).accepted
        }
        // connections are opened at most so often a second, of a clock that nobody else moves
        while !isDone.withLock({ $0 }) {
          try await Task.sleep(for: .milliseconds(1))
          clock.advance(by: .milliseconds(100))
        }
        #expect(await sending.value == 6)
        sent += 6
      }
      switch Int.random(in: 0..<12, using: &dice) {
      case 0:
        rotations += 1
        key = try Self.key("KEY000000\(rotations % 10)")
        for fixture in fixtures { try await fixture.client.rotate(to: .token(key)) }
      case 1:
        for fixture in fixtures { await fixture.stop() }
        fixtures = try (0..<2).map { _ in try start(key) }
      default: break
      }
      clock.advance(by: .minutes(Int64.random(in: 1...39, using: &dice)))
    }
    #expect(judge.state.withLock { $0.refusals }.isEmpty)
    #expect(rotations > 3)
    #expect(seen.withLock { $0.values.allSatisfy { $0.count == 1 } })
    for fixture in fixtures { await fixture.stop() }
    await peer.stop()
  }
}
