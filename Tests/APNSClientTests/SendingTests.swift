import APNSClient
import Basics
import BelfryTesting
import Delivery
import PushPayload
import Testing
import Transport

@Suite("The provider client sends")
struct SendingTests {
  @Test("one push, with all its headers, and says what APNs said")
  func onePush() async throws {
    let peer = try await ScriptedPeer.start(streams: 1) { _ in [.accept] }
    let fixture = try ClientFixture(peer)
    var push = pushes(7..<8, expiration: 1_800_000_000)[0]
    push.collapseID = "news"
    #expect(await fixture.client.send(push) == .accepted(uniqueID: nil))
    let request = try #require(peer.log.withLock { $0.requests.first })
    let headers: [(String, String)] = request.fields.pairs.map { ($0.name, $0.value) }
    let expected = [
      ":method": "POST", ":scheme": "https", ":path": "/3/device/\(push.token.hex)",
      ":authority": "127.0.0.1:\(peer.endpoint.port)", "apns-topic": "com.example.app", "apns-push-type": "alert",
      "apns-priority": "10", "apns-id": push.id, "apns-expiration": "1800000000", "apns-collapse-id": "news",
    ]
    for (name, value) in expected { #expect(headers.filter { $0.0 == name }.map(\.1) == [value], "\(name)") }
    #expect(request.authorization?.hasPrefix("bearer ") == true)
    #expect(request.body == push.payload)
    await fixture.stop()
    await peer.stop()
  }

  static let suffixes: [(PushType, String)] = [
    (.alert, ""), (.background, ""), (.voip, ".voip"), (.complication, ".complication"),
    (.fileprovider, ".pushkit.fileprovider"), (.mdm, ""), (.location, ".location-query"),
    (.liveactivity, ".push-type.liveactivity"), (.pushtotalk, ".voip-ptt"), (.controls, ".push-type.controls"),
    (.widgets, ".push-type.widgets"),
  ]

  @Test("C13 adds the suffix of the push type to the topic, once")
  func suffix() async throws {
    let peer = try await ScriptedPeer.start { _ in [.accept] }
    let fixture = try ClientFixture(peer)
    var batch: [OutgoingPush] = []
    for (type, suffix) in Self.suffixes {
      batch += pushes(batch.count..<batch.count + 1, topic: "com.example.app", pushType: type)
      batch += pushes(batch.count..<batch.count + 1, topic: "com.example.app" + suffix, pushType: type)
    }
    #expect(await fixture.client.send(batch).accepted == batch.count)
    let topics = peer.log.withLock { log in
      Dictionary(uniqueKeysWithValues: log.requests.map { ($0.id, ($0.topic, $0.fields.text("apns-push-type"))) })
    }
    for (index, (type, suffix)) in Self.suffixes.enumerated() {
      for push in batch[index * 2...index * 2 + 1] {
        #expect(topics[push.id]?.0 == "com.example.app" + suffix)
        #expect(topics[push.id]?.1 == type.rawValue)
      }
    }
    await fixture.stop()
    await peer.stop()
  }

  @Test("outcomes come in the order of the batch: refusals with reason, and with the time for 410")
  func outcomes() async throws {
    let peer = try await ScriptedPeer.start { request in
      switch request.id.suffix(1) {
      case "1": [.refuse(400, "BadDeviceToken")]
      case "2": [.refuse(410, "Unregistered", timestamp: 1_796_000_000_123)]
      case "3": [.refuse(410, "ExpiredToken")]
      case "4": [.refuse(400, "NotYetInvented")]
      case "5": [.answer(status: 418, body: "<teapot>")]
      default: [.after(.milliseconds(5), [.accept])]
      }
    }
    let fixture = try ClientFixture(peer)
    func refused(_ status: Int, _ reason: String, _ since: Int64? = nil) -> PushOutcome {
      .refused(.init(status: status, reason: reason, since: since.map(Instant.init(milliseconds:))))
    }
    #expect(
      await fixture.client.send(pushes(0..<7)) == [
        .accepted(uniqueID: nil), refused(400, "BadDeviceToken"), refused(410, "Unregistered", 1_796_000_000_123),
        refused(410, "ExpiredToken"), refused(400, "NotYetInvented"), refused(418, ""), .accepted(uniqueID: nil),
      ])
    await fixture.stop()
    await peer.stop()
  }

  @Test("what APNs is certain to refuse is refused without being sent, in Apple's words")
  func unsent() async throws {
    let peer = try await ScriptedPeer.start { _ in [.accept] }
    let fixture = try ClientFixture(peer)
    func changed(_ change: (inout OutgoingPush) -> Void) -> OutgoingPush {
      var push = pushes(0..<1)[0]
      change(&push)
      return push
    }
    let large = [UInt8](#"{"a":""#.utf8) + [UInt8](repeating: 0x61, count: 4089) + [UInt8](#""}"#.utf8)
    let batch = [
      changed { $0.payload = large }, changed { $0.payload = large.dropLast(3) + Array(#"""}"#.utf8.dropFirst()) },
      changed { $0.payload = [] }, changed { $0.token = [] }, changed { $0.topic = "" },
      changed { $0.topic = "com.example\r\nx: y" }, changed { $0.id = "7" },
      changed { $0.collapseID = String(repeating: "钟", count: 22) }, changed { $0.expiration = -1 },
    ]
    let reasons = await fixture.client.send(batch).map { outcome in
      if case .refused(let refusal) = outcome { refusal.reason } else { "\(outcome)" }
    }
    #expect(
      reasons == [
        "PayloadTooLarge", "accepted(uniqueID: nil)", "PayloadEmpty", "MissingDeviceToken", "MissingTopic", "BadTopic",
        "BadMessageId", "BadCollapseId", "BadExpirationDate",
      ])
    #expect(peer.log.withLock { $0.requests.count } == 1)
    await fixture.stop()
    await peer.stop()
  }

  @Test("the lint's words are told of a push before it is sent")
  func findings() {
    var push = pushes(0..<1, pushType: .background, payload: #"{"aps":{"content-available":1}}"#)[0]
    push.priority = .immediate
    push.expiration = 120
    let headers = push.findings(at: Instant(seconds: 1_796_000_000)).compactMap(\.header)
    #expect(headers.contains(.priority) && headers.contains(.expiration))
    push = pushes(0..<1, payload: #"{"aps":{"alert":"Hello"}"#)[0]
    #expect(push.findings(at: Instant(seconds: 1_796_000_000)).first?.severity == .error)
  }

  @Test("with a client certificate sends no provider token and all at once")
  func certificate() async throws {
    let peer = try await ScriptedPeer.start(clientCertificates: true) { request in
      request.ordinal < 10 ? [] : (0..<10).map { .acceptStream(request.stream - 2 * $0) }
    }
    let now = SystemClock().now
    let identity = try peer.authority.issueClient(
      commonName: "Apple Push Services: com.example.app", userID: "com.example.app", notBefore: now - .days(1),
      notAfter: now + .days(1))
    let fixture = try ClientFixture(peer, credential: .certificate(identity, name: "push.p12"))
    #expect(await fixture.client.send(pushes(0..<10)).accepted == 10)
    let requests = peer.log.withLock { $0.requests }
    #expect(requests.allSatisfy { $0.hasCertificate && $0.authorization == nil })
    await fixture.stop()
    await peer.stop()
  }

  @Test("a batch stream in order, taking no batch before there is room")
  func stream() async throws {
    let peer = try await ScriptedPeer.start { _ in [.accept] }
    let fixture = try ClientFixture(peer)
    let source = CountedBatches(count: 12, size: 50)
    var read = 0
    for try await sent in fixture.client.outcomes(of: source, ahead: 3) {
      #expect(sent.pushes.map(\.id) == (read * 50..<read * 50 + 50).map(apnsID))
      #expect(sent.outcomes.accepted == 50)
      read += 1
      // one more may be waiting in the producer's hand
      #expect(source.taken.withLock { $0 } <= read + 3 + 1)
    }
    #expect(read == 12)
    await fixture.stop()
    await peer.stop()
  }

  @Test("a batch stream that is left early takes no more batches")
  func streamLeft() async throws {
    let peer = try await ScriptedPeer.start { _ in [.accept] }
    let fixture = try ClientFixture(peer)
    let source = CountedBatches(count: 1_000_000, size: 5)
    for try await _ in fixture.client.outcomes(of: source) { break }
    let taken = source.taken.withLock { $0 }
    #expect(taken < 10)
    await fixture.stop()
    await peer.stop()
    #expect(source.taken.withLock { $0 } <= taken + 2)
  }

  @Test("cancelling ends what has not left and waits for what has")
  func cancelling() async throws {
    let mayAnswer = Locked(false)
    let peer = try await ScriptedPeer.start(streams: 3) { request in
      switch request.ordinal {
      case 1: [.accept]
      case 4: [.when(mayAnswer, [2, 1, 0].map { .acceptStream(request.stream - 2 * $0) })]
      default: []
      }
    }
    let fixture = try ClientFixture(peer) { $0.pool.size.limit = 1 }
    let client = fixture.client
    let task = Task { await client.send(pushes(0..<20)) }
    #expect(await eventually { peer.log.withLock { $0.requests.count } == 4 })
    task.cancel()
    #expect(await eventually { await client.health.waiting == 0 })
    mayAnswer.withLock { $0 = true }
    let outcomes = await task.value
    #expect(outcomes.accepted == 4)
    #expect(outcomes.count { $0 == .unanswered(.cancelled) } == 16)
    await fixture.stop()
    await peer.stop()
  }

  @Test("closing answers all: what left by its answer, what cannot leave in time as closed")
  func closing() async throws {
    let peer = try await ScriptedPeer.start(streams: 3) { request in request.ordinal == 1 ? [.accept] : [] }
    let fixture = try ClientFixture(peer) { $0.pool.size.limit = 1 }
    let client = fixture.client
    let task = Task { await client.send(pushes(0..<20)) }
    #expect(await eventually { peer.log.withLock { $0.requests.count } == 4 })
    await client.close(grace: .milliseconds(50))
    let outcomes = await task.value
    #expect(outcomes.accepted == 1)
    #expect(outcomes.count { $0 == .unanswered(.closed) } == 19)
    #expect(await client.send(pushes(0..<1)) == [.unanswered(.closed)])
    #expect(await client.health.connections == 0)
    await fixture.stop()
    await peer.stop()
  }

  @Test("many senders at once each get their own outcomes")
  func manySenders() async throws {
    let peer = try await ScriptedPeer.start(keepsBodies: false) { request in
      request.id.hasSuffix("7") ? [.refuse(410, "Unregistered")] : [.accept]
    }
    let fixture = try ClientFixture(peer)
    let client = fixture.client
    await withTaskGroup(of: Bool.self) { group in
      for number in 0..<50 {
        group.addTask {
          let mine = pushes(number * 100..<number * 100 + 1 + number)
          let outcomes = await client.send(mine)
          return zip(mine, outcomes).allSatisfy { push, outcome in
            if case .accepted = outcome { !push.id.hasSuffix("7") } else { push.id.hasSuffix("7") }
          } && outcomes.count == mine.count
        }
      }
      for await right in group { #expect(right) }
    }
    await fixture.stop()
    await peer.stop()
  }
}

/// Batches that count how many were taken.
struct CountedBatches: AsyncSequence, Sendable {
  let count: Int
  let size: Int
  let taken = Locked(0)

  func makeAsyncIterator() -> Iterator { Iterator(source: self) }

  struct Iterator: AsyncIteratorProtocol {
    let source: CountedBatches
    mutating func next() async -> [OutgoingPush]? {
      let number = source.taken.withLock { taken in
        taken += 1
        return taken - 1
      }
      guard number < source.count, !Task.isCancelled else { return nil }
      return pushes(number * source.size..<(number + 1) * source.size)
    }
  }
}

@Suite("A provider client that is forgotten")
struct ForgottenClientTests {
  @Test("closes its connections when nobody holds it any more")
  func closes() async throws {
    let peer = try await ScriptedPeer.start { _ in [.accept] }
    var fixture: ClientFixture? = try ClientFixture(peer)
    let loop = try #require(fixture?.loop)
    #expect(await fixture?.client.send(pushes(0..<1)).accepted == 1)
    fixture = nil
    #expect(await eventually { peer.log.withLock { $0.openConnections } == 0 })
    await loop.stop()
    await peer.stop()
  }
}
