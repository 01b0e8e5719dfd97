import Basics
import BelfryKit
import BelfryKitTransport
import Foundation
import PhoneLab
import Transport

/// BelfryKit for the apps of one scenario: at a running service, with files that go with it.
final class KitLibrary: Sendable {
  let phones: KitPhoneService
  private let loops = LoopGroup(count: 1)
  private let folder: String

  /// nil: an address is none.
  init?(service: String, gateway: String, appKey: String) throws {
    guard let service = URL(string: service), let gateway = URL(string: gateway.withoutPath) else { return nil }
    let folder = try Files.temporaryFolder("belfry-scenario-apps")
    self.folder = folder
    phones = KitPhoneService(transport: LoopTransport(on: loops.next())) { app in
      let name = "\(app.phone) \(app.bundleID)".replacing("/", with: "_")
      return BelfryKit.Belfry.Configuration(
        appKey: appKey, service: service, gateway: gateway,
        folder: URL(fileURLWithPath: folder).appendingPathComponent(name))
    }
  }

  func close() async {
    await phones.close()
    await loops.stop()
    Files.remove(folder)
  }
}

extension String {
  /// `belfry serve` prints its gateway's address with the path; apps are told it without.
  fileprivate var withoutPath: String {
    guard let host = range(of: "://")?.upperBound, let slash = self[host...].firstIndex(of: "/") else { return self }
    return String(self[..<slash])
  }
}
