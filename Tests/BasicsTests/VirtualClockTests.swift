import Basics
import BelfryTesting
import Testing

@Suite("The clock that tests move")
struct VirtualClockTests {
  @Test("sleepers wake by the time that passed; setting the time of day wakes nobody")
  func sleeping() async throws {
    let clock = VirtualClock()
    let start = clock.now
    let sleeper = Task { try await clock.sleep(for: .seconds(10)) }
    while clock.sleeperCount == 0 { await Task.yield() }
    clock.set(to: start + .days(1))
    clock.set(to: start - .days(1))
    clock.advance(by: .seconds(9))
    #expect(clock.sleeperCount == 1)
    clock.advance(by: .seconds(1))
    try await sleeper.value
    #expect(clock.sleeperCount == 0)
    #expect(clock.uptime == .seconds(10))
    #expect(clock.now == start - .days(1) + .seconds(10))
  }

  @Test("a cancelled sleeper wakes with the fault of cancelling and leaves nothing behind")
  func cancelling() async {
    let clock = VirtualClock()
    let sleeper = Task { try await clock.sleep(for: .seconds(10)) }
    while clock.sleeperCount == 0 { await Task.yield() }
    sleeper.cancel()
    await #expect(throws: CancellationError.self) { try await sleeper.value }
    #expect(clock.sleeperCount == 0)
  }
}
