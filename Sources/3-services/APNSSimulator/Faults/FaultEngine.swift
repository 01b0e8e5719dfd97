internal import Basics
internal import PushPayload

/// What a rule is asked about.
struct FaultSubject: Hashable, Sendable {
  enum Moment: Hashable, Sendable {
    /// TCP was accepted.
    case accept
    /// The handshake is done.
    case open
    case request
  }

  var moment: Moment
  /// 0 before the handshake.
  var connection: UInt64 = 0
  var environment: SimulatedEnvironment
  var port = FaultRule.Port.push
  var stream: Int32 = 0
  var token: [UInt8] = []
  /// `apns-channel-id`, of a broadcast or of channel management.
  var channel: String?
  var device: String?
  var topic: String = ""
  var pushType: PushType = .alert
}

/// A rule that is due, with what its dice said.
struct DueFault: Hashable, Sendable {
  var rule: String
  var action: FaultAction
  /// Of an answer: how long it is held.
  var delay: Instant.Span?
}

/// Which fault a request or a connection meets. A value without clock, socket or chance of its own: the same rules, seed
/// and order of subjects give the same faults.
struct FaultEngine: Sendable {
  struct Entry: Sendable {
    let rule: FaultRule
    /// When the rule was set; spans of its schedule count from it.
    let start: Instant
    var dice: Dice
    /// Requests (or connections) that its conditions named.
    var matched = 0
    var applied = 0
    var lastApplied: Instant?
    fileprivate var counts: [Key: Int] = [:]
  }

  fileprivate enum Key: Hashable, Sendable {
    case connection(UInt64)
    case token([UInt8])
    case channel(String)
  }

  /// What is due at once: at most one action on the answer and one on the connection.
  struct Decision: Hashable, Sendable {
    var answer: DueFault?
    var connection: DueFault?
  }

  let seed: UInt64
  private(set) var entries: [Entry] = []

  init(seed: UInt64) { self.seed = seed }

  /// Puts `rules` in place of all that were; everything is counted anew.
  mutating func set(_ rules: [FaultRule], at now: Instant) {
    entries = []
    for rule in rules { add(rule, at: now) }
  }

  /// Appends a rule; one of the same id goes.
  mutating func add(_ rule: FaultRule, at now: Instant) {
    _ = remove(rule.id)
    // By its own id, so that one rule more or less changes nothing for the others.
    let own = rule.id.utf8.reduce(seed ^ 0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    entries.append(Entry(rule: rule, start: now, dice: Dice(seed: own)))
  }

  /// False for one that was not there.
  mutating func remove(_ id: String) -> Bool {
    guard let index = entries.firstIndex(where: { $0.rule.id == id }) else { return false }
    entries.remove(at: index)
    return true
  }

  /// Whether some rule asks whose device a token is.
  var needsDevice: Bool { entries.contains { $0.rule.conditions.devices != nil } }

  mutating func decide(_ subject: FaultSubject, at now: Instant) -> Decision {
    var decision = Decision()
    for index in entries.indices where entries[index].meets(subject, at: now) {
      let isForAnswer = entries[index].rule.action.isForAnswer
      guard isForAnswer ? decision.answer == nil : decision.connection == nil else { continue }
      let due = entries[index].apply(at: now)
      if isForAnswer { decision.answer = due } else { decision.connection = due }
    }
    return decision
  }

  /// A connection is gone: what was counted for it is forgotten.
  mutating func forget(connection: UInt64) {
    for index in entries.indices where entries[index].rule.conditions.per == .connection {
      entries[index].counts[.connection(connection)] = nil
    }
  }

  /// The lasting states that the rules in force give to every connection of `environment` at `port`, whatever
  /// it asks.
  func standing(of environment: SimulatedEnvironment, _ port: FaultRule.Port, at now: Instant) -> LastingFaults {
    var standing = LastingFaults()
    for entry in entries where entry.rule.isStanding && entry.isInForce(in: environment, port, at: now) {
      switch entry.rule.action {
      case .bandwidth(let rate, lasting: nil):
        standing.bandwidth = standing.bandwidth ?? .init(rule: entry.rule.id, value: rate)
      case .streams(let limit, lasting: nil):
        standing.streams = standing.streams ?? .init(rule: entry.rule.id, value: limit)
      case .bandwidth, .streams, .answer, .goAway, .halfOpen, .resetConnection, .handshake: break
      }
    }
    return standing
  }

  /// A standing state has come upon one more connection.
  mutating func countStanding(_ rule: String, at now: Instant) {
    guard let index = entries.firstIndex(where: { $0.rule.id == rule }) else { return }
    entries[index].matched += 1
    entries[index].applied += 1
    entries[index].lastApplied = now
  }

  func isInForce(_ rule: String, at now: Instant) -> Bool {
    entries.contains { $0.rule.id == rule && $0.rule.conditions.schedule.isInForce(at: now, start: $0.start) }
  }

  /// When the standing of connections may change by itself.
  func nextChange(after now: Instant) -> Instant? {
    entries.filter(\.rule.isLasting).compactMap {
      $0.rule.conditions.schedule.nextChange(after: now, start: $0.start)
    }.min()
  }
}

/// States that last while their rule is in force.
struct LastingFaults: Hashable, Sendable {
  struct State<Value: Hashable & Sendable>: Hashable, Sendable {
    var rule: String
    var value: Value
  }

  var bandwidth: State<Int>?
  var streams: State<UInt32>?
}

extension FaultRule {
  /// Bandwidth and stream limit are states, not events.
  var isLasting: Bool {
    switch action {
    case .bandwidth(_, let lasting), .streams(_, let lasting): lasting == nil
    case .answer, .goAway, .halfOpen, .resetConnection, .handshake: false
    }
  }

  /// A state that needs no request to begin: it holds for every connection by the time alone.
  var isStanding: Bool { isLasting && !conditions.namesRequests && !conditions.counts && limit == nil }

  /// At which moment the rule is asked.
  var moment: FaultSubject.Moment {
    switch action {
    case .handshake: .accept
    case .halfOpen where !conditions.namesRequests && conditions.per == .all: .open
    case .answer, .goAway, .halfOpen, .resetConnection, .bandwidth, .streams: .request
    }
  }
}

extension FaultEngine.Entry {
  func isInForce(in environment: SimulatedEnvironment, _ port: FaultRule.Port, at now: Instant) -> Bool {
    rule.conditions.environments?.contains(environment) ?? true && rule.conditions.ports?.contains(port) ?? true
      && rule.conditions.schedule.isInForce(at: now, start: start)
  }

  /// Counts the subject if the conditions name it, and says whether the rule is due.
  fileprivate mutating func meets(_ subject: FaultSubject, at now: Instant) -> Bool {
    let conditions = rule.conditions
    guard rule.moment == subject.moment, !rule.isStanding, isInForce(in: subject.environment, subject.port, at: now),
      conditions.tokens?.contains(subject.token) ?? true, conditions.topics?.contains(subject.topic) ?? true,
      conditions.pushTypes?.contains(subject.pushType) ?? true,
      conditions.channels.map({ channels in subject.channel.map(channels.contains) ?? false }) ?? true,
      conditions.devices.map({ devices in subject.device.map(devices.contains) ?? false }) ?? true
    else { return false }
    matched += 1
    let number = count(subject) - conditions.after
    guard number > 0, number <= conditions.first ?? .max, number % max(1, conditions.every) == 0 else { return false }
    if let rate = conditions.rate, Double.random(in: 0..<1, using: &dice) >= rate { return false }
    return applied < rule.limit ?? .max
  }

  private mutating func count(_ subject: FaultSubject) -> Int {
    let key: FaultEngine.Key
    switch rule.conditions.per {
    case .all: return matched
    case .connection: key = .connection(subject.connection)
    case .token: key = subject.channel.map { .channel($0) } ?? .token(subject.token)
    }
    counts[key, default: 0] += 1
    return counts[key] ?? 0
  }

  fileprivate mutating func apply(at now: Instant) -> DueFault {
    applied += 1
    lastApplied = now
    var due = DueFault(rule: rule.id, action: rule.action)
    if case .answer(let answer) = rule.action, answer.delay != nil || answer.jitter != nil {
      let most = max(0, answer.jitter?.milliseconds ?? 0)
      let more = most == 0 ? 0 : Int64.random(in: 0...most, using: &dice)
      due.delay = Instant.Span(milliseconds: max(0, answer.delay?.milliseconds ?? 0) + more)
    }
    return due
  }
}
