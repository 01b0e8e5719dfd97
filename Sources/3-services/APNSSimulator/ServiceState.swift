internal import Basics
internal import PushPayload

/// All that Apple's side remembers: tokens, devices, what waits, what came. A value; each input says what to do next.
///
///     push ──▶ token known? ──▶ DeliverySchedule: sent, delivered, stored, grouped, throttled, queued …
///                  │ no                └── it reached the phone and the app was gone: 410 from a little later on
///                  └──▶ refusal
struct ServiceState: Sendable {
  struct Rules: Sendable {
    /// After a push met a dead token for the first time, 410 begins within this; Apple's own delay is days to weeks.
    var goneDelay: ClosedRange<Int64> = 1_000...10_000
    /// The most requests to one token within `requestWindow`; nil for no limit, since Apple publishes none.
    var requestsPerToken: Int?
    var requestWindow = Instant.Span.minutes(1)
    var logCapacity = 10_000
    var delivery = DeliveryRules()
    /// Bytes of a device token that is made here, 1 to 100.
    var tokenSize = 32
    var channels = ChannelRegistry.Rules()
    var activities = ActivityBoard.Rules()
  }

  /// A push for a courier to carry, with the number to acknowledge it by.
  struct Handover: Hashable, Sendable {
    var device: String
    var number: UInt64
    var push: DeliveredPush
  }

  /// What is left to do for the phones once something has changed.
  struct Outcome: Hashable, Sendable {
    var handovers: [Handover] = []
    /// Devices whose courier lets too much lie: it is to go.
    var overflows: [String] = []

    static func += (outcome: inout Outcome, more: Outcome) {
      outcome.handovers += more.handovers
      outcome.overflows += more.overflows
    }
  }

  /// What became of a push that was taken.
  struct Acceptance: Sendable {
    /// For the device's courier, when it has one and can be reached.
    var handover: Handover?
    /// What else became due.
    var outcome = Outcome()
    /// It waits now: a store is to write it before the provider is told.
    var isKept = false
  }

  let rules: Rules
  var registry = TokenRegistry()
  var schedule: DeliverySchedule
  var notifications: RecentLog<LoggedNotification>
  private(set) var refusals: RecentLog<LoggedRefusal>
  private var meter: TokenMeter
  var dice: Dice
  /// Tokens that a store has to write.
  var changedTokens: Set<[UInt8]> = []
  /// New tokens that phones have not been told yet.
  var untoldTokens: [String: [TokenRenewal]] = [:]
  var channels: ChannelRegistry
  var activities: ActivityBoard
  /// What couriers are to be given and told; the core takes it after each change.
  var due = Outcome()
  var activityNews: [ActivityNews] = []
  var disabledAlerts = DisabledAlerts()
  var fateNews: [(device: String, news: PushNews)] = []

  init(rules: Rules, seed: UInt64) {
    self.rules = rules
    meter = TokenMeter(window: rules.requestWindow)
    dice = Dice(seed: seed)
    schedule = DeliverySchedule(rules: rules.delivery, seed: seed &+ 1)
    notifications = RecentLog(capacity: rules.logCapacity)
    refusals = RecentLog(capacity: min(1_000, rules.logCapacity))
    channels = ChannelRegistry(rules: rules.channels)
    activities = ActivityBoard(rules: rules.activities)
  }

  // MARK: Pushes

  /// Takes a push whose headers and body are in order, or refuses it for its token. `id` is what the answer will carry.
  mutating func accept(
    _ checked: CheckedPush, id: Bytes, uniqueID: Bytes?, body: [UInt8], mark: FaultMark? = nil, now: Instant
  ) throws(Refusal) -> Acceptance {
    let record = try registry.find(
      token: checked.token, environment: checked.environment, topic: checked.topic, now: now)
    try countRequest(to: record.bytes, now: now)
    var acceptance = Acceptance()
    if let due = schedule.nextDue, due <= now { acceptance.outcome = advance(now: now) }
    let owner = record.owner
    let push = DeliveredPush(
      id: String(decoding: id, as: UTF8.self), token: record.bytes, topic: record.topicText, bundleID: owner.bundleID,
      environment: owner.environment, pushType: checked.pushType, priority: checked.priority,
      collapseID: checked.collapseID.map { String(decoding: $0, as: UTF8.self) }, expiration: checked.expiration,
      payload: body, receivedAt: now)
    let number = notifications.next
    func place() -> DeliveryLane.Placement {
      if record.end == nil, push.pushType == .alert, disabledAlerts.contains(owner.device, owner.bundleID) {
        return .dropped(DropWords.disabled)
      }
      return schedule.place(push, number: number, device: owner.device, isGone: record.end != nil, now: now)
    }
    var placement = mark.flatMap { $0.isLost ? .dropped($0.words) : nil } ?? place()
    if placement == .overflow {
      acceptance.outcome.overflows.append(owner.device)
      apply(schedule.disconnect(owner.device, now: now), to: &acceptance.outcome, now: now)
      placement = place()
    }
    let fate: LoggedNotification.Fate
    switch placement {
    case .delivered: fate = .delivered(now)
    case .handedOver:
      fate = .sent(now)
      acceptance.handover = Handover(device: owner.device, number: number, push: push)
    case .waits(let entry, let replaced):
      fate = entry.fate
      acceptance.isKept = !push.isOneAttempt
      if let replaced { become(.replaced(now), replaced, device: owner.device, now: now) }
    case .reachedNobody:
      flag(record, now: now)
      fate = Self.goneFate(record, now: now)
    case .expired, .overflow: fate = .expired(now)
    case .dropped(let why): fate = .dropped(now, why)
    }
    let remarks = PushRemarks.remarks(on: checked, now: now) + (mark.map { [$0.words] } ?? [])
    notifications.append { number in
      LoggedNotification(
        number: number, device: owner.device, push: push,
        uniqueID: uniqueID.map { String(decoding: $0, as: UTF8.self) }, remarks: remarks, findings: checked.findings,
        fate: fate,
        sent: checked.sentHeaders)
    }
    noteFate(of: number, fate, push: push, device: owner.device, now: now)
    return acceptance
  }

  mutating func note(_ refusal: Refusal, id: Bytes, path: Bytes, topic: Bytes?, now: Instant) -> LoggedRefusal {
    let logged = LoggedRefusal(
      number: refusals.next, at: now, id: String(decoding: id, as: UTF8.self), path: text(path),
      topic: text(topic ?? []), refusal: refusal)
    refusals.append { _ in logged }
    return logged
  }

  private mutating func countRequest(to token: [UInt8], now: Instant) throws(Refusal) {
    guard let most = rules.requestsPerToken, !meter.admits(token, most: most, now: now) else { return }
    throw Refusal(
      .tooManyRequests, "more than \(most) requests to one token within \(rules.requestWindow.milliseconds / 1000) s")
  }

  // MARK: What comes of it

  /// Takes the schedule's effects into the log, and collects what couriers have to do.
  mutating func apply(_ effects: [DeliverySchedule.Effect], to outcome: inout Outcome, now: Instant) {
    for effect in effects {
      switch effect.what {
      case .became(let number, let fate): become(fate, number, device: effect.device, now: now)
      case .handOver(let number, let push):
        outcome.handovers.append(Handover(device: effect.device, number: number, push: push))
      case .reachedNobody(let number, let push):
        guard let record = registry.records[push.token] else { continue }
        flag(record, now: now)
        become(Self.goneFate(record, now: now), number, device: effect.device, now: now)
      case .missed(let number, let push): missed(number, push, device: effect.device, now: now)
      }
    }
  }

  /// A push reached a phone whose app was removed: 410 begins after a delay that nobody can foresee. (Apple's engineers,
  /// forum threads 745902 and 780156: on purpose, so that nobody can track who removes an app)
  private mutating func flag(_ record: TokenRecord, now: Instant) {
    guard var end = record.end, end.toldFrom == nil else { return }
    end.toldFrom = now + Instant.Span(milliseconds: Int64.random(in: rules.goneDelay, using: &dice))
    registry.adopt(TokenRecord(bytes: record.bytes, owner: record.owner, end: end))
    changedTokens.insert(record.bytes)
  }

  private static func goneFate(_ record: TokenRecord, now: Instant) -> LoggedNotification.Fate {
    .dropped(now, DropWords.gone(since: record.end?.since ?? now))
  }

  // MARK: The log

  /// Takes one from before a restart into the log; answers its number.
  mutating func log(_ entry: WaitingPush, device: String) -> UInt64 {
    let number = notifications.append { number in
      LoggedNotification(
        number: number, device: device, push: entry.push, uniqueID: nil, remarks: [], findings: entry.push.findings,
        fate: entry.fate)
    }
    noteFate(of: number, entry.fate, push: entry.push, device: device, now: entry.since)
    return number
  }

  /// Something has become of a push that is in the log, or was.
  mutating func become(_ fate: LoggedNotification.Fate, _ number: UInt64, device: String, now: Instant) {
    notifications.update(number) { $0.become(fate) }
    noteFate(of: number, fate, push: nil, device: device, now: now)
  }

  mutating func watchNotifications(_ isWatched: Bool) { notifications.isWatched = isWatched }

  mutating func takeTouchedNotifications() -> [LoggedNotification] { notifications.takeTouched() }

  mutating func clearNotifications() {
    notifications.removeAll()
    refusals.removeAll()
  }
}
