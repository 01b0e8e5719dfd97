import APNSClient
import Basics
import BelfryTesting
import Delivery
import PushPayload
import Testing
import Transport

@Suite("Channels: proxies, addresses and another credential", .timeLimit(.minutes(2)))
struct ChannelDialingTests {
  @Test("both hosts are reached through a proxy that is told their names, and one that dies is replaced")
  func proxy() async throws {
    let peer = try await ScriptedPeer.start { _ in [.reply(200, [], body: #"{"channels":[]}"#)] }
    let proxy = try await ScriptedProxy.start(to: peer.endpoint) { number in
      number == 1 ? .says("HTTP/1.1 503 x\r\n\r\n") : .connect()
    }
    let chosen = try Proxy("http://\(proxy.endpoint)")
    let script: ScriptedPeer.Script = { _ in [] }
    try await ChannelFixture.run(script) { configuration in
      configuration.server = BroadcastServer(
        manage: APNSServer(Endpoint(host: "localhost", port: 2195)),
        send: APNSServer(Endpoint(host: "localhost", port: 443)))
      configuration.trust = .pem(peer.authority.pem)
      configuration.proxy = { _ in chosen }
    } _: { fixture in
      #expect(try await fixture.channels.channels() == [])
      _ = try await fixture.channels.broadcast(update, on: "dGVzdA==", priority: .considerate, expiration: 0)
      #expect(Set(proxy.wanted) == ["localhost:2195", "localhost:443"])
      #expect(proxy.connections == 3, "the 503 cost one attempt")
      proxy.cut()
      #expect(try await fixture.channels.channels() == [])
    }
    await proxy.stop()
    await peer.stop()
  }

  @Test("C40 a host that accepts and says nothing: the request goes by another address, the dead one is tried last")
  func darkAddress() async throws {
    let peer = try await ScriptedPeer.start { _ in [.reply(200, [], body: #"{"channels":[]}"#)] }
    let deaf = FreezingProxy(to: peer.endpoint.port)
    deaf.freezeNew(true)
    let dark = Endpoint(host: "127.0.0.1", port: deaf.port)
    let good = peer.endpoint
    let script: ScriptedPeer.Script = { _ in [] }
    try await ChannelFixture.run(script) { configuration in
      configuration.server.manage = APNSServer(Endpoint(host: "localhost", port: 2195))
      configuration.trust = .pem(peer.authority.pem)
      configuration.resolver = ScriptedResolver { _ in [dark, good] }
    } _: { fixture in
      var rounds = 0
      while fixture.channels.darkAddresses.isEmpty, rounds < 40 {
        let list = try await fixture.channels.channels()
        #expect(list == [])
        peer.cutAll()
        rounds += 1
      }
      #expect(fixture.channels.darkAddresses.map(\.address) == [dark])
    }
    deaf.stop()
    await peer.stop()
  }

  @Test("C40 packets vanish: the PING finds it out, and the request goes again by another connection")
  func deadConnection() async throws {
    let peer = try await ScriptedPeer.start { _ in [.reply(200, [], body: #"{"channels":[]}"#)] }
    let proxy = FreezingProxy(to: peer.endpoint.port)
    let server = APNSServer(Endpoint(host: "127.0.0.1", port: proxy.port))
    let script: ScriptedPeer.Script = { _ in [] }
    try await ChannelFixture.run(script) { configuration in
      configuration.server = BroadcastServer(manage: server, send: server)
      configuration.trust = .pem(peer.authority.pem)
      configuration.requestTimeout = .hours(1)  // so that only the PING can help
      (configuration.silence, configuration.pingTimeout) = (.milliseconds(100), .milliseconds(200))
    } _: { fixture in
      for _ in 0..<2 {
        let list = try await fixture.channels.channels()
        #expect(list == [])
        proxy.freeze()
      }
      #expect(proxy.count == 2)
    }
    proxy.stop()
    await peer.stop()
  }

  // MARK: Rotation

  private static func key(_ id: String) throws -> ProviderKey {
    try ProviderKey(p8: P256PrivateKey.generate().pem, keyID: id, teamID: "DEF123GHIJ", name: "\(id).p8")
  }

  /// The key id of a provider token, whose header is a JSON text of fixed form.
  private static func keyID(_ request: ScriptedPeer.Request) -> String {
    ["OLDKEY0001", "NEWKEY0001"].first { id in
      let header = #"{"alg":"ES256","kid":"\#(id)"}"#.utf8.base64URL
      return request.authorization?.hasPrefix("bearer \(header).") == true
    } ?? ""
  }

  @Test("§6 another key takes over once APNs has looked past it, by a connection of its own; nothing fails meanwhile")
  func rotates() async throws {
    let events = Locked([APNSClientEvent]())
    let script: ScriptedPeer.Script = { _ in [.reply(200, [], body: #"{"channels":[]}"#)] }
    let (old, new) = (try Self.key("OLDKEY0001"), try Self.key("NEWKEY0001"))
    try await ChannelFixture.run(script) { configuration in
      configuration.credential = .token(old)
      configuration.onEvent = { event in events.withLock { $0.append(event) } }
    } _: { fixture in
      _ = try await fixture.channels.channels()
      try await fixture.channels.rotate(to: .token(new))
      for _ in 0..<2 { _ = try await fixture.channels.channels() }
      #expect(fixture.requests.map(Self.keyID) == ["OLDKEY0001", "NEWKEY0001", "NEWKEY0001"])
      #expect(fixture.requests.map(\.connection) == [0, 1, 1])
      #expect(events.withLock { $0.contains(.credentialRotated(new.description)) })
    }
  }

  @Test(
    "§6 another key that APNs refuses does not take over: the request goes again by the old one, with an alarm",
    arguments: [true, false])
  func refusedSuccessor(creates: Bool) async throws {
    let events = Locked([APNSClientEvent]())
    let script: ScriptedPeer.Script = { request in
      Self.keyID(request) == "NEWKEY0001"
        ? [.refuse(403, "InvalidProviderToken")]
        : [.reply(200, [("apns-channel-id", "dGVzdA==")], body: #"{"channels":[]}"#)]
    }
    let (old, new) = (try Self.key("OLDKEY0001"), try Self.key("NEWKEY0001"))
    try await ChannelFixture.run(script) { configuration in
      configuration.credential = .token(old)
      configuration.onEvent = { event in events.withLock { $0.append(event) } }
    } _: { fixture in
      _ = try await fixture.channels.channels()
      try await fixture.channels.rotate(to: .token(new))
      if creates {
        #expect(try await fixture.channels.createChannel(.newest) == "dGVzdA==", "403 is certainly undone")
      } else {
        #expect(try await fixture.channels.channels() == [])
      }
      _ = try await fixture.channels.channels()
      #expect(fixture.requests.map(Self.keyID) == ["OLDKEY0001", "NEWKEY0001", "OLDKEY0001", "OLDKEY0001"])
      let alarms = events.withLock { $0.compactMap { if case .alarm(let words) = $0 { words } else { nil } } }
      #expect(alarms.count == 1 && alarms[0].contains("does not take over"), "\(alarms)")
    }
  }

  @Test(
    "C28 a certificate follows another by a connection of its own; one that APNs refuses by GOAWAY is told and not used",
    arguments: [true, false])
  func certificates(isGood: Bool) async throws {
    let events = Locked([APNSClientEvent]())
    let peer = try await ScriptedPeer.start(clientCertificates: true) { request in
      guard request.connection > 0, !isGood else { return [.reply(200, [], body: #"{"channels":[]}"#)] }
      return [.goAway(last: 0, debug: #"{"reason":"BadCertificate"}"#), .close]
    }
    func certificate(_ name: String) throws -> Credential {
      let now = SystemClock().now
      return .certificate(
        try peer.authority.issueClient(
          commonName: name, userID: "com.example.app", notBefore: now - .days(1), notAfter: now + .days(60)),
        name: name)
    }
    try await ChannelFixture.run(to: peer) { configuration in
      configuration.credential = try certificate("old.p12")
      configuration.onEvent = { event in events.withLock { $0.append(event) } }
    } _: { fixture in
      _ = try await fixture.channels.channels()
      try await fixture.channels.rotate(to: certificate("new.p12"))
      for _ in 0..<2 { #expect(try await fixture.channels.channels() == []) }
      #expect(fixture.requests.map(\.connection) == (isGood ? [0, 1, 1] : [0, 1, 0, 0]))
      let alarms = events.withLock { $0.compactMap { if case .alarm(let words) = $0 { words } else { nil } } }
      #expect(alarms.isEmpty == isGood, "\(alarms)")
      #expect(isGood || alarms.first?.contains("new.p12 does not take over") == true, "\(alarms)")
    }
  }

  @Test("a key that is refused is replaced at once by another, without a trial")
  func heldThenRotated() async throws {
    let script: ScriptedPeer.Script = { request in
      Self.keyID(request) == "OLDKEY0001"
        ? [.refuse(403, "InvalidProviderToken")] : [.reply(200, [], body: #"{"channels":[]}"#)]
    }
    let (old, new) = (try Self.key("OLDKEY0001"), try Self.key("NEWKEY0001"))
    try await ChannelFixture.run(script) {
      $0.credential = .token(old)
    } _: { fixture in
      let fault = await fixture.fault { _ = try await $0.channels() }
      guard case .suspended = fault?.cause else {
        Issue.record("\(String(describing: fault))")
        return
      }
      try await fixture.channels.rotate(to: .token(new))
      #expect(try await fixture.channels.channels() == [])
    }
  }
}
