import Basics
import Delivery
import Testing

@Suite("A pool's size")
struct PoolSizeTests {
  @Test("never opens more connections in a second than the setting, wherever the second begins")
  func opensPerSecond() {
    var size = PoolSize()
    var opens: [Int64] = []
    for now in stride(from: Int64(0), to: 5000, by: 7) where size.mayOpen(at: .milliseconds(now)) {
      size.opened(at: .milliseconds(now))
      opens.append(now)
    }
    for start in opens {
      #expect(opens.count { (start..<start + 1000).contains($0) } <= size.settings.opensPerSecond)
    }
    #expect(opens.count >= 4 * size.settings.opensPerSecond)
  }

  @Test(
    "grows to the streams needed and the limit given",
    arguments: [
      // waiting, coming, connections → wanted
      (0, 0, 0, 0), (1, 0, 0, 1), (1000, 0, 0, 1), (1001, 0, 0, 2), (1001, 1, 1, 1), (1_000_000, 0, 1, 3),
      (1_000_000, 0, 4, 0), (5, 1, 1, 0), (5, 3, 9, 0),
    ])
  func wanted(waiting: Int, coming: Int, connections: Int, wanted: Int) {
    let size = PoolSize()
    #expect(size.wanted(waiting: waiting, streamsEach: 1000, coming: coming, connections: connections) == wanted)
  }

  @Test("waits longer after each connection that brought nothing, up to a minute, and not at all after one that did")
  func backsOff() {
    var size = PoolSize()
    var dice = Dice(seed: 1)
    var waits: [Int64] = []
    for _ in 0..<12 {
      size.failed(at: .seconds(1000), dice: &dice)
      waits.append((size.earliestOpen?.milliseconds ?? 0) - 1_000_000)
    }
    for (count, wait) in waits.enumerated() {
      let full = min(60_000, 1000 << min(count, 10))
      #expect((Int64(full / 2)...Int64(full)).contains(wait))
    }
    size.succeeded()
    #expect(size.mayOpen(at: .seconds(1000)))
  }

  @Test(
    "follows streams × connections / round trip once the round trip is measured",
    arguments: [
      // round trip in ms, offered a second, waiting, streams each, connections → more wanted
      (1, 0, 100_000, 1000, 1, 0),  // a near server: 100,000 in 250 ms take 400 streams
      (100, 0, 100, 1000, 1, 0),  // 400 a second × 0.1 s = 40 streams
      (100, 0, 9000, 1000, 1, 3),  // 36,000 a second × 0.1 s = 3,600 streams: four connections
      (100, 20_000, 1000, 1000, 1, 2),  // 24,000 a second × 0.1 s: three connections
      (100, 20_000, 1000, 1000, 3, 0), (200, 20_000, 1000, 1000, 3, 2), (100, 20_000, 0, 1000, 1, 0),
      (100, 1_000_000, 1_000_000, 1000, 2, 6),  // never over the limit
      (100, 100, 10, 1, 2, 6),  // the peer allows one stream: 14 connections, the limit is 8
      (0, 1000, 1000, 1000, 1, 0),
    ])
  func measured(trip: Int64, offered: Int, waiting: Int, streams: Int, connections: Int, wanted: Int) {
    var settings = PoolSize.Settings()
    settings.limit = 8
    var size = PoolSize(settings)
    size.measured(roundTrip: .milliseconds(trip), at: .seconds(100))
    size.offered(offered, at: .seconds(100))
    #expect(
      size.wanted(waiting: waiting, streamsEach: streams, coming: 0, connections: connections, at: .seconds(100))
        == wanted)
  }

  @Test("takes the shortest round trip of the last minute or two, so that queues on the way do not count")
  func roundTrip() {
    var size = PoolSize()
    #expect(size.roundTrip == nil)
    for (second, trip) in [(0, 90), (1, 30), (2, 500), (59, 400)] as [(Int64, Int64)] {
      size.measured(roundTrip: .milliseconds(trip), at: .seconds(second))
    }
    #expect(size.roundTrip == .milliseconds(30))
    size.measured(roundTrip: .milliseconds(200), at: .seconds(70))
    #expect(size.roundTrip == .milliseconds(30), "the minute before still counts")
    size.measured(roundTrip: .milliseconds(210), at: .seconds(140))
    #expect(size.roundTrip == .milliseconds(200), "the way became longer")
  }

  @Test("what was offered seconds ago is no rate any more")
  func rate() {
    var size = PoolSize()
    size.measured(roundTrip: .milliseconds(100), at: .seconds(100))
    size.offered(40_000, at: .seconds(100))
    func wanted(_ second: Int64) -> Int {
      size.wanted(waiting: 1, streamsEach: 1000, coming: 0, connections: 1, at: .seconds(second))
    }
    #expect([wanted(100), wanted(101), wanted(102)] == [3, 3, 0])
  }

  @Test("lets one connection go when half of the others had been enough for five minutes, then one more")
  func shrinks() {
    var size = PoolSize()
    func isSurplus(_ minute: Int64, _ inUse: Int, waiting: Int = 0, connections: Int) -> Bool {
      size.isSurplus(
        inUse: inUse, waiting: waiting, streamsEach: 1000, connections: connections, at: .minutes(minute))
    }
    #expect(!isSurplus(0, 100, connections: 3))
    #expect(!isSurplus(4, 900, connections: 3))
    #expect(isSurplus(5, 100, connections: 3))
    #expect(!isSurplus(6, 100, connections: 2), "not two at once")
    #expect(!isSurplus(9, 600, connections: 2), "more than half of what one allows")
    #expect(!isSurplus(12, 100, connections: 2), "the five minutes begin anew")
    #expect(!isSurplus(15, 100, waiting: 1, connections: 2), "what waits wants streams")
    #expect(!isSurplus(16, 100, connections: 2) && isSurplus(21, 100, connections: 2))
    #expect(!isSurplus(90, 0, connections: 1), "the last one stays")
  }
}
