import Basics

/// Collects what happens elsewhere, and lets a test wait for it instead of for time. A wait for what never comes is
/// ended by the test's own time limit.
public final class Recorder<Value: Sendable>: Sendable {
  private struct Waiter {
    var isMet: @Sendable ([Value]) -> Bool
    var continuation: CheckedContinuation<[Value], Never>
  }

  private struct State {
    var values: [Value] = []
    var waiters: [Waiter] = []
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

  /// Returns everything recorded as soon as `isMet` says so, which may be at once.
  @discardableResult
  public func wait(until isMet: @escaping @Sendable ([Value]) -> Bool) async -> [Value] {
    await withCheckedContinuation { continuation in
      let values: [Value]? = state.withLock { state in
        if isMet(state.values) { return state.values }
        state.waiters.append(Waiter(isMet: isMet, continuation: continuation))
        return nil
      }
      if let values { continuation.resume(returning: values) }
    }
  }
}
