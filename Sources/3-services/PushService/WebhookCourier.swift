import Basics
import Store

/// The role that empties the outbox: each webhook by itself, in the order of its events, so that a receiver that is slow
/// or down delays nobody else. As many as like may be at it on one store: the store gives each webhook to one at a time,
/// and to another when that one is not heard of for `lease`.
final class WebhookCourier: Sendable {
  private let webhooking: Webhooking
  private let key: SealingKey
  private let store: any Store
  private let clock: any WallClock
  private let credentials: Credentials
  private let metrics: ServiceMetrics
  private let onEvent: @Sendable (ServiceEvent) -> Void
  private let loop: RoleLoop
  private let posts = Locked<[Turn: Task<Void, Never>]>([:])
  private let spikesSoughtAt = Locked<Instant?>(nil)

  private struct Turn: Hashable {
    var webhook: Int64
    var number: Int64
  }

  /// New events are seen within this.
  private static let watch = Instant.Span.seconds(1)
  private static let spikeWatch = Instant.Span.seconds(10)
  /// Longer than a post takes.
  static let lease = Instant.Span.seconds(30)
  /// Posts at the same time. Each takes a thread for as long as its receiver does.
  private static let mostAtOnce = 16
  /// Posts for a webhook before it is another's turn, if another waits.
  private static let turn = 10
  private static let firstPause = Instant.Span.seconds(5)
  private static let longestPause = Instant.Span.hours(1)

  init(
    _ webhooking: Webhooking, _ key: SealingKey, store: any Store, clock: any WallClock, credentials: Credentials,
    metrics: ServiceMetrics, onEvent: @escaping @Sendable (ServiceEvent) -> Void
  ) {
    self.webhooking = webhooking
    self.key = key
    self.store = store
    self.clock = clock
    self.credentials = credentials
    self.metrics = metrics
    self.onEvent = onEvent
    loop = RoleLoop(clock: clock, onEvent: onEvent)
  }

  func start() {
    loop.start(pause: Self.watch) { [self] () throws(StoreFault) in
      try await seekSpikes()
      try await takeDue()
      return Self.watch
    }
  }

  /// Breaks off the posts under way; what was not taken is due at once, for whoever comes next.
  func stop() async {
    await loop.stop()
    let running = posts.withLock { Array($0.values) }
    for task in running { task.cancel() }
    for task in running { await task.value }
  }

  private func seekSpikes() async throws(StoreFault) {
    let now = clock.now
    let isTime = spikesSoughtAt.withLock { last in
      if let last, now >= last, now - last < Self.spikeWatch { return false }
      last = now
      return true
    }
    if isTime { try await store.tellSpikes(webhooking.spike, at: now) }
  }

  private func takeDue() async throws(StoreFault) {
    let now = clock.now
    // No webhook is put off for longer, so that what lies beyond was put off by another clock.
    let horizon = now + Self.longestPause
    let room = posts.withLock { Self.mostAtOnce - $0.count }
    guard room > 0, let next = try await store.nextWebhookDue(), next <= now || next > horizon else { return }
    for webhook in try await store.takeWebhooks(at: now, until: now + Self.lease, horizon: horizon, limit: room) {
      let turn = Turn(webhook: webhook.id, number: webhook.turn)
      posts.withLock { posts in
        posts[turn] = Task { [self] in
          await empty(webhook)
          self.posts.withLock { $0[turn] = nil }
        }
      }
    }
  }

  /// Posts until nothing is left, or the receiver did not take it, or it is another's turn.
  private func empty(_ webhook: StoredWebhook) async {
    do throws(StoreFault) {
      guard let app = try await credentials.app(id: webhook.app) else { return }
      var (failures, done) = (webhook.failures, 0)
      while !Task.isCancelled, done < Self.turn || posts.withLock({ $0.count < Self.mostAtOnce }) {
        done += 1
        let events = try await store.outbox(webhook: webhook.id, limit: WebhookMessage.mostEvents)
        guard let last = events.last else { break }
        let attempt = await webhooking.post(WebhookMessage(events, of: app), to: webhook, key, clock: clock)
        let isTaken = attempt.fault == nil
        if !isTaken, Task.isCancelled { break }  // broken off: whether it was taken is not known
        metrics.change { $0.webhookPosts[isTaken ? "taken" : "failed", default: 0] += 1 }
        failures = isTaken ? 0 : failures + 1
        guard isTaken else { return try await failed(attempt, webhook, app, failures) }
        let next = clock.now + Self.lease
        guard try await store.note(attempt, of: webhook, taken: last.id, next: next) else { return }
      }
      try await store.release(webhook, at: clock.now)
    } catch {
      onEvent(.storeTrouble("\(error)"))
    }
  }

  private func failed(
    _ attempt: WebhookAttempt, _ webhook: StoredWebhook, _ app: AppRecord, _ failures: Int
  ) async throws(StoreFault) {
    let next = attempt.at + attempt.took + Self.pause(after: failures)
    _ = try await store.note(attempt, of: webhook, taken: nil, next: next)
    if failures == 1 {
      onEvent(.webhookTrouble(appKey: app.key, webhookID: webhook.id, words: attempt.fault ?? ""))
    }
  }

  /// 5 s, doubled up to an hour.
  static func pause(after failures: Int) -> Instant.Span {
    min(Instant.Span(milliseconds: firstPause.milliseconds << Int64(min(max(failures - 1, 0), 20))), longestPause)
  }
}
