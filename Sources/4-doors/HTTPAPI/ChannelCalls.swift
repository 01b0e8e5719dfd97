internal import Audience
internal import PushPayload
internal import PushService
internal import Transport

/// Broadcast channels of Live Activities as resources of `/v1`. APNs keeps them, each in one environment.
extension HTTPAPI {
  private static let storages: [(word: String, policy: ChannelStoragePolicy)] = [
    ("newest", .newest), ("nothing", .nothing),
  ]

  /// `GET /v1/channels?environment=`.
  func listChannels(_ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    let query = try call.query(.push)
    let page = try Page(query, besides: ["environment"])
    let ids = try await service.channels(
      app, production: try query.isForProduction(), after: page.cursor, limit: page.limit + 1)
    return page.answer("channels", ids, cursor: \.self) { ["id": .string($0)] }
  }

  /// `POST /v1/channels` with `{"storage", "environment"}`.
  func createChannel(_ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    let fields = try RequestBody.object(call.request.body, codes: .push)
    try fields.refuseUnknown(besides: ["storage", "environment"])
    let word = try fields["storage"]?.word(outOf: Self.storages.map(\.word)) ?? "newest"
    let policy = Self.storages.first { $0.word == word }?.policy ?? .newest
    let production = try fields.isForProduction()
    let channel = try await service.createChannel(app, policy, production: production)
    var answer = Answers.json(201, .object(Self.object(channel, production)))
    answer.headers["Location"] = "/v1/channels/\(Self.encoded(channel.id))\(production ? "" : "?environment=sandbox")"
    return answer
  }

  /// `GET /v1/channels/{id}?environment=`.
  func showChannel(_ id: String, _ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    let production = try Self.environment(of: call)
    let channel = try await service.channel(app, id: try checkedChannel(id), production: production)
    return Answers.ok(.object(Self.object(channel, production)))
  }

  /// `DELETE /v1/channels/{id}?environment=`.
  func deleteChannel(_ id: String, _ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    let production = try Self.environment(of: call)
    try await service.deleteChannel(app, id: try checkedChannel(id), production: production)
    return Answers.noContent
  }

  /// `POST /v1/channels/{id}/update` and `…/end`: a push with one recipient, the channel.
  func broadcast(_ id: String, isEnd: Bool, _ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    let id = try checkedChannel(id)
    let fields = try RequestBody.object(call.request.body, codes: .push)
    let keys = isEnd ? ActivityReading.endKeys : ActivityReading.updateKeys
    try fields.refuseUnknown(besides: keys + ["timeToLive", "environment"])
    let reading = ActivityReading(own: fields)
    var order = PushOrder(audience: .everyone, original: Self.original(call, "channel", id, isEnd: isEnd))
    order.special = .broadcast(isEnd ? try reading.end(nil) : try reading.update(nil), channel: id)
    return try await send(&order, fields, app, call)
  }

  private static func object(_ channel: BroadcastChannelView, _ production: Bool) -> JSONObject {
    [
      "id": .string(channel.id),
      "storage": .string(storages.first { $0.policy == channel.storage }?.word ?? "newest"),
      "environment": production ? "production" : "sandbox",
    ]
  }

  private func checkedChannel(_ id: String) throws(RequestFault) -> String {
    try Field(value: .string(id), path: JSONPath("id"), codes: .push).channelID()
  }

  private static func environment(of call: Call) throws(RequestFault) -> Bool {
    let query = try call.query(.push)
    try query.refuseUnknown(besides: ["environment"])
    return try query.isForProduction()
  }

  /// For a path: base64 has `/`, `+` and `=`.
  private static func encoded(_ id: String) -> String {
    id.replacing("+", with: "%2B").replacing("/", with: "%2F").replacing("=", with: "%3D")
  }
}
