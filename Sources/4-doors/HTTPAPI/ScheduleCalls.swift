internal import Basics
internal import PushPayload
public import PushService
internal import Schedule
internal import Store
internal import Transport

extension HTTPAPI {
  /// What `Scheduling.order` reads with: the push of a schedule, from the bytes that were kept.
  public static func scheduledPush(_ request: [UInt8]) throws(RequestFault) -> PushOrder {
    try ScheduleReading.push(request)
  }

  /// `POST /v3/schedules` (jpush.md §6).
  func createSchedule(_ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    let order = try ScheduleReading.order(call.request.body)
    let schedule = try await service.createSchedule(app, order)
    var answer = Answers.ok(["schedule_id": .string(schedule.id), "name": .string(schedule.name)])
    answer.headers["X-Belfry-Warnings"] = Answers.warningHeader(order.push.warnings)
    return answer
  }

  /// `GET /v3/schedules?page=n`: 50 a page, those that are not over.
  func schedules(_ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    let size = 50
    var page = 1
    for (name, value) in HTTPTarget.items(ofQuery: call.request.query ?? "") ?? [] where name == "page" {
      guard let number = Int(value), 1...1_000_000 ~= number else {
        throw RequestFault(
          .scheduleInvalid, at: "page", found: "\(quoted(value)) stands here", remedy: "Give a page from 1 on.")
      }
      page = number
    }
    let list = try await service.schedules(app, onlyLive: true, skipping: (page - 1) * size, limit: size)
    return Answers.ok([
      "total_count": .number(JSONNumber(list.total)),
      "total_pages": .number(JSONNumber((list.total + size - 1) / size)),
      "page": .number(JSONNumber(page)), "schedules": .array(list.schedules.map { .object(Self.object($0)) }),
    ])
  }

  /// `GET /v3/schedules/{id}`.
  func schedule(_ id: String, _ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    return Answers.ok(.object(Self.object(try await service.schedule(app, id: id))))
  }

  /// `GET /v3/schedules/{id}/msg_ids`: each element is a string that holds JSON, as JPush has it since 2018.
  func scheduleMessages(_ id: String, _ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    let messages = try await service.firings(app, schedule: id).map { firing in
      let element: JSONValue = [
        "msg_id": .string(firing.push.map(String.init) ?? "0"),
        "error": ["code": .number(JSONNumber(firing.code)), "message": .string(firing.words)], "needRetry": false,
        "ts": .number(JSONNumber(firing.at.milliseconds)),
      ]
      return JSONValue.string(element.text)
    }
    return Answers.ok(["count": .number(JSONNumber(messages.count)), "msgids": .array(messages)])
  }

  /// `PUT /v3/schedules/{id}`.
  func changeSchedule(_ id: String, _ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    let change = try ScheduleReading.change(call.request.body)
    var answer = Answers.ok(.object(Self.object(try await service.changeSchedule(app, id: id, change))))
    answer.headers["X-Belfry-Warnings"] = Answers.warningHeader(change.push?.warnings ?? [])
    return answer
  }

  /// `DELETE /v3/schedules/{id}`.
  func deleteSchedule(_ id: String, _ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    try await service.deleteSchedule(app, id: id)
    return Answers.empty
  }

  private static func object(_ schedule: ScheduleView) -> JSONObject {
    [
      "schedule_id": .string(schedule.id), "name": .string(schedule.name), "enabled": .bool(schedule.isEnabled),
      "trigger": trigger(schedule.trigger), "push": (try? JSONReader.read(schedule.push).value) ?? .null,
    ]
  }

  /// As it was read.
  static func trigger(_ trigger: ScheduleTrigger) -> JSONValue {
    switch trigger {
    case .single(let time): return ["single": ["time": .string(time.description)]]
    case .periodical(let recurrence):
      let unit =
        switch recurrence.days {
        case .daily: "day"
        case .weekly: "week"
        case .monthly: "month"
        }
      var periodical: JSONObject = [
        "start": .string(recurrence.start.description), "end": .string(recurrence.end.description),
        "time": .string(recurrence.time.description), "time_unit": .string(unit),
        "frequency": .number(JSONNumber(recurrence.frequency)),
      ]
      if !recurrence.points.isEmpty { periodical["point"] = .array(recurrence.points.map(JSONValue.string)) }
      return ["periodical": .object(periodical)]
    }
  }
}
