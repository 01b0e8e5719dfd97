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
}
