import Audience
import Basics
import Schedule
import Store

/// Takes devices by the thousand: sets of devices are written once a call, not once a device.
struct ImportTable {
  let database: Database

  init(_ database: Database) { self.database = database }

  func insert(
    _ devices: [ImportedDevice], into app: Int64, limits: DeviceLimits
  ) throws(StoreFault) -> [ImportAnswer] {
    let first = try database.first("SELECT next_ordinal FROM app WHERE id = ?", .int(app)) { $0.int(0) }
    guard var next = first else { throw .corrupt("no app \(app)") }
    var members = Members()
    var answers: [ImportAnswer] = []
    answers.reserveCapacity(devices.count)
    for device in devices {
      guard next <= Int64(DeviceOrdinal.max) else {
        throw .full("the app has all devices that ordinals can count")
      }
      let ordinal = DeviceOrdinal(next)
      let answer = try insert(device, as: ordinal, of: app, limits)
      if answer == .kept {
        members.add(ordinal, device)
        let id = DeviceTable.id(app: app, ordinal)
        for purpose in try SpecialTokenTable(database).insert(device.tokens, of: id) {
          members.facts[.holds(purpose), default: []].append(ordinal)
        }
        next += 1
      }
      answers.append(answer)
    }
    try database.run("UPDATE app SET next_ordinal = ? WHERE id = ?", .int(next), .int(app))
    let tags = TagTable(database)
    for (name, ordinals) in members.tags { try tags.add(DeviceSet(ordinals), to: name, of: app) }
    let facts = FactTable(database)
    for (key, ordinals) in members.facts { try facts.insert(DeviceSet(ordinals), into: key, of: app) }
    try DeviceSets(database).insert(DeviceSet(members.sandbox), into: .sandbox(app: app))
    return answers
  }

  private struct Members {
    var tags: [String: [DeviceOrdinal]] = [:]
    var facts: [FactKey: [DeviceOrdinal]] = [:]
    var sandbox: [DeviceOrdinal] = []

    mutating func add(_ ordinal: DeviceOrdinal, _ device: ImportedDevice) {
      for tag in device.tags { tags[tag, default: []].append(ordinal) }
      for (fact, value) in device.facts.values { facts[.fact(fact, value), default: []].append(ordinal) }
      facts[.created(device.createdAt), default: []].append(ordinal)
      facts[.seen(device.seenAt), default: []].append(ordinal)
      if let hours = device.quietHours { facts[.quiet(hours), default: []].append(ordinal) }
      switch device.environment {
      case .sandbox: sandbox.append(ordinal)
      case .production: break
      }
    }
  }

  private func insert(
    _ device: ImportedDevice, as ordinal: DeviceOrdinal, of app: Int64, _ limits: DeviceLimits
  ) throws(StoreFault) -> ImportAnswer {
    if let alias = device.alias {
      let others = try database.first(
        "SELECT count(*) FROM device WHERE alias = ? AND app = ? AND dead_at IS NULL", .text(alias), .int(app)
      ) { Int($0.int(0)) }
      if let others, others >= limits.devicesPerAlias {
        return try present(device, in: app) ?? .aliasFull(devices: others)
      }
    }
    let facts = device.facts
    try database.run(
      """
      INSERT INTO device (id, app, registration_id, token, environment, secret_hash, alias, mobile, badge,
        only_scheduled, created_at, registered_at, seen_at, os_version, app_version, language, time_zone, model,
        permission, quiet, channels, changed_after)
        VALUES (?, ?, ?, ?, ?, x'', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, (SELECT coalesce(max(id), 0) FROM push))
        ON CONFLICT DO NOTHING
      """, .int(DeviceTable.id(app: app, ordinal)), .int(app), .text(device.registrationID), .blob(device.token),
      .int(device.environment.rawValue), .optional(device.alias), .optional(device.mobile), .int(device.badge),
      .int(device.onlyScheduled ? 1 : 0), .int(device.createdAt.milliseconds), .int(device.registeredAt.milliseconds),
      .int(device.seenAt.milliseconds), .optional(facts.osVersion), .optional(facts.appVersion),
      .optional(facts.language), .optional(facts.timeZone), .optional(facts.model),
      .optional(facts.permission.map { Int64($0.rawValue) }), .optional(device.quietHours?.description),
      .optional(device.channels.map(DeviceTable.column(ofChannels:))))
    if database.changes > 0 { return .kept }
    return try present(device, in: app) ?? .registrationIDTaken
  }

  /// What the app's device with this token means for the one that is brought; nil when there is none.
  private func present(_ device: ImportedDevice, in app: Int64) throws(StoreFault) -> ImportAnswer? {
    let holder = try database.first(
      "SELECT registration_id FROM device WHERE token = ? AND app = ?", .blob(device.token), .int(app)
    ) { $0.text(0) }
    guard let holder else { return nil }
    return !device.isIDGiven || holder == device.registrationID ? .known : .tokenTaken(registrationID: holder)
  }

  // MARK: Marks

  func mark(app: Int64, source: String) throws(StoreFault) -> ImportMark? {
    try database.first(
      "SELECT position, lines FROM device_import WHERE app = ? AND source = ?", .int(app), .text(source)
    ) { ImportMark(source: source, position: $0.int(0), lines: $0.int(1)) }
  }

  func set(_ mark: ImportMark, app: Int64) throws(StoreFault) {
    try database.run(
      "INSERT OR REPLACE INTO device_import VALUES (?, ?, ?, ?)", .int(app), .text(mark.source), .int(mark.position),
      .int(mark.lines))
  }

  func forget(app: Int64, source: String) throws(StoreFault) {
    try database.run("DELETE FROM device_import WHERE app = ? AND source = ?", .int(app), .text(source))
  }
}
