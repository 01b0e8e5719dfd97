internal import Audience
internal import PushPayload
internal import PushService
internal import Transport

/// Devices and tags as resources of `/v1`.
extension HTTPAPI {
  /// `GET /v1/devices?tag=…&alias=…&filter=…`: those that all of it means, `filter` an audience in JSON.
  func listDevices(_ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    let query = try call.query(.push)
    let page = try Page(query, besides: ["tag", "alias", "filter"])
    var parts: [AudienceExpression] = []
    if let tag = query["tag"] { parts.append(.tag(try tag.name(.tag))) }
    if let alias = query["alias"] { parts.append(.alias(try alias.name(.alias))) }
    if let filter = query["filter"] { parts.append(try Self.expression(in: filter)) }
    let after: DeviceOrdinal? = try page.numberOfCursor()
    let devices = try await service.devices(app, in: .all(parts), after: after, limit: page.limit + 1)
    return page.answer("devices", devices, cursor: { String($0.ordinal) }, write: DeviceWriting.full)
  }

  private static func expression(in field: Field) throws(RequestFault) -> AudienceExpression {
    let text = try field.string()
    do {
      let document = try JSONReader.read(Array(text.utf8), limits: .init(depth: RequestBody.depth, bytes: .max))
      return try ExpressionReading.read(Field(value: document.value, path: field.path, codes: field.codes))
    } catch let error as RequestFault {
      throw error
    } catch {
      throw field.wrong("it is no JSON", "Give an audience such as {\"tag\": \"vip\"}, percent-encoded.")
    }
  }

  /// `GET /v1/devices/{registration_id}`.
  func showDevice(_ id: String, _ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    let view = try await service.device(app, registrationID: id)
    return Answers.ok(.object(DeviceWriting.full(view))).tagged(view.fingerprint)
  }

  /// `PATCH /v1/devices/{registration_id}`: `tags`, `alias`, `mobile`, `badge`, `onlyScheduled`; with `If-Match` only while
  /// the device is what was read.
  func editDevice(_ id: String, _ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    var change = try DeviceReading.edit(call.request.body)
    change.ifUnchanged = try call.ifMatch()
    try await service.changeDevice(app, registrationID: id, change)
    let view = try await service.device(app, registrationID: id)
    return Answers.ok(.object(DeviceWriting.full(view))).tagged(view.fingerprint)
  }

  /// `DELETE /v1/devices/{registration_id}`.
  func deleteDevice(_ id: String, _ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    try await service.deleteDevice(app, registrationID: id)
    return Answers.noContent
  }

  // MARK: Tags

  /// `GET /v1/tags`: all that somebody has, with how many.
  func listTags(_ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    let page = try Page(call.query(.push))
    let tags = try await service.tags(app, after: page.cursor, limit: page.limit + 1)
    return page.answer("tags", tags, cursor: \.name, write: Self.object)
  }

  /// `GET /v1/tags/{tag}`.
  func showTag(_ name: String, _ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    guard let tag = try await service.tag(app, name: name) else { throw PushService.noSuch("tag", name) }
    return Answers.ok(.object(Self.object(tag)))
  }

  /// `PATCH /v1/tags/{tag}` with `{"add": […], "remove": […]}`, lists of registration ids.
  func editTag(_ name: String, _ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    let fields = try RequestBody.object(call.request.body, codes: .push)
    let lists = ["add", "remove"]
    let change = try Self.lists(fields, lists)
    try await service.changeTag(app, name: name, adding: change["add"] ?? [], removing: change["remove"] ?? [])
    let tag = try await service.tag(app, name: name)
    return Answers.ok(["name": .string(name), "devices": .number(JSONNumber(tag?.devices ?? 0))])
  }

  /// `DELETE /v1/tags/{tag}`.
  func removeTag(_ name: String, _ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    guard try await service.tag(app, name: name) != nil else { throw PushService.noSuch("tag", name) }
    try await service.deleteTag(app, name: name)
    return Answers.noContent
  }

  private static func object(_ tag: TagView) -> JSONObject {
    ["name": .string(tag.name), "devices": .number(JSONNumber(tag.devices))]
  }
}
