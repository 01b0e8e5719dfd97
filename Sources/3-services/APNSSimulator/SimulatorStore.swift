internal import Basics
internal import CSQLite
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

  private let database: OpaquePointer
  private let path: String

  init(path: String) throws(SimulatorFault) {
    self.path = path
    var opened: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
    guard sqlite3_open_v2(path, &opened, flags, nil) == SQLITE_OK, let opened else {
      let words = opened.map { String(cString: sqlite3_errmsg($0)) } ?? "no memory"
      sqlite3_close_v2(opened)
      throw SimulatorFault(what: "\(path) cannot be opened: \(words)", remedy: "Give a folder that can be written.")
    }
    database = opened
    sqlite3_busy_timeout(database, 5_000)
    try run(
      """
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = NORMAL;
      CREATE TABLE IF NOT EXISTS fact (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
      CREATE TABLE IF NOT EXISTS token (
        bytes BLOB PRIMARY KEY, device TEXT NOT NULL, bundle TEXT NOT NULL, environment TEXT NOT NULL,
        kind TEXT NOT NULL, ended TEXT, since INTEGER, told INTEGER) WITHOUT ROWID;
      CREATE TABLE IF NOT EXISTS device (
        id TEXT PRIMARY KEY, online INTEGER NOT NULL, courier INTEGER NOT NULL) WITHOUT ROWID;
      CREATE TABLE IF NOT EXISTS held (
        device TEXT NOT NULL, bundle TEXT NOT NULL, environment TEXT NOT NULL, id TEXT NOT NULL, token BLOB NOT NULL,
        topic TEXT NOT NULL, type TEXT NOT NULL, priority INTEGER NOT NULL, collapse TEXT, expiration INTEGER,
        payload BLOB NOT NULL, received INTEGER NOT NULL, PRIMARY KEY (device, bundle, environment)) WITHOUT ROWID;
      """)
  }

  deinit { sqlite3_close_v2(database) }

  // MARK: Facts

  func fact(_ name: String) throws(SimulatorFault) -> String? {
    var value: String?
    try query("SELECT value FROM fact WHERE name = ?", [.text(name)]) { value = $0.text(0) }
    return value
  }

  func set(fact name: String, _ value: String) throws(SimulatorFault) {
    try query("INSERT OR REPLACE INTO fact VALUES (?, ?)", [.text(name), .text(value)]) { _ in }
  }

  // MARK: State

  /// One transaction: all of it or nothing.
  func write(_ batch: Batch) throws(SimulatorFault) {
    guard !batch.tokens.isEmpty || !batch.devices.isEmpty else { return }
    try run("BEGIN IMMEDIATE")
    do {
      for record in batch.tokens { try write(record) }
      for (id, device) in batch.devices {
        try query(
          "INSERT OR REPLACE INTO device VALUES (?, ?, ?)",
          [.text(id), .integer(device.isOnline ? 1 : 0), .integer(device.usesCourier ? 1 : 0)]
        ) { _ in }
        try query("DELETE FROM held WHERE device = ?", [.text(id)]) { _ in }
        for push in batch.held[id] ?? [] { try write(push, for: id) }
      }
      try run("COMMIT")
    } catch {
      try? run("ROLLBACK")
      throw error
    }
  }

  private func write(_ record: TokenRecord) throws(SimulatorFault) {
    try query(
      "INSERT OR REPLACE INTO token VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
      [
        .blob(record.bytes), .text(record.owner.device), .text(record.owner.bundleID),
        .text(record.owner.environment.rawValue), .text(record.owner.kind.rawValue),
        record.end.map { .text($0.reason.rawValue) } ?? .null,
        record.end.map { .integer($0.since.milliseconds) } ?? .null,
        record.end?.toldFrom.map { .integer($0.milliseconds) } ?? .null,
      ]
    ) { _ in }
  }

  private func write(_ push: DeliveredPush, for device: String) throws(SimulatorFault) {
    try query(
      "INSERT OR REPLACE INTO held VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      [
        .text(device), .text(push.bundleID), .text(push.environment.rawValue), .text(push.id), .blob(push.token),
        .text(push.topic), .text(push.pushType.rawValue), .integer(Int64(push.priority.rawValue)),
        push.collapseID.map { .text($0) } ?? .null, push.expiration.map { .integer($0) } ?? .null,
        .blob(push.payload), .integer(push.receivedAt.milliseconds),
      ]
    ) { _ in }
  }

  /// Puts what was kept into a fresh state. Rows that make no sense are left out.
  func restore(into state: inout ServiceState) throws(SimulatorFault) {
    var tokens: [TokenRecord] = []
    try query("SELECT bytes, device, bundle, environment, kind, ended, since, told FROM token", []) { row in
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
    try query("SELECT id, online, courier FROM device", []) { row in
      devices[row.text(0) ?? ""] = ServiceState.Device(isOnline: row.integer(1) == 1, usesCourier: row.integer(2) == 1)
    }
    var held: [(device: String, push: DeliveredPush)] = []
    try query(
      """
      SELECT device, bundle, environment, id, token, topic, type, priority, collapse, expiration, payload, received
      FROM held ORDER BY received
      """, []
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

  // MARK: SQLite

  private enum Value {
    case null
    case integer(Int64)
    case text(String)
    case blob([UInt8])
  }

  private struct Row {
    let statement: OpaquePointer

    func integer(_ column: Int32) -> Int64? {
      sqlite3_column_type(statement, column) == SQLITE_NULL ? nil : sqlite3_column_int64(statement, column)
    }

    func text(_ column: Int32) -> String? {
      sqlite3_column_text(statement, column).map { String(cString: $0) }
    }

    func blob(_ column: Int32) -> [UInt8] {
      guard let start = sqlite3_column_blob(statement, column) else { return [] }
      return Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column))))
    }
  }

  private func run(_ sql: String) throws(SimulatorFault) {
    guard sqlite3_exec(database, sql, nil, nil, nil) == SQLITE_OK else { throw fault() }
  }

  private func query(_ sql: String, _ values: [Value], each: (Row) -> Void) throws(SimulatorFault) {
    var prepared: OpaquePointer?
    guard sqlite3_prepare_v2(database, sql, -1, &prepared, nil) == SQLITE_OK, let prepared else { throw fault() }
    defer { sqlite3_finalize(prepared) }
    let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)  // SQLITE_TRANSIENT, a macro that is not imported
    for (place, value) in values.enumerated() {
      let index = Int32(place + 1)
      switch value {
      case .null: sqlite3_bind_null(prepared, index)
      case .integer(let integer): sqlite3_bind_int64(prepared, index, integer)
      case .text(let text): sqlite3_bind_text(prepared, index, text, -1, copied)
      case .blob(let bytes): sqlite3_bind_blob(prepared, index, bytes, Int32(bytes.count), copied)
      }
    }
    while true {
      switch sqlite3_step(prepared) {
      case SQLITE_ROW: each(Row(statement: prepared))
      case SQLITE_DONE: return
      default: throw fault()
      }
    }
  }

  private func fault() -> SimulatorFault {
    SimulatorFault(
      what: "\(path): \(String(cString: sqlite3_errmsg(database)))",
      remedy: "Check that the folder can be written and the disk has room.")
  }
}
