internal import Basics
internal import PushPayload
internal import Transport

/// The HTTP/1.1 door for tests in any language: devices and tokens in, notifications out (docs/apns-simulator.md).
final class ControlAPI: Sendable {
  private let server: HTTPServer

  var endpoint: Endpoint { server.endpoint }

  private init(server: HTTPServer) { self.server = server }

  static func start(
    _ endpoint: Endpoint, core: SimulatorCore, credentials: SimulatorCredentials, keeper: StoreKeeper?,
    loops: LoopGroup
  ) throws(TransportFault) -> ControlAPI {
    let routes = ControlRoutes(core: core, credentials: credentials, keeper: keeper, loops: loops)
    var limits = HTTPLimits()
    limits.body = 1 << 20
    return ControlAPI(server: try HTTPServer.start(endpoint, limits: limits) { await routes.answer($0) })
  }

  func stop() async { await server.stop() }
}

/// What each route does. A value: everything shared is in the core.
struct ControlRoutes: Sendable {
  let core: SimulatorCore
  let credentials: SimulatorCredentials
  let keeper: StoreKeeper?
  let loops: LoopGroup

  func answer(_ request: HTTPRequest) async -> HTTPResponse {
    do {
      return try await route(request)
    } catch let fault as ControlFault {
      return fault.response
    } catch let fault as SimulatorFault {
      return ControlFault(503, fault.what, fault.remedy).response
    } catch {
      return ControlFault(500, "\(error)", "Report this.").response
    }
  }

  private func route(_ request: HTTPRequest) async throws -> HTTPResponse {
    guard let parts = HTTPTarget.parts(ofPath: request.path)?.filter({ !$0.isEmpty }) else {
      throw ControlFault(400, "the path is not percent-encoded UTF-8", "Encode it as RFC 3986 says.")
    }
    switch (parts.first ?? "", parts.count) {
    case ("", 0): return .json(200, Self.index)
    case ("healthz", 1): return try health()
    case ("ca.pem", 1):
      return HTTPResponse(
        status: 200, headers: ["Content-Type": "application/x-pem-file"], body: credentials.authority.pem)
    case ("devices", 1): return try await devices(request)
    case ("devices", 2): return try await device(request, token: parts[1])
    case ("devices", 3) where parts[2] == "online": return try await online(request, device: parts[1])
    case ("notifications", 1): return try notifications(request)
    case ("refusals", 1): return try refusals(request)
    case ("keys", 1): return try keys(request)
    case ("keys", 2): return try revoke(request, keyID: parts[1])
    case ("certificates", 1): return try certificates(request)
    case ("courier", 1): return courier(request)
    default: throw ControlFault(404, at: request.path.shortened, "there is no such place", "GET / lists what there is.")
    }
  }

  private static let index: JSONValue = [
    "service": "Belfry's APNs simulator",
    "routes": [
      "GET /healthz", "GET /ca.pem", "GET /devices", "POST /devices", "DELETE /devices/{token}",
      "PUT /devices/{device}/online", "GET /notifications", "DELETE /notifications", "GET /refusals", "POST /keys",
      "DELETE /keys/{keyId}", "POST /certificates", "GET /courier (WebSocket)",
    ],
  ]

  private func health() throws -> HTTPResponse {
    if let fault = keeper?.fault { throw fault }
    return .json(200, ["status": "ok"])
  }

  private static func wrongMethod(_ request: HTTPRequest, _ allowed: String) -> ControlFault {
    ControlFault(405, at: "method", "\(request.method.shortened) is not known here", "Use \(allowed).")
  }

  // MARK: Devices and tokens

  private func devices(_ request: HTTPRequest) async throws -> HTTPResponse {
    switch request.method {
    case "GET": return .json(200, ["devices": .array(core.withState { state, _ in Self.list(state) })])
    case "POST": break
    default: throw Self.wrongMethod(request, "GET or POST")
    }
    let fields = try ControlFields(request.body, known: ["device", "bundle", "environment", "kind", "token"])
    let owner = TokenRecord.Owner(
      device: try fields.name("device"), bundleID: try fields.name("bundle"),
      environment: try fields.word("environment", default: .sandbox), kind: try fields.word("kind", default: .app))
    let record: TokenRecord
    if let chosen = try fields.text("token") {
      guard (2...200).contains(chosen.utf8.count), let bytes = bytes(fromHex: chosen.utf8) else {
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
    guard core.withState({ state, _ in state.devices[device] != nil }) else {
      throw ControlFault(404, at: "device", "there is no device \"\(device.shortened)\"", "GET /devices lists them.")
    }
    let isOnline: Bool
    switch String(decoding: request.body, as: UTF8.self).split(whereSeparator: \.isWhitespace).joined() {
    case "true": isOnline = true
    case "false": isOnline = false
    default:
      guard let flag = try ControlFields(request.body, known: ["online"]).flag("online") else {
        throw ControlFault(400, at: "online", "it is missing", "Send true, false, or {\"online\": true}.")
      }
      isOnline = flag
    }
    core.setOnline(device: device, isOnline)
    try await keeper?.flush()
    return .json(200, ["device": .string(device), "online": .bool(isOnline)])
  }

  // MARK: What came

  private func notifications(_ request: HTTPRequest) throws -> HTTPResponse {
    switch request.method {
    case "GET": break
    case "DELETE":
      core.withState { state, _ in state.clearNotifications() }
      return HTTPResponse(status: 204)
    default: throw Self.wrongMethod(request, "GET or DELETE")
    }
    let query = try ControlQuery(request, known: ["token", "topic", "device", "id", "since", "count"])
    let since = try query.number("since") ?? 0
    let count = try query.number("count") ?? 1_000
    let token = query["token"]?.lowercased()
    let (all, next) = core.withState { state, now in
      state.expire(now: now)
      return (state.notifications.all, state.notifications.next)
    }
    let chosen = all.lazy.filter { entry in
      entry.number > since && (token == nil || entry.push.token.hex == token)
        && (query["topic"] == nil || entry.push.topic == query["topic"])
        && (query["device"] == nil || entry.device == query["device"])
        && (query["id"] == nil || entry.push.id.lowercased() == query["id"]?.lowercased())
    }.prefix(Int(clamping: count))
    return .json(200, bytes: NotificationJSON.list(Array(chosen), last: next - 1))
  }

  private func refusals(_ request: HTTPRequest) throws -> HTTPResponse {
    guard request.method == "GET" else { throw Self.wrongMethod(request, "GET") }
    let query = try ControlQuery(request, known: ["since", "count", "reason"])
    let since = try query.number("since") ?? 0
    let count = try query.number("count") ?? 1_000
    let (all, next) = core.withState { state, _ in (state.refusals.all, state.refusals.next) }
    let chosen = all.lazy.filter { entry in
      entry.number > since && (query["reason"] == nil || entry.refusal.reason.rawValue == query["reason"])
    }.prefix(Int(clamping: count))
    return .json(
      200,
      [
        "last": .number(JSONNumber(next - 1)),
        "refusals": .array(chosen.map(NotificationJSON.value(of:))),
      ])
  }

  // MARK: Credentials

  private func keys(_ request: HTTPRequest) throws -> HTTPResponse {
    guard request.method == "POST" else { throw Self.wrongMethod(request, "POST") }
    let fields = try ControlFields(request.body, known: ["team", "environment", "topics", "family"])
    let key = try P256PrivateKey.generate()
    let keyID = SimulatorCredentials.identifier(length: 10)
    let team = try fields.text("team") == nil ? credentials.teamID : try fields.name("team")
    let named = try fields.text("environment") != nil
    let environment = try fields.word("environment", default: SimulatedEnvironment.sandbox)
    let scope: ProviderKey.Scope =
      if let topics = try fields.names("topics") {
        .topics(Set(topics), environment, family: try fields.text("family") ?? keyID)
      } else {
        .team(only: named ? environment : nil)
      }
    core.add(ProviderKey(keyID: keyID, teamID: team, publicKey: key.publicKey, scope: scope))
    return .json(
      201,
      [
        "keyId": .string(keyID), "teamId": .string(team), "p8": .string(String(decoding: key.pem, as: UTF8.self)),
      ])
  }

  private func revoke(_ request: HTTPRequest, keyID: String) throws -> HTTPResponse {
    guard request.method == "DELETE" else { throw Self.wrongMethod(request, "DELETE") }
    guard core.revokeKey(keyID) else {
      throw ControlFault(404, at: "keyId", "there is no key \"\(keyID.shortened)\"", "POST /keys makes one.")
    }
    return HTTPResponse(status: 204)
  }

  private func certificates(_ request: HTTPRequest) throws -> HTTPResponse {
    guard request.method == "POST" else { throw Self.wrongMethod(request, "POST") }
    let fields = try ControlFields(request.body, known: ["bundle", "environment", "topics"])
    let bundle = try fields.name("bundle")
    let environments: Set<SimulatedEnvironment> =
      try fields.text("environment") == nil
      ? [.sandbox, .production] : [try fields.word("environment", default: .sandbox)]
    let identity = try credentials.authority.issuePushCertificate(
      bundleID: bundle, environments: environments, topics: try fields.names("topics"), now: SystemClock().now)
    return .json(
      201,
      [
        "bundle": .string(bundle), "pem": .string(String(decoding: identity.pem, as: UTF8.self)),
        "fingerprint": .string(identity.certificate.fingerprint),
      ])
  }

  // MARK: Courier

  private func courier(_ request: HTTPRequest) -> HTTPResponse {
    let session = CourierSession(core: core, keeper: keeper)
    return .webSocket(request, on: loops.next(), limits: CourierSession.limits) { socket in
      await session.serve(socket)
    }
  }
}

/// The parameters of a query, decoded; unknown ones are refused.
struct ControlQuery {
  private var values: [String: String] = [:]

  init(_ request: HTTPRequest, known: [String]) throws(ControlFault) {
    guard let query = request.query else { return }
    guard let items = HTTPTarget.items(ofQuery: query) else {
      throw ControlFault(400, at: "query", "it is not percent-encoded UTF-8", "Encode the query (RFC 3986 §2.1).")
    }
    for item in items {
      guard known.contains(item.name) else {
        throw ControlFault(
          400, at: item.name.shortened, "there is no such parameter", "Known are \(known.joined(separator: ", ")).")
      }
      values[item.name] = item.value
    }
  }

  subscript(name: String) -> String? { values[name] }

  func number(_ name: String) throws(ControlFault) -> UInt64? {
    guard let text = values[name] else { return nil }
    guard let number = UInt64(text) else {
      throw ControlFault(400, at: name, "\"\(text.shortened)\" is no whole number", "Give digits only.")
    }
    return number
  }

  func flag(_ name: String) throws(ControlFault) -> Bool {
    switch values[name] {
    case nil, "false", "0": return false
    case "true", "1", "": return true
    case .some(let other):
      throw ControlFault(400, at: name, "\"\(other.shortened)\" is no truth value", "Give true or false.")
    }
  }
}
