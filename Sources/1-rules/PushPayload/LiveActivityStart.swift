public import Basics

extension LiveActivity {
  /// What an iPhone can do with activities (spec apns.md §12).
  public enum Generation: Int, Comparable, CaseIterable, Sendable {
    /// Updates by token.
    case ios16
    /// From 17.2: also push-to-start.
    case ios17
    /// Also channels, and a token on request.
    case ios18

    public static func < (left: Generation, right: Generation) -> Bool { left.rawValue < right.rawValue }
  }

  /// Why a push did not start an activity.
  public enum Unstarted: Error, Hashable, Sendable {
    /// It is an update or an end: a push-to-start token has no activity that it could mean.
    case notAStart
    /// By the key of `aps`.
    case missing(String)
    /// The token is for another type of the app.
    case otherType(String, token: String)
    /// `input-push-channel` is no base64.
    case badChannel(String)
    case tooOld(Generation, needs: Generation)

    /// A clause for a log.
    public var words: String {
      switch self {
      case .notAStart: "only the event start means something to a push-to-start token"
      case .missing(let key): "a start needs \(key)"
      case .otherType(let found, let token):
        "attributes-type is \"\(found)\", the push-to-start token is of \"\(token)\""
      case .badChannel(let id): "input-push-channel \"\(id.prefix(40))\" is no base64"
      case .tooOld(_, .ios18): "channels need iOS 18"
      case .tooOld: "push-to-start needs iOS 17.2"
      }
    }
  }

  /// One that a push by a push-to-start token begins; the phone alerts with the payload's alert.
  ///
  /// - Parameter tokenType: the attributes type that the token was given for; nil to take any.
  public static func started(
    by payload: Payload, tokenType: String?, generation: Generation = .ios18, at now: Instant
  ) throws(Unstarted) -> LiveActivity {
    guard generation >= .ios17 else { throw .tooOld(generation, needs: .ios17) }
    guard let push = payload.liveActivity, let event = push.event else { throw .missing("event") }
    switch event {
    case .start: break
    case .update, .end: throw .notAStart
    }
    guard let time = push.timestamp else { throw .missing("timestamp") }
    guard let content = push.contentState else { throw .missing("content-state") }
    guard let type = push.attributesType, !type.isEmpty else { throw .missing("attributes-type") }
    guard let attributes = push.attributes else { throw .missing("attributes") }
    guard payload.alert != nil else { throw .missing("alert") }
    if let tokenType, tokenType != type { throw .otherType(type, token: tokenType) }
    if let channel = push.pushChannel {
      guard generation >= .ios18 else { throw .tooOld(generation, needs: .ios18) }
      guard ChannelID.isWellFormed(channel.utf8) else { throw .badChannel(channel) }
    }
    var activity = LiveActivity(
      attributesType: type, attributes: attributes, contentState: content, channel: push.pushChannel,
      staleDate: push.staleDate.map(Instant.init(secondsSince1970:)), startedAt: now)
    activity.timestamp = time
    activity.relevanceScore = payload.relevanceScore
    return activity
  }
}

/// The form of a broadcast channel's id: base64 that the server chose, of a length that Apple does not name.
public enum ChannelID {
  /// Longer ones cannot be meant. Ours.
  public static let longest = 256

  public static func isWellFormed(_ text: some BidirectionalCollection<UInt8>) -> Bool {
    !text.isEmpty && text.count <= longest && (bytes(fromBase64: text)?.isEmpty == false)
  }
}

/// How many pushes at priority 10 an app's activities on one phone may still take: iOS grants some an hour and does not
/// say how many; those at priority 5 are free. (Apple, "Starting and updating Live Activities with ActivityKit push
/// notifications")
public struct LiveActivityBudget: Hashable, Sendable {
  private var spent: [Instant] = []

  public init() {}

  /// False when `hourly` were taken within the last hour; such a push is dropped and costs nothing.
  public mutating func spend(_ priority: PushPriority, at now: Instant, hourly: Int) -> Bool {
    switch priority {
    case .considerate, .powerFirst: return true
    case .immediate: break
    }
    spent.removeAll { now - $0 >= .hours(1) }
    guard spent.count < hourly else { return false }
    spent.append(now)
    return true
  }
}
