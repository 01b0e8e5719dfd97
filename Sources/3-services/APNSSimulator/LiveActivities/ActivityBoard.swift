internal import Basics
internal import PushPayload

/// The Live Activities of every phone, as the phones keep them: the simulator plays this part of iOS, since it is what a
/// provider wants to see. The rules are `LiveActivity`'s; here is who has which, by which token or channel it is reached,
/// and what was ignored.
struct ActivityBoard: Sendable {
  struct Rules: Sendable {
    var life = LiveActivity.Rules()
    /// Pushes at priority 10 that an app's activities on a phone may take an hour; nil for no limit, since Apple
    /// publishes none.
    var hourlyBudget: Int?
    /// Bytes of an update token, longer than those of other kinds.
    var tokenSize = 80
    var generation = LiveActivity.Generation.ios18
  }

  struct Place: Hashable, Sendable {
    var device: String
    var bundleID: String
    var environment: SimulatedEnvironment
  }

  /// A push that changed nothing, and why.
  struct Ignored: Hashable, Sendable {
    var at: Instant
    /// In the log of notifications.
    var notification: UInt64
    var why: String
  }

  struct Entry: Sendable {
    let id: String
    let place: Place
    var activity: LiveActivity
    /// The update token that lives; nil for one that only listens to a channel, or that is dismissed.
    var token: [UInt8]?
    /// Pushes that changed it.
    var applied: [UInt64] = []
    var becameStaleAt: Instant?
    var ignored: [Ignored] = []
  }

  let rules: Rules
  private(set) var entries: [String: Entry] = [:]
  /// Pushes that started nothing, by phone.
  private(set) var unstarted: [String: [Ignored]] = [:]
  private var byToken: [[UInt8]: String] = [:]
  private var byPlace: [Place: [String]] = [:]
  private var budgets: [Place: LiveActivityBudget] = [:]
  /// Pushes that phones do not have yet, by their numbers.
  var underWay: [UInt64: DeliveredPush] = [:]
  private(set) var changed: Set<String> = []
  /// When time alone changes something, or earlier; kept, since it is asked for with each push.
  private(set) var nextDue: Instant?

  init(rules: Rules) { self.rules = rules }

  func entry(token: [UInt8]) -> Entry? { byToken[token].flatMap { entries[$0] } }

  /// Oldest first.
  func entries(of device: String) -> [Entry] {
    entries.values.filter { $0.place.device == device }
      .sorted { ($0.activity.startedAt, $0.id) < ($1.activity.startedAt, $1.id) }
  }

  func listening(_ place: Place, to channel: String) -> [String] {
    (byPlace[place] ?? []).filter { entries[$0]?.activity.channel == channel }.sorted()
  }

  mutating func add(_ entry: Entry) {
    entries[entry.id] = entry
    if let token = entry.token { byToken[token] = entry.id }
    byPlace[entry.place, default: []].append(entry.id)
    changed.insert(entry.id)
    noteDue(of: entry)
  }

  mutating func setToken(_ token: [UInt8]?, of id: String) {
    if let former = entries[id]?.token { byToken[former] = nil }
    entries[id]?.token = token
    if let token { byToken[token] = id }
    changed.insert(id)
  }

  /// Counts a push of that priority, a token's or a channel's alike; why iOS does not take it, nil when it does.
  mutating func spend(_ priority: PushPriority, _ place: Place, now: Instant) -> String? {
    guard let hourly = rules.hourlyBudget else { return nil }
    let isTaken = budgets[place, default: LiveActivityBudget()].spend(priority, at: now, hourly: hourly)
    return isTaken ? nil : "the hour's budget of \(hourly) pushes at priority 10 is spent; send 5"
  }

  mutating func note(unstarted why: String, notification: UInt64, device: String, now: Instant) {
    unstarted[device, default: []].append(Ignored(at: now, notification: notification, why: why), most: Self.most)
  }

  mutating func note(applied notification: UInt64, id: String) {
    entries[id]?.applied.append(notification, most: Self.most)
    changed.insert(id)
  }

  mutating func note(ignored why: String, notification: UInt64, id: String, now: Instant) {
    entries[id]?.ignored.append(Ignored(at: now, notification: notification, why: why), most: Self.most)
    changed.insert(id)
  }

  /// Feeds one activity; `notification` is the push that does it.
  mutating func handle(_ event: LiveActivity.Event, id: String, notification: UInt64?, now: Instant) -> [LiveActivity
    .Effect]
  {
    guard var entry = entries.removeValue(forKey: id) else { return [] }
    let effects = entry.activity.handle(event, at: now, rules: rules.life)
    var isApplied = false
    for effect in effects {
      switch effect {
      case .updated:
        entry.becameStaleAt = nil
        isApplied = true
      case .ended(_, .push): isApplied = true
      case .becameStale(let at): entry.becameStaleAt = at
      case .ended, .dismissed, .alerted: break
      case .ignored(let why):
        guard let notification else { break }
        entry.ignored.append(Ignored(at: now, notification: notification, why: why.words), most: Self.most)
      }
    }
    if isApplied, let notification { entry.applied.append(notification, most: Self.most) }
    entries[id] = entry
    if !effects.isEmpty { changed.insert(id) }
    noteDue(of: entry)
    return effects
  }

  /// Of what is remembered of an activity, and of pushes that started none.
  private static let most = 100

  /// May bring `nextDue` forward; `noteDue()` puts it right.
  private mutating func noteDue(of entry: Entry) {
    guard let due = entry.activity.nextDue(rules.life) else { return }
    nextDue = nextDue.map { min($0, due) } ?? due
  }

  mutating func noteDue() {
    nextDue = entries.values.compactMap { $0.activity.nextDue(rules.life) }.min()
  }

  func due(_ now: Instant) -> [String] {
    entries.values.filter { $0.activity.nextDue(rules.life).map { $0 <= now } ?? false }.map(\.id).sorted()
  }

  /// The app is gone from the phone, and its activities with it.
  mutating func removeAll(_ device: String, bundleID: String) {
    for entry in entries.values where entry.place.device == device && entry.place.bundleID == bundleID {
      if let token = entry.token { byToken[token] = nil }
      entries[entry.id] = nil
      byPlace[entry.place]?.removeAll { $0 == entry.id }
      changed.insert(entry.id)
    }
    noteDue()
  }

  mutating func takeChanges() -> Set<String> {
    defer { changed = [] }
    return changed
  }

  /// They could not be written: they are still to do.
  mutating func giveBack(_ ids: Set<String>) { changed.formUnion(ids) }

  mutating func restore(_ kept: [Entry]) {
    for entry in kept { add(entry) }
    changed = []
  }
}

extension Array {
  /// The oldest go when there are more than `most`.
  fileprivate mutating func append(_ element: Element, most: Int) {
    append(element)
    if count > most { removeFirst(count - most) }
  }
}
