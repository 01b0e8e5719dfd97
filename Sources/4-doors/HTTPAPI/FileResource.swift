internal import Basics
internal import PushPayload
internal import PushService
internal import Transport

/// `/v1/files`: lists of aliases or registration ids that an audience names; the same that `/v3/files` keeps.
extension HTTPAPI {
  /// `POST /v1/files?kind=&name=&hours=`, the body being the lines: 201, or 200 and the file that the same
  /// `Idempotency-Key` made before.
  func addFile(_ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    let query = try call.query(.push)
    try query.refuseUnknown(besides: ["kind", "name", "hours"])
    guard let kind = query["kind"] else { throw query.missing("kind", "Give alias or registrationId.") }
    let isOfAliases = try kind.word(outOf: ["alias", "registrationId"]) == "alias"
    var hours: Int64?
    if let field = query["hours"] {
      let text = try field.string()
      guard text.utf8.count <= 5, let number = Int64(text), 1...PushService.longestFileLife ~= number else {
        throw field.wrong(
          "\(quoted(text)) stands here", "Give hours, a whole number from 1 to \(PushService.longestFileLife).")
      }
      hours = number
    }
    let (file, isRepeated) = try await service.keepFile(
      .app(app), isOfAliases ? .alias : .registrationID,
      FileUpload(
        name: try query["name"]?.string() ?? "", content: call.request.body[...], hours: hours,
        clientID: try call.idempotencyKey(), place: "body"))
    var answer = Answers.json(isRepeated ? 200 : 201, .object(Self.object(file)))
    answer.headers["Location"] = "/v1/files/\(file.id)"
    return answer
  }

  /// `GET /v1/files`: those that have not expired, oldest first; there are at most 20.
  func listFiles(_ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    try call.query(.push).refuseUnknown(besides: [])
    let files = try await service.files(.app(app))
    return Answers.ok(["files": .array(files.map { .object(Self.object($0)) })])
  }

  /// `GET /v1/files/{id}`.
  func showFile(_ id: String, _ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    Answers.ok(.object(Self.object(try await kept(id, &call).file)))
  }

  /// `DELETE /v1/files/{id}`. Pushes that were accepted keep their devices.
  func removeFile(_ id: String, _ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let owner = FileOwner.app(try await kept(id, &call).app)
    try await service.deleteFile(owner, id: id)
    return Answers.noContent
  }

  private func kept(_ id: String, _ call: inout Call) async throws(RequestFault) -> (app: AppRecord, file: AudienceFile)
  {
    let app = try await authenticate(&call)
    guard let file = try await service.files(.app(app)).first(where: { $0.id == id }) else {
      throw RequestFault(
        .noSuchResource, at: "id", found: "this app has no file \(quoted(id)), or it has expired",
        remedy: "Upload it: POST /v1/files.")
    }
    return (app, file)
  }

  private static func object(_ file: AudienceFile) -> JSONObject {
    [
      "id": .string(file.id), "kind": file.kind == .alias ? "alias" : "registrationId", "name": .string(file.name),
      "createdAt": .string(file.createdAt.description), "expiresAt": .string(file.expiresAt.description),
    ]
  }
}
