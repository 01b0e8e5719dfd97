internal import Basics
internal import PushPayload
internal import Transport

/// The authority, and keys and certificates made on request.
extension ControlRoutes {
  static let credentialPlaces = ["GET /ca.pem", "POST /keys", "DELETE /keys/{keyId}", "POST /certificates"]

  func authority() -> HTTPResponse {
    HTTPResponse(
      status: 200, headers: ["Content-Type": "application/x-pem-file"], body: credentials.authority.pem)
  }

  func keys(_ request: HTTPRequest, _ rest: [String]) async throws -> HTTPResponse {
    switch rest.count {
    case 0: return try await keys(request)
    case 1: return try await revoke(request, keyID: rest[0])
    default: throw Self.noSuchPlace(request)
    }
  }

  private func keys(_ request: HTTPRequest) async throws -> HTTPResponse {
    guard request.method == "POST" else { throw Self.wrongMethod(request, "POST") }
    let fields = try ControlFields(request.body, known: ["team", "environment", "topics", "family"])
    let key = try P256PrivateKey.generate()
    let keyID = SimulatorCredentials.identifier(length: 10)
    let team = try fields.text("team") == nil ? credentials.teamID : try fields.name("team")
    let environment = try fields.word("environment", SimulatedEnvironment.self)
    let scope: ProviderKey.Scope =
      if let topics = try fields.names("topics") {
        .topics(Set(topics), environment ?? .sandbox, family: try fields.text("family") ?? keyID)
      } else {
        .team(only: environment)
      }
    core.providers.add(ProviderKey(keyID: keyID, teamID: team, publicKey: key.publicKey, scope: scope))
    try await keeper?.flush()
    return .json(
      201,
      [
        "keyId": .string(keyID), "teamId": .string(team), "p8": .string(String(decoding: key.pem, as: UTF8.self)),
      ])
  }

  private func revoke(_ request: HTTPRequest, keyID: String) async throws -> HTTPResponse {
    guard request.method == "DELETE" else { throw Self.wrongMethod(request, "DELETE") }
    guard core.providers.revokeKey(keyID) else {
      throw ControlFault(404, at: "keyId", "there is no key \"\(keyID.shortened)\"", "POST /keys makes one.")
    }
    try await keeper?.flush()
    return HTTPResponse(status: 204)
  }

  func certificates(_ request: HTTPRequest) throws -> HTTPResponse {
    guard request.method == "POST" else { throw Self.wrongMethod(request, "POST") }
    let fields = try ControlFields(request.body, known: ["bundle", "environment", "topics"])
    let bundle = try fields.name("bundle")
    let environments: Set<SimulatedEnvironment> =
      try fields.word("environment", SimulatedEnvironment.self).map { [$0] } ?? [.sandbox, .production]
    let identity = try credentials.authority.issuePushCertificate(
      bundleID: bundle, environments: environments, topics: try fields.names("topics"), now: SystemClock().now)
    return .json(
      201,
      [
        "bundle": .string(bundle), "pem": .string(String(decoding: identity.pem, as: UTF8.self)),
        "fingerprint": .string(identity.certificate.fingerprint),
      ])
  }
}
