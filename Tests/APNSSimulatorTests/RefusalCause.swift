import Basics
import BelfryTesting
import PushPayload
import Testing
import Transport

@testable import APNSSimulator

/// A natural cause of one of Apple's reasons: how to set the service up, and what a provider does.
struct RefusalCause: Sendable, CustomTestStringConvertible {
  /// How the provider is told.
  enum Way: Sendable { case answer, goAway }

  /// What the provider was told.
  enum Told: Sendable {
    case answer(LiveProvider.Answer?)
    case events([LiveProvider.Event])
  }

  var reason: RefusalReason
  var what: String
  var way: Way
  var setUp: @Sendable (inout APNSSimulator.Configuration) -> Void = { _ in }
  var act: @Sendable (CauseScene) async throws -> Told

  var testDescription: String { "\(reason.rawValue): \(what)" }

  init(
    _ reason: RefusalReason, _ what: String, way: Way = .answer,
    act: @escaping @Sendable (CauseScene) async throws -> Told
  ) {
    self.reason = reason
    self.what = what
    self.way = way
    self.act = act
  }

  /// The same with another configuration.
  func settingUp(_ change: @escaping @Sendable (inout APNSSimulator.Configuration) -> Void) -> RefusalCause {
    var cause = self
    cause.setUp = change
    return cause
  }

  /// A push that is right but for these headers, path or body.
  static func push(
    _ reason: RefusalReason, _ what: String, _ changes: [String: String?] = [:], adding: [(String, String)] = [],
    path: String? = nil, method: String = "POST", body: String = "{}"
  ) -> RefusalCause {
    RefusalCause(reason, what) { scene in
      .answer(try await scene.push(changes, adding: adding, path: path, method: method, body: body))
    }
  }
}

/// One running service with a clock that a test moves, and the means to do most things right.
struct CauseScene: Sendable {
  let live: LiveScene
  let clock: VirtualClock
  static let bundle = "com.example.app"

  var simulator: APNSSimulator { live.simulator }

  /// Sends a push by `provider`, or by a new connection with the ready key. `changes` replace headers, nil removes them;
  /// `TOKEN` in a path stands for a living device token.
  func push(
    _ changes: [String: String?] = [:], adding: [(String, String)] = [], path: String? = nil, method: String = "POST",
    body: String = "{}", authority: String? = nil, by provider: LiveProvider? = nil
  ) async throws -> LiveProvider.Answer? {
    let token = simulator.issueToken(device: "phone", bundle: Self.bundle).hex
    var fields = ["apns-topic": Self.bundle, "apns-push-type": "alert"]
    fields["authorization"] = live.authorization(at: clock.now).1
    for (name, value) in changes { fields[name] = value }
    let path = (path ?? "/3/device/TOKEN").split(separator: "TOKEN", omittingEmptySubsequences: false)
    let usual = provider == nil ? try await live.provider() : nil
    let answer = await (provider ?? usual)?.send(
      path.joined(separator: token), fields.sorted { $0.key < $1.key } + adding, method: method, authority: authority,
      body: body)
    await usual?.close()
    return answer
  }

  /// Sends the usual push so many times on one connection; what the last one was answered.
  func push(times: Int, path: String? = nil) async throws -> LiveProvider.Answer? {
    let provider = try await live.provider()
    var last: LiveProvider.Answer?
    let authorization = live.authorization(at: clock.now).1
    for _ in 0..<times { last = try await push(["authorization": authorization], path: path, by: provider) }
    await provider.close()
    return last
  }

  /// A key that the service knows; `bearer` of a token that it signs now.
  func key(
    _ keyID: String, team: String? = nil, scope: ProviderKey.Scope = .team(only: nil)
  ) throws -> (TestProvider, bearer: @Sendable () -> String) {
    let provider = try TestProvider(
      keyID: keyID, teamID: team ?? simulator.credentials.teamID, scope: scope)
    simulator.add(provider.key)
    return (provider, { [clock] in "bearer \(provider.token(issuedAt: clock.now))" })
  }

  /// Connects with that certificate and sends nothing; what it is told until the end.
  func connect(with identity: TLSIdentity, to endpoint: Endpoint? = nil) async throws -> RefusalCause.Told {
    .events(await (try await live.provider(to: endpoint, identity: identity)).until { $0.contains(.closed) })
  }

  /// Connects with that certificate and sends one push.
  func push(with identity: TLSIdentity) async throws -> RefusalCause.Told {
    let provider = try await live.provider(identity: identity)
    return .answer(try await push(["authorization": nil], by: provider))
  }

  /// A push certificate by the service's own authority.
  func certificate(
    environments: Set<SimulatedEnvironment> = [.sandbox, .production], from: Instant? = nil
  ) throws -> TLSIdentity {
    try simulator.credentials.authority.issuePushCertificate(
      bundleID: Self.bundle, environments: environments, now: from ?? clock.now)
  }

  /// A certificate of nobody's authority but its own.
  func selfSigned() throws -> TLSIdentity {
    try CertificateAuthority.create(
      commonName: "Self", notBefore: clock.now - .days(1), notAfter: clock.now + .days(1)
    ).identity
  }
}
