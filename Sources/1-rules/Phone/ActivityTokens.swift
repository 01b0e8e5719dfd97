import Basics
import PushPayload

/// The tokens and channels of Live Activities, and what ActivityKit's sequences tell the app's code.
extension Phone {
  /// Asks APNs for an activity's update token, now or once there is a network.
  mutating func askForActivityToken(_ id: String, _ app: Int) {
    let description = apps[app].description
    guard description.apsEnvironment != .none else {
      return record(.system("no aps-environment entitlement: activity \(id) gets no token"), app, "D-042")
    }
    guard isOnline else { return record(.system("no network: activity \(id) gets its token later"), app, "D-041") }
    effects.append(
      .registerForRemoteNotifications(
        bundleID: description.bundleID, environment: description.apsEnvironment, kind: .liveActivity(id: id),
        fresh: true))
  }

  /// Each attributes type that the app's code observes has a token, from iOS 17.2 on; it lives as long as the app.
  private mutating func askForStartTokens(_ app: Int) {
    let description = apps[app].description
    guard let support = description.liveActivities, description.apsEnvironment != .none, isOnline,
      apps[app].implements(.pushToStartTokenUpdates, in: settings.iosVersion)
    else { return }
    for type in support.attributesTypes {
      if apps[app].activities.startTokens.contains(where: { $0.attributesType == type && $0.token != nil }) { continue }
      if !apps[app].activities.startTokens.contains(where: { $0.attributesType == type }) {
        apps[app].activities.startTokens.append(ActivityShelf.StartToken(attributesType: type))
      }
      effects.append(
        .registerForRemoteNotifications(
          bundleID: description.bundleID, environment: description.apsEnvironment,
          kind: .liveActivityStart(attributesType: type), fresh: false))
    }
  }

  /// The network is back: what could not be asked for is asked for now.
  mutating func askForActivityTokens() {
    for app in apps.indices where apps[app].description.liveActivities != nil {
      if apps[app].state.isExecuting { askForStartTokens(app) }
      for one in apps[app].activities.kept where one.wantsToken && one.token == nil && one.isActive {
        askForActivityToken(one.id, app)
      }
    }
  }

  mutating func takeStartToken(_ token: [UInt8], _ type: String, for app: Int) {
    guard let index = apps[app].activities.startTokens.firstIndex(where: { $0.attributesType == type }) else {
      return record(.system("a push-to-start token of \(type), which the app does not observe"), app, "D-189")
    }
    guard apps[app].activities.startTokens[index].token != token else { return }
    apps[app].activities.startTokens[index].token = token
    apps[app].activities.startTokens[index].isUntold = true
    apps[app].activities.startTokens[index].isHanded = false
    tellActivities(app)
  }

  mutating func takeActivityToken(_ token: [UInt8], _ id: String, for app: Int) {
    guard let index = apps[app].activities.index(of: id) else {
      return record(.system("an update token of activity \(id), which is gone"), app, "D-189")
    }
    guard apps[app].activities.kept[index].token != token else { return }
    apps[app].activities.kept[index].token = token
    apps[app].activities.kept[index].isTokenHanded = false
    apps[app].activities.kept[index].untold.insert(.token)
    tellActivities(app)
  }

  mutating func channelRefused(_ channel: String, _ reason: String, for app: Int) {
    record(.system("listens in vain to the channel \(channel): \(reason)"), app, "D-189")
  }

  // MARK: the app's code

  /// The app's code begins to run: ActivityKit's sequences go on.
  mutating func resumeActivities(_ app: Int) {
    askForStartTokens(app)
    tellActivities(app)
  }

  /// Gives the app's code the next values of ActivityKit's sequences, each the newest only, while it runs.
  mutating func tellActivities(_ app: Int) {
    guard apps[app].state.isExecuting else { return }
    var calls: [(Callback.Method, Callback.Arguments)] = []
    for index in apps[app].activities.startTokens.indices where apps[app].activities.startTokens[index].isUntold {
      apps[app].activities.startTokens[index].isUntold = false
      let start = apps[app].activities.startTokens[index]
      calls.append(
        (
          .pushToStartTokenUpdates,
          .activityToken(attributesType: start.attributesType, activity: nil, token: start.token ?? [])
        ))
    }
    for index in apps[app].activities.kept.indices where !apps[app].activities.kept[index].untold.isEmpty {
      let one = apps[app].activities.kept[index]
      apps[app].activities.kept[index].untold = []
      let type = one.activity.attributesType
      let content = Callback.Arguments.activity(
        id: one.id, attributesType: type, contentState: one.activity.contentState)
      if one.untold.contains(.itself) { calls.append((.activityUpdates, content)) }
      if one.untold.contains(.token), let token = one.token {
        calls.append((.pushTokenUpdates, .activityToken(attributesType: type, activity: one.id, token: token)))
      }
      if one.untold.contains(.content) { calls.append((.contentUpdates, content)) }
      if one.untold.contains(.state) {
        calls.append((.activityStateUpdates, .activityState(id: one.id, one.state(at: now))))
      }
    }
    for (method, arguments) in calls where apps[app].state.isExecuting {
      call(method, of: app, arguments, "D-189")
    }
  }

  mutating func handActivityTokens(_ app: Int) {
    let bundleID = apps[app].description.bundleID
    var count = 0
    for index in apps[app].activities.startTokens.indices {
      let start = apps[app].activities.startTokens[index]
      guard let token = start.token, !start.isHanded else { continue }
      apps[app].activities.startTokens[index].isHanded = true
      effects.append(
        .handTokenToService(
          bundleID: bundleID, token: token, kind: .liveActivityStart(attributesType: start.attributesType)))
      count += 1
    }
    for index in apps[app].activities.kept.indices {
      let one = apps[app].activities.kept[index]
      guard let token = one.token, !one.isTokenHanded else { continue }
      apps[app].activities.kept[index].isTokenHanded = true
      effects.append(.handTokenToService(bundleID: bundleID, token: token, kind: .liveActivity(id: one.id)))
      count += 1
    }
    record(.app("hands \(count) ActivityKit tokens to the push service"), app, "D-016")
  }
}
