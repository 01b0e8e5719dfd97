public import Basics

extension APNSSimulator {
  /// How much one connection, one device token and all together may ask for. Apple publishes few of these numbers: each
  /// can be set, and each part turned off.
  public struct Limits: Sendable {
    /// MAX_CONCURRENT_STREAMS of a connection that has proved who it is.
    public var streams: UInt32 = 1000
    /// One stream until the first valid provider token; off: all of `streams` at once.
    public var isFirstStreamGated = true
    /// A refused push takes the limit down to one stream until the next one is taken.
    public var narrowsAfterRefusal = true
    /// Errors at which a connection gets GOAWAY and is closed: `BadDeviceToken` counts 5, any other 4xx 1, 410 nothing; a
    /// push that is taken pays 1 back. nil for never.
    public var errorBudget: Int? = 500
    public var overrun = Overrun.queue
    /// Without a request and without a PING for so long a connection gets GOAWAY `IdleTimeout`; nil for never.
    public var idleTimeout: Instant.Span? = .hours(1)
    /// The first answer of a connection, and the GOAWAY for a bad certificate, are not given sooner. curl up to 7.88
    /// (Debian 12's) takes an answer without body that comes before it waits for one for a broken stream; Apple, far away,
    /// is never that fast.
    public var firstAnswerDelay = Instant.Span.milliseconds(5)
    /// The most requests to one device token a minute, then `TooManyRequests`; nil for no limit.
    public var requestsPerToken: Int? = 1000
    /// The most requests a second of all connections together, then `ServiceUnavailable`; nil for no limit.
    public var requestsPerSecond: Int?

    public init() {}

    var standing: ConnectionStanding.Rules {
      var rules = ConnectionStanding.Rules()
      rules.limit = streams
      rules.isGated = isFirstStreamGated
      rules.narrowsAfterRefusal = narrowsAfterRefusal
      rules.errorBudget = errorBudget
      return rules
    }
  }

  /// What becomes of streams above the limit once the client has acknowledged it; before, they always wait.
  public enum Overrun: String, CaseIterable, Sendable {
    /// They wait for their turn. aioapns never recovers from RST_STREAM.
    case queue
    /// RST_STREAM with REFUSED_STREAM, which tells a client that it may send the same again.
    case refuse
  }
}
