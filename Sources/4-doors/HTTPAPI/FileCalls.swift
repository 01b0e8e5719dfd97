internal import Basics
internal import PushPayload
internal import PushService
internal import Transport

/// Files of names that a push goes to (jpush.md §5.5). An app's own, or with a developer's credentials those that groups
/// are pushed to by.
extension HTTPAPI {
  /// What stands around a file in a form.
  static let largestUpload = PushService.largestFile + 64 << 10

  /// `POST /v3/files/alias`, `POST /v3/files/registration_id`: a form with the file as `filename` and maybe `ttl`.
  func uploadFile(_ kind: AudienceFile.Kind, _ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let owner = try await authenticateFileOwner(&call)
    guard let form = MultipartForm(call.request.body, contentType: call.request.headers["Content-Type"]) else {
      throw RequestFault(
        .invalidParameter, found: "the body is no multipart/form-data",
        remedy: "Send a form with the file as filename: curl -F filename=@names.txt.")
    }
    guard let part = form["filename"] else {
      throw RequestFault(
        .missingParameter, at: "filename", found: "it is missing", remedy: "Send the file as the form's filename.")
    }
    var hours: Int64?
    if form["ttl"] != nil {
      guard let text = form.text("ttl"), text.utf8.count <= 5, let number = Int64(text) else {
        throw RequestFault(
          .invalidParameter, at: "ttl", found: "it is no whole number",
          remedy: "Give hours, 1 to \(PushService.longestFileLife).")
      }
      hours = number
    }
    let file = try await service.keepFile(
      owner, kind,
      FileUpload(name: part.fileName ?? "filename", content: part.content, hours: hours, place: "filename")
    ).file
    return Answers.ok(["file_id": .string(file.id)])
  }

  /// `GET /v3/files`.
  func files(_ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let files = try await service.files(try await authenticateFileOwner(&call))
    return Answers.ok([
      "total_count": .number(JSONNumber(files.count)), "files": .array(files.map { .object(object($0)) }),
    ])
  }

  /// `GET /v3/files/{file_id}`.
  func file(_ id: String, _ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    Answers.ok(.object(object(try await service.file(try await authenticateFileOwner(&call), id: id))))
  }

  /// `DELETE /v3/files/{file_id}`: also of one that is not there.
  func deleteFile(_ id: String, _ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    try await service.deleteFile(try await authenticateFileOwner(&call), id: id)
    return Answers.empty
  }

  /// `POST /v3/push/file`: a push whose audience is a file.
  func filePush(_ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    try refuseEncryption(call)
    let order = try PushReading.read(call.request.body)
    try PushReading.checkFile(order)
    return answer(try await service.push(app, order))
  }

  private func object(_ file: AudienceFile) -> JSONObject {
    [
      "file_id": .string(file.id), "file_name": .string(file.name),
      "type": file.kind == .alias ? "alias" : "registration_id",
      "create_time": .string(settings.jpushTime(file.createdAt)),
      "expire_time": .string(settings.jpushTime(file.expiresAt)),
    ]
  }
}
