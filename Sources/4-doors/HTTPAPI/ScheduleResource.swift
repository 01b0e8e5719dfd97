internal import Basics
internal import PushPayload
internal import PushService
internal import Store
internal import Transport

/// `/v1/schedules`: the schedules of `/v3` as a resource that also says its time zone, its next time, and what came of the
/// others; those that are over stay in the list.
extension HTTPAPI {
  /// `POST /v1/schedules`: 201, or 200 and the first schedule again for the same request under the same
  /// `Idempotency-Key` within a day.
  func makeSchedule(_ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    var order = try ScheduleReading.order(call.request.body, ours: true)
    if let key = try call.idempotencyKey() {
      order.clientID = key
      order.isKeyed = true
    }
    let schedule = try await service.createSchedule(app, order)
    var answer = Self.answer(schedule, status: schedule.isRepeated ? 200 : 201)
    answer.headers["X-Belfry-Warnings"] = Answers.warningHeader(order.push.warnings)
    answer.headers["Location"] = "/v1/schedules/\(schedule.id)"
    return answer
  }

  /// `GET /v1/schedules?limit=&cursor=`: oldest first; `next` is the cursor of the page after, null at the end.
  func listSchedules(_ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    let page = try Page(call.query(.schedule))
    let list = try await service.schedules(
      app, onlyLive: false, after: try page.numberOfCursor() ?? 0, limit: page.limit + 1)
    return page.answer("schedules", list.schedules, cursor: { String($0.number) }, write: Self.resource)
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
    let version = try call.ifMatch().map { Int64(clamping: $0) }
    return Self.answer(try await service.changeSchedule(app, id: id, change, version: version))
  }

  /// `DELETE /v1/schedules/{id}`.
  func removeSchedule(_ id: String, _ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    try await service.deleteSchedule(app, id: id)
    return Answers.noContent
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
    Answers.json(status, .object(resource(schedule))).tagged(UInt64(schedule.version))
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
}
