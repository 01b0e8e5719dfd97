import Basics
public import Delivery

/// A sender that sends nowhere: it records every push and answers as it is told, or keeps the answers back.
public final class RecordingPushSender: PushSender {
  public typealias Answer = @Sendable (OutgoingPush) -> PushOutcome

  private struct State {
    var answer: Answer
    var isHolding = false
    var held: [CheckedContinuation<Void, Never>] = []
  }

  /// In the order of the batches as they came.
  public let pushes = Recorder<OutgoingPush>()
  private let state: Locked<State>

  /// Accepts everything unless told otherwise.
  public init(answer: @escaping Answer = { _ in .accepted(uniqueID: nil) }) { state = Locked(State(answer: answer)) }

  /// Returns all that came once that many have.
  public func received(_ count: Int) async -> [OutgoingPush] { await pushes.wait { $0.count >= count } }

  public func answer(_ answer: @escaping Answer) { state.withLock { $0.answer = answer } }

  /// From here on batches are taken and not answered, as by a server that has gone silent.
  public func hold() { state.withLock { $0.isHolding = true } }

  /// Answers what was kept back, and all to come.
  public func release() {
    let held = state.withLock { state in
      state.isHolding = false
      defer { state.held = [] }
      return state.held
    }
    for continuation in held { continuation.resume() }
  }

  public func send(_ batch: [OutgoingPush]) async -> [PushOutcome] {
    pushes.record(contentsOf: batch)
    await withCheckedContinuation { continuation in
      let isHeld = state.withLock { state in
        if state.isHolding { state.held.append(continuation) }
        return state.isHolding
      }
      if !isHeld { continuation.resume() }
    }
    let answer = state.withLock { $0.answer }
    return batch.map(answer)
  }
}
