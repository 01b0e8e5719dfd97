internal import Basics
internal import PushPayload

/// The apps whose user wants no notifications, as far as APNs knows.
struct DisabledAlerts: Hashable, Sendable {
  private var apps: [String: Set<String>] = [:]
  /// What phones will tell once they can be reached.
  private var untold: [String: [String: Bool]] = [:]

  func contains(_ device: String, _ bundleID: String) -> Bool { apps[device]?.contains(bundleID) ?? false }

  /// All of them.
  var known: Set<PhoneHoldings.App> {
    Set(apps.flatMap { device, own in own.map { PhoneHoldings.App(device: device, bundleID: $0) } })
  }

  mutating func note(_ device: String, _ bundleID: String, isAllowed: Bool) {
    untold[device, default: [:]][bundleID] = isAllowed
  }

  /// The phone can be reached: what it had to tell is known now. Answers the apps that were turned off, sorted.
  mutating func learn(_ device: String) -> [String] {
    guard let news = untold.removeValue(forKey: device) else { return [] }
    var own = apps[device] ?? []
    for (bundleID, isAllowed) in news {
      if isAllowed { own.remove(bundleID) } else { own.insert(bundleID) }
    }
    apps[device] = own.isEmpty ? nil : own
    return news.filter { !$0.value }.keys.sorted()
  }

  /// The app was removed.
  mutating func forget(_ device: String, _ bundleID: String) {
    apps[device]?.remove(bundleID)
    untold[device]?[bundleID] = nil
  }
}

extension ServiceState {
  mutating func setAlertsAllowed(device: String, bundleID: String, _ isAllowed: Bool, now: Instant) -> Outcome {
    schedule.add(device)
    disabledAlerts.note(device, bundleID, isAllowed: isAllowed)
    guard schedule.device(device)?.isReachable == true else { return Outcome() }
    return learnAlerts(of: device, now: now)
  }

  /// Takes in what a phone that can be reached tells of its apps: what waits for one that was turned off is dropped.
  mutating func learnAlerts(of device: String, now: Instant) -> Outcome {
    var outcome = Outcome()
    for bundleID in disabledAlerts.learn(device) {
      let effects = schedule.drop(of: device, why: DropWords.disabled, now: now) { push in
        push.pushType == .alert && push.bundleID == bundleID
      }
      apply(effects, to: &outcome, now: now)
    }
    return outcome
  }
}
