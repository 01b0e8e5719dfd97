internal import Basics
internal import PushPayload
internal import Transport

/// Tokens, devices and what waits, in one SQLite file beyond restarts. Everything blocks: use it on a thread of its own.
final class SimulatorStore: @unchecked Sendable {  // by whoever starts the simulator, then by the keeper's thread
  /// What has changed, as it was when it was taken.
  struct Batch: Sendable {
    /// To be given back when the batch cannot be written.
    let changes: ServiceState.Changes
    var tokens: [TokenRecord] = []
    /// Each with all that waits for it.
    var lanes: [String: DeliveryLane] = [:]
    var channels = ChannelBatch()
    /// All of it, if anything of it has changed.
    let providers: ProviderDirectory.Kept?

    init(changes: ServiceState.Changes, state: ServiceState, providers: ProviderDirectory.Kept? = nil) {
      self.changes = changes
      self.providers = providers
      tokens = changes.tokens.compactMap { state.registry.records[$0] }
      for id in changes.devices { lanes[id] = state.schedule.lanes[id] }
      channels = ChannelBatch(changes: changes, state: state)
    }
  }

  let database: SimulatorDatabase

  init(path: String) throws(SimulatorFault) {
    database = try SimulatorDatabase(path: path)
    try SimulatorSchema.prepare(database)
  }

  // MARK: Facts

  func fact(_ name: String) throws(SimulatorFault) -> String? {
    var value: String?
    try database.each("SELECT value FROM fact WHERE name = ?", .text(name)) { value = $0.text(0) }
    return value
  }

  func set(fact name: String, _ value: String) throws(SimulatorFault) {
    try database.run("INSERT OR REPLACE INTO fact VALUES (?, ?)", .text(name), .text(value))
  }

  // MARK: State

  /// One transaction: all of it or nothing. Tells also when there is nothing to write that the file is gone.
  func write(_ batch: Batch) throws(SimulatorFault) {
    guard !database.isDisplaced else {
      throw SimulatorFault(
        what: "\(database.path) was removed or replaced while it was in use",
        remedy: "Start the simulator again: what is written from now on would be lost.")
    }
    guard !batch.changes.isEmpty || batch.providers != nil else { return }
    try database.transaction { () throws(SimulatorFault) in
      for record in batch.tokens { try write(record) }
      for (id, lane) in batch.lanes { try write(lane, of: id) }
      try write(batch.channels, to: database)
      if let providers = batch.providers { try write(providers) }
    }
  }

  private func write(_ lane: DeliveryLane, of id: String) throws(SimulatorFault) {
    let device = lane.device
    try database.run(
      "INSERT OR REPLACE INTO device (id, online, courier, power, unlimited) VALUES (?, ?, ?, ?, ?)",
      .text(id), .flag(device.isOnline), .flag(device.usesCourier), .text(device.power.rawValue),
      .flag(device.isUnlimited))
    try database.run("DELETE FROM waiting WHERE device = ?", .text(id))
    for entry in lane.waiting { try write(entry, for: id) }
    if device.keepsInFlight, let entry = lane.inFlight { try write(entry, for: id) }
    try database.run("DELETE FROM background WHERE device = ?", .text(id))
    for (app, budget) in lane.budgets {
      for at in budget.spent {
        try database.run(
          "INSERT INTO background VALUES (?, ?, ?, ?)", .text(id), .text(app.bundleID),
          .text(app.environment.rawValue), .integer(at.milliseconds))
      }
    }
  }

  private func write(_ record: TokenRecord) throws(SimulatorFault) {
    try database.run(
      "INSERT OR REPLACE INTO token VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
      .blob(record.bytes), .text(record.owner.device), .text(record.owner.bundleID),
      .text(record.owner.environment.rawValue), .text(record.owner.kind.rawValue),
      record.end.map { .text($0.reason.rawValue) } ?? .null,
      record.end.map { .integer($0.since.milliseconds) } ?? .null,
      record.end?.toldFrom.map { .integer($0.milliseconds) } ?? .null, .text(record.owner.detail))
  }

  private func write(_ entry: WaitingPush, for device: String) throws(SimulatorFault) {
    let push = entry.push
    // Nobody promised to store the one; the other is kept by its channel.
    guard !push.isOneAttempt, push.channelID == nil else { return }
    let (place, cause) = Self.words(of: entry.place)
    try database.run(
      "INSERT OR REPLACE INTO waiting VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      .text(device), .integer(Int64(clamping: entry.number)), .text(push.bundleID), .text(push.environment.rawValue),
      .text(push.id), .blob(push.token), .text(push.topic), .text(push.pushType.rawValue),
      .integer(Int64(push.priority.rawValue)), .optional(push.collapseID), .optional(push.expiration),
      .blob(push.payload), .integer(push.receivedAt.milliseconds), .text(place), .optional(cause?.rawValue),
      .integer(entry.since.milliseconds), .optional(entry.due?.milliseconds), .flag(entry.isRipe),
      .flag(entry.isPaid))
  }

  private static func words(of place: WaitingPush.Place) -> (String, StoredCause?) {
    switch place {
    case .stored(let cause): ("stored", cause)
    case .grouped: ("grouped", nil)
    case .throttled: ("throttled", nil)
    case .queued: ("queued", nil)
    case .inFlight: ("in flight", nil)
    }
  }

  /// What was in flight may not have arrived: it waits for its courier.
  private static func place(_ word: String?, _ cause: String?) -> WaitingPush.Place {
    switch word {
    case "grouped": .grouped
    case "throttled": .throttled
    case "queued": .queued
    case .some, nil: .stored(cause.flatMap(StoredCause.init(rawValue:)) ?? .noCourier)
    }
  }

  /// Puts what was kept into a fresh state. Rows that make no sense are left out.
  func restore(into state: inout ServiceState, now: Instant) throws(SimulatorFault) {
    var kept = ServiceState.Kept()
    try database.each("SELECT bytes, device, bundle, environment, kind, ended, since, told, detail FROM token") { row in
      guard let environment = SimulatedEnvironment(rawValue: row.text(3) ?? ""),
        let kind = TokenKind(rawValue: row.text(4) ?? "")
      else { return }
      let owner = TokenRecord.Owner(
        device: row.text(1) ?? "", bundleID: row.text(2) ?? "", environment: environment, kind: kind,
        detail: row.text(8) ?? "")
      let end = row.text(5).flatMap(RefusalReason.init(rawValue:)).map { reason in
        TokenRecord.End(
          reason: reason, since: Instant(milliseconds: row.integer(6) ?? 0),
          toldFrom: row.integer(7).map(Instant.init(milliseconds:)))
      }
      kept.tokens.append(TokenRecord(bytes: row.blob(0), owner: owner, end: end))
    }
    try database.each("SELECT id, online, courier, power, unlimited FROM device") { row in
      var device = SimulatedDevice()
      device.isOnline = row.integer(1) == 1
      device.usesCourier = row.integer(2) == 1
      device.power = PhonePower(rawValue: row.text(3) ?? "") ?? .awake
      device.isUnlimited = row.integer(4) == 1
      kept.devices[row.text(0) ?? ""] = device
    }
    try database.each(
      """
      SELECT device, bundle, environment, id, token, topic, type, priority, collapse, expiration, payload, received,
        place, cause, since, due, ripe, paid
      FROM waiting ORDER BY number
      """
    ) { row in
      guard let push = Self.push(row) else { return }
      kept.waiting.append(
        (
          row.text(0) ?? "",
          WaitingPush(
            number: 0, push: push, place: Self.place(row.text(12), row.text(13)),
            since: Instant(milliseconds: row.integer(14) ?? 0), due: row.integer(15).map(Instant.init(milliseconds:)),
            isRipe: row.integer(16) == 1, isPaid: row.integer(17) == 1)
        ))
    }
    var spent: [String: [InstalledApp: [Instant]]] = [:]
    try database.each("SELECT device, bundle, environment, at FROM background") { row in
      guard let environment = SimulatedEnvironment(rawValue: row.text(2) ?? "") else { return }
      let app = InstalledApp(bundleID: row.text(1) ?? "", environment: environment)
      spent[row.text(0) ?? "", default: [:]][app, default: []].append(Instant(milliseconds: row.integer(3) ?? 0))
    }
    for (device, apps) in spent {
      for (app, times) in apps { kept.budgets.append((device, app, BackgroundBudget(spent: times))) }
    }
    try restoreChannels(into: &state, from: database)
    state.restore(kept, now: now)
  }

  private static func push(_ row: SimulatorDatabase.Row) -> DeliveredPush? {
    guard let environment = SimulatedEnvironment(rawValue: row.text(2) ?? ""),
      let type = PushType(rawValue: row.text(6) ?? ""),
      let priority = PushPriority(rawValue: UInt8(clamping: row.integer(7) ?? 0))
    else { return nil }
    return DeliveredPush(
      id: row.text(3) ?? "", token: row.blob(4), topic: row.text(5) ?? "", bundleID: row.text(1) ?? "",
      environment: environment, pushType: type, priority: priority, collapseID: row.text(8),
      expiration: row.integer(9), payload: row.blob(10), receivedAt: Instant(milliseconds: row.integer(11) ?? 0))
  }
}
