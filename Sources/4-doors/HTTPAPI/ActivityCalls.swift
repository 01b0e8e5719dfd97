internal import Audience
internal import PushPayload
internal import PushService
internal import Transport

/// Live Activities as a resource of `/v1`: a start makes them, and each that runs is known by the id under which devices
/// told its update token.
extension HTTPAPI {
  private static let sending = ["timeToLive", "environment"]

  /// `POST /v1/live-activities`: on each device of the audience that told a push-to-start token for the type.
  func startActivities(_ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    let fields = try RequestBody.object(call.request.body, codes: .push)
    try fields.refuseUnknown(besides: ["audience"] + ActivityReading.startKeys + Self.sending)
    var order = PushOrder(audience: try ExpressionReading.audience(fields), original: call.request.body)
    let channel = try fields["channel"].map { field throws(RequestFault) in try field.channelID() }
    order.special = .liveActivity(try ActivityReading(own: fields).start(channel: channel))
    return try await send(&order, fields, app, call)
  }

  /// `POST /v1/live-activities/{id}/update` and `…/end`.
  func changeActivity(
    _ id: String, isEnd: Bool, _ call: inout Call
  ) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    let fields = try RequestBody.object(call.request.body, codes: .push)
    let keys = isEnd ? ActivityReading.endKeys : ActivityReading.updateKeys
    try fields.refuseUnknown(besides: keys + Self.sending)
    let reading = ActivityReading(own: fields)
    var order = PushOrder(audience: .everyone, original: Self.original(call, "activity", id, isEnd: isEnd))
    order.special = .liveActivity(isEnd ? try reading.end(id) : try reading.update(id))
    return try await send(&order, fields, app, call)
  }

  /// The path says what is meant: the same body to another is another request.
  static func original(_ call: Call, _ whom: String, _ id: String, isEnd: Bool) -> [UInt8] {
    Array("\(isEnd ? "end" : "update") \(whom) \(id) ".utf8) + call.request.body
  }

  func send(
    _ order: inout PushOrder, _ fields: Fields, _ app: AppRecord, _ call: Call
  ) async throws(RequestFault) -> HTTPResponse {
    order.timeToLive = try fields["timeToLive"]?.integer(0...OptionsReading.longestTimeToLive)
    order.production = try fields.isForProduction()
    return try await made(&order, app, call)
  }

  /// `GET /v1/live-activities`: those that run, as far as devices have told.
  func listActivities(_ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    let page = try Page(call.query(.push))
    let activities = try await service.activities(app, after: page.cursor, limit: page.limit + 1)
    return page.answer("activities", activities, cursor: \.id) {
      ["id": .string($0.id), "devices": .number(JSONNumber($0.devices))]
    }
  }

  /// `GET /v1/live-activities/{id}`.
  func showActivity(_ id: String, _ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    let count = try await service.count(app, .holds(.activity(id: id)))
    guard count.devices > 0 else { throw PushService.noSuch("Live Activity", id) }
    return Answers.ok([
      "id": .string(id), "devices": .number(JSONNumber(count.devices)),
      "production": .number(JSONNumber(count.production)), "sandbox": .number(JSONNumber(count.sandbox)),
    ])
  }
}

extension Field {
  /// Base64, as APNs makes them.
  func channelID() throws(RequestFault) -> String {
    let text = try string()
    guard ChannelID.isWellFormed(text.utf8) else {
      throw wrong("\(quoted(text)) is no base64", "Give the id that APNs answered when the channel was made.")
    }
    return text
  }
}
