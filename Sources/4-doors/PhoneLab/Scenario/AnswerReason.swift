internal import Phone
internal import PushPayload

extension ScenarioAnswer {
  /// Who says so, in a line for reports: the rule of the phone where one decided, Apple's page for any other word of APNs.
  /// `wanted` is the status that was expected; nil: none is known.
  func reason(expected wanted: Int?) -> String? {
    if let rule = rule(expected: wanted) { return rule.explanation }
    guard let refusal = reason.flatMap(RefusalReason.init(rawValue:)) else { return nil }
    let page =
      refusal.isOfDevicePushes
      ? "Handling notification responses from APNs"
      : "Handling error responses from Apple Push Notification service"
    return "\(status) \(refusal.rawValue) [Apple, “\(page)”]; docs/apns-simulator.md tells the order of the checks"
  }

  private func rule(expected wanted: Int?) -> Rule? {
    guard let reason else {
      // taken: APNs has not learnt yet, or has nothing against it
      return wanted == RefusalReason.unregistered.status ? "D-045" : isTaken ? "D-072" : nil
    }
    return RefusalReason(rawValue: reason).flatMap { Self.rules[$0] }
  }

  private static let rules: [RefusalReason: Rule] = [
    .unregistered: "D-045", .expiredToken: "D-046", .badDeviceToken: "D-043", .deviceTokenNotForTopic: "D-015",
  ]
}
