internal import PushPayload
internal import Transport

/// What Apple may do to a team and its credentials.
extension ControlRoutes {
  static let teamPlaces = ["PUT /teams/{teamId}", "DELETE /certificates/{fingerprint}"]

  private enum Membership: String, CaseIterable {
    case active, suspended
  }

  func teams(_ request: HTTPRequest, _ rest: [String]) async throws -> HTTPResponse {
    guard rest.count == 1, ControlFields.isName(rest[0]) else { throw Self.noSuchPlace(request) }
    guard request.method == "PUT" else { throw Self.wrongMethod(request, "PUT") }
    let fields = try ControlFields(request.body, known: ["membership"])
    guard let membership = try fields.word("membership", Membership.self) else {
      throw ControlFault(400, at: "membership", "it is missing", "Give active or suspended.")
    }
    core.providers.setSuspended(team: rest[0], membership == .suspended)
    try await keeper?.flush()
    return .json(200, ["teamId": .string(rest[0]), "membership": .string(membership.rawValue)])
  }

  /// Takes the fingerprint with or without colons, in either case. One that was never issued may be revoked too: the
  /// simulator keeps no list of certificates.
  func revokeCertificate(_ request: HTTPRequest, _ fingerprint: String) async throws -> HTTPResponse {
    guard request.method == "DELETE" else { throw Self.wrongMethod(request, "DELETE") }
    let digits = fingerprint.filter { $0 != ":" }.uppercased()
    guard digits.utf8.count == 64, digits.allSatisfy(\.isHexDigit) else {
      throw ControlFault(
        400, at: "fingerprint", "\"\(fingerprint.shortened)\" is no SHA-256 fingerprint", "Give 64 hex digits.")
    }
    let pairs = stride(from: 0, to: 64, by: 2).map { start in
      String(digits.dropFirst(start).prefix(2))
    }
    core.providers.revoke(certificate: pairs.joined(separator: ":"))
    try await keeper?.flush()
    return HTTPResponse(status: 204)
  }
}
