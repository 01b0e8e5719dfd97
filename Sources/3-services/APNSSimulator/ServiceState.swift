internal import Basics
internal import PushPayload

/// All that Apple's side remembers: tokens, devices, what waits, what came. A value; each input says what to do next.
///
///     push ──▶ token lives? ──▶ phone reachable? ──yes──▶ hand over (sent, then delivered on acknowledgement)
///                  │ no                 └──no──▶ store one for the app until it expires
///                  └──▶ refusal, or 200 and silence while the end of the token is not told yet
struct ServiceState: Sendable {
  struct Rules: Sendable {
    /// After a push met a dead token for the first time, 410 begins within this; Apple's own delay is days to weeks.
    var goneDelay: ClosedRange<Int64> = 1_000...10_000
    /// The most requests to one token within `requestWindow`; nil for no limit, since Apple publishes none.
    var requestsPerToken: Int?
    var requestWindow = Instant.Span.minutes(1)
    var logCapacity = 10_000
  }

  struct Device: Hashable, Sendable {
    /// Set by the tester: whether the phone has a network.
    var isOnline = true
    /// A courier came for it once; from then on it is away while none is there.
    var usesCourier = false
    var isConnected = false

    var isReachable: Bool { isOnline && (isConnected || !usesCourier) }
  }

  /// A push for a courier to carry, with the number to acknowledge it by.
  struct Handover: Hashable, Sendable {
    var number: UInt64
    var push: DeliveredPush
  }

  /// What became of a push that was taken.
  struct Acceptance: Sendable {
    var device: String
    /// For the device's courier, when it has one and can be reached.
    var handover: Handover?
  }

  /// What a store has to write; emptied by `takeChanges`.
  struct Changes: Sendable {
    var tokens: Set<[UInt8]> = []
    var devices: Set<String> = []
    var isEmpty: Bool { tokens.isEmpty && devices.isEmpty }
  }

  let rules: Rules
  private(set) var registry = TokenRegistry()
  private(set) var store = OfflineStore()
  private(set) var devices: [String: Device] = [:]
  private(set) var notifications: RecentLog<LoggedNotification>
  private(set) var refusals: RecentLog<LoggedRefusal>
  private var inFlight: [String: [UInt64: DeliveredPush]] = [:]
  private var meter: TokenMeter
  private var dice: Dice
  private var changes = Changes()

  init(rules: Rules, seed: UInt64) {
    self.rules = rules
    meter = TokenMeter(window: rules.requestWindow)
    dice = Dice(seed: seed)
    notifications = RecentLog(capacity: rules.logCapacity)
    refusals = RecentLog(capacity: min(1_000, rules.logCapacity))
  }

  // MARK: Pushes

  /// Takes a push whose headers and body are in order, or refuses it for its token. `id` is what the answer will carry.
  mutating func accept(
    _ checked: CheckedPush, id: Bytes, uniqueID: Bytes?, body: [UInt8], now: Instant
  ) throws(Refusal) -> Acceptance {
    let record = try registry.find(
      token: checked.token, environment: checked.environment, topic: checked.topic, now: now)
    try countRequest(to: record.bytes, now: now)
    let owner = record.owner
    let push = DeliveredPush(
      id: String(decoding: id, as: UTF8.self), token: record.bytes, topic: record.topicText, bundleID: owner.bundleID,
      environment: owner.environment, pushType: checked.pushType, priority: checked.priority,
      collapseID: checked.collapseID.map { String(decoding: $0, as: UTF8.self) }, expiration: checked.expiration,
      payload: body, receivedAt: now)
    var fate = LoggedNotification.Fate.delivered(now)
    let device = devices[owner.device] ?? Device()
    if var end = record.end {
      if end.toldFrom == nil {
        end.toldFrom = now + Instant.Span(milliseconds: Int64.random(in: rules.goneDelay, using: &dice))
        registry.adopt(TokenRecord(bytes: record.bytes, owner: owner, end: end))
        changes.tokens.insert(record.bytes)
      }
      fate = .dropped(now, "the app is gone from the device since \(end.since)")
    } else if !device.isReachable {
      fate = .stored
    } else if device.isConnected {
      fate = .sent(now)
    }
    let remarks = Self.remarks(on: checked, now: now)
    let number = notifications.append { number in
      LoggedNotification(
        number: number, device: owner.device, push: push,
        uniqueID: uniqueID.map { String(decoding: $0, as: UTF8.self) }, remarks: remarks, fate: fate,
        sent: checked.sentHeaders)
    }
    var acceptance = Acceptance(device: owner.device, handover: nil)
    switch fate {
    case .stored: hold(push, number: number, for: owner.device, now: now)
    case .sent:
      inFlight[owner.device, default: [:]][number] = push
      acceptance.handover = Handover(number: number, push: push)
    case .delivered, .replaced, .expired, .dropped: break
    }
    return acceptance
  }

  mutating func note(_ refusal: Refusal, id: Bytes, path: Bytes, topic: Bytes?, now: Instant) -> LoggedRefusal {
    let logged = LoggedRefusal(
      number: refusals.next, at: now, id: String(decoding: id, as: UTF8.self), path: text(path),
      topic: text(topic ?? []), refusal: refusal)
    refusals.append { _ in logged }
    return logged
  }

  private mutating func hold(_ push: DeliveredPush, number: UInt64, for device: String, now: Instant) {
    switch store.hold(push, number: number, for: device, now: now) {
    case .kept(let replaced):
      changes.devices.insert(device)
      if let replaced { notifications.update(replaced) { $0.fate = .replaced(now) } }
    case .notKept:
      notifications.update(number) { $0.fate = .expired(now) }
    }
  }

  private mutating func countRequest(to token: [UInt8], now: Instant) throws(Refusal) {
    guard let most = rules.requestsPerToken, !meter.admits(token, most: most, now: now) else { return }
    throw Refusal(
      .tooManyRequests, "more than \(most) requests to one token within \(rules.requestWindow.milliseconds / 1000) s")
  }

  private static func remarks(on push: CheckedPush, now: Instant) -> [String] {
    var remarks: [String] = []
    if push.isPushTypeInferred {
      remarks.append("apns-push-type is absent; taken for \(push.pushType)")
    }
    if push.pushType == .background, push.priority == .immediate {
      remarks.append("a background push at priority 10: Apple calls it an error, phones may never see it; send 5")
    }
    if let expiration = push.expiration, expiration > 0 {
      if expiration > (now + .days(3650)).seconds {
        remarks.append("apns-expiration \(expiration) looks like milliseconds; it counts seconds")
      } else if expiration < Instant.Span.days(3650).milliseconds / 1000 {
        remarks.append("apns-expiration \(expiration) looks like an interval; it is seconds since 1970")
      } else if expiration <= now.seconds {
        remarks.append("apns-expiration \(expiration) is past; one attempt at most")
      }
    }
    return remarks
  }

  // MARK: Devices and their couriers

  /// A courier came for the device: everything that waits is due, oldest first, unless its time is over.
  mutating func connect(device: String, now: Instant) -> [Handover] {
    var entry = devices[device] ?? Device()
    entry.isConnected = true
    entry.usesCourier = true
    devices[device] = entry
    changes.devices.insert(device)
    return release(device: device, now: now)
  }

  /// The courier left. What it did not acknowledge waits again, by the same rules as any push.
  mutating func disconnect(device: String, now: Instant) {
    devices[device]?.isConnected = false
    let unacknowledged = (inFlight.removeValue(forKey: device) ?? [:]).sorted { $0.key < $1.key }
    for (number, push) in unacknowledged {
      notifications.update(number) { $0.fate = .stored }
      hold(push, number: number, for: device, now: now)
    }
  }

  /// The phone got or lost its network.
  mutating func setOnline(device: String, _ isOnline: Bool, now: Instant) -> [Handover] {
    devices[device, default: Device()].isOnline = isOnline
    changes.devices.insert(device)
    return release(device: device, now: now)
  }

  mutating func acknowledge(device: String, number: UInt64, now: Instant) {
    guard inFlight[device]?.removeValue(forKey: number) != nil else { return }
    notifications.update(number) { $0.fate = .delivered(now) }
  }

  private mutating func release(device: String, now: Instant) -> [Handover] {
    guard let entry = devices[device], entry.isReachable else { return [] }
    var due: [Handover] = []
    let waiting = store.release(device: device)
    if !waiting.isEmpty { changes.devices.insert(device) }
    for held in waiting {
      guard now < held.push.storedUntil else {
        notifications.update(held.number) { $0.fate = .expired(held.push.storedUntil) }
        continue
      }
      notifications.update(held.number) { $0.fate = entry.isConnected ? .sent(now) : .delivered(now) }
      guard entry.isConnected else { continue }
      inFlight[device, default: [:]][held.number] = held.push
      due.append(Handover(number: held.number, push: held.push))
    }
    return due
  }

  // MARK: Tokens

  /// Ends every token of an app on a device, in both environments: it was removed.
  mutating func uninstall(device: String, bundleID: String, now: Instant) -> Int {
    let tokens = registry.tokens(device: device, bundleID: bundleID)
    for token in tokens { _ = end(token, reason: .unregistered, since: now, isToldAtOnce: false, now: now) }
    return tokens.count
  }

  mutating func issueToken(to owner: TokenRecord.Owner, isFresh: Bool = false) -> TokenRecord {
    let record = registry.issue(to: owner, isFresh: isFresh, dice: &dice)
    changes.tokens.insert(record.bytes)
    if devices[owner.device] == nil {
      devices[owner.device] = Device()
      changes.devices.insert(owner.device)
    }
    return record
  }

  /// Makes exactly this token live for `owner`, also one that was dead or another's.
  mutating func register(_ bytes: [UInt8], to owner: TokenRecord.Owner) -> TokenRecord {
    let record = TokenRecord(bytes: bytes, owner: owner)
    registry.adopt(record)
    changes.tokens.insert(bytes)
    if devices[owner.device] == nil {
      devices[owner.device] = Device()
      changes.devices.insert(owner.device)
    }
    return record
  }

  /// Ends a token. With `isToldAtOnce` the very next push gets 410, otherwise the first push is still taken and 410
  /// begins a little later. nil for an unknown token.
  mutating func end(_ token: [UInt8], reason: RefusalReason, since: Instant, isToldAtOnce: Bool, now: Instant)
    -> TokenRecord?
  {
    guard let record = registry.end(token, reason: reason, since: since, toldFrom: isToldAtOnce ? now : nil) else {
      return nil
    }
    changes.tokens.insert(token)
    let slot = OfflineStore.Slot(
      device: record.owner.device, bundleID: record.owner.bundleID, environment: record.owner.environment)
    if let held = store.drop(slot) {
      changes.devices.insert(record.owner.device)
      notifications.update(held.number) { $0.fate = .dropped(now, "the app was removed") }
    }
    return record
  }

  // MARK: What is kept beyond a restart

  var hasChanges: Bool { !changes.isEmpty }

  mutating func takeChanges() -> Changes {
    defer { changes = Changes() }
    return changes
  }

  /// Puts back what a store kept. Nobody is connected after a restart.
  mutating func restore(tokens: [TokenRecord], devices: [String: Device], held: [(device: String, push: DeliveredPush)])
  {
    for record in tokens { registry.adopt(record) }
    for (id, device) in devices {
      self.devices[id] = Device(isOnline: device.isOnline, usesCourier: device.usesCourier)
    }
    for (device, push) in held {
      let number = notifications.append { number in
        LoggedNotification(number: number, device: device, push: push, uniqueID: nil, remarks: [], fate: .stored)
      }
      hold(push, number: number, for: device, now: push.receivedAt)
    }
    changes = Changes()
  }

  /// Notes in the log what has expired in the store by now.
  mutating func expire(now: Instant) {
    for held in store.expire(now: now) {
      notifications.update(held.number) { $0.fate = .expired(held.push.storedUntil) }
    }
  }

  mutating func watchNotifications(_ isWatched: Bool) { notifications.isWatched = isWatched }

  mutating func takeTouchedNotifications() -> [LoggedNotification] { notifications.takeTouched() }

  mutating func clearNotifications() {
    notifications.removeAll()
    refusals.removeAll()
  }
}
