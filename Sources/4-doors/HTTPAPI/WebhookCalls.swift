internal import Basics
internal import PushPayload
internal import PushService
internal import Transport

/// `/v1/webhooks`: the addresses of the app's server that hear of events (docs/webhooks.md).
extension HTTPAPI {
  /// `POST /v1/webhooks`: 201 with the secret, which no other call tells; or 200 and the same again for the same request
  /// under the same `Idempotency-Key` within a day.
  func createWebhook(_ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    let (fields, change) = try Self.webhook(call.request.body)
    guard let url = change.url else { throw fields.missing("url", "Give the address that is to be called.") }
    let made = try await service.createWebhook(
      app,
      WebhookOrder(
        url: url, events: change.events ?? WebhookEvent.usual, isEnabled: change.isEnabled ?? true,
        clientID: try call.idempotencyKey(), original: call.request.body))
    var object = Self.object(made.webhook)
    object["secret"] = .string(made.secret)
    var answer = Answers.json(made.isRepeated ? 200 : 201, .object(object)).tagged(UInt64(made.webhook.version))
    answer.headers["Location"] = "/v1/webhooks/\(made.webhook.id)"
    return answer
  }

  /// `GET /v1/webhooks?limit=&cursor=`: oldest first.
  func listWebhooks(_ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    let page = try Page(call.query(.push))
    let webhooks = try await service.webhooks(app, after: try page.numberOfCursor() ?? 0, limit: page.limit + 1)
    return page.answer("webhooks", webhooks, cursor: { String($0.id) }, write: Self.object)
  }

  /// `GET /v1/webhooks/{id}`, with its `ETag`.
  func showWebhook(_ id: String, _ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    return Self.answer(try await service.webhook(app, id: try Self.number(of: "webhook", id)))
  }

  /// `PATCH /v1/webhooks/{id}`: what is named changes; with `If-Match` only while it is what was read.
  func editWebhook(_ id: String, _ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    let (_, change) = try Self.webhook(call.request.body)
    let version = try call.ifMatch().map { Int64(clamping: $0) }
    return Self.answer(
      try await service.changeWebhook(app, id: try Self.number(of: "webhook", id), change, ifVersion: version))
  }

  /// `DELETE /v1/webhooks/{id}`.
  func deleteWebhook(_ id: String, _ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    try await service.deleteWebhook(app, id: try Self.number(of: "webhook", id))
    return Answers.noContent
  }

  /// `POST /v1/webhooks/{id}/test`: posts an event of the type `test` now, and answers what came of it.
  func testWebhook(_ id: String, _ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    return Answers.ok(.object(Self.object(try await service.testWebhook(app, id: try Self.number(of: "webhook", id)))))
  }

  /// `POST /v1/webhooks/{id}/secret`, maybe with `{"overlapHours"}`: another secret, told in this answer alone.
  func renewWebhookSecret(_ id: String, _ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    let number = try Self.number(of: "webhook", id)
    var hours: Int64?
    if !call.request.body.isEmpty {
      let fields = try RequestBody.object(call.request.body, codes: .push)
      try fields.refuseUnknown(besides: ["overlapHours"])
      hours = try fields["overlapHours"]?.integer(0...PushService.longestOverlap.milliseconds / 3_600_000)
    }
    let renewed = try await service.renewWebhookSecret(app, id: number, overlap: .hours(hours ?? 24))
    var object = Self.object(renewed.webhook)
    object["secret"] = .string(renewed.secret)
    return Answers.ok(.object(object)).tagged(UInt64(renewed.webhook.version))
  }

  /// `GET /v1/webhooks/{id}/deliveries`: the last 100 attempts, newest first.
  func webhookDeliveries(_ id: String, _ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    let deliveries = try await service.deliveries(app, webhook: try Self.number(of: "webhook", id))
    return Answers.ok(["deliveries": .array(deliveries.map { .object(Self.object($0)) })])
  }

  private static func webhook(_ body: [UInt8]) throws(RequestFault) -> (fields: Fields, change: WebhookChange) {
    let fields = try RequestBody.object(body, codes: .push)
    try fields.refuseUnknown(besides: ["url", "events", "enabled"])
    var change = WebhookChange(url: try fields["url"]?.string(), isEnabled: try fields["enabled"]?.bool())
    if let field = fields["events"] {
      var events: Set<WebhookEvent> = []
      for element in try field.array() {
        let word = try element.word(outOf: WebhookEvent.allCases.map(\.rawValue))
        if let event = WebhookEvent(rawValue: word) { events.insert(event) }
      }
      change.events = events
    }
    return (fields, change)
  }

  private static func answer(_ webhook: WebhookView) -> HTTPResponse {
    Answers.ok(.object(object(webhook))).tagged(UInt64(webhook.version))
  }

  private static func object(_ webhook: WebhookView) -> JSONObject {
    [
      "id": .string(String(webhook.id)), "url": .string(webhook.url),
      "events": .array(webhook.events.map(\.rawValue).sorted().map(JSONValue.string)),
      "enabled": .bool(webhook.isEnabled), "createdAt": .string(webhook.createdAt.description),
      "failures": .number(JSONNumber(webhook.failures)),
      "nextAttemptAt": webhook.nextAt.map { .string($0.description) } ?? .null,
      "formerSecretUntil": webhook.formerSecretUntil.map { .string($0.description) } ?? .null,
      "dropped": .number(JSONNumber(webhook.dropped)),
      "droppedAt": webhook.droppedAt.map { .string($0.description) } ?? .null,
    ]
  }

  private static func object(_ delivery: WebhookDelivery) -> JSONObject {
    [
      "at": .string(delivery.at.description), "taken": .bool(delivery.fault == nil),
      "status": delivery.status.map { .number(JSONNumber($0)) } ?? .null,
      "fault": delivery.fault.map(JSONValue.string) ?? .null,
      "firstEvent": delivery.firstEvent.map(JSONValue.string) ?? .null,
      "events": .number(JSONNumber(delivery.events)), "milliseconds": .number(JSONNumber(delivery.took.milliseconds)),
    ]
  }
}
