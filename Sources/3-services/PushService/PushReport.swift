public import Basics

/// What became of a push so far. Counters grow until `state` is `finished`, and each device counts once.
public struct PushReport: Sendable, Equatable {
  public enum State: Sendable, Equatable {
    case sending
    /// Nothing is lost: it goes on once the reason is gone (credential, topic).
    case waiting(reason: String)
    case finished
    /// What has not left waits until it is told to go on, or its time is up.
    case paused
    /// What had not left never will.
    case withdrawn
  }

  public var messageID: Int64
  public var state: State
  public var acceptedAt: Instant
  /// nil until every device ended.
  public var finishedAt: Instant?
  /// Devices of the audience with a live token in the push's environment.
  public var targeted: Int
  /// Devices of the audience that were not tried: their token is of the other environment.
  public var wrongEnvironment: Int
  /// Devices of the audience that were not tried: their token was dead when the push was accepted.
  public var deadTokens: Int
  /// APNs answered 200.
  public var accepted: Int
  /// APNs said no, by its reason.
  public var refused: [Refused]
  /// Never left: the push's time to live had passed.
  public var expired: Int
  /// Left, and no answer came within the retry policy; a phone may have shown it.
  public var unanswered: Int
  /// Not sent: the token died or moved to the other environment after the push was accepted.
  public var skipped: Int
  /// Not sent: its user wants only the scheduled push, which this is not (D-333).
  public var skippedByPreference: Int
  /// Not sent: the push was withdrawn before.
  public var withdrawn: Int
  /// Devices that said so, each counted once (`PushService.note`).
  public var received: Int
  public var shown: Int
  public var clicked: Int
  public var warnings: [String]
  /// It started, updated or ended Live Activities.
  public var isOfLiveActivity = false
  /// It went to VoIP tokens.
  public var isCall = false
  /// Of its in-app message; nil without one.
  public var message: MessageCounts?
  /// The push to VoIP tokens that was accepted with it.
  public var companion: Int64?
  /// The push that it was accepted with.
  public var companionOf: Int64?
  /// The one recipient of a push to a channel; nil for others.
  public var broadcast: Broadcast?

  public struct Broadcast: Sendable, Equatable {
    public var channel: String
    /// `apns-request-id`.
    public var requestID: String
  }

  public struct Refused: Sendable, Equatable {
    /// Apple's word, for example `Unregistered`.
    public var reason: String
    public var count: Int
  }

  /// Devices that ended, one way or another.
  public var ended: Int {
    accepted + expired + unanswered + skipped + skippedByPreference + withdrawn + refused.reduce(0) { $0 + $1.count }
  }
  public var pending: Int { targeted - ended }
  /// Devices for which it left for APNs, whatever was answered.
  public var sent: Int { accepted + unanswered + refused.reduce(0) { $0 + $1.count } }
}

/// A push's counts in one hour, or for one app version.
public struct PushCounts: Sendable, Equatable {
  public var accepted = 0
  public var refused = 0
  public var expired = 0
  public var unanswered = 0
  public var skipped = 0
  public var skippedByPreference = 0
  public var withdrawn = 0
  public var received = 0
  public var shown = 0
  public var clicked = 0
}

/// A push's counts taken apart; those of either list sum up to those of its `PushReport`.
public struct PushCountLists: Sendable, Equatable {
  /// By the hour's beginning (UTC), in order; hours without a count are not there.
  public var hours: [(hour: Instant, counts: PushCounts)]
  /// By the app version that the devices had told before; nil for those that had told none.
  public var appVersions: [(version: String?, counts: PushCounts)]

  public static func == (left: Self, right: Self) -> Bool {
    left.hours.elementsEqual(right.hours, by: ==) && left.appVersions.elementsEqual(right.appVersions, by: ==)
  }
}
