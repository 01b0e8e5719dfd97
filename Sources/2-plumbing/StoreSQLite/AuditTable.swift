import Basics
import Store

/// Who changed what. A line is written within the transaction of the change.
struct AuditTable {
  let database: Database

  init(_ database: Database) { self.database = database }

  /// `app` and `subject` in the place of what the note could not know yet.
  func write(_ note: AuditNote, app: Int64? = nil, subject: Int64? = nil) throws(StoreFault) {
    try database.run(
      "INSERT INTO audit (at, kind, app, doer, doer_key, address, subject, words) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
      .int(note.at.milliseconds), .int(note.kind.rawValue), .optional(app ?? note.app), .int(note.doer.kind.rawValue),
      .optional(note.doer.key), .optional(note.address), .optional(subject.map(String.init) ?? note.subject),
      .optional(note.words))
  }

  /// The highest id first, those below `before`; at most `limit`.
  func entries(_ filter: AuditFilter, before: Int64, limit: Int) throws(StoreFault) -> [AuditEntry] {
    var found: [AuditEntry] = []
    func keep(_ row: Row) {
      guard let kind = AuditKind(rawValue: UInt8(clamping: row.int(2))) else { return }
      let doer = AuditDoer(AuditDoer.Kind(rawValue: UInt8(clamping: row.int(4))) ?? .service, key: row.optionalText(5))
      found.append(
        AuditEntry(
          id: row.int(0),
          note: AuditNote(
            kind, at: Instant(milliseconds: row.int(1)), app: row.optionalInt(3), doer: doer,
            address: row.optionalText(6), subject: row.optionalText(7), words: row.optionalText(8))))
    }
    let (from, until) = (filter.from?.milliseconds ?? .min, filter.before?.milliseconds ?? .max)
    // a text each, so that each goes by its index
    switch (filter.app, filter.kind) {
    case (let app?, let kind?):
      try database.each(
        """
        SELECT id, at, kind, app, doer, doer_key, address, subject, words FROM audit
          WHERE app = ? AND kind = ? AND id < ? AND at >= ? AND at < ? ORDER BY id DESC LIMIT ?
        """, .int(app), .int(kind.rawValue), .int(before), .int(from), .int(until), .int(limit), read: keep)
    case (let app?, nil):
      try database.each(
        """
        SELECT id, at, kind, app, doer, doer_key, address, subject, words FROM audit
          WHERE app = ? AND id < ? AND at >= ? AND at < ? ORDER BY id DESC LIMIT ?
        """, .int(app), .int(before), .int(from), .int(until), .int(limit), read: keep)
    case (nil, let kind):
      try database.each(
        """
        SELECT id, at, kind, app, doer, doer_key, address, subject, words FROM audit
          WHERE id < ?1 AND at >= ?2 AND at < ?3 AND (?4 IS NULL OR kind = ?4) ORDER BY id DESC LIMIT ?5
        """, .int(before), .int(from), .int(until), .optional(kind.map { Int64($0.rawValue) }), .int(limit), read: keep)
    }
    return found
  }
}
