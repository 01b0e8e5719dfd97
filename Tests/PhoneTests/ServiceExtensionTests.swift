import Basics
import Phone
import PushPayload
import Testing

@Suite("Service extension")
struct ServiceExtensionTests {
  static let mutable: JSONValue = [
    "aps": ["alert": ["title": "New", "body": "Secret"], "badge": 3, "sound": "default", "mutable-content": 1],
    "clear": "Decrypted", "link": "a",
  ]
  static let mutableK2: JSONValue = [
    "aps": ["alert": ["title": "New", "body": "Secret"], "mutable-content": 1, "content-available": 1]
  ]

  private func story(
    _ version: IOSVersion = .g3, _ edits: [ContentEdit] = [.body("Edited")],
    _ adjust: (inout ServiceExtension) -> Void = { _ in }, app: (inout AppDescription) -> Void = { _ in }
  ) -> Story {
    var script = ServiceExtension(edits: edits)
    adjust(&script)
    return Story(
      version,
      app: .complete {
        $0.serviceExtension = script
        app(&$0)
      })
  }

  struct Condition: CustomTestStringConvertible, Sendable {
    var name: String
    var version = IOSVersion.g3
    var payload = ServiceExtensionTests.mutable
    var alert = true
    var bundled = true
    var runs: Bool
    var testDescription: String { "D-250 \(name): \(runs ? "runs" : "does not run")" }
  }

  static let conditions = [
    Condition(name: "all is there, iOS 17", runs: true),
    Condition(name: "all is there, iOS 10.0", version: IOSVersion(10), runs: true),
    Condition(name: "iOS 9.3 knows none", version: .g2, runs: false),
    Condition(name: "iOS 6.1 knows none", version: .g1, runs: false),
    Condition(name: "no mutable-content", payload: Sample.k1, runs: false),
    Condition(
      name: "mutable-content true is no 1", payload: ["aps": ["alert": "a", "mutable-content": true]], runs: false),
    Condition(
      name: "only a subtitle", payload: ["aps": ["alert": ["subtitle": "s"], "mutable-content": 1]], runs: true),
    Condition(name: "only a title", payload: ["aps": ["alert": ["title": "t"], "mutable-content": 1]], runs: true),
    Condition(name: "an empty alert", payload: ["aps": ["alert": "", "mutable-content": 1]], runs: false),
    Condition(name: "K3", payload: ["aps": ["content-available": 1, "mutable-content": 1]], runs: false),
    Condition(name: "K4", payload: ["aps": ["badge": 3, "mutable-content": 1]], runs: false),
    Condition(name: "K5", payload: ["aps": ["sound": "default", "mutable-content": 1]], runs: false),
    Condition(name: "alerts are off", alert: false, runs: false),
    Condition(name: "no extension is bundled", bundled: false, runs: false),
  ]

  @Test("D-250 runs if and only if", arguments: conditions)
  func condition(_ row: Condition) {
    for state in AppState.allCases {
      var story = Story(
        row.version, app: .complete { $0.serviceExtension = row.bundled ? ServiceExtension() : nil })
      if !row.alert {
        var user = Phone.UserSettings()
        (user.alert, user.lockScreen, user.centre) = (false, false, false)
        story.happens(.changePermission(bundleID: Story.bundle, user))
      }
      story.bring(to: state)
      story.push(row.payload)
      #expect(story.calls.contains("NSE") == row.runs, "\(state)")
    }
  }

  @Test(
    "D-250 its own process: it runs for apps that do not, and starts none",
    arguments: [AppState.notRunning, .forceQuit])
  func ownProcess(state: AppState) {
    var story = story()
    story.bring(to: state)
    story.push(Self.mutable)
    #expect(story.calls == "NSE")
    #expect(story.shown.first?.body == "Edited")
    #expect(story.state == state)
  }

  @Test("D-250 denied permission: neither extension nor anything shown")
  func denied() {
    var story = Story(.g3, app: .complete { $0.serviceExtension = ServiceExtension() }, allowed: false)
    story.push(Self.mutable)
    #expect(story.calls == "-")
    #expect(story.said("may not show alerts", "D-250"))
  }

  @Test("D-251 it may change title, subtitle, body, badge, sound, attachments; the app sees the changed content")
  func edits() throws {
    var story = story(
      .g3,
      [
        .title("T"), .subtitle("S"), .body(.custom(key: "clear")), .badge(9), .sound(Payload.Sound(name: "bell.caf")),
        .category("c"), .thread("t"), .level(.passive), .relevance(0.5), .targetContent("window"),
        .filterCriteria("work"), .attach(NotificationAttachment(file: "cat.png")), .userInfo(key: "added", 1),
        .userInfo(key: "link", nil),
      ], app: { $0.sounds = ["bell.caf"] })
    story.bring(to: .active)
    story.push(Self.mutable)
    #expect(story.calls == "NSE WP")
    guard case .notification(let seen)? = story.callbacks.last?.arguments else {
      Issue.record("no notification")
      return
    }
    #expect([seen.title, seen.subtitle, seen.body] == ["T", "S", "Decrypted"])
    #expect(seen.badge == 9)
    #expect(seen.sound?.name == "bell.caf")
    #expect([seen.categoryIdentifier, seen.threadIdentifier] == ["c", "t"])
    #expect(seen.interruptionLevel == .passive)
    #expect(seen.relevanceScore == 0.5)
    #expect(seen.targetContentIdentifier == "window")
    #expect(seen.filterCriteria == "work")
    #expect(seen.attachments == ["cat.png"])
    #expect(seen.userInfo["added"] == 1)
    #expect(seen.userInfo["link"] == nil)
    guard case .notification(let original)? = story.callbacks.first?.arguments else {
      Issue.record("no request")
      return
    }
    #expect([original.title, original.body] == ["New", "Secret"], "the extension gets it as it came")
  }

  @Test("D-251 what is shown is the changed content, sound and number too")
  func shownAsChanged() throws {
    var story = story(
      .g3,
      [
        .title("T"), .subtitle("S"), .body("B"), .badge(9), .sound(nil),
        .attach(NotificationAttachment(file: "cat.png")),
      ])
    story.push(Self.mutable)
    let shown = try #require(story.shown.first)
    #expect([shown.heading, shown.subtitle, shown.body] == ["T", "S", "B"])
    #expect(story.letters == "BCN", "its sound was taken away")
    #expect(story.badge == 9)
    #expect(shown.attachments == ["cat.png"])
  }

  @Test("D-251 an emptied text: the original is shown", arguments: [[ContentEdit.empty], [.title(""), .body("")]])
  func emptied(edits: [ContentEdit]) {
    var story = story(.g3, edits)
    story.push(Self.mutable)
    #expect(story.shown.first?.body == "Secret")
    #expect(story.letters == "BCSN")
  }

  @Test("D-252 too slow: NSX after 30 s, its last chance, or the original")
  func slow() {
    for (expiry, body) in [(nil, "Secret"), ([.body("loading…")], "loading…")] as [([ContentEdit]?, String)] {
      for answer in [AppDescription.Answer.never, .after(.seconds(31))] {
        var story = story {
          $0.answer = answer
          $0.expiryEdits = expiry
        }
        story.push(Self.mutable)
        story.pass(.milliseconds(29_999))
        #expect(story.calls == "NSE")
        #expect(story.letters == "-")
        story.pass(.milliseconds(1))
        #expect(story.calls == "NSE NSX")
        #expect(story.shown.map(\.body) == [body])
        story.pass(.minutes(5))
        #expect(story.shown.count == 1)
      }
    }
  }

  @Test("D-252 an answer in time, at its time; the limit is a setting")
  func inTime() {
    for (seconds, limit, body) in [(29, 30, "Edited"), (30, 30, "Edited"), (10, 5, "Secret")]
      as [(Int64, Int64, String)]
    {
      var story = story { $0.answer = .after(.seconds(seconds)) }
      var settings = story.phone.settings
      settings.extensionSeconds = limit
      story.happens(.change(settings))
      story.push(Self.mutable)
      #expect(story.letters == "-")
      story.pass(.seconds(seconds))
      #expect(story.shown.map(\.body) == [body])
    }
  }

  @Test("D-252 answered twice: the first counts, once shown")
  func twice() {
    var story = story { $0.answer = .twice }
    story.push(Self.mutable)
    #expect(story.shown.map(\.body) == ["Edited"])
    #expect(story.faults.map(\.rule) == ["D-252"])
  }

  @Test("D-253 shown after the answer, by where the app is then")
  func stateAtTheAnswer() {
    var toFront = story { $0.answer = .after(.seconds(10)) }
    toFront.bring(to: .suspended)
    toFront.push(Self.mutable)
    toFront.happens(.launch(bundleID: Story.bundle))
    toFront.pass(.seconds(10))
    #expect(toFront.calls == "NSE WEF DBA WP")
    #expect(toFront.shown.first?.body == "Edited")
    var toBack = story { $0.answer = .after(.seconds(10)) }
    toBack.bring(to: .active)
    toBack.push(Self.mutable)
    toBack.happens(.home, .lock)
    toBack.pass(.seconds(10))
    #expect(toBack.calls == "NSE WRA DEB")
    #expect(toBack.letters == "LWCSN")
  }

  @Test("D-253 the wake by content-available is not delayed, and gets the payload as it came")
  func wakeIsIndependent() {
    for (state, calls) in [
      (AppState.suspended, "NSE DRF(B)"), (.notRunning, "NSE LO(p) DEB DRF(B)"), (.active, "DRF(A) NSE WP"),
    ] {
      for answer in [AppDescription.Answer.atOnce, .after(.seconds(20))] {
        var story = story(.g3, [.body("Edited"), .userInfo(key: "added", 1)]) { $0.answer = answer }
        story.bring(to: state)
        story.push(Self.mutableK2)
        let before = calls == "DRF(A) NSE WP" ? "DRF(A) NSE" : calls
        #expect(answer == .atOnce || story.calls == before, "\(state)")
        story.pass(.seconds(20))
        #expect(story.calls == calls, "\(state)")
        #expect(story.shown.map(\.body) == ["Edited"])
        let woken = story.callbacks.first { $0.method == .didReceiveRemoteNotificationFetch }
        #expect(woken?.arguments.userInfo?["added"] == nil)
      }
    }
  }

  @Test("D-253 an app without delegate in front: DRF at once for K2, after the answer for K1, and once")
  func withoutDelegate() {
    var app = story(.g3, [.body("Edited")], { $0.answer = .after(.seconds(5)) }, app: { $0.delegate = .never })
    app.bring(to: .active)
    app.push(Self.mutableK2)
    #expect(app.calls == "DRF(A) NSE")
    app.pass(.seconds(5))
    #expect(app.calls == "DRF(A) NSE")
    app.forget()
    app.push(Self.mutable)
    #expect(app.calls == "NSE")
    app.pass(.seconds(5))
    #expect(app.calls == "NSE DRF(A)")
  }

  @Test("D-254 filtering: with the entitlement, from iOS 13.3 on, for type alert: shown nowhere; else the original")
  func filtering() {
    for (version, entitled, hidden) in [
      (IOSVersion(13, 3), true, true), (.g3, true, true), (IOSVersion(13, 2), true, false), (.g3, false, false),
    ] {
      for state in [AppState.active, .suspended] {
        var story = story(version, [.empty], app: { if entitled { $0.entitlements = [.filtering] } })
        story.bring(to: state)
        story.push(Self.mutable)
        #expect((story.letters == "-") == hidden, "iOS \(version), \(state)")
        #expect(story.calls == (state == .active && !hidden ? "NSE WP" : "NSE"))
        #expect(story.centre.isEmpty == hidden)
        #expect(story.rules.contains("D-254") == hidden)
      }
    }
  }

  @Test("D-255 a crash, or too much memory: the original is shown")
  func crash() {
    for adjust in [{ $0.crashes = true }, { $0.memoryMegabytes = 25 }] as [(inout ServiceExtension) -> Void] {
      var story = story(.g3, [.body("Edited")], adjust)
      story.push(Self.mutable)
      #expect(story.shown.map(\.body) == ["Secret"])
      #expect(story.faults.map(\.rule) == ["D-255"])
    }
    var within = story { $0.memoryMegabytes = 24 }
    within.push(Self.mutable)
    #expect(within.shown.map(\.body) == ["Edited"])
    var late = story {
      $0.crashes = true
      $0.answer = .after(.seconds(3))
    }
    late.push(Self.mutable)
    #expect(late.letters == "-")
    late.pass(.seconds(3))
    #expect(late.shown.map(\.body) == ["Secret"])
  }

  @Test("D-255 the phone restarts, or the app is updated, while the extension works: the original is shown")
  func endedFromOutside() {
    for event in [Phone.Event.restart, .installApp(.complete)] {
      var story = story { $0.answer = .never }
      story.push(Self.mutable)
      story.happens(event)
      #expect(story.shown.map(\.body) == ["Secret"])
      story.pass(.minutes(1))
      #expect(story.shown.count == 1)
    }
    var gone = story { $0.answer = .never }
    gone.push(Self.mutable)
    gone.happens(.uninstallApp(bundleID: Story.bundle))
    gone.pass(.minutes(1))
    #expect(gone.letters == "-")
  }

  @Test("D-257 any push that reaches the phone runs the extension, also one of no provider")
  func simulated() {
    var story = story()
    story.happens(
      .push(DeliveredPayload(id: "file", bundleID: Story.bundle, bytes: Self.mutable.encoded())))
    #expect(story.calls == "NSE")
  }

  @Test("two at once: each is shown when its own answer comes")
  func several() {
    var story = story { $0.answer = .after(.seconds(10)) }
    let first = story.push(Self.mutable)
    let second = story.push(Self.mutable)
    #expect(story.phone.due == story.now + .seconds(9))
    story.pass(.seconds(9))
    #expect(story.centre == [first])
    story.pass(.seconds(1))
    #expect(story.centre == [second, first])
  }

  // MARK: app groups

  @Test("D-250 a process of its own: what the extension writes the app reads in their group, and nowhere without one")
  func groups() {
    for group in ["group.com.example", nil] {
      var story = story(.g3, [.countBadge(key: "unread"), .share(key: "last", "Lin")]) {
        _ in
      } app: {
        $0.appGroups = group.map { [$0] } ?? []
      }
      story.push(Self.mutable)
      story.push(Self.mutable)
      #expect(story.badge == 2)
      story.happens(.launch(bundleID: Story.bundle))
      story.forget()
      story.happens(.app(bundleID: Story.bundle, .readShared("unread")))
      #expect(story.said("reads unread = 2 in group.com.example", "D-250") == (group != nil))
      #expect(story.said("in a container of its own", "D-250") == (group == nil))
      story.happens(.app(bundleID: Story.bundle, .share(key: "unread", 7)), .restart, .unlock)
      story.push(Self.mutable)
      #expect(story.badge == (group == nil ? 3 : 8), "it outlives processes and restarts")
    }
  }

  @Test("D-250 a group is gone with the last app that has it; another app of it reads what the first wrote")
  func lastOfGroup() {
    func app(_ bundleID: String) -> AppDescription {
      var app = AppDescription(bundleID: bundleID)
      app.appGroups = ["group.team"]
      return app
    }
    var phone = Phone(PhoneSettings())
    func does(_ events: [Phone.Event]) -> [String] {
      _ = phone.takeTimeline()
      for event in events { _ = phone.handle(event, at: Instant(seconds: 1_796_029_200)) }
      return phone.takeTimeline().map(\.description).filter { $0.contains("reads") }
    }
    let write: [Phone.Event] = [
      .installApp(app("a")), .installApp(app("b")), .launch(bundleID: "a"), .app(bundleID: "a", .share(key: "k", 1)),
      .home,
    ]
    let read: [Phone.Event] = [.launch(bundleID: "b"), .app(bundleID: "b", .readShared("k")), .home]
    #expect(does(write + read).contains { $0.contains("reads k = 1 in group.team") })
    #expect(does([.uninstallApp(bundleID: "a")] + read).contains { $0.contains("reads k = 1") })
    #expect(
      does([.uninstallApp(bundleID: "b"), .installApp(app("b"))] + read).contains { $0.contains("reads no k") })
  }
}
