internal import Basics
internal import PushPayload

/// When which push leaves for which phone: everything of Apple's side between the 200 and the courier.
///
///     place · acknowledge · connect · disconnect · setOnline · setPower · mark · drop · advance
///        └──▶ placement, or effects in order: handed over, stored, grouped, throttled, queued, replaced, expired, dropped
///
/// A value: no clock, no socket, no task. Time comes in with each call; `nextDue` says when to call `advance` though
/// nothing else happens. The same calls with the same seed have the same effects. (spec apns.md §11)
struct DeliverySchedule: Sendable {
  struct Effect: Hashable, Sendable {
    var device: String
    var what: DeliveryLane.Effect
  }

  private(set) var rules: DeliveryRules
  private(set) var lanes: [String: DeliveryLane] = [:]
  /// Devices of which something has changed that a store keeps; for the owner to empty.
  var changed: Set<String> = []
  private var queue = DueQueue()
  private var dice: Dice

  init(rules: DeliveryRules, seed: UInt64) {
    self.rules = rules
    dice = Dice(seed: seed)
  }

  /// When `advance` has something to do; may be too early, never too late.
  var nextDue: Instant? { queue.first?.due }

  func device(_ id: String) -> SimulatedDevice? { lanes[id]?.device }

  /// Everything that has not ended, in no order.
  var waiting: [WaitingPush] { lanes.values.flatMap { $0.waiting + ($0.inFlight.map { [$0] } ?? []) } }

  // MARK: Pushes

  /// Places a push that came. `overflow` has changed nothing.
  mutating func place(
    _ push: DeliveredPush, number: UInt64, device: String, isGone: Bool, now: Instant
  ) -> DeliveryLane.Placement {
    let placement = lanes[device, default: DeliveryLane()].place(
      push, number: number, isGone: isGone, rules: rules, now: now)
    switch placement {
    case .delivered, .reachedNobody:
      if push.pushType == .background { changed.insert(device) }
    case .expired, .dropped, .overflow: break
    case .handedOver:
      if push.channelID == nil, lanes[device]?.device.keepsInFlight == true { changed.insert(device) }
    case .waits:
      if push.channelID == nil { changed.insert(device) }  // a broadcast is kept by its channel
      arm(device)
    }
    return placement
  }

  mutating func acknowledge(_ number: UInt64, device: String, now: Instant) -> [Effect] {
    guard let index = lanes.index(forKey: device), lanes.values[index].acknowledge(number) else { return [] }
    if lanes.values[index].device.keepsInFlight { changed.insert(device) }
    return [Effect(device: device, what: .became(number, .delivered(now)))] + settle(device, now: now)
  }

  // MARK: Phones

  mutating func connect(
    _ device: String, keepsBudget: Bool, keepsInFlight: Bool, keepsActivities: Bool = false, hearsFates: Bool = false,
    now: Instant
  ) -> [Effect] {
    change(device) { lane in
      lane.device.isConnected = true
      lane.device.usesCourier = true
      lane.device.keepsBudget = keepsBudget
      lane.device.keepsInFlight = keepsInFlight
      lane.device.keepsActivities = keepsActivities
      lane.device.hearsFates = hearsFates
    }
    return settle(device, now: now)
  }

  mutating func disconnect(_ device: String, now: Instant) -> [Effect] {
    guard lanes[device] != nil else { return [] }
    change(device) { lane in
      lane.device.isConnected = false
      lane.takeBack()
    }
    return settle(device, now: now)
  }

  mutating func setOnline(_ device: String, _ isOnline: Bool, now: Instant) -> [Effect] {
    change(device) { $0.device.isOnline = isOnline }
    return settle(device, now: now)
  }

  mutating func setPower(_ device: String, _ power: PhonePower, now: Instant) -> [Effect] {
    change(device) { lane in
      if power == .awake, lane.device.power != .awake { lane.ripenAll() }
      lane.device.power = power
    }
    return settle(device, now: now)
  }

  mutating func setUnlimited(_ device: String, _ isUnlimited: Bool, now: Instant) -> [Effect] {
    change(device) { $0.device.isUnlimited = isUnlimited }
    return settle(device, now: now)
  }

  /// Makes the device known, if it is not.
  mutating func add(_ device: String) {
    guard lanes[device] == nil else { return }
    change(device) { _ in }
  }

  private mutating func change(_ device: String, _ body: (inout DeliveryLane) -> Void) {
    body(&lanes[device, default: DeliveryLane()])
    changed.insert(device)
  }

  /// From now on by other rules, also for what waits.
  mutating func setRules(_ rules: DeliveryRules, now: Instant) -> [Effect] {
    self.rules = rules
    return settleAll(now: now)
  }

  private mutating func settleAll(now: Instant) -> [Effect] {
    lanes.filter { !$0.value.waiting.isEmpty }.keys.sorted().flatMap { settle($0, now: now) }
  }

  // MARK: Tokens

  /// Whether pushes by this token will find their app: what waits is noticed when it gets there.
  mutating func mark(_ token: [UInt8], of device: String, isGone: Bool) {
    guard lanes[device]?.waiting.isEmpty == false else { return }
    change(device) { $0.mark(token, isGone: isGone) }
  }

  /// Ends what waits by a token.
  mutating func drop(_ token: [UInt8], of device: String, why: String, now: Instant) -> [Effect] {
    drop(of: device, why: why, now: now) { $0.token == token }
  }

  /// Ends what waits for a device and is meant.
  mutating func drop(
    of device: String, why: String, now: Instant, where isMeant: (DeliveredPush) -> Bool
  ) -> [Effect] {
    guard lanes[device]?.waiting.isEmpty == false else { return [] }
    var effects: [DeliveryLane.Effect] = []
    change(device) { $0.drop(why: why, now: now, effects: &effects, where: isMeant) }
    return effects.map { Effect(device: device, what: $0) }
  }

  /// Whether a push waits for the device or is in flight to it.
  func carries(_ push: DeliveredPush, to device: String) -> Bool { lanes[device]?.carries(push) ?? false }

  // MARK: Time

  /// Does what is due by now, device after device in the order of their due times.
  mutating func advance(now: Instant) -> [Effect] {
    var effects: [Effect] = []
    while let entry = queue.first, entry.due <= now {
      _ = queue.removeFirst()
      guard lanes[entry.device]?.armed == entry.due else { continue }
      lanes[entry.device]?.armed = nil
      effects += settle(entry.device, now: now)
    }
    while let entry = queue.first, lanes[entry.device]?.armed != entry.due { _ = queue.removeFirst() }
    return effects
  }

  private mutating func settle(_ device: String, now: Instant) -> [Effect] {
    guard let index = lanes.index(forKey: device), !lanes.values[index].waiting.isEmpty else { return [] }
    var effects: [DeliveryLane.Effect] = []
    lanes.values[index].settle(rules: rules, now: now, dice: &dice, effects: &effects)
    arm(device)
    guard !effects.isEmpty else { return [] }
    changed.insert(device)
    return effects.map { Effect(device: device, what: $0) }
  }

  /// Sees to it that the device is looked at in time.
  private mutating func arm(_ device: String) {
    guard let index = lanes.index(forKey: device), let due = lanes.values[index].nextDue else { return }
    if let armed = lanes.values[index].armed, armed <= due { return }
    lanes.values[index].armed = due
    queue.add(DueQueue.Entry(due: due, device: device))
    // Entries that are out of date go when they outnumber the devices.
    guard queue.count > 2 * lanes.count + 64 else { return }
    queue = DueQueue(lanes.compactMap { id, lane in lane.armed.map { DueQueue.Entry(due: $0, device: id) } })
  }

  // MARK: Restart

  /// Puts back what a store kept: nobody is connected after a restart. Answers what has become of it by now.
  mutating func restore(
    devices: [String: SimulatedDevice], waiting: [(device: String, push: WaitingPush)],
    budgets: [(device: String, app: InstalledApp, BackgroundBudget)], now: Instant
  ) -> [Effect] {
    for (id, device) in devices {
      var lane = lanes[id] ?? DeliveryLane()
      lane.device = device
      lane.device.isConnected = false
      lane.device.keepsBudget = false
      lane.device.keepsActivities = false
      lane.device.hearsFates = false
      lanes[id] = lane
    }
    for (device, push) in waiting { lanes[device, default: DeliveryLane()].restore(push) }
    for (device, app, budget) in budgets { lanes[device, default: DeliveryLane()].restore(budget, of: app) }
    return settleAll(now: now)
  }
}
