import Basics
import PushPayload

/// What the app's code and the user do with Live Activities.
extension Phone {
  mutating func startActivity(_ wanted: ActivityRequest, by app: Int) {
    var request = wanted
    if case .channel(let name) = wanted.pushType, let id = apps[app].activities.channels[name] {
      request.pushType = .channel(id)
    }
    record(.app("Activity.request(\(request.attributesType))"), app, "D-189")
    if let error = whyNotStarted(request, app) {
      return record(.fault("Activity.request throws \(error)"), app, "D-189")
    }
    var channel: String?
    var wantsToken = false
    switch request.pushType {
    case nil: break
    case .token: wantsToken = true
    case .channel(let id): channel = id
    }
    let content = request.content
    let activity = LiveActivity(
      attributesType: request.attributesType, attributes: request.attributes, contentState: content.state,
      channel: channel, staleDate: content.staleAfter.map { now + $0 }, relevanceScore: content.relevanceScore,
      startedAt: now)
    _ = begin(activity, wantsToken: wantsToken, app)
    later.append(.activities(apps[app].description.bundleID))
  }

  /// ActivityKit's `ActivityAuthorizationError`, in the order of our checks.
  private func whyNotStarted(_ request: ActivityRequest, _ app: Int) -> String? {
    guard let generation = activityGeneration else { return "unsupported: Live Activities need iOS 16.1" }
    guard let support = apps[app].description.liveActivities,
      support.attributesTypes.contains(request.attributesType)
    else { return "unsupportedTarget: the app's Info.plist or its widget knows no \(request.attributesType)" }
    guard apps[app].permission.user.liveActivities else { return "denied: the user turned Live Activities off" }
    guard apps[app].state.isFront else { return "visibility: the app is not in front" }
    guard apps[app].activities.activeCount < settings.mostActivities else {
      return "targetMaximumExceeded: \(settings.mostActivities) of the app run already"
    }
    if case .channel(let id) = request.pushType {
      if generation < .ios18 { return "unsupported: channels need iOS 18" }
      if !ChannelID.isWellFormed(id.utf8) { return "unsupported: the channel's id is no base64" }
    }
    return nil
  }

  mutating func updateActivity(_ id: String?, _ content: ActivityContent, by app: Int) {
    guard let id = named(id, "Activity.update", app) else { return }
    let update = LiveActivity.Event.appUpdated(
      content.state, staleDate: content.staleAfter.map { now + $0 }, relevanceScore: content.relevanceScore)
    guard advance(id, update, app).contains(.updated), let alert = content.alert else { return }
    var shown = Payload.Alert(title: alert.title, body: alert.body)
    shown.sound = alert.sound
    light(up: id, shown, app, by: id)
  }

  mutating func endActivity(
    _ id: String?, _ contentState: JSONObject?, _ dismissal: LiveActivity.Dismissal, by app: Int
  ) {
    guard let id = named(id, "Activity.end", app) else { return }
    advance(id, .appEnded(contentState, dismissal), app)
  }

  /// The activity that the app's code means.
  private mutating func named(_ id: String?, _ act: String, _ app: Int) -> String? {
    record(.app("\(act)(\(id ?? "the newest"))"), app, "D-189")
    let shelf = apps[app].activities
    guard let found = id ?? shelf.newestActive ?? shelf.kept.last?.id, shelf.index(of: found) != nil else {
      record(.fault("there is no such activity"), app, "D-189")
      return nil
    }
    return found
  }

  // MARK: the user

  mutating func dismissActivity(_ app: Int, id: String?) {
    let ids = id.map { [$0] } ?? apps[app].activities.kept.map(\.id)
    let present = ids.filter { apps[app].activities.index(of: $0) != nil }
    guard !present.isEmpty else { return record(.user("finds no Live Activity to swipe away"), app, "D-189") }
    record(.user("swipes \(present.joined(separator: ", ")) away"), app, "D-189")
    end(activities: present, of: app)
  }

  private mutating func end(activities ids: [String], of app: Int) {
    for id in ids { advance(id, .userDismissed, app) }
  }

  mutating func openActivity(_ app: Int, id: String?) {
    let bundleID = apps[app].description.bundleID
    guard let id = id ?? lockScreenActivities.first(where: { $0.bundleID == bundleID })?.id,
      apps[app].activities.index(of: id) != nil
    else { return record(.user("finds no Live Activity to touch"), app, "D-189") }
    record(.user("touches the Live Activity \(id), which opens the app"), app, "D-189")
    openByIcon(app)
  }

  /// The switches in Settings are others now: turned off, the app's activities end.
  mutating func activitiesAllowed(before: UserSettings, _ app: Int) {
    let user = apps[app].permission.user
    guard apps[app].description.liveActivities != nil else { return }
    if user.liveActivities != before.liveActivities {
      if !user.liveActivities { end(activities: apps[app].activities.kept.map(\.id), of: app) }
      if apps[app].state.isExecuting {
        call(.activityEnablementUpdates, of: app, .enabled(user.liveActivities), "D-189")
      }
    }
    if user.frequentActivityPushes != before.frequentActivityPushes, apps[app].state.isExecuting {
      call(.frequentPushEnablementUpdates, of: app, .enabled(user.frequentActivityPushes), "D-189")
    }
  }

  /// The app is deleted: what reaches its activities ends with it.
  mutating func removeActivities(of app: Int) {
    for id in apps[app].activities.kept.map(\.id) { dismissed(id, app) }
    let bundleID = apps[app].description.bundleID
    for start in apps[app].activities.startTokens {
      guard let token = start.token else { continue }
      effects.append(
        .tokenEnded(
          bundleID: bundleID, token: token, kind: .liveActivityStart(attributesType: start.attributesType)))
    }
    apps[app].activities.startTokens = []
  }

  /// The phone restarts: activities go on, or end by the switch.
  mutating func restartActivities(_ app: Int) {
    guard settings.restartEndsActivities, !apps[app].activities.kept.isEmpty else { return }
    record(.system("the restart ends the app's Live Activities"), app, "D-189")
    end(activities: apps[app].activities.kept.map(\.id), of: app)
  }
}
