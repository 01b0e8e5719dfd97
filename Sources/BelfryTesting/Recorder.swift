import Basics

/// Collects what happens elsewhere, and lets a test wait for it instead of for time. A wait for what never comes ends
/// with the test's time limit, which cancels it.
public final class Recorder<Value: Sendable>: Sendable {
  private struct Waiter {
    var id: Int
    var isMet: @Sendable ([Value]) -> Bool
    var continuation: CheckedContinuation<[Value], Never>
  }

  private struct State {
    var values: [Value] = []
    var waiters: [Waiter] = []
    var lastID = 0
  }

  private let state = Locked(State())

  public init() {}

  public var values: [Value] { state.withLock { $0.values } }

  public func record(_ value: Value) { record(contentsOf: [value]) }

  public func record(contentsOf values: [Value]) {
    let woken: [(CheckedContinuation<[Value], Never>, [Value])] = state.withLock { state in
      state.values += values
      let all = state.values
      let met = state.waiters.filter { $0.isMet(all) }
      guard !met.isEmpty else { return [] }
      state.waiters.removeAll { $0.isMet(all) }
      return met.map { ($0.continuation, all) }
    }
    for (continuation, values) in woken { continuation.resume(returning: values) }
  }

  /// Returns everything recorded as soon as `isMet` says so, which may be at once, or the task is cancelled.
  @discardableResult
  public func wait(until isMet: @escaping @Sendable ([Value]) -> Bool) async -> [Value] {
    let id = state.withLock { state in
      state.lastID += 1
      return state.lastID
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let values: [Value]? = state.withLock { state in
          if isMet(state.values) || Task.isCancelled { return state.values }
          state.waiters.append(Waiter(id: id, isMet: isMet, continuation: continuation))
          return nil
        }
        if let values { continuation.resume(returning: values) }
      }
    } onCancel: {
      let (waiter, values) = state.withLock { state in
        let index = state.waiters.firstIndex { $0.id == id }
        return (index.map { state.waiters.remove(at: $0) }, state.values)
      }
      waiter?.continuation.resume(returning: values)
    }
  }
}
