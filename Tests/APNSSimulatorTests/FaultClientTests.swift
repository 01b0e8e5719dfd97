import APNSClient
import APNSSimulator
import Basics
import BelfryTesting
import Delivery
import PushPayload
import Testing
import Transport

@Suite("Our provider client against a simulated APNs in trouble", .timeLimit(.minutes(5)))
struct FaultClientTests {
  struct Scene: Sendable {
    let simulator: APNSSimulator
    let client: APNSClient
    let clock: VirtualClock
    let events: Locked<[APNSClientEvent]>
    let tokens: [[UInt8]]

    /// Sends pushes with ids of their own and says how each ended.
    func send(_ numbers: Range<Int>) async -> [PushOutcome] {
      await client.send(
        numbers.map { number in
          let digits = String(number)
          return OutgoingPush(
            id: "00000000-0000-4000-8000-" + String(repeating: "0", count: 12 - digits.count) + digits,
            token: tokens[number % tokens.count], topic: "com.example.app", pushType: .alert, priority: .immediate,
            expiration: nil, collapseID: nil, payload: Array(#"{"aps":{"alert":"Hello"}}"#.utf8))
        })
    }

    /// How often each push was taken.
    var taken: [String: Int] {
      simulator.notifications.reduce(into: [:]) { taken, entry in taken[entry.push.id, default: 0] += 1 }
    }

    var goAways: [String?] {
      events.withLock { $0.compactMap { if case .goAway(_, let reason) = $0 { .some(reason) } else { nil } } }
    }
  }

  static func run(
    _ rules: String, tokens: Int = 100, simulator change: (inout APNSSimulator.Configuration) -> Void = { _ in },
    sharesClock: Bool = false,
    adjust: (inout APNSClient.Configuration) -> Void = { _ in },
    _ body: (Scene) async throws -> Void
  ) async throws {
    let clock = VirtualClock(now: SystemClock().now)
    var configuration = APNSSimulator.Configuration()
    configuration.seed = 1
    configuration.clock = clock
    configuration.logCapacity = 200_000
    change(&configuration)
    configuration.faults.rules = try FaultReadingTests.read(rules)
    let simulator = try await APNSSimulator.start(configuration)
    let credentials = simulator.credentials
    let loop = EventLoop(name: "provider")
    let events = Locked([APNSClientEvent]())
    var settings = APNSClient.Configuration(
      server: APNSServer(simulator.endpoint),
      credential: .token(
        try ProviderKey(
          p8: credentials.signingKey.pem, keyID: credentials.keyID, teamID: credentials.teamID, name: "AuthKey.p8")))
    settings.trust = .pem(credentials.authority.pem)
    settings.seed = 1
    settings.onEvent = { event in events.withLock { $0.append(event) } }
    adjust(&settings)
    let client = try APNSClient(settings, clock: sharesClock ? clock : SystemClock(), loop: loop)
    let devices = (0..<tokens).map { simulator.issueToken(device: "phone-\($0)", bundle: "com.example.app") }
    let scene = Scene(simulator: simulator, client: client, clock: clock, events: events, tokens: devices)
    func stop() async {
      await client.close(grace: .seconds(0))
      await simulator.stop(grace: .milliseconds(50))
      await loop.stop()
    }
    do { try await body(scene) } catch {
      await stop()
      throw error
    }
    await stop()
  }

  static func accepted(_ outcomes: [PushOutcome]) -> Int {
    outcomes.count { if case .accepted = $0 { true } else { false } }
  }

  @Test(
    "C01 a GOAWAY on every connection after 5,000 streams: each of 100,000 ends with one answer, none is shown twice")
  func goAwayStorm() async throws {
    let rules = #"{"id":"storm","when":{"per":"connection","every":5000},"action":{"goAway":{"reason":"Shutdown"}}}"#
    func quicken(_ configuration: inout APNSClient.Configuration) { configuration.pool.size.opensPerSecond = 100 }
    try await Self.run(rules, adjust: quicken) { scene in
      var accepted = 0
      for start in stride(from: 0, to: 100_000, by: 10_000) {
        let outcomes = await scene.send(start..<start + 10_000)
        #expect(outcomes.count == 10_000)
        accepted += Self.accepted(outcomes)
      }
      #expect(accepted == 100_000)
      let taken = scene.taken
      #expect(taken.count == 100_000 && taken.values.allSatisfy { $0 == 1 })
      let said = scene.simulator.faults[0].applied
      #expect(said >= 10)
      #expect(await eventually { scene.goAways.count == said })
      #expect(scene.goAways.allSatisfy { $0 == "Shutdown" }, "the cause is told")
    }
  }

  @Test("C02 GOAWAYs that pass over the two newest streams: those go again, none fails, none is shown twice")
  func lastStreamBelow() async throws {
    let rules =
      #"{"id":"two","when":{"per":"connection","after":17},"limit":3,"action":{"goAway":{"below":2,"text":""}}}"#
    func narrow(_ configuration: inout APNSClient.Configuration) {
      configuration.pool.size.limit = 3
      configuration.pool.size.opensPerSecond = 20
      configuration.pool.streamsEach = 20
      configuration.pool.requestTimeout = .hours(1)  // at once, not after a time-out
    }
    try await Self.run(rules, adjust: narrow) { scene in
      #expect(Self.accepted(await scene.send(0..<600)) == 600)
      #expect(scene.taken.count == 600 && scene.taken.values.allSatisfy { $0 == 1 })
      #expect(scene.simulator.faults[0].applied == 3)
    }
  }

  @Test("C41 one stream at first and after each 400, none for two seconds, REFUSED_STREAM on every tenth: all end once")
  func streamLimits() async throws {
    let rules = """
      [{"id":"none","when":{"per":"connection","after":500},"limit":1,"action":{"streams":0,"for":"2s"}},
       {"id":"refused","when":{"every":10},"action":{"resetStream":"REFUSED_STREAM"}},
       {"id":"bad","when":{"every":97},"action":{"refuse":"BadDeviceToken"}}]
      """
    func single(_ configuration: inout APNSClient.Configuration) { configuration.pool.size.limit = 1 }
    try await Self.run(rules, tokens: 1500, adjust: single) { scene in
      async let outcomes = scene.send(0..<1500)
      #expect(await eventually { scene.simulator.faults[0].applied == 1 && scene.clock.sleeperCount > 0 })
      scene.clock.advance(by: .seconds(2))
      let ended = await outcomes
      let refused = ended.count {
        if case .refused(let refusal) = $0 { refusal.reason == "BadDeviceToken" } else { false }
      }
      let accepted = Self.accepted(ended)
      #expect(accepted + refused == 1500 && refused == scene.simulator.faults[2].applied && refused >= 10)
      #expect(scene.taken.count == accepted && scene.taken.values.allSatisfy { $0 == 1 })
      #expect(scene.simulator.faults[1].applied >= 150)
    }
  }

  static func hasten(_ configuration: inout APNSClient.Configuration) {
    configuration.pool.silence = .milliseconds(200)
    configuration.pool.pingTimeout = .milliseconds(300)
    configuration.pool.connectTimeout = .milliseconds(600)
    configuration.pool.size.firstDelay = .milliseconds(50)
  }

  @Test(
    "C40 a connection that dies without a word, or never comes to be: the next push is answered through another",
    arguments: [
      #"{"id":"dead","when":{"per":"connection","after":5},"limit":1,"action":{"halfOpen":true}}"#,
      #"{"id":"dead","limit":1,"action":{"tls":"never"}}"#, #"{"id":"dead","limit":1,"action":{"tls":"reset"}}"#,
      #"{"id":"dead","when":{"after":5},"limit":1,"action":{"resetConnection":true}}"#,
    ])
  func deadConnection(rule: String) async throws {
    try await Self.run(rule, adjust: Self.hasten) { scene in
      #expect(Self.accepted(await scene.send(0..<50)) == 50)
      // A reset swallows answers on their way: such a push comes twice, under the same id.
      let isOnce = !rule.contains("resetConnection")
      #expect(scene.taken.count == 50 && (!isOnce || scene.taken.values.allSatisfy { $0 == 1 }))
      #expect(scene.simulator.faults[0].applied == 1)
    }
  }

  @Test(
    "answers out of order, in frames of one byte, with HTML, with a reason unknown to us, with 410 without timestamp")
  func oddAnswers() async throws {
    let rules = """
      [{"id":"html","limit":1,"action":{"answer":{"status":404,"body":"<html>"}}},
       {"id":"new","limit":1,"action":{"refuse":"BrandNewReason","status":400}},
       {"id":"gone","limit":1,"action":{"refuse":"Unregistered","timestamp":false,"split":true}},
       {"id":"slow","action":{"jitter":"60s"}}]
      """
    try await Self.run(rules, tokens: 40) { scene in
      async let outcomes = scene.send(0..<40)
      let first = Locked(false)
      for _ in 0..<400 where !first.withLock({ $0 }) {
        #expect(await eventually { scene.clock.sleeperCount > 0 || scene.taken.count >= 37 })
        scene.clock.advance(by: .seconds(60))
        if await eventually(tries: 25, { scene.clock.sleeperCount == 0 }), scene.taken.count >= 37 {
          first.withLock { $0 = true }
        }
      }
      let ended = await outcomes
      let refused = ended.compactMap { if case .refused(let refusal) = $0 { refusal } else { nil } }
      #expect(refused.map(\.reason).sorted() == ["", "BrandNewReason", "Unregistered"])
      #expect(refused.allSatisfy { $0.since == nil })
      #expect(Self.accepted(ended) == 37 && scene.taken.count == 37)
    }
  }
}
