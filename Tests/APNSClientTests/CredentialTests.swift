import APNSClient
import Basics
import BelfryTesting
import Delivery
import PushPayload
import Testing
import Transport

@Suite("A provider key")
struct ProviderKeyTests {
  static func fault(_ p8: [UInt8], keyID: String = "ABC123DEFG", teamID: String = "DEF123GHIJ") -> CredentialFault? {
    do {
      _ = try ProviderKey(p8: p8, keyID: keyID, teamID: teamID, name: "AuthKey.p8")
      return nil
    } catch {
      return error
    }
  }

  @Test("C26 is read with a byte order mark, CRLF and literal \\n")
  func disguises() throws {
    let pem = String(decoding: try P256PrivateKey.generate().pem, as: UTF8.self)
    let forms = [
      pem, "\u{FEFF}" + pem, pem.split(separator: "\n").joined(separator: "\r\n"),
      pem.split(separator: "\n").joined(separator: "\\n"), pem + "\n\n",
    ]
    for form in forms { #expect(Self.fault(Array(form.utf8)) == nil) }
  }

  static let wrong: [(String, [UInt8], String)] = [
    ("a text file", Array("remember the milk\n".utf8), "no PEM text"),
    ("an empty file", [], "empty"),
    ("an RSA key", pem(pkcs8: rsaKey), "RSA"),
    ("an EC key on another curve", pem(pkcs8: p384Key), "the curve secp384r1"),
    ("an Ed25519 key", pem(pkcs8: ed25519Key), "ED25519"),
    ("a broken PEM block", Array("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n".utf8), "no key"),
  ]

  /// A PKCS#8 RSA key in form; its numbers are no key's.
  static let rsaKey: [UInt8] = {
    let numbers = [0, 3233, 17, 2753, 61, 53, 53, 49, 38].flatMap { number -> [UInt8] in
      der(0x02, number < 128 ? [UInt8(number)] : [UInt8(number >> 8), UInt8(number & 255)])
    }
    let algorithm = der(0x06, [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 1, 1]) + der(0x05, [])
    return der(0x30, der(0x02, [0]) + der(0x30, algorithm) + der(0x04, der(0x30, numbers)))
  }()

  /// PKCS#8 of the number 1 on P-384 (RFC 5915).
  static let p384Key: [UInt8] = {
    let algorithm = der(0x06, [0x2A, 0x86, 0x48, 0xCE, 0x3D, 2, 1]) + der(0x06, [0x2B, 0x81, 0x04, 0, 0x22])
    let number = [UInt8](repeating: 0, count: 47) + [1]
    return der(0x30, der(0x02, [0]) + der(0x30, algorithm) + der(0x04, der(0x30, der(0x02, [1]) + der(0x04, number))))
  }()

  /// PKCS#8 of Ed25519 (RFC 8410).
  static let ed25519Key: [UInt8] = der(
    0x30, der(0x02, [0]) + der(0x30, der(0x06, [0x2B, 0x65, 0x70])) + der(0x04, der(0x04, Array(0..<32))))

  static func der(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] { [tag, UInt8(content.count)] + content }

  static func pem(pkcs8: [UInt8]) -> [UInt8] {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    var text: [UInt8] = []
    for start in stride(from: 0, to: pkcs8.count, by: 3) {
      let group = (0..<3).reduce(0) { $0 << 8 | (start + $1 < pkcs8.count ? Int(pkcs8[start + $1]) : 0) }
      for digit in 0..<4 {
        let used = start + digit <= pkcs8.count
        text.append(used ? alphabet[group >> (18 - 6 * digit) & 63] : UInt8(ascii: "="))
      }
    }
    return Array("-----BEGIN PRIVATE KEY-----\n".utf8) + text + Array("\n-----END PRIVATE KEY-----\n".utf8)
  }

  @Test("C26 of another kind is refused with file and reason", arguments: wrong)
  func wrongKinds(what: String, bytes: [UInt8], word: String) {
    let fault = Self.fault(bytes)
    #expect(fault?.name == "AuthKey.p8")
    #expect(fault?.found.contains(word) == true, "\(fault?.description ?? "read")")
    #expect(fault?.remedy.hasSuffix(".") == true)
  }

  @Test("C26 ids must look like Apple's", arguments: ["", "ABC", "abc123defg", "ABC-123DEF", "ABC123DEFGH"])
  func identifiers(identifier: String) throws {
    let pem = try P256PrivateKey.generate().pem
    #expect(Self.fault(pem, keyID: identifier)?.found.contains("key id") == true)
    #expect(Self.fault(pem, teamID: identifier)?.found.contains("team id") == true)
  }

  @Test("signs a token that its public half verifies, with kid, iss and a whole iat; nothing else in it")
  func token() async throws {
    let key = try P256PrivateKey.generate()
    let clock = VirtualClock(now: Instant(milliseconds: 1_796_000_000_999))
    let peer = try await ScriptedPeer.start { _ in [.accept] }
    let fixture = try ClientFixture(peer, credential: .token(ClientFixture.key(key)), clock: clock)
    #expect(await fixture.client.send(pushes(0..<3)).accepted == 3)
    let headers = peer.log.withLock { Set($0.requests.compactMap(\.authorization)) }
    let jwt = try #require(headers.first).dropFirst("bearer ".count)
    #expect(headers.count == 1)
    let token = try #require(JSONWebToken(String(jwt)))
    #expect(token.header == ["alg": "ES256", "kid": .string(ClientFixture.keyID)])
    #expect(token.claims == ["iss": .string(ClientFixture.teamID), "iat": 1_796_000_000])
    #expect(token.signature.count == 64)
    #expect(key.publicKey.verifies(token.signature, of: token.signed))
    await fixture.stop()
    await peer.stop()
  }

  @Test("no secret is in any description")
  func noSecret() throws {
    let key = try P256PrivateKey.generate()
    let middle = String(decoding: key.pem, as: UTF8.self).split(separator: "\n")[1]
    let provider = try ClientFixture.key(key)
    var dumped = ""
    dump(provider, to: &dumped)
    for text in ["\(provider)", String(reflecting: provider), dumped, "\(Credential.token(provider))"] {
      #expect(!text.contains(middle))
    }
  }
}

/// A token taken apart as a server would, without checking it.
struct JSONWebToken {
  var header: JSONObject
  var claims: JSONObject
  var signature: [UInt8]
  var signed: [UInt8]
  var issuedAt: Int64? { claims["iat"]?.number?.int64 }

  init?(_ text: String) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let header = Self.object(parts[0]), let claims = Self.object(parts[1]),
      let signature = Self.bytes(parts[2])
    else { return nil }
    self.header = header
    self.claims = claims
    self.signature = signature
    signed = Array("\(parts[0]).\(parts[1])".utf8)
  }

  private static func object(_ part: Substring) -> JSONObject? {
    bytes(part).flatMap { try? JSONReader.read($0).value.object }
  }

  /// Strict: the URL alphabet, no padding, no bits left over.
  private static func bytes(_ part: Substring) -> [UInt8]? {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    var (bytes, buffer, bits) = ([UInt8](), 0, 0)
    for character in part.utf8 {
      guard let digit = alphabet.firstIndex(of: character) else { return nil }
      buffer = (buffer << 6 | digit) & 0xFFFF
      bits += 6
      if bits >= 8 {
        bits -= 8
        bytes.append(UInt8(buffer >> bits & 0xFF))
      }
    }
    return buffer & ((1 << bits) - 1) == 0 ? bytes : nil
  }
}

/// What APNs checks of provider tokens, by a clock of its own (spec apns.md §6).
final class TokenJudge: Sendable {
  struct State {
    /// For each connection: the token seen last, and when it was first seen.
    var last: [Int: (token: String, since: Instant)] = [:]
    var tokens: Set<String> = []
    var refusals: [String] = []
  }

  let clock: VirtualClock
  let state = Locked(State())
  let knows: (@Sendable (JSONWebToken) -> Bool)

  init(_ clock: VirtualClock, knows: @escaping @Sendable (JSONWebToken) -> Bool = { _ in true }) {
    self.clock = clock
    self.knows = knows
  }

  func answer(_ request: ScriptedPeer.Request) -> [ScriptedPeer.Action] {
    let now = clock.now
    let reason: (Int, String)? = state.withLock { state in
      let text = String((request.authorization ?? "").dropFirst("bearer ".count))
      guard let token = JSONWebToken(text), let issuedAt = token.issuedAt, knows(token) else {
        return (403, "InvalidProviderToken")
      }
      if now.seconds - issuedAt > 3600 { return (403, "ExpiredProviderToken") }
      if issuedAt - now.seconds > 300 { return (403, "InvalidProviderToken") }
      state.tokens.insert(text)
      if let last = state.last[request.connection], last.token != text {
        if now - last.since < .minutes(20) { return (429, "TooManyProviderTokenUpdates") }
        state.last[request.connection] = (text, now)
      } else if state.last[request.connection] == nil {
        state.last[request.connection] = (text, now)
      }
      return nil
    }
    guard let reason else { return request.ordinal == 1 ? [.announce(1000), .accept] : [.accept] }
    state.withLock { $0.refusals.append(reason.1) }
    return [.refuse(reason.0, reason.1, date: httpDate(now))]
  }
}

/// IMF-fixdate (RFC 9110 §5.6.7).
func httpDate(_ instant: Instant) -> String {
  let text = instant.description
  let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
  let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
  let month = months[Int(text.dropFirst(5).prefix(2))! - 1]
  let day = days[Int(instant.seconds / 86_400 % 7)]
  return "\(day), \(text.dropFirst(8).prefix(2)) \(month) \(text.prefix(4)) \(text.dropFirst(11).prefix(8)) GMT"
}

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
