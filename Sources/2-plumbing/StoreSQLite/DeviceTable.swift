import Audience
import Basics
import Store

/// Registers, reads and changes devices.
struct DeviceTable {
  let database: Database
  private let sets: DeviceSets

  init(_ database: Database) {
    self.database = database
    sets = DeviceSets(database)
  }

  static func id(app: Int64, _ ordinal: DeviceOrdinal) -> Int64 { app << 32 | Int64(ordinal) }

  // MARK: Registering

  func register(_ draft: DeviceDraft) throws(StoreFault) -> StoredDevice {
    let known = try database.first(
      "SELECT id, environment, dead_at IS NOT NULL FROM device WHERE token = ? AND app = ?", .blob(draft.token),
      .int(draft.app)
    ) { (id: $0.int(0), environment: APNSEnvironment(rawValue: UInt8(clamping: $0.int(1))), isDead: $0.int(2) != 0) }
    if let known {
      try renew(known.id, draft)
      let ordinal = DeviceOrdinal(truncatingIfNeeded: known.id)
      if known.isDead { try sets.remove([ordinal], from: .dead(app: draft.app)) }
      if known.environment != draft.environment { try place(ordinal, in: draft.environment, of: draft.app) }
      return try stored(known.id)
    }
    let ordinal = try nextOrdinal(of: draft.app)
    let id = Self.id(app: draft.app, ordinal)
    try database.run(
      """
      INSERT INTO device (id, app, registration_id, token, environment, secret_hash, registered_at, os_version,
        app_version, language, time_zone) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """, .int(id), .int(draft.app), .text(draft.registrationID), .blob(draft.token),
      .int(draft.environment.rawValue), .blob(draft.secretHash), .int(draft.at.milliseconds),
      .optional(draft.facts.osVersion), .optional(draft.facts.appVersion), .optional(draft.facts.language),
      .optional(draft.facts.timeZone))
    if draft.environment == .sandbox { try place(ordinal, in: .sandbox, of: draft.app) }
    return StoredDevice(
      app: draft.app, ordinal: ordinal, registrationID: draft.registrationID, token: draft.token,
      environment: draft.environment, secretHash: draft.secretHash, tags: [], alias: nil, mobile: nil, badge: 0,
      registeredAt: draft.at, death: nil, facts: draft.facts)
  }

  private func renew(_ id: Int64, _ draft: DeviceDraft) throws(StoreFault) {
    try database.run(
      """
      UPDATE device SET environment = ?, secret_hash = ?, registered_at = ?, dead_at = NULL, dead_since = NULL,
        dead_reason = NULL, os_version = ?, app_version = ?, language = ?, time_zone = ? WHERE id = ?
      """, .int(draft.environment.rawValue), .blob(draft.secretHash), .int(draft.at.milliseconds),
      .optional(draft.facts.osVersion), .optional(draft.facts.appVersion), .optional(draft.facts.language),
      .optional(draft.facts.timeZone), .int(id))
  }

  private func place(
    _ ordinal: DeviceOrdinal, in environment: APNSEnvironment, of app: Int64
  ) throws(StoreFault) {
    switch environment {
    case .sandbox: try sets.insert(ordinal, into: .sandbox(app: app))
    case .production: try sets.remove([ordinal], from: .sandbox(app: app))
    }
  }

  private func nextOrdinal(of app: Int64) throws(StoreFault) -> DeviceOrdinal {
    let next = try database.first("SELECT next_ordinal FROM app WHERE id = ?", .int(app)) { $0.int(0) }
    guard let next else { throw .corrupt("no app \(app)") }
    guard next <= Int64(DeviceOrdinal.max) else { throw .full("the app has all devices that ordinals can count") }
    try database.run("UPDATE app SET next_ordinal = ? WHERE id = ?", .int(next + 1), .int(app))
    return DeviceOrdinal(next)
  }

  // MARK: Reading

  func device(app: Int64, registrationID: String) throws(StoreFault) -> StoredDevice? {
    guard let id = try id(app: app, registrationID: registrationID) else { return nil }
    return try stored(id)
  }

  func id(app: Int64, registrationID: String) throws(StoreFault) -> Int64? {
    try database.first(
      "SELECT id FROM device WHERE registration_id = ? AND app = ?", .text(registrationID), .int(app)
    ) { $0.int(0) }
  }

  private func stored(_ id: Int64) throws(StoreFault) -> StoredDevice {
    var tags: [String] = []
    try database.each(
      "SELECT tag.name FROM device_tag JOIN tag ON tag.id = device_tag.tag WHERE device = ? ORDER BY tag.name", .int(id)
    ) { tags.append($0.text(0)) }
    let device = try database.first(
      """
      SELECT app, registration_id, token, environment, secret_hash, alias, mobile, badge, registered_at, dead_at,
        dead_since, dead_reason, os_version, app_version, language, time_zone, only_scheduled
        FROM device WHERE id = ?
      """, .int(id)
    ) { row throws(StoreFault) in
      guard let environment = APNSEnvironment(rawValue: UInt8(clamping: row.int(3))) else {
        throw .corrupt("a device of no known environment")
      }
      return StoredDevice(
        app: row.int(0), ordinal: DeviceOrdinal(truncatingIfNeeded: id), registrationID: row.text(1),
        token: row.blob(2), environment: environment, secretHash: row.blob(4), tags: tags,
        alias: row.optionalText(5), mobile: row.optionalText(6), badge: Int32(clamping: row.int(7)),
        onlyScheduled: row.int(16) != 0, registeredAt: Instant(milliseconds: row.int(8)),
        death: row.optionalInt(9).map {
          TokenDeath(
            notedAt: Instant(milliseconds: $0), since: row.optionalInt(10).map(Instant.init(milliseconds:)),
            reason: row.text(11))
        },
        facts: DeviceFacts(
          osVersion: row.optionalText(12), appVersion: row.optionalText(13), language: row.optionalText(14),
          timeZone: row.optionalText(15)))
    }
    guard let device else { throw .corrupt("a device without a row") }
    return device
  }

  // MARK: Changing

  func change(
    app: Int64, registrationID: String, _ edit: DeviceEdit, limits: DeviceLimits
  ) throws(StoreFault) -> DeviceEditAnswer {
    guard let id = try id(app: app, registrationID: registrationID) else { return .noSuchDevice }
    if case .set(let alias) = edit.alias {
      let others = try database.first(
        "SELECT count(*) FROM device WHERE alias = ? AND app = ? AND id <> ? AND dead_at IS NULL", .text(alias),
        .int(app), .int(id)
      ) { Int($0.int(0)) }
      if let others, others >= limits.devicesPerAlias { return .aliasFull(devices: others) }
    }
    let present = Set(try stored(id).tags)
    let wanted = (edit.clearTags ? [] : present.subtracting(edit.removeTags)).union(edit.addTags)
    guard wanted.count <= limits.tagsPerDevice else { return .tooManyTags(wanted.count) }
    let ordinal = DeviceOrdinal(truncatingIfNeeded: id)
    for name in present.subtracting(wanted) {
      let tag = try tagID(app: app, name)
      try database.run("DELETE FROM device_tag WHERE device = ? AND tag = ?", .int(id), .int(tag))
      try sets.remove([ordinal], from: .tag(tag))
    }
    for name in wanted.subtracting(present) {
      let tag = try tagID(app: app, name)
      try database.run("INSERT INTO device_tag VALUES (?, ?)", .int(id), .int(tag))
      try sets.insert(ordinal, into: .tag(tag))
    }
    switch edit.alias {
    case nil: break
    case .clear: try database.run("UPDATE device SET alias = NULL WHERE id = ?", .int(id))
    case .set(let alias): try database.run("UPDATE device SET alias = ? WHERE id = ?", .text(alias), .int(id))
    }
    switch edit.mobile {
    case nil: break
    case .clear: try database.run("UPDATE device SET mobile = NULL WHERE id = ?", .int(id))
    case .set(let mobile): try database.run("UPDATE device SET mobile = ? WHERE id = ?", .text(mobile), .int(id))
    }
    if let badge = edit.badge {
      try database.run(
        "UPDATE device SET badge = ? WHERE id = ?", .int(BadgeArithmetic.set(badge).applied(to: 0)), .int(id))
    }
    if let onlyScheduled = edit.onlyScheduled {
      try database.run(
        "UPDATE device SET only_scheduled = ? WHERE id = ?", .int(onlyScheduled ? 1 : 0), .int(id))
    }
    return .done
  }

  private func tagID(app: Int64, _ name: String) throws(StoreFault) -> Int64 {
    let known = try database.first("SELECT id FROM tag WHERE app = ? AND name = ?", .int(app), .text(name)) {
      $0.int(0)
    }
    if let known { return known }
    try database.run("INSERT INTO tag (app, name) VALUES (?, ?)", .int(app), .text(name))
    return database.lastInsertID
  }
}
