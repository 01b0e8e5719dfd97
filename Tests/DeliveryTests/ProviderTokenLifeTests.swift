import Basics
import Delivery
import PushPayload
import Testing

@Suite("A provider token's life")
struct ProviderTokenLifeTests {
  typealias Life = ProviderTokenLife
  typealias Generation = ProviderTokenLife.Generation

  /// A node: its clock, which may be wrong, and its one key.
  struct Node {
    var life = Life()
    var moment = Moment(wall: Instant(seconds: 1_796_000_000), uptime: .seconds(500))
    mutating func pass(_ minutes: Int64) {
      moment.wall = moment.wall + .minutes(minutes)
      moment.uptime = .milliseconds(moment.uptime.milliseconds + minutes * 60_000)
    }
    mutating func setClock(by minutes: Int64) { moment.wall = moment.wall + .minutes(minutes) }
    mutating func handle(_ event: Life.Event) -> [Life.Effect] { life.handle(event, at: moment) }
    /// What a push is sent with.
    mutating func use() -> Generation? {
      for case .use(let generation) in handle(.wanted) { return generation }
      return nil
    }
  }

  @Test("is made at the first push and kept for 20 to 55 minutes, whatever the clock is set to meanwhile")
  func keeps() {
    var node = Node()
    var made: [Int64] = []
    for minute in 0..<Int64(180) {
      if minute == 30 { node.setClock(by: 60) }
      if minute == 100 { node.setClock(by: -120) }
      for case .sign in node.handle(.wanted) { made.append(minute) }
      node.pass(1)
    }
    #expect(made == [0, 50, 100, 150])
  }

  @Test("C27 is made once for all connections, however many are refused at once")
  func onceForAll() {
    var node = Node()
    let first = node.use()
    node.pass(49)
    // the machine slept, say: APNs counts more minutes than we did
    node.pass(0)
    var signed = 0
    for _ in 0..<1000 {
      for case .sign in node.handle(.refused(first!, .expiredProviderToken, theirDate: nil)) { signed += 1 }
    }
    #expect(signed == 1)
    #expect(node.use() != first)
  }

  @Test(
    "C27 refused when young, a wrong clock is told once with its distance, and nothing is signed in a loop",
    arguments: [Int64(60), -60])
  func wrongClock(offBy minutes: Int64) {
    var node = Node()
    let truth = node.moment.wall
    node.setClock(by: minutes)
    let generation = node.use()!
    let reason: RefusalReason = minutes > 0 ? .invalidProviderToken : .expiredProviderToken
    let trouble = Life.Trouble.clock(ahead: .minutes(minutes))
    #expect(
      node.handle(.refused(generation, reason, theirDate: truth)) == [.alarm(trouble), .hold(trouble)])
    #expect(node.handle(.refused(generation, reason, theirDate: truth)) == [.hold(trouble)])
    #expect(node.handle(.wanted) == [.hold(trouble)])
    #expect(trouble.words(credential: "key K").contains(minutes > 0 ? "60 minutes ahead" : "60 minutes behind"))
    node.pass(19)
    #expect(node.use() == nil)
    node.pass(1)
    let probe = node.use()
    #expect(probe != nil, "a probe 20 minutes later")
    let effects = node.handle(.refused(probe!, reason, theirDate: truth + .minutes(20)))
    #expect(effects == [.hold(trouble)], "no second alarm")
    node.setClock(by: -minutes)
    #expect(node.use() != nil, "the clock was set: at once")
  }

  @Test("C27 a clock set right between two pushes needs no operator")
  func clockMended() {
    var node = Node()
    node.setClock(by: -90)
    let generation = node.use()!
    node.setClock(by: 90)
    #expect(node.handle(.refused(generation, .expiredProviderToken, theirDate: nil)).count == 2)
    #expect(node.use() != generation)
  }

  @Test("C26 swapped ids hold the sending with one alarm until an operator acts")
  func swapped() {
    var node = Node()
    let generation = node.use()!
    let trouble = Life.Trouble.credential(.invalidProviderToken)
    let refused = Life.Event.refused(generation, .invalidProviderToken, theirDate: node.moment.wall)
    #expect(node.handle(refused) == [.alarm(trouble), .hold(trouble)])
    for _ in 0..<100 { #expect(node.handle(refused) == [.hold(trouble)]) }
    #expect(node.use() == nil)
    _ = node.handle(.resumed)
    let next = node.use()
    #expect(next != nil)
    _ = node.handle(.accepted(next!))
    #expect(
      node.handle(.refused(next!, .invalidProviderToken, theirDate: nil)) == [.alarm(trouble), .hold(trouble)],
      "revoked later: a new alarm")
  }

  @Test("an answer to an older token says nothing about the current one")
  func stale() {
    var node = Node()
    let first = node.use()!
    node.pass(50)
    let second = node.use()!
    #expect(node.handle(.refused(first, .invalidProviderToken, theirDate: nil)) == [.use(second)])
    #expect(node.use() == second)
  }

  @Test(
    "whatever happens, two tokens are at least 20 minutes apart unless a clock or an operator moved",
    arguments: 0..<200 as Range<UInt64>)
  func neverTooOften(seed: UInt64) {
    var dice = Dice(seed: seed)
    var node = Node()
    var madeAt: Instant.Span?
    for _ in 0..<300 {
      node.pass(Int64.random(in: 0...4, using: &dice))
      let generation = Generation(rawValue: UInt32.random(in: 0...12, using: &dice))
      let event: Life.Event =
        switch Int.random(in: 0..<5, using: &dice) {
        case 0: .refused(generation, .expiredProviderToken, theirDate: nil)
        case 1: .refused(generation, .invalidProviderToken, theirDate: node.moment.wall)
        case 2: .accepted(generation)
        default: .wanted
        }
      for case .sign(let issuedAt, _) in node.handle(event) {
        #expect(issuedAt == node.moment.wall)
        if let madeAt { #expect(node.moment.uptime.milliseconds - madeAt.milliseconds >= 20 * 60_000) }
        madeAt = node.moment.uptime
      }
    }
  }
}

@Suite("A topic that is wrong for everybody")
struct TopicWatchTests {
  @Test("C37 is held with one alarm after ten identical refusals in a row, and tried again later")
  func holds() {
    var watch = TopicWatch()
    var alarms = 0
    func refuse(_ now: Int64) -> [TopicWatch.Effect] {
      watch.handle(.refused(topic: "com.example.app", .deviceTokenNotForTopic), at: .seconds(now))
    }
    for count in 1...1000 {
      for case .alarm in refuse(0) { alarms += 1 }
      #expect((watch.held(topic: "com.example.app", at: .seconds(0)) != nil) == (count >= 10))
    }
    #expect(alarms == 1)
    #expect(watch.held(topic: "com.example.other", at: .seconds(0)) == nil)
    #expect(watch.held(topic: "com.example.app", at: .seconds(600)) == nil)
    for case .alarm in refuse(600) { alarms += 1 }
    #expect(alarms == 1)
    #expect(watch.held(topic: "com.example.app", at: .seconds(601)) != nil)
    _ = watch.handle(.accepted(topic: "com.example.app"), at: .seconds(602))
    #expect(watch.held(topic: "com.example.app", at: .seconds(602)) == nil)
    #expect(watch.isQuiet)
  }

  @Test("is not suspected for a few tokens of another app among good ones, nor for dead tokens")
  func forgives() {
    var watch = TopicWatch()
    for _ in 0..<20 {
      for _ in 0..<9 {
        #expect(watch.handle(.refused(topic: "a", .deviceTokenNotForTopic), at: .seconds(0)).isEmpty)
        #expect(watch.handle(.refused(topic: "a", .badDeviceToken), at: .seconds(0)).isEmpty)
        #expect(watch.handle(.refused(topic: "a", .unregistered), at: .seconds(0)).isEmpty)
      }
      _ = watch.handle(.accepted(topic: "a"), at: .seconds(0))
    }
  }
}
