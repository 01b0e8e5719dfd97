/// Time that a test moves. Sleepers wake in the order of their due time, each before `advance` returns to the test's
/// next line is not promised: await the effect itself.
public final class VirtualClock: WallClock {
  private struct Sleeper {
    var due: Instant
    var id: UInt64
    var wake: CheckedContinuation<Void, any Error>
  }

  private struct State {
    var now: Instant
    var uptime = Instant.Span.milliseconds(0)
    var nextID: UInt64 = 0
    var sleepers: [Sleeper] = []
    var cancelled: Set<UInt64> = []
  }

  private let state: Locked<State>

  public init(now: Instant = Instant(seconds: 1_796_000_000)) { state = Locked(State(now: now)) }

  public var now: Instant { state.withLock { $0.now } }

  public var uptime: Instant.Span { state.withLock { $0.uptime } }

  /// How many tasks sleep now.
  public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

  public func sleep(for span: Instant.Span) async throws { try await sleep { $0.now + span } }

  public func sleep(untilUptime due: Instant.Span) async throws { try await sleep { $0.now + (due - $0.uptime) } }

  private func sleep(until due: @Sendable (State) -> Instant) async throws {
    try Task.checkCancellation()
    let id = state.withLock { state in
      state.nextID += 1
      return state.nextID
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (wake: CheckedContinuation<Void, any Error>) in
        let verdict: Result<Void, any Error>? = state.withLock { state in
          if state.cancelled.remove(id) != nil { return .failure(CancellationError()) }
          let due = due(state)
          guard due > state.now else { return .success(()) }
          state.sleepers.append(Sleeper(due: due, id: id, wake: wake))
          return nil
        }
        if let verdict { wake.resume(with: verdict) }
      }
    } onCancel: {
      let wake: CheckedContinuation<Void, any Error>? = state.withLock { state in
        guard let index = state.sleepers.firstIndex(where: { $0.id == id }) else {
          state.cancelled.insert(id)
          return nil
        }
        return state.sleepers.remove(at: index).wake
      }
      wake?.resume(throwing: CancellationError())
    }
  }

  /// Moves time forward and wakes who is due.
  public func advance(by span: Instant.Span) {
    let due: [Sleeper] = state.withLock { state in
      state.now = state.now + span
      state.uptime = .milliseconds(state.uptime.milliseconds + span.milliseconds)
      let due = state.sleepers.filter { $0.due <= state.now }.sorted { ($0.due, $0.id) < ($1.due, $1.id) }
      state.sleepers.removeAll { $0.due <= state.now }
      return due
    }
    for sleeper in due { sleeper.wake.resume() }
  }

  /// Sets the time of day as an operator would; sleepers are measured by another clock and stay asleep.
  public func set(to instant: Instant) {
    state.withLock { state in
      let shift = instant - state.now
      state.now = instant
      for index in state.sleepers.indices { state.sleepers[index].due = state.sleepers[index].due + shift }
    }
  }
}
