import Audience
import Basics
import Store

/// One app's devices as an audience is evaluated against them.
struct AudienceTables: AudienceIndex {
  let database: Database
  private let app: Int64
  private let sets: DeviceSets
  private let facts: FactTable
  /// Ordinals below it are given.
  private let nextOrdinal: Int64
  /// Sets that every evaluation asks for, and that most shards have nobody of.
  private let sandbox: KnownSet
  private let dead: KnownSet
  private let gone: KnownSet

  private struct KnownSet {
    var id: Int64
    var shards: Set<ShardIndex>
  }

  init(_ database: Database, app: Int64) throws(StoreFault) {
    self.database = database
    self.app = app
    let sets = DeviceSets(database)
    self.sets = sets
    facts = FactTable(database)
    nextOrdinal = try database.first("SELECT next_ordinal FROM app WHERE id = ?", .int(app)) { $0.int(0) } ?? 0
    func known(_ key: DeviceSetKey?) throws(StoreFault) -> KnownSet {
      guard let key else { return KnownSet(id: 0, shards: []) }
      return KnownSet(id: key.id, shards: Set(try sets.shards(ofSet: key.id)))
    }
    sandbox = try known(.sandbox(app: app))
    dead = try known(.dead(app: app))
    gone = try known(try facts.id(of: .gone, app: app).map { .fact($0) })
  }

  var shardCount: Int { Int((nextOrdinal + 0xFFFF) >> 16) }

  func members(of name: AudienceName) throws(StoreFault) -> TermMembers {
    let ids: [Int64]
    switch name {
    case .tag(let name):
      return try members(of: try TagTable(database).id(of: name, app: app).map(DeviceSetKey.tag))
    case .alias(let name): ids = try DeviceTable(database).ids(app: app, alias: name)
    case .registrationID(let name): ids = try DeviceTable(database).ids(app: app, registrationIDs: [name]).ids
    case .holds(let purpose):
      return try members(of: try facts.id(of: .holds(purpose), app: app).map(DeviceSetKey.fact))
    case .file(let id): return .devices(try FileTable(database).members(of: id, app: app))
    }
    return .devices(DeviceSet(ids.map { DeviceOrdinal(truncatingIfNeeded: $0) }))
  }

  private func members(of key: DeviceSetKey?) throws(StoreFault) -> TermMembers {
    guard let set = key?.id else { return .nobody }
    return .set(id: set, shards: try sets.shards(ofSet: set))
  }

  func members(ofSet id: Int64, in shard: ShardIndex) throws(StoreFault) -> DeviceSet {
    try sets.members(ofSet: id, in: shard)
  }

  func shards(ofSet id: Int64) throws(StoreFault) -> [ShardIndex] { try sets.shards(ofSet: id) }

  func values(of fact: DeviceFact) throws(StoreFault) -> [(value: String, set: Int64)] {
    try facts.values(app: app, kind: fact.rawValue)
  }

  func days(of time: DeviceTime) throws(StoreFault) -> [(day: Int64, set: Int64)] {
    try facts.values(app: app, kind: time.kind).compactMap { value, set in Int64(value).map { ($0, set) } }
  }

  /// By one range of rows where most of them are asked for, else row by row.
  func devices(
    among devices: DeviceSet, in shard: ShardIndex, _ time: DeviceTime, from: Instant?, before: Instant?
  ) throws(StoreFault) -> DeviceSet {
    guard let first = devices.first, let last = devices.last else { return devices }
    var found: [DeviceOrdinal] = []
    let column: Int32 =
      switch time {
      case .created: 1
      case .lastSeen: 2
      }
    func read(_ first: DeviceOrdinal, _ last: DeviceOrdinal) throws(StoreFault) {
      try database.each(
        "SELECT id, created_at, seen_at FROM device WHERE id BETWEEN ? AND ? ORDER BY id",
        .int(DeviceTable.id(app: app, first)), .int(DeviceTable.id(app: app, last))
      ) { row in
        let moment = Instant(milliseconds: row.int(column))
        guard from.map({ $0 <= moment }) ?? true, before.map({ moment < $0 }) ?? true else { return }
        found.append(DeviceOrdinal(truncatingIfNeeded: row.int(0)))
      }
    }
    if Int(last - first) < 4 * devices.count {
      try read(first, last)
      return DeviceSet(found).intersection(devices)
    }
    for ordinal in devices { try read(ordinal, ordinal) }
    return DeviceSet(found)
  }

  func everyone(in shard: ShardIndex) throws(StoreFault) -> DeviceSet {
    let range = shard.ordinals
    guard nextOrdinal > range.lowerBound else { return DeviceSet() }
    let all = DeviceSet(range.lowerBound...DeviceOrdinal(min(Int64(range.upperBound), nextOrdinal - 1)))
    return try members(of: gone, in: shard).map(all.subtracting) ?? all
  }

  func dead(in shard: ShardIndex) throws(StoreFault) -> DeviceSet {
    try members(of: dead, in: shard) ?? DeviceSet()
  }

  func devices(of environment: APNSEnvironment, in shard: ShardIndex) throws(StoreFault) -> DeviceSet {
    let sandboxed = try members(of: sandbox, in: shard)
    switch environment {
    case .sandbox: return sandboxed ?? DeviceSet()
    case .production:
      let all = try everyone(in: shard)
      return sandboxed.map(all.subtracting) ?? all
    }
  }

  private func members(of set: KnownSet, in shard: ShardIndex) throws(StoreFault) -> DeviceSet? {
    set.shards.contains(shard) ? try sets.members(ofSet: set.id, in: shard) : nil
  }
}
