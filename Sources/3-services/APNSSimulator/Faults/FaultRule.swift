public import Basics
public import PushPayload

/// A trouble that the simulator makes on demand: when, what, and how often. Rules stand in order; of those that are due
/// for a request, the first one with an action on its answer applies, and the first with an action on its connection.
/// A rule counts every request that its conditions name, also one that an earlier rule took.
public struct FaultRule: Hashable, Sendable {
  /// Unique among the rules in force; stands in the log of what it did.
  public var id: String
  public var conditions: Conditions
  public var action: FaultAction
  /// Applies at most so often; nil for no end.
  public var limit: Int?

  public init(_ id: String, _ action: FaultAction, when conditions: Conditions = Conditions(), limit: Int? = nil) {
    self.id = id
    self.conditions = conditions
    self.action = action
    self.limit = limit
  }

  /// When a rule is due. All that is set must hold.
  public struct Conditions: Hashable, Sendable {
    /// Whose requests; nil for all. A topic is compared with `apns-topic`, suffix and all; with the bundle id in the path of
    /// a broadcast or of channel management.
    public var tokens: Set<[UInt8]>?
    public var devices: Set<String>?
    public var topics: Set<String>?
    public var environments: Set<SimulatedEnvironment>?
    /// Where pushes and broadcasts go, or where channels are managed; nil for both.
    public var ports: Set<Port>?
    /// Broadcasts on these channels, and what is asked about them.
    public var channels: Set<String>?
    /// By the header; without one, by the topic's suffix, else `alert`. Broadcasts and channels are `liveactivity`.
    public var pushTypes: Set<PushType>?

    /// What `after`, `first` and `every` count in.
    public var per = Count.all
    /// So many matching requests pass first.
    public var after = 0
    /// Then only the next so many are meant.
    public var first: Int?
    /// Of those each N-th: 1 for all.
    public var every = 1
    /// Of those this part, by the rule's own dice: 0 to 1.
    public var rate: Double?
    public var schedule = Schedule()

    public init() {}

    /// Whether only a request can tell.
    var namesRequests: Bool {
      tokens != nil || devices != nil || topics != nil || pushTypes != nil || channels != nil || per == .token
    }

    /// Whether it takes requests (or connections) to be counted or diced.
    var counts: Bool { after != 0 || first != nil || every != 1 || rate != nil }
  }

  /// The two kinds of listeners for providers, each in both environments.
  public enum Port: String, CaseIterable, Hashable, Sendable {
    case push
    case manage
  }

  public enum Count: String, CaseIterable, Hashable, Sendable {
    case all
    case connection
    /// Of a broadcast: its channel.
    case token
  }

  /// A time of day, or a span since the rules were set.
  public enum Time: Hashable, Sendable {
    case at(Instant)
    case after(Instant.Span)

    func instant(start: Instant) -> Instant {
      switch self {
      case .at(let instant): instant
      case .after(let span): start + span
      }
    }
  }

  /// When a rule is in force: from one time until another, in windows that come again.
  public struct Schedule: Hashable, Sendable {
    public var from: Time?
    public var until: Time?
    /// Every so long, counted from `from`, for so long.
    public var every: Instant.Span?
    public var lasting: Instant.Span?

    public init() {}

    func isInForce(at now: Instant, start: Instant) -> Bool {
      let begin = from?.instant(start: start) ?? start
      guard now >= begin || from == nil, until.map({ now < $0.instant(start: start) }) ?? true else { return false }
      guard let every, let lasting, every.milliseconds > 0, now >= begin else { return true }
      return (now - begin).milliseconds % every.milliseconds < lasting.milliseconds
    }

    /// The next time after `now` when it comes into force or goes out of it; nil for never.
    func nextChange(after now: Instant, start: Instant) -> Instant? {
      let begin = from?.instant(start: start) ?? start
      let end = until?.instant(start: start)
      if let end, now >= end { return nil }
      if now < begin { return begin }
      var next = end
      if let every, let lasting, every.milliseconds > 0, lasting < every {
        let into = (now - begin).milliseconds % every.milliseconds
        let border = into < lasting.milliseconds ? lasting.milliseconds : every.milliseconds
        let change = now + .milliseconds(border - into)
        next = next.map { min($0, change) } ?? change
      }
      return next
    }
  }
}
