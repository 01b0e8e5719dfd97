import Basics
import BelfryTesting
import PushPayload
import Testing
import Transport

@testable import APNSSimulator

@Suite("Faults of a connection, over TLS and HTTP/2", .timeLimit(.minutes(2)))
struct FaultConnectionTests {
  static func goAway(_ change: (inout FaultAction.GoAway) -> Void) -> FaultAction {
    var goAway = FaultAction.GoAway()
    change(&goAway)
    return .goAway(goAway)
  }

  @Test("GOAWAY after N streams: the N-th is the last served, the connection stays open for its answer")
  func newest() async throws {
    let third = FaultRule.Conditions.with {
      $0.every = 3
      $0.per = .connection
    }
    try await FaultScene.run([FaultRule("third", Self.goAway { _ in }, when: third)]) { scene in
      for _ in 0..<3 { #expect(await scene.send()?.status == 200) }
      _ = await scene.provider.until { $0.contains(.goAway(#"{"reason":"Shutdown"}"#)) }
      #expect(await scene.provider.goAways == [.init(lastStream: 5, code: .noError)])
      await scene.close()
      let other = try await scene.live.provider()
      for _ in 0..<2 { #expect(await scene.send(by: other)?.status == 200) }
      #expect(await other.goAways == [])
      await other.close()
    }
  }

  @Test(
    "GOAWAY below the newest: those above were not served, those below are answered; its code and words are the rule's")
  func below() async throws {
    try await FaultScene.run { scene in
      await scene.warmUp()
      let action = Self.goAway {
        $0.lastStream = .below(2)
        $0.code = .enhanceYourCalm
        $0.words = .text("go")
        $0.ending = .drain
      }
      scene.simulator.setFaults([FaultRule("two", action, when: .with { $0.after = 3 }, limit: 1)])
      let answers = await scene.sendMany(5)
      #expect(answers.count { $0?.status == 200 } == 3)
      #expect(answers.count { $0 == nil } == 2)
      #expect(await scene.provider.until { $0.contains(.closed) }.contains(.goAway("go")))
      #expect(await scene.provider.goAways == [.init(lastStream: 7, code: .enhanceYourCalm)])
      #expect(scene.simulator.notifications.count == 4, "what is to be sent again was not taken")
    }
  }

  @Test("GOAWAY below the newest when fewer come: those that did are not served")
  func belowFew() async throws {
    try await FaultScene.run([FaultRule("ten", Self.goAway { $0.lastStream = .below(10) }, limit: 1)]) { scene in
      #expect(await scene.send() == nil)
      #expect(await scene.provider.goAways == [.init(lastStream: 0, code: .noError)])
      #expect(scene.simulator.notifications.isEmpty)
    }
  }

  @Test("GOAWAY of stream 0 and without words: nothing was served")
  func none() async throws {
    let action = Self.goAway {
      $0.lastStream = .none
      $0.words = .none
      $0.ending = .close
    }
    try await FaultScene.run([FaultRule("none", action)]) { scene in
      #expect(await scene.send() == nil)
      _ = await scene.provider.until { $0.contains(.closed) }
      #expect(await scene.provider.events == [.settings(1), .goAway(""), .closed])
      #expect(await scene.provider.goAways == [.init(lastStream: 0, code: .noError)])
      #expect(scene.simulator.notifications.isEmpty)
    }
  }

  @Test("GOAWAY of 2^31-1 first, then the real one; then the socket is cut")
  func notice() async throws {
    let action = Self.goAway {
      $0.lastStream = .noticeThenNewest
      $0.words = .reason("IdleTimeout")
      $0.ending = .reset
    }
    try await FaultScene.run([FaultRule("notice", action)]) { scene in
      _ = await scene.send()
      _ = await scene.provider.until { $0.contains(.closed) }
      #expect(
        await scene.provider.goAways == [
          .init(lastStream: .max, code: .noError), .init(lastStream: 1, code: .noError),
        ])
      #expect(await scene.provider.events.contains(.goAway(#"{"reason":"IdleTimeout"}"#)))
    }
  }

  @Test("a connection that is reset in the middle: no answer, and the next one is served")
  func reset() async throws {
    try await FaultScene.run([FaultRule("cut", .resetConnection, when: .with { $0.after = 1 }, limit: 1)]) { scene in
      #expect(await scene.send()?.status == 200)
      #expect(await scene.send() == nil)
      #expect(await scene.provider.events.last == .closed)
      let other = try await scene.live.provider()
      #expect(await scene.send(by: other)?.status == 200)
      #expect(scene.simulator.appliedFaults.map(\.connection) == [1])
      await other.close()
    }
  }

  @Test(
    "half open from a request on: it and all later ones stay unanswered, other connections go on",
    arguments: [true, false])
  func halfOpen(answersPings: Bool) async throws {
    let rule = FaultRule("dead", .halfOpen(answersPings: answersPings), when: .with { $0.per = .connection }, limit: 1)
    try await FaultScene.run { scene in
      await scene.warmUp()
      scene.simulator.setFaults([rule])
      async let answers = scene.sendMany(3)
      #expect(await eventually { scene.simulator.appliedFaults.count == 1 })
      let other = try await scene.live.provider()
      #expect(await scene.send(by: other)?.status == 200)
      let answersPing = await scene.provider.ping()
      #expect(answersPing == answersPings)
      await scene.close()
      #expect(await answers == [nil, nil, nil])
      #expect(scene.simulator.notifications.count == 2)
      await other.close()
    }
  }

  @Test("half open from the handshake on, where no request is named")
  func halfOpenAtOnce() async throws {
    try await FaultScene.run([FaultRule("dead", .halfOpen(answersPings: true), limit: 1)]) { scene in
      #expect(await eventually { scene.simulator.appliedFaults.count == 1 })
      async let answer = scene.send()
      #expect(await scene.provider.ping())
      await scene.close()
      #expect(await answer == nil)
      #expect(scene.simulator.notifications.isEmpty)
    }
  }

  @Test(
    "TCP accepted and TLS never answered, or reset in the handshake; the next one is served",
    arguments: [FaultAction.Handshake.never, .reset])
  func handshake(how: FaultAction.Handshake) async throws {
    let rule = FaultRule("tls", .handshake(how), when: .with { $0.environments = [.sandbox] }, limit: 1)
    try await FaultScene.run([rule], connects: false) { scene in
      let tls = try TLSClientContext(
        trust: .pem(scene.simulator.credentials.authority.pem), identity: nil, offersH2: true)
      async let connected: Void = scene.provider.connect(to: scene.simulator.endpoint, tls: tls)
      #expect(await eventually { scene.simulator.appliedFaults.count == 1 })
      let other = try await scene.live.provider()
      #expect(await scene.send(by: other)?.status == 200)
      switch how {
      case .never:
        #expect(await scene.provider.events == [])
        await scene.close()
      case .reset: _ = await scene.provider.until { $0.contains(.closed) }
      }
      await connected
      #expect(await scene.provider.events == [.closed])
      await other.close()
    }
  }

  @Test("a cap on bytes holds answers back until the rule is gone; other connections run as before")
  func bandwidth() async throws {
    let rule = FaultRule("modem", .bandwidth(bytesPerSecond: 1, lasting: nil), limit: 1)
    try await FaultScene.run { scene in
      await scene.warmUp()
      scene.simulator.setFaults([rule])
      let isAnswered = Locked(false)
      await withTaskGroup(of: Void.self) { group in
        group.addTask {
          #expect(await scene.send()?.status == 200)
          isAnswered.withLock { $0 = true }
        }
        #expect(await eventually { scene.simulator.notifications.count == 2 })
        if let other = try? await scene.live.provider() {
          for _ in 0..<20 { #expect(await scene.send(by: other)?.status == 200) }
          await other.close()
        }
        #expect(!isAnswered.withLock { $0 }, "an answer of 50 bytes takes a minute")
        scene.simulator.setFaults([])
      }
      await scene.close()
    }
  }

  @Test("C41 MAX_CONCURRENT_STREAMS changes in flight, by schedule, to 0 for a while, and back to what it was")
  func streams() async throws {
    var windows = FaultRule.Conditions()
    windows.schedule.from = .after(.seconds(10))
    windows.schedule.every = .seconds(60)
    windows.schedule.lasting = .seconds(2)
    windows.schedule.until = .after(.seconds(100))
    try await FaultScene.run([FaultRule("none", .streams(0, lasting: nil), when: windows)]) { scene in
      await scene.warmUp()
      var expected: [LiveProvider.Event] = [.settings(1), .settings(1000)]
      for (wait, limit) in [(10, 0), (2, 1000), (58, 0), (2, 1000)] as [(Int64, UInt32)] {
        #expect(await eventually { scene.clock.sleeperCount == 1 })
        scene.clock.advance(by: .seconds(wait))
        expected.append(.settings(limit))
        let want = expected.count
        #expect(await scene.provider.until { $0.count == want } == expected)
      }
      #expect(scene.simulator.faults.map(\.applied) == [2])
      await scene.close()
    }
  }

  @Test("a stream limit for a span, begun by a request, and one that ends with its rule")
  func streamsForAWhile() async throws {
    let one = FaultRule("one", .streams(1, lasting: .seconds(30)), when: .with { $0.after = 1 }, limit: 1)
    try await FaultScene.run([one]) { scene in
      await scene.warmUp()
      #expect(await scene.send()?.status == 200)
      _ = await scene.provider.until { $0.last == .settings(1) }
      #expect(await eventually { scene.clock.sleeperCount == 1 })
      scene.clock.advance(by: .seconds(30))
      _ = await scene.provider.until { $0.last == .settings(1000) }
      scene.simulator.setFaults([FaultRule("five", .streams(5, lasting: nil))])
      _ = await scene.provider.until { $0.last == .settings(5) }
      scene.simulator.setFaults([])
      _ = await scene.provider.until { $0.last == .settings(1000) }
      await scene.close()
    }
  }
}
