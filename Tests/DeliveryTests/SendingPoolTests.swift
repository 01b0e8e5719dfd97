import Basics
import Delivery
import PushPayload
import Testing

@Suite("A pool that sends")
struct SendingPoolTests {
  @Test("opens a connection for the first push, sends it alone, then all that the peer allows")
  func firstAlone() {
    var world = SendingPoolWorld(.oneConnection)
    world.offer(1500)
    #expect(world.peers.keys.map(\.rawValue) == [0])
    world.greet(0, limit: 1)
    #expect(world.peers[0]?.streams.count == 1)
    world.greet(0, limit: 1000)
    #expect(world.peers[0]?.streams.count == 1, "the provider token is unproven")
    world.answer(0, 1)
    #expect(world.peers[0]?.streams.count == 1000)
    world.answerAll()
    #expect(world.outcomes.count == 1500)
  }

  @Test("§6 a renewed connection gets the very next push, however few there are")
  func renewedFirst() {
    for rounds in 0..<4 {
      var world = SendingPoolWorld()
      world.offer(1)
      world.greet(0, limit: 1000)
      world.answer(0, 1)
      for round in 0..<rounds {
        world.offer(1)
        world.answer(0, StreamID(rawValue: Int32(3 + 2 * round)))
      }
      world.handle(.renewed)
      world.greet(1, limit: 1000)
      world.offer(1)
      #expect(world.peers[1]?.streams.count == 1, "after \(rounds) pushes")
    }
  }

  @Test("with a certificate sends all at once")
  func certificate() {
    var settings = SendingPool.Settings()
    settings.firstAlone = false
    var world = SendingPoolWorld(settings)
    world.offer(600)
    world.greet(0, limit: 500)
    #expect(world.peers[0]?.streams.count == 500)
  }

  @Test("C41 with SETTINGS 0 waits or takes another connection; no push fails for the limit")
  func noStreams() {
    var world = SendingPoolWorld()
    world.offer(100)
    world.greet(0, limit: 1)
    world.greet(0, limit: 0)
    world.answer(0, 1)
    #expect(world.peers[0]?.streams.isEmpty == true)
    world.run(for: .seconds(2))
    #expect(world.peers.count > 1, "another connection was opened")
    world.greet(0, limit: 1000)
    #expect(world.peers[0]?.streams.count == 99)
    world.answerAll()
    #expect(world.outcomes.allSatisfy { $0 == .accepted(uniqueID: nil) } && world.outcomes.count == 100)
  }

  @Test("C02 what a GOAWAY leaves out goes again at once; with one connection allowed, by the next one")
  func goAway() {
    var world = SendingPoolWorld(.oneConnection)
    world.offer(10)
    world.greet(0, limit: 1000)
    world.answer(0, 1)
    world.goAway(0, last: 15)
    #expect(world.peers[0]?.streams.count == 7)
    world.greet(1, limit: 1)
    #expect(world.peers[1]?.streams.count == 1)
    world.answerAll()
    #expect(world.peers[0] == nil, "drained and closed by us")
    #expect(world.outcomes.count == 10)
    #expect(world.outcomes.allSatisfy { $0 == .accepted(uniqueID: nil) })
  }

  @Test("C40 a silent connection is asked after 2 s, given up 3 s later, and another takes its pushes")
  func silence() {
    var world = SendingPoolWorld()
    world.offer(1)
    world.greet(0, limit: 1)
    world.run(for: .milliseconds(2300))
    #expect(world.pings == 1)
    world.run(for: .milliseconds(3300))
    #expect(world.peers[0] == nil && world.peers.count == 1)
    world.run(for: .seconds(1))
    world.greet(1, limit: 1)
    world.answerAll()
    #expect(world.outcomes == [.accepted(uniqueID: nil)])
  }

  @Test("C40 an address that accepts and never answers is left within seconds", arguments: [true, false])
  func deafAddress(hedged: Bool) {
    var settings = SendingPool.Settings()
    settings.size.limit = hedged ? 4 : 1
    var world = SendingPoolWorld(settings)
    world.offer(1)
    world.run(for: .seconds(hedged ? 3 : 7))
    #expect(world.opened.count == 2)
    world.greet(1, limit: 1)
    world.answerAll()
    #expect(world.outcomes == [.accepted(uniqueID: nil)])
  }

  @Test("C40 after hours without a push nothing is left of the connection; while idle it is asked each minute")
  func idle() {
    for hours in [Int64(2), 12] {
      var world = SendingPoolWorld()
      world.offer(1)
      world.greet(0, limit: 1)
      world.answerAll()
      world.run(14, each: .minutes(1), pongFrom: 0)
      #expect(world.pings == 14 && world.peers.count == 1)
      world.run(for: .hours(hours))
      #expect(world.peers.isEmpty)
      world.offer(1)
      #expect(world.peers.count == 1)
    }
  }

  @Test("C40 a proxy that answers 503 for a minute loses nothing")
  func proxy() {
    var world = SendingPoolWorld()
    world.offer(50)
    world.greet(0, limit: 1000)
    for _ in 0..<600 {
      world.answerAll(.refused(.init(status: 503, reason: "", since: nil)))
      world.run(for: .milliseconds(100))
    }
    for _ in 0..<100 {
      world.answerAll()
      world.run(for: .seconds(1))
    }
    #expect(world.outcomes.count == 50)
    #expect(world.outcomes.allSatisfy { $0 == .accepted(uniqueID: nil) })
  }

  @Test("C40 a connection given up for its silence is told apart from one that is let go, with the reason")
  func abandoned() {
    var world = SendingPoolWorld()
    world.offer(1)
    world.run(for: .seconds(6))
    #expect(world.abandoned.first == 0, "no greeting")
    var greeted = SendingPoolWorld()
    greeted.offer(1)
    greeted.greet(0, limit: 1)
    greeted.run(for: .seconds(6))
    #expect(greeted.abandoned == [0], "no answer to PING")
    var idle = SendingPoolWorld()
    idle.offer(1)
    idle.greet(0, limit: 1)
    idle.answerAll()
    idle.run(20, each: .minutes(1), pongFrom: 0)
    #expect(idle.peers.isEmpty && idle.abandoned.isEmpty, "idle for long: let go in order")
  }

  @Test("grows by the measured round trip: a near server needs one connection, a far one more")
  func growsByRoundTrip() {
    func connections(roundTrip: Int64) -> Int {
      var settings = SendingPool.Settings()
      settings.size.limit = 8
      var world = SendingPoolWorld(settings)
      world.offer(1)
      world.greet(0, limit: 1000)
      world.pass(.milliseconds(roundTrip))
      world.answerTurn()
      for _ in 0..<10 {
        world.offer(4000)
        for _ in 0..<4 {
          for id in world.peers.keys where world.peers[id]?.limit == nil { world.greet(id, limit: 1000) }
          world.run(for: .milliseconds(roundTrip))
          world.answerTurn()
        }
      }
      return world.opened.count
    }
    #expect(connections(roundTrip: 2) <= 2)
    #expect(connections(roundTrip: 300) == 4)
  }

  @Test("shrinks after minutes in which fewer connections were enough, and keeps one")
  func shrinks() {
    var settings = SendingPool.Settings()
    settings.firstAlone = false
    settings.streamsEach = 100
    var world = SendingPoolWorld(settings)
    world.offer(400)
    for id in world.peers.keys { world.greet(id, limit: 100) }
    world.answerAll()
    #expect(world.peers.count == 4)
    for minute in 0..<40 {
      world.offer(3)
      world.answerAll()
      world.run(for: .minutes(1))
      for id in world.peers.keys { world.handle(.pong(id)) }
      if minute == 3 { #expect(world.peers.count == 4, "not within minutes") }
    }
    #expect(world.peers.count == 1)
    #expect(world.outcomes.count == world.offered)
  }

  @Test("a connection that got GOAWAY and stays open is replaced at once, and closed by us after its last answer")
  func replaced() {
    var world = SendingPoolWorld(.oneConnection)
    world.offer(10)
    world.greet(0, limit: 1000)
    world.answer(0, 1)
    world.goAway(0, last: 2_147_483_647)
    world.offer(1)
    world.run(for: .seconds(1))
    #expect(world.peers.keys.contains(1), "replaced within a second")
    world.greet(1, limit: 1000)
    #expect(world.peers[1]?.streams.count == 1)
    for stream in world.peers[0]?.streams.keys.sorted() ?? [] { world.answer(0, stream) }
    #expect(world.peers[0] == nil, "closed by us")
  }

  @Test("a connection that got GOAWAY and answers nothing more is closed by us at its pushes' deadline")
  func goneDeaf() {
    var world = SendingPoolWorld()
    world.offer(10)
    world.greet(0, limit: 1000)
    world.answer(0, 1)
    world.goAway(0, last: 2_147_483_647)
    world.run(17, each: .seconds(1), pongFrom: 0)
    #expect(world.peers[0] == nil)
    for id in world.peers.keys { world.greet(id, limit: 1000) }
    world.answerAll()
    #expect(world.outcomes.count == 10)
  }

  @Test("a push without an answer in time goes again, and its stream is given up")
  func timeOut() {
    var world = SendingPoolWorld()
    world.offer(2)
    world.greet(0, limit: 1)
    world.answer(0, 1)
    world.run(16, each: .seconds(1), pongFrom: 0)
    #expect(world.peers[0]?.streams.keys.sorted() == [5])
    world.answerAll()
    #expect(world.outcomes.count == 2)
  }

  @Test("C26 pushes are held when the credential is refused, and none is blamed")
  func held() {
    var world = SendingPoolWorld()
    world.offer(20)
    world.greet(0, limit: 1)
    world.handle(.held("check the key"))
    world.answer(0, 1, .refused(.init(status: 403, reason: "InvalidProviderToken", since: nil)))
    #expect(world.outcomes == Array(repeating: .unanswered(.suspended("check the key")), count: 20))
    #expect(world.peers.isEmpty, "the connection is not used again")
    world.offer(1)
    #expect(world.outcomes.count == 21 && world.peers.isEmpty)
    world.handle(.resumed)
    world.offer(1)
    #expect(world.peers.count == 1)
  }

  @Test("an expired provider token costs no push: all go again on a new connection")
  func expiredToken() {
    var world = SendingPoolWorld()
    world.offer(500)
    world.greet(0, limit: 1000)
    world.answer(0, 1)
    world.answerAll(.refused(.init(status: 403, reason: "ExpiredProviderToken", since: nil)))
    #expect(world.peers[0] == nil && world.peers.count == 1)
    world.greet(1, limit: 1000)
    world.answerAll()
    #expect(world.outcomes.count == 500)
    #expect(world.outcomes.allSatisfy { $0 == .accepted(uniqueID: nil) })
  }

  @Test("what is withdrawn ends at once if it has not left, else with its answer")
  func withdrawn() {
    var world = SendingPoolWorld()
    world.offer(3)
    world.greet(0, limit: 1)
    world.handle(.withdrawn([0, 1], .cancelled))
    #expect(world.outcomes == [.unanswered(.cancelled)])
    world.answer(0, 1)
    #expect(world.outcomes == [.unanswered(.cancelled), .accepted(uniqueID: nil)])
    world.answerAll()
    #expect(world.outcomes.count == 3)
  }

  @Test("withdrawn on its way, a push that would have gone again does not")
  func withdrawnOnItsWay() {
    var world = SendingPoolWorld()
    world.offer(1)
    world.greet(0, limit: 1)
    world.handle(.withdrawn([0], .cancelled))
    world.lose(0)
    #expect(world.outcomes == [.unanswered(.cancelled)])
  }

  @Test("closing finishes what is there, takes nothing new, and says so")
  func closing() {
    var world = SendingPoolWorld()
    world.offer(3)
    world.greet(0, limit: 1)
    world.handle(.close)
    world.offer(1)
    #expect(world.outcomes == [.unanswered(.closed)])
    #expect(!world.isClosed)
    world.answerAll()
    #expect(world.outcomes.count == 4)
    #expect(world.isClosed && world.peers.isEmpty)
  }

  @Test("closing at once ends all")
  func closingNow() {
    var world = SendingPoolWorld()
    world.offer(3)
    world.greet(0, limit: 1)
    world.handle(.closeNow)
    #expect(world.outcomes == Array(repeating: .unanswered(.closed), count: 3))
    #expect(world.isClosed && world.peers.isEmpty)
  }

  @Test("what became too late while it waited is not sent")
  func tooLate() {
    var world = SendingPoolWorld()
    world.offer(2, expiration: world.moment.wall.seconds + 3)
    world.run(for: .seconds(4))
    #expect(world.outcomes == Array(repeating: .unanswered(.expired), count: 2))
    #expect(world.sends == 0)
  }

  @Test("with nobody to connect to, pushes wait for five minutes and then say why")
  func nobodyThere() {
    var world = SendingPoolWorld()
    world.offer(5)
    for _ in 0..<600 {
      for id in Array(world.peers.keys) { world.lose(id) }
      world.run(for: .milliseconds(500))
    }
    world.run(for: .seconds(2))
    #expect(world.outcomes == Array(repeating: .unanswered(.retriesExhausted("connection lost")), count: 5))
    #expect((6...40).contains(world.opened.count), "the attempts grew rarer")
  }

  @Test("spreads over its connections")
  func spreads() {
    var settings = SendingPool.Settings()
    settings.firstAlone = false
    settings.streamsEach = 100
    var world = SendingPoolWorld(settings)
    world.offer(250)
    #expect(world.peers.count == 3)
    for id in world.peers.keys { world.greet(id, limit: 100) }
    world.answerAll()
    #expect(world.outcomes.count == 250)
    world.offer(90)
    #expect(world.peers.values.map(\.streams.count) == [30, 30, 30])
  }
}
