import APNSClient
import Basics
import BelfryTesting
import Delivery
import PushPayload
import Testing
import Transport

/// Channels of one app over a scripted peer that is both hosts.
struct ChannelFixture {
  let channels: APNSChannels
  let peer: ScriptedPeer
  let loop = EventLoop(name: "channels")

  static func run(
    clock: any WallClock = SystemClock(), _ script: @escaping ScriptedPeer.Script,
    adjust: (inout APNSChannels.Configuration) -> Void = { _ in }, _ body: (ChannelFixture) async throws -> Void
  ) async throws {
    try await run(to: ScriptedPeer.start(script: script), clock: clock, adjust: adjust, body)
  }

  static func run(
    to peer: ScriptedPeer, clock: any WallClock = SystemClock(),
    adjust: (inout APNSChannels.Configuration) throws -> Void, _ body: (ChannelFixture) async throws -> Void
  ) async throws {
    let fixture = try ChannelFixture(peer, clock, adjust)
    try await body(fixture)
    await fixture.channels.close()
    await peer.stop()
    await fixture.loop.stop()
  }

  private init(
    _ peer: ScriptedPeer, _ clock: any WallClock, _ adjust: (inout APNSChannels.Configuration) throws -> Void
  ) throws {
    self.peer = peer
    let server = APNSServer(peer.endpoint)
    var configuration = APNSChannels.Configuration(
      bundleID: "com.example.app", server: BroadcastServer(manage: server, send: server),
      credential: try .token(ClientFixture.key()))
    configuration.trust = .pem(peer.authority.pem)
    configuration.seed = 1
    configuration.retry.firstDelay = .milliseconds(1)
    configuration.retry.longestDelay = .milliseconds(2)
    try adjust(&configuration)
    channels = try APNSChannels(configuration, clock: clock, loop: loop)
  }

  var requests: [ScriptedPeer.Request] { peer.log.withLock { $0.requests } }

  func fault(_ body: (APNSChannels) async throws -> Void) async -> ChannelFault? {
    do { try await body(channels) } catch { return error as? ChannelFault }
    return nil
  }
}

let update = LiveActivityPush.update(contentState: ["n": 1], at: SystemClock().now)

@Suite("Channels and broadcasts, the client's side")
struct ChannelClientTests {
  @Test("§13.1 and §13.2: methods, paths, headers and bodies on the wire")
  func wire() async throws {
    let script: ScriptedPeer.Script = { request in
      switch (request.fields.text(":method"), request.fields.text(":path")) {
      case ("POST", "/1/apps/com.example.app/channels"): [.reply(201, [("apns-channel-id", "dGVzdA==")])]
      case ("GET", "/1/apps/com.example.app/channels"):
        [.reply(200, [], body: #"{"message-storage-policy":0,"push-type":"LiveActivity"}"#)]
      case ("GET", "/1/apps/com.example.app/all-channels"): [.reply(200, [], body: #"{"channels":["dGVzdA=="]}"#)]
      case ("DELETE", "/1/apps/com.example.app/channels"): [.reply(204, [])]
      case ("POST", "/4/broadcasts/apps/com.example.app"): [.reply(200, [("apns-unique-id", "u")])]
      default: [.refuse(404, "BadPath")]
      }
    }
    try await ChannelFixture.run(script) { fixture in
      let channels = fixture.channels
      #expect(try await channels.createChannel(.newest) == "dGVzdA==")
      #expect(try await channels.channel("dGVzdA==") == .nothing)
      #expect(try await channels.channels() == ["dGVzdA=="])
      try await channels.deleteChannel("dGVzdA==")
      let receipt = try await channels.broadcast(update, on: "dGVzdA==", priority: .considerate, expiration: 0)
      #expect(receipt.uniqueID == "u")
      let requests = fixture.requests
      #expect(requests[0].body == Array(#"{"message-storage-policy":1,"push-type":"LiveActivity"}"#.utf8))
      #expect(requests.map { $0.fields.text("apns-channel-id") != nil } == [false, true, false, true, true])
      #expect(requests.allSatisfy { UUIDText.isCanonical(($0.fields.text("apns-request-id") ?? "").utf8) })
      #expect(requests.allSatisfy { $0.authorization?.hasPrefix("bearer ") == true })
      #expect(Set(requests.map { $0.authorization }).count == 1, "one provider token for all")
      let sent = requests[4].fields
      #expect(sent.text("apns-push-type") == "liveactivity" && sent.text("apns-priority") == "5")
      #expect(sent.text("apns-expiration") == "0" && sent.text("apns-topic") == nil)
      #expect(sent.text("apns-request-id") == receipt.requestID && requests[4].body == update.bytes)
    }
  }

  @Test(
    "§13.3 every reason is told with its meaning and remedy", arguments: RefusalReason.allCases.filter(\.isOfChannels))
  func reasons(reason: RefusalReason) async throws {
    let script: ScriptedPeer.Script = { _ in [.refuse(reason.status, reason.rawValue)] }
    try await ChannelFixture.run(script) { fixture in
      let fault = try #require(await fixture.fault { channels in _ = try await channels.channels() })
      switch fault.cause {
      case .refused(let refusal): #expect(refusal.known == reason && fault.reason == reason)
      case .suspended(let words): #expect(words.contains(reason.rawValue) || words.contains("clock"))
      case .findings, .notSent, .unanswered, .malformedAnswer: Issue.record("\(fault)")
      }
      #expect(fault.meaning.hasSuffix(".") && fault.remedy.hasSuffix("."))
    }
  }

  @Test("an unknown reason is kept; HTML, no body and wrong bodies are told, not trusted")
  func oddAnswers() async throws {
    let script: ScriptedPeer.Script = { request in
      switch request.total {
      case 1: [.refuse(418, "NotYetInvented")]
      case 2: [.answer(status: 502, body: "<html>")]
      case 3: [.answer(status: 404, body: "<html>")]
      case 4: [.reply(200, [], body: #"{"channels":[1]}"#)]
      default: [.reply(201, [])]
      }
    }
    try await ChannelFixture.run(script) { fixture in
      let unknown = await fixture.fault { channels in _ = try await channels.channels() }
      #expect(unknown?.cause == .refused(.init(status: 418, reason: "NotYetInvented", since: nil)))
      #expect(unknown?.meaning.contains("NotYetInvented") == true)
      let html = await fixture.fault { channels in _ = try await channels.channels() }
      #expect(html?.cause == .refused(.init(status: 404, reason: "", since: nil)), "after a 502 it asked again")
      guard case .malformedAnswer = await fixture.fault({ channels in _ = try await channels.channels() })?.cause,
        case .malformedAnswer = await fixture.fault({ channels in _ = try await channels.createChannel(.newest) })?
          .cause
      else {
        Issue.record("a body that is not Apple's was taken")
        return
      }
    }
  }

  @Test("what APNs did not look at goes again at once; 503 a little later; always under the same request id")
  func again() async throws {
    let script: ScriptedPeer.Script = { request in
      switch request.total {
      case 1: [.reset(.refusedStream)]
      case 2: [.refuse(503, "ServiceUnavailable")]
      case 3: [.refuse(503, "Shutdown"), .close]
      default: [.reply(201, [("apns-channel-id", "dGVzdA==")])]
      }
    }
    try await ChannelFixture.run(script) { fixture in
      let made = try await fixture.channels.createChannel(.newest)
      #expect(made == "dGVzdA==")
      #expect(fixture.requests.count == 4)
      #expect(Set(fixture.requests.map { $0.fields.text("apns-request-id") }).count == 1)
      #expect(fixture.requests.last?.connection == 1, "after Shutdown on another connection")
    }
  }

  @Test("a lost answer: making a channel is not repeated, deleting is, and gone is then deleted")
  func lost() async throws {
    let script: ScriptedPeer.Script = { request in
      switch request.total {
      case 1, 2: [.abort]
      default: [.refuse(400, "ChannelNotRegistered")]
      }
    }
    try await ChannelFixture.run(script) { fixture in
      let made = await fixture.fault { channels in _ = try await channels.createChannel(.newest) }
      guard case .unanswered(_, isCertainlyUndone: false) = made?.cause else {
        Issue.record("\(String(describing: made))")
        return
      }
      #expect(fixture.requests.count == 1)
      #expect(await fixture.fault { channels in try await channels.deleteChannel("dGVzdA==") } == nil)
      #expect(fixture.requests.count == 3)
      let again = await fixture.fault { channels in try await channels.deleteChannel("dGVzdA==") }
      #expect(again?.reason == .channelNotRegistered, "without a lost answer before, it is a refusal")
    }
  }

  @Test("an answer that never comes is given up in time, and the connection goes on")
  func silence() async throws {
    let clock = VirtualClock(now: SystemClock().now)
    let script: ScriptedPeer.Script = { request in
      request.total == 1 ? [] : [.reply(200, [], body: #"{"channels":[]}"#)]
    }
    let twice: (inout APNSChannels.Configuration) -> Void = { $0.retry.attempts = 2 }
    try await ChannelFixture.run(clock: clock, script, adjust: twice) { fixture in
      async let list = fixture.channels.channels()
      #expect(await eventually { fixture.requests.count == 1 && clock.sleeperCount == 1 })
      clock.advance(by: .seconds(2))  // asked by PING, which is answered
      #expect(await eventually { clock.sleeperCount == 1 })
      clock.advance(by: .seconds(8))
      let answered = try await list
      #expect(answered == [])
      #expect(fixture.requests.map(\.connection) == [0, 0])
    }
  }

  @Test("a host that nobody listens at is told, and is certainly undone")
  func nobody() async throws {
    let peer = try await ScriptedPeer.start { _ in [] }
    let server = APNSServer(peer.endpoint)
    await peer.stop()
    let loop = EventLoop(name: "channels")
    var configuration = APNSChannels.Configuration(
      bundleID: "com.example.app", server: .init(manage: server, send: server),
      credential: try .token(ClientFixture.key()))
    configuration.retry.firstDelay = .milliseconds(1)
    configuration.retry.longestDelay = .milliseconds(1)
    let channels = try APNSChannels(configuration, clock: SystemClock(), loop: loop)
    do throws(ChannelFault) {
      _ = try await channels.createChannel(.newest)
      Issue.record("it was made")
    } catch {
      guard case .unanswered(let why, isCertainlyUndone: true) = error.cause else {
        Issue.record("\(error)")
        return
      }
      #expect(why.contains("\(server.endpoint.port)"))
    }
    await channels.close()
    await loop.stop()
  }

  @Test("C26 a refused key stops this app's requests, says why, and is not asked again and again")
  func credential() async throws {
    let script: ScriptedPeer.Script = { _ in [.refuse(403, "InvalidProviderToken")] }
    try await ChannelFixture.run(script) { fixture in
      for _ in 0..<3 {
        let fault = await fixture.fault { channels in _ = try await channels.channels() }
        guard case .suspended(let words) = fault?.cause else {
          Issue.record("\(String(describing: fault))")
          return
        }
        #expect(words.contains("InvalidProviderToken"))
      }
      #expect(fixture.requests.count == 1)
    }
  }

  @Test("checked before sending, with the lint's words: no request leaves")
  func checked() async throws {
    let script: ScriptedPeer.Script = { _ in [.accept] }
    try await ChannelFixture.run(script) { fixture in
      let start = LiveActivityPush.start(
        .init(attributesType: "Match", attributes: [:]), contentState: [:],
        alert: .init(title: .literal("t"), body: .literal("b")), at: SystemClock().now)
      let large = LiveActivityPush.update(
        contentState: ["x": .string(String(repeating: "x", count: 5200))], at: SystemClock().now)
      for (push, words) in [(start, "start"), (large, "5120")] {
        let fault = await fixture.fault { channels in
          _ = try await channels.broadcast(push, on: "dGVzdA==", priority: .immediate, expiration: 0)
        }
        #expect(fault?.description.contains(words) == true)
      }
      for (channel, expiration) in [("a b", 0), ("dGVzdA==", -1)] as [(String, Int64)] {
        let fault = await fixture.fault { channels in
          _ = try await channels.broadcast(update, on: channel, priority: .immediate, expiration: expiration)
        }
        guard case .notSent = fault?.cause else {
          Issue.record("\(String(describing: fault))")
          return
        }
      }
      #expect(fixture.requests.isEmpty)
    }
  }

  @Test("C13 a Live Activity push to a token: the suffix by itself, 10 or 5, lint before sending")
  func liveActivity() async throws {
    let peer = try await ScriptedPeer.start { _ in [.accept] }
    let fixture = try ClientFixture(peer)
    let token: [UInt8] = Array(repeating: 7, count: 80)
    for isUrgent in [true, false] {
      let outcome = try await fixture.client.send(
        update, to: token, of: "com.example.app", isUrgent: isUrgent, expiration: 0)
      #expect(outcome == .accepted(uniqueID: nil))
    }
    await #expect(throws: LiveActivityFault.self) {
      _ = try await fixture.client.send(
        .update(contentState: [1], at: SystemClock().now), to: token, of: "com.example.app", isUrgent: true,
        expiration: 0)
    }
    let requests = peer.log.withLock { $0.requests }
    #expect(requests.map(\.topic) == Array(repeating: "com.example.app.push-type.liveactivity", count: 2))
    #expect(requests.map { $0.fields.text("apns-priority") } == ["10", "5"])
    #expect(requests.allSatisfy { $0.fields.text("apns-push-type") == "liveactivity" && $0.token == token.hex })
    await fixture.stop()
    await peer.stop()
  }

  @Test("Apple's hosts and ports")
  func hosts() {
    #expect(BroadcastServer.sandbox.manage.description == "https://api-manage-broadcast.sandbox.push.apple.com:2195")
    #expect(BroadcastServer.production.manage.description == "https://api-manage-broadcast.push.apple.com:2196")
    #expect(BroadcastServer.sandbox.send == .sandbox && BroadcastServer.production.send == .production)
  }
}
