import Basics
import BelfryTesting
import PushPayload
import Transport

@testable import APNSSimulator

/// One provider's connection to a simulator with faults; time stands still unless the test moves it.
struct FaultScene: Sendable {
  let live: LiveScene
  let clock: VirtualClock
  let token: String
  let provider: LiveProvider
  let authorization: (String, String)

  var simulator: APNSSimulator { live.simulator }

  static func run(
    _ rules: [FaultRule] = [], seed: UInt64 = 1, connects: Bool = true, _ body: (FaultScene) async throws -> Void
  ) async throws {
    let clock = VirtualClock()
    func configure(_ configuration: inout APNSSimulator.Configuration) {
      configuration.clock = clock
      configuration.faults.rules = rules
      configuration.faults.seed = seed
    }
    try await LiveScene.run(configure) { live in
      let token = live.simulator.issueToken(device: "phone", bundle: "com.example.app").hex
      let provider =
        connects ? try await live.provider() : LiveProvider(loop: live.loops.next())
      let scene = FaultScene(
        live: live, clock: clock, token: token, provider: provider, authorization: live.authorization(at: clock.now))
      try await body(scene)
    }
  }

  /// nil when no answer came.
  func send(_ token: String? = nil, id: String? = nil, by other: LiveProvider? = nil) async -> LiveProvider.Answer? {
    var fields = [
      authorization, ("apns-topic", "com.example.app"), ("apns-push-type", "alert"),
    ]
    if let id { fields.append(("apns-id", id)) }
    return await (other ?? provider).send("/3/device/\(token ?? self.token)", fields)
  }

  /// The first push proves the provider, so that many streams are open to it; no fault may meet it.
  func warmUp(_ other: LiveProvider? = nil) async {
    _ = await send(by: other)
    _ = await (other ?? provider).until { $0.contains(.settings(1000)) }
  }

  /// Several at once; answers in the order of sending.
  func sendMany(_ count: Int, token: @escaping @Sendable (Int) -> String? = { _ in nil }) async -> [LiveProvider
    .Answer?]
  {
    await withTaskGroup(of: (Int, LiveProvider.Answer?).self) { group in
      for number in 0..<count { group.addTask { (number, await send(token(number))) } }
      var answers = [LiveProvider.Answer?](repeating: nil, count: count)
      for await (number, answer) in group { answers[number] = answer }
      return answers
    }
  }

  func close() async { await provider.close() }
}

extension FaultAction {
  static func refuse(_ reason: RefusalReason) -> FaultAction { .answer(.init(.refuse(.init(reason)))) }
}

extension FaultRule.Conditions {
  static func with(_ change: (inout FaultRule.Conditions) -> Void) -> FaultRule.Conditions {
    var conditions = FaultRule.Conditions()
    change(&conditions)
    return conditions
  }
}
