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
    loops: LoopGroup, listening: JSONObject
  ) throws(TransportFault) -> ControlAPI {
    let routes = ControlRoutes(
      core: core, credentials: credentials, keeper: keeper, loops: loops, listening: listening)
    var limits = HTTPLimits()
    limits.body = 1 << 20
    limits.cancelsHandlersOfGonePeers = true
    return ControlAPI(server: try HTTPServer.start(endpoint, limits: limits) { await routes.answer($0) })
  }

  /// Who waits for pushes is answered once the core has stopped.
  func stop() async { await server.stop() }
}

/// What each route does. A value: everything shared is in the core. Each notion has a file of its own
/// (`ControlRoutes+Devices.swift` …) with its places for the index and one function that the switch here calls with the
/// rest of the path.
struct ControlRoutes: Sendable {
  let core: SimulatorCore
  let credentials: SimulatorCredentials
  let keeper: StoreKeeper?
  let loops: LoopGroup
  /// Where providers connect, for who knows the control port only.
  var listening: JSONObject = [:]

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
    let rest = Array(parts.dropFirst())
    switch parts.first ?? "" {
    case "" where rest.isEmpty: return .json(200, index)
    case "healthz" where rest.isEmpty: return try await health()
    case "devices" where rest.count >= 2 && rest[1] == "activities":
      return try await activities(request, device: rest[0], Array(rest.dropFirst(2)))
    case "devices" where rest.count >= 2 && rest[1] == "channels":
      return try await subscriptions(request, device: rest[0], Array(rest.dropFirst(2)))
    case "channels" where rest.isEmpty: return try channels(request)
    case "apps": return try await apps(request, rest)
    case "devices": return try await devices(request, rest)
    case "delivery" where rest.isEmpty: return try deliveryRules(request)
    case "courier" where rest.isEmpty: return courier(request)
    case "notifications": return try await notifications(request, rest)
    case "assertions" where rest.isEmpty: return try await assertions(request)
    case "refusals" where rest.isEmpty: return try refusals(request)
    case "keys": return try await keys(request, rest)
    case "certificates" where rest.isEmpty: return try certificates(request)
    case "certificates" where rest.count == 1: return try await revokeCertificate(request, rest[0])
    case "teams": return try await teams(request, rest)
    case "faults": return try faults(request, rest)
    case "ca.pem" where rest.isEmpty: return authority()
    default: throw Self.noSuchPlace(request)
    }
  }

  private static let places: [String] = [
    ["GET /healthz"],
    devicePlaces,
    deliveryPlaces,
    notificationPlaces,
    assertionPlaces,
    channelPlaces,
    activityPlaces,
    credentialPlaces,
    teamPlaces,
    faultPlaces,
  ].flatMap { $0 }

  private var index: JSONValue {
    [
      "service": "Belfry's APNs simulator", "listening": .object(listening),
      "routes": .array(Self.places.map { .string($0) }),
    ]
  }

  private func health() async throws -> HTTPResponse {
    try await keeper?.flush()  // finds also what goes wrong while nothing happens
    return .json(200, ["status": "ok"])
  }

  static func noSuchPlace(_ request: HTTPRequest) -> ControlFault {
    ControlFault(404, at: request.path.shortened, "there is no such place", "GET / lists what there is.")
  }

  static func wrongMethod(_ request: HTTPRequest, _ allowed: String) -> ControlFault {
    ControlFault(405, at: "method", "\(request.method.shortened) is not known here", "Use \(allowed).")
  }
}
