import Basics

/// Counts what is on its way into the lab, so that somebody who moves the time himself knows when all has arrived.
final class Underway: Sendable {
  private struct State {
    var count = 0
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Locked(State())

  func begin() { state.withLock { $0.count += 1 } }

  func end() {
    let waiters = state.withLock { state in
      state.count -= 1
      return state.count == 0 ? state.waiters.take() : []
    }
    for waiter in waiters { waiter.resume() }
  }

  /// Returns when nothing is on its way.
  func wait() async {
    await withCheckedContinuation { continuation in
      let isQuiet = state.withLock { state in
        guard state.count > 0 else { return true }
        state.waiters.append(continuation)
        return false
      }
      if isQuiet { continuation.resume() }
    }
  }

  /// A stream's beginning, each element of which is counted until `end`.
  struct Sink<Element: Sendable>: Sendable {
    let underway: Underway
    let stream: AsyncStream<Element>.Continuation

    func yield(_ element: Element) {
      underway.begin()
      if case .terminated = stream.yield(element) { underway.end() }
    }
  }
}

extension Array {
  fileprivate mutating func take() -> [Element] {
    defer { self = [] }
    return self
  }
}
