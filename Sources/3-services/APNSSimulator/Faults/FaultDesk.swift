internal import Basics
internal import Synchronization
internal import Transport

/// The faults in force, shared by connections and control API. While none is set it costs a push one look at a flag.
final class FaultDesk: Sendable {
  private struct Shared: Sendable {
    var engine: FaultEngine
    var log = RecentLog<AppliedFault>(capacity: 1_000)
    /// Who is told on its loop that its standing may have changed, by connection.
    var reviews: [UInt64: @Sendable () -> Void] = [:]
  }

  private let active = Atomic<Bool>(false)
  let clock: any WallClock
  /// What makes a run repeatable; below 2^32 by itself, so that every JSON reader keeps its digits.
  let seed: UInt64
  private let shared: Locked<Shared>
  private let alarm: DeliveryAlarm
  private let onFault: (@Sendable (AppliedFault) -> Void)?
  private let reload: (@Sendable () throws -> [FaultRule])?

  init(_ configuration: APNSSimulator.Configuration.Faults, clock: any WallClock, seed: UInt64) {
    self.clock = clock
    onFault = configuration.onFault
    reload = configuration.reload
    self.seed = configuration.seed ?? seed & 0xFFFF_FFFF
    shared = Locked(Shared(engine: FaultEngine(seed: self.seed)))
    alarm = DeliveryAlarm(clock: clock)
    if !configuration.rules.isEmpty { change { $0.set(configuration.rules, at: $1) } }
  }

  /// Whether any rule is set.
  var isActive: Bool { active.load(ordering: .relaxed) }

  // MARK: Rules

  func set(_ rules: [FaultRule]) { change { $0.set(rules, at: $1) } }

  func add(_ rules: [FaultRule]) {
    change { engine, now in for rule in rules { engine.add(rule, at: now) } }
  }

  /// False for one that was not there.
  func remove(_ id: String) -> Bool { change { engine, _ in engine.remove(id) } }

  /// Reads the file again that the rules came from; nil when they came from none. Throws what is wrong with it, and then
  /// leaves the rules as they were.
  func readAgain() throws -> [FaultRule]? {
    guard let reload else { return nil }
    let rules = try reload()
    set(rules)
    return rules
  }

  var standings: [FaultStanding] {
    shared.withLock { shared in
      shared.engine.entries.map {
        FaultStanding(rule: $0.rule, matched: $0.matched, applied: $0.applied, lastApplied: $0.lastApplied)
      }
    }
  }

  /// Oldest first, at most 1,000.
  var applied: [AppliedFault] { shared.withLock { $0.log.all } }

  private func change<Result: Sendable>(_ body: (inout FaultEngine, Instant) -> Result) -> Result {
    let now = clock.now
    let (result, reviews) = shared.withLock { shared in
      let result = body(&shared.engine, now)
      active.store(!shared.engine.entries.isEmpty, ordering: .relaxed)
      // Wakes when a schedule begins or ends a lasting state.
      if let next = shared.engine.nextChange(after: now) { alarm.set(next) { [weak self] in self?.change { _, _ in } } }
      return (result, Array(shared.reviews.values))
    }
    for review in reviews { review() }
    return result
  }

  func stop() { alarm.stop() }

  // MARK: Connections

  /// What becomes of a newcomer.
  func admission(to environment: SimulatedEnvironment, _ port: FaultRule.Port) -> HTTP2Admission {
    guard isActive else { return .serve }
    let subject = FaultSubject(moment: .accept, environment: environment, port: port)
    guard let due = decide(subject).connection, case .handshake(let how) = due.action else { return .serve }
    note(due.rule, due.action.words, subject)
    switch how {
    case .never: return .ignore
    case .reset: return .cut
    }
  }

  func decide(_ subject: FaultSubject) -> FaultEngine.Decision {
    let now = clock.now
    return shared.withLock { $0.engine.decide(subject, at: now) }
  }

  var needsDevice: Bool { shared.withLock { $0.engine.needsDevice } }

  func standing(of environment: SimulatedEnvironment, _ port: FaultRule.Port) -> LastingFaults {
    let now = clock.now
    return shared.withLock { $0.engine.standing(of: environment, port, at: now) }
  }

  func isInForce(_ rule: String) -> Bool {
    let now = clock.now
    return shared.withLock { $0.engine.isInForce(rule, at: now) }
  }

  func note(_ rule: String, _ what: String, _ subject: FaultSubject, id: String = "") {
    var entry = AppliedFault(
      at: clock.now, rule: rule, what: what, environment: subject.environment, connection: subject.connection,
      stream: subject.stream, id: id, token: subject.token, topic: subject.topic, channel: subject.channel)
    shared.withLock { shared in
      entry.number = shared.log.next
      shared.log.append { _ in entry }
    }
    onFault?(entry)
  }

  func countStanding(_ rule: String) {
    let now = clock.now
    shared.withLock { $0.engine.countStanding(rule, at: now) }
  }

  func register(_ connection: UInt64, review: @escaping @Sendable () -> Void) {
    shared.withLock { $0.reviews[connection] = review }
  }

  func unregister(_ connection: UInt64) {
    shared.withLock { shared in
      shared.reviews[connection] = nil
      shared.engine.forget(connection: connection)
    }
  }
}
