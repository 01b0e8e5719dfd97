internal import Basics
internal import PushPayload

extension ServiceState {
  // MARK: Sending

  /// Takes a broadcast whose headers are in order and fans it out: to phones that can be reached now; the others get it
  /// later if the channel keeps it.
  mutating func broadcast(
    _ checked: CheckedBroadcast, _ request: ChannelRequest, requestID: Bytes, uniqueID: String, now: Instant
  ) throws(Refusal) {
    try channels.demand(checked.key.app.bundleID)
    let channel = try channels.channel(checked.key)
    try ChannelChecks.content(of: request, checked, policy: channel.policy)
    let push = DeliveredPush(
      id: String(decoding: requestID, as: UTF8.self), token: [],
      topic: PushType.liveactivity.topic(bundleID: checked.key.app.bundleID), bundleID: checked.key.app.bundleID,
      environment: checked.key.app.environment, pushType: .liveactivity, priority: checked.priority, collapseID: nil,
      expiration: checked.expiration, payload: request.body, receivedAt: now, channelID: checked.key.id)
    let (sequence, subscribers) = try channels.publish(push, uniqueID: uniqueID, to: checked.key, now: now)
    let message = ChannelRegistry.Message(push: push, uniqueID: uniqueID, sequence: sequence, until: now)
    for device in subscribers { deliver(message, on: checked.key, to: device, now: now) }
  }

  /// Hands one broadcast to one phone if it can be reached.
  private mutating func deliver(
    _ message: ChannelRegistry.Message, on key: ChannelRegistry.Key, to device: String, now: Instant
  ) {
    let entry = self.device(device) ?? SimulatedDevice()
    guard entry.isReachable else { return }
    let number = notifications.append { number in
      LoggedNotification(
        number: number, device: device, push: message.push, uniqueID: message.uniqueID, remarks: [],
        fate: entry.isConnected ? .sent(now) : .delivered(now))
    }
    guard entry.isConnected else {
      channels.received(message.sequence, by: device, on: key)
      return applyToActivities(message.push, number: number, device: device, now: now)
    }
    broadcastsInFlight[device, default: [:]][number] = BroadcastInFlight(key: key, message: message)
    broadcastsDue.append(Handover(device: device, number: number, push: message.push))
  }

  /// The stored broadcasts that a phone is to get now that it is there, or listens.
  mutating func findDueBroadcasts(device: String, now: Instant) {
    guard self.device(device)?.isReachable ?? true else { return }
    let flying = Set((broadcastsInFlight[device] ?? [:]).values.map(\.key))
    for (key, message) in channels.due(for: device, now: now) where !flying.contains(key) {
      deliver(message, on: key, to: device, now: now)
    }
  }

  /// Whether `number` was a broadcast on its way; then the phone has it now.
  mutating func acknowledgeBroadcast(device: String, number: UInt64, now: Instant) -> Bool {
    guard let flight = broadcastsInFlight[device]?.removeValue(forKey: number) else { return false }
    notifications.update(number) { $0.become(.delivered(now)) }
    channels.received(flight.message.sequence, by: device, on: flight.key)
    applyToActivities(flight.message.push, number: number, device: device, now: now)
    findDueBroadcasts(device: device, now: now)  // a newer one may have come meanwhile
    return true
  }

  /// The courier left: a broadcast that it carried comes again only if its channel still keeps it.
  mutating func dropBroadcasts(device: String, now: Instant) {
    for (number, flight) in broadcastsInFlight.removeValue(forKey: device) ?? [:] {
      let isKept = channels.channels[flight.key]?.message?.sequence == flight.message.sequence
      notifications.update(number) {
        $0.become(
          .dropped(
            now, isKept ? "the phone went away; the channel keeps it" : "the phone went away; the channel keeps nothing"
          ))
      }
    }
  }

  mutating func takeBroadcastsDue() -> [Handover] {
    if broadcastsDue.isEmpty { return [] }
    defer { broadcastsDue = [] }
    return broadcastsDue
  }

  // MARK: Subscriptions

  mutating func subscribe(
    device: String, to key: ChannelRegistry.Key, now: Instant
  ) throws(Refusal) {
    try channels.subscribe(device, to: key, now: now)
    schedule.add(device)
    findDueBroadcasts(device: device, now: now)
  }

  mutating func createChannel(
    _ app: ChannelRegistry.App, policy: ChannelStoragePolicy, now: Instant
  ) throws(Refusal) -> String {
    try channels.demand(app.bundleID)
    return try channels.create(app, policy: policy, now: now, dice: &dice)
  }
}

/// A broadcast that a courier carries.
struct BroadcastInFlight: Hashable, Sendable {
  var key: ChannelRegistry.Key
  var message: ChannelRegistry.Message
}
