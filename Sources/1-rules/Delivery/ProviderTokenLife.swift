public import Basics
public import PushPayload

/// The life of one key's provider token (JWT): made once for all connections, kept 50 minutes, never made in reaction
/// to many refusals at once, and held back when APNs refuses what was made just now.
///
///     none ──wanted──▶ fresh ──50 min──▶ fresh (next generation)
///                        └──refused──▶ held ──wanted, 20 min later──▶ fresh (a probe)
///
/// Rules: a token older than an hour is refused, one renewed more than once in 20 minutes on a connection too (Apple,
/// "Establishing a token-based connection to APNs"). Age is measured by uptime, so that setting the clock neither ages
/// nor rejuvenates it; a clock that is wrong shows when APNs refuses a young token, and is then named with the distance
/// from the answer's date, once (cases C26, C27).
public struct ProviderTokenLife: Sendable {
  /// Counts the tokens made; an answer to an older one says nothing about the current.
  public struct Generation: Hashable, Comparable, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    public static func < (left: Generation, right: Generation) -> Bool { left.rawValue < right.rawValue }
  }

  public enum Event: Equatable, Sendable {
    /// A push is about to leave.
    case wanted
    /// APNs accepted a push under it.
    case accepted(Generation)
    /// 403 with a reason of class `newToken` or `credential`; `theirDate` from the answer's `date` header, if any.
    case refused(Generation, RefusalReason, theirDate: Instant?)
    /// The operator has mended something.
    case resumed
  }

  public enum Effect: Equatable, Sendable {
    /// Sign a token that says it was issued at this time.
    case sign(issuedAt: Instant, Generation)
    /// Send with this one.
    case use(Generation)
    /// Send nothing.
    case hold(Trouble)
    /// Tell the operator; said once for each trouble.
    case alarm(Trouble)
  }

  /// What an operator must look at.
  public enum Trouble: Hashable, Sendable {
    /// A young token was refused for its age. Positive when our clock is ahead; nil when the answer had no date.
    case clock(ahead: Instant.Span?)
    /// Key id, team id and file do not belong together, or the key was revoked.
    case credential(RefusalReason)
  }

  public struct Settings: Equatable, Sendable {
    /// Age at which it is renewed. Default 50 minutes; APNs allows 20 to 60.
    public var renewal = Instant.Span.minutes(50)
    /// How long a refused key is held back before a push tries again. Default 20 minutes, the least that APNs allows
    /// between two tokens.
    public var probe = Instant.Span.minutes(20)
    /// Clocks that differ by less are called right. Default 2 minutes.
    public var tolerance = Instant.Span.minutes(2)
    public init() {}
  }

  private struct Token {
    var generation: Generation
    var issuedAt: Instant
    var madeAt: Instant.Span
  }

  private enum State {
    case none
    /// Good as far as we know. Then: fresh, held.
    case fresh(Token)
    /// Refused. Then: fresh, as a probe.
    case held(Token, Trouble, since: Instant.Span)
  }

  public let settings: Settings
  private var state = State.none
  private var made: UInt32 = 0
  /// The trouble that was told and not overcome since.
  private var told: Trouble?

  public init(_ settings: Settings = Settings()) { self.settings = settings }

  /// Refused, and not tried again yet.
  public var isHeld: Bool {
    switch state {
    case .held: true
    case .none, .fresh: false
    }
  }

  /// By uptime; nil before the first token.
  public func tokenAge(at moment: Moment) -> Instant.Span? {
    switch state {
    case .none: nil
    case .fresh(let token), .held(let token, _, _): moment.uptime - token.madeAt
    }
  }

  public mutating func handle(_ event: Event, at moment: Moment) -> [Effect] {
    switch (state, event) {
    case (.none, .wanted):
      return sign(moment)
    case (.fresh(let token), .wanted):
      return moment.uptime - token.madeAt >= settings.renewal ? sign(moment) : [.use(token.generation)]
    case (.held(let token, let trouble, let since), .wanted):
      if moment.uptime - since >= settings.probe || clockWasSet(since: token, moment) { return sign(moment) }
      return [.hold(trouble)]

    case (.fresh(let token), .accepted(let generation)):
      if token.generation == generation { told = nil }
      return []
    case (.none, .accepted), (.held, .accepted):
      return []

    case (.fresh(let token), .refused(let generation, let reason, let theirDate)):
      guard token.generation == generation else { return [.use(token.generation)] }
      return refused(token, reason, theirDate, moment)
    case (.held(_, let trouble, _), .refused):
      return [.hold(trouble)]
    case (.none, .refused):
      return []

    case (.held, .resumed), (.fresh, .resumed), (.none, .resumed):
      if case .held = state { state = .none }
      told = nil
      return []
    }
  }

  private mutating func refused(_ token: Token, _ reason: RefusalReason, _ theirDate: Instant?, _ moment: Moment)
    -> [Effect]
  {
    let age = moment.uptime - token.madeAt
    // it was signed by a clock that has been set since, or it is really old: a new one helps
    if reason.handling == .newToken, age >= settings.probe || clockWasSet(since: token, moment) { return sign(moment) }
    let ahead = theirDate.map { moment.wall - $0 }
    let clockIsOff = ahead.map { abs($0.milliseconds) > settings.tolerance.milliseconds } ?? false
    let trouble: Trouble = reason.handling == .newToken || clockIsOff ? .clock(ahead: ahead) : .credential(reason)
    state = .held(token, trouble, since: moment.uptime)
    guard !isTold(trouble) else { return [.hold(trouble)] }
    told = trouble
    return [.alarm(trouble), .hold(trouble)]
  }

  /// A clock that is off is told once, whatever the seconds by which the distance changed meanwhile.
  private func isTold(_ trouble: Trouble) -> Bool {
    switch (told, trouble) {
    case (nil, _), (.clock, .credential), (.credential, .clock): false
    case (.clock, .clock): true
    case (.credential(let before), .credential(let now)): before == now
    }
  }

  /// Whether the time of day moved against the uptime since the token was signed.
  private func clockWasSet(since token: Token, _ moment: Moment) -> Bool {
    let moved = (moment.wall - token.issuedAt) - (moment.uptime - token.madeAt)
    return abs(moved.milliseconds) > settings.tolerance.milliseconds
  }

  private mutating func sign(_ moment: Moment) -> [Effect] {
    made &+= 1
    let token = Token(
      generation: Generation(rawValue: made), issuedAt: moment.wall, madeAt: moment.uptime)
    state = .fresh(token)
    return [.sign(issuedAt: moment.wall, token.generation), .use(token.generation)]
  }
}

extension ProviderTokenLife.Trouble {
  /// For the operator: what is wrong and what to do. Names no secret.
  public func words(credential name: String) -> String {
    switch self {
    case .clock(let ahead?) where ahead.milliseconds != 0:
      let minutes = (abs(ahead.milliseconds) + 30_000) / 60_000
      let side = ahead.milliseconds > 0 ? "ahead of" : "behind"
      return
        "this machine's clock is \(minutes) minutes \(side) APNs', so APNs refuses every provider token of \(name); "
        + "set the clock"
    case .clock:
      return "APNs calls a provider token of \(name) too old that was made just now; check this machine's clock"
    case .credential(let reason):
      return "APNs refuses \(name): \(reason.rawValue). \(reason.remedy)"
    }
  }
}
