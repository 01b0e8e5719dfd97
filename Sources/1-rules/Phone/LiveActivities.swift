import Basics
import PushPayload

/// Live Activities that pushes start, update and end. (Apple, "Starting and updating Live Activities with ActivityKit
/// push notifications"; rule D-189)
extension Phone {
  var activityRules: LiveActivity.Rules {
    var rules = LiveActivity.Rules()
    rules.activeLife = .hours(max(0, settings.activityHours))
    rules.longestStay = .hours(max(0, settings.activityStayHours))
    return rules
  }

  /// nil: this iOS has none.
  var activityGeneration: LiveActivity.Generation? {
    if settings.iosVersion < IOSVersion(16, 1) { return nil }
    if settings.iosVersion < IOSVersion(17, 2) { return .ios16 }
    return settings.iosVersion.major < 18 ? .ios17 : .ios18
  }

  /// Who a push is for.
  private enum Addressee {
    case activities([String])
    /// nil: by a token of which nothing is known.
    case start(attributesType: String?)
    case nobody(String)
  }

  mutating func arriveLiveActivity(_ notice: Notice, at app: Int) {
    guard let push = notice.push else { return }
    guard let generation = activityGeneration else {
      return ignore(push, "iOS \(settings.iosVersion) has no Live Activities", app)
    }
    guard apps[app].description.liveActivities != nil else {
      return ignore(push, "the app has no NSSupportsLiveActivities", app)
    }
    if let flaw = push.content.flaw { return ignore(push, flaw, app, "D-200") }
    guard apps[app].permission.user.liveActivities else {
      return ignore(push, "the user turned the app's Live Activities off", app, "D-027")
    }
    switch addressee(of: push, app) {
    case .nobody(let why): ignore(push, why, app)
    case .activities(let ids):
      guard spend(push, app) else { return }
      for id in ids { advance(id, .push(push.content.payload), app, by: push.id) }
    case .start(let type):
      guard spend(push, app) else { return }
      start(push, type, generation, app)
    }
  }

  private mutating func ignore(_ push: DeliveredPayload, _ why: String, _ app: Int, _ rule: Rule = "D-189") {
    record(.withheld(pushID: push.id, reason: why), app, rule)
  }

  private func addressee(of push: DeliveredPayload, _ app: Int) -> Addressee {
    let shelf = apps[app].activities
    if let channel = push.channel {
      let ids = shelf.kept.filter { $0.activity.channel == channel }.map(\.id)
      return ids.isEmpty ? .nobody("no activity of the app listens to the channel \(channel)") : .activities(ids)
    }
    guard let token = push.token else {
      if push.content.payload.liveActivity?.event == .start { return .start(attributesType: nil) }
      return shelf.newestActive.map { .activities([$0]) } ?? .nobody("no activity of the app runs")
    }
    if let one = shelf.kept.first(where: { $0.token == token }) { return .activities([one.id]) }
    if let start = shelf.startTokens.first(where: { $0.token == token }) {
      return .start(attributesType: start.attributesType)
    }
    return .nobody("no activity has the token that it came by")
  }

  /// Whether the hour's budget of the app still takes it; Apple publishes no number.
  private mutating func spend(_ push: DeliveredPayload, _ app: Int) -> Bool {
    let frequent =
      apps[app].description.liveActivities?.frequentUpdates == true
      && apps[app].permission.user.frequentActivityPushes
    guard let hourly = frequent ? settings.frequentActivityPushesPerHour : settings.activityPushesPerHour else {
      return true
    }
    guard !apps[app].activities.budget.spend(push.priority, at: now, hourly: max(0, hourly)) else { return true }
    ignore(push, "the hour's budget of \(hourly) pushes at priority 10 is spent", app)
    return false
  }

  private mutating func start(
    _ push: DeliveredPayload, _ tokenType: String?, _ generation: LiveActivity.Generation, _ app: Int
  ) {
    let payload = push.content.payload
    let activity: LiveActivity
    do throws(LiveActivity.Unstarted) {
      activity = try LiveActivity.started(by: payload, tokenType: tokenType, generation: generation, at: now)
    } catch {
      return ignore(push, error.words, app)
    }
    guard apps[app].description.liveActivities?.attributesTypes.contains(activity.attributesType) == true else {
      return ignore(push, "the app has no attributes named \(activity.attributesType)", app)
    }
    guard apps[app].activities.activeCount < settings.mostActivities else {
      return ignore(push, "\(settings.mostActivities) activities of the app run already", app)
    }
    let wantsToken = activity.channel == nil || payload.liveActivity?.wantsPushToken == true
    let id = begin(activity, wantsToken: wantsToken, app)
    if let alert = payload.alert { light(up: id, alert, app, by: push.id) }
    wakeForActivity(app)
    tellActivities(app)
  }

  /// Takes a new activity in, and asks for what reaches it.
  mutating func begin(_ activity: LiveActivity, wantsToken: Bool, _ app: Int) -> String {
    let id = apps[app].activities.keep(activity, wantsToken: wantsToken)
    record(activityChange(id, .started, activity), app, "D-189")
    let last = apps[app].activities.kept.count - 1
    apps[app].activities.kept[last].untold = [.itself, .content, .state]
    if wantsToken { askForActivityToken(id, app) }
    if let channel = activity.channel {
      let description = apps[app].description
      effects.append(
        .subscribe(bundleID: description.bundleID, environment: description.apsEnvironment, channel: channel))
    }
    return id
  }

  /// A start wakes the app, so that it gets the update token. (Apple, as above: "the system starts the new Live Activity
  /// and wakes up your app")
  private mutating func wakeForActivity(_ app: Int) {
    switch apps[app].state {
    case .active, .inactive, .background: return
    case .suspended: setState(.background, of: app, "D-189")
    case .forceQuit where !settings.activityStartWakesForceQuit:
      return record(.system("the user swiped the app away: it is not woken for its update token"), app, "D-182")
    case .notRunning, .forceQuit: launchBehind(app, with: nil, "D-189")
    }
    apps[app].suspendAt = now + settings.leaveTime
  }

  // MARK: what comes of it

  func activityChange(_ id: String, _ kind: ActivityChange.Kind, _ activity: LiveActivity) -> TimelineEntry.What {
    .activity(
      ActivityChange(
        id: id, attributesType: activity.attributesType, kind: kind, contentState: activity.contentState))
  }

  /// Lets something happen to an activity, if it is still there, and does what follows. `pushID`: of the push that did it.
  @discardableResult
  mutating func advance(
    _ id: String, _ event: LiveActivity.Event, _ app: Int, by pushID: String? = nil
  ) -> [LiveActivity.Effect] {
    guard let index = apps[app].activities.index(of: id) else { return [] }
    let effects = apps[app].activities.kept[index].activity.handle(event, at: now, rules: activityRules)
    follow(effects, of: id, app, by: pushID)
    return effects
  }

  private mutating func follow(_ effects: [LiveActivity.Effect], of id: String, _ app: Int, by pushID: String?) {
    for effect in effects {
      guard let index = apps[app].activities.index(of: id) else { return }
      let activity = apps[app].activities.kept[index].activity
      switch effect {
      case .updated:
        record(activityChange(id, .updated, activity), app, "D-189")
        apps[app].activities.kept[index].untold.insert(.content)
      case .alerted(let alert): light(up: id, alert, app, by: pushID ?? id)
      case .becameStale:
        record(activityChange(id, .becameStale, activity), app, "D-189")
        apps[app].activities.kept[index].untold.insert(.state)
      case .ended(_, let ending):
        record(activityChange(id, .ended(ending), activity), app, "D-189")
        apps[app].activities.kept[index].untold.insert(.state)
      case .dismissed:
        apps[app].activities.kept[index].untold = .state
        tellActivities(app)
        dismissed(id, app)
      case .ignored(let why):
        if let pushID {
          record(.withheld(pushID: pushID, reason: why.words), app, "D-189")
        } else {
          record(.system("activity \(id) stays as it is: \(why.words)"), app, "D-189")
        }
      }
    }
    tellActivities(app)
  }

  /// It is gone from every screen: its token has had its time, its channel perhaps too.
  mutating func dismissed(_ id: String, _ app: Int) {
    guard let index = apps[app].activities.index(of: id) else { return }
    let gone = apps[app].activities.kept.remove(at: index)
    let description = apps[app].description
    record(activityChange(id, .dismissed, gone.activity), app, "D-189")
    if let token = gone.token {
      effects.append(.tokenEnded(bundleID: description.bundleID, token: token, kind: .liveActivity(id: id)))
    }
    if let channel = gone.activity.channel,
      !apps[app].activities.kept.contains(where: { $0.activity.channel == channel })
    {
      effects.append(
        .unsubscribe(bundleID: description.bundleID, environment: description.apsEnvironment, channel: channel))
    }
  }

  /// An alert on an activity: the phone lights up and sounds; the notification centre keeps nothing of it.
  mutating func light(up id: String, _ alert: Payload.Alert, _ app: Int, by pushID: String) {
    var shown = TimelineEntry.Shown(pushID: pushID, id: id, parts: isLocked ? .wakesScreen : .banner)
    shown.heading = alert.title?.shown ?? apps[app].description.name
    shown.body = alert.body?.shown ?? ""
    if let sound = alert.sound, !sound.isEmpty {
      shown.parts.insert(.sound)
      if settings.mute {
        shown.sound = .vibration
      } else {
        shown.sound = apps[app].description.sounds.contains { $0.name == sound } ? .file(sound) : .system
      }
    }
    record(.shown(shown), app, "D-189")
  }

  /// Time has passed.
  mutating func settleActivities(_ app: Int) {
    guard let due = apps[app].activities.nextDue(activityRules), due <= now else { return }
    for id in apps[app].activities.kept.map(\.id) { advance(id, .timePassed, app) }
  }
}
