import Audience
import Store

/// Keeps which devices have which tags: by device in `device_tag`, by tag in `device_set`, counted in `tag`.
struct TagTable {
  let database: Database
  private let sets: DeviceSets

  init(_ database: Database) {
    self.database = database
    sets = DeviceSets(database)
  }

  // MARK: Reading

  func tags(app: Int64, after: String?, limit: Int) throws(StoreFault) -> [StoredTag] {
    var tags: [StoredTag] = []
    try database.each(
      "SELECT name, devices FROM tag WHERE app = ? AND name > ? ORDER BY name LIMIT ?", .int(app),
      .text(after ?? ""), .int(limit)
    ) { tags.append(StoredTag(name: $0.text(0), devices: Int($0.int(1)))) }
    return tags
  }

  func tag(app: Int64, name: String) throws(StoreFault) -> StoredTag? {
    try database.first("SELECT devices FROM tag WHERE app = ? AND name = ?", .int(app), .text(name)) {
      StoredTag(name: name, devices: Int($0.int(0)))
    }
  }

  func id(of name: String, app: Int64) throws(StoreFault) -> Int64? {
    try database.first("SELECT id FROM tag WHERE app = ? AND name = ?", .int(app), .text(name)) { $0.int(0) }
  }

  // MARK: Changing

  func change(
    app: Int64, name: String, _ edit: TagEdit, limits: DeviceLimits
  ) throws(StoreFault) -> MembershipAnswer {
    let devices = DeviceTable(database)
    let (adding, strangers) = try devices.ids(app: app, registrationIDs: edit.add)
    let (removing, others) = try devices.ids(app: app, registrationIDs: edit.remove)
    guard strangers.isEmpty, others.isEmpty else { return .noSuchDevices(strangers + others) }
    for (id, registrationID) in zip(adding, edit.add) {
      let others = try database.first(
        """
        SELECT count(*) FROM device_tag JOIN tag ON tag.id = device_tag.tag WHERE device = ? AND tag.name <> ?
        """, .int(id), .text(name)
      ) { Int($0.int(0)) }
      if let others, others >= limits.tagsPerDevice {
        return .tooManyTags(others + 1, registrationID: registrationID)
      }
    }
    let added = DeviceSet(adding.map { DeviceOrdinal(truncatingIfNeeded: $0) })
    let removed = DeviceSet(removing.map { DeviceOrdinal(truncatingIfNeeded: $0) }).subtracting(added)
    let lost = try remove(removed, from: name, of: app)
    return .done(changed: lost + (try add(added, to: name, of: app)))
  }

  /// Answers how many did not have it.
  @discardableResult
  func add(_ devices: DeviceSet, to name: String, of app: Int64) throws(StoreFault) -> Int {
    guard !devices.isEmpty else { return 0 }
    let known = try id(of: name, app: app)
    let tag = if let known { known } else { try make(name, of: app) }
    var added = 0
    for ordinal in devices {
      try database.run(
        "INSERT OR IGNORE INTO device_tag VALUES (?, ?)", .int(DeviceTable.id(app: app, ordinal)), .int(tag))
      added += database.changes
    }
    guard added > 0 else { return 0 }
    try sets.insert(devices, into: .tag(tag))
    try database.run("UPDATE tag SET devices = devices + ? WHERE id = ?", .int(added), .int(tag))
    return added
  }

  /// Answers how many had it.
  @discardableResult
  func remove(_ devices: DeviceSet, from name: String, of app: Int64) throws(StoreFault) -> Int {
    guard !devices.isEmpty, let tag = try id(of: name, app: app) else { return 0 }
    var removed = 0
    for ordinal in devices {
      try database.run(
        "DELETE FROM device_tag WHERE device = ? AND tag = ?", .int(DeviceTable.id(app: app, ordinal)), .int(tag))
      removed += database.changes
    }
    guard removed > 0 else { return 0 }
    try sets.remove(devices, from: .tag(tag))
    try database.run("UPDATE tag SET devices = devices - ? WHERE id = ?", .int(removed), .int(tag))
    try database.run("DELETE FROM tag WHERE id = ? AND devices = 0", .int(tag))
    return removed
  }

  /// The id is that of no dropped tag either, since what is left of those must not come to life.
  private func make(_ name: String, of app: Int64) throws(StoreFault) -> Int64 {
    try database.run(
      """
      INSERT INTO tag (id, app, name, devices) VALUES (1 + max(coalesce((SELECT max(id) FROM tag), 0),
        coalesce((SELECT max(id) FROM dropped_tag), 0)), ?, ?, 0)
      """, .int(app), .text(name))
    return database.lastInsertID
  }

  // MARK: Dropping

  /// Whether there was such a tag.
  func drop(app: Int64, name: String) throws(StoreFault) -> Bool {
    guard let tag = try id(of: name, app: app) else { return false }
    try database.run("INSERT INTO dropped_tag VALUES (?, ?)", .int(tag), .int(app))
    try database.run("DELETE FROM tag WHERE id = ?", .int(tag))
    return true
  }

  private static let sweepLimit = 2000

  /// Removes some of what dropped tags left; false when nothing is left.
  func sweep() throws(StoreFault) -> Bool {
    let dropped = try database.first("SELECT id, app FROM dropped_tag LIMIT 1") { (tag: $0.int(0), app: $0.int(1)) }
    guard let (tag, app) = dropped else { return false }
    guard let shard = try sets.shards(ofSet: DeviceSetKey.tag(tag).id).first else {
      try database.run("DELETE FROM dropped_tag WHERE id = ?", .int(tag))
      return true
    }
    let members = try sets.members(ofSet: DeviceSetKey.tag(tag).id, in: shard).ordinals(limit: Self.sweepLimit)
    for ordinal in members {
      try database.run(
        "DELETE FROM device_tag WHERE device = ? AND tag = ?", .int(DeviceTable.id(app: app, ordinal)), .int(tag))
    }
    try sets.remove(DeviceSet(members), from: .tag(tag))
    return true
  }
}
