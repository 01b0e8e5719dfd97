import Basics
import BelfryTesting
import PushPayload
import Transport

@testable import APNSSimulator

/// The control API without sockets: its routes over a core whose clock the test moves.
struct ControlScene {
  let clock = VirtualClock()
  let core: SimulatorCore
  let routes: ControlRoutes
  private let loops = LoopGroup(count: 1)

  static func run(_ body: (ControlScene) async throws -> Void) async throws {
    let scene = try ControlScene()
    do { try await body(scene) } catch {
      await scene.loops.stop()
      throw error
    }
    await scene.loops.stop()
  }

  private init() throws {
    var configuration = APNSSimulator.Configuration()
    configuration.clock = clock
    core = SimulatorCore(
      configuration: configuration, seed: 1, state: ServiceState(rules: configuration.stateRules, seed: 1), keys: [],
      keeper: nil)
    let credentials = try SimulatorCredentials.load(
      folder: nil, store: nil, bundleID: "com.example.app", now: SystemClock().now)
    routes = ControlRoutes(core: core, credentials: credentials, keeper: nil, loops: loops)
  }

  func token(_ device: String = "phone", bundle: String = "com.example.app") -> String {
    core.withState { state, _ in
      state.issueToken(
        to: TokenRecord.Owner(device: device, bundleID: bundle, environment: .sandbox, kind: .app)
      ).bytes.hex
    }
  }

  /// A push that has passed the checks of its headers.
  func push(
    _ token: String, _ payload: String = #"{"aps":{"alert":"Hello"}}"#,
    id: String = "aaaaaaaa-0000-0000-0000-000000000000",
    type: PushType = .alert, priority: PushPriority = .immediate, collapseID: String? = nil,
    topic: String = "com.example.app", sent: SentHeaders = SentHeaders()
  ) {
    var checked = CheckedPush(
      token: Array(token.utf8)[...], environment: .sandbox, id: Array(id.utf8)[...], topic: Array(topic.utf8)[...],
      pushType: type, isPushTypeInferred: false, priority: priority, expiration: nil,
      collapseID: collapseID.map { Array($0.utf8)[...] }, sentHeaders: sent)
    checked.findings = LintText(Array(payload.utf8)).findings(checked.lintContext(now: clock.now))
    _ = try? core.accept(checked, id: Array(id.utf8)[...], uniqueID: nil, body: Array(payload.utf8), now: clock.now)
  }

  func call(_ method: String, _ target: String, _ body: String = "") async -> ControlAnswer {
    let parts = target.split(separator: "?", maxSplits: 1).map(String.init)
    let response = await routes.answer(
      HTTPRequest(
        method: method, path: parts[0], query: parts.count > 1 ? parts[1] : nil, body: Array(body.utf8)))
    return ControlAnswer(status: response.status, text: String(decoding: response.body, as: UTF8.self))
  }

  func waiters(_ count: Int) async {
    while core.watchCount != count { await Task.yield() }
  }
}
