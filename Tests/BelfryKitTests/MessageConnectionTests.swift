import Testing

@testable import BelfryKit

@Suite("The app's connection for messages")
struct MessageConnectionTests {
  typealias Event = MessageConnection.Event
  typealias Effect = MessageConnection.Effect

  /// A connection with a clock that the test moves. Nothing of it is left to chance.
  struct Driver {
    var connection = MessageConnection()
    var now: Int64 = 1_000_000
    var chance = 0.0

    /// Without what is told to people, which `status` has.
    mutating func callAsFunction(_ events: Event...) -> [Effect] {
      events.flatMap { quiet(connection.handle($0, now: now, chance: chance)) }
    }

    mutating func pass(_ milliseconds: Int64) -> [Effect] {
      var effects: [Effect] = []
      let end = now + milliseconds
      while connection.nextCheck <= end {
        now = max(now, connection.nextCheck)
        effects += quiet(connection.timeCheck(now: now, chance: chance).effects)
      }
      now = end
      return effects
    }

    private func quiet(_ effects: [Effect]) -> [Effect] {
      effects.filter { if case .status = $0 { false } else { true } }
    }

    /// Registered, in front, connected by the attempt `number`.
    static func live(heartbeat: Int = 60, number: Int = 1) -> Driver {
      var driver = Driver()
      _ = driver(.credentials(true), .foreground, .opened(number), .received(number, welcome(heartbeat: heartbeat)))
      return driver
    }
  }

  static func welcome(heartbeat: Int = 60, complete: Bool = true) -> ServerFrame {
    .welcome(.init(cursor: .known, complete: complete, heartbeat: heartbeat))
  }

  static func message(_ seq: Int64) -> InAppMessage { InAppMessage(id: "\(seq)00", seq: seq, at: 0, content: "hello") }

  // MARK: When it is wanted

  @Test("D-303 it connects once the app is registered and in front, and says hello when the socket is open")
  func begins() {
    var driver = Driver()
    #expect(driver(.credentials(true)) == [])
    #expect(driver.connection.status == .disconnected(.background))
    #expect(driver(.foreground) == [.connect(1)])
    #expect(driver(.opened(1)) == [.hello(1)])
    #expect(driver(.received(1, Self.welcome())) == [.wantsRead])
    #expect(driver.connection.status == .connected)
  }

  @Test("D-303 without a registration it does not connect, and says why")
  func unregistered() {
    var driver = Driver()
    #expect(driver(.foreground) == [])
    #expect(driver.connection.status == .disconnected(.notRegistered))
    #expect(driver(.credentials(true)) == [.connect(1)])
  }

  @Test("D-304 in the background it leaves at once, in whatever state it is")
  func background() {
    var opening = Driver()
    #expect(opening(.credentials(true), .foreground, .background) == [.connect(1), .abandon(1)])
    var live = Driver.live()
    #expect(live(.background) == [.close(1)])
    #expect(live.connection.status == .disconnected(.background))
    #expect(live.pass(3_600_000) == [])
  }

  @Test("D-305 in front again it connects at once")
  func foreground() {
    var driver = Driver.live()
    #expect(driver(.background, .foreground) == [.close(1), .connect(2)])
  }

  @Test("what comes late of a former connection means nothing")
  func former() {
    var driver = Driver.live()
    _ = driver(.background, .foreground)
    let late: [Event] = [
      .opened(1), .received(1, .message(Self.message(1))), .kept(1, seq: 1), .closed(1, code: 4101), .notKept(1),
    ]
    for event in late { #expect(driver(event) == []) }
    #expect(driver.connection.status == .connecting)
  }

  // MARK: Network

  @Test("a lost network ends it without goodbye; one that is back is used at once")
  func network() {
    var driver = Driver.live()
    #expect(driver(.network(.lost)) == [.abandon(1)])
    #expect(driver.connection.status == .disconnected(.noNetwork))
    #expect(driver.pass(600_000) == [])
    #expect(driver(.network(.available)) == [.connect(2)])
    #expect(driver(.network(.available)) == [])
  }

  @Test("on another network the former connection leads nowhere")
  func changedNetwork() {
    var driver = Driver.live()
    #expect(driver(.network(.changed)) == [.abandon(1), .connect(2)])
  }

  @Test("a network that comes back does not wait for the back-off")
  func networkDuringBackoff() {
    var driver = Driver()
    _ = driver(.credentials(true), .foreground, .closed(1, code: nil))
    #expect(driver(.network(.available)) == [.connect(2)])
  }

  // MARK: Ends

  static let ends: [(code: UInt16?, ConnectionStatus)] = [
    (nil, .disconnected(.retrying(after: 500))),
    (1001, .disconnected(.retrying(after: 500))),
    (1006, .disconnected(.retrying(after: 500))),
    (1011, .disconnected(.retrying(after: 500))),
    (4000, .disconnected(.retrying(after: 500))),
    (4001, .disconnected(.retrying(after: 500))),
    (4002, .disconnected(.retrying(after: 500))),
    (4003, .disconnected(.retrying(after: 500))),
    (4004, .disconnected(.retrying(after: 500))),
    (4005, .disconnected(.retrying(after: 500))),
    (4100, .disconnected(.retrying(after: 500))),
    (4101, .disconnected(.replaced)),
    (4200, .disconnected(.stopped(code: 4200))),
    (4201, .disconnected(.stopped(code: 4201))),
    (4202, .disconnected(.notRegistered)),
    (4203, .disconnected(.retrying(after: 500))),
    (4204, .disconnected(.retrying(after: 500))),
    (4205, .disconnected(.stopped(code: 4205))),
    (4250, .disconnected(.stopped(code: 4250))),
  ]

  @Test("each close code leads to what its range says", arguments: ends)
  func codes(code: UInt16?, status: ConnectionStatus) {
    var driver = Driver.live()
    let effects = driver(.closed(1, code: code))
    #expect(driver.connection.status == status)
    #expect(effects == (code == 4202 ? [.registerAnew] : []))
    let later = driver.pass(500)
    if case .disconnected(.retrying) = status { #expect(later == [.connect(2)]) } else { #expect(later == []) }
  }

  @Test("attempts come at 1, 2, 4 … 120 s, of which half is left to chance")
  func backoff() {
    for (chance, waits) in [
      (0.0, [500, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]),
      (1.0, [1000, 2000, 4000, 8000, 16_000, 32_000, 64_000, 120_000, 120_000]),
    ] as [(Double, [Int64])] {
      var driver = Driver()
      driver.chance = chance
      _ = driver(.credentials(true), .foreground)
      for (index, wait) in waits.enumerated() {
        _ = driver(.closed(index + 1, code: nil))
        #expect(driver.pass(wait - 1) == [])
        #expect(driver.pass(1) == [.connect(index + 2)])
      }
    }
  }

  @Test("a connection that is ended as soon as it is made is no reason to begin the back-off anew; one that held is")
  func shortLived() {
    var driver = Driver()
    _ = driver(.credentials(true), .foreground)
    for number in 1...4 {
      _ = (driver(.opened(number), .received(number, Self.welcome()), .closed(number, code: 4005)), driver.pass(4000))
    }
    #expect(driver(.opened(5), .received(5, Self.welcome()), .closed(5, code: 4005)) == [.hello(5), .wantsRead])
    #expect(driver.pass(7999) == [])
    #expect(driver.pass(1) == [.connect(6)])
    _ = (driver(.opened(6), .received(6, Self.welcome())), driver.pass(30_000), driver(.closed(6, code: 1006)))
    #expect(driver.pass(500) == [.connect(7)])
  }

  @Test("draining: it comes back when it was told to, whatever happens in the app until then")
  func draining() {
    var driver = Driver.live()
    #expect(driver(.received(1, .draining(after: 7000)), .closed(1, code: 4000)) == [])
    #expect(driver(.background, .foreground, .network(.available)) == [])
    #expect(driver.pass(6999) == [])
    #expect(driver.pass(1) == [.connect(2)])
  }

  @Test("replaced: it does not fight for its place; in front anew, it comes back")
  func replaced() {
    var driver = Driver.live()
    #expect(driver(.closed(1, code: 4101)) == [])
    #expect(driver(.network(.changed)) == [])
    #expect(driver.pass(86_400_000) == [])
    #expect(driver(.background, .foreground) == [.connect(2)])
  }

  @Test("a refused secret is renewed once; when that is refused too, there is no storm")
  func refused() {
    var driver = Driver.live()
    #expect(driver(.closed(1, code: 4202)) == [.registerAnew])
    #expect(driver(.network(.available)) == [])
    #expect(driver(.credentials(true)) == [.connect(2)])
    #expect(driver(.opened(2), .closed(2, code: 4202)) == [.hello(2)])
    #expect(driver.connection.status == .disconnected(.refused))
    #expect(driver.pass(86_400_000) == [])
    #expect(driver(.background, .foreground) == [.connect(3)])
  }

  @Test("a secret that cannot be had anew: refused, until the app comes to front anew")
  func notRenewed() {
    var driver = Driver.live()
    #expect(driver(.closed(1, code: 4202), .notRenewed) == [.registerAnew])
    #expect(driver.connection.status == .disconnected(.refused))
    #expect(driver(.background, .foreground) == [.connect(2)])
  }

  @Test("what this version says is not understood: never again by itself")
  func stopped() {
    var driver = Driver.live()
    #expect(driver(.closed(1, code: 4201), .background, .foreground, .network(.available)) == [])
    #expect(driver(.retry) == [.connect(2)])
  }

  // MARK: Silence

  @Test("half open: asked after the heartbeat's silence, given up 10 s later")
  func halfOpen() {
    var driver = Driver.live(heartbeat: 60)
    #expect(driver.pass(64_999) == [])
    #expect(driver.pass(1) == [.send(1, .ping)])
    #expect(driver.pass(9_999) == [])
    #expect(driver.pass(1) == [.abandon(1)])
    #expect(driver.pass(500) == [.connect(2)])
  }

  @Test("any word is a sign of life, and the gateway may change its heartbeat")
  func heartbeat() {
    var driver = Driver.live(heartbeat: 60)
    #expect(driver.pass(65_000) == [.send(1, .ping)])
    #expect(driver(.received(1, .heartbeat(seconds: 90)), .received(1, .pong)) == [])
    #expect(driver.pass(94_999) == [])
    #expect(driver.pass(1) == [.send(1, .ping)])
  }

  @Test("a socket that never opens, and a gateway that never welcomes, are given up")
  func dead() {
    var driver = Driver()
    _ = driver(.credentials(true), .foreground)
    #expect(driver.pass(20_000) == [.abandon(1)])
    #expect(driver.pass(500) == [.connect(2)])
    #expect(driver(.opened(2)) == [.hello(2)])
    #expect(driver.pass(15_000) == [.abandon(2)])
  }

  // MARK: Messages

  @Test("a message is acknowledged once it is on the disk, not before")
  func acknowledges() {
    var driver = Driver.live()
    #expect(
      driver(.received(1, .message(Self.message(5)))) == [.keep(1, seq: 5, .message(Self.message(5)))])
    #expect(driver(.kept(1, seq: 5)) == [.send(1, .ack(seq: 5))])
    #expect(driver(.received(1, .withdrawn(seq: 6, id: "500"))) == [.keep(1, seq: 6, .withdrawn(id: "500"))])
    #expect(driver(.kept(1, seq: 6)) == [.send(1, .ack(seq: 6))])
  }

  @Test("what the disk cannot take is not acknowledged, and comes again on another connection")
  func fullDisk() {
    var driver = Driver.live()
    _ = driver(.received(1, .message(Self.message(5))))
    #expect(driver(.notKept(1)) == [.close(1)])
    #expect(driver.pass(500) == [.connect(2)])
  }

  @Test("a gap that age made is told")
  func incomplete() {
    var driver = Driver()
    _ = driver(.credentials(true), .foreground, .opened(1))
    #expect(driver(.received(1, Self.welcome(complete: false))) == [.incomplete, .wantsRead])
  }

  @Test("what was read is said until the gateway has surely taken it")
  func read() {
    var driver = Driver.live()
    #expect(driver(.read(["1", "2"])) == [.send(1, .read(ids: ["1", "2"])), .send(1, .ping)])
    #expect(driver(.read(["3"])) == [])
    #expect(driver(.received(1, .pong)) == [.readTaken(["1", "2"]), .wantsRead])
    #expect(driver(.read(["3"])) == [.send(1, .read(ids: ["3"])), .send(1, .ping)])
    _ = driver(.closed(1, code: 1006), .network(.available), .opened(2))
    #expect(driver(.received(2, Self.welcome())) == [.wantsRead])
  }

  @Test("history: one question after the other, and an answer that never comes ends them")
  func history() {
    var driver = Driver.live()
    let query = HistoryQuery(limit: 2)
    #expect(driver(.history(request: 1, query)) == [.send(1, .history(request: 1, query))])
    #expect(driver(.history(request: 2, query)) == [])
    let page: ServerFrame = .history(request: 1, messages: [Self.message(9), Self.message(8)], more: true, last: 8)
    #expect(
      driver(.received(1, page)) == [
        .answer(
          request: 1,
          HistoryPage(messages: [Self.message(9), Self.message(8)], next: HistoryQuery(before: 8, limit: 2))),
        .send(1, .history(request: 2, query)),
      ])
    #expect(driver(.background) == [.close(1), .unanswered(request: 2)])
    #expect(driver(.history(request: 3, query)) == [.unanswered(request: 3)])
  }

  // MARK: Chance

  @Test("whatever happens: one connection at a time, and none in the background", arguments: 0..<300 as Range<UInt64>)
  func randomStories(seed: UInt64) {
    var dice = Dice(seed: seed)
    var driver = Driver()
    var open: Int?
    var isFront = false
    for _ in 0..<200 {
      let number = max(1, (open ?? 1) - Int.random(in: 0...1, using: &dice))
      let events: [Event] = [
        .credentials(Bool.random(using: &dice)), .foreground, .background, .network(.lost), .network(.available),
        .network(.changed), .retry, .opened(number), .received(number, Self.welcome()),
        .received(number, .draining(after: Int64.random(in: -5...5000, using: &dice))), .received(number, .pong),
        .received(number, .message(Self.message(Int64.random(in: 0...9, using: &dice)))),
        .closed(number, code: [nil, 1006, 4000, 4101, 4200, 4202].randomElement(using: &dice) ?? nil),
        .kept(number, seq: 3), .notKept(number), .read(["1"]), .history(request: 1, HistoryQuery()),
      ]
      let event = events.randomElement(using: &dice) ?? .retry
      if event == .foreground { isFront = true }
      if event == .background { isFront = false }
      if case .closed(let which, _) = event, which == open { open = nil }
      for effect in driver(event) + driver.pass(Int64.random(in: 0...20_000, using: &dice)) {
        switch effect {
        case .connect(let which):
          #expect(open == nil && isFront, "seed \(seed)")
          open = which
        case .close(let which), .abandon(let which):
          #expect(open == which, "seed \(seed)")
          open = nil
        case .hello(let which), .send(let which, _), .keep(let which, _, _): #expect(open == which, "seed \(seed)")
        case .status, .wantsRead, .readTaken, .registerAnew, .incomplete, .answer, .unanswered: break
        }
      }
      if !isFront { #expect(open == nil, "seed \(seed)") }
    }
  }
}

/// Repeatable chance (SplitMix64).
struct Dice: RandomNumberGenerator {
  var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var word = state
    word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
    word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
    return word ^ (word >> 31)
  }
}
