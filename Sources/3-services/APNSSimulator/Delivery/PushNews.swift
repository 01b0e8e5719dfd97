internal import Basics
public import PushPayload

/// What became of a push for a phone.
public struct PushNews: Hashable, Sendable {
  /// `apns-id`.
  public var id: String
  public var bundleID: String
  public var metric: DeliveryMetric
}

/// Why a push is dropped, in the words of the log; those of which Apple's metrics know.
enum DropWords {
  static let disabled = "disabled by user"
  static let removed = "the app was removed"
  private static let gone = "the app is gone from the device since "

  static func gone(since: Instant) -> String { gone + since.description }

  static func metric(_ words: String) -> DeliveryMetric? {
    if words == disabled { return .discardedDisabled }
    return words == removed || words.hasPrefix(gone) ? .discardedTokenInactive : nil
  }
}

extension LoggedNotification.Fate {
  /// nil for what Apple's metrics do not tell of, and for a delivery.
  var metric: DeliveryMetric? {
    switch self {
    case .stored(_, .offline), .stored(_, .noCourier): .storedOffline
    case .stored(_, .asleep), .stored(_, .lowPower): .storedForPower
    case .replaced: .discardedReplaced
    case .expired: .discardedExpired
    case .dropped(_, let why): DropWords.metric(why)
    case .grouped, .throttled, .queued, .sent, .delivered: nil
    }
  }
}

extension ServiceState {
  /// Notes for a courier that wants to know what became of a push; `push` is nil for one that is in the log.
  mutating func tellFate(
    of number: UInt64, _ fate: LoggedNotification.Fate, push: DeliveredPush?, device: String
  ) {
    guard let metric = fate.metric, schedule.device(device)?.hearsFates == true,
      let push = push ?? notifications[number]?.push
    else { return }
    fateNews.append((device, PushNews(id: push.id, bundleID: push.bundleID, metric: metric)))
  }

  /// Emptied by this.
  mutating func takeFateNews() -> [(device: String, news: PushNews)] {
    if fateNews.isEmpty { return [] }
    defer { fateNews = [] }
    return fateNews
  }
}
