import Audience
import Basics
import Store

extension DeviceTable {
  func register(_ draft: DeviceDraft) throws(StoreFault) -> StoredDevice {
    let known = try database.first(
      "SELECT id FROM device WHERE token = ? AND app = ?", .blob(draft.token), .int(draft.app)
    ) { $0.int(0) }
    if let known { return try renew(try stored(known), known, draft) }
    let ordinal = try nextOrdinal(of: draft.app)
    let id = Self.id(app: draft.app, ordinal)
    try database.run(
      """
      INSERT INTO device (id, app, registration_id, token, environment, secret_hash, created_at, registered_at, seen_at)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, ?7)
      """, .int(id), .int(draft.app), .text(draft.registrationID), .blob(draft.token),
      .int(draft.environment.rawValue), .blob(draft.secretHash), .int(draft.at.milliseconds))
    try write(draft.facts, id)
    let device = StoredDevice(
      app: draft.app, ordinal: ordinal, registrationID: draft.registrationID, token: draft.token,
      environment: draft.environment, secretHash: draft.secretHash, tags: [], alias: nil, mobile: nil, badge: 0,
      createdAt: draft.at, registeredAt: draft.at, seenAt: draft.at, death: nil, facts: draft.facts)
    if draft.environment == .sandbox { try sets.insert([ordinal], into: .sandbox(app: draft.app)) }
    try facts.move(ordinal, of: draft.app, from: [], to: device.factKeys)
    try UsageTable(database).note(app: draft.app, at: draft.at, last: nil)
    return device
  }

  private func renew(_ old: StoredDevice, _ id: Int64, _ draft: DeviceDraft) throws(StoreFault) -> StoredDevice {
    try revive(old, id, draft.token, draft.environment, at: draft.at)
    try database.run("UPDATE device SET secret_hash = ? WHERE id = ?", .blob(draft.secretHash), .int(id))
    // who holds the phone now need not be who did: what waits for the alias waits until somebody takes it (case C36)
    if let alias = old.alias { try InboxTable(database).park(devices: [id], alias: alias, app: old.app) }
    database.announcements.append(.end(app: old.app, .secretReplaced(old.ordinal)))
    if draft.facts != old.facts { try write(draft.facts, id) }
    let device = try stored(id)
    try facts.move(old.ordinal, of: old.app, from: old.factKeys, to: device.factKeys)
    return device
  }

  /// The columns and sets of tokens alone; the sets of facts are moved by the caller, who knows what they were.
  func give(_ new: DeviceEdit.NewToken, to old: StoredDevice, _ id: Int64) throws(StoreFault) {
    let former = try database.first(
      "SELECT id FROM device WHERE token = ? AND app = ? AND id <> ?", .blob(new.token), .int(old.app), .int(id)
    ) { $0.int(0) }
    if let former { try retire(former, of: old.app, becauseOf: old.registrationID, at: new.at) }
    try revive(old, id, new.token, new.environment, at: new.at)
  }

  /// A token is one device's, so the former one keeps bytes that are nobody's token: those of its registration id.
  private func retire(
    _ id: Int64, of app: Int64, becauseOf registrationID: String, at now: Instant
  ) throws(StoreFault) {
    try database.run(
      """
      UPDATE device SET token = CAST(registration_id AS BLOB), dead_at = ?1, dead_since = ?1, dead_reason = ?2
        WHERE id = ?3
      """, .int(now.milliseconds), .text("its token is now that of \(registrationID)"), .int(id))
    try sets.insert([DeviceOrdinal(truncatingIfNeeded: id)], into: .dead(app: app))
  }

  /// What a token that was just registered does to a device that is there; `old` is as it was.
  private func revive(
    _ old: StoredDevice, _ id: Int64, _ token: [UInt8], _ environment: APNSEnvironment, at now: Instant
  ) throws(StoreFault) {
    try database.run(
      """
      UPDATE device SET token = ?1, environment = ?2, registered_at = ?3, seen_at = max(seen_at, ?3),
        dead_at = NULL, dead_since = NULL, dead_reason = NULL WHERE id = ?4
      """, .blob(token), .int(environment.rawValue), .int(now.milliseconds), .int(id))
    try UsageTable(database).note(app: old.app, at: now, last: old.seenAt)
    if old.death != nil { try sets.remove([old.ordinal], from: .dead(app: old.app)) }
    guard old.environment != environment else { return }
    try SpecialTokenTable(database).removeAll(of: id)
    switch environment {
    case .sandbox: try sets.insert([old.ordinal], into: .sandbox(app: old.app))
    case .production: try sets.remove([old.ordinal], from: .sandbox(app: old.app))
    }
  }

  /// The columns alone; the sets are moved by the caller, who knows what they were.
  func write(_ facts: DeviceFacts, _ id: Int64) throws(StoreFault) {
    try database.run(
      """
      UPDATE device SET os_version = ?, app_version = ?, language = ?, time_zone = ?, model = ?, permission = ?
        WHERE id = ?
      """, .optional(facts.osVersion), .optional(facts.appVersion), .optional(facts.language),
      .optional(facts.timeZone), .optional(facts.model), .optional(facts.permission.map { Int64($0.rawValue) }),
      .int(id))
  }

  private func nextOrdinal(of app: Int64) throws(StoreFault) -> DeviceOrdinal {
    let next = try database.first("SELECT next_ordinal FROM app WHERE id = ?", .int(app)) { $0.int(0) }
    guard let next else { throw .corrupt("no app \(app)") }
    guard next <= Int64(DeviceOrdinal.max) else { throw .full("the app has all devices that ordinals can count") }
    try database.run("UPDATE app SET next_ordinal = ? WHERE id = ?", .int(next + 1), .int(app))
    return DeviceOrdinal(next)
  }

  func delete(app: Int64, registrationID: String) throws(StoreFault) -> Bool {
    guard let id = try id(app: app, registrationID: registrationID) else { return false }
    let device = try stored(id)
    database.announcements.append(.end(app: app, .deviceDeleted(device.ordinal)))
    try SpecialTokenTable(database).removeAll(of: id)
    let inbox = InboxTable(database)
    if let alias = device.alias { try inbox.park(devices: [id], alias: alias, app: app) }
    try inbox.forget(device: id)
    for tag in device.tags { try TagTable(database).remove([device.ordinal], from: tag, of: app) }
    try sets.remove([device.ordinal], from: .dead(app: app))
    try sets.remove([device.ordinal], from: .sandbox(app: app))
    try facts.move(device.ordinal, of: app, from: device.factKeys, to: [.gone])
    try database.run("DELETE FROM device_tag WHERE device = ?", .int(id))
    try database.run("DELETE FROM device WHERE id = ?", .int(id))
    return true
  }
}
