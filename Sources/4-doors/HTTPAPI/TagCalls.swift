internal import Audience
internal import PushPayload
internal import PushService
internal import Transport

/// Tags and aliases as JPush's Device API has them (jpush.md §7).
extension HTTPAPI {
  /// JPush lists so many, and no more.
  private static let listedTags = 100

  /// `GET /v3/tags`: the first hundred; that there are more is told.
  func tags(_ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    let tags = try await service.tags(app, limit: Self.listedTags + 1)
    var answer = Answers.ok(["tags": .array(tags.prefix(Self.listedTags).map { .string($0.name) })])
    if tags.count > Self.listedTags {
      answer.headers["X-Belfry-Warnings"] = Answers.warningHeader([
        "there are more tags than the \(Self.listedTags) that JPush lists"
      ])
    }
    return answer
  }

  /// `GET /v3/tags/{tag}/registration_ids/{registration_id}`.
  func tagMember(_ tag: String, _ id: String, _ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    let name = try Self.name(tag, .tag, at: "tag")
    let view = try await service.device(app, registrationID: try Self.name(id, .registrationID, at: "registration_id"))
    return Answers.ok(["result": .bool(view.tags.contains(name))])
  }

  /// `POST /v3/tags/{tag}` with `{"registration_ids": {"add": […], "remove": […]}}`.
  func changeTag(_ tag: String, _ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    let name = try Self.name(tag, .tag, at: "tag")
    let change = try Self.registrationIDs(call.request.body, ["add", "remove"])
    try await service.changeTag(
      app, name: name, adding: change["add"] ?? [], removing: change["remove"] ?? [])
    return Answers.empty
  }

  /// `DELETE /v3/tags/{tag}?platform=…`: also of a tag that nobody has.
  func deleteTag(_ tag: String, _ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    let name = try Self.name(tag, .tag, at: "tag")
    if try Self.meansIOS(call) { try await service.deleteTag(app, name: name) }
    return Answers.empty
  }

  // MARK: Aliases

  /// `GET /v3/aliases/{alias}?platform=…`; with `new_format=true` in the form that Java 5 and Go read.
  func alias(_ alias: String, _ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    let (alias, isNew) = try Self.format(of: alias, call)
    let name = try Self.name(alias, .alias, at: "alias")
    let devices = try Self.meansIOS(call) ? try await service.devices(app, alias: name) : []
    guard isNew else {
      return Answers.ok(["registration_ids": .array(devices.map { .string($0.registrationID) })])
    }
    return Answers.ok([
      "data": .array(
        devices.map {
          [
            "registration_id": .string($0.registrationID), "platform": "ios",
            "last_online_date": .string(settings.jpushTime($0.seenAt, dateOnly: true)),
          ]
        })
    ])
  }

  /// `POST /v3/aliases/{alias}` with `{"registration_ids": {"remove": […]}}`.
  func changeAlias(_ alias: String, _ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    let name = try Self.name(alias, .alias, at: "alias")
    let change = try Self.registrationIDs(call.request.body, ["remove"])
    try await service.removeAlias(app, name, from: change["remove"] ?? [])
    return Answers.empty
  }

  /// `DELETE /v3/aliases/{alias}?platform=…`: also of an alias that nobody has.
  func deleteAlias(_ alias: String, _ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    let name = try Self.name(alias, .alias, at: "alias")
    if try Self.meansIOS(call) { try await service.deleteAlias(app, name) }
    return Answers.empty
  }

  /// The Go client (cavlabs) writes `new_format=true` with `&` onto an alias that has no query.
  private static func format(of alias: String, _ call: Call) throws(RequestFault) -> (alias: String, isNew: Bool) {
    let suffix = "&new_format=true"
    if call.request.query == nil, alias.hasSuffix(suffix) { return (String(alias.dropLast(suffix.count)), true) }
    guard let field = try call.query(.device)["new_format"] else { return (alias, false) }
    return (alias, try field.word(outOf: ["true", "false"]) == "true")
  }

  // MARK: What both read

  /// A part of the path.
  private static func name(_ text: String, _ rule: NameRule, at place: String) throws(RequestFault) -> String {
    try Field(value: .string(text), path: JSONPath(place), codes: .device).name(rule)
  }

  /// Whether `platform=a,b` names ours; without it all are meant.
  private static func meansIOS(_ call: Call) throws(RequestFault) -> Bool {
    guard let field = try call.query(.device)["platform"], field.value != "" else { return true }
    let names = try field.string().split(separator: ",").map(String.init)
    for name in names {
      _ = try Field(value: .string(name), path: field.path, codes: .device).word(outOf: ["all"] + PushReading.platforms)
    }
    return names.contains("ios") || names.contains("all")
  }

  private static func registrationIDs(_ body: [UInt8], _ lists: [String]) throws(RequestFault) -> [String: [String]] {
    let fields = try RequestBody.object(body, codes: .device)
    try fields.refuseUnknown(besides: ["registration_ids"])
    guard let field = fields["registration_ids"] else {
      throw fields.missing(
        "registration_ids", "Give {\(lists.map { "\"\($0)\": […]" }.joined(separator: ", "))}.")
    }
    return try self.lists(try field.object(), lists)
  }

  static func lists(_ fields: Fields, _ known: [String]) throws(RequestFault) -> [String: [String]] {
    try fields.refuseUnknown(besides: known)
    var lists: [String: [String]] = [:]
    for key in known { lists[key] = try fields[key]?.strings() ?? [] }
    return lists
  }
}
