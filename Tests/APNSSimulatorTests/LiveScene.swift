import Basics
import BelfryTesting
import HTTPClient
import PushPayload
import Transport

@testable import APNSSimulator

/// A running simulator on free ports, with what a test needs at the other ends. Stops when `run` returns.
struct LiveScene: Sendable {
  let simulator: APNSSimulator
  let loops: LoopGroup
  let http = HTTPClient()
  private let isStopped = Locked(false)

  private init(simulator: APNSSimulator, loops: LoopGroup) {
    self.simulator = simulator
    self.loops = loops
  }

  /// For a test that watches the end itself.
  func stopSimulator() async {
    let isFirst = isStopped.withLock { isStopped in
      defer { isStopped = true }
      return !isStopped
    }
    if isFirst { await simulator.stop() }
  }

  @discardableResult
  static func run<Result: Sendable>(
    _ change: (inout APNSSimulator.Configuration) -> Void = { _ in }, _ body: (LiveScene) async throws -> Result
  ) async throws -> Result {
    var configuration = APNSSimulator.Configuration()
    configuration.seed = 1
    change(&configuration)
    let simulator = try await APNSSimulator.start(configuration)
    let loops = LoopGroup(count: 1)
    let scene = LiveScene(simulator: simulator, loops: loops)
    do {
      let result = try await body(scene)
      await scene.stopSimulator()
      await loops.stop()
      return result
    } catch {
      await scene.stopSimulator()
      await loops.stop()
      throw error
    }
  }

  func provider(
    to endpoint: Endpoint? = nil, identity: TLSIdentity? = nil, offersH2: Bool = true
  ) async throws -> LiveProvider {
    let provider = LiveProvider(loop: loops.next())
    let tls = try TLSClientContext(
      trust: .pem(simulator.credentials.authority.pem), identity: identity, offersH2: offersH2)
    await provider.connect(to: endpoint ?? simulator.endpoint, tls: tls)
    return provider
  }

  /// A provider that speaks frames.
  func rawProvider(
    to endpoint: Endpoint? = nil, identity: TLSIdentity? = nil, settings: [(UInt8, UInt32)] = []
  ) async throws -> RawProvider {
    let provider = RawProvider(loop: loops.next())
    let tls = try TLSClientContext(
      trust: .pem(simulator.credentials.authority.pem), identity: identity, offersH2: true)
    await provider.connect(to: endpoint ?? simulator.endpoint, tls: tls, settings: settings)
    return provider
  }

  /// `authorization` of the ready key.
  func authorization(at time: Instant = SystemClock().now) -> (String, String) {
    let credentials = simulator.credentials
    let signed =
      #"{"alg":"ES256","kid":"\#(credentials.keyID)"}"#.utf8.base64URL + "."
      + #"{"iss":"\#(credentials.teamID)","iat":\#(time.seconds)}"#.utf8.base64URL
    let signature = credentials.signingKey.signature(of: Array(signed.utf8)) ?? []
    return ("authorization", "bearer \(signed).\(signature.base64URL)")
  }

  func control(_ method: String, _ path: String, _ body: String? = nil) async throws -> ControlAnswer {
    guard let endpoint = simulator.controlEndpoint else { return ControlAnswer(status: 0, text: "") }
    let answer = try await http.call(method, "http://\(endpoint)\(path)", body: body.map { Array($0.utf8) })
    return ControlAnswer(status: answer.status, text: String(decoding: answer.body, as: UTF8.self))
  }
}
