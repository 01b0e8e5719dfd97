import Basics
import Phone
import PushPayload
import Testing

/// What must hold whatever happens to a phone.
@Suite("Two thousand random stories")
struct RandomStoryTests {
  @Test(
    "no trap, no impossible state, and the same story twice is the same timeline", arguments: 0..<20 as Range<UInt64>)
  func stories(block: UInt64) {
    for seed in block * 100..<(block + 1) * 100 {
      var teller = Teller(seed: seed)
      var twin = teller.phone
      for _ in 0..<60 {
        let (event, time) = teller.next()
        let effects = teller.phone.handle(event, at: time)
        if twin.handle(event, at: time) != effects { Issue.record("seed \(seed): other effects") }
        if let flaw = Self.flaw(of: teller.phone) { Issue.record("seed \(seed): \(flaw)") }
      }
      let told = teller.phone.timeline
      #expect(told == twin.timeline, "seed \(seed)")
      #expect(told.allSatisfy { $0.rule.id.hasPrefix("D-") && !$0.line(width: 80).isEmpty }, "seed \(seed)")
      #expect(zip(told, told.dropFirst()).allSatisfy { $0.time <= $1.time }, "seed \(seed): time runs backwards")
    }
  }

  private static func flaw(of phone: Phone) -> String? {
    let states = phone.bundleIDs.compactMap(phone.state(of:))
    if states.filter(\.isFront).count > 1 { return "two apps in front" }
    if states.contains(.active), phone.isLocked { return "active behind the lock" }
    if let due = phone.due, let last = phone.timeline.last, due < last.time { return "due in the past" }
    for bundleID in phone.bundleIDs {
      if phone.badge(of: bundleID) < 0 { return "a badge below zero" }
      let ids = phone.centre(of: bundleID)
      if Set(ids).count != ids.count { return "an entry twice" }
      if !phone.isLocked, !phone.lockScreen(of: bundleID).isEmpty { return "a lock screen while unlocked" }
    }
    return flaw(of: phone.screen, phone)
  }

  private static func flaw(of screen: Screen, _ phone: Phone) -> String? {
    for (groups, listed) in [(screen.centre, phone.centre(of:)), (screen.lockScreen, phone.lockScreen(of:))] {
      let drawn = groups.flatMap(\.notifications)
      for bundleID in phone.bundleIDs {
        let ids = drawn.filter { $0.bundleID == bundleID }.map(\.id)
        if ids.sorted() != listed(bundleID).sorted() { return "a screen that lists something else" }
      }
      if groups.contains(where: \.notifications.isEmpty) { return "an empty group" }
    }
    if screen.isLocked, !(screen.banners.isEmpty && screen.alert == nil && screen.front == nil) {
      return "something over the lock screen"
    }
    let activities = phone.bundleIDs.flatMap { bundleID in
      phone.liveActivities(of: bundleID).map { "\(bundleID) \($0.id)" }
    }
    if Set(activities).count != activities.count { return "a Live Activity twice" }
    if Set(screen.activities.map { "\($0.bundleID) \($0.id)" }) != Set(activities) { return "a Lock Screen without it" }
    if screen.island.count > 2 || screen.isLocked && !screen.island.isEmpty { return "an island that cannot be" }
    if phone.bundleIDs.contains(where: { phone.isConnectedForMessages($0) && phone.state(of: $0)?.isFront != true }) {
      return "connected for messages behind"
    }
    if screen.json.members.isEmpty { return "no JSON of the screen" }
    if screen.alert != nil, phone.settings.iosVersion.major >= 11 { return "a modal alert from iOS 11 on" }
    return nil
  }
}

/// Makes up events; the same seed the same ones.
private struct Teller {
  var phone: Phone
  private var dice: Dice
  private var time = Instant(seconds: 1_796_029_200)
  private static let category = NotificationCategory(
    id: "c",
    actions: [
      NotificationAction(id: "behind", options: .authenticationRequired),
      NotificationAction(id: "front", options: .foreground),
      NotificationAction(id: "typed", textInput: NotificationAction.TextInput()),
    ], options: .customDismissAction)
  private static let bundles = ["com.example.a", "com.example.b", "com.example.gone"]

  init(seed: UInt64) {
    dice = Dice(seed: seed)
    var settings = PhoneSettings(iosVersion: IOSVersion(Int.random(in: 3...18, using: &dice)))
    settings.strictSeed = Bool.random(using: &dice)
    settings.lowPower = Int.random(in: 0..<8, using: &dice) == 0
    settings.foregroundPairOrder = Bool.random(using: &dice) ? .fetchFirst : .presentFirst
    settings.noDelegateShows = Bool.random(using: &dice)
    settings.debOnResume = Bool.random(using: &dice)
    settings.powerBudgetPerDay = Bool.random(using: &dice) ? nil : Int.random(in: -1...4, using: &dice)
    settings.silentBudgetPerHour = Int.random(in: -1...5, using: &dice)
    settings.backgroundSeconds = Int64.random(in: -1...60, using: &dice)
    settings.backgroundTaskSeconds = Bool.random(using: &dice) ? nil : Int64.random(in: -1...60, using: &dice)
    settings.passcode = Bool.random(using: &dice)
    settings.backgroundLaunchConnectsScene = Bool.random(using: &dice)
    settings.registersAfterRestore = Bool.random(using: &dice)
    settings.offloadedShowsPushes = Bool.random(using: &dice)
    settings.deniedDropsAlertAtAPNs = Bool.random(using: &dice)
    settings.promptWhileProvisional = Bool.random(using: &dice)
    settings.ephemeralHours = Int64.random(in: -1...9, using: &dice)
    settings.focus = Bool.random(using: &dice) ? nil : Focus("Work", allowedApps: ["com.example.b"])
    settings.summaryTimes = Bool.random(using: &dice) ? [] : [0, 700, 1439, 1440]
    settings.bannerSeconds = Int64.random(in: -1...9, using: &dice)
    settings.voiceOverAnnouncements = Bool.random(using: &dice)
    settings.pushedMinusOneClears = Bool.random(using: &dice)
    settings.appearanceOfAlert = PhoneSettings.AlertStyle.allCases.randomElement(using: &dice) ?? .banner
    phone = Phone(settings)
  }

  mutating func next() -> (Phone.Event, Instant) {
    let jumps: [Int64] = [0, 1, 900, 5_000, 31_000, 1_300_000, -60_000, 90_000_000, .max]
    let jump = Int.random(in: 0..<400, using: &dice) == 0 ? jumps.last : jumps.dropLast().randomElement(using: &dice)
    time = time + .milliseconds(jump ?? 0)
    return (event(), time)
  }

  private mutating func event() -> Phone.Event {
    let bundle = Self.bundles.randomElement(using: &dice) ?? "com.example.a"
    let some = Bool.random(using: &dice)
    switch Int.random(in: 0..<46, using: &dice) {
    case 0...9: return .push(push(for: bundle))
    case 10: return .installApp(app(bundle == "com.example.gone" ? "com.example.a" : bundle))
    case 11: return some ? .uninstallApp(bundleID: bundle) : .installApp(app("com.example.b"))
    case 12, 13: return .launch(bundleID: bundle)
    case 14, 15: return .tap(bundleID: bundle, id: some ? nil : phone.centre(of: bundle).randomElement(using: &dice))
    case 16: return .closeAlert(bundleID: bundle)
    case 17: return .clear(bundleID: bundle, id: some ? nil : phone.centre(of: bundle).last)
    case 18: return .lock
    case 19, 20: return .unlock
    case 21: return some ? .cancelUnlock : .restart
    case 22: return .home
    case 23: return some ? .openCentre : .closeCentre
    case 24: return .forceQuit(bundleID: bundle)
    case 25: return .answerPrompt(allow: some)
    case 26:
      var user = Phone.UserSettings()
      user.allowed = Int.random(in: 0..<4, using: &dice) > 0
      user.badge = some
      user.centre = Int.random(in: 0..<4, using: &dice) > 0
      user.scheduledDelivery = some
      user.style = PhoneSettings.AlertStyle.allCases.randomElement(using: &dice)
      user.grouping = Phone.UserSettings.Grouping.allCases.randomElement(using: &dice) ?? .automatic
      return .changePermission(bundleID: bundle, user)
    case 27: return .networkChanged(online: some)
    case 28: return .tokenIssued(bundleID: bundle, token: [UInt8.random(in: 0...3, using: &dice)])
    case 29: return some ? .registrationFailed(bundleID: bundle, reason: "no") : .endBySystem(bundleID: bundle)
    case 30: return some ? .suspend(bundleID: bundle) : life(of: bundle)
    case 31: return .registrationIDReceived(bundleID: bundle, registrationID: "r")
    case 32:
      var settings = phone.settings
      settings.lowPower = some
      settings.backgroundRefresh.toggle()
      settings.focus = settings.focus == nil ? Focus("Sleep") : nil
      settings.summaryTimes = settings.summaryTimes.isEmpty ? [60] : []
      return some ? .change(settings) : .timePassed
    case 33: return life(of: bundle)
    case 39: return calls(of: bundle)
    case 40, 41: return activities(of: bundle)
    case 42, 43: return service(of: bundle)
    case 38:
      return .action(
        bundleID: bundle, id: some ? nil : phone.centre(of: bundle).last,
        action: ["behind", "front", "typed", "gone"].randomElement(using: &dice) ?? "gone", text: some ? "x" : nil)
    case 34: return .dismiss(bundleID: bundle, id: some ? nil : phone.lockScreen(of: bundle).first)
    case 35: return some ? .flickAway(bundleID: bundle) : .turnOff(bundleID: bundle, id: nil)
    case 36: return .openNotificationSettings(bundleID: bundle, id: some ? nil : phone.centre(of: bundle).first)
    case 37: return .keepProvisional(bundleID: bundle, id: nil, inSummary: some)
    default: return .app(bundleID: bundle, act())
    }
  }

  /// PushKit, the call screen, places and zones.
  private mutating func calls(of bundle: String) -> Phone.Event {
    let some = Bool.random(using: &dice)
    let events: [Phone.Event] = [
      .voipTokenIssued(bundleID: bundle, token: [7]), .voipTokenInvalidated(bundleID: bundle), .answerCall,
      .declineCall,
      .hangUp, .cross(region: "home", entering: some), .changeZone(some ? "UTC" : "Mars/Olympus"),
      .push(DeliveredPayload(id: "v", bundleID: bundle, pushType: .voip, bytes: Sample.k1.encoded())),
    ]
    return events.randomElement(using: &dice) ?? .hangUp
  }

  /// Live Activities: started, updated and ended by push and by channel, swiped away, with tokens that come late.
  private mutating func activities(of bundle: String) -> Phone.Event {
    let some = Bool.random(using: &dice)
    let id = phone.liveActivities(of: bundle).randomElement(using: &dice)?.id
    let token: [UInt8] = [UInt8.random(in: 10...13, using: &dice)]
    let events = ["start", "update", "end", "nonsense"].map { event -> JSONValue in
      [
        "aps": [
          "event": .string(event), "timestamp": .number(JSONNumber(time.seconds)), "content-state": ["n": 1],
          "attributes-type": .string(some ? "Match" : "Unknown"), "attributes": [:],
          "alert": ["title": "t", "body": "b"],
          "dismissal-date": .number(JSONNumber(some ? 0 : Int64.max)), "relevance-score": some ? 100 : -1,
        ]
      ]
    }
    let push = DeliveredPayload(
      id: "a\(Int.random(in: 0..<9, using: &dice))", bundleID: bundle, pushType: .liveactivity,
      priority: PushPriority.allCases.randomElement(using: &dice) ?? .immediate, token: some ? token : nil,
      channel: Int.random(in: 0..<4, using: &dice) == 0 ? "ch" : nil,
      bytes: (events.randomElement(using: &dice) ?? [:]).encoded())
    let all: [Phone.Event] = [
      .push(push), .push(push), .dismissActivity(bundleID: bundle, id: some ? nil : id),
      .openActivity(bundleID: bundle, id: some ? nil : id),
      .channelRefused(bundleID: bundle, channel: "ch", reason: "no"),
      .learnChannel(bundleID: bundle, name: "ch", channel: "aGVsbG8="),
      .issued(token, some ? .liveActivityStart(attributesType: "Match") : .liveActivity(id: id ?? "gone"), to: bundle),
    ]
    return all.randomElement(using: &dice) ?? .timePassed
  }

  /// In-app messages, the preference, and what APNs tells of pushes.
  private mutating func service(of bundle: String) -> Phone.Event {
    let some = Bool.random(using: &dice)
    let message = InAppMessage(
      sequence: Int64.random(in: -1...4, using: &dice), messageID: some ? 7 : nil, content: "m")
    let events: [Phone.Event] = [
      .messagesConnected(bundleID: bundle), .messagesDisconnected(bundleID: bundle),
      .message(bundleID: bundle, message),
      .message(bundleID: bundle, message), .messageHistory(bundleID: bundle, [message]),
      .preferenceAnswered(bundleID: bundle, onlyScheduled: some, accepted: Bool.random(using: &dice)),
      .expand(bundleID: bundle, id: some ? nil : phone.centre(of: bundle).last), .collapse(bundleID: bundle),
    ]
    return events.randomElement(using: &dice) ?? .timePassed
  }

  /// Scenes, installation, system and network.
  private mutating func life(of bundle: String) -> Phone.Event {
    let some = Bool.random(using: &dice)
    let scene = SceneID(Int.random(in: 0...3, using: &dice))
    let version = IOSVersion(
      phone.settings.iosVersion.major + Int.random(in: -1...1, using: &dice), Int.random(in: 0...5, using: &dice))
    let events: [Phone.Event] = [
      .openScene(bundleID: bundle), .showScene(bundleID: bundle, scene), .closeScene(bundleID: bundle, scene),
      .disconnectScene(bundleID: bundle, some ? nil : scene), .failUnlock, .airplane(some),
      .setNetwork(Network.allCases.randomElement(using: &dice) ?? .none), .offloadApp(bundleID: bundle),
      .reinstallOffloaded(bundleID: bundle), .restoreFromBackup(toNewPhone: some), .updateIOS(version),
      .prewarm(bundleID: bundle), .terminateForMemory(bundleID: some ? nil : bundle),
      .changeBackgroundRefresh(bundleID: bundle, some), .answerTimeSensitive(bundleID: bundle, keep: some),
    ]
    return events.randomElement(using: &dice) ?? .timePassed
  }

  private mutating func local() -> AppAct {
    let some = Bool.random(using: &dice)
    let spans: [Instant.Span] = [
      .seconds(-1), .seconds(1), .hours(1), .days(1), .milliseconds(.max), .milliseconds(.min),
    ]
    let patterns = [
      CalendarPattern(), CalendarPattern(hour: 9), CalendarPattern(month: 2, day: 30), CalendarPattern(minute: 70),
      CalendarPattern(weekday: 2, hour: 9), CalendarPattern(year: .max, hour: .min),
    ]
    let span = spans.randomElement(using: &dice) ?? .hours(1)
    let triggers: [NotificationTrigger?] = [
      nil, .interval(span, repeats: some),
      .calendar(patterns.randomElement(using: &dice) ?? CalendarPattern(), zone: some ? "UTC" : nil, repeats: some),
      .region(Region("home", onExit: some), repeats: some),
    ]
    guard Bool.random(using: &dice) else {
      var old = UILocalNotification(alertBody: some ? "old" : nil, fireDate: time + span)
      old.timeZone = some ? "Europe/Nowhere" : nil
      old.repeatInterval =
        Int.random(in: 0..<3, using: &dice) == 0 ? [.day, .month, .year].randomElement(using: &dice) : nil
      old.region = Int.random(in: 0..<9, using: &dice) == 0 ? Region("home") : nil
      old.applicationIconBadgeNumber = Int.random(in: -2...2, using: &dice)
      return some ? .scheduleLocalNotification(old) : .presentLocalNotificationNow(old)
    }
    return .addNotification(
      LocalNotification(
        id: "l\(Int.random(in: 0..<3, using: &dice))", content: NotificationContent(body: "b", badge: some ? -1 : nil),
        trigger: triggers.randomElement(using: &dice) ?? nil))
  }

  private mutating func act() -> AppAct {
    let acts: [AppAct] = [
      .askAndRegister(.usual), .registerAsSeed, .requestAuthorization([.alert, .provisional]),
      .requestAuthorization([]),
      .registerForRemoteNotifications, .unregisterForRemoteNotifications, .handTokenToService, .readPermission,
      .setBadge(0), .setBadge(7), .setBadge(-1), .setBadgeCount(0), .setBadgeCount(-1), .setBadge(.min),
      .setBadge(.max), .getDelivered,
      .removeDelivered(["p1"]), .removeAllDelivered, .removeWithdrawn, .setCategories([Self.category]),
      .setCategories([]),
      .requestAuthorization([.alert, .providesAppNotificationSettings, .criticalAlert]),
      .beginBackgroundTask(seconds: nil),
      .beginBackgroundTask(seconds: 40), .beginBackgroundTask(seconds: .min), .endBackgroundTask,
      .readBackgroundRefreshStatus, .setActivationConditions(["t"]), .showPage("p"), .download("d"), local(), local(),
      .removePending(["l1"]), .removeAllPending, .getPending, .cancelAllLocalNotifications, .setPushTypes([.voip]),
      .setPushTypes([], delegateFirst: false), .reportIncomingCall(from: "Lin"), .reportCallEnded,
      .startActivity(
        ActivityRequest(
          attributesType: "Match", content: ActivityContent(state: ["n": 0], staleAfter: .seconds(-1)),
          pushType: Bool.random(using: &dice) ? .token : .channel("ch"))),
      .updateActivity(id: nil, ActivityContent(state: ["n": 1], relevanceScore: .infinity)),
      .endActivity(id: nil, contentState: nil, .at(Instant(milliseconds: .max))), .handActivityTokensToService,
      .fetchMessageHistory, .setPreference(onlyScheduled: true), .setPreference(onlyScheduled: false),
    ]
    return acts.randomElement(using: &dice) ?? .readPermission
  }

  private mutating func app(_ bundle: String) -> AppDescription {
    var app = AppDescription(bundleID: bundle)
    for method in Callback.Method.allCases {
      if Int.random(in: 0..<5, using: &dice) == 0 { app.implements.remove(method) }
      if Int.random(in: 0..<5, using: &dice) == 0 { app.script[method] = [act()] }
    }
    app.delegate = AppDescription.DelegateTime.allCases.randomElement(using: &dice) ?? .never
    app.backgroundModes = Int.random(in: 0..<4, using: &dice) == 0 ? [] : [.remoteNotification, .voip]
    app.apsEnvironment = AppDescription.APSEnvironment.allCases.randomElement(using: &dice) ?? .none
    if Bool.random(using: &dice) { app.entitlements = [.timeSensitive, .criticalAlerts] }
    app.exitsOnSuspend = Int.random(in: 0..<9, using: &dice) == 0
    app.hasSceneManifest = Bool.random(using: &dice)
    app.supportsMultipleScenes = Bool.random(using: &dice)
    app.isAppClip = Int.random(in: 0..<5, using: &dice) == 0
    app.entitlements = Bool.random(using: &dice) ? [.criticalAlerts] : []
    let answers: [AppDescription.Answer] = [
      .atOnce, .after(.seconds(3)), .after(.seconds(90)), .after(.seconds(-3)), .after(.milliseconds(.max)), .never,
      .twice,
    ]
    app.fetchAnswer = answers.randomElement(using: &dice) ?? .never
    app.presentationAnswer = answers.randomElement(using: &dice) ?? .never
    app.responseAnswer = answers.randomElement(using: &dice) ?? .never
    app.usesMessages = Bool.random(using: &dice)
    if Bool.random(using: &dice) { app.liveActivities = LiveActivitySupport(attributesTypes: ["Match"]) }
    if Bool.random(using: &dice) {
      var service = ServiceExtension()
      service.answer = answers.randomElement(using: &dice) ?? .never
      service.crashes = Int.random(in: 0..<4, using: &dice) == 0
      app.serviceExtension = service
      app.contentExtensions = [ContentExtension(categories: ["c"])]
    }
    app.presentation = PresentationOptions(rawValue: UInt8.random(in: 0...255, using: &dice))
    return app
  }

  private mutating func push(for bundle: String) -> DeliveredPayload {
    let payloads: [JSONValue] = [
      Sample.k1, Sample.k2, Sample.k3, Sample.k4, Sample.k5, Sample.k7, Sample.s0Silent, Sample.s2Visible,
      levelled("passive"), levelled("time-sensitive", ["relevance-score": 1]), levelled("critical"),
      levelled(nil, ["thread-id": "t"]),
      ["aps": ["badge": 0]], ["aps": ["badge": .number(JSONNumber(Int64.max))]], ["aps": ["badge": -1]], ["aps": [:]],
      ["aps": ["alert": [:]]], ["aps": 1], ["aps": ["alert": ["loc-key": "K"], "content-available": true]], [:],
      ["aps": ["alert": "a", "category": "c", "content-available": 1]], ["aps": ["alert": "b", "category": "c"]],
      ["aps": ["alert": "a", "mutable-content": 1, "content-available": 1], "_j_msgid": 7],
      ["aps": ["alert": "a", "badge": 0, "sound": ["critical": 1, "name": "x", "volume": 2]]],
    ]
    var bytes = (payloads.randomElement(using: &dice) ?? Sample.k1).encoded()
    if Int.random(in: 0..<12, using: &dice) == 0 { bytes.removeLast() }
    return DeliveredPayload(
      id: "p\(Int.random(in: 0..<9, using: &dice))", bundleID: bundle,
      pushType: Int.random(in: 0..<9, using: &dice) == 0
        ? PushType.allCases.randomElement(using: &dice) ?? .alert : Bool.random(using: &dice) ? .alert : .background,
      priority: PushPriority.allCases.randomElement(using: &dice) ?? .immediate,
      collapseID: Int.random(in: 0..<3, using: &dice) == 0 ? "c" : nil,
      expiration: Int.random(in: 0..<5, using: &dice) == 0 ? time + .seconds(1) : nil, bytes: bytes)
  }
}
