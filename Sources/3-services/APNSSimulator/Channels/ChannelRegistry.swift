internal import Basics
internal import PushPayload

/// Every broadcast channel: who listens, what it keeps, what went through it. A value; its ids never come back.
/// (Apple, "Setting up broadcast push notifications" and "Sending channel management requests to APNs"; spec apns.md §13)
struct ChannelRegistry: Sendable {
  struct Rules: Sendable {
    /// Of one app in one environment (Apple: 10,000).
    var most = 10_000
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

    init(app: App, id: String) {
      self.app = app
      self.id = id
    }

    /// The channel that a push was broadcast on; nil for a push to one device.
    init?(of push: DeliveredPush) {
      guard let id = push.channelID else { return nil }
      self.init(app: App(bundleID: push.bundleID, environment: push.environment), id: id)
    }
  }

  struct Message: Hashable, Sendable {
    var push: DeliveredPush
    var uniqueID: String
    /// Its expiration, 8 hours after it came at the latest.
    var until: Instant { push.storedUntil }
  }

  struct Channel: Sendable {
    var policy: ChannelStoragePolicy
    var createdAt: Instant
    var message: Message?
    /// Since when each phone listens.
    var subscribers: [String: Instant] = [:]
    /// The phones that do not have `message` yet: what a store keeps of each, so that a broadcast to phones that are there
    /// changes no row of theirs.
    var owed: Set<String> = []
    var published: UInt64 = 0
    /// Over all phones.
    var delivered: UInt64 = 0
    /// How often somebody subscribed, and how many different phones ever did.
    var subscriptions: UInt64 = 0
    var everSubscribed: Set<String> = []
    var recent: [Instant] = []
  }

  let rules: Rules
  /// Another APNs makes the channels: whatever a phone listens to is one.
  var believesEveryChannel = false
  private(set) var channels: [Key: Channel] = [:]
  /// Of channels that are gone: an id is given once.
  private(set) var retired: Set<String> = []
  /// Apps whose capability somebody switched.
  private(set) var capability: [String: Bool] = [:]
  private var counts: [App: Int] = [:]
  private var used: Set<String> = []
  /// What a store has to write.
  private(set) var changes = Changes()

  init(rules: Rules) { self.rules = rules }

  // MARK: Capability

  func isEnabled(_ bundleID: String) -> Bool { capability[bundleID] ?? rules.isEnabled }

  /// Switching off deletes every channel of the app, in both environments. Answers how many.
  mutating func setEnabled(_ bundleID: String, _ isEnabled: Bool) -> Int {
    capability[bundleID] = isEnabled
    changes.capabilities.insert(bundleID)
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
    changes.channels.insert(Key(app: app, id: id))
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
    changes.channels.insert(key)
    changes.subscribers[key] = nil
  }

  mutating func adopt(_ key: Key, _ channel: Channel) {
    if channels.updateValue(channel, forKey: key) == nil { counts[key.app, default: 0] += 1 }
    used.insert(key.id)
  }

  // MARK: Messages

  /// Counts a broadcast. Throws when there were too many.
  mutating func count(_ key: Key, now: Instant) throws(Refusal) {
    _ = try channel(key)
    if let most = rules.broadcastsPerMinute {
      channels[key]?.recent.removeAll { now - $0 >= .minutes(1) }
      guard channels[key]?.recent.count ?? 0 < most else {
        throw Refusal(.tooManyRequests, "\(most) broadcasts to one channel within a minute")
      }
      channels[key]?.recent.append(now)
    }
    channels[key]?.published += 1
    changes.channels.insert(key)
  }

  /// Keeps a broadcast as the channel's policy says, in the place of the one before. The caller fans it out.
  mutating func keep(_ push: DeliveredPush, uniqueID: String, on key: Key) {
    switch channels[key]?.policy {
    case nil: break
    case .nothing: channels[key]?.message = nil
    case .newest: channels[key]?.message = push.isOneAttempt ? nil : Message(push: push, uniqueID: uniqueID)
    }
  }

  /// Who listens, in an order that does not depend on chance.
  func subscribers(of key: Key) -> [String] { channels[key]?.subscribers.keys.sorted() ?? [] }

  /// A broadcast has been fanned out: so many phones have it, and those do not.
  mutating func spread(_ key: Key, delivered: Int, missing: [String]) {
    channels[key]?.delivered += UInt64(delivered)
    let former = channels[key]?.owed ?? []
    let owed = channels[key]?.message == nil ? [] : Set(missing)
    guard owed != former else { return }
    changes.subscribers[key, default: []].formUnion(owed.symmetricDifference(former))
    channels[key]?.owed = owed
  }

  /// A phone has a broadcast.
  mutating func received(_ push: DeliveredPush, by device: String) {
    guard let key = Key(of: push), let message = channels[key].map(\.message) else { return }
    channels[key]?.delivered += 1
    changes.channels.insert(key)
    guard message?.push == push, channels[key]?.owed.remove(device) != nil else { return }
    changes.subscribers[key, default: []].insert(device)
  }

  /// The stored messages that a phone has not had yet.
  func due(for device: String, now: Instant) -> [(key: Key, message: Message)] {
    channels.compactMap { key, channel in
      guard let message = channel.message, message.until > now, channel.owed.contains(device) else { return nil }
      return (key, message)
    }.sorted { ($0.message.push.receivedAt, $0.key.id) < ($1.message.push.receivedAt, $1.key.id) }
  }

  /// Every phone that a stored message waits for.
  var owedDevices: Set<String> { channels.values.reduce(into: []) { $0.formUnion($1.owed) } }

  // MARK: Subscriptions

  /// Idempotent; a newcomer gets what is stored.
  mutating func subscribe(_ device: String, to key: Key, now: Instant) throws(Refusal) {
    if believesEveryChannel, channels[key] == nil { adopt(key, Channel(policy: .nothing, createdAt: now)) }
    _ = try channel(key)
    guard channels[key]?.subscribers[device] == nil else { return }
    channels[key]?.subscribers[device] = now
    channels[key]?.subscriptions += 1
    channels[key]?.everSubscribed.insert(device)
    if channels[key]?.message != nil { channels[key]?.owed.insert(device) }
    changes.channels.insert(key)
    changes.subscribers[key, default: []].insert(device)
  }

  /// False for a phone that did not listen.
  mutating func unsubscribe(_ device: String, from key: Key) -> Bool {
    guard channels[key]?.subscribers.removeValue(forKey: device) != nil else { return false }
    channels[key]?.owed.remove(device)
    changes.subscribers[key, default: []].insert(device)
    return true
  }

  /// The app is gone from the phone.
  mutating func unsubscribeAll(_ device: String, bundleID: String) {
    for key in channels.keys where key.app.bundleID == bundleID { _ = unsubscribe(device, from: key) }
  }

  // MARK: What is kept beyond a restart

  struct Changes: Sendable {
    var channels: Set<Key> = []
    /// Phones whose row is another, by channel.
    var subscribers: [Key: Set<String>] = [:]
    /// Apps whose capability to broadcast was switched.
    var capabilities: Set<String> = []

    var isEmpty: Bool { channels.isEmpty && subscribers.isEmpty && capabilities.isEmpty }
  }

  mutating func takeChanges() -> Changes {
    defer { changes = Changes() }
    return changes
  }

  /// They could not be written: they are still to do.
  mutating func giveBack(_ changes: Changes) {
    self.changes.channels.formUnion(changes.channels)
    self.changes.subscribers.merge(changes.subscribers) { $0.union($1) }
    self.changes.capabilities.formUnion(changes.capabilities)
  }

  mutating func restore(channels: [Key: Channel], retired: Set<String>, capability: [String: Bool]) {
    for (key, channel) in channels { adopt(key, channel) }
    self.retired = retired
    used.formUnion(retired)
    self.capability = capability
  }
}

extension DeliveredPush {
  /// One that was broadcast on a channel. `id` is the `apns-request-id`.
  init(
    id: String, on key: ChannelRegistry.Key, priority: PushPriority, expiration: Int64?, payload: [UInt8],
    receivedAt: Instant
  ) {
    self.init(
      id: id, token: [], topic: PushType.liveactivity.topic(bundleID: key.app.bundleID), bundleID: key.app.bundleID,
      environment: key.app.environment, pushType: .liveactivity, priority: priority, collapseID: nil,
      expiration: expiration, payload: payload, receivedAt: receivedAt, channelID: key.id)
  }
}
