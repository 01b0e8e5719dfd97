import Audience
import Basics
import Store

/// What webhooks are still to be told, and what came of telling them.
struct OutboxTable {
  let database: Database

  init(_ database: Database) { self.database = database }

  /// Oldest first.
  func events(of webhook: Int64, limit: Int) throws(StoreFault) -> [OutboxEvent] {
    var found: [OutboxEvent] = []
    try database.each(
      """
      SELECT outbox.id, kind, at, outbox.push, registration_id, words, callback_params
        FROM outbox LEFT JOIN push ON push.id = outbox.push WHERE webhook = ? ORDER BY outbox.id LIMIT ?
      """, .int(webhook), .int(limit)
    ) { row throws(StoreFault) in
      guard let kind = WebhookEventKind(rawValue: UInt8(clamping: row.int(1))) else {
        throw .corrupt("event \(row.int(0)) cannot be read")
      }
      var event = OutboxEvent(
        id: row.int(0), kind: kind, at: Instant(milliseconds: row.int(2)), push: row.optionalInt(3),
        params: row.optionalBlob(6), registrationID: row.optionalText(4))
      switch kind {
      case .pushFinished, .failuresSpiked: event.counts = Self.counts(row.text(5))
      case .undelivered: event.outcome = OutcomeKind(column: row.text(5))
      case .tokenRetired, .clicked, .sendingHeldBack, .sent, .delivered: event.words = row.optionalText(5)
      }
      found.append(event)
    }
    return found
  }

  func note(
    _ attempt: WebhookAttempt, of webhook: StoredWebhook, taken last: Int64?, next: Instant
  ) throws(StoreFault) -> Bool {
    guard let failures = try WebhookTable(database).failures(of: webhook) else { return false }
    if let last { try database.run("DELETE FROM outbox WHERE webhook = ? AND id <= ?", .int(webhook.id), .int(last)) }
    try database.run(
      "INSERT INTO webhook_attempt (webhook, at, first_event, events, status, fault, took) VALUES (?, ?, ?, ?, ?, ?, ?)",
      .int(webhook.id), .int(attempt.at.milliseconds), .int(attempt.firstEvent), .int(attempt.events),
      .optional(attempt.status.map(Int64.init)), .optional(attempt.fault), .int(attempt.took.milliseconds))
    try database.run(
      """
      DELETE FROM webhook_attempt WHERE webhook = ?1 AND id <=
        (SELECT id FROM webhook_attempt WHERE webhook = ?1 ORDER BY id DESC LIMIT 1 OFFSET 100)
      """, .int(webhook.id))
    return try WebhookTable(database).settle(webhook, failures: last == nil ? failures + 1 : 0, next: next) ?? false
  }

  func release(_ webhook: StoredWebhook, at now: Instant) throws(StoreFault) {
    guard let failures = try WebhookTable(database).failures(of: webhook) else { return }
    _ = try WebhookTable(database).settle(webhook, failures: failures, next: now)
  }

  func attempts(webhook: Int64) throws(StoreFault) -> [WebhookAttempt] {
    var found: [WebhookAttempt] = []
    try database.each(
      "SELECT at, first_event, events, status, fault, took FROM webhook_attempt WHERE webhook = ? ORDER BY id DESC",
      .int(webhook)
    ) { row in
      found.append(
        WebhookAttempt(
          at: Instant(milliseconds: row.int(0)), firstEvent: row.int(1), events: Int(row.int(2)),
          status: row.optionalInt(3).map(Int.init), fault: row.optionalText(4), took: .milliseconds(row.int(5))))
    }
    return found
  }

  // MARK: Removing

  /// One piece of what is left of webhooks that are gone; false when there is none.
  func sweepDropped() throws(StoreFault) -> Bool {
    guard let webhook = try database.first("SELECT id FROM dropped_webhook LIMIT 1", read: { $0.int(0) }) else {
      return false
    }
    try database.run(
      "DELETE FROM outbox WHERE id IN (SELECT id FROM outbox WHERE webhook = ? LIMIT ?)", .int(webhook),
      .int(ForgettingTable.piece))
    if database.changes > 0 { return true }
    try database.run("DELETE FROM webhook_attempt WHERE webhook = ?", .int(webhook))
    try database.run("DELETE FROM dropped_webhook WHERE id = ?", .int(webhook))
    return true
  }

  /// One piece.
  func drop(before time: Instant, at now: Instant) throws(StoreFault) -> [DroppedEvents] {
    var counts: [Int64: Int] = [:]
    try database.each(
      """
      DELETE FROM outbox WHERE id IN (SELECT id FROM outbox WHERE kept_at < ? ORDER BY kept_at LIMIT ?)
        RETURNING webhook
      """, .int(time.milliseconds), .int(ForgettingTable.piece)
    ) { counts[$0.int(0), default: 0] += 1 }
    var dropped: [DroppedEvents] = []
    for (webhook, count) in counts.sorted(by: { $0.key < $1.key }) {
      let owner = try database.first(
        "UPDATE webhook SET dropped = dropped + ?, dropped_at = ? WHERE id = ? RETURNING app, is_callback",
        .int(count), .int(now.milliseconds), .int(webhook)
      ) { (app: $0.int(0), isCallback: $0.int(1) != 0) }
      // one that is gone has nobody who wants to know
      if let owner {
        dropped.append(DroppedEvents(app: owner.app, webhook: owner.isCallback ? nil : webhook, count: count))
      }
    }
    return dropped
  }

  // MARK: Counts as a column

  static func column(_ counts: [OutcomeKind: Int]) -> String {
    counts.map { "\($0.key.column)=\($0.value)" }.sorted().joined(separator: "\n")
  }

  private static func counts(_ column: String) -> [OutcomeKind: Int] {
    var counts: [OutcomeKind: Int] = [:]
    for line in column.split(separator: "\n") {
      guard let mark = line.lastIndex(of: "=") else { continue }
      counts[OutcomeKind(column: String(line[..<mark]))] = Int(line[line.index(after: mark)...])
    }
    return counts
  }
}
