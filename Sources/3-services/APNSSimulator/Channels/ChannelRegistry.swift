internal import Basics
internal import PushPayload

/// Every broadcast channel: who listens, what it keeps, what went through it. A value; its ids never come back.
/// (Apple, "Setting up broadcast push notifications" and "Sending channel management requests to APNs"; spec apns.md §13)
struct ChannelRegistry: Sendable {
  struct Rules: Sendable {
    /// Of one app in one environment (Apple: 10,000).
    var most = 10_000
    /// A stored message is kept no longer (Apple: 8 hours).
    var longestStorage = Instant.Span.hours(8)
    /// Whether an app may broadcast that nobody has switched on or off.
    var isEnabled = true
    /// The most broadcasts to one channel a minute; nil for no limit, since Apple publishes none.
    var broadcastsPerMinute: Int?
  }

  struct App: Hashable, Sendable {
    var bundleID: String
    var environment: SimulatedEnvironment
  }

  struct Key: Hashable, Sendable {
    var app: App
    var id: String
  }

  struct Message: Hashable, Sendable {
    var push: DeliveredPush
    var uniqueID: String
    /// Counts the broadcasts of the channel from 1.
    var sequence: UInt64
    var until: Instant
  }

  struct Subscriber: Hashable, Sendable {
    var since: Instant
    /// The newest broadcast that the phone has acknowledged.
    var received: UInt64
  }

  struct Channel: Sendable {
    var policy: ChannelStoragePolicy
    var createdAt: Instant
    var message: Message?
    var subscribers: [String: Subscriber] = [:]
    var published: UInt64 = 0
    /// Over all phones.
    var delivered: UInt64 = 0
    /// How often somebody subscribed, and how many different phones ever did.
    var subscriptions: UInt64 = 0
    var everSubscribed: Set<String> = []
    var recent: [Instant] = []
  }

  let rules: Rules
  private(set) var channels: [Key: Channel] = [:]
  /// Of channels that are gone: an id is given once.
  private(set) var retired: Set<String> = []
  /// Apps whose capability somebody switched.
  private(set) var capability: [String: Bool] = [:]
  private var counts: [App: Int] = [:]
  private var used: Set<String> = []
  /// What a store has to write.
  private(set) var changed: Set<Key> = []
  private(set) var changedCapabilities: Set<String> = []

  init(rules: Rules) { self.rules = rules }

  // MARK: Capability

  func isEnabled(_ bundleID: String) -> Bool { capability[bundleID] ?? rules.isEnabled }

  /// Switching off deletes every channel of the app, in both environments. Answers how many.
  mutating func setEnabled(_ bundleID: String, _ isEnabled: Bool) -> Int {
    capability[bundleID] = isEnabled
    changedCapabilities.insert(bundleID)
    guard !isEnabled else { return 0 }
    let gone = channels.keys.filter { $0.app.bundleID == bundleID }
    for key in gone { remove(key) }
    return gone.count
  }

  func demand(_ bundleID: String) throws(Refusal) {
    guard isEnabled(bundleID) else {
      throw Refusal(
        .featureNotEnabled, "broadcasts are switched off for \(bundleID); PUT /apps/\(bundleID)/broadcast true")
    }
  }

  // MARK: Management

  mutating func create(
    _ app: App, policy: ChannelStoragePolicy, now: Instant, dice: inout some RandomNumberGenerator
  ) throws(Refusal) -> String {
    guard counts[app, default: 0] < rules.most else {
      throw Refusal(
        .cannotCreateChannelConfig,
        "\(app.bundleID) has \(rules.most) channels in \(app.environment.rawValue), as many as it may")
    }
    var id: String
    repeat { id = (0..<16).map { _ in UInt8.random(in: 0...255, using: &dice) }.base64 } while used.contains(id)
    adopt(Key(app: app, id: id), Channel(policy: policy, createdAt: now))
    changed.insert(Key(app: app, id: id))
    return id
  }

  func channel(_ key: Key) throws(Refusal) -> Channel {
    guard let channel = channels[key] else {
      let elsewhere = channels.keys.first { $0.id == key.id }
      let why =
        retired.contains(key.id)
        ? "the channel was deleted"
        : elsewhere.map { "the channel is of \($0.app.bundleID) in \($0.app.environment.rawValue)" }
          ?? "no channel has this id"
      throw Refusal(.channelNotRegistered, "\(why): \(key.id.shortened)")
    }
    return channel
  }

  mutating func delete(_ key: Key) throws(Refusal) {
    _ = try channel(key)
    remove(key)
  }

  func list(_ app: App) -> [String] {
    channels.filter { $0.key.app == app }.sorted { ($0.value.createdAt, $0.key.id) < ($1.value.createdAt, $1.key.id) }
      .map(\.key.id)
  }

  private mutating func remove(_ key: Key) {
    guard channels.removeValue(forKey: key) != nil else { return }
    counts[key.app, default: 1] -= 1
    retired.insert(key.id)
    changed.insert(key)
  }

  private mutating func adopt(_ key: Key, _ channel: Channel) {
    if channels.updateValue(channel, forKey: key) == nil { counts[key.app, default: 0] += 1 }
    used.insert(key.id)
  }

  // MARK: Messages

  /// Counts a broadcast and keeps it as the channel's policy says. Answers its number; the caller fans it out.
  mutating func publish(
    _ push: DeliveredPush, uniqueID: String, to key: Key, now: Instant
  ) throws(Refusal) -> (sequence: UInt64, subscribers: [String]) {
    var channel = try channel(key)
    if let most = rules.broadcastsPerMinute {
      channel.recent.removeAll { now - $0 >= .minutes(1) }
      guard channel.recent.count < most else {
        throw Refusal(.tooManyRequests, "\(most) broadcasts to one channel within a minute")
      }
      channel.recent.append(now)
    }
    channel.published += 1
    switch channel.policy {
    case .nothing: channel.message = nil
    case .newest:
      let until = min(Instant(seconds: push.expiration ?? 0), now + rules.longestStorage)
      channel.message =
        until > now
        ? Message(push: push, uniqueID: uniqueID, sequence: channel.published, until: until) : nil
    }
    channels[key] = channel
    changed.insert(key)
    return (channel.published, channel.subscribers.keys.sorted())
  }

  /// A phone has a broadcast.
  mutating func received(_ sequence: UInt64, by device: String, on key: Key) {
    guard channels[key] != nil else { return }
    channels[key]?.delivered += 1
    if let before = channels[key]?.subscribers[device]?.received {
      channels[key]?.subscribers[device]?.received = max(before, sequence)
    }
    changed.insert(key)
  }

  /// The stored messages that a phone has not had yet.
  func due(for device: String, now: Instant) -> [(key: Key, message: Message)] {
    channels.compactMap { key, channel in
      guard let subscriber = channel.subscribers[device], let message = channel.message, message.until > now,
        message.sequence > subscriber.received
      else { return nil }
      return (key, message)
    }.sorted { $0.message.push.receivedAt < $1.message.push.receivedAt }
  }

  // MARK: Subscriptions

  /// Idempotent; a newcomer gets what is stored.
  mutating func subscribe(_ device: String, to key: Key, now: Instant) throws(Refusal) {
    let channel = try channel(key)
    guard channel.subscribers[device] == nil else { return }
    channels[key]?.subscribers[device] = Subscriber(since: now, received: 0)
    channels[key]?.subscriptions += 1
    channels[key]?.everSubscribed.insert(device)
    changed.insert(key)
  }

  /// False for a phone that did not listen.
  mutating func unsubscribe(_ device: String, from key: Key) -> Bool {
    guard channels[key]?.subscribers.removeValue(forKey: device) != nil else { return false }
    changed.insert(key)
    return true
  }

  /// The app is gone from the phone.
  mutating func unsubscribeAll(_ device: String, bundleID: String) {
    for (key, channel) in channels where key.app.bundleID == bundleID && channel.subscribers[device] != nil {
      _ = unsubscribe(device, from: key)
    }
  }

  // MARK: What is kept beyond a restart

  var hasChanges: Bool { !changed.isEmpty || !changedCapabilities.isEmpty }

  mutating func takeChanges() -> (channels: Set<Key>, capabilities: Set<String>) {
    defer {
      changed = []
      changedCapabilities = []
    }
    return (changed, changedCapabilities)
  }

  /// They could not be written: they are still to do.
  mutating func giveBack(_ channels: Set<Key>, _ capabilities: Set<String>) {
    changed.formUnion(channels)
    changedCapabilities.formUnion(capabilities)
  }

  mutating func restore(channels: [Key: Channel], retired: Set<String>, capability: [String: Bool]) {
    for (key, channel) in channels { adopt(key, channel) }
    self.retired = retired
    used.formUnion(retired)
    self.capability = capability
  }
}
