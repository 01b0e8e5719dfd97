import Basics
import Testing

@testable import Transport

@Suite("Event loops")
struct EventLoopTests {
  actor Pinned {
    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    private(set) var seen: [Int] = []

    init(loop: EventLoop) { self.loop = loop }

    func note(_ number: Int) {
      loop.preconditionCurrent()
      seen.append(number)
    }

    /// A callback of libuv enters without a hop.
    func waitForTimer() async -> Bool {
      await withCheckedContinuation { continuation in
        loop.schedule(after: .milliseconds(1)) {
          self.assumeIsolated { $0.seen.append(-1) }
          continuation.resume(returning: true)
        }
      }
    }
  }

  @Test("an actor pinned to a loop runs on its thread, and callbacks enter it by assumeIsolated")
  func pinnedActor() async throws {
    try await withLoops { loops in
      let actor = Pinned(loop: loops.next())
      for number in 0..<100 { await actor.note(number) }
      #expect(await actor.waitForTimer())
      #expect(await actor.seen == Array(0..<100) + [-1])
      #expect(!actor.loop.isCurrent)
      #expect(actor.loop.isIsolatingCurrentContext() == false)
    }
  }

  @Test("what is handed over runs in that order, also what is handed over on the loop")
  func order() async throws {
    try await withLoops { loops in
      let loop = loops.next()
      let box = Mailbox<[Int]>()
      let seen = Locked<[Int]>([])
      for number in 0..<1000 {
        loop.execute {
          seen.withLock { $0.append(number) }
          guard number == 999 else { return }
          loop.execute {
            seen.withLock { $0.append(1000) }
            box.post(seen.withLock { $0 })
          }
        }
      }
      #expect(await box.next() == Array(0...1000))
    }
  }

  @Test("timers fire by their time, once; a cancelled one never does")
  func timers() async throws {
    try await withLoops { loops in
      let loop = loops.next()
      let box = Mailbox<Int>()
      loop.schedule(after: .milliseconds(30)) { box.post(3) }
      loop.schedule(after: .milliseconds(10)) { box.post(1) }
      let cancelled = loop.schedule(after: .milliseconds(20)) { box.post(2) }
      cancelled.cancel()
      #expect(await box.next() == 1)
      #expect(await box.next() == 3)
      #expect(await onLoop(loop) { loop.residentCount } == 0)
    }
  }

  @Test("a stopped loop still runs the jobs of its actors, one at a time, and no timers")
  func afterStop() async {
    let loops = LoopGroup(count: 1)
    let loop = loops.next()
    let actor = Pinned(loop: loop)
    let fired = Locked(false)
    loop.schedule(after: .seconds(60)) { fired.withLock { $0 = true } }
    await actor.note(0)
    await loops.stop()
    await loops.stop()
    await withTaskGroup(of: Void.self) { group in
      for number in 1...50 { group.addTask { await actor.note(number) } }
    }
    #expect(await actor.seen.sorted() == Array(0...50))
    loop.schedule(after: .milliseconds(0)) { fired.withLock { $0 = true } }
    #expect(!fired.withLock { $0 })
  }

  @Test("an actor may stop its own loop")
  func stopsItself() async {
    actor Owner {
      nonisolated let loop = EventLoop()
      nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
      func stop() async -> Bool {
        await loop.stop()
        return loop.isCurrent
      }
    }
    #expect(await Owner().stop())
  }

  private func onLoop<Value: Sendable>(_ loop: EventLoop, _ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in loop.execute { continuation.resume(returning: body()) } }
  }
}
