public import Basics
import Store

/// A webhook that a caller asks for.
public struct WebhookOrder: Sendable, Equatable {
  public var url: String
  public var events: Set<WebhookEvent>
  public var isEnabled: Bool
  /// Under which the same order within a day answers the first webhook again, and another order is refused (9409).
  public var clientID: String?
  /// The request, by which the same is known.
  public var original: [UInt8]

  public init(
    url: String, events: Set<WebhookEvent> = WebhookEvent.usual, isEnabled: Bool = true, clientID: String? = nil,
    original: [UInt8] = []
  ) {
    self.url = url
    self.events = events
    self.isEnabled = isEnabled
    self.clientID = clientID
    self.original = original
  }
}

/// What is to be another of a webhook; nil stays.
public struct WebhookChange: Sendable, Equatable {
  public var url: String?
  public var events: Set<WebhookEvent>?
  public var isEnabled: Bool?

  public init(url: String? = nil, events: Set<WebhookEvent>? = nil, isEnabled: Bool? = nil) {
    self.url = url
    self.events = events
    self.isEnabled = isEnabled
  }
}

/// A webhook as its app sees it.
public struct WebhookView: Sendable, Equatable {
  public var id: Int64
  public var url: String
  public var events: Set<WebhookEvent>
  public var isEnabled: Bool
  public var createdAt: Instant
  /// Grows by each edit, from 1.
  public var version: Int64
  /// Attempts in a row that were not taken.
  public var failures: Int
  /// When it is tried again after a failure.
  public var nextAt: Instant?
  /// Until when the secret before this one signs too.
  public var formerSecretUntil: Instant?
  /// Events that it did not take in time, and when such went last.
  public var dropped: Int
  public var droppedAt: Instant?
}

/// A webhook that was made, or got another secret, with the secret, which is told in this answer alone.
public struct NewWebhook: Sendable {
  public var webhook: WebhookView
  /// 64 hex digits; their bytes in ASCII are the key of the signatures.
  public var secret: String
  /// The client id was used before; this is what it made then.
  public var isRepeated = false
}

/// One attempt to tell a webhook.
public struct WebhookDelivery: Sendable, Equatable {
  public var at: Instant
  /// The id of its first event, as the receiver saw it; nil for a test.
  public var firstEvent: String?
  public var events: Int
  public var status: Int?
  /// Why it counts as not taken; nil: it was taken.
  public var fault: String?
  public var took: Instant.Span
}

extension PushService {
  public static let webhooksPerApp = 20

  public func createWebhook(_ app: AppRecord, _ order: WebhookOrder) async throws(RequestFault) -> NewWebhook {
    let key = try webhooksHere().key
    try WebhookRule.check(url: order.url, at: "url")
    try WebhookRule.check(order.events)
    let secret = Sodium.randomHex(digits: 64)
    let now = clock.now
    let draft = StoredWebhook(
      app: app.id, url: order.url, events: Set(order.events.map(\.kind)), isEnabled: order.isEnabled,
      secret: key.seal(Array(secret.utf8), for: .webhookSecret), clientID: order.clientID, request: order.original,
      createdAt: now)
    let creation = try await faulting(
      as: .push,
      await store.createWebhook(
        draft, limit: Self.webhooksPerApp, clientIDsSince: now - Self.clientIDWindow,
        audit: note(.webhookMade, app, nil)))
    switch creation {
    case .created(let webhook): return NewWebhook(webhook: WebhookView(webhook, at: clock.now), secret: secret)
    case .repeated(let webhook): return try again(webhook, order, key)
    case .full:
      throw RequestFault(
        .overLimit, found: "the app has \(Self.webhooksPerApp) webhooks", remedy: "Delete one that is not needed.")
    }
  }

  private func again(
    _ webhook: StoredWebhook, _ order: WebhookOrder, _ key: SealingKey
  ) throws(RequestFault) -> NewWebhook {
    guard webhook.request == order.original else {
      throw RequestFault(
        .conflict, at: "Idempotency-Key", found: "this key came with another webhook within a day",
        remedy: "Use a new key for a new webhook, and the same request for a repeated one.")
    }
    guard let secret = key.open(webhook.secret, for: .webhookSecret) else {
      throw RequestFault(
        .internalError, found: "the webhook's secret was sealed under another key",
        remedy: "Delete the webhook and make it anew, under another Idempotency-Key.")
    }
    return NewWebhook(
      webhook: WebhookView(webhook, at: clock.now), secret: String(decoding: secret, as: UTF8.self), isRepeated: true)
  }

  /// By id, those after the given one; at most `limit`.
  public func webhooks(_ app: AppRecord, after: Int64, limit: Int) async throws(RequestFault) -> [WebhookView] {
    try await faulting(
      as: .push, await store.webhooks(app: app.id, after: after, limit: limit).map { WebhookView($0, at: clock.now) })
  }

  public func webhook(_ app: AppRecord, id: Int64) async throws(RequestFault) -> WebhookView {
    WebhookView(try await storedWebhook(app, id), at: clock.now)
  }

  /// 9412 when `ifVersion` is not that of the one that is there.
  public func changeWebhook(
    _ app: AppRecord, id: Int64, _ change: WebhookChange, ifVersion: Int64?
  ) async throws(RequestFault) -> WebhookView {
    let old = try await storedWebhook(app, id)
    if let ifVersion, ifVersion != old.version { throw Self.changedMeanwhile("the webhook") }
    var new = old
    if let url = change.url {
      try WebhookRule.check(url: url, at: "url")
      new.url = url
    }
    if let events = change.events {
      try WebhookRule.check(events)
      new.events = Set(events.map(\.kind))
    }
    new.isEnabled = change.isEnabled ?? old.isEnabled
    let note = note(.webhookChanged, app, String(id))
    let isChanged = try await faulting(
      as: .push, await store.changeWebhook(old, to: new, at: clock.now, audit: note))
    guard isChanged else { throw Self.changedMeanwhile("the webhook") }
    return try await webhook(app, id: id)
  }

  public static let longestOverlap = Instant.Span.days(7)

  /// Another secret takes the place of the webhook's; for `overlap` from now on the one before signs as well.
  public func renewWebhookSecret(
    _ app: AppRecord, id: Int64, overlap: Instant.Span = .days(1)
  ) async throws(RequestFault) -> NewWebhook {
    let key = try webhooksHere().key
    let old = try await storedWebhook(app, id)
    let now = clock.now
    let secret = Sodium.randomHex(digits: 64)
    var new = old
    new.secret = key.seal(Array(secret.utf8), for: .webhookSecret)
    new.former = overlap.milliseconds > 0 ? .init(old.secret, until: now + min(overlap, Self.longestOverlap)) : nil
    let note = note(.webhookSecretRenewed, app, String(id))
    let isChanged = try await faulting(as: .push, await store.changeWebhook(old, to: new, at: now, audit: note))
    guard isChanged else { throw Self.changedMeanwhile("the webhook") }
    return NewWebhook(webhook: try await webhook(app, id: id), secret: secret)
  }

  public func deleteWebhook(_ app: AppRecord, id: Int64) async throws(RequestFault) {
    let note = note(.webhookDeleted, app, String(id))
    let wasThere = try await faulting(as: .push, await store.deleteWebhook(app: app.id, id: id, audit: note))
    guard wasThere else { throw Self.noSuch("webhook", String(id)) }
  }

  /// The last 100, newest first.
  public func deliveries(_ app: AppRecord, webhook id: Int64) async throws(RequestFault) -> [WebhookDelivery] {
    _ = try await storedWebhook(app, id)
    return try await faulting(as: .push, await store.attempts(webhook: id).map(WebhookDelivery.init))
  }

  /// Posts an event of the type `test` now, beside the outbox, also to one that is not enabled; answers what came of it.
  public func testWebhook(_ app: AppRecord, id: Int64) async throws(RequestFault) -> WebhookDelivery {
    let webhooks = try webhooksHere()
    let webhook = try await storedWebhook(app, id)
    let message = WebhookMessage(test: app, at: clock.now)
    var delivery = WebhookDelivery(await webhooks.role.post(message, to: webhook, webhooks.key, clock: clock))
    delivery.firstEvent = nil
    return delivery
  }

  private func storedWebhook(_ app: AppRecord, _ id: Int64) async throws(RequestFault) -> StoredWebhook {
    if let found = try await faulting(as: .push, await store.webhook(app: app.id, id: id)) { return found }
    throw Self.noSuch("webhook", String(id))
  }

  private func webhooksHere() throws(RequestFault) -> (role: Webhooking, key: SealingKey) {
    guard let webhooks else {
      throw RequestFault(
        .temporarilyUnavailable, found: "this process posts to no webhooks", remedy: "Ask the running service.")
    }
    return webhooks
  }
}

extension WebhookView {
  init(_ webhook: StoredWebhook, at now: Instant) {
    self.init(
      id: webhook.id, url: webhook.url, events: Set(webhook.events.map(WebhookEvent.init)),
      isEnabled: webhook.isEnabled, createdAt: webhook.createdAt, version: webhook.version,
      failures: webhook.failures, nextAt: webhook.failures > 0 ? webhook.dueAt : nil,
      formerSecretUntil: webhook.former.flatMap { $0.until > now ? $0.until : nil }, dropped: webhook.dropped,
      droppedAt: webhook.droppedAt)
  }
}

extension WebhookDelivery {
  init(_ attempt: WebhookAttempt) {
    self.init(
      at: attempt.at, firstEvent: WebhookMessage.id(attempt.firstEvent), events: attempt.events,
      status: attempt.status, fault: attempt.fault, took: attempt.took)
  }
}
