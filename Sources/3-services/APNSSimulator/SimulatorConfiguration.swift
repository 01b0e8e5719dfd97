public import Basics
public import Transport

extension APNSSimulator {
  /// How a simulator is set up. The defaults suit a test: free ports, everything in memory.
  public struct Configuration: Sendable {
    /// Where providers connect: the sandbox, unless the client asks for the host `api.push.apple.com`.
    public var listen = Endpoint(host: "127.0.0.1", port: 0)
    /// A second port that is production whatever the host; nil for none.
    public var productionListen: Endpoint? = Endpoint(host: "127.0.0.1", port: 0)
    /// The control API and `/courier`; nil for none.
    public var control: Endpoint? = Endpoint(host: "127.0.0.1", port: 0)
    /// An HTTP CONNECT proxy that brings Apple's host names here, for libraries whose hosts are built in; nil for none.
    public var proxy: Endpoint?
    /// Where authority, keys, tokens and what waits are kept; nil for memory only. Made with mode 0700 if missing.
    public var dataFolder: String?
    /// Whose push certificate lies ready as a .p12 file.
    public var bundleID = "com.example.app"
    /// The time of tokens, expiry and 410; TLS goes by the machine's clock.
    public var clock: any WallClock = SystemClock()
    /// For device tokens and delays; nil throws real dice.
    public var seed: UInt64?
    /// Loops (threads) that serve providers.
    public var loops = 1
    public var limits = Limits()
    /// After a push met a dead token for the first time, 410 begins within this.
    public var goneDelay: ClosedRange<Instant.Span> = .seconds(1) ... .seconds(10)
    /// When what leaves for a phone.
    public var delivery = DeliveryRules()
    /// Bytes of a device token, 1 to 100: Apple promises no size (spec apns.md §10).
    public var tokenSize = 32
    /// Push type and topic suffix must agree, else `BadTopic`.
    public var isTopicSuffixStrict = true
    /// `background` at priority 10 is `BadPriority`.
    public var isBackgroundPriorityStrict = false
    /// A body that is no JSON object is `PayloadEmpty`; off: 200, and it goes out as it is.
    public var isJSONRequired = true
    /// How far `iat` of a provider token may lie ahead.
    public var tokenAhead = Instant.Span.minutes(5)
    /// After `ExpiredProviderToken` a connection takes no token any more, as some have found; off: a fresh one mends it.
    public var isWedgedByExpiredToken = false
    public var keyEnvironmentSpelling = KeyEnvironmentSpelling.wire
    /// Pushes kept for `GET /notifications`; older ones are forgotten first.
    public var logCapacity = 10_000
    /// More keys that may sign, beside the one that is made.
    public var keys: [ProviderKey] = []
    /// Troubles on demand (docs/faults.md).
    public var faults = Faults()
    /// Told of each refused push, on a loop: must return at once.
    public var onRefusal: (@Sendable (LoggedRefusal) -> Void)?

    public var channels = Channels()
    public var liveActivities = LiveActivities()

    public init() {}

    var checkRules: RequestChecks.Rules {
      var rules = RequestChecks.Rules()
      rules.isTopicSuffixStrict = isTopicSuffixStrict
      rules.isBackgroundPriorityStrict = isBackgroundPriorityStrict
      rules.isJSONRequired = isJSONRequired
      rules.trust.tokenAhead = tokenAhead
      rules.trust.isWedgedByExpiry = isWedgedByExpiredToken
      return rules
    }

    var stateRules: ServiceState.Rules {
      var rules = ServiceState.Rules()
      rules.goneDelay = goneDelay.lowerBound.milliseconds...goneDelay.upperBound.milliseconds
      rules.requestsPerToken = limits.requestsPerToken
      rules.logCapacity = logCapacity
      rules.delivery = delivery
      rules.tokenSize = min(max(tokenSize, 1), 100)
      rules.channels = channels.rules
      rules.activities = liveActivities.rules
      return rules
    }
  }
}

extension APNSSimulator.Configuration {
  /// The faults to begin with; `setFaults` and the control API change them.
  public struct Faults: Sendable {
    public var rules: [FaultRule] = []
    /// For rates and jitter: the same seed and the same order of requests give the same faults. nil takes the
    /// simulator's own.
    public var seed: UInt64?
    /// Reads the rules again where they came from, for `POST /faults/reload`; nil when they came from no file.
    public var reload: (@Sendable () throws -> [FaultRule])?
    /// Told of each fault that happened, on a loop: must return at once.
    public var onFault: (@Sendable (AppliedFault) -> Void)?

    public init() {}
  }
}

/// Why a simulator did not start; a sentence for a person. Holds no secret.
public struct SimulatorFault: Error, Hashable, Sendable, CustomStringConvertible {
  public let what: String
  public let remedy: String

  public init(what: String, remedy: String) {
    self.what = what
    self.remedy = remedy
  }

  public var description: String { "\(what). \(remedy)" }
}
