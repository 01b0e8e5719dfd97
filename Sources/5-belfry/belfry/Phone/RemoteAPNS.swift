import APNSSimulator
import Basics
import Phone
import PhoneLab
import PushPayload

/// A phone at a `belfry apns` that runs elsewhere: its tokens and channels are told there by the control API, and what its
/// courier brings is handed to the phone.
final class RemoteAPNS: Sendable {
  let url: String
  let lab: PhoneLab
  private let control: ControlLine
  private let mirror: PhoneMirror

  /// Throws `CommandFault` when no control API answers there.
  init(_ url: String, clock: any WallClock) async throws {
    self.url = url
    control = try await ControlLine(url)
    (lab, mirror, _) = control.lab(clock: clock, nil)
  }

  /// Tells the running simulator what the phone has become, as far as it is news.
  func settle() async { await mirror.settle() }

  func close() async {
    await mirror.close()
    await control.close()
  }
}
