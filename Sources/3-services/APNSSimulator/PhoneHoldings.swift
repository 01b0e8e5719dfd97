internal import Basics
public import PushPayload

/// What phones hold at an APNs: for whoever has the phones of one process known at an APNs that runs elsewhere.
public struct PhoneHoldings: Equatable, Sendable {
  public struct Token: Hashable, Sendable {
    public var device: String
    public var bundleID: String
    public var environment: SimulatedEnvironment
    public var kind: TokenKind
    /// The attributes type of a push-to-start token, the activity of an update token; else empty.
    public var detail: String
    /// Apple's word for why it is dead; nil while it lives.
    public var end: RefusalReason?
  }

  public struct Subscription: Hashable, Sendable {
    public var device: String
    public var bundleID: String
    public var environment: SimulatedEnvironment
    public var channel: String
  }

  public struct App: Hashable, Sendable {
    public var device: String
    public var bundleID: String
  }

  public var tokens: [[UInt8]: Token] = [:]
  public var subscriptions: Set<Subscription> = []
  /// Their users turned notifications off, and their phones could say so.
  public var turnedOff: Set<App> = []
  /// The phones that are there, and whether each has a network.
  public var isOnline: [String: Bool] = [:]

  public init() {}
}

extension LocalAPNS {
  /// What its phones hold now.
  public var holdings: PhoneHoldings {
    core.withState { state, _ in
      var holdings = PhoneHoldings()
      for (id, device) in state.devices where device.isConnected { holdings.isOnline[id] = device.isOnline }
      holdings.tokens = state.registry.records.mapValues { record in
        PhoneHoldings.Token(
          device: record.owner.device, bundleID: record.owner.bundleID, environment: record.owner.environment,
          kind: record.owner.kind, detail: record.owner.detail, end: record.end?.reason)
      }
      for (key, channel) in state.channels.channels {
        for device in channel.subscribers.keys {
          holdings.subscriptions.insert(
            PhoneHoldings.Subscription(
              device: device, bundleID: key.app.bundleID, environment: key.app.environment, channel: key.id))
        }
      }
      holdings.turnedOff = state.disabledAlerts.known
      return holdings
    }
  }

  /// From now on a phone may listen to any channel: another APNs makes them, and knows which there are.
  public func believeEveryChannel() {
    core.withState { state, _ in state.channels.believesEveryChannel = true }
  }

  /// Another APNs gave an app `token` in the place of `former`; the phone is told as soon as it can be reached. Nothing
  /// for a token that is not there.
  public func renew(_ former: [UInt8], to token: [UInt8], reason: RenewalReason) {
    let device = core.withState { state, now -> String? in
      guard let old = state.registry.records[former], old.end == nil else { return nil }
      _ = state.end(former, reason: reason.end, since: now, isToldAtOnce: false, now: now)
      let new = state.register(token, to: old.owner)
      state.untoldTokens[old.owner.device, default: []].append(
        TokenRenewal(
          bundleID: old.owner.bundleID, environment: old.owner.environment, kind: old.owner.kind,
          detail: old.owner.detail, topic: new.topicText, former: former, token: token, reason: reason))
      return old.owner.device
    }
    if let device { core.tellTokens(device: device) }
  }
}
