import Audience
import Store

/// Names a set of devices that is kept shard by shard.
enum DeviceSetKey {
  case tag(Int64)
  case dead(app: Int64)
  case sandbox(app: Int64)
  case fact(Int64)

  var id: Int64 {
    switch self {
    case .tag(let tag): tag * 4
    case .dead(let app): app * 4 + 1
    case .sandbox(let app): app * 4 + 2
    case .fact(let fact): fact * 4 + 3
    }
  }
}

/// Reads and changes `device_set`.
struct DeviceSets {
  let database: Database

  init(_ database: Database) { self.database = database }

  func members(ofSet id: Int64, in shard: ShardIndex) throws(StoreFault) -> DeviceSet {
    let row = id << 16 | Int64(shard)
    let members = try database.first("SELECT members FROM device_set WHERE id = ?", .int(row)) {
      row throws(StoreFault) in try DeviceSet(column: 0, of: row)
    }
    return members ?? DeviceSet()
  }

  /// The shards that hold at least one, in growing order.
  func shards(ofSet id: Int64) throws(StoreFault) -> [ShardIndex] {
    var shards: [ShardIndex] = []
    try database.each("SELECT id FROM device_set WHERE id BETWEEN ? AND ?", .int(id << 16), .int(id << 16 | 0xFFFF)) {
      shards.append(ShardIndex(truncatingIfNeeded: $0.int(0)))
    }
    return shards
  }

  func hasMembers(_ id: Int64) throws(StoreFault) -> Bool {
    try database.first(
      "SELECT 1 FROM device_set WHERE id BETWEEN ? AND ? LIMIT 1", .int(id << 16), .int(id << 16 | 0xFFFF)
    ) { _ in true } ?? false
  }

  /// Of any shards: each is written once, and none that has them all.
  func insert(_ devices: DeviceSet, into key: DeviceSetKey) throws(StoreFault) {
    for shard in devices.shards {
      let members = try members(ofSet: key.id, in: shard)
      let grown = members.union(devices.slice(shard))
      if grown.count > members.count { try write(grown, key, shard) }
    }
  }

  /// Likewise.
  func remove(_ devices: DeviceSet, from key: DeviceSetKey) throws(StoreFault) {
    for shard in devices.shards {
      let members = try members(ofSet: key.id, in: shard)
      let left = members.subtracting(devices)
      if left.count < members.count { try write(left, key, shard) }
    }
  }

  func removeAll(from key: DeviceSetKey) throws(StoreFault) {
    try database.run(
      "DELETE FROM device_set WHERE id BETWEEN ? AND ?", .int(key.id << 16), .int(key.id << 16 | 0xFFFF))
  }

  private func write(_ members: DeviceSet, _ key: DeviceSetKey, _ shard: ShardIndex) throws(StoreFault) {
    let row = key.id << 16 | Int64(shard)
    if members.isEmpty {
      try database.run("DELETE FROM device_set WHERE id = ?", .int(row))
    } else {
      try database.run(
        "INSERT INTO device_set VALUES (?1, ?2) ON CONFLICT (id) DO UPDATE SET members = ?2", .int(row),
        .blob(members.serialized()))
    }
  }
}

extension DeviceSet {
  /// From a column that `serialized` was written to; a null is the empty set.
  init(column: Int32, of row: Row) throws(StoreFault) {
    guard !row.isNull(column) else {
      self.init()
      return
    }
    guard let set = row.withBlob(column, { DeviceSet(serialized: $0) }) else {
      throw .corrupt("a set of devices cannot be read")
    }
    self = set
  }
}
