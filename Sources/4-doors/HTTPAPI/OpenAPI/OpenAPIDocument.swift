internal import PushPayload

/// The OpenAPI 3.1 document of `/v1` and `/device/v1`, served at `GET /v1/openapi.json`. Written by hand: a file per
/// resource beside this one, each with its `paths` and `schemas`; what holds for every call is written once, here and in
/// `OpenAPIFrame.swift`, and added to each. `OpenAPITests` holds it to the table of routes.
enum OpenAPIDocument {
  /// In the order in which they are shown.
  static let parts = [
    pushes, explanations, messages, activities, channels, schedules, devices, tags, audiences, files, webhooks,
    credentials, apps, audit, registrations, description,
  ]

  static let bytes = document.encoded()

  static let document: JSONValue = {
    var root = read(frame)
    var components = root["components"]?.object ?? [:]
    var (paths, schemas) = (JSONObject(), components["schemas"]?.object ?? [:])
    for part in parts.map(read) {
      for path in part["paths"]?.object?.members ?? [] {
        let operations = path.value.object?.members ?? []
        paths.members.append(
          .init(path.key, .object(JSONObject(operations.map { .init($0.key, completed($0.key, $0.value)) }))))
      }
      schemas.members += part["schemas"]?.object?.members ?? []
    }
    root["paths"] = .object(paths)
    components["schemas"] = .object(schemas)
    root["components"] = .object(components)
    return .object(root)
  }()

  /// Empty for what is no JSON object, which the tests see.
  static func read(_ part: String) -> JSONObject { (try? JSONReader.read(Array(part.utf8)).value.object) ?? [:] }

  /// The answers that any call may get, by the name of their response.
  private static let common = [
    (400, "Invalid"), (401, "Unauthorized"), (404, "NotFound"), (405, "MethodNotAllowed"), (413, "TooLarge"),
    (429, "TooMany"), (431, "HeadTooLarge"), (500, "Failed"), (503, "Unavailable"),
  ]

  private static let rateHeaders = JSONObject(
    ["Limit", "Quota", "Remaining", "Reset"].map {
      .init("X-Rate-Limit-\($0)", ["$ref": .string("#/components/headers/Rate\($0)")])
    })

  /// An operation with the answers and headers that all have.
  private static func completed(_ key: String, _ value: JSONValue) -> JSONValue {
    guard key != "parameters", var operation = value.object else { return value }
    var responses = operation["responses"]?.object ?? [:]
    for (status, answer) in responses.members.map({ ($0.key, $0.value) }) {
      guard var object = answer.object, object["$ref"] == nil else { continue }
      object["headers"] = .object(JSONObject((object["headers"]?.object?.members ?? []) + rateHeaders.members))
      responses[status] = .object(object)
    }
    let isOpen = operation["security"] == .array([])
    for (status, name) in common where responses[String(status)] == nil && !(isOpen && status == 401) {
      responses[String(status)] = ["$ref": .string("#/components/responses/\(name)")]
    }
    operation["responses"] = .object(responses)
    return .object(operation)
  }
}
