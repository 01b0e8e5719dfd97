internal import PushPayload
internal import PushService
internal import Transport

/// JPush's Admin API (jpush.md §9), with a developer's credentials.
extension HTTPAPI {
  /// `POST /v1/app`: the app of a bundle id, which stands in `android_package`, as JPush has no field for it.
  func createApp(_ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    _ = try await authenticateDeveloper(&call)
    let fields = try RequestBody.object(call.request.body, codes: .admin)
    try fields.refuseUnknown(besides: ["app_name", "android_package", "group_name"])
    guard let name = fields["app_name"] else { throw fields.missing("app_name", "Say what people call the app.") }
    guard let package = fields["android_package"] else {
      throw fields.missing("android_package", "Give the app's bundle id, like com.example.app.")
    }
    let group = try fields["group_name"]?.string()
    let (app, secret) = try await service.appForBundle(try package.string(), name: try name.string())
    var answer = Answers.ok([
      "app_key": .string(app.key), "android_package": .string(app.bundleID), "is_new_created": .bool(secret != nil),
      "master_secret": secret.map(JSONValue.string) ?? .null,
    ])
    var warnings: [String] = []
    if secret == nil {
      warnings.append("the app was there already; its secret was told when it was made, and only then")
    }
    if group != nil { warnings.append("group_name is ignored: `belfry group add` puts an app into a group") }
    answer.headers["X-Belfry-Warnings"] = Answers.warningHeader(warnings)
    return answer
  }

  /// `POST /v1/app/{app_key}/delete`, or `DELETE` as Java's client does it. That it failed comes with 200, as JPush has it.
  func deleteApp(_ key: String, _ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    _ = try await authenticateDeveloper(&call)
    guard try await service.deleteApp(key: key) else {
      return Answers.ok(["error": Answers.error(code: 1015, message: "app delete fail: there is no app \(quoted(key))")]
      )
    }
    return Answers.ok(["success": "Synchronized success"])
  }
}
