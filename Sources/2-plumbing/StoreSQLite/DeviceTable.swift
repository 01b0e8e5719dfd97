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
      if known.isDead { try sets.remove(ordinal, from: .dead(app: draft.app)) }
      if known.environment != draft.environment { try place(ordinal, in: draft.environment, of: draft.app) }
      return try stored(known.id)
    }
    let ordinal = try nextOrdinal(of: draft.app)
    let id = Self.id(app: draft.app, ordinal)
    try database.run(
      """
      INSERT INTO device (id, app, registration_id, token, environment, secret_hash, created_at, registered_at,
        seen_at, os_version, app_version, language, time_zone)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, ?7, ?8, ?9, ?10, ?11)
      """, .int(id), .int(draft.app), .text(draft.registrationID), .blob(draft.token),
      .int(draft.environment.rawValue), .blob(draft.secretHash), .int(draft.at.milliseconds),
      .optional(draft.facts.osVersion), .optional(draft.facts.appVersion), .optional(draft.facts.language),
      .optional(draft.facts.timeZone))
    if draft.environment == .sandbox { try place(ordinal, in: .sandbox, of: draft.app) }
    return StoredDevice(
      app: draft.app, ordinal: ordinal, registrationID: draft.registrationID, token: draft.token,
      environment: draft.environment, secretHash: draft.secretHash, tags: [], alias: nil, mobile: nil, badge: 0,
      createdAt: draft.at, registeredAt: draft.at, seenAt: draft.at, death: nil, facts: draft.facts)
  }

  private func renew(_ id: Int64, _ draft: DeviceDraft) throws(StoreFault) {
    try database.run(
      """
      UPDATE device SET environment = ?1, secret_hash = ?2, registered_at = ?3, seen_at = max(seen_at, ?3),
        dead_at = NULL, dead_since = NULL, dead_reason = NULL, os_version = ?4, app_version = ?5, language = ?6,
        time_zone = ?7 WHERE id = ?8
      """, .int(draft.environment.rawValue), .blob(draft.secretHash), .int(draft.at.milliseconds),
      .optional(draft.facts.osVersion), .optional(draft.facts.appVersion), .optional(draft.facts.language),
      .optional(draft.facts.timeZone), .int(id))
  }

  private func place(
    _ ordinal: DeviceOrdinal, in environment: APNSEnvironment, of app: Int64
  ) throws(StoreFault) {
    switch environment {
    case .sandbox: try sets.insert(ordinal, into: .sandbox(app: app))
    case .production: try sets.remove(ordinal, from: .sandbox(app: app))
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

  /// Row by row in the order given, and those that the app has not.
  func ids(app: Int64, registrationIDs: [String]) throws(StoreFault) -> (ids: [Int64], strangers: [String]) {
    var ids: [Int64] = []
    var strangers: [String] = []
    for name in registrationIDs {
      if let id = try id(app: app, registrationID: name) { ids.append(id) } else { strangers.append(name) }
    }
    return (ids, strangers)
  }

  private func stored(_ id: Int64) throws(StoreFault) -> StoredDevice {
    var tags: [String] = []
    try database.each(
      "SELECT tag.name FROM device_tag JOIN tag ON tag.id = device_tag.tag WHERE device = ? ORDER BY tag.name", .int(id)
    ) { tags.append($0.text(0)) }
    let device = try database.first(
      """
      SELECT app, registration_id, token, environment, secret_hash, alias, mobile, badge, registered_at, dead_at,
        dead_since, dead_reason, os_version, app_version, language, time_zone, only_scheduled, created_at, seen_at
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
        onlyScheduled: row.int(16) != 0, createdAt: Instant(milliseconds: row.int(17)),
        registeredAt: Instant(milliseconds: row.int(8)), seenAt: Instant(milliseconds: row.int(18)),
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

  func devices(app: Int64, registrationIDs: [String]) throws(StoreFault) -> [StoredDevice] {
    var devices: [StoredDevice] = []
    var seen: Set<Int64> = []
    for name in registrationIDs {
      if let id = try id(app: app, registrationID: name), seen.insert(id).inserted { devices.append(try stored(id)) }
    }
    return devices
  }

  func devices(app: Int64, alias: String) throws(StoreFault) -> [StoredDevice] {
    var ids: [Int64] = []
    try database.each("SELECT id FROM device WHERE alias = ? AND app = ? ORDER BY id", .text(alias), .int(app)) {
      ids.append($0.int(0))
    }
    var devices: [StoredDevice] = []
    for id in ids { devices.append(try stored(id)) }
    return devices
  }

  // MARK: Changing

  func noteSeen(app: Int64, registrationID: String, at now: Instant) throws(StoreFault) {
    try database.run(
      "UPDATE device SET seen_at = ?1 WHERE registration_id = ?2 AND app = ?3 AND seen_at <= ?1 - 60000",
      .int(now.milliseconds), .text(registrationID), .int(app))
  }

  func removeAlias(
    app: Int64, alias: String, from registrationIDs: [String]
  ) throws(StoreFault) -> MembershipAnswer {
    let (ids, strangers) = try ids(app: app, registrationIDs: registrationIDs)
    guard strangers.isEmpty else { return .noSuchDevices(strangers) }
    for id in ids {
      try database.run("UPDATE device SET alias = NULL WHERE id = ? AND alias = ?", .int(id), .text(alias))
    }
    return .done
  }

  func deleteAlias(app: Int64, alias: String) throws(StoreFault) {
    try database.run("UPDATE device SET alias = NULL WHERE alias = ? AND app = ?", .text(alias), .int(app))
  }

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
    let tags = TagTable(database)
    let ordinal = DeviceOrdinal(truncatingIfNeeded: id)
    for name in present.subtracting(wanted) { try tags.remove([ordinal], from: name, of: app) }
    for name in wanted.subtracting(present) { try tags.add([ordinal], to: name, of: app) }
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
}
