internal import Basics
internal import PushPayload
internal import PushService
internal import Transport

/// `/v1/messages`: in-app messages, by themselves or beside a notification.
extension HTTPAPI {
  /// `POST /v1/messages`: 201 with the message's id once it is durable; it is a push without a notification. Idempotent as
  /// `POST /v1/pushes`.
  func sendMessage(_ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    let fields = try RequestBody.object(call.request.body, codes: .push)
    try fields.refuseUnknown(besides: ["audience", "timeToLive"] + MessageReading.keys)
    var order = PushOrder(audience: try ExpressionReading.audience(fields), original: call.request.body)
    order.message = try MessageReading.read(fields)
    order.isMessageAlone = true
    order.timeToLive = try fields["timeToLive"]?.integer(0...OptionsReading.longestTimeToLive)
    return try await made(&order, app, call, path: "/v1/messages")
  }

  /// `GET /v1/messages`, the newest first.
  func listMessages(_ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    let page = try Page(call.query(.push))
    let messages = try await service.messages(app, before: try page.numberOfCursor() ?? .max, limit: page.limit + 1)
    return page.answer("messages", messages, cursor: { String($0.id) }, write: Self.object)
  }

  /// `GET /v1/messages/{id}`.
  func showMessage(_ id: String, _ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    return Answers.ok(.object(Self.object(try await service.message(app, id: try Self.number(of: "message", id)))))
  }

  /// `DELETE /v1/messages/{id}`: it vanishes from the apps that have it; a notification of the same push goes on.
  func removeMessage(_ id: String, _ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    try await service.deleteMessage(app, id: try Self.number(of: "message", id))
    return Answers.noContent
  }

  /// `GET /v1/devices/{registrationId}/messages`, the newest first: what the app there finds in its history.
  func deviceMessages(_ registrationID: String, _ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    let page = try Page(call.query(.push))
    let messages = try await service.messages(
      app, registrationID: registrationID, before: try page.numberOfCursor() ?? .max, limit: page.limit + 1)
    return page.answer("messages", messages, cursor: { String($0.position) }, write: Self.object)
  }

  private static func object(_ message: DeviceMessage) -> JSONObject {
    var object: JSONObject = [
      "id": .string(String(message.id)), "sentAt": .string(message.acceptedAt.description),
      "delivered": .bool(message.isDelivered),
    ]
    write(message.body, into: &object)
    return object
  }

  private static func object(_ message: MessageView) -> JSONObject {
    var object: JSONObject = [
      "id": .string(String(message.id)), "sentAt": .string(message.acceptedAt.description),
      "expiresAt": message.expiresAt.map { .string($0.description) } ?? .null,
      "withdrawnAt": message.withdrawnAt.map { .string($0.description) } ?? .null,
      "targeted": .number(JSONNumber(message.counts.targeted)),
      "delivered": .number(JSONNumber(message.counts.delivered)), "read": .number(JSONNumber(message.counts.read)),
    ]
    write(message.body, into: &object)
    return object
  }

  /// As the sender wrote it.
  private static func write(_ body: JSONObject, into object: inout JSONObject) {
    for key in MessageReading.keys { object[key] = body[key] ?? .null }
  }
}

/// Reads what a message of `/v1` says.
enum MessageReading {
  static let keys = ["content", "title", "contentType", "extras"]

  static func read(_ fields: Fields) throws(RequestFault) -> MessageContent {
    guard let content = fields["content"] else { throw fields.missing("content", "A message must say something.") }
    return MessageContent(
      content: try content.string(), title: try fields["title"]?.string(),
      contentType: try fields["contentType"]?.string(), extras: try fields["extras"]?.object().object)
  }
}
