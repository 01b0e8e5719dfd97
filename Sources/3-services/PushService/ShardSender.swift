import Audience
import Basics
import Bus
import Delivery
import PushPayload
import Store

/// Works off one shard of one push: claims devices in batches, renders, hands them to the app's `PushSender`, and keeps
/// what became of them. While one batch is with the sender, the one before is committed and the one after is claimed,
/// so that memory stays at two batches whatever the size of the push.
struct ShardSender: Sendable {
  let store: any Store
  let clock: any WallClock
  let credentials: Credentials
  let senders: PushService.Senders
  let broadcasts: BroadcastSender
  let gates: SendingGates
  let controls: PushControls
  let zones: @Sendable (String) -> TimeZoneRules?
  let metrics: ServiceMetrics
  let onEvent: @Sendable (ServiceEvent) -> Void
  /// True once nothing new may be sent.
  let isStopping: @Sendable () -> Bool

  /// Batches grow from the first to the last while answers are good, so that a fault of the whole app meets few.
  static let firstBatch = 64
  static let largestBatch = 1024

  enum End: Equatable {
    case finished
    /// Not finished; to be taken up again after a while.
    case later(Turn)
  }

  func work(on work: ShardWork, holder: UInt64) async -> End {
    do throws(StoreFault) {
      let now = clock.now
      let start = try await store.begin(
        push: work.push, shard: work.shard, holder: holder, claiming: Self.firstBatch, at: now, zones: zones)
      switch start {
      case .finished(let endedPush, let ended):
        count(ended)
        if endedPush { finished(work.push, of: try? await credentials.app(id: work.app)) }
        return .finished
      case .busy: return .later(.after(.seconds(1)))
      case .begun(let shard):
        count(shard.ended)
        metrics.change { $0.shardsUnderWay += 1 }
        let end = await run(shard, at: now)
        metrics.change { $0.shardsUnderWay -= 1 }
        await store.release(shard.hold)
        return end
      }
    } catch {
      return failed(error)
    }
  }

  private func run(_ shard: BegunShard, at now: Instant) async -> End {
    let push = shard.push
    do throws(StoreFault) {
      guard let app = try await credentials.app(id: push.app), let render = PushRender(push, app) else {
        throw .corrupt("push \(push.id) cannot be sent")
      }
      var run = ShardRun(shard, app: app, at: now)
      if isExpired(push) { return await endRest(&run, as: .expired) }
      switch shard.control {
      case .running: break
      case .paused: return .later(untilDeadline(push, atMost: Self.pausedLook))
      case .withdrawn: return await endRest(&run, as: .withdrawn)
      }
      if shard.claimed.isEmpty, let next = shard.nextAt { return .later(untilDue(next, run)) }
      if case .channel(let id) = push.address { return try await broadcast(&run, shard.claimed, on: id) }
      let key = SendingGates.Key(
        app: push.app, environment: push.environment,
        topicSuffix: PushType(rawValue: push.pushType)?.topicSuffix ?? "")
      if let closed = gates.closed(key, at: clock.uptime) { return try await wait(&run, closed.reason, closed.wait) }
      guard let sender = await senders(app, push.environment) else {
        let reason = "no credential for \(push.environment)"
        announce(gates.change(key) { [uptime = clock.uptime] in $0.suspend(reason, at: uptime) }, run)
        return try await wait(&run, reason, gates.closed(key, at: clock.uptime)?.wait ?? SendingGate.shortestWait)
      }
      return try await send(&run, render, sender, key)
    } catch {
      return failed(error)
    }
  }

  private func failed(_ fault: StoreFault) -> End {
    report(fault)
    switch fault {
    case .corrupt, .unusable: return .later(.after(.minutes(5)))
    case .full, .unavailable, .closed, .taken: return .later(.after(.seconds(5)))
    }
  }

  private func send(
    _ run: inout ShardRun, _ render: PushRender, _ sender: any PushSender, _ key: SendingGates.Key
  ) async throws(StoreFault) -> End {
    var next: Instant?
    while run.hasUnsent, !controls.isStopped(run.push.id) {
      let batch = run.taken()
      async let answers = sender.send(render.batch(batch))
      let saved = await save(&run, claiming: run.next())
      let sorted = Answers(await answers, batch, run.push, at: clock.now)
      let verdict = judge(sorted, run, key)
      run.unsaved += verdict.ended
      // else somebody else has the shard, or the store never answered
      guard let saved else { return .later(.after(.seconds(1))) }
      run.claimed(saved.claimed)
      if let reason = verdict.waitsFor {
        let ended = Set(verdict.ended.map(\.ordinal))
        run.giveBack(sorted.unsent.filter { !ended.contains($0.ordinal) })
        return try await wait(
          &run, reason, gates.closed(key, at: clock.uptime)?.wait ?? SendingGate.shortestWait)
      }
      if sorted.isClosing || isStopping() {
        run.giveBack()
        _ = await save(&run, claiming: [])
        return run.isFinished ? .finished : .later(.after(.seconds(1)))
      }
      if run.waiting != nil, sorted.accepted > 0 {
        try await store.setWaiting(push: run.push.id, nil, at: clock.now)
        run.waiting = nil
      }
      next = saved.nextAt
      if isExpired(run.push) { return await endRest(&run, as: .expired) }
    }
    run.giveBack()
    _ = await save(&run, claiming: [])
    // What was claimed for another turn, or fell away while this one ran, is found by the next.
    if run.isFinished { return .finished }
    return .later(next.map { untilDue($0, run) } ?? .after(.milliseconds(0)))
  }

  /// To a channel: one send, which goes again until APNs has said yes or no, or its time is up.
  private func broadcast(
    _ run: inout ShardRun, _ claimed: [ClaimedDevice], on channel: String
  ) async throws(StoreFault) -> End {
    guard let recipient = claimed.first, !isStopping() else { return .later(.after(.seconds(1))) }
    switch await broadcasts.send(run.push, on: channel, of: run.app, at: clock.now) {
    case .ended(let kind, let note):
      run.unsaved.append(DeviceOutcome(ordinal: recipient.ordinal, kind: kind, note: note))
      _ = await save(&run, claiming: [])
      return run.isFinished ? .finished : .later(.after(.seconds(1)))
    case .held(let reason): return try await wait(&run, reason, SendingGate.shortestWait)
    case .unavailable:
      // as long again as it has lasted, within limits: back-off that needs no memory
      let pause = min(max(clock.now - run.push.acceptedAt, .seconds(1)), .minutes(1))
      return .later(untilDeadline(run.push, atMost: pause))
    }
  }

  /// Past its deadline, or withdrawn: nothing leaves any more, and no badge is counted for it.
  private func endRest(_ run: inout ShardRun, as kind: OutcomeKind) async -> End {
    run.giveBack()
    let ended = Set(run.unsaved.map(\.ordinal))
    var last: DeviceOrdinal?
    repeat {
      let batch = run.pending.ordinals(after: last, limit: 4096)
      last = batch.last
      run.unsaved += batch.filter { !ended.contains($0) }.map { DeviceOutcome(ordinal: $0, kind: kind) }
      guard await save(&run, claiming: []) != nil else { return .later(.after(.seconds(1))) }
    } while last != nil && !run.isFinished
    return run.isFinished ? .finished : .later(.after(.seconds(1)))
  }

  /// With what was claimed given back, so that no badge counts a push that may never leave.
  private func wait(
    _ run: inout ShardRun, _ reason: String, _ span: Instant.Span
  ) async throws(StoreFault) -> End {
    run.giveBack()
    guard await save(&run, claiming: []) != nil else { return .later(.after(.seconds(1))) }
    if run.waiting != reason { try await store.setWaiting(push: run.push.id, reason, at: clock.now) }
    return .later(untilDeadline(run.push, atMost: span))
  }

  /// A push that goes on is told to this process at once; what another process was told is seen after this.
  private static let pausedLook = Instant.Span.minutes(1)
  /// So that shards of one push do not wake for single devices.
  private static let paceLook = Instant.Span.milliseconds(200)

  private func untilDeadline(_ push: StoredPush, atMost span: Instant.Span) -> Turn {
    guard let deadline = push.deadline, deadline < clock.now + span else { return .after(span) }
    return .at(deadline)
  }

  private func untilDue(_ next: Instant, _ run: ShardRun) -> Turn {
    let next = max(next, run.lookedAt + Self.paceLook)
    return .at(run.push.deadline.map { min($0, next) } ?? next)
  }

  private func isExpired(_ push: StoredPush) -> Bool { push.deadline.map { $0 <= clock.now } ?? false }

  // MARK: Keeping

  /// Commits what is not saved yet and claims the next. Tries again until the store does it, since outcomes that are
  /// forgotten are sent twice; nil when the shard is somebody else's or the service stops.
  private func save(_ run: inout ShardRun, claiming: [DeviceOrdinal]) async -> ShardAdvance? {
    if run.unsaved.isEmpty, run.returning.isEmpty, claiming.isEmpty {
      return ShardAdvance(
        claimed: [], ended: [:], retired: [], kept: [], shardFinished: run.isFinished, pushFinished: false)
    }
    var pause = Instant.Span.milliseconds(250)
    while true {
      let now = clock.now
      do throws(StoreFault) {
        guard
          let advance = try await store.advance(
            run.hold, outcomes: run.unsaved, returning: run.returning, claiming: claiming, at: now)
        else { return nil }
        saved(advance, &run)
        if !claiming.isEmpty { run.lookedAt = now }
        return advance
      } catch {
        report(error)
        if error == .closed || isStopping() { return nil }
        do { try await clock.sleep(for: pause) } catch { return nil }
        pause = min(Instant.Span(milliseconds: pause.milliseconds * 2), .seconds(30))
      }
    }
  }

  private func finished(_ push: Int64, of app: AppRecord?) {
    metrics.change { $0.pushesFinished += 1 }
    controls.forget(push)
    if let app { onEvent(.finished(appKey: app.key, messageID: push)) }
  }

  private func count(_ ended: [OutcomeKind: Int]) {
    guard !ended.isEmpty else { return }
    metrics.change { counts in
      for (kind, count) in ended { counts.outcomes[kind.metric, default: 0] += count }
    }
  }

  private func saved(_ advance: ShardAdvance, _ run: inout ShardRun) {
    run.unsaved = []
    run.returning = []
    run.isFinished = advance.shardFinished
    count(advance.ended)
    metrics.change { counts in
      counts.tokensRetired += advance.retired.count
      counts.tokensKept += advance.kept.count
    }
    let key = run.app.key
    for notice in advance.retired {
      onEvent(.tokenRetired(appKey: key, registrationID: notice.registrationID, reason: notice.words))
    }
    for notice in advance.kept {
      onEvent(.tokenKept(appKey: key, registrationID: notice.registrationID, reason: notice.words))
    }
    if advance.pushFinished { finished(run.push.id, of: run.app) }
  }

  // MARK: Judging

  /// What of a batch has ended, and what the rest waits for, if it waits.
  private func judge(
    _ answers: Answers, _ run: ShardRun, _ key: SendingGates.Key
  ) -> (ended: [DeviceOutcome], waitsFor: String?) {
    let uptime = clock.uptime
    if answers.accepted > 0 { announce(gates.change(key) { $0.accepted(at: uptime) }, run) }
    if let reason = answers.suspended {
      announce(gates.change(key) { $0.suspend(reason, at: uptime) }, run)
      return (answers.ended + (answers.accepted > 0 ? answers.wrongTopic : []), reason)
    }
    guard let reason = answers.wrongTopicReason else { return (answers.ended, nil) }
    guard answers.accepted == 0 else { return (answers.ended + answers.wrongTopic, nil) }
    let count = answers.wrongTopic.count
    let hasWaited = run.waiting != nil
    let verdict = gates.change(key) { $0.wrongTopic(count, reason, hasWaited: hasWaited, at: uptime) }
    announce(verdict.change, run)
    return verdict.waits ? (answers.ended, reason) : (answers.ended + answers.wrongTopic, nil)
  }

  private func announce(_ change: SendingGate.Change, _ run: ShardRun) {
    let waiting = gates.closedCount
    metrics.change { $0.appsWaiting = waiting }
    switch change {
    case .none: break
    case .alarm(let reason): onEvent(.alarm(appKey: run.app.key, messageID: run.push.id, reason: reason))
    case .alarmOver: onEvent(.alarmOver(appKey: run.app.key))
    }
  }

  private func report(_ fault: StoreFault) {
    metrics.change { $0.storeFaults += 1 }
    onEvent(.storeTrouble("\(fault)"))
  }
}

extension OutcomeKind {
  /// Few words, whatever Apple says.
  fileprivate var metric: String {
    switch self {
    case .accepted: "accepted"
    case .refused: "refused"
    case .expired: "expired"
    case .unanswered: "unanswered"
    case .skipped: "skipped"
    case .skippedByPreference: "skipped_by_preference"
    case .withdrawn: "withdrawn"
    }
  }
}
