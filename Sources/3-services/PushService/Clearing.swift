import Audience
import Basics
import PushPayload
import Store

/// Which pushes phones are to show no more once their last device has ended, in this process.
final class Clearings: Sendable {
  typealias Act = @Sendable (_ app: Int64, _ push: Int64) async -> Void

  private struct State {
    /// By message id, the app.
    var asked: [Int64: Int64] = [:]
    var act: Act = { _, _ in }
    var running: [Int64: Task<Void, Never>] = [:]
    var isStopped = false
  }

  private let state = Locked(State())

  func start(_ act: @escaping Act) { state.withLock { $0.act = act } }

  func ask(app: Int64, push: Int64) { state.withLock { $0.asked[push] = app } }

  func finished(_ push: Int64) {
    state.withLock { state in
      guard let app = state.asked.removeValue(forKey: push), !state.isStopped else { return }
      let act = state.act
      state.running[push] = Task { [weak self] in
        await act(app, push)
        self?.state.withLock { _ = $0.running.removeValue(forKey: push) }
      }
    }
  }

  /// What is not done is done after the next start.
  func stop() async {
    let running = state.withLock { state in
      state.isStopped = true
      return Array(state.running.values)
    }
    for task in running { task.cancel() }
    for task in running { await task.value }
  }
}

extension PushService {
  /// Names the withdrawn push in the silent push that asks apps to show it no more: a message id, as `_j_msgid` has it.
  public static let withdrawnKey = "_j_withdraw"

  /// What a former process was asked and did not do.
  func resumeClearing() async throws(StoreFault) {
    clearings.start { [weak self] app, push in await self?.keepClearing(app: app, push: push) }
    for found in try await store.pushesToClear() {
      clearings.ask(app: found.app, push: found.push)
      if found.isFinished { clearings.finished(found.push) }
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

  private static let firstClearingPause = Instant.Span.seconds(1)
  private static let longestClearingPause = Instant.Span.minutes(5)

  /// Until it is done, or this process ends.
  private func keepClearing(app: Int64, push: Int64) async {
    var pause = Self.firstClearingPause
    while true {
      do { return try await clear(app: app, push: push) } catch { onEvent(.storeTrouble("\(error)")) }
      do { try await clock.sleep(for: pause) } catch { return }
      pause = min(Instant.Span(milliseconds: pause.milliseconds * 2), Self.longestClearingPause)
    }
  }

  /// One silent push, however often it is tried.
  private func clear(app id: Int64, push: Int64) async throws {
    let targets = try await store.recipients(app: id, push: push)
    if !targets.isEmpty, let found = try await store.progress(app: id, push: push),
      let app = try await credentials.app(id: id)
    {
      try await clear(found.push, targets, app)
    }
    try await store.noteCleared(push: push)
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
