import Audience
import Basics

/// Whether an app's pushes may leave for an environment, or wait because what is wrong is wrong for all of them: a
/// credential refused (C26), a topic that is not the app's (C37).
///
///     open ──suspended, or wrong topic for many and right for none──▶ closed until … ──time passed, resumed──▶ open to try
///
/// The wait doubles from 5 s to 5 min while nothing is accepted. A value; times are uptime.
struct SendingGate: Equatable {
  private(set) var reason: String?
  private var closedUntil: Instant.Span?
  private var wait = Self.shortestWait
  private var wrongTopics = 0
  private var lastAccepted: Instant.Span?

  static let shortestWait = Instant.Span.seconds(5)
  static let longestWait = Instant.Span.minutes(5)
  /// Answers in a row that are taken for a fault of the app and not of the devices: few while nothing was accepted
  /// lately, more when something was.
  static let wrongTopicLimit = 8
  static let wrongTopicLimitWhenTrusted = 64
  static let trustedFor = Instant.Span.minutes(10)

  /// Answers that speak of the app's topic, not of a token.
  static func isWrongTopic(_ reason: String) -> Bool {
    ["DeviceTokenNotForTopic", "TopicDisallowed", "BadTopic", "MissingTopic"].contains(reason)
  }

  enum Change: Equatable {
    case none
    /// Tell an operator, once.
    case alarm(String)
    case alarmOver
  }

  /// How long to wait and why; nil when pushes may leave.
  func closed(at uptime: Instant.Span) -> (reason: String, wait: Instant.Span)? {
    guard let reason, let closedUntil, uptime < closedUntil else { return nil }
    return (reason, Instant.Span(milliseconds: closedUntil.milliseconds - uptime.milliseconds))
  }

  mutating func suspend(_ reason: String, at uptime: Instant.Span) -> Change {
    if closed(at: uptime) != nil { return .none }  // those that left together count once
    let isNew = self.reason == nil
    self.reason = reason
    closedUntil = Instant.Span(milliseconds: uptime.milliseconds + wait.milliseconds)
    wait = min(Instant.Span(milliseconds: wait.milliseconds * 2), Self.longestWait)
    wrongTopics = 0
    return isNew ? .alarm(reason) : .none
  }

  /// An operator has mended something: the next push tries at once. Still an alarm, until one is accepted.
  mutating func resume() {
    closedUntil = nil
    wait = Self.shortestWait
  }

  mutating func accepted(at uptime: Instant.Span) -> Change {
    let wasClosed = reason != nil
    reason = nil
    closedUntil = nil
    wait = Self.shortestWait
    wrongTopics = 0
    lastAccepted = uptime
    return wasClosed ? .alarmOver : .none
  }

  /// `count` answers of a wrong topic to a push; whether they are to be taken as the app's fault, so that those devices
  /// wait. A push that has waited for that already, while others were accepted since, is wrong by itself.
  mutating func wrongTopic(
    _ count: Int, _ reason: String, hasWaited: Bool, at uptime: Instant.Span
  ) -> (waits: Bool, change: Change) {
    let isTrusted = lastAccepted.map { uptime.milliseconds - $0.milliseconds < Self.trustedFor.milliseconds } ?? false
    if isTrusted, hasWaited { return (false, .none) }
    wrongTopics += count
    let limit = isTrusted ? Self.wrongTopicLimitWhenTrusted : Self.wrongTopicLimit
    guard wrongTopics >= limit || self.reason != nil else { return (false, .none) }
    return (true, suspend(reason, at: uptime))
  }
}

/// The gates of all apps.
final class SendingGates: Sendable {
  struct Key: Hashable, Sendable {
    var app: Int64
    var environment: APNSEnvironment
    /// What of one kind is refused for may be right for another.
    var topicSuffix = ""
  }

  private let gates = Locked<[Key: SendingGate]>([:])

  func closed(_ key: Key, at uptime: Instant.Span) -> (reason: String, wait: Instant.Span)? {
    gates.withLock { $0[key]?.closed(at: uptime) }
  }

  func change<Result: Sendable>(_ key: Key, _ body: @Sendable (inout SendingGate) -> Result) -> Result {
    gates.withLock { body(&$0[key, default: SendingGate()]) }
  }

  func resume() {
    gates.withLock { gates in
      for key in gates.keys { gates[key]?.resume() }
    }
  }

  var closedCount: Int { gates.withLock { $0.values.count { $0.reason != nil } } }
}
