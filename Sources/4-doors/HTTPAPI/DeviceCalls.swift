internal import Audience
internal import Basics
internal import PushPayload
internal import PushService
internal import Transport

extension HTTPAPI {
  /// `GET /v3/devices/{registration_id}` (jpush.md §7): these three keys, null where nothing is set.
  func device(_ id: String, _ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    let view = try await service.device(app, registrationID: try checked(id))
    return Answers.ok([
      "tags": .array(view.tags.map(JSONValue.string)), "alias": view.alias.map(JSONValue.string) ?? .null,
      "mobile": view.mobile.map(JSONValue.string) ?? .null,
    ])
  }

  /// `POST /v3/devices/{registration_id}`.
  func changeDevice(_ id: String, _ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    let id = try checked(id)
    try await service.changeDevice(app, registrationID: id, try DeviceReading.change(call.request.body))
    return Answers.empty
  }

  /// `POST /v3/devices/status`: when each was heard of; an id that this app has not is an empty object.
  func deviceStatuses(_ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    let ids = try DeviceReading.registrationIDs(call.request.body)
    var answer = JSONObject()
    for id in ids { answer[id] = .object([:]) }
    let now = clock.now
    for status in try await service.statuses(app, registrationIDs: ids) {
      var members: JSONObject = ["online": .bool(status.isOnline)]
      if !status.isOnline, now - status.seenAt <= .days(2) {
        members["last_online_time"] = .string(settings.jpushTime(status.seenAt))
      }
      answer[status.registrationID] = .object(members)
    }
    return Answers.ok(.object(answer))
  }

  // MARK: the device itself

  /// `POST /device/v1/registrations`: an app's key (no secret: apps on phones hold none) and a device token give a
  /// registration id and the secret that authenticates this device's further calls.
  func register(_ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    try countAddress(&call)
    let (appKey, registration) = try DeviceReading.registration(call.request.body)
    let registered = try await service.register(appKey: appKey, registration)
    try count(&call, app: appKey)
    return Answers.ok([
      "registrationId": .string(registered.registrationID), "deviceSecret": .string(registered.deviceSecret),
    ])
  }

  /// `GET /device/v1/registrations/{registration_id}`.
  func ownDevice(_ id: String, _ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticateDevice(try checked(id), &call)
    let view = try await service.device(app, registrationID: id)
    return Answers.ok(.object(DeviceWriting.own(view)))
  }

  /// `POST /device/v1/registrations/{registration_id}`: as the app server's call, and `badge`, the number that `+1`
  /// counts from (case C07), `onlyScheduled`, the user's preference, what the device tells of itself, and a new token.
  /// 200 when it is durable (D-332).
  func changeOwnDevice(_ id: String, _ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticateDevice(try checked(id), &call)
    let change = try DeviceReading.ownChange(call.request.body)
    try await service.changeDevice(app, registrationID: id, change)
    return Answers.ok([:])
  }

  /// `POST /device/v1/registrations/{registration_id}/reports`: what became of pushes on the device. 200 when it is
  /// durable; said again it counts once.
  func ownReports(_ id: String, _ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticateDevice(try checked(id), &call)
    let sayings = try DeviceReading.sayings(call.request.body)
    let receipt = try await service.note(app, registrationID: id, sayings)
    return Answers.ok([
      "counted": .number(JSONNumber(receipt.counted)), "repeated": .number(JSONNumber(receipt.repeated)),
      "unknown": .array(receipt.unknown.map { .string(String($0)) }),
    ])
  }

  func checked(_ id: String) throws(RequestFault) -> String {
    try Field(value: .string(id), path: JSONPath("registration_id"), codes: .device).name(.registrationID)
  }
}
