internal import Basics
internal import PushPayload
internal import PushService
internal import Transport

/// What concerns an app as such.
extension HTTPAPI {
  /// `GET /v1/apps?limit=&cursor=`, oldest first: all for a developer, itself alone for an app.
  func listApps(_ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let owner = try await authenticateFileOwner(&call)
    let page = try Page(call.query(.push))
    let after: Int64 = try page.numberOfCursor() ?? 0
    let apps: [AppView]
    switch owner {
    case .app(let app): apps = app.id > after ? [try await service.view(key: app.key)] : []
    case .developer: apps = try await service.apps(after: after, limit: page.limit + 1)
    }
    return page.answer("apps", apps, cursor: { String($0.id) }, write: Self.object)
  }

  /// `POST /v1/apps`, by a developer: 201 with the master secret, which no other call tells. 200 and the same app without
  /// it for the same request under the same `Idempotency-Key`, whenever that comes.
  func makeApp(_ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let developer = try await authenticateDeveloper(&call)
    let fields = try RequestBody.object(call.request.body, codes: .push)
    try fields.refuseUnknown(besides: ["bundleId", "name"])
    guard let bundleID = fields["bundleId"] else {
      throw fields.missing("bundleId", "Give the app's bundle id, like com.example.app.")
    }
    let (app, secret) = try await service.createApp(
      bundleID: try bundleID.string(), name: try fields["name"]?.string(), by: developer,
      clientID: try call.idempotencyKey())
    var object = Self.object(app)
    object["masterSecret"] = secret.map(JSONValue.string) ?? .null
    var answer = Answers.json(secret == nil ? 200 : 201, .object(object)).tagged(app.version)
    answer.headers["Location"] = "/v1/apps/\(app.key)"
    return answer
  }

  /// `GET /v1/apps/{appKey}`, with its `ETag`.
  func showApp(_ key: String, _ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    try await authenticateOwner(of: key, &call)
    return Self.answer(try await service.view(key: key))
  }

  /// `PATCH /v1/apps/{appKey}`: its name; with `If-Match` only while it is what was read.
  func editApp(_ key: String, _ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    try await authenticateOwner(of: key, &call)
    let fields = try RequestBody.object(call.request.body, codes: .push)
    try fields.refuseUnknown(besides: ["name"])
    let version = try call.ifMatch()
    guard let name = try fields["name"]?.string() else { return Self.answer(try await service.view(key: key)) }
    return Self.answer(
      try await service.renameApp(key: key, name: name.isEmpty ? nil : name, ifVersion: version))
  }

  /// `DELETE /v1/apps/{appKey}`, by a developer.
  func removeApp(_ key: String, _ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    _ = try await authenticateDeveloper(&call)
    guard try await service.deleteApp(key: key) else { throw PushService.noSuchApp(key) }
    return Answers.noContent
  }

  /// `POST /v1/apps/{appKey}/secret`: by the app itself, or by a developer for any app.
  func renewSecret(_ key: String, _ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    try await authenticateOwner(of: key, &call)
    guard let app = try await service.renewSecret(key: key) else { throw PushService.noSuchApp(key) }
    return Answers.ok(["appKey": .string(app.appKey), "masterSecret": .string(app.masterSecret)])
  }

  /// An app for itself, a developer for any.
  private func authenticateOwner(of key: String, _ call: inout Call) async throws(RequestFault) {
    switch try await authenticateFileOwner(&call) {
    case .app(let app): guard app.key == key else { throw PushService.noSuchApp(key) }
    case .developer: break
    }
  }

  private static func answer(_ app: AppView) -> HTTPResponse { Answers.ok(.object(object(app))).tagged(app.version) }

  private static func object(_ app: AppView) -> JSONObject {
    [
      "appKey": .string(app.key), "bundleId": .string(app.bundleID),
      "name": app.name.map(JSONValue.string) ?? .null, "createdAt": .string(app.createdAt.description),
    ]
  }
}
