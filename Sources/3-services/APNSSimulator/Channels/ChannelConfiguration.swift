public import Transport

extension APNSSimulator.Configuration {
  /// Broadcast channels (docs/apns-simulator.md, "Broadcast channels"). The defaults are Apple's.
  public struct Channels: Sendable {
    /// Where channels of the sandbox are managed; nil for nowhere.
    public var listen: Endpoint? = Endpoint(host: "127.0.0.1", port: 0)
    /// The same of production.
    public var productionListen: Endpoint? = Endpoint(host: "127.0.0.1", port: 0)
    /// Of one app in one environment; one more is `CannotCreateChannelConfig`.
    public var most = 10_000
    /// Whether apps may broadcast that nobody switched on or off by `PUT /apps/{bundle}/broadcast`; at Apple each App ID
    /// is switched on by hand.
    public var isEnabled = true
    /// The most broadcasts to one channel a minute; nil for no limit (Apple publishes none).
    public var broadcastsPerMinute: Int?

    public init() {}

    var rules: ChannelRegistry.Rules {
      var rules = ChannelRegistry.Rules()
      rules.most = most
      rules.isEnabled = isEnabled
      rules.broadcastsPerMinute = broadcastsPerMinute
      return rules
    }
  }

  /// Live Activities on the simulated phones.
  public struct LiveActivities: Sendable {
    /// Pushes at priority 10 that an app's activities on one phone may take an hour; more are ignored by the phone. nil
    /// for no limit (Apple publishes none).
    public var hourlyBudget: Int?
    /// Bytes of an update token, 1 to 100; longer than those of other kinds, as at Apple.
    public var tokenSize = 80

    public init() {}

    var rules: ActivityBoard.Rules {
      var rules = ActivityBoard.Rules()
      rules.hourlyBudget = hourlyBudget
      rules.tokenSize = min(max(tokenSize, 1), 100)
      return rules
    }
  }
}
