import Basics
public import Delivery

/// An APNs that takes every push, and keeps it for the test to look at.
public final class RecordingSender: PushSender {
  private struct State {
    public var pushes: [OutgoingPush] = []
    var waiters: [(count: Int, wake: CheckedContinuation<Void, Never>)] = []
  }

  private let state = Locked(State())

  public init() {}

  public var pushes: [OutgoingPush] { state.withLock { $0.pushes } }

  public func send(_ batch: [OutgoingPush]) async -> [PushOutcome] {
    let woken: [CheckedContinuation<Void, Never>] = state.withLock { state in
      state.pushes += batch
      let count = state.pushes.count
      defer { state.waiters.removeAll { $0.count <= count } }
      return state.waiters.filter { $0.count <= count }.map(\.wake)
    }
    for waiter in woken { waiter.resume() }
    return batch.map { _ in .accepted(uniqueID: nil) }
  }

  /// Returns once that many have come.
  public func received(_ count: Int) async -> [OutgoingPush] {
    await withCheckedContinuation { continuation in
      let isThere = state.withLock { state in
        if state.pushes.count < count { state.waiters.append((count, continuation)) }
        return state.pushes.count >= count
      }
      if isThere { continuation.resume() }
    }
    return pushes
  }
}
