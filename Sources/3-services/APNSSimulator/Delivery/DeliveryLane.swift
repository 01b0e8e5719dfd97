internal import Basics
internal import PushPayload

/// One device: whether its phone can be reached, what waits for it, and the one push that is in flight.
///
///     push ──▶ reachable? ──▶ awake enough? ──▶ grouped? ──▶ in the budget? ──▶ nothing in flight? ──▶ leaves
///                  │ stored       │ stored        │ grouped      │ throttled          │ queued
///
/// A value without clock. `settle` walks what waits through the same gates again after anything has changed.
struct DeliveryLane: Sendable {
  /// What happens to a push that comes; no text and no list is made for one that leaves at once.
  enum Placement: Hashable, Sendable {
    /// There is no courier: the phone could have had it.
    case delivered
    /// In flight: the courier has to get it.
    case handedOver
    /// Waits; the one that waited before, if any, is gone for good.
    case waits(WaitingPush, replaced: UInt64?)
    /// It reached the phone, and the app was not there.
    case reachedNobody
    /// Its one attempt failed.
    case expired
    case dropped(String)
    /// Too much waits for a courier that does not acknowledge: end its stay, and place the push again.
    case overflow
  }

  enum Effect: Hashable, Sendable {
    case became(UInt64, LoggedNotification.Fate)
    /// The courier gets it; it is in flight.
    case handOver(number: UInt64, DeliveredPush)
    /// It reached the phone, and the app was not there.
    case reachedNobody(number: UInt64, DeliveredPush)
    /// A broadcast whose phone has gone: its channel keeps it for later, or nobody does.
    case missed(number: UInt64, DeliveredPush)
  }

  var device = SimulatedDevice()
  private(set) var inFlight: WaitingPush?
  /// By number.
  private(set) var waiting: [WaitingPush] = []
  private(set) var budgets: [InstalledApp: BackgroundBudget] = [:]
  /// The time in the schedule's queue by which this lane is looked at.
  var armed: Instant?

  var nextDue: Instant? { waiting.lazy.compactMap(\.nextDue).min() }

  // MARK: A push comes

  mutating func place(
    _ push: DeliveredPush, number: UInt64, isGone: Bool, rules: DeliveryRules, now: Instant
  ) -> Placement {
    switch gate(push, place: nil, isRipe: false, isPaid: false, rules: rules, now: now) {
    case .open:
      let isBackground = push.pushType == .background
      if isBackground, isBudgeted(rules) { spend(push, now: now) }
      if isGone { return .reachedNobody }
      guard device.isConnected else { return .delivered }
      inFlight = WaitingPush(
        number: number, push: push, place: .inFlight, since: now, isPaid: isBackground)
      return .handedOver
    case .closed(let place, let due):
      if push.isOneAttempt {
        switch place {
        case .queued: break
        case .throttled: return .dropped("over the background budget, and its expiration allowed one attempt")
        case .stored, .grouped, .inFlight: return .expired
        }
      }
      if place == .queued, device.keepsInFlight, waiting.count >= rules.mostQueued { return .overflow }
      let entry = WaitingPush(number: number, push: push, place: place, since: now, due: due, isGone: isGone)
      return .waits(entry, replaced: add(entry, rules: rules))
    }
  }

  // MARK: Anything changes

  /// Looks at everything that waits again: what is over ends, what may leave leaves, the rest moves or stays.
  mutating func settle(rules: DeliveryRules, now: Instant, dice: inout Dice, effects: inout [Effect]) {
    guard !waiting.isEmpty else { return }
    ripen(now: now)
    var candidates: [WaitingPush] = []
    swap(&candidates, &waiting)
    if rules.isReordering { candidates.shuffle(using: &dice) }
    let groupEnd = candidates.first { $0.place == .grouped }?.due
    for var entry in candidates {
      guard !entry.isOver(at: now) else {
        effects.append(.became(entry.number, .expired(entry.push.storedUntil)))
        continue
      }
      switch gate(
        entry.push, place: entry.place, isRipe: entry.isRipe, isPaid: entry.isPaid, groupEnd: groupEnd, rules: rules,
        now: now)
      {
      case .open: leave(entry, rules: rules, now: now, effects: &effects)
      case .closed(let place, _) where place.isAway && entry.push.channelID != nil:
        effects.append(.missed(number: entry.number, entry.push))
      case .closed(let place, let due):
        let fate = entry.fate
        if place != entry.place {
          entry.place = place
          entry.since = now
          entry.due = due
          if place.isAway { entry.isRipe = false }
        } else if place == .throttled {
          entry.due = due
        }
        guard !entry.isOver(at: now) else {
          effects.append(.became(entry.number, .expired(now)))
          continue
        }
        if entry.fate != fate { effects.append(.became(entry.number, entry.fate)) }
        if let replaced = add(entry, rules: rules) { effects.append(.became(replaced, .replaced(now))) }
      }
    }
  }

  /// The phone has it; false for one that is not in flight.
  mutating func acknowledge(_ number: UInt64) -> Bool {
    guard inFlight?.number == number else { return false }
    inFlight = nil
    return true
  }

  /// The courier is gone: what it did not acknowledge waits again, by the rules of any push. `settle` finds its place.
  mutating func takeBack() {
    guard var entry = inFlight else { return }
    inFlight = nil
    entry.isRipe = false
    insert(entry)
  }

  /// The phone was woken: low priorities have waited long enough.
  mutating func ripenAll() {
    for index in waiting.indices { waiting[index].isRipe = true }
  }

  /// Whether pushes by this token will find their app, from now on.
  mutating func mark(_ token: [UInt8], isGone: Bool) {
    for index in waiting.indices where waiting[index].push.token == token { waiting[index].isGone = isGone }
  }

  /// Ends what waits and is meant.
  mutating func drop(
    why: String, now: Instant, effects: inout [Effect], where isMeant: (DeliveredPush) -> Bool
  ) {
    for entry in waiting where isMeant(entry.push) { effects.append(.became(entry.number, .dropped(now, why))) }
    waiting.removeAll { isMeant($0.push) }
  }

  /// Whether it waits here or is in flight.
  func carries(_ push: DeliveredPush) -> Bool { inFlight?.push == push || waiting.contains { $0.push == push } }

  mutating func restore(_ entry: WaitingPush) { insert(entry) }
  mutating func restore(_ budget: BackgroundBudget, of app: InstalledApp) { budgets[app] = budget }

  // MARK: Gates

  private enum Gate {
    case open
    case closed(WaitingPush.Place, due: Instant?)
  }

  /// `place` is where it waits already; nil for one that just came.
  private func gate(
    _ push: DeliveredPush, place: WaitingPush.Place?, isRipe: Bool, isPaid: Bool, groupEnd: Instant? = nil,
    rules: DeliveryRules, now: Instant
  ) -> Gate {
    guard device.isReachable else { return .closed(.stored(device.isOnline ? .noCourier : .offline), due: nil) }
    if push.priority != .immediate,
      let gate = lowPriorityGate(
        push, place: place, isRipe: isRipe, groupEnd: groupEnd, rules: rules, now: now)
    {
      return gate
    }
    if push.pushType == .background, !isPaid, isBudgeted(rules) {
      let app = InstalledApp(bundleID: push.bundleID, environment: push.environment)
      let allowed = (budgets[app] ?? BackgroundBudget()).nextAllowed(rules.budget, now: now)
      if allowed > now { return .closed(.throttled, due: allowed) }
    }
    if device.isConnected, inFlight != nil { return .closed(.queued, due: nil) }
    return .open
  }

  /// nil when neither the phone's power nor a group holds it back.
  private func lowPriorityGate(
    _ push: DeliveredPush, place: WaitingPush.Place?, isRipe: Bool, groupEnd: Instant?, rules: DeliveryRules,
    now: Instant
  ) -> Gate? {
    if !isRipe, place == .grouped { return .closed(.grouped, due: groupEnd) }
    let cause: StoredCause
    switch device.power {
    case .awake:
      guard place == nil, rules.groupWindow.milliseconds > 0, !push.isOneAttempt else { return nil }
      let end = waiting.first { $0.place == .grouped }?.due
      return .closed(.grouped, due: end ?? now + rules.groupWindow)
    case .asleep: cause = .asleep
    case .lowPower: cause = .lowPower
    }
    // Priority 1 never wakes a phone, however long it has waited.
    guard push.priority == .considerate else { return .closed(.stored(cause), due: nil) }
    return isRipe || place == .queued ? nil : .closed(.stored(cause), due: now + rules.powerWindow)
  }

  private func isBudgeted(_ rules: DeliveryRules) -> Bool {
    !device.isUnlimited && !device.keepsBudget && (rules.backgroundPerHour != nil || rules.backgroundPerDay != nil)
  }

  /// When one of a burst is due, the whole burst is.
  private mutating func ripen(now: Instant) {
    let groupIsDue = waiting.contains { $0.place == .grouped && ($0.due ?? .distantFuture) <= now }
    let powerIsDue = waiting.contains { $0.place.isForPower && ($0.due ?? .distantFuture) <= now }
    guard groupIsDue || powerIsDue else { return }
    for index in waiting.indices {
      let entry = waiting[index]
      if groupIsDue && entry.place == .grouped || powerIsDue && entry.place.isForPower && entry.due != nil {
        waiting[index].isRipe = true
      }
    }
  }

  // MARK: Coming and going

  private mutating func leave(
    _ entry: WaitingPush, rules: DeliveryRules, now: Instant, effects: inout [Effect]
  ) {
    if entry.push.pushType == .background, !entry.isPaid, isBudgeted(rules) { spend(entry.push, now: now) }
    if entry.isGone {
      effects.append(.reachedNobody(number: entry.number, entry.push))
    } else if device.isConnected {
      var entry = entry
      entry.place = .inFlight
      entry.since = now
      entry.due = nil
      entry.isPaid = true
      inFlight = entry
      effects.append(.became(entry.number, entry.fate))
      effects.append(.handOver(number: entry.number, entry.push))
    } else {
      effects.append(.became(entry.number, .delivered(now)))
    }
  }

  private mutating func spend(_ push: DeliveredPush, now: Instant) {
    budgets[InstalledApp(bundleID: push.bundleID, environment: push.environment), default: BackgroundBudget()]
      .spend(at: now)
  }

  /// Takes it among those that wait. Where there is one place only, the newest keeps it; answers the one that lost.
  private mutating func add(_ entry: WaitingPush, rules: DeliveryRules) -> UInt64? {
    guard let rival = waiting.firstIndex(where: { Self.isOnePlace($0, entry, rules: rules) }) else {
      insert(entry)
      return nil
    }
    let loser = waiting[rival]
    guard loser.number < entry.number else { return entry.number }
    waiting.remove(at: rival)
    insert(entry)
    return loser.number
  }

  private static func isOnePlace(_ one: WaitingPush, _ other: WaitingPush, rules: DeliveryRules) -> Bool {
    // Storage of broadcasts is by channel.
    guard one.app == other.app, one.push.channelID == other.push.channelID else { return false }
    switch (one.place, other.place) {
    case (.stored, .stored), (.throttled, .throttled): return true
    case (.queued, .queued): return rules.overwritesWaiting
    case (.grouped, .grouped): return one.push.collapseID != nil && one.push.collapseID == other.push.collapseID
    case (.stored, _), (.throttled, _), (.queued, _), (.grouped, _), (.inFlight, _): return false
    }
  }

  private mutating func insert(_ entry: WaitingPush) {
    let place = waiting.lastIndex { $0.number < entry.number }.map { $0 + 1 } ?? 0
    waiting.insert(entry, at: place)
  }
}

extension WaitingPush.Place {
  /// The phone cannot be reached at all.
  fileprivate var isAway: Bool {
    switch self {
    case .stored(.offline), .stored(.noCourier): true
    case .stored(.asleep), .stored(.lowPower), .grouped, .throttled, .queued, .inFlight: false
    }
  }

  fileprivate var isForPower: Bool {
    switch self {
    case .stored(.asleep), .stored(.lowPower): true
    case .stored(.offline), .stored(.noCourier), .grouped, .throttled, .queued, .inFlight: false
    }
  }
}

extension Instant {
  fileprivate static let distantFuture = Instant(milliseconds: .max)
}
