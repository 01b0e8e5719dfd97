public import Basics

/// The headers of a push to `/3/device` as they came on the wire, unjudged; `faults()` judges them (spec apns.md §4, §5).
public struct PushHeaders: Hashable, Sendable {
  public var id: String?
  public var topic: String?
  public var pushType: String?
  public var priority: String?
  public var expiration: String?
  public var collapseID: String?
  /// `apns-channel-id` and `apns-request-id`, of broadcasts only.
  public var channelID: String?
  public var requestID: String?
  /// Names (lower case) of `apns-` headers and `authorization` that came more than once; of those the first value is kept.
  public private(set) var repeated: [String] = []
  /// Names beginning with `apns-` that `/3/device` does not know.
  public private(set) var unknown: [String] = []

  public init(
    id: String? = nil, topic: String? = nil, pushType: String? = nil, priority: String? = nil,
    expiration: String? = nil, collapseID: String? = nil
  ) {
    self.id = id
    self.topic = topic
    self.pushType = pushType
    self.priority = priority
    self.expiration = expiration
    self.collapseID = collapseID
  }

  /// Takes the headers it knows out of all that came; names in any case.
  public init(fields: some Sequence<(name: String, value: String)>) {
    var seen: Set<String> = []
    for (name, value) in fields {
      let name = name.lowercased()
      guard name.hasPrefix("apns-") || name == "authorization" else { continue }
      guard seen.insert(name).inserted else {
        if !repeated.contains(name) { repeated.append(name) }
        continue
      }
      switch Name(rawValue: name) {
      case .id: id = value
      case .topic: topic = value
      case .pushType: pushType = value
      case .priority: priority = value
      case .expiration: expiration = value
      case .collapseID: collapseID = value
      case .authorization: break
      case .requestID:
        requestID = value
        unknown.append(name)
      case .channelID:
        channelID = value
        unknown.append(name)
      case .uniqueID, nil: unknown.append(name)
      }
    }
  }

  /// Takes one that `/3/device` does not know, by its name in lower case.
  public mutating func add(unknown name: String) { unknown.append(name) }

  public enum Name: String, CaseIterable, Sendable {
    case id = "apns-id"
    case topic = "apns-topic"
    case pushType = "apns-push-type"
    case priority = "apns-priority"
    case expiration = "apns-expiration"
    case collapseID = "apns-collapse-id"
    case authorization
    /// Of the channel and broadcast interfaces.
    case requestID = "apns-request-id"
    case channelID = "apns-channel-id"
    /// Only in answers.
    case uniqueID = "apns-unique-id"
  }

  public var isEmpty: Bool {
    id == nil && topic == nil && pushType == nil && priority == nil && expiration == nil && collapseID == nil
      && channelID == nil && requestID == nil && repeated.isEmpty && unknown.isEmpty
  }

  /// nil when absent or not a type that APNs knows.
  public var knownPushType: PushType? { pushType.flatMap(PushType.init(rawValue:)) }

  /// 10 when absent; nil when illegal.
  public var knownPriority: PushPriority? {
    guard let priority else { return .immediate }
    return PushPriority.allCases.first { String($0.rawValue) == priority }
  }

  /// nil when unreadable.
  public var knownExpiration: Expiration? {
    guard let expiration else { return .unstated }
    guard !expiration.isEmpty, expiration.utf8.allSatisfy(\.isDigit), let seconds = Int64(expiration) else {
      return nil
    }
    return seconds == 0 ? .once : .at(Instant(seconds: seconds))
  }

  /// How long APNs may keep a push for a phone that is away.
  public enum Expiration: Hashable, Sendable {
    /// No header: Apple's own policy, at most 30 days.
    case unstated
    /// `0`: one attempt, never stored.
    case once
    case at(Instant)
  }

  /// Bytes of UTF-8 that `apns-collapse-id` may have.
  public static let collapseIDLimit = 64
}

/// What APNs would refuse, or what would surprise its sender, in one header.
public struct HeaderFault: Error, Hashable, Sendable {
  public let code: LintCode
  public let severity: Severity
  public let header: PushHeaders.Name
  /// Apple's word for it in a 400 answer; nil when APNs takes the push all the same.
  public let reason: RefusalReason?
  /// What was found; a sentence without its full stop.
  public let found: String
  /// What APNs or the phone does then; a sentence.
  public let effect: String
  /// What to send instead; a sentence.
  public let fix: String
}
