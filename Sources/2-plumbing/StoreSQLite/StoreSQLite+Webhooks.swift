public import Basics
public import Store

extension StoreSQLite {
  public func createWebhook(
    _ webhook: StoredWebhook, limit: Int, clientIDsSince since: Instant, audit: AuditNote
  ) async throws(StoreFault) -> WebhookCreation {
    try await writer.run { database throws(StoreFault) in
      let creation = try WebhookTable(database).create(webhook, limit: limit, clientIDsSince: since)
      if case .created(let made) = creation { try AuditTable(database).write(audit, subject: made.id) }
      return creation
    }
  }

  public func webhooks(app: Int64, after: Int64, limit: Int) async throws(StoreFault) -> [StoredWebhook] {
    try await reader.run { database throws(StoreFault) in
      try WebhookTable(database).webhooks(app: app, after: after, limit: limit)
    }
  }

  public func webhook(app: Int64, id: Int64) async throws(StoreFault) -> StoredWebhook? {
    try await reader.run { database throws(StoreFault) in try WebhookTable(database).webhook(app: app, id: id) }
  }

  public func changeWebhook(
    _ old: StoredWebhook, to new: StoredWebhook, at now: Instant, audit: AuditNote
  ) async throws(StoreFault) -> Bool {
    try await writing(audit) { database throws(StoreFault) in
      try WebhookTable(database).change(old, to: new, at: now)
    }
  }

  public func deleteWebhook(app: Int64, id: Int64, audit: AuditNote) async throws(StoreFault) -> Bool {
    try await writing(audit) { database throws(StoreFault) in
      try WebhookTable(database).delete(app: app, id: id)
    }
  }

  public func nextWebhookDue() async throws(StoreFault) -> Instant? {
    try await reader.run { database throws(StoreFault) in try WebhookTable(database).nextDue() }
  }

  public func takeWebhooks(
    at now: Instant, until: Instant, horizon: Instant, limit: Int
  ) async throws(StoreFault) -> [StoredWebhook] {
    try await writer.run { database throws(StoreFault) in
      try WebhookTable(database).take(at: now, until: until, horizon: horizon, limit: limit)
    }
  }

  public func outbox(webhook: Int64, limit: Int) async throws(StoreFault) -> [OutboxEvent] {
    try await reader.run { database throws(StoreFault) in try OutboxTable(database).events(of: webhook, limit: limit) }
  }

  public func note(
    _ attempt: WebhookAttempt, of webhook: StoredWebhook, taken last: Int64?, next: Instant
  ) async throws(StoreFault) -> Bool {
    try await writer.run { database throws(StoreFault) in
      try OutboxTable(database).note(attempt, of: webhook, taken: last, next: next)
    }
  }

  public func release(_ webhook: StoredWebhook, at now: Instant) async throws(StoreFault) {
    try await writer.run { database throws(StoreFault) in try OutboxTable(database).release(webhook, at: now) }
  }

  public func dropEvents(before time: Instant, at now: Instant) async throws(StoreFault) -> [DroppedEvents] {
    try await writer.run { database throws(StoreFault) in try OutboxTable(database).drop(before: time, at: now) }
  }

  public func attempts(webhook: Int64) async throws(StoreFault) -> [WebhookAttempt] {
    try await reader.run { database throws(StoreFault) in try OutboxTable(database).attempts(webhook: webhook) }
  }

  public func tellSpikes(_ spike: FailureSpike, at now: Instant) async throws(StoreFault) {
    try await writer.run { database throws(StoreFault) in try SpikeTable(database).tell(spike, at: now) }
  }
}
