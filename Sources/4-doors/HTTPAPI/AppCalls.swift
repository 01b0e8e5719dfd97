internal import PushPayload
internal import PushService
internal import Transport

/// What concerns an app as such.
extension HTTPAPI {
  /// `POST /v1/apps/{appKey}/secret`: by the app itself, or by a developer for any app.
  func renewSecret(_ key: String, _ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let isTheirs: Bool
    switch try await authenticateFileOwner(&call) {
    case .app(let app): isTheirs = app.key == key
    case .developer: isTheirs = true
    }
    guard isTheirs, let app = try await service.renewSecret(key: key) else {
      throw RequestFault(
        .noSuchResource, at: "appKey", found: "there is no app \(quoted(key)) for these credentials",
        remedy: "Give the app's own key, or call as a developer.")
    }
    return Answers.ok(["appKey": .string(app.appKey), "masterSecret": .string(app.masterSecret)])
  }
}
