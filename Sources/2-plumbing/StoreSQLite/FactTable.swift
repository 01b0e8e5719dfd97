import Audience
import Basics
import Schedule
import Store

/// What devices have in common and a set of them is kept for; the numbers are kept in files.
struct FactKey: Hashable {
  var kind: UInt8
  var value: String

  /// Devices that were deleted, so that their ordinals are nobody's.
  static let gone = FactKey(kind: 0, value: "")

  static func fact(_ fact: DeviceFact, _ value: String) -> FactKey { FactKey(kind: fact.rawValue, value: value) }
  static func created(_ moment: Instant) -> FactKey { day(.created, of: moment) }
  static func seen(_ moment: Instant) -> FactKey { day(.lastSeen, of: moment) }

  /// Who has such a token, alive.
  static func holds(_ purpose: TokenPurpose) -> FactKey { FactKey(kind: 110 + purpose.kind, value: purpose.name) }

  /// Whose user chose these quiet hours.
  static func quiet(_ hours: QuietHours) -> FactKey { FactKey(kind: quietKind, value: hours.description) }
  static let quietKind: UInt8 = 120

  private static func day(_ time: DeviceTime, of moment: Instant) -> FactKey {
    let second = max(0, moment.seconds)  // what is before 1970 is of no clock that was set
    return FactKey(kind: time.kind, value: String(second / 86_400))
  }
}

extension DeviceTime {
  var kind: UInt8 {
    switch self {
    case .created: 100
    case .lastSeen: 101
    }
  }
}

extension StoredDevice {
  var factKeys: Set<FactKey> {
    var keys = Set(facts.values.map { FactKey.fact($0.key, $0.value) })
    keys.insert(.created(createdAt))
    keys.insert(.seen(seenAt))
    if let quietHours { keys.insert(.quiet(quietHours)) }
    return keys
  }
}

/// Keeps for each value of a fact the set of the devices that have it. A value has a row only while somebody has it.
struct FactTable {
  let database: Database
  private let sets: DeviceSets

  init(_ database: Database) {
    self.database = database
    sets = DeviceSets(database)
  }

  /// From the sets of `old` into those of `new`; those that are the same are not touched.
  func move(
    _ ordinal: DeviceOrdinal, of app: Int64, from old: Set<FactKey>, to new: Set<FactKey>
  ) throws(StoreFault) {
    for key in old.subtracting(new) { try remove([ordinal], from: key, of: app) }
    for key in new.subtracting(old) { try insert([ordinal], into: key, of: app) }
  }

  func insert(_ devices: DeviceSet, into key: FactKey, of app: Int64) throws(StoreFault) {
    let known = try id(of: key, app: app)
    let id = if let known { known } else { try make(key, of: app) }
    try sets.insert(devices, into: .fact(id))
  }

  func remove(_ devices: DeviceSet, from key: FactKey, of app: Int64) throws(StoreFault) {
    guard let id = try id(of: key, app: app) else { return }
    try sets.remove(devices, from: .fact(id))
    if try !sets.hasMembers(DeviceSetKey.fact(id).id) {
      try database.run("DELETE FROM fact WHERE id = ?", .int(id))
    }
  }

  func id(of key: FactKey, app: Int64) throws(StoreFault) -> Int64? {
    try database.first(
      "SELECT id FROM fact WHERE app = ? AND kind = ? AND value = ?", .int(app), .int(key.kind), .text(key.value)
    ) { $0.int(0) }
  }

  private func make(_ key: FactKey, of app: Int64) throws(StoreFault) -> Int64 {
    try database.run(
      "INSERT INTO fact (app, kind, value) VALUES (?, ?, ?)", .int(app), .int(key.kind), .text(key.value))
    return database.lastInsertID
  }

  func values(app: Int64, kind: UInt8) throws(StoreFault) -> [(value: String, set: Int64)] {
    var values: [(value: String, set: Int64)] = []
    try database.each("SELECT value, id FROM fact WHERE app = ? AND kind = ?", .int(app), .int(kind)) { row in
      values.append((row.text(0), DeviceSetKey.fact(row.int(1)).id))
    }
    return values
  }

  /// Sorts all devices of a file that has no sets of facts yet into them, a shard at a time.
  func build() throws(StoreFault) {
    var members: [FactKey: [DeviceOrdinal]] = [:]
    var last: (app: Int64, shard: ShardIndex)?
    func flush() throws(StoreFault) {
      guard let last else { return }
      for (key, ordinals) in members { try insert(DeviceSet(ordinals), into: key, of: last.app) }
      members = [:]
    }
    try database.each(
      "SELECT id, os_version, app_version, language, time_zone, created_at, seen_at FROM device ORDER BY id"
    ) { row throws(StoreFault) in
      let ordinal = DeviceOrdinal(truncatingIfNeeded: row.int(0))
      let place = (app: row.int(0) >> 32, shard: ordinal.shard)
      if let known = last, known != place { try flush() }
      last = place
      let facts = DeviceFacts(
        osVersion: row.optionalText(1), appVersion: row.optionalText(2), language: row.optionalText(3),
        timeZone: row.optionalText(4))
      for (fact, value) in facts.values { members[.fact(fact, value), default: []].append(ordinal) }
      members[.created(Instant(milliseconds: row.int(5))), default: []].append(ordinal)
      members[.seen(Instant(milliseconds: row.int(6))), default: []].append(ordinal)
    }
    try flush()
  }
}
