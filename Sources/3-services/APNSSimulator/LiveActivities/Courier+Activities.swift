internal import Basics
public import PushPayload

/// What a phone in the same process does about channels and Live Activities.
extension Courier {
  /// A Live Activity of a phone, as its rules have left it, with the token that reaches it.
  public struct Activity: Hashable, Sendable {
    public let id: String
    public let activity: LiveActivity
    /// nil for one that only listens to a channel, or that is dismissed.
    public let token: [UInt8]?
  }

  /// The app starts an activity; with a channel it listens there and has no update token.
  @discardableResult
  public func start(
    _ activity: LiveActivity, device: String, bundle: String, environment: SimulatedEnvironment = .sandbox
  ) -> Activity {
    let place = ActivityBoard.Place(device: device, bundleID: bundle, environment: environment)
    return core.withState { state, now in
      let id = state.add(activity, at: place, wantsToken: false, now: now)
      return Activity(id: id, activity: activity, token: state.activities.entries[id]?.token)
    }
  }

  /// Every activity of a phone, oldest first, as it is now; the dismissed among them.
  public func activities(device: String) -> [Activity] {
    core.withState { state, now in
      state.settleActivities(now: now)
      return state.activities.entries(of: device).map { Activity(id: $0.id, activity: $0.activity, token: $0.token) }
    }
  }

  /// App, user or time act on an activity. `[]` for one that is not there.
  public func handle(activity id: String, _ event: LiveActivity.Event) -> [LiveActivity.Effect] {
    core.withState { state, now in state.handle(activity: id, event, now: now) }
  }

  /// A running activity gets another update token; the former one is dead. nil for one that is over.
  public func changeToken(ofActivity id: String) -> [UInt8]? {
    core.withState { state, now in state.changeToken(ofActivity: id, now: now) }
  }

  /// The token that starts activities of one attributes type: the same one as before.
  public func pushToStartToken(
    device: String, bundle: String, environment: SimulatedEnvironment = .sandbox, attributesType: String
  ) -> [UInt8] {
    let owner = TokenRecord.Owner(
      device: device, bundleID: bundle, environment: environment, kind: .liveActivityStart, detail: attributesType)
    return core.withState { state, _ in state.issueToken(to: owner).bytes }
  }

  /// Listens to a channel; what it keeps comes at once. False when there is no such channel.
  @discardableResult
  public func subscribe(
    device: String, bundle: String, environment: SimulatedEnvironment = .sandbox, channel: String
  ) -> Bool {
    let key = ChannelRegistry.Key(app: ChannelRegistry.App(bundleID: bundle, environment: environment), id: channel)
    do throws(Refusal) {
      try core.attempt { state, now throws(Refusal) in try state.subscribe(device: device, to: key, now: now) }
      return true
    } catch {
      return false
    }
  }

  /// Listens no more. False for a phone that did not.
  @discardableResult
  public func unsubscribe(
    device: String, bundle: String, environment: SimulatedEnvironment = .sandbox, channel: String
  ) -> Bool {
    let key = ChannelRegistry.Key(app: ChannelRegistry.App(bundleID: bundle, environment: environment), id: channel)
    return core.withState { state, now in state.unsubscribe(device: device, from: key, now: now) }
  }
}
