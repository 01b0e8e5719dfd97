public import Audience
public import Basics
public import Bus
public import Delivery
import PushPayload
public import Store

/// The use cases of the push service. Every call may come from any task.
public final class PushService: Sendable {
  /// Answers the sender of an app in an environment; nil when the app has no credential there, then its pushes wait.
  /// Asked for each shard, so keep the senders.
  public typealias Senders = @Sendable (AppRecord, APNSEnvironment) async -> (any PushSender)?

  /// Answers the broadcast channels of an app in an environment; nil when they cannot be reached, for want of a credential.
  public typealias Broadcasts = @Sendable (AppRecord, APNSEnvironment) async -> (any BroadcastChannels)?

  let store: any Store
  /// nil: apps do not connect to this process.
  let inApp: InAppWay?
  let witness: (any PhoneWitness)?
  let bus: any Bus
  let clock: any WallClock
  let credentials: Credentials
  /// nil: this process keeps no secrets that must be read again.
  let sealing: SealingKey?
  /// nil: this process takes no credentials for APNs.
  let credentialReader: (any CredentialReader)?
  let metricCounts = ServiceMetrics()
  let onEvent: @Sendable (ServiceEvent) -> Void
  let messageIDs: MessageIDs
  let clearings = Clearings()
  let broadcasts: BroadcastSender
  private let dispatcher: WorkDispatcher
  /// nil: this process keeps no schedules and fires none.
  public let scheduling: Scheduling?
  private let scheduler = Locked<Scheduler?>(nil)
  private let sweep: RetentionSweep?
  /// nil: this process posts to no webhooks.
  let webhooks: (role: Webhooking, key: SealingKey)?
  private let webhookCourier: WebhookCourier?

  /// How many devices may share an alias, and how many tags a device may have.
  public let limits: DeviceLimits

  /// Nothing runs before `start`. Without `retention` nothing is ever removed. `seed` feeds what may be guessed (message ids, holders), never secrets. `onEvent` may be
  /// called from any task and must not wait.
  public init(
    store: any Store, bus: any Bus, clock: any WallClock, seed: UInt64, limits: DeviceLimits = DeviceLimits(),
    scheduling: Scheduling? = nil, retention: Retention? = nil, senders: @escaping Senders,
    broadcasts: @escaping Broadcasts = { _, _ in nil },
    inApp: InAppWay? = nil, witness: (any PhoneWitness)? = nil, sealing: SealingKey? = nil,
    credentialReader: (any CredentialReader)? = nil, webhooking: Webhooking? = nil,
    onEvent: @escaping @Sendable (ServiceEvent) -> Void = { _ in }
  ) {
    self.store = store
    self.bus = bus
    self.clock = clock
    self.limits = limits
    self.broadcasts = BroadcastSender(broadcasts)
    self.inApp = inApp
    self.witness = witness
    self.sealing = sealing
    self.credentialReader = credentialReader
    self.scheduling = scheduling
    self.onEvent = onEvent
    credentials = Credentials(store: store, clock: clock)
    sweep = retention.map { [credentials, metricCounts] in
      RetentionSweep(
        $0, store: store, clock: clock, credentials: credentials, metrics: metricCounts, onEvent: onEvent)
    }
    webhooks = if let webhooking, let sealing { (webhooking, sealing) } else { nil }
    webhookCourier = webhooks.map { [credentials, metricCounts] in
      WebhookCourier(
        $0.role, $0.key, store: store, clock: clock, credentials: credentials, metrics: metricCounts, onEvent: onEvent)
    }
    messageIDs = MessageIDs(after: 0, seed: seed)
    dispatcher = WorkDispatcher(
      store: store, bus: bus, clock: clock, credentials: credentials, senders: senders,
      broadcasts: self.broadcasts, zones: { scheduling?.zone($0) }, metrics: metricCounts, seed: seed,
      onEvent: { [clearings] event in
        onEvent(event)
        if case .finished(_, let push) = event { clearings.finished(push) }
      })
  }

  /// Resumes what a former process left unfinished, and sends from now on. Nothing is taken before it returned.
  public func start() async throws(RequestFault) {
    do throws(StoreFault) {
      messageIDs.note(try await store.lastPushID())
      try await dispatcher.start()
      try await resumeClearing()
      startScheduler()
      sweep?.start()
      webhookCourier?.start()
    } catch {
      throw RequestFault(error, .push)
    }
  }

  /// Takes nothing more, lets what already left for APNs be answered, keeps those answers, and returns. What is not sent
  /// yet is sent after the next start.
  public func stop() async {
    await sweep?.stop()
    await scheduler.withLock { $0 }?.stop()
    async let posts: Void? = webhookCourier?.stop()
    await clearings.stop()
    await dispatcher.stop()
    await posts
  }

  private func startScheduler() {
    guard let scheduling else { return }
    let scheduler = self.scheduler.withLock { scheduler in
      let started =
        scheduler
        ?? Scheduler(scheduling, store: store, clock: clock, onEvent: onEvent) {
          [weak self] order, step throws(RequestFault) in try await self?.push(order, for: step) ?? false
        }
      scheduler = started
      return started
    }
    scheduler.start()
  }

  /// Tries again at once what waits because its app's sending is held back: an operator has mended something. Each app
  /// whose pushes are still refused waits again, as before.
  public func resume() async { await dispatcher.resume() }

  public func metrics() -> [Metric] { metricCounts.list }

  /// Whether the store takes writes and sending has started.
  public func ready() async -> Bool {
    guard dispatcher.isRunning else { return false }
    do throws(StoreFault) {
      try await store.check()
      return true
    } catch {
      return false
    }
  }

  // MARK: Apps

  /// 1004 for an unknown key and a wrong secret alike, in the same time. A secret that was right is remembered in this
  /// process, hashed under a key of its own, and costs microseconds from then on.
  public func authenticate(appKey: String, masterSecret: String) async throws(RequestFault) -> AppRecord {
    try await credentials.authenticate(appKey: appKey, masterSecret: masterSecret)
  }

  /// For the device's own calls: the app that the registration id and its secret belong to; else 7004. Notes that the
  /// device was heard of.
  public func authenticateDevice(
    appKey: String, registrationID: String, secret: String
  ) async throws(RequestFault) -> AppRecord {
    try await known(appKey: appKey, registrationID: registrationID, secret: secret).app
  }

  /// Whose credentials these are, which is noted as heard of.
  func known(
    appKey: String, registrationID: String, secret: String
  ) async throws(RequestFault) -> (app: AppRecord, device: StoredDevice) {
    let (app, device) = try await credentials.authenticateDevice(
      appKey: appKey, registrationID: registrationID, secret: secret)
    let now = clock.now
    if UsageUnit.isNews(now, after: device.seenAt) {
      // No reason to refuse the call: one that writes is told by its own write.
      try? await store.noteSeen(app: app.id, registrationID: registrationID, at: now)
    }
    return (app, device)
  }

  // MARK: Sending

  func obey(_ control: PushControl, _ push: Int64) async { await dispatcher.obey(control, push) }

  /// Hands accepted work to senders; a full bus leaves it for the sweep.
  func dispatch(_ work: [ShardWork]) async { await dispatcher.publish(work) }
}
