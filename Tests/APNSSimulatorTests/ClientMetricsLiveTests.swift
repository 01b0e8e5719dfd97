import APNSClient
import APNSSimulator
import Basics
import BelfryTesting
import Delivery
import PushPayload
import Testing
import Transport

@Suite("The client's numbers after trouble at a simulated APNs", .timeLimit(.minutes(2)))
struct ClientMetricsLiveTests {
  typealias Scene = FaultClientTests.Scene

  private static func run(
    _ rules: String, simulator change: (inout APNSSimulator.Configuration) -> Void = { _ in },
    _ body: (Scene) async throws -> Void
  ) async throws {
    try await FaultClientTests.run(rules, simulator: change, sharesClock: true) { configuration in
      configuration.pool.size.opensPerSecond = 100
    } _: { scene in
      try await body(scene)
    }
  }

  /// Nothing is on its way, and the connections that are up allow what APNs said last.
  private static func expectCalm(
    _ metrics: APNSClientMetrics, _ location: SourceLocation = #_sourceLocation
  ) {
    #expect(metrics.inFlight == 0 && metrics.waiting == 0 && metrics.streamsInUse == 0, sourceLocation: location)
    #expect(metrics.connecting == 0, sourceLocation: location)
  }

  @Test("GOAWAY: connections, streams and histogram count what there is, not what there was")
  func goAway() async throws {
    let rules = #"{"id":"bye","when":{"per":"connection","every":40},"limit":3,"action":{"goAway":{"then":"stay"}}}"#
    try await Self.run(rules) { scene in
      for start in stride(from: 0, to: 200, by: 20) {
        let accepted = FaultClientTests.accepted(await scene.send(start..<start + 20))
        #expect(accepted == 20)
      }
      let isQuiet = await eventually { await scene.client.metrics.connecting == 0 }
      #expect(isQuiet)
      let metrics = await scene.client.metrics
      Self.expectCalm(metrics)
      #expect(metrics.accepted == 200 && metrics.refused.isEmpty && metrics.unanswered.isEmpty)
      #expect(metrics.latency.count == 200)
      #expect(Int(metrics.goAways) == scene.simulator.faults[0].applied && metrics.goAways >= 1)
      #expect(Int(metrics.connectionsOpened) == metrics.connections + Int(metrics.goAways))
      #expect(metrics.streamsAllowed <= metrics.connections * 1000 && metrics.streamsAllowed >= metrics.connections)
    }
  }

  @Test("answers that were lost with their connection count once each, by the answer that ended them")
  func loss() async throws {
    let rules = """
      [{"id":"cut","when":{"after":10},"limit":1,"action":{"resetConnection":true}},
       {"id":"busy","when":{"after":100},"limit":7,"action":{"refuse":"ServiceUnavailable"}},
       {"id":"gone","when":{"after":150},"limit":5,"action":{"refuse":"Unregistered"}}]
      """
    try await Self.run(rules) { scene in
      let over = Locked(false)
      let cut = FaultClientTests.accepted(await scene.send(0..<30))
      #expect(cut == 30)
      async let ended = scene.send(30..<300)
      let watching = Task {
        while !over.withLock({ $0 }) {
          try? await Task.sleep(for: .milliseconds(2))
          scene.clock.advance(by: .milliseconds(50))  // so that what waits goes again
        }
      }
      let outcomes = await ended
      over.withLock { $0 = true }
      await watching.value
      let metrics = await scene.client.metrics
      Self.expectCalm(metrics)
      let accepted = FaultClientTests.accepted(outcomes)
      #expect(accepted == 265 && metrics.accepted == 295)
      #expect(metrics.refused == ["ServiceUnavailable": 7, "Unregistered": 5])
      #expect(metrics.latency.count == 300, "one for each push, not for each answer")
      #expect(metrics.unanswered.isEmpty)
      #expect(metrics.connectionsOpened >= 2 && metrics.connectionsFailed == 0)
    }
  }

  @Test("latency is from the last sending to the answer")
  func latency() async throws {
    try await Self.run(#"{"id":"slow","when":{"after":1},"action":{"delay":"200ms"}}"#) { scene in
      _ = await scene.send(0..<1)
      async let ended = scene.send(1..<21)
      let isHeldBack = await eventually {
        let inFlight = await scene.client.metrics.inFlight
        return inFlight == 20 && scene.simulator.faults[0].applied == 20
      }
      #expect(isHeldBack)
      let held = await scene.client.metrics
      #expect(held.streamsInUse == 20 && held.streamsAllowed == 1000 && held.latency.count == 1)
      scene.clock.advance(by: .milliseconds(200))
      let accepted = FaultClientTests.accepted(await ended)
      #expect(accepted == 20)
      let latency = await scene.client.metrics.latency
      let bucket = LatencyHistogram.bounds.firstIndex(of: 250)
      #expect(bucket.map { latency.counts[$0] } == 20)
      #expect(latency.sum.milliseconds - held.latency.sum.milliseconds == 20 * 200)
    }
  }

  @Test("the provider token's age: none before the first push, then it grows, and begins again by rotation and renewal")
  func tokenAge() async throws {
    let next = try P256PrivateKey.generate()
    try await Self.run("[]") { configuration in
      configuration.keys = [.init(keyID: "NEXTKEY001", teamID: "TEAM000001", publicKey: next.publicKey)]
    } _: { scene in
      let none = await scene.client.metrics.credential.tokenAge
      #expect(none == nil)
      _ = await scene.send(0..<5)
      scene.clock.advance(by: .minutes(10))
      let ten = await scene.client.metrics.credential
      #expect(ten.tokenAge == .minutes(10) && ten.standing == .good)
      let key = try ProviderKey(p8: next.pem, keyID: "NEXTKEY001", teamID: "TEAM000001", name: "next.p8")
      try await scene.client.rotate(to: .token(key))
      let rotating = await scene.client.metrics.credential.isRotating
      #expect(rotating)
      var sent = 5
      let isOver = await eventually {
        _ = await scene.send(sent..<sent + 1)
        sent += 1
        let metrics = await scene.client.metrics
        return metrics.credential.rotations == 1 && metrics.connections == 1
      }
      #expect(isOver, "\(scene.events.withLock { $0 })")
      let after = await scene.client.metrics
      Self.expectCalm(after)
      #expect(after.credential.tokenAge == .seconds(0) && !after.credential.isRotating)
      #expect(after.connections == 1 && after.streamsAllowed == 1000, "the old connection is gone")
      #expect(Int(after.accepted) == sent && Int(after.latency.count) == sent && after.refused.isEmpty)
      scene.clock.advance(by: .minutes(51))
      _ = await scene.send(sent..<sent + 1)
      let renewed = await scene.client.metrics.credential.tokenAge
      #expect(renewed == .seconds(0), "signed anew after 50 minutes")
    }
  }
}
