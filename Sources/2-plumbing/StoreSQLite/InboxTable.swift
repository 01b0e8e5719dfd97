import Audience
import Basics
import Store

/// Reads a device's inbox: the rows of `inbox` and those of `message_shard` whose set has the device, merged by position.
/// What is gone from `message` means nothing, whatever still stands in the others.
struct InboxTable {
  let database: Database

  init(_ database: Database) { self.database = database }

  /// Names a row of `message`.
  static func place(app: Int64, _ position: Int64) -> Int64 { app << 40 | position }

  static func position(of place: Int64) -> Int64 { place & 0xFF_FFFF_FFFF }

  func state(app: Int64, ordinal: DeviceOrdinal) throws(StoreFault) -> InboxState? {
    let device = DeviceTable.id(app: app, ordinal)
    let last = try database.first(
      """
      SELECT message_position, messages_forgotten FROM device JOIN app ON app.id = device.app
        WHERE device.id = ? AND deleted_at IS NULL
      """, .int(device)
    ) { (last: $0.int(0), forgotten: $0.int(1)) }
    guard let last else { return nil }
    return InboxState(
      acknowledged: try cursor(of: device)?.position ?? 0, forgotten: last.forgotten, last: last.last)
  }

  private func last(of app: Int64) throws(StoreFault) -> Int64 {
    try database.first("SELECT message_position FROM app WHERE id = ?", .int(app)) { $0.int(0) } ?? 0
  }

  func cursor(of device: Int64) throws(StoreFault) -> (position: Int64, at: Instant)? {
    try database.first("SELECT position, at FROM inbox_cursor WHERE device = ?", .int(device)) {
      ($0.int(0), Instant(milliseconds: $0.int(1)))
    }
  }

  // MARK: Pages

  func page(
    app: Int64, ordinal: DeviceOrdinal, _ range: InboxRange, at now: Instant
  ) throws(StoreFault) -> InboxPage {
    let wanted = range.limit + 1
    var entries = try own(DeviceTable.id(app: app, ordinal), range, wanted, at: now)
    entries += try shared(app: app, ordinal, range, wanted, at: now)
    entries.sort { range.newestFirst ? $0.position > $1.position : $0.position < $1.position }
    return InboxPage(
      entries: Array(entries.prefix(range.limit)), hasMore: entries.count > range.limit, through: try last(of: app))
  }

  private func own(
    _ device: Int64, _ range: InboxRange, _ limit: Int, at now: Instant
  ) throws(StoreFault) -> [InboxEntry] {
    var entries: [InboxEntry] = []
    let values: (SQLValue, SQLValue, SQLValue, SQLValue, SQLValue) = (
      .int(device), .int(range.after), .int(range.before), .int(now.milliseconds), .int(limit)
    )
    if range.newestFirst {
      try database.each(
        """
        SELECT inbox.position, id, accepted_at, kind, body FROM inbox JOIN message ON place = inbox.message
          WHERE device = ? AND inbox.position > ? AND inbox.position < ? AND withdrawn_at IS NULL
            AND coalesce(expires_at > ?, 1) ORDER BY inbox.position DESC LIMIT ?
        """, values.0, values.1, values.2, values.3, values.4
      ) { entries.append(Self.entry($0)) }
    } else {
      try database.each(
        """
        SELECT inbox.position, id, accepted_at, kind, body FROM inbox JOIN message ON place = inbox.message
          WHERE device = ? AND inbox.position > ? AND inbox.position < ? AND withdrawn_at IS NULL
            AND coalesce(expires_at > ?, 1) ORDER BY inbox.position LIMIT ?
        """, values.0, values.1, values.2, values.3, values.4
      ) { entries.append(Self.entry($0)) }
    }
    return entries
  }

  /// Rows of a shard that are read at once, while none or few of them have the device.
  private static let batch = 64

  private func shared(
    app: Int64, _ ordinal: DeviceOrdinal, _ range: InboxRange, _ limit: Int, at now: Instant
  ) throws(StoreFault) -> [InboxEntry] {
    var entries: [InboxEntry] = []
    var (after, before) = (range.after, range.before)
    while true {
      var read = 0
      var last: Int64 = 0
      func take(_ row: Row) throws(StoreFault) {
        read += 1
        last = row.int(0)
        if try DeviceSet(column: 5, of: row).contains(ordinal) { entries.append(Self.entry(row)) }
      }
      if range.newestFirst {
        try database.each(
          """
          SELECT message_shard.position, id, accepted_at, kind, body, members FROM message_shard
            JOIN message ON place = (?1 << 40 | message_shard.position)
            WHERE message_shard.app = ?1 AND shard = ?2 AND message_shard.position > ?3 AND message_shard.position < ?4
              AND withdrawn_at IS NULL AND coalesce(expires_at > ?5, 1) ORDER BY message_shard.position DESC LIMIT ?6
          """, .int(app), .int(ordinal.shard), .int(after), .int(before), .int(now.milliseconds), .int(Self.batch),
          read: take)
        before = last
      } else {
        try database.each(
          """
          SELECT message_shard.position, id, accepted_at, kind, body, members FROM message_shard
            JOIN message ON place = (?1 << 40 | message_shard.position)
            WHERE message_shard.app = ?1 AND shard = ?2 AND message_shard.position > ?3 AND message_shard.position < ?4
              AND withdrawn_at IS NULL AND coalesce(expires_at > ?5, 1) ORDER BY message_shard.position LIMIT ?6
          """, .int(app), .int(ordinal.shard), .int(after), .int(before), .int(now.milliseconds), .int(Self.batch),
          read: take)
        after = last
      }
      guard read == Self.batch, entries.count < limit else { return entries }
    }
  }

  private static func entry(_ row: Row) -> InboxEntry {
    InboxEntry(
      position: row.int(0), id: row.int(1), at: Instant(milliseconds: row.int(2)),
      kind: row.int(3) == 0 ? .message(body: row.blob(4)) : .withdrawal)
  }

  // MARK: One entry

  func id(app: Int64, ordinal: DeviceOrdinal, position: Int64) throws(StoreFault) -> Int64? {
    let place = try place(app: app, ordinal, at: position)
    return try place.flatMap { place throws(StoreFault) in
      try database.first("SELECT id FROM message WHERE place = ?", .int(place)) { $0.int(0) }
    }
  }

  private func place(app: Int64, _ ordinal: DeviceOrdinal, at position: Int64) throws(StoreFault) -> Int64? {
    let own = try database.first(
      "SELECT message FROM inbox WHERE device = ? AND position = ?", .int(DeviceTable.id(app: app, ordinal)),
      .int(position)
    ) { $0.int(0) }
    if let own { return own }
    return try isShared(app: app, ordinal, position) ? Self.place(app: app, position) : nil
  }

  func isShared(app: Int64, _ ordinal: DeviceOrdinal, _ position: Int64) throws(StoreFault) -> Bool {
    try database.first(
      "SELECT members FROM message_shard WHERE app = ? AND shard = ? AND position = ?", .int(app), .int(ordinal.shard),
      .int(position)
    ) { row throws(StoreFault) in try DeviceSet(column: 0, of: row).contains(ordinal) } ?? false
  }

  /// Where the message stands for the device; nil: it does not.
  func position(ofMessageAt place: Int64, app: Int64, _ ordinal: DeviceOrdinal) throws(StoreFault) -> Int64? {
    let own = try database.first(
      "SELECT position FROM inbox WHERE message = ? AND device = ?", .int(place),
      .int(DeviceTable.id(app: app, ordinal))
    ) { $0.int(0) }
    if let own { return own }
    let position = Self.position(of: place)
    return try isShared(app: app, ordinal, position) ? position : nil
  }

  // MARK: Moving on

  func acknowledge(_ acknowledgements: [InboxAcknowledgement], at now: Instant) throws(StoreFault) {
    var counts: [Int64: Int] = [:]
    for one in acknowledgements {
      guard let state = try state(app: one.app, ordinal: one.ordinal) else { continue }
      let position = min(one.position, state.last)
      guard position > state.acknowledged else { continue }
      try database.run(
        "INSERT INTO inbox_cursor VALUES (?1, ?2, ?3) ON CONFLICT (device) DO UPDATE SET position = ?2, at = ?3",
        .int(DeviceTable.id(app: one.app, one.ordinal)), .int(position), .int(now.milliseconds))
      if let delivered = one.delivered {
        for message in delivered where message.position > state.acknowledged && message.position <= position {
          counts[message.id, default: 0] += 1
        }
      } else {
        var range = InboxRange(after: state.acknowledged, before: position + 1, limit: 256)
        while true {
          let page = try page(app: one.app, ordinal: one.ordinal, range, at: now)
          for entry in page.entries { if case .message = entry.kind { counts[entry.id, default: 0] += 1 } }
          guard page.hasMore, let last = page.entries.last else { break }
          range.after = last.position
        }
      }
    }
    for (id, count) in counts {
      try database.run(
        "UPDATE message SET delivered = delivered + ? WHERE id = ? AND kind = 0", .int(count), .int(id))
    }
  }

  // MARK: Aliases

  /// What waits for the devices by their alias waits from here on for the next device that takes it (case C36), which may
  /// be one of them that takes it again; to be called before they lose it.
  func park(devices: [Int64], alias: String, app: Int64) throws(StoreFault) {
    for device in devices {
      let position = try cursor(of: device)?.position ?? 0
      // where another device of the alias has it, the user has it
      try database.run(
        """
        INSERT OR IGNORE INTO alias_inbox (app, alias, message, device)
          SELECT ?1, ?2, message, device FROM inbox AS mine WHERE device = ?3 AND position > ?4 AND alias = ?2
            AND NOT EXISTS (SELECT 1 FROM inbox AS other
              WHERE other.message = mine.message AND other.device <> ?3 AND other.alias = ?2)
        """, .int(app), .text(alias), .int(device), .int(position))
      try database.run(
        "DELETE FROM inbox WHERE device = ? AND position > ? AND alias = ?", .int(device), .int(position), .text(alias))
    }
  }

  /// Gives a device what waited for the alias that it takes.
  func unpark(device: Int64, alias: String, app: Int64) throws(StoreFault) {
    var places: [Int64] = []
    try database.each(
      "SELECT message FROM alias_inbox WHERE app = ? AND alias = ? ORDER BY message", .int(app), .text(alias)
    ) { places.append($0.int(0)) }
    guard !places.isEmpty else { return }
    try database.run("DELETE FROM alias_inbox WHERE app = ? AND alias = ?", .int(app), .text(alias))
    let ordinal = DeviceOrdinal(truncatingIfNeeded: device)
    let messages = MessageTable(database)
    for place in places where try position(ofMessageAt: place, app: app, ordinal) == nil {
      guard let message = try messages.kept(place) else { continue }
      let position = try messages.nextPosition(of: app)
      try database.run(
        "INSERT INTO inbox VALUES (?, ?, ?, ?)", .int(device), .int(position), .int(place), .text(alias))
      database.announcements.append(
        .entry(
          InboxNotice(
            app: app,
            entry: InboxEntry(
              position: position, id: message.id, at: message.acceptedAt, kind: .message(body: message.body)),
            expiresAt: message.expiresAt, audience: [.init(shard: ordinal.shard, devices: [ordinal])])))
    }
  }

  /// The device is to be no more.
  func forget(device: Int64) throws(StoreFault) {
    try database.run("DELETE FROM inbox WHERE device = ?", .int(device))
    try database.run("DELETE FROM inbox_cursor WHERE device = ?", .int(device))
  }
}
