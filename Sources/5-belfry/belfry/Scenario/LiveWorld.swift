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
  let patience: Instant.Span
  private let clock = SystemClock()
  private let control: ControlLine
  private let mirror: PhoneMirror
  private let service: (any ScenarioService)?
  private let library: KitLibrary?

  var now: Instant { clock.now }

  /// `apns` is the control API of a running `belfry apns`. With a `library` it is by that that apps talk to their service.
  init(
    apns: String, service: (any ScenarioService)?, library: KitLibrary? = nil, patience: Instant.Span = .seconds(5)
  ) async throws {
    self.patience = patience
    let control = try await ControlLine(apns)
    self.control = control
    self.service = service
    self.library = library
    (lab, mirror, phoneService) = control.lab(clock: clock, service, library: library?.phones)
  }

  func pass(until time: Instant) async {
    try? await clock.sleep(for: max(time - clock.now, .milliseconds(0)))
    await settle()
  }

  /// What the phones have become is told to the running simulator, and what it has for them happens, until both are quiet.
  func settle() async {
    var isNews = true
    while isNews {
      await lab.settle()
      let isTold = await mirror.settle()
      let isHeard = await mirror.fence()
      isNews = isTold || isHeard
    }
  }

  func push(_ push: ProviderPush) async -> ScenarioAnswer {
    await mirror.settle()
    return await control.push(push)
  }

  func createChannel(
    of bundleID: String, in environment: SimulatedEnvironment, keepsNewest: Bool
  ) async -> ScenarioAnswer {
    await control.createChannel(of: bundleID, in: environment, keepsNewest: keepsNewest)
  }

  func call(_ body: JSONObject, of bundleID: String) async -> ScenarioAnswer {
    await service?.call(body, of: bundleID)
      ?? ScenarioAnswer(status: 0, reason: "there is no push service; name one with --service")
  }

  func close() async {
    await lab.close()
    await library?.close()
    await mirror.close()
    await control.close()
    await service?.close()
  }
}
