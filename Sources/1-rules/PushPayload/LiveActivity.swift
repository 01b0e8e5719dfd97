public import Basics

/// One Live Activity as a phone keeps it, from its start until it leaves the Lock Screen.
///
///     started ──▶ active ──end, or 8 h──▶ ended ──dismissal──▶ dismissed
///
/// A value: no clock, no token, no screen. What a push changes and what time changes both come as events; the effects say
/// what a phone shows then. Events must come in the order of time. (Apple, "Starting and updating Live Activities with
/// ActivityKit push notifications"; spec apns.md §12)
public struct LiveActivity: Hashable, Sendable {
  public enum Event: Hashable, Sendable {
    /// A push by the update token, or a broadcast on its channel.
    case push(Payload)
    /// The app itself changed it.
    case appUpdated(JSONObject, staleDate: Instant?, relevanceScore: Double? = nil)
    case appEnded(JSONObject?, Dismissal)
    /// The user swiped it away.
    case userDismissed
    /// Nothing but time passed.
    case timePassed
  }

  public enum Effect: Hashable, Sendable {
    /// The content is another now.
    case updated
    /// The phone lights up, with sound.
    case alerted(Payload.Alert)
    case becameStale(at: Instant)
    /// No push changes it any more; it stays until its dismissal.
    case ended(at: Instant, Ending)
    case dismissed(at: Instant)
    case ignored(Ignored)
  }

  public enum State: Hashable, Sendable {
    /// Then: ended.
    case active
    /// Shown as it was last. Then: dismissed, at `until`.
    case ended(at: Instant, Ending, until: Instant)
    case dismissed(at: Instant)
  }

  public enum Ending: String, CaseIterable, Sendable {
    case push, app, age, user
  }

  /// When an ended activity leaves the Lock Screen.
  public enum Dismissal: Hashable, Sendable {
    /// The system's own time, at most four hours.
    case standard
    case at(Instant)
  }

  /// Numbers that Apple names in prose or not at all.
  public struct Rules: Hashable, Sendable {
    /// The system ends an activity that old. Apple: eight hours.
    public var activeLife = Instant.Span.hours(8)
    /// An ended one stays no longer. Apple: four hours.
    public var longestStay = Instant.Span.hours(4)
    public init() {}
  }

  public let attributesType: String
  public let attributes: JSONObject
  /// The channel that its broadcasts come by; nil for one that is updated by token.
  public let channel: String?
  public let startedAt: Instant
  public internal(set) var contentState: JSONObject
  /// `timestamp` of the newest push applied, in seconds since 1970; nil for one that the app started.
  public internal(set) var timestamp: Double?
  /// The highest owns the Dynamic Island; any number.
  public internal(set) var relevanceScore: Double?
  public internal(set) var staleDate: Instant?
  public internal(set) var changedAt: Instant
  public internal(set) var state = State.active
  var isStaleTold = false

  /// One that the app starts itself.
  public init(
    attributesType: String, attributes: JSONObject, contentState: JSONObject, channel: String? = nil,
    staleDate: Instant? = nil, relevanceScore: Double? = nil, startedAt: Instant
  ) {
    self.attributesType = attributesType
    self.attributes = attributes
    self.channel = channel
    self.startedAt = startedAt
    self.contentState = contentState
    self.staleDate = staleDate
    self.relevanceScore = relevanceScore
    changedAt = startedAt
  }

  /// Whether its content counts as outdated now.
  public func isStale(at now: Instant) -> Bool {
    guard case .active = state, let staleDate else { return false }
    return staleDate <= now
  }

  /// When time alone will change something; nil once it is dismissed.
  public func nextDue(_ rules: Rules = Rules()) -> Instant? {
    switch state {
    case .active:
      let end = startedAt + rules.activeLife
      guard let staleDate, !isStaleTold else { return end }
      return min(staleDate, end)
    case .ended(_, _, let until): return until
    case .dismissed: return nil
    }
  }

  /// Takes one event at `now`; what time has changed by then comes first.
  public mutating func handle(_ event: Event, at now: Instant, rules: Rules = Rules()) -> [Effect] {
    let timely = settle(now, rules)
    switch event {
    case .push(let payload): return timely + take(payload, now, rules)
    case .appUpdated(let content, let staleDate, let relevanceScore):
      if let ignored = ignoredWhenOver { return timely + [.ignored(ignored)] }
      self.relevanceScore = relevanceScore
      return timely + update(content, staleDate: staleDate, now)
    case .appEnded(let content, let dismissal):
      if let ignored = ignoredWhenOver { return timely + [.ignored(ignored)] }
      if let content { contentState = content }
      return timely + end(.app, dismissal, now, rules)
    case .userDismissed:
      switch state {
      case .active:
        state = .dismissed(at: now)
        return timely + [.ended(at: now, .user), .dismissed(at: now)]
      case .ended:
        state = .dismissed(at: now)
        return timely + [.dismissed(at: now)]
      case .dismissed: return timely
      }
    case .timePassed: return timely
    }
  }

  private var ignoredWhenOver: Ignored? {
    switch state {
    case .active: nil
    case .ended(let at, _, _): .alreadyEnded(at: at)
    case .dismissed(let at): .alreadyDismissed(at: at)
    }
  }

  /// What has become due: stale, ended by age, dismissed; each at its own time, however late it is asked for.
  private mutating func settle(_ now: Instant, _ rules: Rules) -> [Effect] {
    var effects: [Effect] = []
    while let due = nextDue(rules), due <= now {
      switch state {
      case .active where due == startedAt + rules.activeLife:
        effects += end(.age, .standard, due, rules)
      case .active:
        isStaleTold = true
        effects.append(.becameStale(at: due))
      case .ended:
        state = .dismissed(at: due)
        effects.append(.dismissed(at: due))
      case .dismissed: return effects
      }
    }
    return effects
  }

  private mutating func take(_ payload: Payload, _ now: Instant, _ rules: Rules) -> [Effect] {
    guard let push = payload.liveActivity, let event = push.event else { return [.ignored(.noEvent)] }
    guard let time = push.timestamp else { return [.ignored(.noTimestamp)] }
    if let ignored = ignoredWhenOver { return [.ignored(ignored)] }
    if let newest = timestamp, time < newest { return [.ignored(.older(time, than: newest))] }
    switch event {
    case .start: return [.ignored(.startOfRunning)]
    case .update:
      guard let content = push.contentState else { return [.ignored(.noContentState)] }
      timestamp = time
      relevanceScore = payload.relevanceScore ?? relevanceScore
      let updated = update(content, staleDate: push.staleDate.map(Instant.init(secondsSince1970:)), now)
      return payload.alert.map { updated + [.alerted($0)] } ?? updated
    case .end:
      timestamp = time
      if let content = push.contentState { contentState = content }
      return end(.push, push.dismissalDate.map { .at(Instant(secondsSince1970: $0)) } ?? .standard, now, rules)
    }
  }

  /// A new content has a stale date of its own, or none.
  private mutating func update(_ content: JSONObject, staleDate: Instant?, _ now: Instant) -> [Effect] {
    contentState = content
    self.staleDate = staleDate
    changedAt = now
    isStaleTold = false
    guard let staleDate, staleDate <= now else { return [.updated] }
    isStaleTold = true
    return [.updated, .becameStale(at: now)]
  }

  /// A dismissal that is past is now, and none is later than the longest stay allows.
  private mutating func end(_ ending: Ending, _ dismissal: Dismissal, _ now: Instant, _ rules: Rules) -> [Effect] {
    changedAt = now
    let latest = now + rules.longestStay
    let until =
      switch dismissal {
      case .standard: latest
      case .at(let instant): min(instant, latest)
      }
    guard until > now else {
      state = .dismissed(at: now)
      return [.ended(at: now, ending), .dismissed(at: now)]
    }
    state = .ended(at: now, ending, until: until)
    return [.ended(at: now, ending)]
  }
}

extension LiveActivity {
  /// Why a phone made nothing of a push.
  public enum Ignored: Hashable, Sendable {
    case noEvent
    case noTimestamp
    case noContentState
    case older(Double, than: Double)
    case startOfRunning
    case alreadyEnded(at: Instant)
    case alreadyDismissed(at: Instant)

    /// A clause for a log.
    public var words: String {
      switch self {
      case .noEvent: "it names no event that ActivityKit knows"
      case .noTimestamp: "it has no timestamp"
      case .noContentState: "it has no content-state"
      case .older(let time, let newest):
        "its timestamp \(JSONNumber(seconds: time).literal) is older than \(JSONNumber(seconds: newest).literal), the last applied"
      case .startOfRunning: "it asks to start, but came by the token of a running activity"
      case .alreadyEnded(let at): "the activity ended at \(at)"
      case .alreadyDismissed(let at): "the activity was dismissed at \(at)"
      }
    }
  }
}

extension Instant {
  /// From the numbers of a payload; never traps.
  public init(secondsSince1970 seconds: Double) {
    self.init(milliseconds: Int64(exactly: (seconds * 1000).rounded()) ?? (seconds < 0 ? .min : .max))
  }
}

extension JSONNumber {
  /// Whole seconds without a fraction; what no payload holds, as 0.
  init(seconds: Double) {
    self = Int64(exactly: seconds).map { JSONNumber($0) } ?? JSONNumber(seconds) ?? JSONNumber(0)
  }
}
