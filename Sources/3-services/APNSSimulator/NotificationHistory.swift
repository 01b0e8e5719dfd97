public import Basics

extension LoggedNotification {
  /// What became of it, oldest first, in words.
  public var history: [(at: Instant, words: String)] {
    (earlier + [fate]).map { fate in
      let (at, why) = NotificationJSON.words(of: fate)
      return (at, why.map { "\(fate.name): \($0)" } ?? fate.name)
    }
  }
}

extension LoggedNotification.Fate {
  fileprivate var name: String {
    switch self {
    case .stored: "kept by APNs"
    case .grouped, .throttled, .queued: "held back by APNs"
    case .sent: "sent to the phone, which has not acknowledged it yet"
    case .delivered: "delivered to the phone"
    case .replaced: "replaced at APNs"
    case .expired: "expired at APNs"
    case .dropped: "dropped by APNs"
    }
  }
}

extension APNSSimulator {
  /// Those of `notifications` with that `apns-id`; one at most, unless a provider used it again.
  public func notifications(id: String) -> [LoggedNotification] {
    core.withState { state, _ in state.notifications.all.filter { $0.push.id == id } }
  }
}
