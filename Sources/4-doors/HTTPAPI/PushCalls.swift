internal import Basics
internal import PushPayload
internal import PushService
internal import Transport

extension HTTPAPI {
  /// `POST /v3/push` and `POST /v3/push/validate` (jpush.md §4.9, §5.1).
  func push(_ call: inout Call, validateOnly: Bool) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    try refuseEncryption(call)
    let order = try PushReading.read(call.request.body)
    guard validateOnly else { return self.answer(try await service.push(app, order)) }
    let preview = try await service.preview(app, order)
    var answer = answer(preview.receipt)
    if preview.bytes > 0 { answer.headers["X-Belfry-Payload-Size"] = "ios=\(preview.bytes)/\(preview.limit)" }
    return answer
  }

  /// JPush's two keys (jpush.md §4.9).
  func answer(_ receipt: PushReceipt) -> HTTPResponse {
    var answer = Answers.ok([
      "sendno": .string(String(receipt.sendNumber)), "msg_id": .string(String(receipt.messageID)),
    ])
    answer.headers["X-Belfry-Warnings"] = Answers.warningHeader(receipt.warnings)
    return answer
  }

  func refuseEncryption(_ call: Call) throws(RequestFault) {
    guard let encryption = call.request.headers["X-Encrypt-Type"] else { return }
    throw RequestFault(
      .invalidParameter, at: "X-Encrypt-Type", found: "encrypted bodies (\(quoted(encryption))) are not read",
      remedy: "Send the push as plain JSON, over TLS.")
  }

  /// `GET /v3/push/cid?count=n&type=push|schedule` (jpush.md §5.2).
  func clientIDs(_ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    var count = 1
    guard let items = HTTPTarget.items(ofQuery: call.request.query ?? "") else {
      throw RequestFault(
        .invalidParameter, found: "the query is not percent-encoded UTF-8", remedy: "Encode it as RFC 3986 says.")
    }
    for (name, value) in items {
      switch name {
      case "count":
        guard let number = Int(value), 1...1000 ~= number else {
          throw RequestFault(
            .invalidParameter, at: "count", found: "\(quoted(value)) stands here",
            remedy: "It must be a whole number from 1 to 1000.")
        }
        count = number
      case "type":
        guard value == "push" || value == "schedule" else {
          throw RequestFault(
            .invalidParameter, at: "type", found: "\(quoted(value)) stands here", remedy: "It must be push or schedule."
          )
        }
      default:
        break
      }
    }
    let ids = (0..<count).map { _ in
      String(decoding: UUIDText.version4(settings.random(), settings.random()), as: UTF8.self)
    }
    return Answers.ok(["cidlist": .array(ids.map { .string("\(app.key)-\($0)") })])
  }

  /// `GET /v3/push/quota` (jpush.md §5.7): what vendors of Android phones allow; here nothing is counted against it.
  func quota(_ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    _ = try await authenticate(&call)
    let unlimited: JSONValue = ["total": -1, "used": 0]
    let quota: JSONValue = ["system": unlimited, "operation": unlimited]
    return Answers.ok(["data": ["xiaomi_quota": quota, "oppo_quota": quota, "vivo_quota": quota]])
  }
}
