internal import Basics
internal import PushPayload
internal import Transport

/// Live Activities of a phone as the tester sees them, and what happens to them there.
extension ControlRoutes {
  static let activityPlaces = [
    "GET /devices/{device}/activities", "POST /devices/{device}/activities",
    "POST /devices/{device}/activities/{id}/token", "DELETE /devices/{device}/activities/{id}",
    "PUT /devices/{device}/channels/{channel}", "DELETE /devices/{device}/channels/{channel}",
  ]

  /// `rest` is what stands behind `/devices/{device}/activities`.
  func activities(_ request: HTTPRequest, device: String, _ rest: [String]) async throws -> HTTPResponse {
    switch (request.method, rest.count) {
    case ("GET", 0): return listActivities(device)
    case ("POST", 0): return try await startActivity(request, device)
    case ("DELETE", 1):
      let id = try known(rest[0], device)
      core.withState { state, now in _ = state.handle(activity: id, .userDismissed, now: now) }
      try await keeper?.flush()
      return HTTPResponse(status: 204)
    case ("POST", 2) where rest[1] == "token":
      let id = try known(rest[0], device)
      guard let token = core.withState({ state, now in state.changeToken(ofActivity: id, now: now) }) else {
        throw ControlFault(409, at: "id", "the activity is over", "Only a running one gets another token.")
      }
      try await keeper?.flush()
      return .json(201, ["id": .string(id), "token": .string(token.hex)])
    default:
      if rest.count > 2 { throw Self.noSuchPlace(request) }
      throw Self.wrongMethod(request, rest.isEmpty ? "GET or POST" : rest.count == 1 ? "DELETE" : "POST")
    }
  }

  private func known(_ id: String, _ device: String) throws(ControlFault) -> String {
    guard core.withState({ state, _ in state.activities.entries[id]?.place.device == device }) else {
      throw ControlFault(
        404, at: "id", "\(device.shortened) has no activity \(id.shortened)",
        "GET /devices/{device}/activities lists them.")
    }
    return id
  }

  private func listActivities(_ device: String) -> HTTPResponse {
    let (entries, unstarted, now) = core.withState { state, now in
      state.settleActivities(now: now)
      return (state.activities.entries(of: device), state.activities.unstarted[device] ?? [], now)
    }
    return .json(
      200,
      [
        "activities": .array(entries.map { ActivityJSON.value(of: $0, now: now) }),
        "unstarted": .array(unstarted.map(ActivityJSON.value)),
      ])
  }

  /// The app starts one itself.
  private func startActivity(_ request: HTTPRequest, _ device: String) async throws -> HTTPResponse {
    guard ControlFields.isName(device) else {
      throw ControlFault(400, at: "device", "\"\(device.shortened)\" cannot be a name", "Give 1 to 200 characters.")
    }
    let fields = try ControlFields(request.body, known: ActivityJSON.startFields)
    let entry = try ActivityJSON.start(fields, device: device, core)
    try await keeper?.flush()
    return .json(201, entry)
  }

  /// `PUT` and `DELETE /devices/{device}/channels/{channel}`: the phone listens, or no more.
  func subscriptions(_ request: HTTPRequest, device: String, _ rest: [String]) async throws -> HTTPResponse {
    guard rest.count == 1 else { throw Self.noSuchPlace(request) }
    let query = try ControlQuery(request, known: ["bundle", "environment"])
    guard let bundle = query["bundle"], ControlFields.isName(bundle), ControlFields.isName(device) else {
      throw ControlFault(400, at: "bundle", "it is missing", "Give ?bundle= with the app's bundle id.")
    }
    let environment = try query.word("environment", SimulatedEnvironment.self) ?? .sandbox
    let key = ChannelRegistry.Key(
      app: ChannelRegistry.App(bundleID: bundle, environment: environment), id: rest[0])
    switch request.method {
    case "PUT":
      do throws(Refusal) {
        try core.attempt { state, now throws(Refusal) in try state.subscribe(device: device, to: key, now: now) }
      } catch {
        throw ControlFault(404, at: "channel", error.explanation, "GET /channels lists them.")
      }
    case "DELETE":
      guard core.withState({ state, now in state.unsubscribe(device: device, from: key, now: now) }) else {
        throw ControlFault(404, at: "channel", "the phone does not listen to it", "GET /channels tells who does.")
      }
    default: throw Self.wrongMethod(request, "PUT or DELETE")
    }
    try await keeper?.flush()
    return HTTPResponse(status: 204)
  }
}

/// How activities are told, on the control port and to couriers.
enum ActivityJSON {
  static let startFields = [
    "bundle", "environment", "attributesType", "attributes", "contentState", "channel", "staleDate",
  ]

  /// Starts one by the fields of a request; answers what it is.
  static func start(
    _ fields: ControlFields, device: String, _ core: SimulatorCore
  ) throws(ControlFault) -> JSONValue {
    let place = ActivityBoard.Place(
      device: device, bundleID: try fields.name("bundle"),
      environment: try fields.word("environment", default: .sandbox))
    let type = try fields.name("attributesType")
    let channel = try fields.text("channel")
    if let channel, !ChannelID.isWellFormed(channel.utf8) {
      throw ControlFault(400, at: "channel", "it is no base64", "Give the channel's id as APNs gave it.")
    }
    let attributes = try object(fields, "attributes")
    let content = try object(fields, "contentState")
    var stale: Instant?
    if let value = fields.value("staleDate") {
      guard let seconds = value.number?.int64 else {
        throw ControlFault(400, at: "staleDate", "it is no whole number", "Give seconds since 1970.")
      }
      stale = Instant(seconds: seconds)
    }
    return core.withState { state, now in
      let activity = LiveActivity(
        attributesType: type, attributes: attributes, contentState: content, channel: channel, staleDate: stale,
        startedAt: now)
      let id = state.add(activity, at: place, wantsToken: channel == nil, now: now)
      return state.activities.entries[id].map { value(of: $0, now: now) } ?? .null
    }
  }

  private static func object(_ fields: ControlFields, _ name: String) throws(ControlFault) -> JSONObject {
    guard let value = fields.value(name) else { return JSONObject() }
    guard let object = value.object else {
      throw ControlFault(400, at: name, "it is no object", "Give a JSON object.")
    }
    return object
  }

  static func value(of entry: ActivityBoard.Entry, now: Instant) -> JSONValue {
    let activity = entry.activity
    func time(_ instant: Instant) -> JSONValue { .string("\(instant)") }
    var object: JSONObject = [
      "id": .string(entry.id), "bundle": .string(entry.place.bundleID),
      "environment": .string(entry.place.environment.rawValue),
      "attributesType": .string(activity.attributesType), "attributes": .object(activity.attributes),
      "contentState": .object(activity.contentState), "startedAt": time(activity.startedAt),
      "changedAt": time(activity.changedAt), "stale": .bool(activity.isStale(at: now)),
    ]
    object["token"] = entry.token.map { .string($0.hex) }
    object["channel"] = activity.channel.map { .string($0) }
    object["timestamp"] = activity.timestamp.flatMap { Int64(exactly: $0) }.map { .number(JSONNumber($0)) }
    object["relevanceScore"] = activity.relevanceScore.flatMap(JSONNumber.init).map { .number($0) }
    object["staleDate"] = activity.staleDate.map(time)
    object["becameStaleAt"] = entry.becameStaleAt.map(time)
    switch activity.state {
    case .active: object["state"] = "active"
    case .ended(let at, let ending, let until):
      object["state"] = "ended"
      object["endedAt"] = time(at)
      object["endedBy"] = .string(ending.rawValue)
      object["dismissalAt"] = time(until)
    case .dismissed(let at):
      object["state"] = "dismissed"
      object["dismissedAt"] = time(at)
    }
    object["applied"] = .array(entry.applied.map { .number(JSONNumber($0)) })
    object["ignored"] = .array(entry.ignored.map(value))
    return .object(object)
  }

  static func value(_ ignored: ActivityBoard.Ignored) -> JSONValue {
    [
      "at": .string("\(ignored.at)"), "notification": .number(JSONNumber(ignored.notification)),
      "why": .string(ignored.why),
    ]
  }
}
