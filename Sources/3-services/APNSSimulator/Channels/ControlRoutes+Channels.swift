internal import Basics
internal import PushPayload
internal import Transport

/// Channels as the tester sees them, and the switch of an app's capability.
extension ControlRoutes {
  static let channelPlaces = ["GET /channels", "PUT /apps/{bundle}/broadcast"]

  func channels(_ request: HTTPRequest) throws -> HTTPResponse {
    guard request.method == "GET" else { throw Self.wrongMethod(request, "GET") }
    let query = try ControlQuery(request, known: ["bundle", "environment", "id"])
    let environment = try query.word("environment", SimulatedEnvironment.self)
    let (all, now) = core.withState { state, now in (state.channels.channels, now) }
    let chosen = all.filter { key, _ in
      (query["bundle"] == nil || key.app.bundleID == query["bundle"])
        && (environment == nil || key.app.environment == environment)
        && (query["id"] == nil || key.id == query["id"])
    }.sorted { ($0.value.createdAt, $0.key.id) < ($1.value.createdAt, $1.key.id) }
    return .json(200, ["channels": .array(chosen.map { Self.json($0.key, $0.value, now: now) })])
  }

  private static func json(
    _ key: ChannelRegistry.Key, _ channel: ChannelRegistry.Channel, now: Instant
  ) -> JSONValue {
    func number(_ count: some BinaryInteger) -> JSONValue { .number(JSONNumber(count)) }
    var object: JSONObject = [
      "id": .string(key.id), "bundle": .string(key.app.bundleID),
      "environment": .string(key.app.environment.rawValue),
      "messageStoragePolicy": number(channel.policy.rawValue), "createdAt": .string("\(channel.createdAt)"),
      "published": number(channel.published), "delivered": number(channel.delivered),
      "subscriptions": number(channel.subscriptions), "uniqueSubscribers": number(channel.everSubscribed.count),
      "devices": .array(channel.subscribers.keys.sorted().map { .string($0) }),
    ]
    if let message = channel.message, message.until > now {
      object["stored"] = [
        "requestId": .string(message.push.id), "receivedAt": .string("\(message.push.receivedAt)"),
        "until": .string("\(message.until)"),
      ]
    }
    return .object(object)
  }

  func apps(_ request: HTTPRequest, _ rest: [String]) async throws -> HTTPResponse {
    guard rest.count == 2, rest[1] == "broadcast" else { throw Self.noSuchPlace(request) }
    guard request.method == "PUT" else { throw Self.wrongMethod(request, "PUT") }
    guard ControlFields.isName(rest[0]) else {
      throw ControlFault(
        400, at: "bundle", "\"\(rest[0].shortened)\" cannot be a bundle id", "Give the app's bundle id.")
    }
    guard let isOn = request.truth else {
      throw ControlFault(400, "the body is neither true nor false", "Send true or false.")
    }
    let gone = core.withState { state, _ in state.channels.setEnabled(rest[0], isOn) }
    try await keeper?.flush()
    return .json(
      200,
      ["bundle": .string(rest[0]), "broadcast": .bool(isOn), "channelsDeleted": .number(JSONNumber(gone))])
  }
}
