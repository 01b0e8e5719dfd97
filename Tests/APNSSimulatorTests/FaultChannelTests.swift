import Basics
import BelfryTesting
import PushPayload
import Testing
import Transport

@testable import APNSSimulator

private let requestID = "123e4567-e89b-12d3-a456-4266554400a0"

/// A channel that one phone listens to, a sender and a manager; faults are set after all that.
private struct FaultyChannel {
  let scene: FaultScene
  let manager: LiveProvider
  let channel: String
  let got: Locked<Int>

  static func run(_ rules: String = "[]", _ body: (FaultyChannel) async throws -> Void) async throws {
    try await FaultScene.run { scene in
      let manager = try await scene.live.provider(to: scene.simulator.manageEndpoint)
      let made = await manager.send(
        "/1/apps/com.example.app/channels", [scene.authorization],
        body: #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#)
      let channel = try #require(made?.fields["apns-channel-id"])
      let got = Locked(0)
      scene.simulator.courier.connect(device: "phone") { _ in got.withLock { $0 += 1 } }
      scene.simulator.courier.subscribe(device: "phone", bundle: "com.example.app", channel: channel)
      let faulty = FaultyChannel(scene: scene, manager: manager, channel: channel, got: got)
      scene.simulator.setFaults(try FaultReadingTests.read(rules.replacing("CHANNEL", with: channel)))
      try await body(faulty)
      await manager.close()
      await scene.close()
    }
  }

  func broadcast() async -> LiveProvider.Answer? {
    await scene.provider.send(
      "/4/broadcasts/apps/com.example.app",
      [
        scene.authorization, ("apns-channel-id", channel), ("apns-push-type", "liveactivity"),
        ("apns-priority", "10"), ("apns-expiration", "0"), ("apns-request-id", requestID),
      ], body: #"{"aps":{"timestamp":1,"event":"update","content-state":{}}}"#)
  }

  func manage(
    _ method: String = "GET", by other: LiveProvider? = nil
  ) async -> LiveProvider.Answer? {
    await (other ?? manager).send(
      "/1/apps/com.example.app/channels",
      [scene.authorization, ("apns-channel-id", channel), ("apns-request-id", requestID)], method: method, body: "")
  }
}

@Suite("Faults in broadcasts and channel management, over TLS and HTTP/2", .timeLimit(.minutes(2)))
struct FaultChannelTests {
  /// What a rule answers to a push, a broadcast and a read of the channel: 0 for no answer.
  @Test(
    "a rule meets pushes, broadcasts and management as its conditions say",
    arguments: [
      ("{}", 500, 500, 500), (#"{"port":"push"}"#, 500, 500, 200), (#"{"port":"manage"}"#, 200, 200, 500),
      (#"{"port":["push","manage"]}"#, 500, 500, 500), (#"{"channel":"CHANNEL"}"#, 200, 500, 500),
      (#"{"channel":"CHANNEL","port":"push"}"#, 200, 500, 200), (#"{"channel":["dGVzdA=="]}"#, 200, 200, 200),
      (#"{"topic":"com.example.app"}"#, 500, 500, 500), (#"{"topic":"com.example.other"}"#, 200, 200, 200),
      (#"{"topic":"com.example.app","pushType":"liveactivity"}"#, 200, 500, 500),
      (#"{"pushType":"alert"}"#, 500, 200, 200), (#"{"environment":"production"}"#, 200, 200, 200),
      (#"{"device":"phone"}"#, 500, 200, 200), (#"{"per":"token","after":1}"#, 200, 200, 500),
    ])
  func conditions(when: String, push: Int, broadcast: Int, read: Int) async throws {
    try await FaultyChannel.run(#"{"when":\#(when),"action":{"refuse":"InternalServerError"}}"#) { faulty in
      #expect(await faulty.scene.send()?.status == push)
      let sent = await faulty.broadcast()
      #expect(sent?.status == broadcast && sent?.fields["apns-request-id"] == requestID)
      #expect(sent?.body == (broadcast == 200 ? "" : #"{"reason":"InternalServerError"}"#))
      let told = await faulty.manage()
      #expect(told?.status == read && told?.fields["apns-request-id"] == requestID)
    }
  }

  @Test(
    "each action on the answer: status, whether the phone gets the broadcast, whether the deletion was done",
    arguments: [
      (#"{"refuse":"ServiceUnavailable"}"#, 503, 503, 0, false),
      (#"{"refuse":"ServiceUnavailable","deliver":true}"#, 503, 503, 1, true),
      (#"{"refuse":"BrandNew","status":418,"split":true,"retryAfter":"7"}"#, 418, 418, 0, false),
      (#"{"answer":{"status":502,"body":"<html>"}}"#, 502, 502, 0, false), (#"{"deliver":false}"#, 200, 204, 0, true),
      (#"{"split":true}"#, 200, 204, 1, true), (#"{"resetStream":"REFUSED_STREAM"}"#, 0, 0, 0, false),
      (#"{"resetStream":"CANCEL","deliver":true}"#, 0, 0, 1, true),
    ])
  func actions(action: String, sent: Int, deleted: Int, delivered: Int, isGone: Bool) async throws {
    try await FaultyChannel.run(#"{"id":"mine","action":\#(action)}"#) { faulty in
      let answer = await faulty.broadcast()
      #expect(answer?.status ?? 0 == sent && faulty.got.withLock { $0 } == delivered)
      #expect(answer?.fields["retry-after"] == (action.contains("retryAfter") ? "7" : nil))
      if delivered == 1 {
        #expect(faulty.scene.simulator.notifications.last?.remarks.first?.hasPrefix("fault \"mine\"") == true)
      }
      #expect(await faulty.manage("DELETE")?.status ?? 0 == deleted)
      #expect(faulty.scene.simulator.appliedFaults.map(\.rule) == ["mine", "mine"])
      #expect(faulty.scene.simulator.appliedFaults.map(\.channel) == [faulty.channel, faulty.channel])
      faulty.scene.simulator.setFaults([])
      let proof = await faulty.manage()
      #expect(proof?.status == (isGone ? 400 : 200))
    }
  }

  @Test("a delay holds back broadcasts and management by the simulator's clock; no answer is none")
  func delays() async throws {
    try await FaultyChannel.run(#"{"id":"late","action":{"delay":"10s"}}"#) { faulty in
      async let sent = faulty.broadcast()
      async let read = faulty.manage()
      #expect(await eventually { faulty.scene.clock.sleeperCount == 2 })
      faulty.scene.clock.advance(by: .seconds(10))
      #expect(await sent?.status == 200)
      #expect(await read?.status == 200)
      faulty.scene.simulator.setFaults(try FaultReadingTests.read(#"{"action":{"noAnswer":true}}"#))
      async let silent = faulty.manage()
      #expect(await eventually { faulty.scene.simulator.appliedFaults.count == 3 })
      await faulty.manager.close()
      #expect(await silent == nil)
    }
  }

  @Test("GOAWAY, stream limits and resets on a management connection; the pushes' own goes on")
  func connections() async throws {
    let rule = #"{"when":{"port":"manage"},"limit":1,"action":{"goAway":{"reason":"Shutdown","then":"drain"}}}"#
    try await FaultyChannel.run(rule) { faulty in
      #expect(await faulty.manage()?.status == 200, "the newest stream is served")
      #expect(await faulty.manager.until { $0.contains(.closed) }.contains(.goAway(#"{"reason":"Shutdown"}"#)))
      let scene = faulty.scene
      #expect(await faulty.broadcast()?.status == 200)
      scene.simulator.setFaults(try FaultReadingTests.read(#"{"when":{"port":"manage"},"action":{"streams":7}}"#))
      let second = try await scene.live.provider(to: scene.simulator.manageEndpoint)
      #expect(await second.until { $0.contains(.settings(7)) }.contains(.settings(7)))
      #expect(await faulty.manage(by: second)?.status == 200)
      scene.simulator.setFaults(
        try FaultReadingTests.read(#"{"when":{"channel":"\#(faulty.channel)"},"action":{"resetConnection":true}}"#))
      #expect(await faulty.manage(by: second) == nil)
      #expect(await second.until { $0.contains(.closed) }.contains(.closed))
      #expect(await faulty.broadcast() == nil)
    }
  }

  @Test("trouble in the handshake of one kind of port, and half-open management", arguments: ["reset", "never"])
  func handshakes(how: String) async throws {
    try await FaultyChannel.run(#"{"when":{"port":"manage"},"action":{"tls":"\#(how)"}}"#) { faulty in
      let scene = faulty.scene
      if how == "reset" {
        let cut = try await scene.live.provider(to: scene.simulator.manageEndpoint)
        #expect(await cut.events == [.closed])
      }
      let other = try await scene.live.provider()
      #expect(await scene.send(by: other)?.status == 200)
      await other.close()
      #expect(await faulty.manage()?.status == 200, "an open connection is past its handshake")
      scene.simulator.setFaults(
        try FaultReadingTests.read(#"{"when":{"port":"manage"},"action":{"halfOpen":{"pings":true}}}"#))
      let half = try await scene.live.provider(to: scene.simulator.manageEndpoint)
      async let lost = faulty.manage(by: half)
      #expect(await half.ping())
      await half.close()
      #expect(await lost == nil)
    }
  }

  /// The frames of the answer to one push.
  private static func answer(
    to push: [(String, String)], path: String, by provider: RawProvider, _ stream: Int32
  ) async -> [RawFrame] {
    await provider.send(
      .request(stream, path: path, extra: push, endsStream: false),
      RawFrame(kind: .data, flags: RawFrame.endStream, stream: stream, payload: Array(#"{"aps":{"alert":"x"}}"#.utf8)))
    return await provider.until { $0.stream == stream && $0.endsStream }.filter { $0.stream == stream }
  }

  @Test(
    "§8.1 with faults in force an answer keeps its form: apns-id byte for byte, one DATA frame with END_STREAM at a refusal",
    arguments: [
      (#"{"refuse":"BadDeviceToken"}"#, [27]), (#"{"deliver":false}"#, []),
      (#"{"retryAfter":"3"}"#, []), (#"{"refuse":"Novel","status":499}"#, [18]),
      (#"{"answer":{"status":500}}"#, []), (#"{"refuse":"Shutdown","split":true}"#, [Int](repeating: 1, count: 21)),
    ])
  func form(action: String, data: [Int]) async throws {
    try await FaultScene.run(connects: false) { scene in
      scene.simulator.setFaults(try FaultReadingTests.read("{\"action\":\(action)}"))
      for id in ["123e4567-e89b-12d3-a456-4266554400a0", "123E4567-E89B-12d3-A456-4266554400A0"] {
        let provider = try await scene.live.rawProvider()
        let frames = await Self.answer(
          to: [scene.authorization, ("apns-topic", "com.example.app"), ("apns-id", id)],
          path: "/3/device/\(scene.token)", by: provider, 1)
        #expect(frames.first?.kind == .headers)
        #expect(frames.filter { $0.kind == .data }.map(\.payload.count) == data)
        #expect(frames.last.map { $0.endsStream } == true)
        await provider.close()
        let live = try await scene.live.provider()
        #expect(await scene.send(id: id, by: live)?.fields["apns-id"] == id)
        await live.close()
      }
    }
  }

  @Test("a cap on the management port holds its answers back until the rule is gone; pushes run as before")
  func bandwidth() async throws {
    try await FaultyChannel.run { faulty in
      #expect(await faulty.manage()?.status == 200)
      var management = FaultRule.Conditions()
      management.ports = [.manage]
      faulty.scene.simulator.setFaults([
        FaultRule("modem", .bandwidth(bytesPerSecond: 1, lasting: nil), when: management)
      ])
      let isAnswered = Locked(false)
      async let answer = faulty.manage()
      await withTaskGroup(of: Void.self) { group in
        group.addTask {
          #expect(await faulty.manage()?.status == 200)
          isAnswered.withLock { $0 = true }
        }
        for _ in 0..<20 { #expect(await faulty.scene.send()?.status == 200) }
        #expect(!isAnswered.withLock { $0 }, "an answer of 100 bytes takes minutes")
        faulty.scene.simulator.setFaults([])
      }
      #expect(await answer?.status == 200)
    }
  }
}
