import Basics
import Delivery
import Testing

/// The peer's window for a whole connection is 64 KiB where the peer leaves it as HTTP/2 has it, some 350 small bodies: fewer
/// than the streams that it allows (RFC 9113 §6.9.2).
@Suite("A pool whose peers' windows are narrow")
struct NarrowWindowTests {
  static func world(_ change: (inout SendingPool.Settings) -> Void = { _ in }) -> SendingPoolWorld {
    var settings = SendingPool.Settings()
    change(&settings)
    var world = SendingPoolWorld(settings)
    world.offer(1)
    world.greet(0, limit: 1000)
    world.answer(0, 1)
    return world
  }

  @Test("opens another connection once bodies have waited for growAfter, though streams are free, and sends by it")
  func grows() {
    var world = Self.world()
    world.offer(400)
    world.handle(.narrow(0, true))
    world.run(for: .milliseconds(90))
    #expect(world.opened.count == 1, "a burst passes")
    world.run(for: .milliseconds(20))
    #expect(world.opened.count == 2)
    world.greet(1, limit: 1000)
    world.offer(1)
    #expect(world.peers[1]?.streams.count == 1, "the one that has room")
    world.answer(1, 1)
    world.offer(100)
    #expect(world.peers[1]?.streams.count == 100 && world.peers[0]?.streams.count == 400)
    world.answerAll()
    #expect(world.outcomes.count == 502)
  }

  @Test("does not while the window opens again in time, nor beyond the limit, nor while a credential is on trial")
  func holds() {
    var world = Self.world()
    world.offer(400)
    for _ in 0..<10 {
      world.handle(.narrow(0, true))
      world.run(for: .milliseconds(60))
      world.handle(.narrow(0, false))
      world.run(for: .milliseconds(10))
    }
    #expect(world.opened.count == 1)

    var limited = Self.world { $0.size.limit = 1 }
    limited.offer(400)
    limited.handle(.narrow(0, true))
    limited.run(for: .seconds(1))
    #expect(limited.opened.count == 1)

    var probing = Self.world()
    probing.handle(.held("refused"))
    probing.handle(.resumed)
    probing.offer(1)
    probing.handle(.narrow(0, true))
    probing.run(for: .seconds(1))
    #expect(probing.opened.count == 1)
  }

  @Test("grows one by one to the limit, and still sends when all are narrow")
  func toTheLimit() {
    var world = Self.world { $0.requestTimeout = .hours(1) }
    world.handle(.narrow(0, true))
    for number in 1..<4 {
      world.offer(300)
      world.run(for: .milliseconds(400))
      let id = ConnectionID(rawValue: UInt32(number))
      #expect(world.peers.count == number + 1)
      world.greet(id, limit: 1000)
      world.offer(1)
      world.answer(id, 1)
      world.handle(.narrow(id, true))
    }
    let sends = world.sends
    world.offer(400)
    #expect(world.sends == sends + 400)
    world.run(for: .milliseconds(900))
    #expect(world.opened.count == 4)
    world.answerAll()
    #expect(world.outcomes.allSatisfy { $0 == .accepted(uniqueID: nil) })
  }

  @Test("an answer over a limit is said in its own words when it was the last attempt")
  func spoilt() {
    var world = Self.world { $0.retry.attempts = 1 }
    world.offer(1)
    world.peers[0]?.streams = [:]
    world.handle(.spoilt(0, 3, "the header of the answer is over 8000 bytes"))
    guard case .unanswered(.retriesExhausted(let why)) = world.outcomes.last else {
      Issue.record("\(world.outcomes)")
      return
    }
    #expect(why.contains("header of the answer is over 8000 bytes"))
  }
}
