import Basics
public import Delivery
public import PushPayload

/// A Live Activity push that was not sent: APNs would take it, and the phone make nothing of it. The findings are the
/// lint's errors, in its words.
public struct LiveActivityFault: Error, Hashable, Sendable, CustomStringConvertible {
  public let findings: [Finding]

  public var description: String {
    findings.map { "\($0.message). \($0.effect) \($0.fix)" }.joined(separator: "\n")
  }
}

extension OutgoingPush {
  /// A Live Activity push to one token: the topic gets its suffix by itself, and the two priorities are the ones that
  /// Apple's page allows.
  ///
  /// - Parameters:
  ///   - token: a push-to-start token for a start, the activity's update token for everything else.
  ///   - isUrgent: priority 10, which counts against the phone's hourly budget; else 5, which does not.
  ///   - expiration: seconds since 1970, 0 for one attempt; nil leaves it to APNs.
  ///   - id: `apns-id`; default a new one.
  public static func liveActivity(
    _ push: LiveActivityPush, to token: [UInt8], of bundleID: String, isUrgent: Bool, expiration: Int64?,
    id: String? = nil
  ) -> OutgoingPush {
    OutgoingPush(
      id: id ?? UUIDBits(version4: .random(in: 0 ... .max), .random(in: 0 ... .max)).text,
      token: token, topic: PushType.liveactivity.completed(topic: bundleID), pushType: .liveactivity,
      priority: isUrgent ? .immediate : .considerate, expiration: expiration, collapseID: nil, payload: push.bytes)
  }
}

extension APNSClient {
  /// Sends one Live Activity push, unless lint says that it would start or change nothing.
  public func send(
    _ push: LiveActivityPush, to token: [UInt8], of bundleID: String, isUrgent: Bool, expiration: Int64?,
    id: String? = nil
  ) async throws(LiveActivityFault) -> PushOutcome {
    let findings = push.findings(isBroadcast: false, at: clock.now).filter { $0.severity == .error }
    guard findings.isEmpty else { throw LiveActivityFault(findings: findings) }
    return await send(
      .liveActivity(push, to: token, of: bundleID, isUrgent: isUrgent, expiration: expiration, id: id))
  }
}
