public import Basics

/// The bus of a single process: queues in memory, at most `capacity` pieces of work in all.
public final class InProcessBus: Bus {
  private let clock: any WallClock
  private let capacity: Int
  private let state = Locked(State())

  /// Default: 65,536 pieces, less than 10 MB; a billion devices in one push are 15,259.
  public init(clock: any WallClock, capacity: Int = 65_536) {
    self.clock = clock
    self.capacity = capacity
  }

  deinit { state.withLock { $0.watch?.cancel() } }

  public func publish(_ work: [ShardWork]) async -> Int {
    let (taken, woken): (Int, [Wake]) = state.withLock { state in
      var woken: [Wake] = []
      for (index, piece) in work.enumerated() {
        if state.known.contains(piece.id) { continue }
        guard state.known.count < capacity else { return (index, woken) }
        state.known.insert(piece.id)
        if let wake = state.enqueue(piece) { woken.append(wake) }
      }
      return (work.count, woken)
    }
    for wake in woken { wake.perform() }
    return taken
  }

  public func subscribe() -> any BusSubscription {
    Subscription(bus: self, id: state.withLock { $0.nextID() })
  }

  /// Pieces of work that are waiting, delayed or being worked on.
  public var backlog: Int { state.withLock { $0.known.count } }

  // MARK: A subscriber's side

  private struct Subscription: BusSubscription {
    let bus: InProcessBus
    let id: UInt64
    func next(_ lane: ShardWork.Lane) async -> ShardWork? { await bus.next(lane, for: id) }
    func acknowledge(_ work: ShardWork) async { bus.acknowledge(work, by: id) }
    func retry(_ work: ShardWork, _ turn: Turn) async { bus.retry(work, turn, by: id) }
    func close() async { bus.close(id) }
  }

  private func next(_ lane: ShardWork.Lane, for subscriber: UInt64) async -> ShardWork? {
    let ticket = state.withLock { $0.nextID() }
    defer { state.withLock { _ = $0.cancelled.remove(ticket) } }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let wake: Wake? = state.withLock { state in
          if state.closed.contains(subscriber) || state.cancelled.remove(ticket) != nil {
            return Wake(continuation: continuation, work: nil)
          }
          if let work = state.queues[lane, default: Queue()].popFirst() {
            state.held[work.id] = Held(work: work, by: subscriber)
            return Wake(continuation: continuation, work: work)
          }
          state.waiters[lane, default: Queue()].append(
            Waiter(ticket: ticket, subscriber: subscriber, continuation: continuation))
          return nil
        }
        wake?.perform()
      }
    } onCancel: {
      let wake: Wake? = state.withLock { state in
        for lane in ShardWork.Lane.allCases {
          if let waiter = state.waiters[lane]?.removeFirst(where: { $0.ticket == ticket }) {
            return Wake(continuation: waiter.continuation, work: nil)
          }
        }
        state.cancelled.insert(ticket)
        return nil
      }
      wake?.perform()
    }
  }

  private func acknowledge(_ work: ShardWork, by subscriber: UInt64) {
    state.withLock { state in
      guard state.held[work.id]?.by == subscriber else { return }
      state.held[work.id] = nil
      state.known.remove(work.id)
    }
  }

  // MARK: Delays

  private func retry(_ work: ShardWork, _ turn: Turn, by subscriber: UInt64) {
    let uptime = clock.uptime  // before the time of day, so that a clock that moves between makes it early, not late
    let due: Instant.Span
    let instant: Instant?
    switch turn {
    case .after(let span): (due, instant) = (uptime + span, nil)
    case .at(let moment): (due, instant) = (uptime + (moment - clock.now), moment)
    }
    let zero = clock.now - uptime
    let wake: Wake? = state.withLock { state in
      guard state.held[work.id]?.by == subscriber else { return nil }
      state.held[work.id] = nil
      guard due > uptime else { return state.enqueue(work) }
      let ticket = state.nextID()
      if state.delayed.isEmpty || zero < state.zero ?? zero { state.zero = zero }
      state.delayed[work.id] = Delayed(work: work, ticket: ticket, instant: instant)
      state.due.insert(Delay(id: work.id, ticket: ticket), due: due)
      if state.watchedUntil.map({ due < $0 }) ?? true { startWatch(&state, uptime) }
      return nil
    }
    wake?.perform()
  }

  /// The time of day is looked at so often while something waits.
  private static let look = Instant.Span.seconds(1)

  /// A sleep until the first delay is over, in the place of one that is longer.
  private func startWatch(_ state: inout State, _ uptime: Instant.Span) {
    state.watch?.cancel()
    guard let earliest = state.due.earliest else {
      (state.watch, state.watchedUntil) = (nil, nil)
      return
    }
    let until = min(earliest, uptime + Self.look)
    state.watchedUntil = until
    state.watch = Task { [weak self, clock] in
      do { try await clock.sleep(untilUptime: until) } catch { return }
      self?.wakeDue(until)
    }
  }

  /// - Parameter until: of the watch that has ended; another may have taken its place.
  private func wakeDue(_ until: Instant.Span) {
    let (uptime, now) = (clock.uptime, clock.now)
    let woken: [Wake] = state.withLock { state in
      guard state.watchedUntil == until else { return [] }
      var woken: [Wake] = []
      while let delay = state.due.popDue(at: uptime) {
        if let wake = state.requeue(delay.id, delay.ticket) { woken.append(wake) }
      }
      // by the time of day only where that has run ahead: else it says the same
      let zero = now - uptime
      if zero - (state.zero ?? zero) > Self.look {
        state.zero = zero
        for (id, delayed) in state.delayed where delayed.instant.map({ $0 <= now }) ?? false {
          if let wake = state.requeue(id, delayed.ticket) { woken.append(wake) }
        }
      }
      startWatch(&state, uptime)
      return woken
    }
    for wake in woken { wake.perform() }
  }

  public func hurry() async {
    let woken: [Wake] = state.withLock { state in
      let delayed = state.delayed.values.sorted { $0.ticket < $1.ticket }
      state.delayed = [:]
      return delayed.compactMap { state.enqueue($0.work) }
    }
    for wake in woken { wake.perform() }
  }

  private func close(_ subscriber: UInt64) {
    let woken: [Wake] = state.withLock { state in
      state.closed.insert(subscriber)
      var woken: [Wake] = []
      for lane in ShardWork.Lane.allCases {
        while let waiter = state.waiters[lane]?.removeFirst(where: { $0.subscriber == subscriber }) {
          woken.append(Wake(continuation: waiter.continuation, work: nil))
        }
      }
      let returned = state.held.values.filter { $0.by == subscriber }.map(\.work)
      for work in returned.sorted(by: { ($0.push, $0.shard) < ($1.push, $1.shard) }) {
        state.held[work.id] = nil
        if let wake = state.enqueue(work) { woken.append(wake) }
      }
      return woken
    }
    for wake in woken { wake.perform() }
  }

  // MARK: State

  /// A waiter to resume once the lock is given back.
  private struct Wake {
    var continuation: CheckedContinuation<ShardWork?, Never>
    var work: ShardWork?
    func perform() { continuation.resume(returning: work) }
  }

  private struct Waiter {
    var ticket: UInt64
    var subscriber: UInt64
    var continuation: CheckedContinuation<ShardWork?, Never>
  }

  private struct Held {
    var work: ShardWork
    var by: UInt64
  }

  private struct Delayed {
    var work: ShardWork
    var ticket: UInt64
    /// By the time of day.
    var instant: Instant?
  }

  private struct Delay {
    var id: ShardWork.ID
    var ticket: UInt64
  }

  private struct State {
    /// Waiting, delayed or held.
    var known: Set<ShardWork.ID> = []
    var queues: [ShardWork.Lane: Queue<ShardWork>] = [:]
    var held: [ShardWork.ID: Held] = [:]
    var delayed: [ShardWork.ID: Delayed] = [:]
    /// Their ends by uptime, and of some that came before them.
    var due = DueHeap<Delay>()
    var watch: Task<Void, Never>?
    var watchedUntil: Instant.Span?
    /// The time of day at uptime 0, as what waits was reckoned by.
    var zero: Instant?
    var waiters: [ShardWork.Lane: Queue<Waiter>] = [:]
    var closed: Set<UInt64> = []
    /// Tickets cancelled before they began to wait.
    var cancelled: Set<UInt64> = []
    var lastID: UInt64 = 0

    mutating func nextID() -> UInt64 {
      lastID += 1
      return lastID
    }

    /// The delay of that ticket is over, unless `hurry` ended it before.
    mutating func requeue(_ id: ShardWork.ID, _ ticket: UInt64) -> Wake? {
      guard let delayed = delayed[id], delayed.ticket == ticket else { return nil }
      self.delayed[id] = nil
      return enqueue(delayed.work)
    }

    /// Gives the work to a waiter, if there is one; the caller wakes it outside the lock.
    mutating func enqueue(_ work: ShardWork) -> Wake? {
      if let waiter = waiters[work.lane]?.popFirst() {
        held[work.id] = Held(work: work, by: waiter.subscriber)
        return Wake(continuation: waiter.continuation, work: work)
      }
      queues[work.lane, default: Queue()].append(work)
      return nil
    }
  }
}
