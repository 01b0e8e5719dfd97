public import Audience
public import Basics
public import Schedule

/// A push as it was accepted: all that sending it takes, so that any process can go on with it.
public struct StoredPush: Sendable, Equatable {
  /// The message id.
  public var id: Int64
  public var app: Int64
  public var acceptedAt: Instant
  public var environment: APNSEnvironment
  /// The body of the request.
  public var request: [UInt8]
  /// JSON of the payload without what differs by device.
  public var payload: [UInt8]
  /// How the payload differs by what is known of a recipient, for whoever renders it; nil: not at all.
  public var personal: [UInt8]?
  /// `apns-push-type`.
  public var pushType: String
  public var address = PushAddress.device
  /// `apns-priority`.
  public var priority: UInt8
  /// `apns-expiration`, seconds since 1970; nil for a channel: as long as it keeps a message.
  public var expiration: Int64?
  /// Not sent any more from here on.
  public var deadline: Instant?
  /// `apns-collapse-id`.
  public var collapseID: String?
  public var badge: BadgeArithmetic
  public var sendNumber: Int32
  /// The scheduled push, for which a user may have asked alone (D-331).
  public var isScheduled: Bool
  /// What it is about, as the app calls it; a user may not want all. nil: of no channel.
  public var channel: String?
  /// How fast it leaves; nil: as fast as can be.
  public var pace: SendPace?
  /// When it leaves by the clocks of each device's place; nil: at once everywhere.
  public var timing: LocalTiming?
  /// `cid`.
  public var clientID: String?
  /// The id of the push to a group that this is a part of.
  public var groupPush: Int64?
  /// The push that this one was accepted with, as what of it goes to other tokens.
  public var companionOf: Int64?
  public var callback: PushCallback?
  /// The push whose rest is withdrawn as this one is accepted; only `accept` and `take` look at it.
  public var replaces: Int64?
  public var wrongEnvironment: Int
  public var deadTokens: Int
  public var warnings: [String]
  public var unmatched: [String]
  /// Whom it was for, segments and A/B tests as they were then; nil when an older Belfry accepted it.
  public var audience: AudienceExpression?

  public init(
    id: Int64, app: Int64, acceptedAt: Instant, environment: APNSEnvironment, request: [UInt8], payload: [UInt8],
    personal: [UInt8]? = nil, pushType: String, priority: UInt8, expiration: Int64?, deadline: Instant?,
    collapseID: String?, badge: BadgeArithmetic, sendNumber: Int32, isScheduled: Bool = false, pace: SendPace? = nil,
    timing: LocalTiming? = nil, clientID: String?,
    wrongEnvironment: Int,
    deadTokens: Int, warnings: [String], unmatched: [String], audience: AudienceExpression? = nil
  ) {
    self.id = id
    self.app = app
    self.acceptedAt = acceptedAt
    self.environment = environment
    self.request = request
    self.payload = payload
    self.personal = personal
    self.pushType = pushType
    self.priority = priority
    self.expiration = expiration
    self.deadline = deadline
    self.collapseID = collapseID
    self.badge = badge
    self.sendNumber = sendNumber
    self.isScheduled = isScheduled
    self.pace = pace
    self.timing = timing
    self.clientID = clientID
    self.wrongEnvironment = wrongEnvironment
    self.deadTokens = deadTokens
    self.warnings = warnings
    self.unmatched = unmatched
    self.audience = audience
  }

  /// By which the phone names what it shows, so that what comes twice replaces itself: `apns-collapse-id`. nil for what it
  /// keeps no notification of.
  public var shownID: String? {
    switch address {
    case .device: collapseID ?? "belfry-\(id)"
    case .special, .channel: nil
    }
  }

  /// Whether it is kept from those who want only the scheduled push: a notification that is not that one (D-333). What
  /// is silent passes (D-334).
  public var heedsPreference: Bool { Self.heedsPreference(isScheduled: isScheduled, pushType: pushType) }

  /// The same of the two fields that decide it.
  public static func heedsPreference(isScheduled: Bool, pushType: String) -> Bool {
    !isScheduled && isShown(pushType: pushType)
  }

  /// Whether the user sees or hears it: what they chose counts for that alone.
  public static func isShown(pushType: String) -> Bool { pushType == "alert" }
}

/// What a push does to the badge that is kept for each device.
public enum BadgeArithmetic: Sendable, Hashable {
  case none
  case set(Int32)
  case add(Int32)

  /// Badges stay within 0 and 99,999, what JPush's SDKs allow.
  public static let range: ClosedRange<Int32> = 0...99_999

  /// Whether what the badge was before does not matter.
  public var sets: Bool {
    switch self {
    case .set: true
    case .none, .add: false
    }
  }

  public func applied(to badge: Int32) -> Int32 {
    switch self {
    case .none: badge
    case .set(let value): Swift.min(Swift.max(value, Self.range.lowerBound), Self.range.upperBound)
    case .add(let amount):
      Int32(
        Swift.min(
          Swift.max(Int64(badge) + Int64(amount), Int64(Self.range.lowerBound)), Int64(Self.range.upperBound)))
    }
  }
}

/// A push with whom it is for.
public struct PlannedPush: Sendable, Equatable {
  public var push: StoredPush
  public var audience: [AudienceReach.ShardAudience]

  public init(_ push: StoredPush, _ audience: [AudienceReach.ShardAudience]) {
    self.push = push
    self.audience = audience
  }
}

public enum Acceptance: Sendable, Equatable {
  case accepted
  /// The same `cid` was accepted before, within the window: that push, and how many devices it targeted.
  case repeated(StoredPush, targeted: Int)
}

/// How a push stands.
public struct PushProgress: Sendable, Equatable {
  public var push: StoredPush
  public var targeted: Int
  public var counts: [OutcomeKind: Int]
  public var reports: [ReportKind: Int]
  /// The push that was accepted with it (`StoredPush.companionOf`).
  public var companion: Int64?
  /// The in-app message that came in it.
  public var message: MessageProgress?
  /// Why it waits, for an operator; nil when it does not.
  public var waiting: String?
  public var control: PushControl
  /// nil until every device of it ended.
  public var finishedAt: Instant?

  public init(
    push: StoredPush, targeted: Int, counts: [OutcomeKind: Int], reports: [ReportKind: Int] = [:], waiting: String?,
    control: PushControl = .running, finishedAt: Instant?
  ) {
    self.push = push
    self.targeted = targeted
    self.counts = counts
    self.reports = reports
    self.waiting = waiting
    self.control = control
    self.finishedAt = finishedAt
  }
}
