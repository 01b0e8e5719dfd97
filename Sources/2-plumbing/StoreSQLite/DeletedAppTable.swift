import Basics
import Store

/// Removes what deleted apps left, a piece at a time. Nobody can ask for it any more, so it needs no order; the app's own
/// row stays, for its key is never given again.
struct DeletedAppTable {
  let database: Database

  init(_ database: Database) { self.database = database }

  /// One piece; false when nothing is left. Pushes that still have devices to end stay until those have.
  func sweep() throws(StoreFault) -> Bool {
    var apps: [Int64] = []
    try database.each("SELECT id FROM app WHERE deleted_at IS NOT NULL") { apps.append($0.int(0)) }
    for app in apps {
      if try sweep(app) { return true }
    }
    return false
  }

  private func sweep(_ app: Int64) throws(StoreFault) -> Bool {
    if try MessageTable(database).dropOne(of: app) { return true }
    if try sweepDevices(app) { return true }
    if try sweepSets(app) { return true }
    let push = try database.first(
      """
      SELECT id FROM push WHERE app = ? AND finished_at IS NOT NULL AND id < (SELECT max(id) FROM push) LIMIT 1
      """, .int(app)
    ) { $0.int(0) }
    if let push {
      try ForgettingTable(database).drop(push: push)
      return true
    }
    try database.run(
      "DELETE FROM file_part WHERE file IN (SELECT number FROM file WHERE app = ?)", .int(app))
    try database.run("DELETE FROM file WHERE app = ?", .int(app))
    try database.run("DELETE FROM segment WHERE app = ?", .int(app))
    try database.run("DELETE FROM ab_test WHERE app = ?", .int(app))
    try database.run("DELETE FROM usage WHERE app = ?", .int(app))
    try database.run("DELETE FROM device_import WHERE app = ?", .int(app))
    try database.run(
      "DELETE FROM client_id WHERE app = ?1 AND name IN (SELECT name FROM client_id WHERE app = ?1 LIMIT ?2)",
      .int(app), .int(ForgettingTable.piece))
    return database.changes > 0
  }

  private func sweepDevices(_ app: Int64) throws(StoreFault) -> Bool {
    let (first, last) = (DeviceTable.id(app: app, 0), DeviceTable.id(app: app, .max))
    try database.run(
      """
      DELETE FROM device_tag WHERE (device, tag) IN
        (SELECT device, tag FROM device_tag WHERE device BETWEEN ? AND ? LIMIT ?)
      """, .int(first), .int(last), .int(ForgettingTable.piece))
    if database.changes > 0 { return true }
    try database.run(
      """
      DELETE FROM special_token WHERE (device, kind, name) IN
        (SELECT device, kind, name FROM special_token WHERE device BETWEEN ? AND ? LIMIT ?)
      """, .int(first), .int(last), .int(ForgettingTable.piece))
    if database.changes > 0 { return true }
    try database.run(
      "DELETE FROM inbox_cursor WHERE device IN (SELECT device FROM inbox_cursor WHERE device BETWEEN ? AND ? LIMIT ?)",
      .int(first), .int(last), .int(ForgettingTable.piece))
    if database.changes > 0 { return true }
    try database.run(
      "DELETE FROM device WHERE id IN (SELECT id FROM device WHERE id BETWEEN ? AND ? LIMIT ?)", .int(first),
      .int(last), .int(ForgettingTable.piece))
    return database.changes > 0
  }

  /// One set a piece: up to 8 KiB for each 65,536 devices.
  private func sweepSets(_ app: Int64) throws(StoreFault) -> Bool {
    let sets = DeviceSets(database)
    if let tag = try database.first("SELECT id FROM tag WHERE app = ? LIMIT 1", .int(app), read: { $0.int(0) }) {
      try sets.removeAll(from: .tag(tag))
      try database.run("DELETE FROM tag WHERE id = ?", .int(tag))
      return true
    }
    if let fact = try database.first("SELECT id FROM fact WHERE app = ? LIMIT 1", .int(app), read: { $0.int(0) }) {
      try sets.removeAll(from: .fact(fact))
      try database.run("DELETE FROM fact WHERE id = ?", .int(fact))
      return true
    }
    let others = [DeviceSetKey.dead(app: app), .sandbox(app: app)]
    for key in others where try sets.hasMembers(key.id) {
      try sets.removeAll(from: key)
      return true
    }
    // everybody is who has an ordinal
    try database.run("UPDATE app SET next_ordinal = 0 WHERE id = ? AND next_ordinal > 0", .int(app))
    return database.changes > 0
  }
}
