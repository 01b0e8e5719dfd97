import Audience
import Basics
import PushPayload
import Store

/// Which pushes phones are to show no more once their last device has ended, in this process.
final class Clearings: Sendable {
  private struct State {
    /// By message id, the app.
    var asked: [Int64: Int64] = [:]
    var act: @Sendable (_ app: Int64, _ push: Int64) -> Void = { _, _ in }
  }

  private let state = Locked(State())

  func start(_ act: @escaping @Sendable (_ app: Int64, _ push: Int64) -> Void) { state.withLock { $0.act = act } }

  func ask(app: Int64, push: Int64) { state.withLock { $0.asked[push] = app } }

  func finished(_ push: Int64) {
    let found = state.withLock { state in state.asked.removeValue(forKey: push).map { ($0, state.act) } }
    if let (app, act) = found { act(app, push) }
  }
}

extension PushService {
  /// Names the withdrawn push in the silent push that asks apps to show it no more: a message id, as `_j_msgid` has it.
  public static let withdrawnKey = "_j_withdraw"

  /// What a former process was asked and did not do.
  func resumeClearing() async throws(StoreFault) {
    clearings.start { [weak self] app, push in Task { await self?.clear(app: app, push: push) } }
    for found in try await store.pushesToClear() {
      if found.isFinished {
        Task { await clear(app: found.app, push: found.push) }
      } else {
        clearings.ask(app: found.app, push: found.push)
      }
    }
  }

  /// Once the push's last device has ended, each that APNs accepted it for is asked to show it no more; after a crash, too.
  /// false without such a push.
  func askToClear(_ app: AppRecord, _ push: Int64) async throws(RequestFault) -> Bool {
    let note = note(.pushCleared, app, String(push))
    guard try await faulting(as: .push, await store.askToClear(app: app.id, push: push, audit: note)) else {
      return false
    }
    clearings.ask(app: app.id, push: push)
    return true
  }

  /// One silent push, however often it is tried. What the store cannot do now is done after the next start.
  private func clear(app id: Int64, push: Int64) async {
    do {
      let targets = try await store.recipients(app: id, push: push)
      if !targets.isEmpty, let found = try await store.progress(app: id, push: push),
        let app = try await credentials.app(id: id)
      {
        try await clear(found.push, targets, app)
      }
      try await store.noteCleared(push: push)
    } catch {
      onEvent(.storeTrouble("\(error)"))
    }
  }

  private func clear(
    _ shown: StoredPush, _ targets: [AudienceReach.ShardAudience], _ app: AppRecord
  ) async throws(RequestFault) {
    let now = clock.now
    var draft = PushDraft(
      payload: ["aps": ["content-available": 1], Self.withdrawnKey: .number(JSONNumber(shown.id))],
      pushType: .background, priority: .considerate)
    try draft.setEnd(PushDraft.usualTimeToLive, at: now, wait: PushDraft.shortestWait)
    var order = PushOrder(audience: .everyone, production: shown.environment == .production)
    order.clientID = "clear:\(shown.id)"  // no caller's: a cid has no colon
    var reach = AudienceReach()
    reach.targets = targets
    var push = StoredPush(order, draft, reach, nil, app: app.id, at: now)
    push.audience = nil
    let (kept, answer) = try await keep(PushPlan(push: push, reach: reach, draft: draft)) {
      [store] plan throws(StoreFault) in
      try await store.accept(plan.push, audience: targets, clientIDsSince: Instant(milliseconds: .min))
    }
    if answer == .accepted { _ = await accepted(kept, app) }
  }
}
