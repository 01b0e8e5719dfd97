internal import Basics
internal import PushPayload

/// What happens to Live Activities; a phone is told by an `activity` message.
extension ServiceState {
  /// A change of an activity that its phone is to be told.
  struct ActivityNews: Hashable, Sendable {
    var device: String
    var id: String
  }

  /// Keeps a push of a Live Activity until its phone has it, or never will; `push` is nil for one that is known.
  mutating func noteFate(
    of number: UInt64, _ fate: LoggedNotification.Fate, push: DeliveredPush?, device: String, now: Instant
  ) {
    tellFate(of: number, fate, push: push, device: device)
    guard let push = push ?? activities.underWay[number], push.pushType == .liveactivity else { return }
    switch fate {
    case .delivered:
      // One that left at once is counted by whoever fans it out.
      if let known = activities.underWay.removeValue(forKey: number) { channels.received(known, by: device) }
      applyToActivities(push, number: number, device: device, now: now)
    case .replaced, .expired, .dropped: activities.underWay[number] = nil
    case .stored, .sent, .grouped, .throttled, .queued: activities.underWay[number] = push
    }
  }

  /// A phone has a push: those of Live Activities start, change or end one.
  mutating func applyToActivities(_ push: DeliveredPush, number: UInt64, device: String, now: Instant) {
    guard push.pushType == .liveactivity, schedule.device(device)?.keepsActivities != true else { return }
    let place = ActivityBoard.Place(device: device, bundleID: push.bundleID, environment: push.environment)
    // Most phones on a channel have no activity, and a channel may have very many phones.
    let listeners = push.channelID.map { activities.listening(place, to: $0) }
    if let listeners, listeners.isEmpty { return }
    let payload: Payload
    do { payload = try Payload(bytes: push.payload) } catch {
      return activities.note(
        unstarted: "the payload is no JSON: \(error)", notification: number, device: device, now: now)
    }
    if let listeners {
      for id in listeners { change(id, payload, push, number, now) }
      return
    }
    if let entry = activities.entry(token: push.token) { return change(entry.id, payload, push, number, now) }
    guard let owner = registry.records[push.token]?.owner else { return }
    switch owner.kind {
    case .liveActivityStart: start(payload, tokenType: owner.detail, push, place, number, now)
    case .liveactivity:
      activities.note(
        unstarted: "no activity has this update token now", notification: number, device: device, now: now)
    case .app, .voip, .complication, .fileprovider, .location, .pushtotalk, .controls, .widgets: break
    }
  }

  private mutating func change(
    _ id: String, _ payload: Payload, _ push: DeliveredPush, _ number: UInt64, _ now: Instant
  ) {
    guard let entry = activities.entries[id] else { return }
    if let why = activities.spend(push.priority, entry.place, now: now) {
      return activities.note(ignored: why, notification: number, id: id, now: now)
    }
    settle(id, activities.handle(.push(payload), id: id, notification: number, now: now), now)
  }

  private mutating func start(
    _ payload: Payload, tokenType: String, _ push: DeliveredPush, _ place: ActivityBoard.Place, _ number: UInt64,
    _ now: Instant
  ) {
    if let why = activities.spend(push.priority, place, now: now) {
      return activities.note(unstarted: why, notification: number, device: place.device, now: now)
    }
    do throws(LiveActivity.Unstarted) {
      let activity = try LiveActivity.started(
        by: payload, tokenType: tokenType.isEmpty ? nil : tokenType, generation: activities.rules.generation, at: now)
      let id = add(activity, at: place, wantsToken: payload.liveActivity?.wantsPushToken ?? false, now: now)
      activities.note(applied: number, id: id)
    } catch {
      activities.note(unstarted: error.words, notification: number, device: place.device, now: now)
    }
  }

  /// Puts a new activity on a phone. One on a channel listens to it, and has an update token only when it was asked for.
  @discardableResult
  mutating func add(_ activity: LiveActivity, at place: ActivityBoard.Place, wantsToken: Bool, now: Instant) -> String {
    let id = UUIDBits(version4: dice.next(), dice.next()).text
    var entry = ActivityBoard.Entry(id: id, place: place, activity: activity)
    if wantsToken || activity.channel == nil { entry.token = issueUpdateToken(id, place).bytes }
    activities.add(entry)
    schedule.add(place.device)
    activityNews.append(ActivityNews(device: place.device, id: id))
    if let channel = activity.channel {
      let key = ChannelRegistry.Key(
        app: ChannelRegistry.App(bundleID: place.bundleID, environment: place.environment), id: channel)
      // A channel that is not there sends nothing; the activity runs all the same.
      do throws(Refusal) { try subscribe(device: place.device, to: key, now: now) } catch {
        activities.note(ignored: error.explanation, notification: 0, id: id, now: now)
      }
    }
    return id
  }

  private mutating func issueUpdateToken(_ id: String, _ place: ActivityBoard.Place) -> TokenRecord {
    issueToken(
      to: TokenRecord.Owner(
        device: place.device, bundleID: place.bundleID, environment: place.environment, kind: .liveactivity, detail: id),
      isFresh: true)
  }

  /// The system gives a running activity another update token; the former one is dead at once (Apple: "a push token may
  /// change"). nil for an activity that is not there or over.
  mutating func changeToken(ofActivity id: String, now: Instant) -> [UInt8]? {
    guard let entry = activities.entries[id], case .active = entry.activity.state else { return nil }
    let fresh = issueUpdateToken(id, entry.place).bytes
    if let former = entry.token { _ = end(former, reason: .expiredToken, since: now, isToldAtOnce: true, now: now) }
    activities.setToken(fresh, of: id)
    activityNews.append(ActivityNews(device: entry.place.device, id: id))
    return fresh
  }

  /// What the phone's owner or the app does with it.
  mutating func handle(activity id: String, _ event: LiveActivity.Event, now: Instant) -> [LiveActivity.Effect] {
    let effects = activities.handle(event, id: id, notification: nil, now: now)
    settle(id, effects, now)
    return effects
  }

  /// Lets time change what it has changed by now: stale, ended by age, dismissed.
  mutating func settleActivities(now: Instant) {
    guard let due = activities.nextDue, due <= now else { return }
    for id in activities.due(now) { _ = handle(activity: id, .timePassed, now: now) }
    activities.noteDue()
  }

  private mutating func settle(_ id: String, _ effects: [LiveActivity.Effect], _ now: Instant) {
    guard let entry = activities.entries[id] else { return }
    var isNews = false
    for effect in effects {
      switch effect {
      case .updated, .alerted, .becameStale, .ended: isNews = true
      case .ignored: break
      case .dismissed(let at):
        isNews = true
        // the next push is still taken, as after an uninstall
        if let token = entry.token {
          _ = end(token, reason: .expiredToken, since: at, isToldAtOnce: false, now: now)
          activities.setToken(nil, of: id)
        }
        if let channel = entry.activity.channel { leave(channel, entry.place, now) }
      }
    }
    if isNews { activityNews.append(ActivityNews(device: entry.place.device, id: id)) }
  }

  /// The last activity of a phone on a channel is gone: the phone listens no more.
  private mutating func leave(_ channel: String, _ place: ActivityBoard.Place, _ now: Instant) {
    let others = activities.listening(place, to: channel).contains { id in
      if case .dismissed = activities.entries[id]?.activity.state { false } else { true }
    }
    guard !others else { return }
    let app = ChannelRegistry.App(bundleID: place.bundleID, environment: place.environment)
    unsubscribe(device: place.device, from: ChannelRegistry.Key(app: app, id: channel), now: now)
  }

  mutating func takeActivityNews() -> [ActivityNews] {
    if activityNews.isEmpty { return [] }
    defer { activityNews = [] }
    return activityNews
  }
}
