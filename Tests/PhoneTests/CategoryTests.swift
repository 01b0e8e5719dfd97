import Basics
import Phone
import PushPayload
import Testing

@Suite("Categories and what a response holds")
struct CategoryTests {
  private func many(_ count: Int, minimal: [String]? = nil) -> NotificationCategory {
    NotificationCategory(
      id: "invite", actions: (0..<count).map { NotificationAction(id: "a\($0)") }, minimalActions: minimal)
  }

  @Test(
    "D-242 one set that replaces the former, from iOS 8 on; it outlives the process", arguments: [IOSVersion.g2, .g3])
  func replaced(version: IOSVersion) {
    var story = ActionTests.story(version, .suspended)
    #expect(story.phone.buttons(of: Story.bundle, id: nil).map(\.id) == ["later", "open", "delete", "reply"])
    story.happens(.endBySystem(bundleID: Story.bundle))
    #expect(story.phone.buttons(of: Story.bundle, id: nil).count == 4)
    story.happens(
      .launch(bundleID: Story.bundle),
      .app(bundleID: Story.bundle, .setCategories([NotificationCategory(id: "other")])))
    #expect(story.phone.buttons(of: Story.bundle, id: nil).isEmpty)
  }

  @Test("D-242 before iOS 8 there are none: a fault of the app")
  func tooEarly() {
    let story = ActionTests.story(IOSVersion(7), .active)
    #expect(
      story.phone.timeline.contains { entry in
        if case .fault(let text) = entry.what { text.contains("needs iOS 8.0") } else { false }
      })
  }

  @Test("D-242 D-012 iOS 9: the settings tell their categories; the seed's code, which passes none, takes them away")
  func inSettings() {
    var story = Story(.g2, allowed: false)
    let bundle = Story.bundle
    story.happens(
      .launch(bundleID: bundle), .app(bundleID: bundle, .setCategories([ActionTests.invite])),
      .app(bundleID: bundle, .askAndRegister(.usual)), .answerPrompt(allow: true))
    #expect(story.callbacks.contains { $0.arguments == .userNotificationSettings(.usual, categories: ["invite"]) })
    story.forget()
    story.happens(.app(bundleID: bundle, .registerAsSeed))
    #expect(story.callbacks.last?.arguments == .userNotificationSettings(.usual, categories: []))
  }

  @Test("D-243 two actions of one name are a fault, whichever categories they are in")
  func unique() {
    var story = Story(.g3)
    story.bring(to: .active)
    story.happens(
      .app(
        bundleID: Story.bundle,
        .setCategories([
          NotificationCategory(id: "a", actions: [NotificationAction(id: "ok")]),
          NotificationCategory(id: "b", actions: [NotificationAction(id: "ok")]),
        ])))
    #expect(story.faults.map(\.rule) == ["D-243"])
  }

  @Test("D-243 how many buttons show: ten from iOS 10 on; on iOS 8 and 9 four in an alert, two elsewhere")
  func limits() {
    for (version, style, count) in [
      (IOSVersion.g3, PhoneSettings.AlertStyle.banner, 10), (.g2, .modal, 4), (.g2, .banner, 2),
      (IOSVersion(8), .modal, 4),
    ] {
      let story = ActionTests.story(version, .suspended, category: many(12)) { $0.appearanceOfAlert = style }
      #expect(story.phone.buttons(of: Story.bundle, id: nil).count == count)
    }
    let chosen = ActionTests.story(.g2, .suspended, category: many(4, minimal: ["a3", "a1"])) {
      $0.appearanceOfAlert = .banner
    }
    #expect(chosen.phone.buttons(of: Story.bundle, id: nil).map(\.id) == ["a3", "a1"])
  }

  @Test("D-243 a button that does not show where the notification is cannot be pressed")
  func hidden() {
    var story = ActionTests.story(.g2, .suspended, category: many(4)) { $0.appearanceOfAlert = .banner }
    story.happens(.action(bundleID: Story.bundle, id: nil, action: "a3", text: nil))
    #expect(story.calls == "-")
    #expect(story.said("does not show it here", "D-150"))
  }

  @Test("D-244 the options of actions and categories by Apple's names")
  func options() {
    #expect(
      NotificationAction.Options.table.map(\.name) == ["authenticationRequired", "destructive", "foreground"])
    #expect(
      NotificationCategory.Options.table.map(\.name) == [
        "customDismissAction", "allowInCarPlay", "hiddenPreviewsShowTitle", "hiddenPreviewsShowSubtitle",
        "allowAnnouncement",
      ])
    let story = ActionTests.story(.g3, .suspended)
    let delete = story.phone.buttons(of: Story.bundle, id: nil).first { $0.id == "delete" }
    #expect(delete?.options == [.authenticationRequired, .destructive])
  }

  @Test("D-245 the response's notification: delivery time, push trigger, and the content by Apple's names")
  func response() throws {
    let half = JSONNumber(0.5).map(JSONValue.number) ?? .null
    let payload: JSONValue = [
      "aps": [
        "alert": ["title": "Game", "subtitle": "Five", "body": "Your turn"], "badge": 9, "sound": "bell.caf",
        "thread-id": "t", "category": "invite", "interruption-level": "time-sensitive", "relevance-score": half,
        "target-content-id": "w", "filter-criteria": "f",
      ], "key1": "value1",
    ]
    var story = ActionTests.story(.g3, .suspended, payload: payload)
    let delivered = story.now
    story.pass(.minutes(5))
    story.happens(.action(bundleID: Story.bundle, id: nil, action: "reply", text: "Yes"))
    guard case .response(let response) = try #require(story.callbacks.first).arguments else {
      Issue.record("\(story.calls)")
      return
    }
    #expect(response.notification.date == delivered)
    #expect(response.notification.trigger == .push)
    #expect(response.notification.userInfo == payload.object)
    let expected: JSONValue = [
      "actionIdentifier": "reply",
      "notification": [
        "date": .string(delivered.description),
        "request": [
          "identifier": "p1",
          "content": [
            "title": "Game", "subtitle": "Five", "body": "Your turn", "badge": 9, "sound": "bell.caf",
            "threadIdentifier": "t", "categoryIdentifier": "invite", "interruptionLevel": "time-sensitive",
            "relevanceScore": half, "targetContentIdentifier": "w", "filterCriteria": "f", "attachments": [],
            "userInfo": payload,
          ], "trigger": "UNPushNotificationTrigger",
        ],
      ], "userText": "Yes", "targetScene": .null,
    ]
    #expect(response.json == expected)
  }

  @Test("D-245 what is absent reads as Apple's defaults")
  func defaults() throws {
    var story = ActionTests.story(.g3, .active, payload: ["aps": ["alert": "Hi"]])
    story.push(["aps": ["alert": "Hi"]])
    guard case .notification(let notification) = try #require(story.callbacks.first).arguments else {
      Issue.record("\(story.calls)")
      return
    }
    #expect(notification.title.isEmpty && notification.subtitle.isEmpty && notification.body == "Hi")
    #expect(notification.badge == nil && notification.sound == nil)
    #expect(notification.interruptionLevel == .active && notification.relevanceScore == 0)
    #expect(notification.targetContentIdentifier == nil && notification.filterCriteria == nil)
  }
}

@Suite("What a call lets a push service count")
struct ReportTests {
  struct Row: CustomTestStringConvertible, Sendable {
    var id: String
    var from: AppState
    var kind = "K1"
    var opensByIcon = false
    /// Of every call from the arrival on, in G1, G2, G3: r received, c click, · nothing.
    var reports: [String]
    var testDescription: String { "\(id): \(kind) from \(from)\(opensByIcon ? ", icon" : "")" }
  }

  static let rows = [
    Row(id: "D-128 tap: LO(p), and the call that follows", from: .notRunning, reports: ["c·", "cc·", "cc·"]),
    Row(id: "D-128 the icon is never a click", from: .notRunning, opensByIcon: true, reports: ["··", "··", "··"]),
    Row(id: "D-128 tap from behind", from: .suspended, reports: ["·c·", "·c·", "·c·"]),
    Row(id: "D-128 woken, then tapped", from: .suspended, kind: "K2", reports: ["·c·", "r·c·", "r·c·"]),
    Row(
      id: "D-128 launched behind: LO(p) there is no click", from: .notRunning, kind: "K3", reports: ["", "··r", "··r"]),
    Row(id: "D-125 in front, state A: received", from: .active, kind: "K1", reports: ["r", "r", "rc"]),
    Row(
      id: "D-124 under the centre state I looks like a tap", from: .inactive, kind: "K1", reports: ["c", "c", "rc·"]),
  ]

  @Test("D-124, D-125, D-128", arguments: rows)
  func counts(row: Row) throws {
    for (version, reports) in zip([IOSVersion.g1, .g2, .g3], row.reports) {
      var story = Story(version)
      story.bring(to: row.from)
      let (payload, type) = try #require(Sample.of(row.kind))
      story.push(payload, type)
      if row.opensByIcon {
        story.happens(.launch(bundleID: Story.bundle))
      } else {
        story.happens(.tap(bundleID: Story.bundle, id: nil))
      }
      let told = story.callbacks.filter { $0.method != .willFinishLaunching }.map { callback in
        switch callback.report {
        case .received: "r"
        case .click: "c"
        case nil: "·"
        }
      }
      #expect(told.joined() == reports, "iOS \(version): \(story.calls)")
    }
  }

  @Test("D-128 a button is a click, a dismissal is none")
  func acts() {
    for version in [IOSVersion(8), .g2, .g3] {
      var story = ActionTests.story(version, .suspended)
      story.happens(.action(bundleID: Story.bundle, id: nil, action: "later", text: nil))
      #expect(story.callbacks.map(\.report) == [.click])
    }
    var story = ActionTests.story(.g3, .suspended)
    story.happens(.dismiss(bundleID: Story.bundle, id: nil))
    #expect(story.callbacks.map(\.report) == [nil])
  }
}
