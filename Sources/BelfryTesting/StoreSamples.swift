public import Audience
public import Basics
public import Store

/// Rows for tests of stores and of what stands on them.
public enum StoreSamples {
  public static let noon = Instant(seconds: 1_796_040_000)

  /// 32 bytes that tell their number.
  public static func token(_ number: Int) -> [UInt8] {
    (0..<32).map { UInt8(truncatingIfNeeded: $0 < 8 ? number >> ($0 * 8) : $0) }
  }

  public static func app(_ key: String, bundleID: String = "com.example.app") -> StoredApp {
    StoredApp(id: 0, key: key, bundleID: bundleID, name: nil, secretHash: "hash of \(key)", createdAt: noon)
  }

  public static func device(
    _ number: Int, of app: Int64, _ environment: APNSEnvironment = .production, at: Instant = noon
  ) -> DeviceDraft {
    DeviceDraft(
      app: app, registrationID: "r\(app)x\(number)", token: token(number), environment: environment,
      secretHash: [1, 2, 3], facts: DeviceFacts(osVersion: "17.0"), at: at)
  }

  public static func push(
    _ id: Int64, of app: Int64, _ environment: APNSEnvironment = .production, to address: PushAddress = .device,
    badge: BadgeArithmetic = .none,
    pushType: String = "alert", isScheduled: Bool = false, clientID: String? = nil, at: Instant = noon
  ) -> StoredPush {
    var push = StoredPush(
      id: id, app: app, acceptedAt: at, environment: environment, request: Array("{}".utf8),
      payload: Array(#"{"aps":{"alert":"你好"}}"#.utf8), pushType: pushType, priority: 10,
      expiration: at.seconds + 86_400, deadline: at + .days(1), collapseID: "c\(id)", badge: badge, sendNumber: 7,
      isScheduled: isScheduled, clientID: clientID, wrongEnvironment: 1, deadTokens: 2, warnings: ["one", "two"],
      unmatched: ["nobody"])
    push.address = address
    return push
  }
}

extension Store {
  /// An app with devices 0 ..< count, whose ordinals are their numbers.
  public func sampleApp(_ key: String = "sample", devices count: Int = 0) async throws -> Int64 {
    let app = try await createApp(StoreSamples.app(key)).id
    for number in 0..<count { _ = try await register(StoreSamples.device(number, of: app)) }
    return app
  }

  /// Evaluates an audience at noon.
  public func reach(
    app: Int64, _ audience: AudienceExpression, _ environment: APNSEnvironment
  ) async throws(StoreFault) -> AudienceReach {
    try await reach(app: app, audience, environment, at: StoreSamples.noon)
  }

  /// Keeps what a device says as soon as the last of it was.
  public func keep(
    _ reports: [DeviceReport], app: Int64, registrationID: String
  ) async throws(StoreFault) -> [ReportAnswer] {
    try await keep(
      reports, app: app, registrationID: registrationID, at: reports.map(\.at).max() ?? StoreSamples.noon)
  }

  /// Accepts a push for whom `audience` reaches.
  public func acceptSample(_ push: StoredPush, to audience: AudienceExpression = .everyone) async throws {
    let reach = try await reach(app: push.app, audience, push.environment)
    _ = try await accept(push, audience: reach.targets, clientIDsSince: push.acceptedAt - .days(1))
  }
}
