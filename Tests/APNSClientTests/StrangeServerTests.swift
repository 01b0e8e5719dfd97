import APNSClient
import Basics
import BelfryTesting
import Delivery
import Testing
import Transport

@Suite("The provider client and a server that is strange but within the rules", .timeLimit(.minutes(2)))
struct StrangeServerTests {
  static func fixture(
    _ peer: RawPeer, clock: any WallClock = SystemClock(), _ adjust: (inout APNSClient.Configuration) -> Void = { _ in }
  ) throws -> ClientFixture {
    try ClientFixture(endpoint: peer.endpoint, authority: peer.authority, clock: clock) { configuration in
      configuration.pool.size.limit = 1
      configuration.pool.size.opensPerSecond = 100
      configuration.pool.size.firstDelay = .milliseconds(20)
      configuration.pool.retry.firstDelay = .milliseconds(20)
      adjust(&configuration)
    }
  }

  static let answers: [(String, @Sendable (Int32) -> [UInt8])] = [
    ("a plain answer", { RawPeer.accept($0) }),
    (
      "informational headers first (RFC 9110 §15.2)",
      {
        RawFrame.response($0, status: "103", fields: [("link", "x")], endsStream: false).bytes
          + RawFrame.response($0, status: "100", endsStream: false).bytes + RawPeer.accept($0)
      }
    ),
    (
      "a body and trailers",
      {
        RawFrame.response($0, status: "200", endsStream: false).bytes + RawFrame.data($0, "{}", endsStream: false).bytes
          + RawFrame(kind: .headers, flags: 5, stream: $0, payload: RawFrame.block([("x-checksum", "1")])).bytes
      }
    ),
    (
      "an empty DATA frame at the end",
      { RawFrame.response($0, status: "200", endsStream: false).bytes + RawFrame.data($0, "", endsStream: true).bytes }
    ),
    (
      "frames of a kind that nobody knows (RFC 9113 §4.1)",
      { [0, 0, 3, 0xBA, 0xFF, 0, 0, 0, UInt8($0), 1, 2, 3] + RawPeer.accept($0) }
    ),
    (
      "RST_STREAM(NO_ERROR) behind the whole answer (RFC 9113 §8.1)",
      { RawPeer.accept($0) + RawFrame(kind: .resetStream, stream: $0, payload: [0, 0, 0, 0]).bytes }
    ),
    (
      "headers in CONTINUATION frames",
      { stream in
        let block = [8, 3] + Array("200".utf8) + RawFrame.block([("apns-id", "x")])
        return RawFrame(kind: .headers, flags: 1, stream: stream, payload: Array(block.prefix(1))).bytes
          + RawFrame(kind: .continuation, stream: stream, payload: Array(block[1..<7])).bytes
          + RawFrame(kind: .continuation, flags: 4, stream: stream, payload: Array(block[7...])).bytes
      }
    ),
  ]

  @Test("each push is answered once, also byte by byte", arguments: answers.indices, [false, true])
  func accepted(answer: Int, inPieces: Bool) async throws {
    let peer = try await RawPeer.start(inPieces: inPieces) { _, _, stream in Self.answers[answer].1(stream) }
    let fixture = try Self.fixture(peer)
    #expect(await fixture.client.send(pushes(0..<30)).accepted == 30, "\(Self.answers[answer].0)")
    #expect(peer.seen.withLock { $0.requests } == 30 && peer.seen.withLock { $0.connections } == 1)
    await fixture.stop()
    await peer.stop()
  }

  @Test("out of order: each answer finds its own push")
  func outOfOrder() async throws {
    let peer = try await ScriptedPeer.start { request in
      // of the thirty that follow the first, odd tokens are refused at once, the others accepted last come first
      if request.ordinal == 1 { return [.accept] }
      let isOdd = request.token.last.flatMap { UInt8(String($0), radix: 16) }.map { $0 % 2 == 1 } ?? false
      let rest =
        request.ordinal == 31 ? (2...31).reversed().map { ScriptedPeer.Action.acceptStream(Int32($0 * 2 - 1)) } : []
      return (isOdd ? [.refuse(400, "BadDeviceToken")] : []) + rest
    }
    let fixture = try ClientFixture(peer) { $0.pool.size.limit = 1 }
    let outcomes = await fixture.client.send(pushes(0..<31))
    for (number, outcome) in outcomes.enumerated() {
      switch outcome {
      case .accepted: #expect(number % 2 == 0)
      case .refused(let refusal): #expect(number % 2 == 1 && refusal.reason == "BadDeviceToken")
      case .unanswered: Issue.record("push \(number): \(outcome)")
      }
    }
    await fixture.stop()
    await peer.stop()
  }
}

@Suite("The provider client and a server that breaks the rules", .timeLimit(.minutes(2)))
struct BrokenServerTests {
  static let faults: [(String, Bool, @Sendable (Int32) -> [UInt8])] = [
    // what is wrong, whether it costs the connection
    (
      "a header block that no HPACK decoder takes", true,
      { RawFrame(kind: .headers, flags: 5, stream: $0, payload: [0xFE, 0xFF, 0xFF]).bytes }
    ),
    (
      "a push promise, though we said that we want none (RFC 9113 §8.4)", true,
      { RawFrame(kind: .pushPromise, flags: 4, stream: $0, payload: [0, 0, 0, 2, 0x88]).bytes }
    ),
    ("an answer on a stream that nobody opened", true, { RawPeer.accept($0 + 1000) }),
    ("DATA before HEADERS", false, { RawFrame.data($0, "{}", endsStream: true).bytes }),
    (
      "RST_STREAM(INTERNAL_ERROR) behind its HEADERS", false,
      {
        RawFrame.response($0, status: "200", endsStream: false).bytes
          + RawFrame(kind: .resetStream, stream: $0, payload: [0, 0, 0, 2]).bytes
      }
    ),
    (
      "1 MB of headers", false,
      { stream in
        let line = RawFrame.block([("x-long", String(repeating: "x", count: 120))])
        let piece = Array(repeating: line, count: 120).flatMap { $0 }
        return RawFrame(kind: .headers, flags: 1, stream: stream, payload: [8, 3] + Array("200".utf8) + piece).bytes
          + (0..<65).flatMap {
            RawFrame(kind: .continuation, flags: $0 == 64 ? 4 : 0, stream: stream, payload: piece).bytes
          }
      }
    ),
    (
      "a frame longer than we said (RFC 9113 §4.2)", true,
      { RawFrame(kind: .data, stream: $0, payload: [UInt8](repeating: 0, count: 17_000)).bytes }
    ),
  ]

  @Test("what it spoilt goes again, and is accepted", arguments: faults.indices)
  func resent(fault: Int) async throws {
    let (words, costsConnection, bytes) = Self.faults[fault]
    let peer = try await RawPeer.start { total, _, stream in
      // the first push settles the connection, of the next twenty one is spoilt
      total == 11 ? bytes(stream) : RawPeer.accept(stream)
    }
    let fixture = try StrangeServerTests.fixture(peer)
    #expect(await fixture.client.send(pushes(0..<1)).accepted == 1)
    #expect(await fixture.client.send(pushes(1..<21)).accepted == 20, "\(words)")
    let seen = peer.seen.withLock { $0 }
    #expect(seen.requests >= 22, "\(words)")
    #expect(costsConnection ? seen.connections >= 2 : true, "\(words)")
    await fixture.stop()
    await peer.stop()
  }

  @Test("one that drips the bytes of a frame without end is left: the push goes by another connection")
  func drips() async throws {
    let peer = try await RawPeer.start(drip: true) { _, _, stream in RawPeer.accept(stream) }
    let fixture = try StrangeServerTests.fixture(peer) { configuration in
      DeadConnectionTests.hasty(&configuration)
      configuration.pool.requestTimeout = .hours(1)
    }
    #expect(await fixture.client.send(pushes(0..<3)).accepted == 3)
    #expect(peer.seen.withLock { $0.connections } == 2)
    await fixture.stop()
    await peer.stop()
  }
}

@Suite("The provider client and answers of other kinds", .timeLimit(.minutes(2)))
struct OddAnswerTests {
  @Test("a 410 without timestamp, a reason that nobody knows, HTML, and nothing at all")
  func odd() async throws {
    let peer = try await ScriptedPeer.start { request in
      switch request.ordinal {
      case 2: [.refuse(410, "Unregistered")]
      case 3: [.refuse(400, "FlyingSaucer")]
      case 4: [.answer(status: 400, body: "<html><body>Bad Request</body></html>")]
      case 5: [.answer(status: 404, body: "")]
      case 6: [.answer(status: 410, body: "{\"timestamp\":\"soon\",\"reason\":7}")]
      default: [.accept]
      }
    }
    let fixture = try ClientFixture(peer) { $0.pool.size.limit = 1 }
    let outcomes = await fixture.client.send(pushes(0..<6))
    func refusal(_ index: Int) -> PushOutcome.Refusal? {
      if case .refused(let refusal) = outcomes[index] { refusal } else { nil }
    }
    #expect(outcomes.accepted == 1)
    #expect(refusal(1) == .init(status: 410, reason: "Unregistered", since: nil))
    #expect(refusal(2) == .init(status: 400, reason: "FlyingSaucer", since: nil), "kept as it came")
    #expect(refusal(3)?.status == 400 && refusal(3)?.reason == "")
    #expect(refusal(4)?.status == 404 && refusal(5)?.status == 410 && refusal(5)?.since == nil)
    await fixture.stop()
    await peer.stop()
  }

  @Test("a proxy's HTML in the place of an answer is tried again, whatever it says", arguments: [502, 503, 504])
  func html(status: Int) async throws {
    let peer = try await ScriptedPeer.start { request in
      request.total <= 5 ? [.answer(status: status, body: "<html>" + String(repeating: "x", count: 5000))] : [.accept]
    }
    let fixture = try ClientFixture(peer) { $0.pool.retry.firstDelay = .milliseconds(20) }
    #expect(await fixture.client.send(pushes(0..<5)).accepted == 5)
    await fixture.stop()
    await peer.stop()
  }
}

@Suite("The provider client in a storm", .timeLimit(.minutes(5)))
struct GoAwayStormTests {
  @Test("C01 GOAWAYs while 100,000 pushes stream, some of them leaving streams out: each ends with exactly one answer")
  func storm() async throws {
    let peer = try await ScriptedPeer.start(streams: 1000, keepsBodies: false) { request in
      guard request.ordinal % 700 == 0 else { return [.accept] }
      // every third leaves this one and those behind it out
      return request.connection % 3 == 0
        ? [.goAway(last: request.stream - 2, debug: #"{"reason":"Shutdown"}"#)]
        : [.accept, .goAway(last: request.stream, debug: "")]
    }
    let fixture = try ClientFixture(peer) { configuration in
      configuration.pool.size.opensPerSecond = 1000
      configuration.pool.size.growAfter = .milliseconds(5)
    }
    let batches = AsyncStream<[OutgoingPush]> { continuation in
      for start in stride(from: 0, to: 100_000, by: 2000) { continuation.yield(pushes(start..<start + 2000)) }
      continuation.finish()
    }
    var answers: [String: Int] = [:]
    var accepted = 0
    for try await sent in fixture.client.outcomes(of: batches) {
      accepted += sent.outcomes.accepted
      for push in sent.pushes { answers[push.id, default: 0] += 1 }
    }
    #expect(accepted == 100_000)
    #expect(answers.count == 100_000 && answers.values.allSatisfy { $0 == 1 })
    let log = peer.log.withLock { $0 }
    #expect(log.accepted.count == 100_000 && log.accepted.values.allSatisfy { $0 == 1 }, "none is shown twice")
    #expect(log.connections >= 100)
    await fixture.stop()
    await peer.stop()
  }
}
