internal import Basics
internal import PushPayload
internal import PushService
internal import Store
internal import Transport

/// `/v1/schedules`: the schedules of `/v3` as a resource that also says its time zone, its next time, and what came of the
/// others; those that are over stay in the list.
extension HTTPAPI {
  /// `POST /v1/schedules`.
  func makeSchedule(_ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    let schedule = try await service.createSchedule(app, try ScheduleReading.order(call.request.body, ours: true))
    var answer = Self.answer(schedule, status: 201)
    answer.headers["Location"] = "/v1/schedules/\(schedule.id)"
    return answer
  }

  /// `GET /v1/schedules?limit=&cursor=`: oldest first; `next` is the cursor of the page after, null at the end.
  func listSchedules(_ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    let query = try call.query(.schedule)
    try query.refuseUnknown(besides: ["limit", "cursor"])
    let limit = try Self.number(query["limit"], 1...1000) ?? 100
    let cursor = try Self.number(query["cursor"], 0...Int64.max) ?? 0
    let list = try await service.schedules(app, onlyLive: false, after: cursor, limit: Int(limit))
    let next = list.total > list.schedules.count ? list.schedules.last?.number : nil
    return Answers.ok([
      "schedules": .array(list.schedules.map { .object(Self.resource($0)) }),
      "next": next.map { .string(String($0)) } ?? .null,
    ])
  }

  /// `GET /v1/schedules/{id}`, with its `ETag`.
  func showSchedule(_ id: String, _ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    return Self.answer(try await service.schedule(app, id: id))
  }

  /// `PATCH /v1/schedules/{id}`: what is named changes; with `If-Match` only while it is what was read.
  func patchSchedule(_ id: String, _ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    let change = try ScheduleReading.change(call.request.body, ours: true)
    let version: Int64?
    switch call.request.headers["If-Match"] {
    case nil, "*": version = nil
    case let tag?: version = Int64(tag.filter { $0 != "\"" }) ?? 0  // of no schedule, so that nothing is changed
    }
    return Self.answer(try await service.changeSchedule(app, id: id, change, version: version))
  }

  /// `DELETE /v1/schedules/{id}`.
  func removeSchedule(_ id: String, _ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    try await service.deleteSchedule(app, id: id)
    return HTTPResponse(status: 204)
  }

  /// `GET /v1/schedules/{id}/firings`: oldest first.
  func scheduleFirings(_ id: String, _ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    let firings = try await service.firings(app, schedule: id).map { firing in
      var object: JSONObject = ["due": .string(firing.wall.description), "at": .string(firing.at.description)]
      object["msg_id"] = firing.push.map { .string(String($0)) } ?? .null
      if firing.code != 0 {
        object["error"] = ["code": .number(JSONNumber(firing.code)), "message": .string(firing.words)]
      }
      return JSONValue.object(object)
    }
    return Answers.ok(["firings": .array(firings)])
  }

  private static func answer(_ schedule: ScheduleView, status: Int = 200) -> HTTPResponse {
    var answer = Answers.json(status, .object(resource(schedule)))
    answer.headers["ETag"] = "\"\(schedule.version)\""
    return answer
  }

  private static func resource(_ schedule: ScheduleView) -> JSONObject {
    [
      "id": .string(schedule.id), "name": .string(schedule.name), "enabled": .bool(schedule.isEnabled),
      "trigger": trigger(schedule.trigger), "timeZone": .string(schedule.timeZone),
      "push": (try? JSONReader.read(schedule.push).value) ?? .null,
      "createdAt": .string(schedule.createdAt.description),
      "nextAt": schedule.nextAt.map { .string($0.description) } ?? .null,
    ]
  }

  private static func number(_ field: Field?, _ range: ClosedRange<Int64>) throws(RequestFault) -> Int64? {
    guard let field else { return nil }
    let text = try field.string()
    guard let number = Int64(text), range ~= number else {
      throw field.wrong("\(quoted(text)) stands here", "Give a whole number, as the page before did.")
    }
    return number
  }
}
