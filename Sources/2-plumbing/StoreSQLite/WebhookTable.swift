import Basics
import Store

/// Webhooks: making and changing them, and who is at one.
struct WebhookTable {
  let database: Database

  init(_ database: Database) { self.database = database }

  // MARK: Keeping

  func create(
    _ webhook: StoredWebhook, limit: Int, clientIDsSince since: Instant
  ) throws(StoreFault) -> WebhookCreation {
    if let clientID = webhook.clientID {
      let known = try database.first(
        """
        SELECT id, app, url, events, is_enabled, secret, client_id, request, created_at, version, failures, due_at, turn,
          former_secret, former_until, dropped, dropped_at
          FROM webhook WHERE NOT is_callback AND app = ? AND client_id = ? AND created_at >= ? ORDER BY id DESC
        """, .int(webhook.app), .text(clientID), .int(since.milliseconds), read: Self.read)
      if let known { return .repeated(known) }
    }
    let count = try database.first(
      "SELECT count(*) FROM webhook WHERE NOT is_callback AND app = ?", .int(webhook.app)
    ) { Int($0.int(0)) }
    guard count ?? 0 < limit else { return .full }
    try database.run(
      """
      INSERT INTO webhook (app, url, events, is_enabled, secret, client_id, request, created_at)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?)
      """, .int(webhook.app), .text(webhook.url), .int(webhook.events.mask), .int(webhook.isEnabled ? 1 : 0),
      .blob(webhook.secret), .optional(webhook.clientID), .blob(webhook.request), .int(webhook.createdAt.milliseconds))
    var kept = webhook
    kept.id = database.lastInsertID
    kept.version = 1
    return .created(kept)
  }

  func webhooks(app: Int64, after: Int64, limit: Int) throws(StoreFault) -> [StoredWebhook] {
    var found: [StoredWebhook] = []
    try database.each(
      """
      SELECT id, app, url, events, is_enabled, secret, client_id, request, created_at, version, failures, due_at, turn,
          former_secret, former_until, dropped, dropped_at
        FROM webhook WHERE NOT is_callback AND app = ? AND id > ? ORDER BY id LIMIT ?
      """, .int(app), .int(after), .int(limit)
    ) { found.append(Self.read($0)) }
    return found
  }

  func webhook(app: Int64, id: Int64) throws(StoreFault) -> StoredWebhook? {
    try database.first(
      """
      SELECT id, app, url, events, is_enabled, secret, client_id, request, created_at, version, failures, due_at, turn,
          former_secret, former_until, dropped, dropped_at
        FROM webhook WHERE NOT is_callback AND app = ? AND id = ?
      """, .int(app), .int(id), read: Self.read)
  }

  /// Whoever is at it with the former address is so no more.
  func change(_ old: StoredWebhook, to new: StoredWebhook, at now: Instant) throws(StoreFault) -> Bool {
    try database.run(
      """
      UPDATE webhook SET url = ?1, events = ?2, is_enabled = ?3, version = version + 1, failures = 0, turn = turn + 1,
        secret = ?8, former_secret = ?9, former_until = ?10,
        due_at = CASE WHEN ?3 AND EXISTS (SELECT 1 FROM outbox WHERE webhook = ?6) THEN ?4 END
        WHERE app = ?5 AND id = ?6 AND version = ?7
      """, .text(new.url), .int(new.events.mask), .int(new.isEnabled ? 1 : 0), .int(now.milliseconds), .int(old.app),
      .int(old.id), .int(old.version), .blob(new.secret), .optional(new.former?.secret),
      .optional(new.former?.until.milliseconds))
    guard database.changes > 0 else { return false }
    try signCallbacks(of: old.app)
    return true
  }

  /// With the secrets of the app's oldest webhook.
  private func signCallbacks(of app: Int64) throws(StoreFault) {
    try database.run(
      """
      UPDATE webhook SET (secret, former_secret, former_until) =
        (SELECT secret, former_secret, former_until FROM webhook WHERE NOT is_callback AND app = ?1 ORDER BY id LIMIT 1)
        WHERE is_callback AND app = ?1
      """, .int(app))
  }

  /// Of those that have one.
  func secrets() throws(StoreFault) -> [(id: Int64, secret: [UInt8])] {
    var secrets: [(id: Int64, secret: [UInt8])] = []
    try database.each("SELECT id, secret FROM webhook WHERE length(secret) > 0 ORDER BY id") {
      secrets.append(($0.int(0), $0.blob(1)))
    }
    return secrets
  }

  func formerSecrets() throws(StoreFault) -> [(id: Int64, secret: [UInt8])] {
    var secrets: [(id: Int64, secret: [UInt8])] = []
    try database.each("SELECT id, former_secret FROM webhook WHERE former_secret IS NOT NULL ORDER BY id") {
      secrets.append(($0.int(0), $0.blob(1)))
    }
    return secrets
  }

  func set(formerSecret secret: [UInt8], of id: Int64) throws(StoreFault) {
    try database.run("UPDATE webhook SET former_secret = ? WHERE id = ?", .blob(secret), .int(id))
  }

  func set(secret: [UInt8], of id: Int64) throws(StoreFault) {
    try database.run("UPDATE webhook SET secret = ? WHERE id = ?", .blob(secret), .int(id))
  }

  func delete(app: Int64, id: Int64) throws(StoreFault) -> Bool {
    try database.run("DELETE FROM webhook WHERE NOT is_callback AND app = ? AND id = ?", .int(app), .int(id))
    guard database.changes > 0 else { return false }
    try database.run("INSERT INTO dropped_webhook VALUES (?)", .int(id))
    return true
  }

  func deleteAll(of app: Int64) throws(StoreFault) {
    try database.run("INSERT INTO dropped_webhook SELECT id FROM webhook WHERE app = ?", .int(app))
    try database.run("DELETE FROM webhook WHERE app = ?", .int(app))
    try database.run("DELETE FROM ended_lately WHERE app = ?", .int(app))
    try database.run("DELETE FROM failure_spike WHERE app = ?", .int(app))
  }

  // MARK: Callbacks of pushes

  /// The address that a push brings along, kept once for an app; nil where there is none, or no secret to sign for it.
  func callback(of push: StoredPush) throws(StoreFault) -> Int64? {
    guard let url = push.callback?.url else { return nil }
    return try database.first(
      """
      INSERT INTO webhook (app, url, events, is_enabled, is_callback, secret, request, created_at, former_secret,
          former_until)
        SELECT app, ?2, 0, 1, 1, secret, x'', ?3, former_secret, former_until
          FROM webhook WHERE NOT is_callback AND app = ?1 ORDER BY id LIMIT 1
        ON CONFLICT (app, url) WHERE is_callback DO UPDATE SET secret = excluded.secret,
          former_secret = excluded.former_secret, former_until = excluded.former_until RETURNING id
      """, .int(push.app), .text(url), .int(push.acceptedAt.milliseconds)
    ) { $0.int(0) }
  }

  /// After the push is gone: its address too, when no other push has it.
  func dropCallback(_ id: Int64) throws(StoreFault) {
    try database.run(
      "DELETE FROM webhook WHERE id = ?1 AND is_callback AND NOT EXISTS (SELECT 1 FROM push WHERE callback = ?1)",
      .int(id))
    if database.changes > 0 { try database.run("INSERT INTO dropped_webhook VALUES (?)", .int(id)) }
  }

  // MARK: Taking turns

  func nextDue() throws(StoreFault) -> Instant? {
    try database.first("SELECT min(due_at) FROM webhook WHERE due_at IS NOT NULL") {
      $0.optionalInt(0).map(Instant.init(milliseconds:))
    } ?? nil
  }

  func take(at now: Instant, until: Instant, horizon: Instant, limit: Int) throws(StoreFault) -> [StoredWebhook] {
    var taken: [StoredWebhook] = []
    try database.each(
      """
      UPDATE webhook SET due_at = ?1, turn = turn + 1 WHERE id IN
        (SELECT id FROM webhook WHERE due_at IS NOT NULL AND (due_at <= ?2 OR due_at > ?3) ORDER BY due_at LIMIT ?4)
        RETURNING id, app, url, events, is_enabled, secret, client_id, request, created_at, version, failures, due_at, turn,
          former_secret, former_until, dropped, dropped_at
      """, .int(until.milliseconds), .int(now.milliseconds), .int(horizon.milliseconds), .int(limit)
    ) { taken.append(Self.read($0)) }
    return taken
  }

  /// Whether something is left; nil when another has it.
  func settle(_ webhook: StoredWebhook, failures: Int, next: Instant) throws(StoreFault) -> Bool? {
    try database.first(
      """
      UPDATE webhook SET failures = ?1, due_at = CASE WHEN EXISTS (SELECT 1 FROM outbox WHERE webhook = ?2) THEN ?3 END
        WHERE id = ?2 AND turn = ?4 RETURNING due_at IS NOT NULL
      """, .int(failures), .int(webhook.id), .int(next.milliseconds), .int(webhook.turn)
    ) { $0.int(0) != 0 }
  }

  func failures(of webhook: StoredWebhook) throws(StoreFault) -> Int? {
    try database.first("SELECT failures FROM webhook WHERE id = ? AND turn = ?", .int(webhook.id), .int(webhook.turn)) {
      Int($0.int(0))
    }
  }

  private static func read(_ row: Row) -> StoredWebhook {
    var webhook = StoredWebhook(
      id: row.int(0), app: row.int(1), url: row.text(2), events: Set(mask: row.int(3)), isEnabled: row.int(4) != 0,
      secret: row.blob(5), clientID: row.optionalText(6), request: row.blob(7),
      createdAt: Instant(milliseconds: row.int(8)), version: row.int(9), failures: Int(row.int(10)),
      dueAt: row.optionalInt(11).map(Instant.init(milliseconds:)), turn: row.int(12))
    if let secret = row.optionalBlob(13), let until = row.optionalInt(14) {
      webhook.former = .init(secret, until: Instant(milliseconds: until))
    }
    webhook.dropped = Int(row.int(15))
    webhook.droppedAt = row.optionalInt(16).map(Instant.init(milliseconds:))
    return webhook
  }
}

extension Set<WebhookEventKind> {
  var mask: Int64 { reduce(0) { $0 | 1 << Int64($1.rawValue) } }

  init(mask: Int64) { self.init(WebhookEventKind.allCases.filter { mask & 1 << Int64($0.rawValue) != 0 }) }
}
