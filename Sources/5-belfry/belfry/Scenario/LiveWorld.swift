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
  let phoneService: ScenarioPhoneService
  let patience = Instant.Span.seconds(5)
  private let clock = SystemClock()
  private let control: ControlLine
  /// Of each app, as its tokens and channels told it.
  private let environments = Locked([String: SimulatedEnvironment]())
  private let service: (any ScenarioService)?

  var now: Instant { clock.now }

  /// `apns` is the control API of a running `belfry apns`.
  init(apns: String, service: (any ScenarioService)?) async throws {
    let control = try await ControlLine(apns)
    self.control = control
    self.service = service
    phoneService = ScenarioPhoneService(service) { phone, bundleID, token, environment in
      await control.know(token, .init(device: phone, bundleID: bundleID, environment: environment, kind: .app))
    }
    lab = control.lab(clock: clock, service: phoneService)
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
      for bundleID in phone.bundleIDs {
        await control.listen(phone, device: name, to: bundleID, in: environment(of: bundleID))
      }
    }
  }

  func push(_ push: ProviderPush) async -> ScenarioAnswer {
    if let name = push.phone, let phone = await lab.phone(name) {
      let kind: TokenKind =
        switch push.token {
        case phone.token(of: push.bundleID): .app
        case phone.voipToken(of: push.bundleID): .voip
        default:
          phone.liveActivities(of: push.bundleID).contains { $0.token == push.token }
            ? .liveactivity : .liveActivityStart
        }
      await control.know(
        push.token, .init(device: name, bundleID: push.bundleID, environment: push.environment, kind: kind))
    }
    return await control.push(push)
  }

  func createChannel(
    of bundleID: String, in environment: SimulatedEnvironment, keepsNewest: Bool
  ) async -> ScenarioAnswer {
    environments.withLock { $0[bundleID] = environment }
    return await control.createChannel(of: bundleID, in: environment, keepsNewest: keepsNewest)
  }

  private func environment(of bundleID: String) -> SimulatedEnvironment {
    environments.withLock { $0[bundleID] } ?? .production
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
