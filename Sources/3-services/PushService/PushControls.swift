import Basics
public import Store

extension PushService {
  /// Pauses a push with its companion, withdraws what of it has not left, or has it go on. What left before ends by its answer; from the
  /// return on nothing more leaves here, also after a restart. Its time to live runs while it is paused.
  public func control(
    _ app: AppRecord, messageID: Int64, _ control: PushControl
  ) async throws(RequestFault) -> PushControlAnswer {
    try await controlBoth(app, messageID, control)
  }

  /// Withdraws a push, also one whose devices have all ended, and asks each phone that it reached to show it no more.
  public func withdrawAndClear(_ app: AppRecord, messageID: Int64) async throws(RequestFault) -> PushControlAnswer {
    guard try await askToClear(app, messageID) else { return .noSuchPush }
    let answer = try await controlBoth(app, messageID, .withdrawn)
    let progress = try await faulting(as: .push, await store.progress(app: app.id, push: messageID))
    if progress?.finishedAt != nil { clearings.finished(messageID) }
    return answer == .finished ? .done : answer
  }

  private func controlBoth(
    _ app: AppRecord, _ messageID: Int64, _ control: PushControl
  ) async throws(RequestFault) -> PushControlAnswer {
    var answer = try await controlAlone(app, messageID, control)
    if control == .withdrawn, try await withdrawMessage(app, messageID), answer == .finished { answer = .done }
    guard answer != .noSuchPush,
      let companion = try await faulting(as: .push, await store.progress(app: app.id, push: messageID))?.companion,
      try await controlAlone(app, companion, control, "goes with \(messageID)") == .done
    else { return answer }
    return .done
  }

  private func controlAlone(
    _ app: AppRecord, _ push: Int64, _ control: PushControl, _ words: String? = nil
  ) async throws(RequestFault) -> PushControlAnswer {
    let note = note(control.noted, app, String(push), words)
    let answer = try await faulting(
      as: .push, await store.control(app: app.id, push: push, control, at: clock.now, audit: note))
    if answer == .done { await obey(control, push) }
    return answer
  }
}

/// What was said in this process of pushes under way, for what was claimed before it was said: the store has it for all
/// that is claimed after.
final class PushControls: Sendable {
  private let stopped = Locked<Set<Int64>>([])

  func isStopped(_ push: Int64) -> Bool { stopped.withLock { $0.contains(push) } }

  func set(_ control: PushControl, _ push: Int64) {
    stopped.withLock { stopped in
      switch control {
      case .running: stopped.remove(push)
      case .paused, .withdrawn: stopped.insert(push)
      }
    }
  }

  /// The push is over.
  func forget(_ push: Int64) { stopped.withLock { _ = $0.remove(push) } }
}

extension PushControl {
  fileprivate var noted: AuditKind {
    switch self {
    case .running: .pushResumed
    case .paused: .pushPaused
    case .withdrawn: .pushWithdrawn
    }
  }
}
