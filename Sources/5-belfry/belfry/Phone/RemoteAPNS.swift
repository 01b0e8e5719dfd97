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
  private let local: LocalAPNS

  /// Throws `CommandFault` when no control API answers there.
  init(_ url: String, clock: any WallClock) async throws {
    self.url = url
    control = try await ControlLine(url)
    var configuration = APNSSimulator.Configuration()
    configuration.seed = UInt64.random(in: 0...UInt64.max)  // for tokens that nobody has had
    local = LocalAPNS(clock: clock, configuration)
  }

  func lab(clock: any WallClock) -> PhoneLab {
    let lab = PhoneLab(courier: local.courier, clock: clock) { _, _, _, _ in nil }
    control.deliver = { [lab] device, push in await lab.perform(.push(push), on: device) }
    return lab
  }

  /// Tells the running simulator of the phone's network and tokens, as far as they are news.
  func settle(_ phone: Phone, named name: String, environment: SimulatedEnvironment) async {
    for bundleID in phone.bundleIDs {
      guard let token = phone.token(of: bundleID) else { continue }
      await control.know(
        token, .init(device: name, bundleID: bundleID, environment: environment, kind: .app))
    }
    await control.setOnline(phone.isOnline, device: name)
    await control.keep(device: name) { phone.token(of: $0) }
  }

  func close() async { await control.close() }
}
