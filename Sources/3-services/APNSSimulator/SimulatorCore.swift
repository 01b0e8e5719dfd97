internal import Basics
internal import PushPayload

/// What all connections, the couriers and the control API share: the state behind one lock, held for microseconds, and
/// who waits at the other end of each device. Nothing is called and nothing awaited while the lock is held.
final class SimulatorCore: Sendable {
  /// Where a device's pushes go.
  struct Sink: Sendable {
    var number: UInt64
    var deliver: @Sendable (ServiceState.Handover) -> Void
    /// Another courier came for the same device; this one is done.
    var replaced: @Sendable () -> Void
  }

  private struct Shared: Sendable {
    var state: ServiceState
    var sinks: [String: Sink] = [:]
    var nextSink: UInt64 = 1
    var nextConnection: UInt64 = 1
    var isWriteDue = false
    var watches: [UInt64: NotificationWatch] = [:]
    var nextWatch: UInt64 = 1
    var isClosing = false
  }

  /// What is left to do once the lock is given back.
  private struct Aftermath: Sendable {
    var mustWrite: Bool
    var changed: [LoggedNotification] = []
    var watches: [NotificationWatch] = []
  }

  let clock: any WallClock
  let checks: RequestChecks
  let spelling: KeyEnvironmentSpelling
  let providers: ProviderDirectory
  /// nil for no limit.
  private let rate: Locked<RequestRate>?
  private let shared: Locked<Shared>
  private let onRefusal: (@Sendable (LoggedRefusal) -> Void)?
  /// Asks for `takeChanges` once, when there is something to write; nil when nothing is kept.
  private let writeLater: (@Sendable () -> Void)?

  init(
    configuration: APNSSimulator.Configuration, seed: UInt64, state: ServiceState, keys: [ProviderKey],
    writeLater: (@Sendable () -> Void)?
  ) {
    clock = configuration.clock
    checks = RequestChecks(rules: configuration.checkRules)
    spelling = configuration.keyEnvironmentSpelling
    onRefusal = configuration.onRefusal
    self.writeLater = writeLater
    // The ready key's team is the one that certificates are issued to.
    providers = ProviderDirectory(keys: keys, certificateTeam: keys.first?.teamID)
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

  /// Takes or refuses a push whose headers are in order, and hands it to the device's courier.
  func accept(_ checked: CheckedPush, id: Bytes, uniqueID: Bytes?, body: [UInt8], now: Instant) throws(Refusal) {
    let (handover, sink, after) = try shared.withLock {
      (shared) throws(Refusal) -> (ServiceState.Handover?, Sink?, Aftermath) in
      let acceptance = try shared.state.accept(checked, id: id, uniqueID: uniqueID, body: body, now: now)
      let sink = acceptance.handover == nil ? nil : shared.sinks[acceptance.device]
      return (acceptance.handover, sink, aftermath(&shared))
    }
    perform(after)
    if let handover, let sink { sink.deliver(handover) }
  }

  func note(_ refusal: Refusal, id: Bytes, request: PushRequest, now: Instant) {
    let logged = shared.withLock {
      $0.state.note(refusal, id: id, path: request.path, topic: request[.topic], now: now)
    }
    onRefusal?(logged)
  }

  // MARK: Couriers

  /// Hands what waits to the newcomer; an earlier courier of the device is told to go. Answers the number to leave by.
  func connect(
    device: String, deliver: @escaping @Sendable (ServiceState.Handover) -> Void,
    replaced: @escaping @Sendable () -> Void
  ) -> UInt64 {
    let now = clock.now
    let (number, former, due, after) = shared.withLock { shared in
      let number = shared.nextSink
      shared.nextSink += 1
      if shared.sinks[device] != nil { shared.state.disconnect(device: device, now: now) }
      let former = shared.sinks.updateValue(Sink(number: number, deliver: deliver, replaced: replaced), forKey: device)
      let due = shared.state.connect(device: device, now: now)
      return (number, former, due, aftermath(&shared))
    }
    perform(after)
    former?.replaced()
    for handover in due { deliver(handover) }
    return number
  }

  func disconnect(device: String, number: UInt64) {
    let now = clock.now
    let after = shared.withLock { shared -> Aftermath? in
      guard shared.sinks[device]?.number == number else { return nil }
      shared.sinks[device] = nil
      shared.state.disconnect(device: device, now: now)
      return aftermath(&shared)
    }
    if let after { perform(after) }
  }

  func setOnline(device: String, _ isOnline: Bool) {
    let now = clock.now
    let (due, sink, after) = shared.withLock { shared in
      let due = shared.state.setOnline(device: device, isOnline, now: now)
      return (due, shared.sinks[device], aftermath(&shared))
    }
    perform(after)
    if let sink { for handover in due { sink.deliver(handover) } }
  }

  func acknowledge(device: String, number: UInt64) {
    let now = clock.now
    let after = shared.withLock { shared in
      shared.state.acknowledge(device: device, number: number, now: now)
      return aftermath(&shared)
    }
    perform(after)
  }

  // MARK: Anything else

  /// Reads or changes the state; time is the clock's.
  func withState<Result>(_ body: (inout ServiceState, Instant) -> sending Result) -> sending Result {
    let now = clock.now
    var after = Aftermath(mustWrite: false)
    let result = shared.withLock { shared in
      let result = body(&shared.state, now)
      after = self.aftermath(&shared)
      return result
    }
    perform(after)
    return result
  }

  /// What a store has to write now, as it is now.
  func takeChanges() -> SimulatorStore.Batch {
    shared.withLock { shared in
      shared.isWriteDue = false
      return SimulatorStore.Batch(changes: shared.state.takeChanges(), state: shared.state)
    }
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

  private func aftermath(_ shared: inout sending Shared) -> Aftermath {
    var after = Aftermath(mustWrite: false)
    if writeLater != nil, !shared.isWriteDue, shared.state.hasChanges {
      shared.isWriteDue = true
      after.mustWrite = true
    }
    if !shared.watches.isEmpty {
      after.changed = shared.state.takeTouchedNotifications()
      if !after.changed.isEmpty { after.watches = Array(shared.watches.values) }
    }
    return after
  }

  private func perform(_ after: Aftermath) {
    if after.mustWrite { writeLater?() }
    for watch in after.watches { watch.offer(after.changed) }
  }
}
