import Audience
import Basics
public import PushPayload
import Store

/// What a push carries in place of a notification. It goes to a token of its own beside the device's, and neither waits
/// in quiet hours nor heeds the preference for the scheduled push: the user asked for the call, or for the activity.
public enum SpecialContent: Sendable, Equatable {
  /// To the VoIP token, with these keys as given.
  case voip(JSONObject)
  case liveActivity(LiveActivityContent)
  /// An update or an end to everybody who listens to the channel; of the audience nothing is meant.
  case broadcast(LiveActivityContent, channel: String)
}

/// A start, update or end of Live Activities.
public struct LiveActivityContent: Sendable, Equatable {
  /// Its timestamp is set when the push is accepted.
  public var push: LiveActivityPush
  /// 10 counts against what iOS grants an app an hour, 5 does not.
  public var priority: PushPriority
  /// The id under which devices told their update tokens; nil for a start, which goes to push-to-start tokens.
  public var activity: String?

  public init(_ push: LiveActivityPush, priority: PushPriority = .immediate, activity: String? = nil) {
    self.push = push
    self.priority = priority
    self.activity = activity
  }
}

extension LiveActivityContent {
  /// What becomes of which Live Activity.
  var words: String {
    switch push.event {
    case .start(let start): "start of Live Activities of \(start.attributesType.prefix(64))"
    case .update: "update of the Live Activity\(activity.map { " \($0)" } ?? "")"
    case .end: "end of the Live Activity\(activity.map { " \($0)" } ?? "")"
    }
  }
}

extension SpecialContent {
  var address: PushAddress {
    switch self {
    case .voip: return .special(.voip)
    case .liveActivity(let content):
      if let id = content.activity { return .special(.activity(id: id)) }
      switch content.push.event {
      case .start(let start): return .special(.activityStart(type: start.attributesType))
      case .update, .end: return .special(.activity(id: ""))
      }
    case .broadcast(_, let channel): return .channel(channel)
    }
  }
}

extension PushOrder {
  /// What it brings, for the audit log.
  var contents: String {
    let shown =
      switch special {
      case .voip: "a call"
      case .liveActivity(let content): content.words
      case .broadcast(let content, _): "\(content.words) on a channel"
      case nil: "a notification"
      }
    let parts = [isMessageAlone ? nil : shown, message == nil ? nil : "a message", voip == nil ? nil : "a call"]
    return parts.compactMap(\.self).joined(separator: " and ")
  }

  /// Whom it means: with a special content those of the audience who have a token for it.
  var meant: AudienceExpression {
    switch special?.address {
    case nil, .device, .channel: audience
    case .special(let purpose): audience == .everyone ? .holds(purpose) : .all([.holds(purpose), audience])
    }
  }
}

extension PushDraft {
  /// A call is of no use later; it waits this long for its turn here.
  private static let callWait = Instant.Span.minutes(1)

  static func special(
    _ content: SpecialContent, _ order: PushOrder, at now: Instant
  ) throws(RequestFault) -> PushDraft {
    switch content {
    case .voip(let object):
      var draft = PushDraft(payload: object, pushType: .voip, priority: .immediate)
      draft.size = try size(object, .voip, .none, place: "notification.voip")
      try draft.setEnd(order.timeToLive ?? 0, at: now, wait: callWait)
      return draft
    case .liveActivity(let content):
      var draft = try activity(content, isBroadcast: false, at: now)
      draft.size = try size(draft.payload, .liveactivity, .none, place: "live_activity")
      try draft.setEnd(order.timeToLive ?? usualTimeToLive, at: now, wait: shortestWait)
      return draft
    case .broadcast(let content, _):
      var draft = try activity(content, isBroadcast: true, at: now)
      draft.size = JSONValue.object(draft.payload).encoded().count
      try draft.setEnd(order.timeToLive ?? BroadcastSender.longestStorage, at: now, wait: shortestWait)
      return draft
    }
  }

  private static func activity(
    _ content: LiveActivityContent, isBroadcast: Bool, at now: Instant
  ) throws(RequestFault) -> PushDraft {
    var push = content.push
    push.timestamp = now
    let errors = push.findings(isBroadcast: isBroadcast, at: now).filter { $0.severity == .error }
    // how large it is as a push to devices is judged apart, with what is added to it
    if let finding = errors.first(where: { isBroadcast || $0.code != .overLimit }) {
      throw RequestFault(
        .invalidParameter, at: finding.path.description, found: finding.message,
        remedy: "\(finding.effect) \(finding.fix)")
    }
    return PushDraft(payload: push.json.object ?? [:], pushType: .liveactivity, priority: content.priority)
  }
}
