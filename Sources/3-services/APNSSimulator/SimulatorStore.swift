internal import Basics
internal import PushPayload
internal import Transport

/// Tokens, devices and what waits, in one SQLite file beyond restarts. Everything blocks: use it on a thread of its own.
final class SimulatorStore: @unchecked Sendable {  // by whoever starts the simulator, then by the keeper's thread
  /// What has changed, as it was when it was taken.
  struct Batch: Sendable {
    var tokens: [TokenRecord] = []
    var devices: [String: ServiceState.Device] = [:]
    /// All that waits for the devices of `devices`.
    var held: [String: [DeliveredPush]] = [:]

    init(changes: ServiceState.Changes, state: ServiceState) {
      tokens = changes.tokens.compactMap { state.registry.records[$0] }
      for id in changes.devices {
        devices[id] = state.devices[id] ?? ServiceState.Device()
        held[id] = state.store.waiting(for: id).map(\.push)
      }
    }
  }

  private let database: SimulatorDatabase

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

  /// One transaction: all of it or nothing.
  func write(_ batch: Batch) throws(SimulatorFault) {
    guard !batch.tokens.isEmpty || !batch.devices.isEmpty else { return }
    try database.transaction { () throws(SimulatorFault) in
      for record in batch.tokens { try write(record) }
      for (id, device) in batch.devices {
        try database.run(
          "INSERT OR REPLACE INTO device VALUES (?, ?, ?)", .text(id), .flag(device.isOnline), .flag(device.usesCourier)
        )
        try database.run("DELETE FROM held WHERE device = ?", .text(id))
        for push in batch.held[id] ?? [] { try write(push, for: id) }
      }
    }
  }

  private func write(_ record: TokenRecord) throws(SimulatorFault) {
    try database.run(
      "INSERT OR REPLACE INTO token VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
      .blob(record.bytes), .text(record.owner.device), .text(record.owner.bundleID),
      .text(record.owner.environment.rawValue), .text(record.owner.kind.rawValue),
      record.end.map { .text($0.reason.rawValue) } ?? .null,
      record.end.map { .integer($0.since.milliseconds) } ?? .null,
      record.end?.toldFrom.map { .integer($0.milliseconds) } ?? .null)
  }

  private func write(_ push: DeliveredPush, for device: String) throws(SimulatorFault) {
    try database.run(
      "INSERT OR REPLACE INTO held VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      .text(device), .text(push.bundleID), .text(push.environment.rawValue), .text(push.id), .blob(push.token),
      .text(push.topic), .text(push.pushType.rawValue), .integer(Int64(push.priority.rawValue)),
      push.collapseID.map { .text($0) } ?? .null, push.expiration.map { .integer($0) } ?? .null,
      .blob(push.payload), .integer(push.receivedAt.milliseconds))
  }

  /// Puts what was kept into a fresh state. Rows that make no sense are left out.
  func restore(into state: inout ServiceState) throws(SimulatorFault) {
    var tokens: [TokenRecord] = []
    try database.each("SELECT bytes, device, bundle, environment, kind, ended, since, told FROM token") { row in
      guard let environment = SimulatedEnvironment(rawValue: row.text(3) ?? ""),
        let kind = TokenKind(rawValue: row.text(4) ?? "")
      else { return }
      let owner = TokenRecord.Owner(
        device: row.text(1) ?? "", bundleID: row.text(2) ?? "", environment: environment, kind: kind)
      let end = row.text(5).flatMap(RefusalReason.init(rawValue:)).map { reason in
        TokenRecord.End(
          reason: reason, since: Instant(milliseconds: row.integer(6) ?? 0),
          toldFrom: row.integer(7).map(Instant.init(milliseconds:)))
      }
      tokens.append(TokenRecord(bytes: row.blob(0), owner: owner, end: end))
    }
    var devices: [String: ServiceState.Device] = [:]
    try database.each("SELECT id, online, courier FROM device") { row in
      devices[row.text(0) ?? ""] = ServiceState.Device(isOnline: row.integer(1) == 1, usesCourier: row.integer(2) == 1)
    }
    var held: [(device: String, push: DeliveredPush)] = []
    try database.each(
      """
      SELECT device, bundle, environment, id, token, topic, type, priority, collapse, expiration, payload, received
      FROM held ORDER BY received
      """
    ) { row in
      guard let environment = SimulatedEnvironment(rawValue: row.text(2) ?? ""),
        let type = PushType(rawValue: row.text(6) ?? ""),
        let priority = PushPriority(rawValue: UInt8(clamping: row.integer(7) ?? 0))
      else { return }
      let push = DeliveredPush(
        id: row.text(3) ?? "", token: row.blob(4), topic: row.text(5) ?? "", bundleID: row.text(1) ?? "",
        environment: environment, pushType: type, priority: priority, collapseID: row.text(8),
        expiration: row.integer(9), payload: row.blob(10), receivedAt: Instant(milliseconds: row.integer(11) ?? 0))
      held.append((row.text(0) ?? "", push))
    }
    state.restore(tokens: tokens, devices: devices, held: held)
  }
}
