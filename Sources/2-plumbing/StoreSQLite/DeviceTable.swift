import Audience
import Basics
import Schedule
import Store

/// Reads devices; registering and changing them are in extensions.
struct DeviceTable {
  let database: Database
  let sets: DeviceSets
  let facts: FactTable

  init(_ database: Database) {
    self.database = database
    sets = DeviceSets(database)
    facts = FactTable(database)
  }

  static func id(app: Int64, _ ordinal: DeviceOrdinal) -> Int64 { app << 32 | Int64(ordinal) }

  // MARK: Reading

  func device(app: Int64, registrationID: String) throws(StoreFault) -> StoredDevice? {
    guard let id = try id(app: app, registrationID: registrationID) else { return nil }
    return try stored(id)
  }

  func id(app: Int64, registrationID: String) throws(StoreFault) -> Int64? {
    try database.first(
      "SELECT id FROM device WHERE registration_id = ? AND app = ?", .text(registrationID), .int(app)
    ) { $0.int(0) }
  }

  func registrationID(_ id: Int64) throws(StoreFault) -> String? {
    try database.first("SELECT registration_id FROM device WHERE id = ?", .int(id)) { $0.text(0) }
  }

  /// In the order of their ordinals.
  func ids(app: Int64, alias: String) throws(StoreFault) -> [Int64] {
    var ids: [Int64] = []
    try database.each("SELECT id FROM device WHERE alias = ? AND app = ? ORDER BY id", .text(alias), .int(app)) {
      ids.append($0.int(0))
    }
    return ids
  }

  /// Row by row in the order given, and those that the app has not.
  func ids(app: Int64, registrationIDs: [String]) throws(StoreFault) -> (ids: [Int64], strangers: [String]) {
    var ids: [Int64] = []
    var strangers: [String] = []
    for name in registrationIDs {
      if let id = try id(app: app, registrationID: name) { ids.append(id) } else { strangers.append(name) }
    }
    return (ids, strangers)
  }

  func stored(_ id: Int64) throws(StoreFault) -> StoredDevice {
    var tags: [String] = []
    try database.each(
      "SELECT tag.name FROM device_tag JOIN tag ON tag.id = device_tag.tag WHERE device = ? ORDER BY tag.name", .int(id)
    ) { tags.append($0.text(0)) }
    let device = try database.first(
      """
      SELECT app, registration_id, token, environment, secret_hash, alias, mobile, badge, registered_at, dead_at,
        dead_since, dead_reason, os_version, app_version, language, time_zone, only_scheduled, created_at, seen_at,
        model, permission, quiet, channels FROM device WHERE id = ?
      """, .int(id)
    ) { row throws(StoreFault) in
      guard let environment = APNSEnvironment(rawValue: UInt8(clamping: row.int(3))) else {
        throw .corrupt("a device of no known environment")
      }
      var device = StoredDevice(
        app: row.int(0), ordinal: DeviceOrdinal(truncatingIfNeeded: id), registrationID: row.text(1),
        token: row.blob(2), environment: environment, secretHash: row.blob(4), tags: tags,
        alias: row.optionalText(5), mobile: row.optionalText(6), badge: Int32(clamping: row.int(7)),
        onlyScheduled: row.int(16) != 0, createdAt: Instant(milliseconds: row.int(17)),
        registeredAt: Instant(milliseconds: row.int(8)), seenAt: Instant(milliseconds: row.int(18)),
        death: row.optionalInt(9).map {
          TokenDeath(
            notedAt: Instant(milliseconds: $0), since: row.optionalInt(10).map(Instant.init(milliseconds:)),
            reason: row.text(11))
        },
        facts: DeviceFacts(
          osVersion: row.optionalText(12), appVersion: row.optionalText(13), language: row.optionalText(14),
          timeZone: row.optionalText(15), model: row.optionalText(19),
          permission: row.optionalInt(20).flatMap { NotificationPermission(rawValue: UInt8(clamping: $0)) }))
      device.quietHours = row.optionalText(21).flatMap(QuietHours.init)
      device.channels = row.optionalText(22)?.split(separator: "\n").map(String.init)
      return device
    }
    guard var device else { throw .corrupt("a device without a row") }
    device.purposes = try SpecialTokenTable(database).purposes(of: id)
    return device
  }

  /// What a push that differs by recipient may say of it; nil when there is no such row.
  func recipient(_ id: Int64) throws(StoreFault) -> ClaimedDevice.Recipient? {
    try database.first(
      "SELECT registration_id, alias, os_version, app_version, language, time_zone, model FROM device WHERE id = ?",
      .int(id)
    ) { row in
      ClaimedDevice.Recipient(
        registrationID: row.text(0), alias: row.optionalText(1),
        facts: DeviceFacts(
          osVersion: row.optionalText(2), appVersion: row.optionalText(3), language: row.optionalText(4),
          timeZone: row.optionalText(5), model: row.optionalText(6)))
    }
  }

  func devices(app: Int64, registrationIDs: [String]) throws(StoreFault) -> [StoredDevice] {
    var devices: [StoredDevice] = []
    var seen: Set<Int64> = []
    for name in registrationIDs {
      if let id = try id(app: app, registrationID: name), seen.insert(id).inserted { devices.append(try stored(id)) }
    }
    return devices
  }

  func devices(app: Int64, ordinals: [DeviceOrdinal]) throws(StoreFault) -> [StoredDevice] {
    var devices: [StoredDevice] = []
    for ordinal in ordinals { devices.append(try stored(Self.id(app: app, ordinal))) }
    return devices
  }

  func devices(app: Int64, alias: String) throws(StoreFault) -> [StoredDevice] {
    var devices: [StoredDevice] = []
    for id in try ids(app: app, alias: alias) { devices.append(try stored(id)) }
    return devices
  }
}
