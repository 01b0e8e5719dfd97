import Basics
import Phone
import PushPayload
import Testing

/// Live Activities as a phone's user and the app's code meet them (spec apns.md §12; D-189).
@Suite("Live Activities on the phone")
struct LiveActivityTests {
  static let type = "Delivery"
  static let startToken: [UInt8] = [7, 7]

  static var app: AppDescription {
    .complete { $0.liveActivities = LiveActivitySupport(attributesTypes: [type]) }
  }

  /// A phone whose app was opened once, so that APNs gave its push-to-start token, and left.
  private func story(
    _ ios: IOSVersion = IOSVersion(18), app: AppDescription = Self.app,
    _ adjust: (inout PhoneSettings) -> Void = { _ in }
  ) -> Story {
    var story = Story(ios, app: app, adjust)
    story.happens(.launch(bundleID: Story.bundle))
    story.happens(
      .tokenIssued(
        bundleID: Story.bundle, token: Self.startToken, kind: .liveActivityStart(attributesType: Self.type)))
    story.happens(.home, .suspend(bundleID: Story.bundle))
    story.forget()
    return story
  }

  private func push(
    _ push: LiveActivityPush, token: [UInt8]? = nil, channel: String? = nil,
    priority: PushPriority = .immediate, to story: inout Story
  ) {
    story.happens(
      .push(
        DeliveredPayload(
          id: "p\(story.phone.timeline.count)", bundleID: Story.bundle, pushType: .liveactivity, priority: priority,
          token: token, channel: channel, bytes: push.bytes)))
  }

  private func start(_ story: inout Story, channel: String? = nil, relevance: Double? = nil) {
    push(
      .start(
        LiveActivityPush.Start(attributesType: Self.type, attributes: ["order": 12], channel: channel),
        contentState: ["left": 30], alert: Self.alert, at: story.now, relevanceScore: relevance),
      token: Self.startToken, to: &story)
  }

  private static let alert = LiveActivityPush.Alert(
    title: .literal("On its way"), body: .literal("30 minutes"), sound: "default")

  private func update(_ left: Int64, at time: Instant, alert: Bool = false, stale: Instant? = nil) -> LiveActivityPush {
    .update(
      contentState: ["left": .number(JSONNumber(left))], at: time, alert: alert ? Self.alert : nil, staleDate: stale)
  }

  private func activities(_ story: Story) -> [ShownActivity] { story.phone.liveActivities(of: Story.bundle) }

  // MARK: tokens

  @Test("D-189 the push-to-start token comes at launch from iOS 17.2 on, once, and the app hands it to its service")
  func startTokens() {
    var app = Self.app
    app.script[.pushToStartTokenUpdates] = [.handActivityTokensToService]
    var story = Story(IOSVersion(17, 2), app: app)
    story.happens(.launch(bundleID: Story.bundle))
    let asked = Phone.Effect.registerForRemoteNotifications(
      bundleID: Story.bundle, environment: .production, kind: .liveActivityStart(attributesType: Self.type),
      fresh: false)
    #expect(story.effects == [asked])
    story.happens(
      .tokenIssued(
        bundleID: Story.bundle, token: Self.startToken, kind: .liveActivityStart(attributesType: Self.type)))
    #expect(story.callbacks.last?.method == .pushToStartTokenUpdates)
    #expect(
      story.effects.last
        == .handTokenToService(
          bundleID: Story.bundle, token: Self.startToken, kind: .liveActivityStart(attributesType: Self.type)))
    story.happens(.home, .suspend(bundleID: Story.bundle), .launch(bundleID: Story.bundle))
    #expect(story.effects.count == 2, "asked once")
    #expect(story.phone.pushToStartToken(of: Story.bundle, attributesType: Self.type) == Self.startToken)
  }

  @Test(
    "D-189 without it: before iOS 17.2, without NSSupportsLiveActivities, for code that does not observe it",
    arguments: [0, 1, 2])
  func noStartToken(why: Int) {
    var app = Self.app
    if why == 1 { app.liveActivities = nil }
    if why == 2 { app.implements.remove(.pushToStartTokenUpdates) }
    var story = Story(why == 0 ? IOSVersion(17, 1) : IOSVersion(18), app: app)
    story.happens(.launch(bundleID: Story.bundle))
    #expect(story.effects.isEmpty)
  }

  @Test("D-189 offline at launch: the token is asked for when the network is back")
  func startTokenOffline() {
    var story = Story(IOSVersion(18), app: Self.app) { $0.online = false }
    story.happens(.launch(bundleID: Story.bundle))
    #expect(story.effects.isEmpty)
    story.happens(.networkChanged(online: true))
    #expect(story.effects.count == 2, "the connection, and the token")
  }

  // MARK: started by push

  @Test("D-189 a push starts an activity: it shows, alerts with sound, wakes the app for its update token")
  func startByPush() {
    var story = story()
    start(&story)
    #expect(activities(story).map(\.id) == ["Delivery-1"])
    #expect(activities(story).first?.activity.contentState == ["left": 30])
    #expect(story.shown.map(\.heading) == ["On its way"])
    #expect(story.letters == "BS")
    #expect(story.centre.isEmpty, "no entry in the notification centre")
    #expect(story.state == .background)
    #expect(story.calls == "activity activityContent activityState")
    #expect(
      story.effects == [
        .registerForRemoteNotifications(
          bundleID: Story.bundle, environment: .production, kind: .liveActivity(id: "Delivery-1"), fresh: true)
      ])
    story.happens(.tokenIssued(bundleID: Story.bundle, token: [1], kind: .liveActivity(id: "Delivery-1")))
    #expect(
      story.callbacks.last?.arguments
        == .activityToken(attributesType: Self.type, activity: "Delivery-1", token: [1]))
    story.pass(.seconds(5))
    #expect(story.state == .suspended)
    #expect(activities(story).first?.token == [1])
  }

  @Test(
    "D-189 D-163 a start launches an app that does not run, swiped away or not",
    arguments: [AppState.notRunning, .forceQuit], [true, false])
  func startWakes(state: AppState, wakesForceQuit: Bool) {
    var story = story { $0.activityStartWakesForceQuit = wakesForceQuit }
    switch state {
    case .forceQuit: story.happens(.forceQuit(bundleID: Story.bundle))
    case .notRunning, .suspended, .background, .inactive, .active: story.happens(.endBySystem(bundleID: Story.bundle))
    }
    story.forget()
    start(&story)
    let woken = state == .notRunning || wakesForceQuit
    #expect(story.calls == (woken ? "LO(∅) DEB activity activityContent activityState" : "-"))
    #expect(activities(story).count == 1, "it is there in any case")
  }

  struct Refused: Sendable, CustomTestStringConvertible {
    var name: String
    var ios = IOSVersion(18)
    var words: String
    var change: @Sendable (inout JSONObject) -> Void = { _ in }
    var testDescription: String { name }
  }

  static let refused = [
    Refused(name: "iOS 17.1", ios: IOSVersion(17, 1), words: "push-to-start needs iOS 17.2"),
    Refused(
      name: "a channel before iOS 18", ios: IOSVersion(17, 5), words: "channels need iOS 18",
      change: { $0["input-push-channel"] = "aGVsbG8=" }),
    Refused(name: "no alert", words: "a start needs alert", change: { $0["alert"] = nil }),
    Refused(name: "no attributes", words: "a start needs attributes", change: { $0["attributes"] = nil }),
    Refused(
      name: "another type", words: "the push-to-start token is of \"Delivery\"",
      change: { $0["attributes-type"] = "Ride" }),
    Refused(name: "no start", words: "only the event start", change: { $0["event"] = "update" }),
  ]

  @Test("D-189 a push that starts nothing says why", arguments: refused)
  func notStarted(row: Refused) throws {
    var story = story(row.ios)
    let payload = LiveActivityPush.start(
      LiveActivityPush.Start(attributesType: Self.type, attributes: ["order": 12]), contentState: ["left": 30],
      alert: Self.alert, at: story.now)
    var whole = try #require(payload.json.object)
    var aps = try #require(whole["aps"]?.object)
    row.change(&aps)
    whole["aps"] = .object(aps)
    story.happens(
      .push(
        DeliveredPayload(
          id: "p", bundleID: Story.bundle, pushType: .liveactivity,
          token: row.ios < IOSVersion(17, 2) ? nil : Self.startToken, bytes: JSONValue.object(whole).encoded())))
    #expect(story.said(row.words, "D-189"))
    #expect(activities(story).isEmpty)
    #expect(story.calls == "-")
  }

  @Test("D-189 before iOS 16.1 there are none", arguments: [IOSVersion.g1, .g2, IOSVersion(16)])
  func tooOld(version: IOSVersion) {
    var story = Story(version, app: Self.app)
    story.bring(to: .active)
    push(update(1, at: story.now), to: &story)
    #expect(story.said("has no Live Activities", "D-189"))
    story.happens(
      .app(
        bundleID: Story.bundle,
        .startActivity(ActivityRequest(attributesType: Self.type, content: ActivityContent(state: [:])))))
    #expect(story.faults.count == 1)
  }

  // MARK: updates and ends

  @Test("D-189 an update changes what shows, tells a suspended app nothing, and what it missed when it runs again")
  func updates() {
    var story = story()
    start(&story)
    story.happens(.tokenIssued(bundleID: Story.bundle, token: [1], kind: .liveActivity(id: "Delivery-1")))
    story.pass(.minutes(1))
    story.forget()
    push(update(20, at: story.now), token: [1], to: &story)
    push(update(10, at: story.now), token: [1], to: &story)
    #expect(activities(story).first?.activity.contentState == ["left": 10])
    #expect(story.calls == "-")
    #expect(story.shown.isEmpty, "no alert in it")
    story.happens(.launch(bundleID: Story.bundle))
    #expect(story.calls == "WEF DBA activityContent", "the newest only")
    story.forget()
    push(update(5, at: story.now, alert: true), token: [1], to: &story)
    #expect(story.calls == "activityContent")
    #expect(story.shown.first?.sound == .system)
  }

  @Test("D-189 what is older than what shows is ignored, and so is what comes by a token that is gone")
  func ignored() {
    var story = story()
    start(&story)
    story.happens(.tokenIssued(bundleID: Story.bundle, token: [1], kind: .liveActivity(id: "Delivery-1")))
    story.happens(.tokenIssued(bundleID: Story.bundle, token: [2], kind: .liveActivity(id: "Delivery-1")))
    push(update(20, at: story.now - .hours(1)), token: [2], to: &story)
    #expect(story.said("older", "D-189"))
    push(update(20, at: story.now), token: [1], to: &story)
    #expect(story.said("no activity has the token", "D-189"))
    #expect(activities(story).first?.activity.contentState == ["left": 30])
  }

  @Test("D-189 an end keeps it on the Lock Screen for four hours at most, and its token has had its time then")
  func ends() {
    var story = story()
    start(&story)
    story.happens(.tokenIssued(bundleID: Story.bundle, token: [1], kind: .liveActivity(id: "Delivery-1")))
    push(.end(contentState: ["left": 0], at: story.now), token: [1], to: &story)
    #expect(activities(story).first?.state == .ended)
    #expect(story.phone.dynamicIsland.isEmpty)
    push(update(3, at: story.now), token: [1], to: &story)
    #expect(story.said("the activity ended", "D-189"))
    story.forget()
    #expect(story.phone.due != nil)
    story.pass(.hours(4))
    #expect(activities(story).isEmpty)
    #expect(
      story.effects == [.tokenEnded(bundleID: Story.bundle, token: [1], kind: .liveActivity(id: "Delivery-1"))])
  }

  @Test("D-189 a dismissal date that is past takes it away at once")
  func dismissal() {
    var story = story()
    start(&story)
    push(.end(contentState: nil, at: story.now, dismissal: .at(story.now - .hours(1))), to: &story)
    #expect(activities(story).isEmpty)
  }

  @Test("D-189 time: stale at its date, ended after eight hours, gone after four more; both are switches")
  func time() {
    var story = story { $0.activityHours = 2 }
    start(&story)
    push(update(20, at: story.now, stale: story.now + .minutes(10)), to: &story)
    #expect(activities(story).first?.state == .active)
    story.pass(.minutes(10))
    #expect(activities(story).first?.state == .stale)
    story.pass(.hours(2))
    #expect(activities(story).first?.state == .ended)
    story.pass(.hours(4))
    #expect(activities(story).isEmpty)
    let words = story.told.compactMap { if case .activity(let change) = $0.what { change.kind } else { nil } }
    #expect(words == [.started, .updated, .becameStale, .ended(.age), .dismissed])
  }

  // MARK: channels

  @Test("D-189 an activity on a channel listens to it, gets broadcasts, and listens no more when it is gone")
  func channels() {
    var story = story()
    start(&story, channel: "aGVsbG8=")
    #expect(
      story.effects == [.subscribe(bundleID: Story.bundle, environment: .production, channel: "aGVsbG8=")],
      "no update token unless it was asked for")
    push(update(9, at: story.now), channel: "aGVsbG8=", to: &story)
    #expect(activities(story).first?.activity.contentState == ["left": 9])
    push(update(8, at: story.now), channel: "b3RoZXI=", to: &story)
    #expect(story.said("listens to the channel b3RoZXI=", "D-189"))
    story.forget()
    story.happens(.dismissActivity(bundleID: Story.bundle, id: nil))
    #expect(
      story.effects == [.unsubscribe(bundleID: Story.bundle, environment: .production, channel: "aGVsbG8=")])
    story.happens(.channelRefused(bundleID: Story.bundle, channel: "aGVsbG8=", reason: "it was deleted"))
    #expect(story.said("it was deleted", "D-189"))
  }

  @Test("D-189 its code may know a channel by a name of its own, since its server told it the id")
  func namedChannel() {
    var story = story()
    story.happens(.learnChannel(bundleID: Story.bundle, name: "lions-bears", channel: "aGVsbG8="))
    let request = ActivityRequest(
      attributesType: Self.type, content: ActivityContent(state: ["left": 1]), pushType: .channel("lions-bears"))
    story.happens(.launch(bundleID: Story.bundle), .app(bundleID: Story.bundle, .startActivity(request)))
    #expect(story.effects.contains(.subscribe(bundleID: Story.bundle, environment: .production, channel: "aGVsbG8=")))
  }

  // MARK: the app's own

  private func request(_ pushType: ActivityRequest.PushType? = nil, relevance: Double? = nil) -> Phone.Event {
    .app(
      bundleID: Story.bundle,
      .startActivity(
        ActivityRequest(
          attributesType: Self.type, content: ActivityContent(state: ["left": 30], relevanceScore: relevance),
          pushType: pushType)))
  }

  @Test("D-189 the app starts, updates and ends one itself; only in front, and not more than the phone takes")
  func ownActivities() {
    var story = story { $0.mostActivities = 2 }
    story.happens(.launch(bundleID: Story.bundle))
    story.forget()
    story.happens(request(.token))
    #expect(story.effects.count == 1, "its token is asked for")
    #expect(story.calls == "activity activityContent activityState")
    story.happens(
      .app(
        bundleID: Story.bundle,
        .updateActivity(id: nil, ActivityContent(state: ["left": 1], staleAfter: .minutes(1), alert: Self.alert))))
    #expect(activities(story).first?.activity.contentState == ["left": 1])
    #expect(story.shown.count == 1)
    story.happens(request(), request())
    #expect(story.said("targetMaximumExceeded", "D-189"))
    story.happens(
      .app(bundleID: Story.bundle, .endActivity(id: "Delivery-1", contentState: nil, .at(story.now))),
      .app(bundleID: Story.bundle, .endActivity(id: "Delivery-1", contentState: nil, .standard)))
    #expect(activities(story).map(\.id) == ["Delivery-2"])
    #expect(story.said("no such activity", "D-189"))
    story.happens(.home, request())
    #expect(story.said("visibility", "D-189"))
  }

  @Test(
    "D-189 D-162 D-163 activities outlive their app's process and the phone's restart, by the switch they end with it")
  func survival() {
    for ends in [false, true] {
      var story = story { $0.restartEndsActivities = ends }
      start(&story)
      story.happens(.endBySystem(bundleID: Story.bundle), .launch(bundleID: Story.bundle))
      story.happens(.forceQuit(bundleID: Story.bundle))
      #expect(activities(story).count == 1)
      story.happens(.restart)
      #expect(activities(story).isEmpty == ends)
    }
  }

  @Test("D-189 D-045 deleted with its app: tokens and channels end")
  func uninstalled() {
    var story = story()
    start(&story, channel: "aGVsbG8=")
    story.forget()
    story.happens(.uninstallApp(bundleID: Story.bundle))
    #expect(
      story.effects == [
        .unsubscribe(bundleID: Story.bundle, environment: .production, channel: "aGVsbG8="),
        .tokenEnded(
          bundleID: Story.bundle, token: Self.startToken, kind: .liveActivityStart(attributesType: Self.type)),
      ])
  }

  // MARK: the user

  @Test("D-027 D-189 turned off in Settings: all end, the app's code is told, no push and no code starts one")
  func turnedOff() {
    var story = story()
    start(&story)
    var settings = Phone.UserSettings()
    settings.liveActivities = false
    story.happens(.changePermission(bundleID: Story.bundle, settings))
    #expect(activities(story).isEmpty)
    #expect(story.callbacks.last?.arguments == .enabled(false))
    story.forget()
    start(&story)
    #expect(story.said("turned the app's Live Activities off", "D-027"))
    story.happens(.launch(bundleID: Story.bundle), request())
    #expect(story.said("denied", "D-189"))
    settings.liveActivities = true
    story.happens(.changePermission(bundleID: Story.bundle, settings))
    #expect(story.callbacks.last?.arguments == .enabled(true))
  }

  @Test("D-189 permission for notifications has no part in it; alerts obey the mute switch")
  func withoutPermission() {
    var story = story { $0.mute = true }
    var settings = Phone.UserSettings()
    settings.allowed = false
    story.happens(.changePermission(bundleID: Story.bundle, settings), .lock)
    story.forget()
    start(&story)
    #expect(story.letters == "WS")
    #expect(story.shown.first?.sound == .vibration)
  }

  @Test("D-189 swiped away it is gone, touched it opens the app")
  func touched() {
    var story = story()
    story.happens(.dismissActivity(bundleID: Story.bundle, id: nil))
    #expect(story.said("finds no Live Activity", "D-189"))
    start(&story)
    story.happens(.openActivity(bundleID: Story.bundle, id: nil))
    #expect(story.state == .active)
    story.happens(.dismissActivity(bundleID: Story.bundle, id: "Delivery-1"))
    #expect(activities(story).isEmpty)
    #expect(
      story.callbacks.last?.arguments == .activityState(id: "Delivery-1", .dismissed), "the app runs and is told")
  }

  @Test(
    "D-189 relevance: the highest owns the Dynamic Island, the first one among equals; none while locked or in front")
  func island() {
    var story = story()
    for relevance in [50, 100, 100] as [Double] { start(&story, relevance: relevance) }
    #expect(story.phone.dynamicIsland.map(\.id) == ["Delivery-2"], "one for each app")
    #expect(story.phone.lockScreenActivities.map(\.id) == ["Delivery-2", "Delivery-3", "Delivery-1"])
    story.happens(.dismissActivity(bundleID: Story.bundle, id: "Delivery-2"))
    #expect(story.phone.dynamicIsland.map(\.id) == ["Delivery-3"])
    story.happens(.lock)
    #expect(story.phone.dynamicIsland.isEmpty)
    story.happens(.unlock, .launch(bundleID: Story.bundle))
    #expect(story.phone.dynamicIsland.isEmpty)
  }

  @Test("D-189 the budget counts pushes of priority 10 within an hour; frequent updates have their own")
  func budget() {
    for frequent in [false, true] {
      var app = Self.app
      app.liveActivities?.frequentUpdates = frequent
      var story = story(app: app) {
        $0.activityPushesPerHour = 2
        $0.frequentActivityPushesPerHour = 3
      }
      start(&story)
      for left in 1...3 { push(update(Int64(left), at: story.now), to: &story) }
      let taken: Int64 = frequent ? 2 : 1
      #expect(activities(story).first?.activity.contentState == ["left": .number(JSONNumber(taken))])
      #expect(story.said("budget of \(frequent ? 3 : 2)", "D-189"))
      push(update(9, at: story.now), priority: .considerate, to: &story)
      #expect(activities(story).first?.activity.contentState == ["left": 9], "priority 5 is free")
      story.pass(.hours(1))
      push(update(10, at: story.now), to: &story)
      #expect(activities(story).first?.activity.contentState == ["left": 10])
    }
  }

  @Test("D-189 a push without a token, as from a file: a start starts, the rest means the newest")
  func withoutToken() {
    var story = story()
    push(update(1, at: story.now), to: &story)
    #expect(story.said("no activity of the app runs", "D-189"))
    start(&story)
    start(&story)
    push(update(4, at: story.now), to: &story)
    #expect(activities(story).map(\.activity.contentState) == [["left": 30], ["left": 4]])
  }
}
