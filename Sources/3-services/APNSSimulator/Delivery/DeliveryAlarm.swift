internal import Basics

/// Wakes somebody at a time by a clock, without polling: one sleeping task at most. May be called from any thread.
final class DeliveryAlarm: Sendable {
  private struct State: Sendable {
    var due: Instant?
    var sleeper: Task<Void, Never>?
    var isStopped = false
  }

  private let clock: any WallClock
  private let state = Locked(State())

  init(clock: any WallClock) { self.clock = clock }

  deinit { stop() }

  /// Calls `wake` once the clock shows `due`; a later time asked for before is forgotten, an earlier one stays. `wake` may
  /// come early when somebody sets the clock: it looks at the time itself, and asks again.
  func set(_ due: Instant, wake: @escaping @Sendable () -> Void) {
    let former: Task<Void, Never>? = state.withLock { state in
      guard !state.isStopped else { return nil }
      if let set = state.due, set <= due { return nil }
      let former = state.sleeper
      state.due = due
      state.sleeper = Task { [clock, weak self] in
        guard (try? await clock.sleep(for: max(due - clock.now, .milliseconds(0)))) != nil, !Task.isCancelled else {
          return
        }
        guard self?.ring(due) == true else { return }
        wake()
      }
      return former
    }
    former?.cancel()
  }

  /// False when it was set anew, or stopped, since.
  private func ring(_ due: Instant) -> Bool {
    state.withLock { state in
      guard state.due == due, !state.isStopped else { return false }
      state.due = nil
      state.sleeper = nil
      return true
    }
  }

  func stop() {
    let sleeper = state.withLock { state in
      state.isStopped = true
      state.due = nil
      return state.sleeper.take()
    }
    sleeper?.cancel()
  }
}
