import APNSClient
import APNSSimulator
import Basics
import Delivery
import HTTPClient
import Phone
import PhoneLab
import PushPayload
import Transport

/// Running servers: the phones live here, and their tokens, pushes and networks are those of a running `belfry apns`, which
/// is reached by its control API. Time is the machine's.
///
/// A phone gets its token here, and the running simulator is told of it before anybody else; what its courier brings is
/// handed to the phone. So the phone is the same as in virtual time.
final class LiveWorld: ScenarioWorld {
  let lab: PhoneLab
  let patience = Instant.Span.seconds(5)
  private let clock = SystemClock()
  private let control: ControlLine
  private let service: (any ScenarioService)?

  var now: Instant { clock.now }

  /// `apns` is the control API of a running `belfry apns`.
  init(apns: String, service: (any ScenarioService)?) async throws {
    let control = try await ControlLine(apns)
    self.control = control
    self.service = service
    lab = control.lab(clock: clock) { phone, bundleID, token, environment in
      await control.know(token, .init(device: phone, bundleID: bundleID, environment: environment, kind: .app))
      guard let service else { return "\(bundleID) on \(phone)" }
      return await service.register(phone: phone, bundleID: bundleID, token: token, environment: environment)
    }
  }

  func pass(until time: Instant) async {
    try? await clock.sleep(for: max(time - clock.now, .milliseconds(0)))
    await settle()
  }

  /// The network of each phone, and the tokens that it has no more, are told to the running simulator.
  func settle() async {
    await lab.settle()
    for name in await lab.names {
      guard let phone = await lab.phone(name) else { continue }
      await control.settle(phone, named: name)
    }
  }

  func push(_ push: ProviderPush) async -> ScenarioAnswer {
    if let phone = push.phone {
      await control.know(
        push.token,
        .init(
          device: phone, bundleID: push.bundleID, environment: push.environment,
          kind: push.pushType == .voip ? .voip : .app))
    }
    return await control.push(push)
  }

  func call(_ body: JSONObject, of bundleID: String) async -> ScenarioAnswer {
    await service?.call(body, of: bundleID)
      ?? ScenarioAnswer(status: 0, reason: "there is no push service; name one with --service")
  }

  func close() async {
    await lab.close()
    await control.close()
    await service?.close()
  }
}
