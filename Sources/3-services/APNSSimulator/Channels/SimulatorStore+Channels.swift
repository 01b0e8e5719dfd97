internal import Basics
internal import PushPayload

/// Channels, who listens, and Live Activities, in the simulator's file.
extension SimulatorStore {
  /// What of channels and activities has changed, as it was when it was taken.
  struct ChannelBatch: Sendable {
    var channels: [(key: ChannelRegistry.Key, channel: ChannelRow?)] = []
    var subscribers: [SubscriberRow] = []
    var capabilities: [String: Bool] = [:]
    var activities: [(id: String, entry: ActivityBoard.Entry?)] = []

    init() {}

    init(changes: ServiceState.Changes, state: ServiceState) {
      channels = changes.channels.channels.map { ($0, state.channels.channels[$0].map(ChannelRow.init)) }
      for (key, devices) in changes.channels.subscribers {
        guard let channel = state.channels.channels[key] else { continue }
        for device in devices {
          subscribers.append(
            SubscriberRow(
              key: key, device: device, since: channel.subscribers[device], isOwed: channel.owed.contains(device)))
        }
      }
      for bundle in changes.channels.capabilities { capabilities[bundle] = state.channels.isEnabled(bundle) }
      activities = changes.activities.map { ($0, state.activities.entries[$0]) }
    }
  }

  /// A channel without those who listen: what is written when something goes through it.
  struct ChannelRow: Sendable {
    let policy: ChannelStoragePolicy
    let createdAt: Instant
    let message: ChannelRegistry.Message?
    let published: UInt64
    let delivered: UInt64
    let subscriptions: UInt64

    init(_ channel: ChannelRegistry.Channel) {
      policy = channel.policy
      createdAt = channel.createdAt
      message = channel.message
      published = channel.published
      delivered = channel.delivered
      subscriptions = channel.subscriptions
    }
  }

  struct SubscriberRow: Sendable {
    let key: ChannelRegistry.Key
    let device: String
    /// nil for one that listens no more.
    let since: Instant?
    let isOwed: Bool
  }

  func write(_ batch: ChannelBatch, to database: SimulatorDatabase) throws(SimulatorFault) {
    for (key, channel) in batch.channels {
      if let channel { try write(key, channel, to: database) } else { try retire(key, in: database) }
    }
    for row in batch.subscribers {
      try database.run(
        "INSERT OR REPLACE INTO subscriber VALUES (?, ?, ?, ?, ?, ?)", .text(row.key.id), .text(row.key.app.bundleID),
        .text(row.key.app.environment.rawValue), .text(row.device), .optional(row.since?.milliseconds),
        .flag(row.isOwed))
    }
    for (bundle, isOn) in batch.capabilities {
      try database.run("INSERT OR REPLACE INTO capability VALUES (?, ?)", .text(bundle), .flag(isOn))
    }
    for (id, entry) in batch.activities {
      guard let entry else {
        try database.run("DELETE FROM activity WHERE id = ?", .text(id))
        continue
      }
      try database.run(
        "INSERT OR REPLACE INTO activity VALUES (?, ?, ?, ?, ?, ?)", .text(id), .text(entry.place.device),
        .text(entry.place.bundleID), .text(entry.place.environment.rawValue), entry.token.map { .blob($0) } ?? .null,
        .text(entry.activity.json.text))
    }
  }

  /// The row stays, so that its id is never given again.
  private func retire(_ key: ChannelRegistry.Key, in database: SimulatorDatabase) throws(SimulatorFault) {
    try database.run(
      "DELETE FROM subscriber WHERE channel = ? AND bundle = ? AND environment = ?", .text(key.id),
      .text(key.app.bundleID), .text(key.app.environment.rawValue))
    try database.run(
      "UPDATE channel SET gone = 1, payload = NULL WHERE id = ? AND bundle = ? AND environment = ?", .text(key.id),
      .text(key.app.bundleID), .text(key.app.environment.rawValue))
  }

  private func write(
    _ key: ChannelRegistry.Key, _ channel: ChannelRow, to database: SimulatorDatabase
  ) throws(SimulatorFault) {
    let message = channel.message
    try database.run(
      "INSERT OR REPLACE INTO channel VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?)", .text(key.id),
      .text(key.app.bundleID), .text(key.app.environment.rawValue), .integer(Int64(channel.policy.rawValue)),
      .integer(channel.createdAt.milliseconds), .integer(Int64(clamping: channel.published)),
      .integer(Int64(clamping: channel.delivered)), .integer(Int64(clamping: channel.subscriptions)),
      .optional(message?.push.id), .optional(message?.uniqueID),
      .optional(message.map { Int64($0.push.priority.rawValue) }), .optional(message?.push.expiration),
      message.map { .blob($0.push.payload) } ?? .null, .optional(message?.push.receivedAt.milliseconds),
      .optional(message?.until.milliseconds))
  }

  /// Rows that make no sense are left out.
  func restoreChannels(
    into state: inout ServiceState, from database: SimulatorDatabase
  ) throws(SimulatorFault) {
    var channels: [ChannelRegistry.Key: ChannelRegistry.Channel] = [:]
    var retired: Set<String> = []
    try database.each(
      """
      SELECT id, bundle, environment, policy, created, published, delivered, subscriptions, gone, request, uniqueid,
        priority, expiration, payload, received, until FROM channel
      """
    ) { row in
      let id = row.text(0) ?? ""
      guard row.integer(8) == 0 else {
        retired.insert(id)
        return
      }
      guard let environment = SimulatedEnvironment(rawValue: row.text(2) ?? ""),
        let policy = ChannelStoragePolicy(rawValue: Int(clamping: row.integer(3) ?? -1))
      else { return }
      let key = ChannelRegistry.Key(
        app: ChannelRegistry.App(bundleID: row.text(1) ?? "", environment: environment), id: id)
      var channel = ChannelRegistry.Channel(policy: policy, createdAt: Instant(milliseconds: row.integer(4) ?? 0))
      channel.published = UInt64(clamping: row.integer(5) ?? 0)
      channel.delivered = UInt64(clamping: row.integer(6) ?? 0)
      channel.subscriptions = UInt64(clamping: row.integer(7) ?? 0)
      channel.message = Self.message(row, key)
      channels[key] = channel
    }
    try database.each("SELECT channel, bundle, environment, device, since, owed FROM subscriber") { row in
      guard let environment = SimulatedEnvironment(rawValue: row.text(2) ?? "") else { return }
      let key = ChannelRegistry.Key(
        app: ChannelRegistry.App(bundleID: row.text(1) ?? "", environment: environment), id: row.text(0) ?? "")
      let device = row.text(3) ?? ""
      channels[key]?.everSubscribed.insert(device)
      guard let since = row.integer(4) else { return }
      channels[key]?.subscribers[device] = Instant(milliseconds: since)
      if row.integer(5) == 1 { channels[key]?.owed.insert(device) }
    }
    var capability: [String: Bool] = [:]
    try database.each("SELECT bundle, broadcast FROM capability") { capability[$0.text(0) ?? ""] = $0.integer(1) == 1 }
    var activities: [ActivityBoard.Entry] = []
    try database.each("SELECT id, device, bundle, environment, token, state FROM activity") { row in
      guard let environment = SimulatedEnvironment(rawValue: row.text(3) ?? ""),
        let json = try? JSONReader.read(Array((row.text(5) ?? "").utf8)).value, let activity = LiveActivity(json: json)
      else { return }
      let place = ActivityBoard.Place(device: row.text(1) ?? "", bundleID: row.text(2) ?? "", environment: environment)
      let token = row.blob(4)
      activities.append(
        ActivityBoard.Entry(
          id: row.text(0) ?? "", place: place, activity: activity, token: token.isEmpty ? nil : token))
    }
    state.channels.restore(channels: channels, retired: retired, capability: capability)
    state.activities.restore(activities)
  }

  private static func message(
    _ row: SimulatorDatabase.Row, _ key: ChannelRegistry.Key
  ) -> ChannelRegistry.Message? {
    guard let id = row.text(9), let received = row.integer(14),
      let priority = PushPriority(rawValue: UInt8(clamping: row.integer(11) ?? 0))
    else { return nil }
    let push = DeliveredPush(
      id: id, on: key, priority: priority, expiration: row.integer(12), payload: row.blob(13),
      receivedAt: Instant(milliseconds: received))
    return ChannelRegistry.Message(push: push, uniqueID: row.text(10) ?? "")
  }
}
