internal import Basics
internal import PushPayload
internal import PushService
internal import Transport

extension HTTPAPI {
  /// `GET /v1/pushes/{msg_id}`.
  func report(_ id: String, _ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    return try await report(of: app, id)
  }

  func report(of app: AppRecord, _ id: String) async throws(RequestFault) -> HTTPResponse {
    guard let messageID = Int64(id), let report = try await service.report(app, messageID: messageID),
      let lists = try await service.countLists(app, messageID: messageID)
    else { throw Self.noSuchPush(id) }
    var object = PushReportWriting.object(report)
    object["byHour"] = .array(lists.hours.map { PushReportWriting.row("hour", .string($0.description), $1) })
    object["byAppVersion"] = .array(
      lists.appVersions.map { PushReportWriting.row("appVersion", $0.map(JSONValue.string) ?? .null, $1) })
    return Answers.ok(.object(object))
  }

  static func noSuchPush(_ id: String) -> RequestFault {
    RequestFault(
      .noSuchResource, at: "msg_id", found: "this app has no push \(quoted(id))",
      remedy: "Use the msg_id that the push was answered with.")
  }
}

/// A push's outcomes and reports as `/v1` shows them.
enum PushReportWriting {
  static func object(_ report: PushReport) -> JSONObject {
    var object: JSONObject = ["id": .string(String(report.messageID))]
    switch report.state {
    case .sending:
      object["state"] = "sending"
    case .waiting(let reason):
      object["state"] = "waiting"
      object["reason"] = .string(reason)
    case .finished:
      object["state"] = "finished"
    case .paused:
      object["state"] = "paused"
    case .withdrawn:
      object["state"] = "withdrawn"
    }
    object["acceptedAt"] = .string(report.acceptedAt.description)
    let counts = [
      ("targeted", report.targeted), ("sent", report.sent), ("accepted", report.accepted), ("expired", report.expired),
      ("unanswered", report.unanswered), ("skipped", report.skipped),
      ("skippedByPreference", report.skippedByPreference), ("withdrawn", report.withdrawn), ("pending", report.pending),
      ("wrongEnvironment", report.wrongEnvironment), ("deadTokens", report.deadTokens), ("received", report.received),
      ("shown", report.shown), ("clicked", report.clicked),
    ]
    for (key, count) in counts { object[key] = .number(JSONNumber(count)) }
    object["refused"] = .array(
      report.refused.map { ["reason": .string($0.reason), "count": .number(JSONNumber($0.count))] })
    object["warnings"] = .array(report.warnings.map(JSONValue.string))
    object["message"] = report.message.map { message in
      [
        "targeted": .number(JSONNumber(message.targeted)), "delivered": .number(JSONNumber(message.delivered)),
        "read": .number(JSONNumber(message.read)),
      ]
    }
    object["voipPush"] = report.companion.map { .string(String($0)) }
    object["beside"] = report.companionOf.map { .string(String($0)) }
    object["broadcast"] = report.broadcast.map {
      ["channel": .string($0.channel), "requestId": .string($0.requestID)]
    }
    return object
  }

  static func row(_ key: String, _ value: JSONValue, _ counts: PushCounts) -> JSONValue {
    var object = JSONObject([.init(key, value)])
    for (name, count) in [
      ("accepted", counts.accepted), ("refused", counts.refused), ("expired", counts.expired),
      ("unanswered", counts.unanswered), ("skipped", counts.skipped),
      ("skippedByPreference", counts.skippedByPreference), ("withdrawn", counts.withdrawn),
      ("received", counts.received), ("shown", counts.shown),
      ("clicked", counts.clicked),
    ] {
      object[name] = .number(JSONNumber(count))
    }
    return .object(object)
  }
}
