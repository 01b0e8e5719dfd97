import Audience
import Basics
import Store

/// Keeps in-app messages and tells how they stand; what devices find of them is `InboxTable`'s.
///
/// Of a shard with at most `few` devices that are meant each has a row of `inbox`, of one with more the set of them is a
/// row of `message_shard`: so a message to a million costs as many rows as there are shards, and a device that reads its
/// shard's rows seldom meets one that is not for it. What is addressed by alias stands in inboxes whatever its number,
/// since it may move.
struct MessageTable {
  let database: Database

  init(_ database: Database) { self.database = database }

  static let few = 64

  // MARK: Accepting

  func insert(_ draft: MessageDraft, id: Int64, app: Int64, at now: Instant) throws(StoreFault) {
    let position = try nextPosition(of: app)
    let place = InboxTable.place(app: app, position)
    try database.run(
      """
      INSERT INTO message (place, id, kind, accepted_at, expires_at, body, targeted) VALUES (?, ?, 0, ?, ?, ?, ?)
      """, .int(place), .int(id), .int(now.milliseconds), .optional(draft.expiresAt?.milliseconds),
      .blob(draft.body), .int(draft.audience.reduce(0) { $0 + $1.devices.count }))
    for part in draft.audience {
      if draft.aliases.isEmpty, part.devices.count > Self.few {
        try database.run(
          "INSERT INTO message_shard VALUES (?, ?, ?, ?)", .int(app), .int(part.shard), .int(position),
          .blob(part.devices.serialized()))
        continue
      }
      for ordinal in part.devices {
        let device = DeviceTable.id(app: app, ordinal)
        try database.run(
          "INSERT INTO inbox VALUES (?, ?, ?, ?)", .int(device), .int(position), .int(place),
          .optional(try alias(of: device, among: draft.aliases)))
      }
    }
    database.announcements.append(
      .entry(
        InboxNotice(
          app: app, entry: InboxEntry(position: position, id: id, at: now, kind: .message(body: draft.body)),
          expiresAt: draft.expiresAt, audience: draft.audience)))
  }

  private func alias(of device: Int64, among aliases: Set<String>) throws(StoreFault) -> String? {
    guard !aliases.isEmpty else { return nil }
    let alias = try database.first("SELECT alias FROM device WHERE id = ?", .int(device)) { $0.optionalText(0) }
    return alias.flatMap { $0 }.flatMap { aliases.contains($0) ? $0 : nil }
  }

  func nextPosition(of app: Int64) throws(StoreFault) -> Int64 {
    let position = try database.first(
      "UPDATE app SET message_position = message_position + 1 WHERE id = ? RETURNING message_position", .int(app)
    ) { $0.int(0) }
    guard let position else { throw .corrupt("no app \(app)") }
    return position
  }

  // MARK: Withdrawing

  func withdraw(app: Int64, id: Int64, at now: Instant) throws(StoreFault) -> Bool {
    guard let place = try place(of: id, app: app) else { return false }
    try database.run(
      "UPDATE message SET withdrawn_at = ? WHERE place = ? AND withdrawn_at IS NULL", .int(now.milliseconds),
      .int(place))
    guard database.changes > 0 else { return true }
    let position = try nextPosition(of: app)
    let later = InboxTable.place(app: app, position)
    try database.run(
      "INSERT INTO message (place, id, kind, accepted_at, body, targeted) VALUES (?, ?, 1, ?, x'', 0)", .int(later),
      .int(id), .int(now.milliseconds))
    try database.run("DELETE FROM alias_inbox WHERE message = ?", .int(place))
    var few: [DeviceOrdinal] = []
    try database.each("SELECT device FROM inbox WHERE message = ?", .int(place)) {
      few.append(DeviceOrdinal(truncatingIfNeeded: $0.int(0)))
    }
    try database.run(
      "INSERT INTO inbox SELECT device, ?, ?, NULL FROM inbox WHERE message = ?", .int(position), .int(later),
      .int(place))
    let inboxes = DeviceSet(few)
    var audience = inboxes.shards.map { AudienceReach.ShardAudience(shard: $0, devices: inboxes.slice($0)) }
    for shard in try shards(of: app) {
      let members = try database.first(
        "SELECT members FROM message_shard WHERE app = ? AND shard = ? AND position = ?", .int(app), .int(shard),
        .int(InboxTable.position(of: place))
      ) { row throws(StoreFault) in try DeviceSet(column: 0, of: row) }
      guard let members else { continue }
      try database.run(
        "INSERT INTO message_shard VALUES (?, ?, ?, ?)", .int(app), .int(shard), .int(position),
        .blob(members.serialized()))
      audience.append(.init(shard: shard, devices: members))
    }
    database.announcements.append(
      .entry(
        InboxNotice(
          app: app, entry: InboxEntry(position: position, id: id, at: now, kind: .withdrawal), expiresAt: nil,
          audience: audience)))
    return true
  }

  private func shards(of app: Int64) throws(StoreFault) -> Range<ShardIndex> {
    let next = try database.first("SELECT next_ordinal FROM app WHERE id = ?", .int(app)) { $0.int(0) } ?? 0
    return 0..<ShardIndex(clamping: (next + 0xFFFF) >> 16)
  }

  // MARK: Reading

  private func place(of id: Int64, app: Int64) throws(StoreFault) -> Int64? {
    try database.first(
      "SELECT place FROM message WHERE id = ? AND kind = 0 AND place >> 40 = ?", .int(id), .int(app)
    ) { $0.int(0) }
  }

  /// nil when it was withdrawn or is gone.
  func kept(_ place: Int64) throws(StoreFault) -> MessageProgress? {
    let message = try progress(place)
    return message?.withdrawnAt == nil ? message : nil
  }

  private func progress(_ place: Int64) throws(StoreFault) -> MessageProgress? {
    try database.first(
      """
      SELECT id, accepted_at, expires_at, withdrawn_at, body, targeted, delivered, read FROM message WHERE place = ?
      """, .int(place), read: Self.progress)
  }

  func progress(app: Int64, id: Int64) throws(StoreFault) -> MessageProgress? {
    try place(of: id, app: app).flatMap { place throws(StoreFault) in try progress(place) }
  }

  /// By positions, in whose order ids grow but for those that were accepted within the same moment.
  func messages(app: Int64, before: Int64, limit: Int) throws(StoreFault) -> [MessageProgress] {
    var messages: [MessageProgress] = []
    try database.each(
      """
      SELECT id, accepted_at, expires_at, withdrawn_at, body, targeted, delivered, read FROM message
        WHERE app = ? AND id < ? AND kind = 0 ORDER BY id DESC LIMIT ?
      """, .int(app), .int(before), .int(limit)
    ) { messages.append(Self.progress($0)) }
    return messages
  }

  private static func progress(_ row: Row) -> MessageProgress {
    MessageProgress(
      id: row.int(0), acceptedAt: Instant(milliseconds: row.int(1)),
      expiresAt: row.optionalInt(2).map(Instant.init(milliseconds:)),
      withdrawnAt: row.optionalInt(3).map(Instant.init(milliseconds:)), body: row.blob(4), targeted: Int(row.int(5)),
      delivered: Int(row.int(6)), read: Int(row.int(7)))
  }

  func trace(app: Int64, id: Int64, registrationID: String) throws(StoreFault) -> MessageTrace? {
    guard let place = try place(of: id, app: app), let message = try progress(place),
      let device = try DeviceTable(database).id(app: app, registrationID: registrationID)
    else { return nil }
    let ordinal = DeviceOrdinal(truncatingIfNeeded: device)
    let readAt = try database.first(
      "SELECT at FROM message_read WHERE message = ? AND ordinal = ?", .int(place), .int(ordinal)
    ) { Instant(milliseconds: $0.int(0)) }
    let inbox = InboxTable(database)
    guard let position = try inbox.position(ofMessageAt: place, app: app, ordinal) else {
      let alias = try database.first(
        "SELECT alias FROM alias_inbox WHERE message = ? AND device = ?", .int(place), .int(device)
      ) { $0.text(0) }
      return MessageTrace(
        message: message, state: alias.map(MessageTrace.State.waitingForAlias) ?? .notMeant, readAt: readAt)
    }
    guard let cursor = try inbox.cursor(of: device), cursor.position >= position else {
      return MessageTrace(message: message, state: .waiting, readAt: readAt)
    }
    return MessageTrace(message: message, state: .delivered(at: cursor.at), readAt: readAt)
  }

  // MARK: What devices say

  func noteRead(app: Int64, ordinal: DeviceOrdinal, ids: [Int64], at now: Instant) throws(StoreFault) -> [Int64] {
    var strangers: [Int64] = []
    let inbox = InboxTable(database)
    for id in ids {
      guard let place = try place(of: id, app: app), try inbox.position(ofMessageAt: place, app: app, ordinal) != nil
      else {
        strangers.append(id)
        continue
      }
      try database.run(
        "INSERT OR IGNORE INTO message_read VALUES (?, ?, ?)", .int(place), .int(ordinal), .int(now.milliseconds))
      if database.changes > 0 { try database.run("UPDATE message SET read = read + 1 WHERE place = ?", .int(place)) }
    }
    return strangers
  }

  // MARK: Removing what is old

  /// Of a message that was removed, a piece of what is left of it; false when there is none.
  func sweep() throws(StoreFault) -> Bool {
    guard let place = try database.first("SELECT place FROM dropped_message LIMIT 1", read: { $0.int(0) }) else {
      return false
    }
    try database.run(
      """
      DELETE FROM message_read WHERE message = ?1 AND ordinal IN
        (SELECT ordinal FROM message_read WHERE message = ?1 LIMIT ?2)
      """, .int(place), .int(ForgettingTable.piece))
    if database.changes > 0 { return true }
    try database.run(
      """
      DELETE FROM inbox WHERE (device, position) IN
        (SELECT device, position FROM inbox WHERE message = ? LIMIT ?)
      """, .int(place), .int(ForgettingTable.piece))
    if database.changes > 0 { return true }
    try database.run("DELETE FROM alias_inbox WHERE message = ?", .int(place))
    let app = place >> 40
    for shard in try shards(of: app) {
      try database.run(
        "DELETE FROM message_shard WHERE app = ? AND shard = ? AND position = ?", .int(app), .int(shard),
        .int(InboxTable.position(of: place)))
    }
    try database.run("DELETE FROM dropped_message WHERE place = ?", .int(place))
    return true
  }

  /// Removes the oldest; false when none is that old.
  func drop(before time: Instant) throws(StoreFault) -> Bool {
    let oldest = try database.first(
      "SELECT place FROM message WHERE accepted_at < ? ORDER BY accepted_at LIMIT 1", .int(time.milliseconds)
    ) { $0.int(0) }
    return try drop(oldest)
  }

  /// Removes one of an app's; false when it has none.
  func dropOne(of app: Int64) throws(StoreFault) -> Bool {
    try drop(
      try database.first(
        "SELECT place FROM message WHERE place BETWEEN ? AND ? LIMIT 1", .int(InboxTable.place(app: app, 0)),
        .int(InboxTable.place(app: app + 1, 0) - 1)
      ) { $0.int(0) })
  }

  private func drop(_ place: Int64?) throws(StoreFault) -> Bool {
    guard let place else { return false }
    try database.run(
      "UPDATE app SET messages_forgotten = max(messages_forgotten, ?) WHERE id = ?",
      .int(InboxTable.position(of: place)), .int(place >> 40))
    try database.run("INSERT INTO dropped_message VALUES (?)", .int(place))
    try database.run("DELETE FROM message WHERE place = ?", .int(place))
    return true
  }
}
