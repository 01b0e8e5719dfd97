internal import Basics
internal import PushPayload
internal import PushService
internal import Transport

extension HTTPAPI {
  /// `POST /v3/push` and `POST /v3/push/validate` (jpush.md §4.9, §5.1).
  func push(_ call: inout Call, validateOnly: Bool) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    if let encryption = call.request.headers["X-Encrypt-Type"] {
      throw RequestFault(
        .invalidParameter, at: "X-Encrypt-Type", found: "encrypted bodies (\(quoted(encryption))) are not read",
        remedy: "Send the push as plain JSON, over TLS.")
    }
    let order = try PushReading.read(call.request.body)
    let receipt = validateOnly ? try await service.validate(app, order) : try await service.push(app, order)
    var answer = Answers.ok([
      "sendno": .string(String(receipt.sendNumber)), "msg_id": .string(String(receipt.messageID)),
    ])
    answer.headers["X-Belfry-Warnings"] = Answers.warningHeader(receipt.warnings)
    return answer
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

  /// `GET /v1/pushes/{msg_id}`.
  func report(_ id: String, _ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    guard let messageID = Int64(id), let report = try await service.report(app, messageID: messageID) else {
      return Answers.refusal(
        status: 404, code: RequestFault.Code.invalidParameter.rawValue,
        message: "This app has no push \(quoted(id)).", family: call.family)
    }
    return Answers.ok(.object(Self.object(report)))
  }

  private static func object(_ report: PushReport) -> JSONObject {
    var object: JSONObject = ["msg_id": .string(String(report.messageID))]
    switch report.state {
    case .sending:
      object["state"] = "sending"
    case .waiting(let reason):
      object["state"] = "waiting"
      object["reason"] = .string(reason)
    case .finished:
      object["state"] = "finished"
    }
    object["acceptedAt"] = .string(report.acceptedAt.description)
    let counts = [
      ("targeted", report.targeted), ("accepted", report.accepted), ("expired", report.expired),
      ("unanswered", report.unanswered), ("skipped", report.skipped),
      ("skippedByPreference", report.skippedByPreference), ("pending", report.pending),
      ("wrongEnvironment", report.wrongEnvironment),
      ("deadTokens", report.deadTokens),
    ]
    for (key, count) in counts { object[key] = .number(JSONNumber(count)) }
    object["refused"] = .array(
      report.refused.map { ["reason": .string($0.reason), "count": .number(JSONNumber($0.count))] })
    object["warnings"] = .array(report.warnings.map(JSONValue.string))
    return object
  }
}
