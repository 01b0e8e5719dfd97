import Audience
import Basics
import Schedule
import Store

/// Keeps schedules and what came of their due times.
struct ScheduleTable {
  let database: Database

  init(_ database: Database) { self.database = database }

  // MARK: Changing

  func create(
    _ schedule: StoredSchedule, limit: Int, clientIDsSince since: Instant
  ) throws(StoreFault) -> ScheduleCreation {
    if let clientID = schedule.clientID {
      let known = try database.first(
        """
        SELECT number, id, app, name, is_enabled, rule, time_zone, request, client_id, created_at, version, last, due_at
          FROM schedule WHERE app = ? AND client_id = ? AND created_at >= ? ORDER BY number DESC
        """,
        .int(schedule.app), .text(clientID), .int(since.milliseconds), read: Self.read)
      if let known { return .repeated(known) }
    }
    let live = try count(app: schedule.app, onlyLive: true, after: 0)
    guard live < limit else { return .tooMany(live) }
    try database.run(
      """
      INSERT INTO schedule (id, app, name, is_enabled, rule, time_zone, request, client_id, created_at, version, last,
        due_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """, .text(schedule.id), .int(schedule.app), .text(schedule.name), .int(schedule.isEnabled ? 1 : 0),
      .text(schedule.trigger.text), .text(schedule.timeZone), .blob(schedule.request), .optional(schedule.clientID),
      .int(schedule.createdAt.milliseconds), .int(schedule.version), .optional(schedule.last?.description),
      .optional(schedule.dueAt?.milliseconds))
    var created = schedule
    created.number = database.lastInsertID
    return .created(created)
  }

  func change(_ old: StoredSchedule, to new: StoredSchedule) throws(StoreFault) -> Bool {
    try database.run(
      """
      UPDATE schedule SET name = ?, is_enabled = ?, rule = ?, time_zone = ?, request = ?, last = ?, due_at = ?,
        version = version + 1 WHERE number = ? AND version = ? AND last IS ?
      """, .text(new.name), .int(new.isEnabled ? 1 : 0), .text(new.trigger.text), .text(new.timeZone),
      .blob(new.request), .optional(new.last?.description), .optional(new.dueAt?.milliseconds), .int(old.number),
      .int(old.version), .optional(old.last?.description))
    return database.changes == 1
  }

  func delete(app: Int64, id: String) throws(StoreFault) -> Bool {
    guard let schedule = try schedule(app: app, id: id) else { return false }
    try database.run("DELETE FROM schedule WHERE number = ?", .int(schedule.number))
    try database.run("DELETE FROM schedule_firing WHERE schedule = ?", .int(schedule.number))
    return true
  }

  func take(
    _ step: ScheduleStep, push: StoredPush?, audience: [AudienceReach.ShardAudience], companion: PlannedPush?,
    message: MessageDraft?
  ) throws(StoreFault) -> Bool {
    let schedule = step.schedule
    try database.run(
      "UPDATE schedule SET last = ?, due_at = ? WHERE number = ? AND version = ? AND last IS ?",
      .optional(step.last?.description), .optional(step.dueAt?.milliseconds), .int(schedule.number),
      .int(schedule.version), .optional(schedule.last?.description))
    guard database.changes == 1 else { return false }
    if let push {
      _ = try PushTable(database).accept(
        push, audience: audience, companion: companion, message: message, clientIDsSince: push.acceptedAt)
    }
    guard let firing = step.firing else { return true }
    try database.run(
      "INSERT INTO schedule_firing (schedule, wall, at, push, code, words) VALUES (?, ?, ?, ?, ?, ?)",
      .int(schedule.number), .text(firing.wall.description), .int(firing.at.milliseconds), .optional(firing.push),
      .int(firing.code), .text(firing.words))
    return true
  }

  // MARK: Reading

  func schedule(app: Int64, id: String) throws(StoreFault) -> StoredSchedule? {
    try database.first(
      """
      SELECT number, id, app, name, is_enabled, rule, time_zone, request, client_id, created_at, version, last, due_at
        FROM schedule WHERE id = ? AND app = ?
      """, .text(id), .int(app), read: Self.read)
  }

  func page(
    app: Int64, onlyLive: Bool, after: Int64, skipping: Int, limit: Int
  ) throws(StoreFault) -> SchedulePage {
    var page = SchedulePage(schedules: [], total: try count(app: app, onlyLive: onlyLive, after: after))
    try database.each(
      """
      SELECT number, id, app, name, is_enabled, rule, time_zone, request, client_id, created_at, version, last, due_at
        FROM schedule WHERE app = ? AND number > ? AND (due_at IS NOT NULL OR NOT ?) ORDER BY number LIMIT ? OFFSET ?
      """, .int(app), .int(after), .int(onlyLive ? 1 : 0), .int(limit), .int(skipping)
    ) { row throws(StoreFault) in page.schedules.append(try Self.read(row)) }
    return page
  }

  private func count(app: Int64, onlyLive: Bool, after: Int64) throws(StoreFault) -> Int {
    try database.first(
      "SELECT count(*) FROM schedule WHERE app = ? AND number > ? AND (due_at IS NOT NULL OR NOT ?)", .int(app),
      .int(after), .int(onlyLive ? 1 : 0)
    ) { Int($0.int(0)) } ?? 0
  }

  func due(at now: Instant, limit: Int) throws(StoreFault) -> [StoredSchedule] {
    var due: [StoredSchedule] = []
    try database.each(
      """
      SELECT number, id, app, name, is_enabled, rule, time_zone, request, client_id, created_at, version, last, due_at
        FROM schedule WHERE due_at <= ? ORDER BY due_at LIMIT ?
      """, .int(now.milliseconds), .int(limit)
    ) { row throws(StoreFault) in due.append(try Self.read(row)) }
    return due
  }

  func nextDue() throws(StoreFault) -> Instant? {
    let due = try database.first("SELECT min(due_at) FROM schedule WHERE due_at IS NOT NULL") { $0.optionalInt(0) }
    return due.flatMap { $0 }.map(Instant.init(milliseconds:))
  }

  func firings(app: Int64, schedule id: String) throws(StoreFault) -> [ScheduleFiring] {
    guard let schedule = try schedule(app: app, id: id) else { return [] }
    var firings: [ScheduleFiring] = []
    try database.each(
      "SELECT wall, at, push, code, words FROM schedule_firing WHERE schedule = ? ORDER BY id DESC LIMIT 1000",
      .int(schedule.number)
    ) { row throws(StoreFault) in
      guard let wall = LocalTime(row.text(0)) else { throw .corrupt("a firing cannot be read") }
      firings.append(
        ScheduleFiring(
          wall: wall, at: Instant(milliseconds: row.int(1)), push: row.optionalInt(2), code: Int(row.int(3)),
          words: row.text(4)))
    }
    return firings.reversed()
  }

  private static func read(_ row: Row) throws(StoreFault) -> StoredSchedule {
    guard let trigger = ScheduleTrigger(text: row.text(5)) else { throw .corrupt("a schedule cannot be read") }
    return StoredSchedule(
      number: row.int(0), id: row.text(1), app: row.int(2), name: row.text(3), isEnabled: row.int(4) != 0,
      trigger: trigger, timeZone: row.text(6), request: row.blob(7), clientID: row.optionalText(8),
      createdAt: Instant(milliseconds: row.int(9)), version: row.int(10),
      last: row.optionalText(11).flatMap(LocalTime.init),
      dueAt: row.optionalInt(12).map(Instant.init(milliseconds:)))
  }
}
