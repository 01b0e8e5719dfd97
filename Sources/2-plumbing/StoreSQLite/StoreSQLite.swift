public import Audience
public import Basics
public import Store

/// The embedded store: one SQLite file in a folder that belongs to one process at a time.
///
/// Write-ahead log with a sync for each commit; concurrent operations share commits. Reads of whole audiences run beside
/// the writer. Blocking happens on two queues of its own.
public final class StoreSQLite: Store {
  let writer: Writer
  let reader: Reader
  private let folder: DataFolder
  /// Who works on what. In memory, since the folder's lock says that nobody of another process does.
  private let holds = Locked<[ShardKey: UInt64]>([:])

  private struct ShardKey: Hashable {
    var push: Int64
    var shard: ShardIndex
  }

  /// Opens `folder`, or makes it; the file is brought to the present schema.
  ///
  /// - Throws: `.unusable` when the folder cannot be made or written, another process has it, or a newer Belfry made it.
  public static func open(folder path: String) async throws(StoreFault) -> StoreSQLite {
    try await open(DataFolder(path))
  }

  /// Whether the folder has a database; makes nothing.
  public static func exists(inFolder path: String) -> Bool { DataFolder.hasDatabase(path) }

  /// Opens `folder` beside a process that may have it open, for changes of apps or devices. Must not be given shards to
  /// work on: who holds them is known to the other process only.
  ///
  /// - Throws: `.unusable` as `open`, but not because another process has the folder.
  public static func openBeside(folder path: String) async throws(StoreFault) -> StoreSQLite {
    try await open(DataFolder(path, isShared: true))
  }

  private static func open(_ folder: DataFolder) async throws(StoreFault) -> StoreSQLite {
    let database = try Database(path: folder.database, .readWrite)
    try database.execute(
      """
      PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
      PRAGMA cache_size = -32768; PRAGMA temp_store = MEMORY;
      """)
    try Schema.prepare(database)
    let readDatabase = try Database(path: folder.database, .readOnly)
    try readDatabase.execute("PRAGMA busy_timeout = 5000; PRAGMA cache_size = -32768; PRAGMA temp_store = MEMORY;")
    let store = StoreSQLite(folder, Writer(database), Reader(readDatabase))
    store.sweepTags()
    return store
  }

  private init(_ folder: DataFolder, _ writer: Writer, _ reader: Reader) {
    self.folder = folder
    self.writer = writer
    self.reader = reader
  }

  /// Lets the writer keep more of the file in memory than the 32 MiB that it has, for changes all over large indexes.
  public func useCache(mebibytes: Int) async throws(StoreFault) {
    try await writer.configure("PRAGMA cache_size = -\(mebibytes << 10)")
  }

  /// Limits the database file, rounded up to pages of 4 KiB and never below what it has: beyond it operations are
  /// answered `.full`. nil lifts the limit. Default: none.
  public func limitSize(bytes: Int64?) async throws(StoreFault) {
    try await writer.configure("PRAGMA max_page_count = \(bytes.map { ($0 + 4095) / 4096 } ?? 0xFFFF_FFFE)")
  }

  public func check() async throws(StoreFault) {
    try await writer.run { database throws(StoreFault) in
      try database.run("INSERT INTO migration VALUES (-1)")
      try database.run("DELETE FROM migration WHERE version = -1")
    }
  }

  public func close() async {
    await reader.close()
    await writer.close()
    folder.release()
  }

  // MARK: Apps

  public func createApp(_ app: StoredApp, audit: AuditNote) async throws(StoreFault) -> StoredApp {
    try await writer.run { database throws(StoreFault) in
      let made = try AppTable(database).insert(app)
      try AuditTable(database).write(audit, app: made.id)
      return made
    }
  }

  public func app(key: String) async throws(StoreFault) -> StoredApp? {
    try await reader.run { database throws(StoreFault) in try AppTable(database).app(key: key) }
  }

  public func renewSecret(app id: Int64, hash: String, audit: AuditNote) async throws(StoreFault) -> Bool {
    try await writing(audit) { database throws(StoreFault) in
      try AppTable(database).renewSecret(id, hash: hash)
    }
  }

  public func renameApp(
    _ id: Int64, name: String?, ifFingerprint fingerprint: UInt64?, audit: AuditNote
  ) async throws(StoreFault) -> Bool {
    try await writing(audit) { database throws(StoreFault) in
      try AppTable(database).rename(id, name: name, ifFingerprint: fingerprint)
    }
  }

  public func deleteApp(_ id: Int64, at now: Instant, audit: AuditNote) async throws(StoreFault) {
    _ = try await writing(audit) { database throws(StoreFault) in try AppTable(database).delete(id, at: now) }
  }

  public func apps() async throws(StoreFault) -> [StoredApp] {
    try await reader.run { database throws(StoreFault) in try AppTable(database).all() }
  }

  // MARK: Schedules

  public func createSchedule(
    _ schedule: StoredSchedule, limit: Int, clientIDsSince since: Instant, audit: AuditNote
  ) async throws(StoreFault) -> ScheduleCreation {
    try await writer.run { database throws(StoreFault) in
      let answer = try ScheduleTable(database).create(schedule, limit: limit, clientIDsSince: since)
      if case .created = answer { try AuditTable(database).write(audit) }
      return answer
    }
  }

  public func schedule(app: Int64, id: String) async throws(StoreFault) -> StoredSchedule? {
    try await reader.run { database throws(StoreFault) in try ScheduleTable(database).schedule(app: app, id: id) }
  }

  public func schedules(
    app: Int64, onlyLive: Bool, after: Int64, skipping: Int, limit: Int
  ) async throws(StoreFault) -> SchedulePage {
    try await reader.run { database throws(StoreFault) in
      try ScheduleTable(database).page(app: app, onlyLive: onlyLive, after: after, skipping: skipping, limit: limit)
    }
  }

  public func changeSchedule(
    _ old: StoredSchedule, to new: StoredSchedule, audit: AuditNote
  ) async throws(StoreFault) -> Bool {
    try await writing(audit) { database throws(StoreFault) in
      try ScheduleTable(database).change(old, to: new)
    }
  }

  public func deleteSchedule(app: Int64, id: String, audit: AuditNote) async throws(StoreFault) -> Bool {
    try await writing(audit) { database throws(StoreFault) in
      try ScheduleTable(database).delete(app: app, id: id)
    }
  }

  public func dueSchedules(at now: Instant, limit: Int) async throws(StoreFault) -> [StoredSchedule] {
    try await reader.run { database throws(StoreFault) in try ScheduleTable(database).due(at: now, limit: limit) }
  }

  public func nextScheduleDue() async throws(StoreFault) -> Instant? {
    try await reader.run { database throws(StoreFault) in try ScheduleTable(database).nextDue() }
  }

  public func take(
    _ step: ScheduleStep, push: StoredPush?, audience: [AudienceReach.ShardAudience], companion: PlannedPush?,
    message: MessageDraft?
  ) async throws(StoreFault) -> Bool {
    try await writer.run { database throws(StoreFault) in
      try ScheduleTable(database).take(step, push: push, audience: audience, companion: companion, message: message)
    }
  }

  public func firings(app: Int64, schedule id: String) async throws(StoreFault) -> [ScheduleFiring] {
    try await reader.run { database throws(StoreFault) in try ScheduleTable(database).firings(app: app, schedule: id) }
  }

  // MARK: Pushes

  public func lastPushID() async throws(StoreFault) -> Int64 {
    try await reader.run { database throws(StoreFault) in
      try database.first("SELECT coalesce(max(id), 0) FROM push") { $0.int(0) } ?? 0
    }
  }

  public func accept(
    _ push: StoredPush, audience: [AudienceReach.ShardAudience], companion: PlannedPush?, message: MessageDraft?,
    clientIDsSince since: Instant, audit: AuditNote?
  ) async throws(StoreFault) -> Acceptance {
    try await writer.run { database throws(StoreFault) in
      let answer = try PushTable(database).accept(
        push, audience: audience, companion: companion, message: message, clientIDsSince: since)
      if let audit, answer == .accepted { try AuditTable(database).write(audit) }
      return answer
    }
  }

  public func push(
    app: Int64, clientID: String, since: Instant
  ) async throws(StoreFault) -> (push: StoredPush, targeted: Int)? {
    try await reader.run { database throws(StoreFault) in
      try PushTable(database).push(app: app, clientID: clientID, since: since)
    }
  }

  public func unfinished(after: OpenShard?, limit: Int) async throws(StoreFault) -> [OpenShard] {
    try await reader.run { database throws(StoreFault) in
      try PushTable(database).unfinished(after: after, limit: limit)
    }
  }

  public func begin(
    push: Int64, shard: ShardIndex, holder: UInt64, claiming limit: Int, at now: Instant,
    zones: @escaping @Sendable (String) -> TimeZoneRules?
  ) async throws(StoreFault) -> ShardStart {
    let key = ShardKey(push: push, shard: shard)
    let isFree = holds.withLock { holds in
      guard holds[key] == nil else { return false }
      holds[key] = holder
      return true
    }
    guard isFree else { return .busy }
    let hold = ShardHold(push: push, shard: shard, holder: holder)
    do throws(StoreFault) {
      let start = try await writer.run { database throws(StoreFault) in
        try ShardTable(database).begin(hold, claiming: limit, at: now, zones: zones)
      }
      if case .finished = start { await release(hold) }
      return start
    } catch {
      await release(hold)
      throw error
    }
  }

  public func advance(
    _ hold: ShardHold, outcomes: [DeviceOutcome], returning: [ReturnedClaim], claiming: [DeviceOrdinal],
    at now: Instant
  ) async throws(StoreFault) -> ShardAdvance? {
    guard isValid(hold) else { return nil }
    let advance = try await writer.run { database throws(StoreFault) in
      try ShardTable(database).advance(
        hold, outcomes: outcomes, returning: returning, claiming: claiming, at: now)
    }
    if advance.shardFinished { await release(hold) }
    return advance
  }

  public func release(_ hold: ShardHold) async {
    holds.withLock { holds in
      let key = ShardKey(push: hold.push, shard: hold.shard)
      if holds[key] == hold.holder { holds[key] = nil }
    }
  }

  private func isValid(_ hold: ShardHold) -> Bool {
    holds.withLock { $0[ShardKey(push: hold.push, shard: hold.shard)] == hold.holder }
  }

  public func setWaiting(push: Int64, _ reason: String?, at now: Instant) async throws(StoreFault) {
    try await writer.run { database throws(StoreFault) in
      try TraceTable(database).setWaiting(push: push, reason, at: now)
    }
  }

  public func control(
    app: Int64, push: Int64, _ control: PushControl, at now: Instant, audit: AuditNote
  ) async throws(StoreFault) -> PushControlAnswer {
    try await writer.run { database throws(StoreFault) in
      try PushTable(database).control(app: app, push: push, control, at: now, audit)
    }
  }

  public func askToClear(app: Int64, push: Int64, audit: AuditNote) async throws(StoreFault) -> Bool {
    try await writer.run { database throws(StoreFault) in
      try ClearingTable(database).ask(app: app, push: push, audit)
    }
  }

  public func pushesToClear() async throws(StoreFault) -> [PushToClear] {
    try await reader.run { database throws(StoreFault) in try ClearingTable(database).asked() }
  }

  public func noteCleared(push: Int64) async throws(StoreFault) {
    try await writer.run { database throws(StoreFault) in try ClearingTable(database).noteCleared(push) }
  }

  public func recipients(app: Int64, push: Int64) async throws(StoreFault) -> [AudienceReach.ShardAudience] {
    try await reader.run { database throws(StoreFault) in
      try ClearingTable(database).recipients(app: app, push: push)
    }
  }

  public func pacedPushes(app: Int64) async throws(StoreFault) -> Int {
    try await reader.run { database throws(StoreFault) in try PushTable(database).pacedPushes(app: app) }
  }

  public func progress(app: Int64, push: Int64) async throws(StoreFault) -> PushProgress? {
    try await reader.run { database throws(StoreFault) in try PushTable(database).progress(app: app, push: push) }
  }

  public func pushes(app: Int64, before: Int64, limit: Int) async throws(StoreFault) -> [PushProgress] {
    try await reader.run { database throws(StoreFault) in
      try PushTable(database).pushes(app: app, before: before, limit: limit)
    }
  }

  public func keep(
    _ reports: [DeviceReport], app: Int64, registrationID: String, at now: Instant
  ) async throws(StoreFault) -> [ReportAnswer] {
    try await writer.run { database throws(StoreFault) in
      try ReportTable(database).keep(reports, app: app, registrationID: registrationID, at: now)
    }
  }

  public func reportStandings(
    app: Int64, push: Int64, registrationIDs: [String]
  ) async throws(StoreFault) -> [ReportStanding] {
    try await reader.run { database throws(StoreFault) in
      try ReportTable(database).reportStandings(app: app, push: push, registrationIDs: registrationIDs)
    }
  }

  public func breakdown(app: Int64, push: Int64) async throws(StoreFault) -> PushBreakdown? {
    try await reader.run { database throws(StoreFault) in
      try ReportTable(database).breakdown(app: app, push: push)
    }
  }

  public func trace(app: Int64, push: Int64, registrationID: String) async throws(StoreFault) -> DeviceTraceAnswer {
    try await reader.run { database throws(StoreFault) in
      try TraceTable(database).trace(app: app, push: push, registrationID: registrationID)
    }
  }
}
