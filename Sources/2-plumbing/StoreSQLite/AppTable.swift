import Basics
import Store

struct AppTable {
  let database: Database

  init(_ database: Database) { self.database = database }

  func insert(_ app: StoredApp) throws(StoreFault) -> StoredApp {
    try database.run(
      "INSERT INTO app (key, bundle_id, name, secret_hash, created_at) VALUES (?, ?, ?, ?, ?)", .text(app.key),
      .text(app.bundleID), .optional(app.name), .text(app.secretHash), .int(app.createdAt.milliseconds))
    var stored = app
    stored.id = database.lastInsertID
    return stored
  }

  func app(key: String) throws(StoreFault) -> StoredApp? {
    try database.first(
      "SELECT id, key, bundle_id, name, secret_hash, created_at, deleted_at FROM app WHERE key = ?", .text(key),
      read: Self.read)
  }

  func all() throws(StoreFault) -> [StoredApp] {
    var apps: [StoredApp] = []
    try database.each("SELECT id, key, bundle_id, name, secret_hash, created_at, deleted_at FROM app ORDER BY id") {
      row in
      apps.append(Self.read(row))
    }
    return apps
  }

  func rename(_ id: Int64, name: String?, ifFingerprint fingerprint: UInt64?) throws(StoreFault) -> Bool {
    let known = try database.first(
      """
      SELECT id, key, bundle_id, name, secret_hash, created_at, deleted_at FROM app
        WHERE id = ? AND deleted_at IS NULL
      """, .int(id), read: Self.read)
    guard let known, fingerprint ?? known.fingerprint == known.fingerprint else { return false }
    try database.run("UPDATE app SET name = ? WHERE id = ?", .optional(name), .int(id))
    return true
  }

  func renewSecret(_ id: Int64, hash: String) throws(StoreFault) -> Bool {
    try database.run("UPDATE app SET secret_hash = ? WHERE id = ? AND deleted_at IS NULL", .text(hash), .int(id))
    return database.changes > 0
  }

  /// false when it was deleted before, or never there.
  func delete(_ id: Int64, at now: Instant) throws(StoreFault) -> Bool {
    try database.run(
      "UPDATE app SET deleted_at = ? WHERE id = ? AND deleted_at IS NULL", .int(now.milliseconds), .int(id))
    guard database.changes > 0 else { return false }
    database.announcements.append(.end(app: id, .appDeleted))
    try database.run(
      "UPDATE push SET control = ? WHERE app = ? AND finished_at IS NULL", .int(PushControl.withdrawn.rawValue),
      .int(id))
    try database.run(
      "DELETE FROM schedule_firing WHERE schedule IN (SELECT number FROM schedule WHERE app = ?)", .int(id))
    try database.run("DELETE FROM schedule WHERE app = ?", .int(id))
    try database.run("DELETE FROM group_app WHERE app = ?", .int(id))
    try database.run("DELETE FROM apns_credential WHERE app = ?", .int(id))
    try WebhookTable(database).deleteAll(of: id)
    return true
  }

  private static func read(_ row: Row) -> StoredApp {
    var app = StoredApp(
      id: row.int(0), key: row.text(1), bundleID: row.text(2), name: row.optionalText(3), secretHash: row.text(4),
      createdAt: Instant(milliseconds: row.int(5)))
    app.deletedAt = row.optionalInt(6).map(Instant.init(milliseconds:))
    return app
  }
}
