import Basics
import BelfryTesting
import Bus
import Testing

@Suite("The bus of one process", .timeLimit(.minutes(1)))
struct InProcessBusTests {
  let clock = VirtualClock()

  static func work(_ push: Int64, _ shard: UInt16 = 0, devices: UInt32 = 1) -> ShardWork {
    ShardWork(app: 1, push: push, shard: shard, devices: devices)
  }

  @Test("brings work in order, once, until it is acknowledged; then it may come again")
  func order() async {
    let bus = InProcessBus(clock: clock)
    let subscription = bus.subscribe()
    #expect(await bus.publish([Self.work(1), Self.work(2), Self.work(1)]) == 3)
    #expect(await subscription.next(.small) == Self.work(1))
    #expect(await bus.publish([Self.work(1)]) == 1, "known, and being worked on")
    #expect(await subscription.next(.small) == Self.work(2))
    #expect(bus.backlog == 2)
    await subscription.acknowledge(Self.work(1))
    await subscription.acknowledge(Self.work(2))
    #expect(bus.backlog == 0)
    #expect(await bus.publish([Self.work(1)]) == 1)
    #expect(await subscription.next(.small) == Self.work(1))
  }

  @Test("small work does not wait behind large")
  func lanes() async {
    let bus = InProcessBus(clock: clock)
    let subscription = bus.subscribe()
    _ = await bus.publish([Self.work(1, devices: 65_536), Self.work(2, devices: 64)])
    #expect(await subscription.next(.small)?.push == 2)
    #expect(await subscription.next(.large)?.push == 1)
  }

  @Test("refuses what is beyond its capacity, counted from the front")
  func capacity() async {
    let bus = InProcessBus(clock: clock, capacity: 2)
    let subscription = bus.subscribe()
    #expect(await bus.publish([Self.work(1), Self.work(2), Self.work(3)]) == 2)
    #expect(await bus.publish([Self.work(2), Self.work(3)]) == 1)
    let first = await subscription.next(.small)
    #expect(await bus.publish([Self.work(3)]) == 0, "what is worked on counts")
    await subscription.acknowledge(first ?? Self.work(9))
    #expect(await bus.publish([Self.work(3)]) == 1)
  }

  @Test("brings what was put off at once when told to hurry, and once only")
  func hurry() async throws {
    let bus = InProcessBus(clock: clock)
    let subscription = bus.subscribe()
    _ = await bus.publish([Self.work(1), Self.work(2)])
    for _ in 0..<2 {
      let work = try #require(await subscription.next(.small))
      await subscription.retry(work, .after(.minutes(5)))
    }
    await bus.hurry()
    #expect(await subscription.next(.small) == Self.work(1))
    #expect(await subscription.next(.small) == Self.work(2))
    await subscription.retry(Self.work(1), .after(.minutes(10)))
    clock.advance(by: .minutes(5))  // the delay that was cut short is over, and means nothing any more
    await subscription.acknowledge(Self.work(2))
    _ = await bus.publish([Self.work(3)])
    #expect(await subscription.next(.small) == Self.work(3))
    #expect(bus.backlog == 2)
    await bus.hurry()
    #expect(await subscription.next(.small) == Self.work(1))
  }

  @Test("brings again what is to be tried again, once the time has passed")
  func retry() async throws {
    let bus = InProcessBus(clock: clock)
    let subscription = bus.subscribe()
    _ = await bus.publish([Self.work(1), Self.work(2)])
    let first = try #require(await subscription.next(.small))
    await subscription.retry(first, .after(.seconds(5)))
    let second = try #require(await subscription.next(.small))
    await subscription.retry(second, .after(.milliseconds(0)))
    #expect(await subscription.next(.small) == second)
    while clock.sleeperCount == 0 { await Task.yield() }
    async let again = subscription.next(.small)
    clock.advance(by: .seconds(5))
    #expect(await again == first)
  }

  @Test(
    "by the time of day: set forward it is there within a second, set back no later than it would have been",
    arguments: [Instant.Span.hours(1), .hours(-1), .seconds(0)])
  func clockSet(shift: Instant.Span) async throws {
    let bus = InProcessBus(clock: clock)
    let subscription = bus.subscribe()
    _ = await bus.publish([Self.work(1), Self.work(2)])
    let start = clock.uptime
    await subscription.retry(try #require(await subscription.next(.small)), .at(clock.now + .minutes(30)))
    await subscription.retry(try #require(await subscription.next(.small)), .after(.minutes(30)))
    clock.advance(by: .minutes(10))
    clock.set(to: clock.now + shift)
    let delivered = Recorder<(Int64, Instant.Span)>()
    let worker = Task { [clock] in
      while let work = await subscription.next(.small) { delivered.record((work.push, clock.uptime - start)) }
    }
    for _ in 0..<10_000 where delivered.values.count < 2 {
      while clock.sleeperCount == 0, delivered.values.count < 2 { await Task.yield() }
      clock.advance(by: .seconds(1))
      try await Task.sleep(for: .microseconds(200))
    }
    let spans = Dictionary(uniqueKeysWithValues: delivered.values)
    let usual = Instant.Span.minutes(30)
    let byDay = try #require(spans[1])
    let byTime = try #require(spans[2])
    #expect(shift > .seconds(0) ? byDay < .minutes(11) : byDay >= usual && byDay < .minutes(31), "\(byDay)")
    #expect(byTime >= usual && byTime < .minutes(31), "\(byTime)")
    await subscription.close()
    await worker.value
  }

  @Test("a turn that is past when it is put off comes at once: nobody need move the clock for it")
  func past() async throws {
    let bus = InProcessBus(clock: clock)
    let subscription = bus.subscribe()
    _ = await bus.publish([Self.work(1)])
    let due = clock.now + .milliseconds(500)
    let work = try #require(await subscription.next(.small))
    clock.advance(by: .seconds(1))  // between the reckoning and the waiting
    await subscription.retry(work, .at(due))
    #expect(await subscription.next(.small) == work)
  }

  @Test("gives work to who waits; closing ends the waiting and gives back what was held")
  func closing() async {
    let bus = InProcessBus(clock: clock)
    let one = bus.subscribe()
    let two = bus.subscribe()
    _ = await bus.publish([Self.work(1), Self.work(2)])
    #expect(await one.next(.small) == Self.work(1))
    #expect(await one.next(.small) == Self.work(2))
    await one.acknowledge(Self.work(2))
    async let waiting = one.next(.large)
    async let given = two.next(.small)
    await one.close()
    #expect(await waiting == nil)
    #expect(await given == Self.work(1))
    #expect(await one.next(.small) == nil)
    await one.acknowledge(Self.work(1))
    #expect(bus.backlog == 1, "it is the other's now")
  }

  @Test("a task that is cancelled stops waiting and takes no work with it")
  func cancelling() async {
    let bus = InProcessBus(clock: clock)
    let subscription = bus.subscribe()
    for _ in 0..<50 {
      let task = Task { await subscription.next(.small) }
      if Bool.random() { await Task.yield() }
      task.cancel()
      #expect(await task.value == nil)
    }
    _ = await bus.publish([Self.work(1)])
    #expect(await subscription.next(.small) == Self.work(1))
  }

  @Test("many workers: every piece once")
  func many() async {
    let bus = InProcessBus(clock: clock)
    let subscription = bus.subscribe()
    let seen = Recorder<Int64>()
    let workers = (0..<16).map { _ in
      Task {
        while let work = await subscription.next(.small) {
          seen.record(work.push)
          await subscription.acknowledge(work)
        }
      }
    }
    for first in stride(from: 0, to: 3000, by: 100) as StrideTo<Int64> {
      _ = await bus.publish((first..<(first + 100)).map { Self.work($0) })
    }
    await seen.wait { $0.count >= 3000 }
    #expect(Set(seen.values).count == 3000)
    // The last acknowledgement comes after the last record; a closed subscription would give its work back.
    while bus.backlog > 0 { await Task.yield() }
    await subscription.close()
    for worker in workers { await worker.value }
    #expect(seen.values.count == 3000)
  }
}
