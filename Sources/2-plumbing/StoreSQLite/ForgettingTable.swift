import Basics
import Store

/// Removes what is old a piece at a time. A push is gone at once with its row; what hangs on it means nothing from then
/// on, and goes in pieces (`dropped_push`).
struct ForgettingTable {
  let database: Database

  init(_ database: Database) { self.database = database }

  /// Rows of a piece: milliseconds.
  static let piece = 1000
  /// Each device is in a dozen sets.
  static let devices = 20

  /// One piece; false when nothing is left.
  func forget(_ ages: Forgetting) throws(StoreFault) -> Bool {
    if try sweep() { return true }
    if try OutboxTable(database).sweepDropped() { return true }
    if let time = ages.activitiesBefore, try SpecialTokenTable(database).forgetActivities(before: time) { return true }
    let messages = MessageTable(database)
    if try messages.sweep() { return true }
    if let time = ages.messagesBefore, try messages.drop(before: time) { return true }
    if let time = ages.filesExpiredBy, try FileTable(database).sweep(at: time) { return true }
    if let time = ages.pushesBefore {
      if try dropPush(before: time) { return true }
      try database.run(
        "DELETE FROM client_id WHERE (app, name) IN (SELECT app, name FROM client_id WHERE at < ? LIMIT ?)",
        .int(time.milliseconds), .int(Self.piece))
      if database.changes > 0 { return true }
    }
    if let time = ages.firingsBefore {
      // ids grow with time
      try database.run(
        "DELETE FROM schedule_firing WHERE at < ? AND id IN (SELECT id FROM schedule_firing ORDER BY id LIMIT ?)",
        .int(time.milliseconds), .int(Self.piece))
      if database.changes > 0 { return true }
    }
    if let time = ages.auditBefore {
      // ids grow with time
      try database.run(
        "DELETE FROM audit WHERE at < ? AND id IN (SELECT id FROM audit ORDER BY id LIMIT ?)", .int(time.milliseconds),
        .int(Self.piece))
      if database.changes > 0 { return true }
    }
    if let time = ages.deadBefore, try deleteDevices(deadBefore: time) { return true }
    // last: it looks through all that were ever deleted
    return try DeletedAppTable(database).sweep()
  }

  /// The highest id stays, since those to come are given above it.
  private func dropPush(before time: Instant) throws(StoreFault) -> Bool {
    let old = try database.first(
      """
      SELECT id FROM push WHERE finished_at < ? AND id < (SELECT max(id) FROM push) ORDER BY finished_at LIMIT 1
      """, .int(time.milliseconds)
    ) { $0.int(0) }
    guard let old else { return false }
    try drop(push: old)
    return true
  }

  func drop(push id: Int64) throws(StoreFault) {
    try database.run("INSERT INTO dropped_push VALUES (?)", .int(id))
    try database.run("DELETE FROM push_variant WHERE push = ?", .int(id))
    let callback = try database.first("DELETE FROM push WHERE id = ? RETURNING callback", .int(id)) {
      $0.optionalInt(0)
    }
    if let callback = callback ?? nil { try WebhookTable(database).dropCallback(callback) }
  }

  private func sweep() throws(StoreFault) -> Bool {
    let dropped = try database.first("SELECT id FROM dropped_push LIMIT 1") { $0.int(0) }
    guard let push = dropped else { return false }
    // the large first; each of these has a row for a device
    try database.run(
      """
      DELETE FROM push_report WHERE push = ?1 AND (ordinal, kind) IN
        (SELECT ordinal, kind FROM push_report WHERE push = ?1 LIMIT ?2)
      """, .int(push), .int(Self.piece))
    if database.changes > 0 { return true }
    try database.run(
      """
      DELETE FROM push_trouble WHERE push = ?1 AND ordinal IN (SELECT ordinal FROM push_trouble WHERE push = ?1 LIMIT ?2)
      """, .int(push), .int(Self.piece))
    if database.changes > 0 { return true }
    try database.run(
      "DELETE FROM push_accepted WHERE id IN (SELECT id FROM push_accepted WHERE push = ? LIMIT ?)", .int(push),
      .int(Self.piece))
    if database.changes > 0 { return true }
    try database.run("DELETE FROM push_step WHERE push = ?", .int(push))
    try database.run("DELETE FROM push_shard WHERE push = ?", .int(push))
    try database.run("DELETE FROM push_outcome WHERE push = ?", .int(push))
    try database.run("DELETE FROM push_report_count WHERE push = ?", .int(push))
    try database.run("DELETE FROM dropped_push WHERE id = ?", .int(push))
    return true
  }

  private func deleteDevices(deadBefore time: Instant) throws(StoreFault) -> Bool {
    var old: [(app: Int64, registrationID: String)] = []
    try database.each(
      "SELECT app, registration_id FROM device WHERE dead_at < ? LIMIT ?", .int(time.milliseconds), .int(Self.devices)
    ) { old.append(($0.int(0), $0.text(1))) }
    let table = DeviceTable(database)
    for (app, registrationID) in old { _ = try table.delete(app: app, registrationID: registrationID) }
    return !old.isEmpty
  }
}
