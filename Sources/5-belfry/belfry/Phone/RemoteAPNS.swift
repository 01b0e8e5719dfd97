import APNSSimulator
import Basics
import Phone
import PhoneLab
import PushPayload

/// A phone at a `belfry apns` that runs elsewhere: its tokens are made here and told there by the control API, and what its
/// courier brings is handed to the phone.
final class RemoteAPNS: Sendable {
  let url: String
  private let control: ControlLine

  /// Throws `CommandFault` when no control API answers there.
  init(_ url: String) async throws {
    self.url = url
    control = try await ControlLine(url)
  }

  func lab(clock: any WallClock) -> PhoneLab { control.lab(clock: clock, service: ScenarioPhoneService(nil)) }

  /// Tells the running simulator of the phone's network and tokens, as far as they are news.
  func settle(_ phone: Phone, named name: String, environment: SimulatedEnvironment) async {
    for bundleID in phone.bundleIDs {
      guard let token = phone.token(of: bundleID) else { continue }
      await control.know(
        token, .init(device: name, bundleID: bundleID, environment: environment, kind: .app))
    }
    await control.settle(phone, named: name)
  }

  func close() async { await control.close() }
}
