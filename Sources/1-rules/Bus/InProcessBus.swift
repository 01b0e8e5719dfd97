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
    func retry(_ work: ShardWork, after span: Instant.Span) async { bus.retry(work, after: span, by: id) }
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

  private func retry(_ work: ShardWork, after span: Instant.Span, by subscriber: UInt64) {
    let ticket: UInt64? = state.withLock { state in
      guard state.held[work.id]?.by == subscriber else { return nil }
      state.held[work.id] = nil
      let ticket = state.nextID()
      state.delayed[work.id] = Delayed(work: work, ticket: ticket)
      return ticket
    }
    guard let ticket else { return }
    if span.milliseconds <= 0 { return requeue(work.id, ticket) }
    Task { [weak self, clock] in
      do { try await clock.sleep(for: span) } catch { return }
      self?.requeue(work.id, ticket)
    }
  }

  /// The delay of that ticket is over, unless `hurry` ended it before.
  private func requeue(_ id: ShardWork.ID, _ ticket: UInt64) {
    let wake: Wake? = state.withLock { state in
      guard let delayed = state.delayed[id], delayed.ticket == ticket else { return nil }
      state.delayed[id] = nil
      return state.enqueue(delayed.work)
    }
    wake?.perform()
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
  }

  private struct State {
    /// Waiting, delayed or held.
    var known: Set<ShardWork.ID> = []
    var queues: [ShardWork.Lane: Queue<ShardWork>] = [:]
    var held: [ShardWork.ID: Held] = [:]
    var delayed: [ShardWork.ID: Delayed] = [:]
    var waiters: [ShardWork.Lane: Queue<Waiter>] = [:]
    var closed: Set<UInt64> = []
    /// Tickets cancelled before they began to wait.
    var cancelled: Set<UInt64> = []
    var lastID: UInt64 = 0

    mutating func nextID() -> UInt64 {
      lastID += 1
      return lastID
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
