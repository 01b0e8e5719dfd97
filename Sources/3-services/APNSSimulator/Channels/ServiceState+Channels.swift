internal import Basics
internal import PushPayload

extension ServiceState {
  // MARK: Sending

  /// Takes a broadcast whose headers are in order and fans it out by the rules of any push of its priority; phones that
  /// cannot be reached get it later if the channel keeps it. With a `mark` that says so, nobody ever does.
  mutating func broadcast(
    _ checked: CheckedBroadcast, _ request: ChannelRequest, requestID: Bytes, uniqueID: String, mark: FaultMark? = nil,
    now: Instant
  ) throws(Refusal) {
    let key = checked.key
    try channels.demand(key.app.bundleID)
    let policy = try channels.channel(key).policy
    try ChannelChecks.content(of: request, checked, policy: policy)
    let push = DeliveredPush(
      id: String(decoding: requestID, as: UTF8.self), on: key, priority: checked.priority,
      expiration: checked.expiration, payload: request.body, receivedAt: now)
    try channels.count(key, now: now)
    if let mark, mark.isLost { return }
    channels.keep(push, uniqueID: uniqueID, on: key)
    let message = ChannelRegistry.Message(push: push, uniqueID: uniqueID)
    let subscribers = channels.subscribers(of: key)
    let findings = subscribers.isEmpty ? [] : push.findings
    let missing = subscribers.filter { !send(message, findings: findings, to: $0, mark: mark, now: now) }
    channels.spread(key, delivered: subscribers.count - missing.count, missing: missing)
  }

  /// Puts one broadcast on its way to one phone, if it can be reached. True when the phone has it. `findings` are what
  /// lint says of it, when that is known already.
  private mutating func send(
    _ message: ChannelRegistry.Message, findings: [Finding]? = nil, to device: String, mark: FaultMark? = nil,
    now: Instant
  ) -> Bool {
    guard (self.device(device) ?? SimulatedDevice()).isReachable else { return false }
    let push = message.push
    let number = notifications.next
    let fate: LoggedNotification.Fate
    switch schedule.place(push, number: number, device: device, isGone: false, now: now) {
    case .delivered: fate = .delivered(now)
    case .handedOver:
      fate = .sent(now)
      due.handovers.append(Handover(device: device, number: number, push: push))
    case .waits(let entry, let replaced):
      fate = entry.fate
      if let replaced { become(.replaced(now), replaced, device: device, now: now) }
    case .overflow:
      due.overflows.append(device)
      perform(schedule.disconnect(device, now: now), now: now)
      return false
    case .expired, .reachedNobody: fate = .expired(now)
    case .dropped(let why): fate = .dropped(now, why)
    }
    notifications.append { number in
      LoggedNotification(
        number: number, device: device, push: push, uniqueID: message.uniqueID, remarks: mark.map { [$0.words] } ?? [],
        findings: findings ?? push.findings, fate: fate)
    }
    noteFate(of: number, fate, push: push, device: device, now: now)
    if case .delivered = fate { return true }
    return false
  }

  /// The stored broadcasts that a phone is to get now that it is there, or listens.
  mutating func findDueBroadcasts(device: String, now: Instant) {
    for (_, message) in channels.due(for: device, now: now) where !schedule.carries(message.push, to: device) {
      if send(message, to: device, now: now) { channels.received(message.push, by: device) }
    }
  }

  /// A broadcast on its way met a phone that has gone: it comes again only if its channel still keeps it.
  mutating func missed(_ number: UInt64, _ push: DeliveredPush, device: String, now: Instant) {
    let isKept = channels.due(for: device, now: now).contains { $0.message.push == push }
    let fate = LoggedNotification.Fate.dropped(
      now, "the phone went away; the channel keeps \(isKept ? "it" : "nothing")")
    become(fate, number, device: device, now: now)
  }

  /// What is due for couriers by other ways than the outcome of a call; emptied by this.
  mutating func takeDue() -> Outcome {
    if due.handovers.isEmpty, due.overflows.isEmpty { return due }
    defer { due = Outcome() }
    return due
  }

  // MARK: Subscriptions

  mutating func subscribe(
    device: String, to key: ChannelRegistry.Key, now: Instant
  ) throws(Refusal) {
    try channels.subscribe(device, to: key, now: now)
    schedule.add(device)
    findDueBroadcasts(device: device, now: now)
  }

  /// False for a phone that did not listen. What of the channel waits for it will not come.
  @discardableResult
  mutating func unsubscribe(device: String, from key: ChannelRegistry.Key, now: Instant) -> Bool {
    guard channels.unsubscribe(device, from: key) else { return false }
    dropBroadcasts(device: device, why: "the phone listens no more", now: now) { ChannelRegistry.Key(of: $0) == key }
    return true
  }

  /// The app is gone from the phone.
  mutating func unsubscribeAll(device: String, bundleID: String, now: Instant) {
    channels.unsubscribeAll(device, bundleID: bundleID)
    dropBroadcasts(device: device, why: DropWords.removed, now: now) { push in
      push.channelID != nil && push.bundleID == bundleID
    }
  }

  private mutating func dropBroadcasts(
    device: String, why: String, now: Instant, _ isMeant: (DeliveredPush) -> Bool
  ) {
    perform(schedule.drop(of: device, why: why, now: now, where: isMeant), now: now)
  }

  private mutating func perform(_ effects: [DeliverySchedule.Effect], now: Instant) {
    var outcome = Outcome()
    apply(effects, to: &outcome, now: now)
    due += outcome
  }

  mutating func createChannel(
    _ app: ChannelRegistry.App, policy: ChannelStoragePolicy, now: Instant
  ) throws(Refusal) -> String {
    try channels.demand(app.bundleID)
    return try channels.create(app, policy: policy, now: now, dice: &dice)
  }
}
