import Basics
import Bus
import Store

/// Takes work from the bus and has it done: many at once for small work, few for shards of large pushes.
final class WorkDispatcher: Sendable {
  private let store: any Store
  private let bus: any Bus
  private let clock: any WallClock
  private let sender: ShardSender
  private let gates = SendingGates()
  private let controls = PushControls()
  private let hurries = Locked(0)
  private let onEvent: @Sendable (ServiceEvent) -> Void
  private let state: Locked<State>

  /// Small work is at most `ShardWork.smallLimit` devices each, large work two batches each: some 15 MB in all.
  private static let smallWorkers = 256
  private static let largeWorkers = 4
  private static let page = 1000

  private struct State {
    var subscription: (any BusSubscription)?
    var tasks: [Task<Void, Never>] = []
    /// The bus refused work that is in the store.
    var isSweepDue = false
    var dice: Dice
    var isStopping: Stopping
  }

  private final class Stopping: Sendable {
    let flag = Locked(false)
  }

  init(
    store: any Store, bus: any Bus, clock: any WallClock, credentials: Credentials,
    senders: @escaping PushService.Senders, broadcasts: BroadcastSender,
    zones: @escaping @Sendable (String) -> TimeZoneRules?, metrics: ServiceMetrics, seed: UInt64,
    onEvent: @escaping @Sendable (ServiceEvent) -> Void
  ) {
    let stopping = Stopping()
    self.store = store
    self.bus = bus
    self.clock = clock
    self.onEvent = onEvent
    state = Locked(State(dice: Dice(seed: seed ^ 0x686F_6C64), isStopping: stopping))
    sender = ShardSender(
      store: store, clock: clock, credentials: credentials, senders: senders, broadcasts: broadcasts, gates: gates,
      controls: controls, zones: zones,
      metrics: metrics, onEvent: onEvent, isStopping: { stopping.flag.withLock { $0 } })
  }

  var isRunning: Bool { state.withLock { $0.subscription != nil && !$0.isStopping.flag.withLock { $0 } } }

  func start() async throws(StoreFault) {
    let subscription = bus.subscribe()
    let isFirst = state.withLock { state in
      guard state.subscription == nil else { return false }
      state.subscription = subscription
      return true
    }
    guard isFirst else { return }
    try await sweep()
    var tasks = [Task { await keepSweeping() }]
    for _ in 0..<Self.smallWorkers { tasks.append(Task { await run(subscription, .small) }) }
    for _ in 0..<Self.largeWorkers { tasks.append(Task { await run(subscription, .large) }) }
    state.withLock { [tasks] in $0.tasks = tasks }
  }

  func stop() async {
    let (subscription, tasks) = state.withLock { state in
      state.isStopping.flag.withLock { $0 = true }
      return (state.subscription, state.tasks)
    }
    await subscription?.close()
    tasks.first?.cancel()  // the sweep; the others end by themselves, with their answers kept
    for task in tasks { await task.value }
  }

  func publish(_ work: [ShardWork]) async {
    if await bus.publish(work) < work.count { state.withLock { $0.isSweepDue = true } }
  }

  func obey(_ control: PushControl, _ push: Int64) async {
    controls.set(control, push)
    await hurry()
  }

  func resume() async {
    gates.resume()
    await hurry()
  }

  /// What waits for a while is tried now, also what is about to be put off by a turn that began before.
  private func hurry() async {
    hurries.withLock { $0 += 1 }
    await bus.hurry()
  }

  private func run(_ subscription: any BusSubscription, _ lane: ShardWork.Lane) async {
    while let work = await subscription.next(lane) {
      let holder = state.withLock { $0.dice.next() }
      let hurriesBefore = hurries.withLock { $0 }
      switch await sender.work(on: work, holder: holder) {
      case .finished: await subscription.acknowledge(work)
      case .later(let turn):
        await subscription.retry(work, turn)
        if hurries.withLock({ $0 }) != hurriesBefore { await bus.hurry() }
      }
    }
  }

  // MARK: The sweep

  /// Publishes what the store says is owed, as far as the bus takes it; what it knows already it ignores.
  private func sweep() async throws(StoreFault) {
    var last: OpenShard?
    repeat {
      let open = try await store.unfinished(after: last, limit: Self.page)
      let work = open.map { ShardWork(app: $0.app, push: $0.push, shard: $0.shard, devices: $0.devices) }
      if await bus.publish(work) < work.count { return state.withLock { $0.isSweepDue = true } }
      last = open.count == Self.page ? open.last : nil
    } while last != nil
  }

  private func keepSweeping() async {
    while true {
      do { try await clock.sleep(for: .seconds(1)) } catch { return }
      let isDue = state.withLock { state in
        defer { state.isSweepDue = false }
        return state.isSweepDue
      }
      guard isDue else { continue }
      do throws(StoreFault) {
        try await sweep()
      } catch {
        onEvent(.storeTrouble("\(error)"))
        state.withLock { $0.isSweepDue = true }
      }
    }
  }
}
