import Audience
import Basics
import Schedule
import Store

extension DeviceTable {
  func noteSeen(app: Int64, registrationID: String, at now: Instant) throws(StoreFault) {
    let last = try database.first(
      "SELECT id, seen_at FROM device WHERE registration_id = ? AND app = ?", .text(registrationID), .int(app)
    ) { (id: $0.int(0), seenAt: Instant(milliseconds: $0.int(1))) }
    guard let last, UsageUnit.isNews(now, after: last.seenAt) else { return }
    try database.run("UPDATE device SET seen_at = ? WHERE id = ?", .int(now.milliseconds), .int(last.id))
    try UsageTable(database).note(app: app, at: now, last: last.seenAt)
    try facts.move(
      DeviceOrdinal(truncatingIfNeeded: last.id), of: app, from: [.seen(last.seenAt)], to: [.seen(now)])
  }

  func removeAlias(
    app: Int64, alias: String, from registrationIDs: [String]
  ) throws(StoreFault) -> MembershipAnswer {
    let (ids, strangers) = try ids(app: app, registrationIDs: registrationIDs)
    guard strangers.isEmpty else { return .noSuchDevices(strangers) }
    try InboxTable(database).park(devices: ids, alias: alias, app: app)
    var changed = 0
    for id in ids {
      try database.run("UPDATE device SET alias = NULL WHERE id = ? AND alias = ?", .int(id), .text(alias))
      changed += database.changes
    }
    return .done(changed: changed)
  }

  /// Whether somebody had it.
  func deleteAlias(app: Int64, alias: String) throws(StoreFault) -> Bool {
    try InboxTable(database).park(devices: try ids(app: app, alias: alias), alias: alias, app: app)
    try database.run("UPDATE device SET alias = NULL WHERE alias = ? AND app = ?", .text(alias), .int(app))
    return database.changes > 0
  }

  static func column(ofChannels channels: [String]) -> String { Set(channels).sorted().joined(separator: "\n") }

  private func change(aliasOf device: StoredDevice, _ id: Int64, _ change: DeviceEdit.Text) throws(StoreFault) {
    let alias = change.value
    let inbox = InboxTable(database)
    if alias != device.alias {
      if let former = device.alias { try inbox.park(devices: [id], alias: former, app: device.app) }
      try database.run("UPDATE device SET alias = ? WHERE id = ?", .optional(alias), .int(id))
    }
    // also when it had it: what waited when it registered anew comes now
    if let alias { try inbox.unpark(device: id, alias: alias, app: device.app) }
  }

  func change(
    app: Int64, registrationID: String, _ edit: DeviceEdit, limits: DeviceLimits
  ) throws(StoreFault) -> DeviceEditAnswer {
    guard let id = try id(app: app, registrationID: registrationID) else { return .noSuchDevice }
    let device = try stored(id)
    if let expected = edit.ifUnchanged, expected != device.fingerprint { return .changedMeanwhile }
    if case .set(let alias) = edit.alias {
      let others = try database.first(
        "SELECT count(*) FROM device WHERE alias = ? AND app = ? AND id <> ? AND dead_at IS NULL", .text(alias),
        .int(app), .int(id)
      ) { Int($0.int(0)) }
      if let others, others >= limits.devicesPerAlias { return .aliasFull(devices: others) }
    }
    let present = Set(device.tags)
    let wanted = (edit.clearTags ? [] : present.subtracting(edit.removeTags)).union(edit.addTags)
    guard wanted.count <= limits.tagsPerDevice else { return .tooManyTags(wanted.count) }
    let tags = TagTable(database)
    for name in present.subtracting(wanted) { try tags.remove([device.ordinal], from: name, of: app) }
    for name in wanted.subtracting(present) { try tags.add([device.ordinal], to: name, of: app) }
    if let change = edit.alias { try self.change(aliasOf: device, id, change) }
    if let mobile = edit.mobile {
      try database.run("UPDATE device SET mobile = ? WHERE id = ?", .optional(mobile.value), .int(id))
    }
    if let badge = edit.badge {
      try database.run(
        "UPDATE device SET badge = ?, badge_round = badge_round + 1 WHERE id = ?",
        .int(BadgeArithmetic.set(badge).applied(to: 0)), .int(id))
    }
    if let onlyScheduled = edit.onlyScheduled {
      try database.run(
        "UPDATE device SET only_scheduled = ? WHERE id = ?", .int(onlyScheduled ? 1 : 0), .int(id))
    }
    if let hours = edit.quietHours {
      try database.run("UPDATE device SET quiet = ? WHERE id = ?", .optional(hours.value?.description), .int(id))
    }
    if let channels = edit.channels {
      let lines = channels.value.map(Self.column(ofChannels:))
      try database.run("UPDATE device SET channels = ? WHERE id = ?", .optional(lines), .int(id))
    }
    if let token = edit.token { try give(token, to: device, id) }
    for token in edit.tokens { try SpecialTokenTable(database).keep(token, of: id, limits) }
    let facts = device.facts.updated(by: edit.facts)
    if facts != device.facts { try write(facts, id) }
    if facts != device.facts || edit.token != nil || edit.quietHours != nil {
      try self.facts.move(device.ordinal, of: app, from: device.factKeys, to: try stored(id).factKeys)
    }
    return .done
  }
}
