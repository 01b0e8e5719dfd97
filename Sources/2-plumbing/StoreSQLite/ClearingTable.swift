import Audience
import Basics
import Store

/// Which pushes phones are to show no more, and whom they reached.
struct ClearingTable {
  let database: Database

  init(_ database: Database) { self.database = database }

  func ask(app: Int64, push: Int64, _ audit: AuditNote) throws(StoreFault) -> Bool {
    try database.run("UPDATE push SET clearing = 1 WHERE id = ? AND app = ? AND clearing = 0", .int(push), .int(app))
    if database.changes > 0 {
      try AuditTable(database).write(audit)
      return true
    }
    return try database.first("SELECT 1 FROM push WHERE id = ? AND app = ?", .int(push), .int(app)) { _ in true }
      ?? false
  }

  func asked() throws(StoreFault) -> [PushToClear] {
    var pushes: [PushToClear] = []
    try database.each("SELECT id, app, finished_at IS NOT NULL FROM push WHERE clearing = 1 ORDER BY id") {
      pushes.append(PushToClear(app: $0.int(1), push: $0.int(0), isFinished: $0.int(2) != 0))
    }
    return pushes
  }

  func noteCleared(_ push: Int64) throws(StoreFault) {
    try database.run("UPDATE push SET clearing = 2 WHERE id = ?", .int(push))
  }

  /// One shard after another, each of the batches that APNs answered.
  func recipients(app: Int64, push: Int64) throws(StoreFault) -> [AudienceReach.ShardAudience] {
    guard let (found, _) = try PushTable(database).read(push, app: app) else { return [] }
    var members: [ShardIndex: DeviceSet] = [:]
    try database.each("SELECT shard, members FROM push_accepted WHERE push = ?", .int(push)) {
      row throws(StoreFault) in
      members[ShardIndex(truncatingIfNeeded: row.int(0)), default: DeviceSet()]
        .formUnion(try DeviceSet(column: 1, of: row))
    }
    let index = try AudienceTables(database, app: app)
    var shards: [AudienceReach.ShardAudience] = []
    for (shard, devices) in members.sorted(by: { $0.key < $1.key }) {
      let alive = devices.intersection(try index.devices(of: found.environment, in: shard))
        .subtracting(try index.dead(in: shard))
      if !alive.isEmpty { shards.append(.init(shard: shard, devices: alive)) }
    }
    return shards
  }
}
