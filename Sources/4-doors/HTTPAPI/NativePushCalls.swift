internal import PushPayload
internal import PushService
internal import Transport

/// Pushes as a resource of `/v1`.
extension HTTPAPI {
  /// `POST /v1/pushes`: 201 with the push's id once it is durable. With `Idempotency-Key`, the same request within a day
  /// answers the first push again (200) and sends nothing.
  func sendPush(_ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    var order = try NativePushReading.read(call.request.body)
    return try await made(&order, app, call)
  }

  /// The answer to a push that was made, or that the same key made before; it is to be read below `path`.
  func made(
    _ order: inout PushOrder, _ app: AppRecord, _ call: Call, path: String = "/v1/pushes"
  ) async throws(RequestFault) -> HTTPResponse {
    if let key = try call.idempotencyKey() {
      order.clientID = key
      order.isKeyed = true
    }
    let receipt = try await service.push(app, order)
    let id = String(receipt.messageID)
    var answer = Answers.json(
      receipt.isRepeated ? 200 : 201,
      [
        "id": .string(id), "targeted": .number(JSONNumber(receipt.targeted)),
        "warnings": .array(receipt.warnings.map(JSONValue.string)),
        "unmatched": .array(receipt.unmatched.map(JSONValue.string)),
      ])
    answer.headers["Location"] = "\(path)/\(id)"
    return answer
  }

  /// `POST /v1/pushes/preview`: all checks, whom it would reach, and how large it is; nothing is kept or sent.
  func previewPush(_ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    let preview = try await service.preview(app, try NativePushReading.read(call.request.body))
    return Answers.ok([
      "targeted": .number(JSONNumber(preview.receipt.targeted)),
      "pushType": .string(preview.pushType.rawValue), "priority": .number(JSONNumber(preview.priority.rawValue)),
      "sizes": ["ios": ["bytes": .number(JSONNumber(preview.bytes)), "limit": .number(JSONNumber(preview.limit))]],
      "warnings": .array(preview.receipt.warnings.map(JSONValue.string)),
      "unmatched": .array(preview.receipt.unmatched.map(JSONValue.string)),
    ])
  }

  /// `GET /v1/pushes`, the newest first.
  func listPushes(_ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    let page = try Page(call.query(.push))
    let pushes = try await service.reports(app, before: try page.numberOfCursor() ?? .max, limit: page.limit + 1)
    return page.answer(
      "pushes", pushes, cursor: { String($0.messageID) }, write: PushReportWriting.object)
  }
}
