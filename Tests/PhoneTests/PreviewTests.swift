import Basics
import Phone
import PushPayload
import Testing

@Suite("Hidden previews")
struct PreviewTests {
  static let alert: JSONValue = [
    "aps": [
      "alert": ["title": "Lin", "subtitle": "Dinner", "body": "At eight?"], "category": "chat", "thread-id": "lin",
    ]
  ]

  /// An app that has registered `categories`, left in the background.
  private func story(
    _ version: IOSVersion = .g3, _ categories: [NotificationCategory] = [],
    _ adjust: (inout PhoneSettings) -> Void = { _ in }
  ) -> Story {
    var story = Story(version, adjust)
    story.happens(.launch(bundleID: Story.bundle), .app(bundleID: Story.bundle, .setCategories(categories)))
    story.happens(.home, .suspend(bundleID: Story.bundle))
    story.forget()
    return story
  }

  struct Row: CustomTestStringConvertible, Sendable {
    var phone: PhoneSettings.Previews
    var app: PhoneSettings.Previews?
    var locked: Bool
    var hidden: Bool
    var testDescription: String {
      "D-126 previews \(phone.rawValue), of the app \(app?.rawValue ?? "as the phone"), \(locked ? "locked" : "unlocked")"
    }
  }

  static let rows = [
    Row(phone: .whenUnlocked, locked: true, hidden: true), Row(phone: .whenUnlocked, locked: false, hidden: false),
    Row(phone: .always, locked: true, hidden: false), Row(phone: .always, locked: false, hidden: false),
    Row(phone: .never, locked: true, hidden: true), Row(phone: .never, locked: false, hidden: true),
    Row(phone: .whenUnlocked, app: .always, locked: true, hidden: false),
    Row(phone: .always, app: .never, locked: false, hidden: true),
    Row(phone: .never, app: .whenUnlocked, locked: false, hidden: false),
  ]

  @Test("D-126 the phone's setting and the app's", arguments: rows)
  func setting(_ row: Row) throws {
    var story = story { $0.previews = row.phone }
    var user = Phone.UserSettings()
    user.previews = row.app
    story.happens(.changePermission(bundleID: Story.bundle, user))
    if row.locked { story.happens(.lock) }
    story.forget()
    story.push(Self.alert)
    let shown = try #require(story.shown.first)
    let words = [shown.heading, shown.subtitle, shown.body]
    #expect(words == (row.hidden ? ["News", "", "Notification"] : ["Lin", "Dinner", "At eight?"]))
    #expect(shown.parts.letters == (row.locked ? "LWC" : "BC"), "only words are hidden")
  }

  @Test(
    "D-126 before iOS 11 no app's texts are hidden", arguments: [IOSVersion.g1, .g2, IOSVersion(10, 3), IOSVersion(11)])
  func versions(version: IOSVersion) {
    var story = story(version) { $0.previews = .never }
    story.happens(.lock)
    story.push(Self.alert)
    #expect(story.shown.first?.body == (version.major >= 11 ? "Notification" : "At eight?"))
  }

  @Test("D-126 the category's placeholder, with the number of the thread's entries; title and subtitle if it says so")
  func category() {
    var category = NotificationCategory(id: "chat", hiddenPreviewsBodyPlaceholder: "%u new messages")
    for (options, heading, subtitle) in [
      ([], "News", ""), ([.hiddenPreviewsShowTitle], "Lin", ""), ([.hiddenPreviewsShowSubtitle], "News", "Dinner"),
      ([.hiddenPreviewsShowTitle, .hiddenPreviewsShowSubtitle], "Lin", "Dinner"),
    ] as [(NotificationCategory.Options, String, String)] {
      category.options = options
      var story = story(.g3, [category])
      story.happens(.lock)
      story.forget()
      story.push(Self.alert)
      story.push(["aps": ["alert": "other thread", "category": "chat", "thread-id": "mia"]])
      story.push(Self.alert)
      #expect(story.shown.map(\.body) == ["1 new messages", "1 new messages", "2 new messages"])
      #expect(story.shown.first?.heading == heading)
      #expect(story.shown.first?.subtitle == subtitle)
    }
  }

  @Test("D-126 a category that is not registered, or has no placeholder, says nothing")
  func plainPlaceholder() {
    for categories in [[], [NotificationCategory(id: "chat")], [NotificationCategory(id: "Chat")]] {
      var story = story(.g3, categories)
      story.happens(.lock)
      story.push(Self.alert)
      #expect(story.shown.first?.body == "Notification")
    }
  }

  @Test("D-126 replacing one of the thread counts once")
  func collapse() {
    var story = story(.g3, [NotificationCategory(id: "chat", hiddenPreviewsBodyPlaceholder: "%u")])
    story.happens(.lock)
    story.push(Self.alert, collapse: "c")
    story.push(Self.alert, collapse: "c")
    #expect(story.shown.map(\.body) == ["1", "1"])
  }

  @Test("D-126 callbacks are unchanged")
  func callbacks() {
    var story = story { $0.previews = .never }
    story.push(Self.alert)
    story.happens(.tap(bundleID: Story.bundle, id: nil))
    guard case .response(let response)? = story.callbacks.first(where: { $0.method == .didReceiveResponse })?.arguments
    else {
      Issue.record("no response")
      return
    }
    #expect(response.notification.body == "At eight?")
  }

  @Test("D-204 a banner: heading, subtitle, two to four lines of body")
  func banner() throws {
    func lines(_ body: String, width: Int = 12, most: Int = 4) throws -> [String] {
      var story = Story(.g3)
      story.push(["aps": ["alert": ["title": "A heading that is long", "subtitle": "Sub", "body": .string(body)]]])
      return try #require(story.shown.first).bannerLines(width: width, bodyLines: most)
    }
    let fox = "The quick brown fox jumps over the lazy dog and runs"
    let head = ["A heading t…", "Sub"]
    #expect(try lines(fox) == head + ["The quick", "brown fox", "jumps over", "the lazy do…"])
    #expect(try lines(fox, most: 1) == head + ["The quick", "brown fox j…"])
    #expect(try lines(fox, most: 9).count == 6)
    #expect(try lines("one\ntwo") == head + ["one", "two"])
    #expect(try lines("", width: 0).count == 2)
    #expect(try lines("Donaudampfschifffahrt") == head + ["Donaudampfsc", "hifffahrt"])
  }

  @Test("D-203 a title: from iOS 10 on the phone, on 8.2 to 9 on a paired watch, before nowhere")
  func titles() throws {
    for (version, heading, watch) in [
      (IOSVersion(6, 1), "News", nil), (IOSVersion(8, 1), "News", nil), (IOSVersion(8, 2), "News", "Lin"),
      (IOSVersion(9, 3), "News", "Lin"), (IOSVersion(10), "Lin", nil), (.g3, "Lin", nil),
    ] as [(IOSVersion, String, String?)] {
      var story = Story(version)
      story.push(Self.alert)
      let shown = try #require(story.shown.first)
      #expect(shown.heading == heading, "iOS \(version)")
      #expect(shown.watchTitle == watch, "iOS \(version)")
      #expect(shown.body == "At eight?")
    }
  }
}
