internal import Basics
internal import PushPayload

/// What all connections, the couriers and the control API share: the state behind one lock, held for microseconds, and
/// who waits at the other end of each device. Nothing is called and nothing awaited while the lock is held.
final class SimulatorCore: Sendable {
  /// Where a device's pushes go.
  struct Sink: Sendable {
    var number: UInt64
    var courier: CourierEnd

    func deliver(_ handover: ServiceState.Handover) { courier.deliver(handover, number) }
  }

  private struct Shared: Sendable {
    var state: ServiceState
    var sinks: [String: Sink] = [:]
    var nextSink: UInt64 = 1
    var nextConnection: UInt64 = 1
    var isWriteDue = false
    /// When the alarm rings.
    var alarmedFor: Instant?
    var watches: [UInt64: NotificationWatch] = [:]
    var nextWatch: UInt64 = 1
    var isClosing = false
  }

  /// What is left to do once the lock is given back.
  private struct Aftermath: Sendable {
    var mustWrite = false
    var changed: [LoggedNotification] = []
    var watches: [NotificationWatch] = []
    var handovers: [(Sink, ServiceState.Handover)] = []
    var activities: [(Sink, ActivityBoard.Entry)] = []
    var fates: [(Sink, PushNews)] = []
    /// Couriers that let too much lie.
    var overflows: [Sink] = []
    /// When to look at the schedule again, if that is sooner than it was.
    var due: Instant?
  }

  let clock: any WallClock
  let checks: RequestChecks
  let spelling: KeyEnvironmentSpelling
  let providers: ProviderDirectory
  /// nil for no limit.
  private let rate: Locked<RequestRate>?
  let faults: FaultDesk
  private let shared: Locked<Shared>
  private let onRefusal: (@Sendable (LoggedRefusal) -> Void)?
  /// Takes `takeChanges` when there is something to write; nil when nothing is kept.
  let keeper: StoreKeeper?
  private let alarm: DeliveryAlarm

  init(
    configuration: APNSSimulator.Configuration, seed: UInt64, state: ServiceState, keys: [ProviderKey],
    kept: ProviderDirectory.Kept = ProviderDirectory.Kept(), keeper: StoreKeeper?
  ) {
    clock = configuration.clock
    checks = RequestChecks(rules: configuration.checkRules)
    spelling = configuration.keyEnvironmentSpelling
    faults = FaultDesk(configuration.faults, clock: configuration.clock, seed: seed)
    onRefusal = configuration.onRefusal
    self.keeper = keeper
    alarm = DeliveryAlarm(clock: configuration.clock)
    // The ready key's team is the one that certificates are issued to.
    providers = ProviderDirectory(keys: keys, certificateTeam: keys.first?.teamID, kept: kept)
    rate = configuration.limits.requestsPerSecond.map { Locked(RequestRate(most: $0)) }
    shared = Locked(Shared(state: state))
  }

  // MARK: Providers

  func nextConnectionNumber() -> UInt64 {
    shared.withLock { shared in
      defer { shared.nextConnection += 1 }
      return shared.nextConnection
    }
  }

  /// Refuses what is above the overall rate, before anything else is looked at.
  func admit(now: Instant) throws(Refusal) {
    guard let rate, let most = rate.withLock({ $0.admits(now: now) ? nil : $0.most }) else { return }
    throw Refusal(.serviceUnavailable, "more than \(most) requests came in one second")
  }

  /// Takes or refuses a push whose headers are in order, and hands it to the device's courier. True when it waits now and
  /// a store keeps it: the provider is to be told only once `whenWritten` says that it is safe.
  @discardableResult
  func accept(
    _ checked: CheckedPush, id: Bytes, uniqueID: Bytes?, body: [UInt8], mark: FaultMark? = nil, now: Instant
  ) throws(Refusal) -> Bool {
    if let fault = storeFault { throw Self.refusal(fault) }
    let (handover, sink, isKept, after) = try shared.withLock {
      (shared) throws(Refusal) -> (ServiceState.Handover?, Sink?, Bool, Aftermath) in
      let acceptance = try shared.state.accept(
        checked, id: id, uniqueID: uniqueID, body: body, mark: mark, now: now)
      let sink = acceptance.handover.flatMap { shared.sinks[$0.device] }
      return (acceptance.handover, sink, acceptance.isKept, aftermath(&shared, acceptance.outcome))
    }
    perform(after)
    if let handover, let sink { sink.deliver(handover) }
    return isKept && keeper != nil
  }

  /// Why nothing can be kept; nil while all is well. Every push is answered 500 `InternalServerError` meanwhile.
  var storeFault: SimulatorFault? { keeper?.fault }

  /// Calls `done`, on a thread of ours, once everything taken before is written: with the refusal to answer instead of
  /// 200 when it could not be.
  func whenWritten(_ done: @escaping @Sendable (Refusal?) -> Void) {
    guard let keeper else { return done(nil) }
    keeper.whenWritten { fault in done(fault.map(Self.refusal)) }
  }

  private static func refusal(_ fault: SimulatorFault) -> Refusal {
    Refusal(.internalServerError, "what is taken cannot be kept: \(fault)")
  }

  func note(_ refusal: Refusal, id: Bytes, request: PushRequest, now: Instant) {
    note(refusal, id: id, path: request.path, topic: request[.topic], now: now)
  }

  func note(_ refusal: Refusal, id: Bytes, path: Bytes, topic: Bytes?, now: Instant) {
    let logged = shared.withLock {
      $0.state.note(refusal, id: id, path: path, topic: topic, now: now)
    }
    onRefusal?(logged)
  }

  // MARK: Couriers

  /// Hands what waits to the newcomer; an earlier courier of the device is told to go. Answers the number to leave by.
  func connect(device: String, _ courier: CourierEnd) -> UInt64 {
    let now = clock.now
    let (number, former, untold, after) = shared.withLock { shared in
      let number = shared.nextSink
      shared.nextSink += 1
      let former = shared.sinks.removeValue(forKey: device)
      var outcome = former == nil ? ServiceState.Outcome() : shared.state.disconnect(device: device, now: now)
      shared.sinks[device] = Sink(number: number, courier: courier)
      outcome += shared.state.connect(
        device: device, keepsBudget: courier.keepsBudget, keepsInFlight: courier.isOverWire,
        keepsActivities: courier.keepsActivities, hearsFates: courier.fated != nil, now: now)
      return (number, former, shared.state.takeUntoldTokens(of: device), aftermath(&shared, outcome))
    }
    former?.courier.replaced()
    if !untold.isEmpty { courier.renewed(untold) }
    perform(after)
    return number
  }

  func disconnect(device: String, number: UInt64) {
    change { shared, now in
      guard shared.sinks[device]?.number == number else { return ServiceState.Outcome() }
      shared.sinks[device] = nil
      return shared.state.disconnect(device: device, now: now)
    }
  }

  func setOnline(device: String, _ isOnline: Bool) {
    change { shared, now in shared.state.setOnline(device: device, isOnline, now: now) }
    tellTokens(device: device)
  }

  func setPower(device: String, _ power: PhonePower) {
    change { shared, now in shared.state.setPower(device: device, power, now: now) }
  }

  func setUnlimited(device: String, _ isUnlimited: Bool) {
    change { shared, now in shared.state.setUnlimited(device: device, isUnlimited, now: now) }
  }

  func setAlertsAllowed(device: String, bundleID: String, _ isAllowed: Bool) {
    change { shared, now in
      shared.state.setAlertsAllowed(device: device, bundleID: bundleID, isAllowed, now: now)
    }
  }

  func setDelivery(_ rules: DeliveryRules) {
    change { shared, now in shared.state.setDelivery(rules, now: now) }
  }

  /// Takes the word of the courier of that number. Answers what it has to carry next.
  func acknowledge(device: String, number: UInt64, courier: UInt64) -> ServiceState.Handover? {
    let now = clock.now
    let (next, after) = shared.withLock { shared -> (ServiceState.Handover?, Aftermath) in
      guard shared.sinks[device]?.number == courier else { return (nil, Aftermath()) }
      var outcome = shared.state.acknowledge(device: device, number: number, now: now)
      let next = outcome.handovers.first { $0.device == device }
      outcome.handovers.removeAll { $0.device == device }
      return (next, aftermath(&shared, outcome))
    }
    perform(after)
    return next
  }

  /// New tokens in the place of old ones; the phone is told when it can be reached.
  func renewTokens(
    device: String, bundleID: String?, reason: RenewalReason, isToldAtOnce: Bool
  ) -> [TokenRenewal] {
    let renewals = withState { state, now in
      state.renew(device: device, bundleID: bundleID, reason: reason, isToldAtOnce: isToldAtOnce, now: now)
    }
    tellTokens(device: device)
    return renewals
  }

  func tellTokens(device: String) {
    let (sink, untold) = shared.withLock { ($0.sinks[device], $0.state.takeUntoldTokens(of: device)) }
    if !untold.isEmpty { sink?.courier.renewed(untold) }
  }

  private func change(_ body: (inout Shared, Instant) -> ServiceState.Outcome) {
    let now = clock.now
    let after = shared.withLock { shared in
      let outcome = body(&shared, now)
      return aftermath(&shared, outcome)
    }
    perform(after)
  }

  /// Ends what runs by itself; nothing leaves by time alone afterwards.
  func stop() {
    alarm.stop()
    endWatches()
  }

  // MARK: Anything else

  /// Reads or changes the state, in which everything that is due has happened; time is the clock's.
  func withState<Result>(_ body: (inout ServiceState, Instant) -> sending Result) -> sending Result {
    let now = clock.now
    var after = Aftermath()
    let result = shared.withLock { shared in
      var outcome = ServiceState.Outcome()
      if let due = shared.state.nextDue, due <= now { outcome = shared.state.advance(now: now) }
      let result = body(&shared.state, now)
      after = self.aftermath(&shared, outcome)
      return result
    }
    perform(after)
    return result
  }

  /// The same for what may be refused.
  func attempt<Answer: Sendable>(
    _ body: (inout ServiceState, Instant) throws(Refusal) -> Answer
  ) throws(Refusal) -> Answer {
    if let fault = storeFault { throw Self.refusal(fault) }
    return try withState { state, now in Result { () throws(Refusal) in try body(&state, now) } }.get()
  }

  /// What a store has to write now, as it is now.
  func takeChanges() -> SimulatorStore.Batch {
    shared.withLock { shared in
      shared.isWriteDue = false
      return SimulatorStore.Batch(
        changes: shared.state.takeChanges(), state: shared.state, providers: providers.takeChanges())
    }
  }

  /// They could not be written.
  func giveBack(_ batch: SimulatorStore.Batch) {
    shared.withLock { $0.state.giveBack(batch.changes) }
    if batch.providers != nil { providers.giveBack() }
  }

  // MARK: Who waits for pushes

  /// The pushes in the log, and from then on every one that comes or changes and `concerns` the watch: none is missed and
  /// none told twice in between. nil once the simulator stops, or while 1,000 watch already. `concerns` is asked on the
  /// path of a push: it must be quick, and must not depend on what changes about a push.
  func watch(
    _ concerns: @escaping @Sendable (LoggedNotification) -> Bool
  ) -> (watch: NotificationWatch, log: RecentLog<LoggedNotification>.Snapshot)? {
    shared.withLock { shared in
      guard !shared.isClosing, shared.watches.count < 1_000 else { return nil }
      let watch = NotificationWatch(number: shared.nextWatch, concerns: concerns)
      shared.nextWatch += 1
      shared.watches[watch.number] = watch
      if shared.watches.count == 1 { shared.state.watchNotifications(true) }
      return (watch, shared.state.notifications.snapshot)
    }
  }

  /// How many watch now.
  var watchCount: Int { shared.withLock { $0.watches.count } }

  func endWatch(_ watch: NotificationWatch) {
    shared.withLock { shared in
      shared.watches[watch.number] = nil
      if shared.watches.isEmpty { shared.state.watchNotifications(false) }
    }
    watch.end()
  }

  /// Ends every watch, and answers each that comes later at once.
  func endWatches() {
    let watches = shared.withLock { shared in
      shared.isClosing = true
      return Array(shared.watches.values)
    }
    for watch in watches { watch.end() }
  }

  // MARK: After each change

  private func aftermath(_ shared: inout Shared, _ outcome: ServiceState.Outcome) -> Aftermath {
    var after = Aftermath()
    if keeper != nil, !shared.isWriteDue, shared.state.hasChanges {
      shared.isWriteDue = true
      after.mustWrite = true
    }
    if !shared.watches.isEmpty {
      after.changed = shared.state.takeTouchedNotifications()
      if !after.changed.isEmpty { after.watches = Array(shared.watches.values) }
    }
    if let due = shared.state.nextDue, shared.alarmedFor.map({ due < $0 }) ?? true {
      shared.alarmedFor = due
      after.due = due
    }
    var outcome = outcome
    outcome += shared.state.takeDue()
    for device in outcome.overflows {
      if let sink = shared.sinks.removeValue(forKey: device) { after.overflows.append(sink) }
    }
    for handover in outcome.handovers {
      if let sink = shared.sinks[handover.device] { after.handovers.append((sink, handover)) }
    }
    for news in shared.state.takeActivityNews() {
      guard let sink = shared.sinks[news.device], let entry = shared.state.activities.entries[news.id] else { continue }
      after.activities.append((sink, entry))
    }
    for (device, news) in shared.state.takeFateNews() {
      if let sink = shared.sinks[device] { after.fates.append((sink, news)) }
    }
    return after
  }

  private func perform(_ after: Aftermath) {
    if after.mustWrite { keeper?.writeLater() }
    for watch in after.watches { watch.offer(after.changed) }
    if let due = after.due { alarm.set(due) { [weak self] in self?.wake() } }
    for (sink, news) in after.fates { sink.courier.fated?(news) }
    for sink in after.overflows { sink.courier.overflowed() }
    for (sink, handover) in after.handovers { sink.deliver(handover) }
    for (sink, entry) in after.activities { sink.courier.changed(entry) }
  }

  /// When `wake` has something to do.
  var due: Instant? { shared.withLock { $0.state.nextDue } }

  /// Time has passed, or begins.
  func wake() {
    change { shared, now in
      shared.alarmedFor = nil
      return shared.state.advance(now: now)
    }
  }
}

/// The far end of a courier's stay: what it is told, on the thread of whoever caused it, without a lock held.
struct CourierEnd: Sendable {
  /// With the number of the stay, to acknowledge by.
  var deliver: @Sendable (ServiceState.Handover, UInt64) -> Void
  /// Another courier came for the same device; this one is done.
  var replaced: @Sendable () -> Void = {}
  /// It let too much lie, and is done.
  var overflowed: @Sendable () -> Void = {}
  /// Apps have other tokens from now on.
  var renewed: @Sendable ([TokenRenewal]) -> Void = { _ in }
  /// A Live Activity of its phone is another now.
  var changed: @Sendable (ActivityBoard.Entry) -> Void = { _ in }
  /// A push for its phone did not arrive, or not yet; nil: it does not want to know.
  var fated: (@Sendable (PushNews) -> Void)?
  /// Its phone counts background pushes by itself.
  var keepsBudget = false
  /// Its phone follows its Live Activities by itself.
  var keepsActivities = false
  /// Its acknowledgement may never come.
  var isOverWire = false
}
