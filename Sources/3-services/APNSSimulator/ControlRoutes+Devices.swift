internal import Basics
internal import PushPayload
internal import Transport

/// Devices, their tokens, and the phones' own door.
extension ControlRoutes {
  static let devicePlaces = [
    "GET /devices", "POST /devices", "DELETE /devices/{token}", "PUT /devices/{device}/online",
    "GET /courier (WebSocket)",
  ]

  func devices(_ request: HTTPRequest, _ rest: [String]) async throws -> HTTPResponse {
    switch rest.count {
    case 0: return try await devices(request)
    case 1: return try await device(request, token: rest[0])
    case 2 where rest[1] == "online": return try await online(request, device: rest[0])
    case 2: return try await delivery(request, device: rest[0], rest[1])
    default: throw Self.noSuchPlace(request)
    }
  }

  private func devices(_ request: HTTPRequest) async throws -> HTTPResponse {
    switch request.method {
    case "GET": return .json(200, ["devices": .array(core.withState { state, _ in Self.list(state) })])
    case "POST": break
    default: throw Self.wrongMethod(request, "GET or POST")
    }
    let fields = try ControlFields(
      request.body, known: ["device", "bundle", "environment", "kind", "token", "attributesType"])
    let owner = TokenRecord.Owner(
      device: try fields.name("device"), bundleID: try fields.name("bundle"),
      environment: try fields.word("environment", default: .sandbox), kind: try fields.word("kind", default: .app),
      detail: try fields.text("attributesType") ?? "")
    guard owner.detail.isEmpty || owner.kind == .liveActivityStart else {
      throw ControlFault(
        400, at: "attributesType", "only tokens of kind liveactivity-start are for one", "Leave it out.")
    }
    let record: TokenRecord
    if let chosen = try fields.text("token") {
      guard let bytes = TokenRegistry.tokenBytes(chosen.utf8) else {
        throw ControlFault(
          400, at: "token", "\"\(chosen.shortened)\" is no device token", "Give 2 to 200 hex digits, an even count.")
      }
      record = core.withState { state, _ in state.register(bytes, to: owner) }
    } else {
      record = core.withState { state, _ in state.issueToken(to: owner) }
    }
    try await keeper?.flush()
    return .json(201, Self.json(record))
  }

  private static func json(_ record: TokenRecord) -> JSONValue {
    var object: JSONObject = [
      "device": .string(record.owner.device), "bundle": .string(record.owner.bundleID),
      "environment": .string(record.owner.environment.rawValue), "kind": .string(record.owner.kind.rawValue),
      "topic": .string(record.topicText), "token": .string(record.bytes.hex),
    ]
    if let end = record.end {
      object["ended"] = .string(end.reason.rawValue)
      object["timestamp"] = .number(JSONNumber(end.since.milliseconds))
    }
    return .object(object)
  }

  private static func list(_ state: ServiceState) -> [JSONValue] {
    let tokens = Dictionary(grouping: state.registry.records.values) { $0.owner.device }
    return state.devices.sorted { $0.key < $1.key }.map { id, device in
      let own = (tokens[id] ?? []).sorted { $0.topicText + $0.bytes.hex < $1.topicText + $1.bytes.hex }
      return [
        "device": .string(id), "online": .bool(device.isOnline), "connected": .bool(device.isConnected),
        "power": .string(device.power.rawValue), "developer": .bool(device.isUnlimited),
        "tokens": .array(own.map(json)),
      ]
    }
  }

  private func device(_ request: HTTPRequest, token: String) async throws -> HTTPResponse {
    guard request.method == "DELETE" else { throw Self.wrongMethod(request, "DELETE") }
    let query = try ControlQuery(request, known: ["immediately", "reason", "timestamp"])
    let reason: RefusalReason
    switch query["reason"] {
    case nil, RefusalReason.unregistered.rawValue: reason = .unregistered
    case RefusalReason.expiredToken.rawValue: reason = .expiredToken
    case .some(let other):
      throw ControlFault(400, at: "reason", "\"\(other.shortened)\" is not known", "Give Unregistered or ExpiredToken.")
    }
    let since = try query.number("timestamp").map { Instant(milliseconds: Int64(clamping: $0)) }
    let isToldAtOnce = try query.flag("immediately")
    guard let bytes = bytes(fromHex: token.utf8),
      let record = core.withState({ state, now in
        state.end(bytes, reason: reason, since: since ?? now, isToldAtOnce: isToldAtOnce, now: now)
      })
    else {
      throw ControlFault(
        404, at: "token", "no device has the token \(token.shortened)", "GET /devices lists the tokens.")
    }
    try await keeper?.flush()
    return .json(200, Self.json(record))
  }

  private func online(_ request: HTTPRequest, device: String) async throws -> HTTPResponse {
    guard request.method == "PUT" else { throw Self.wrongMethod(request, "PUT") }
    try mustBeKnown(device)
    guard let isOnline = try request.truth ?? ControlFields(request.body, known: ["online"]).flag("online") else {
      throw ControlFault(400, at: "online", "it is missing", "Send true, false, or {\"online\": true}.")
    }
    core.setOnline(device: device, isOnline)
    try await keeper?.flush()
    return .json(200, ["device": .string(device), "online": .bool(isOnline)])
  }

  func courier(_ request: HTTPRequest) -> HTTPResponse {
    let session = CourierSession(core: core, keeper: keeper)
    return .webSocket(request, on: loops.next(), limits: CourierSession.limits) { socket in
      await session.serve(socket)
    }
  }
}
