import APNSSimulator
import Audience
import Basics
import Phone
import PhoneLab
import PushPayload
import PushService
import Testing
import Transport

@testable import belfry

@Suite("Broadcast channels of belfry serve", .timeLimit(.minutes(1)))
struct ServeChannelsTests {
  private static let bundleID = "com.example.app"

  /// With a running service, its app, and a lab whose phones are at its simulated APNs.
  private static func with(
    _ body: (PushService, AppRecord, PhoneLab) async throws -> Void
  ) async throws {
    let folder = try Files.temporaryFolder("serve-channels")
    defer { Files.remove(folder) }
    var parsed = ParsedCommand()
    parsed.values = ["listen": ["127.0.0.1:0"], "data": [folder]]
    let configuration = try ServeConfiguration(parsed, environment: [:], standardData: folder)
    let log = ServiceLog(clock: SystemClock(), isVerbose: false, write: { _ in })
    let host = try await ServiceHost.start(configuration, log: log)
    let app = try await host.service.createApp(bundleID: bundleID, name: nil).app
    let courier = try #require(host.simulator?.courier)
    let lab = PhoneLab(courier: courier, clock: SystemClock()) { _, _, _, _ in nil }
    do { try await body(host.service, app, lab) } catch { Issue.record("\(error)") }
    await lab.close()
    await host.stop()
  }

  @Test("D-189 one send to a channel draws the Live Activity that listens; the channel is listed, read and deleted")
  func broadcast() async throws {
    try await Self.with { service, app, lab in
      let channel = try await service.createChannel(app, .newest, production: true)
      #expect(try await service.channels(app, production: true, after: nil, limit: 9) == [channel.id])
      #expect(try await service.channels(app, production: false, after: nil, limit: 9) == [], "environments are apart")
      #expect(try await service.channel(app, id: channel.id, production: true) == channel)
      var description = AppDescription(bundleID: Self.bundleID, name: "App", apsEnvironment: .production)
      description.liveActivities = LiveActivitySupport(attributesTypes: ["Match"])
      await lab.add(PhoneSettings(iosVersion: IOSVersion(18)), named: "a")
      let request = ActivityRequest(
        attributesType: "Match", content: ActivityContent(state: ["goals": 0]), pushType: .channel(channel.id))
      await lab.perform(
        [
          .installApp(description), .launch(bundleID: Self.bundleID),
          .app(bundleID: Self.bundleID, .startActivity(request)), .home,
        ], on: "a")
      let update = LiveActivityContent(.update(contentState: ["goals": 1], at: Instant(seconds: 0)))
      var order = PushOrder(audience: .everyone)
      order.special = .broadcast(update, channel: channel.id)
      _ = try await service.push(app, order)
      let isDrawn = await lab.wait(for: "a", within: .seconds(20)) { entries in
        entries.contains {
          if case .activity(let change) = $0.what { change.contentState == ["goals": 1] } else { false }
        }
      }
      #expect(isDrawn)
      try await service.deleteChannel(app, id: channel.id, production: true)
      await #expect(throws: RequestFault.self) {
        try await service.channel(app, id: channel.id, production: true)
      }
    }
  }
}
