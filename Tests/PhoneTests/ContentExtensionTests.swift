import Basics
import Phone
import PushPayload
import Testing

@Suite("Content extension")
struct ContentExtensionTests {
  static func alert(_ body: String = "b", category: String = "game", thread: String = "t") -> JSONValue {
    ["aps": ["alert": .string(body), "category": .string(category), "thread-id": .string(thread)]]
  }

  private func story(
    _ version: IOSVersion = .g3, response: ContentExtension.Response? = nil, registered: [String] = ["game", "chat"],
    _ adjust: (inout PhoneSettings) -> Void = { _ in }
  ) -> Story {
    var app = AppDescription.complete
    app.contentExtensions = [
      ContentExtension(categories: ["game", "play"], response: response),
      ContentExtension(categories: ["chat", "game"]),
    ]
    let actions = [NotificationAction(id: "accept")]
    var story = Story(version, app: app, adjust)
    story.happens(
      .launch(bundleID: Story.bundle),
      .app(
        bundleID: Story.bundle, .setCategories(registered.map { NotificationCategory(id: $0, actions: actions) })))
    story.happens(.home, .suspend(bundleID: Story.bundle))
    story.forget()
    return story
  }

  struct Row: CustomTestStringConvertible, Sendable {
    var name: String
    var version = IOSVersion.g3
    var category = "game"
    var registered = ["game", "chat"]
    var calls: String
    var testDescription: String { "D-258 \(name): \(calls)" }
  }

  static let rows = [
    Row(name: "its category", calls: "NCE"), Row(name: "iOS 10.0", version: IOSVersion(10), calls: "NCE"),
    Row(name: "iOS 9.3 has none", version: .g2, calls: "-"), Row(name: "iOS 6.1", version: .g1, calls: "-"),
    Row(name: "the second extension's category", category: "chat", calls: "NCE"),
    Row(name: "compared letter by letter", category: "Game", registered: ["Game"], calls: "-"),
    Row(name: "D-150 a category that is not registered", registered: [], calls: "-"),
    Row(name: "a category of no extension", category: "news", registered: ["news"], calls: "-"),
  ]

  @Test("D-258 chosen by category, called when the user expands", arguments: rows)
  func chosen(_ row: Row) {
    var story = story(row.version, registered: row.registered)
    let id = story.push(Self.alert(category: row.category))
    #expect(story.calls == "-", "not before")
    story.happens(.expand(bundleID: Story.bundle, id: nil))
    #expect(story.calls == row.calls)
    if case .notification(let seen)? = story.callbacks.first?.arguments { #expect(seen.identifier == id) }
    #expect(story.state == .suspended, "the app itself sleeps on")
  }

  @Test("D-258 one extension for a category: the first")
  func first() {
    var story = story(response: .doNotDismiss)
    story.push(Self.alert(category: "game"))
    story.happens(.expand(bundleID: Story.bundle, id: nil))
    #expect(story.callbacks.count == 1)
  }

  @Test("D-258 again for a newer one of the same thread while it is open; not of another, not after closing")
  func newer() {
    var story = story()
    story.push(Self.alert("1"))
    story.happens(.expand(bundleID: Story.bundle, id: nil))
    story.push(Self.alert("2", thread: "other"))
    #expect(story.calls == "NCE")
    story.push(Self.alert("3", category: "chat"))
    #expect(story.calls == "NCE", "another extension's")
    let third = story.push(Self.alert("4"))
    #expect(story.calls == "NCE NCE")
    if case .notification(let seen)? = story.callbacks.last?.arguments { #expect(seen.identifier == third) }
    story.happens(.collapse(bundleID: Story.bundle))
    story.push(Self.alert("5"))
    #expect(story.calls == "NCE NCE")
  }

  @Test("D-258 leaving the long look: lock, tap, another app", arguments: [0, 1, 2])
  func closed(way: Int) {
    var story = story()
    story.happens(.installApp(AppDescription(bundleID: "com.example.other")))
    story.push(Self.alert())
    story.happens(.expand(bundleID: Story.bundle, id: nil))
    switch way {
    case 0: story.happens(.lock, .unlock)
    case 1: story.happens(.tap(bundleID: Story.bundle, id: nil), .home, .suspend(bundleID: Story.bundle))
    default: story.happens(.launch(bundleID: "com.example.other"))
    }
    story.forget()
    story.push(Self.alert())
    #expect(story.calls == "-")
  }

  @Test("D-258 how it shows: title, hidden text, controls from iOS 12 on")
  func looks() {
    for (version, words) in [(IOSVersion(11, 4), "controls dead"), (IOSVersion(12), "with controls")] {
      var app = AppDescription.complete
      app.contentExtensions = [ContentExtension(categories: ["game"])]
      app.contentExtensions[0].title = "Board"
      app.contentExtensions[0].hidesDefaultContent = true
      app.contentExtensions[0].isInteractive = true
      app.script[.didFinishLaunching] = [.setCategories([NotificationCategory(id: "game")])]
      var story = Story(version, app: app)
      story.happens(.launch(bundleID: Story.bundle), .home)
      story.push(Self.alert())
      story.happens(.expand(bundleID: Story.bundle, id: nil))
      #expect(story.said("headed “Board”, without the notification's own text", "D-258"))
      #expect(story.said(words, "D-258"))
    }
  }

  @Test("D-204 expanded without an extension: the whole text and the actions")
  func plain() {
    for version in [IOSVersion(8), .g2, .g3] {
      var story = Story(version)
      story.push(Sample.k1)
      story.happens(.expand(bundleID: Story.bundle, id: nil))
      #expect(story.calls == "-")
      #expect(story.said("the whole text", "D-204"))
    }
  }

  @Test("D-126 on a locked phone with hidden previews nothing expands before the user has authenticated")
  func locked() {
    for (previews, calls) in [(PhoneSettings.Previews.whenUnlocked, "-"), (.always, "NCE")] {
      var story = story { $0.previews = previews }
      story.happens(.lock)
      story.push(Self.alert())
      story.happens(.expand(bundleID: Story.bundle, id: nil))
      #expect(story.calls == calls)
    }
  }

  @Test("D-149 a button in the open extension: it is asked first; keeps open, dismisses, or forwards to the app")
  func buttons() {
    for (response, calls, entries) in [
      (.doNotDismiss, "NCE NCR", 1), (.dismiss, "NCE NCR", 0), (.dismissAndForwardAction, "NCE NCR DRR(accept)", 0),
      (nil, "NCE DRR(accept)", 0),
    ] as [(ContentExtension.Response?, String, Int)] {
      var story = story(response: response)
      story.push(Self.alert())
      story.happens(
        .expand(bundleID: Story.bundle, id: nil),
        .action(bundleID: Story.bundle, id: nil, action: "accept", text: nil))
      #expect(story.calls == calls)
      #expect(story.centre.count == entries)
      // kept open it may be asked again
      guard response == .doNotDismiss else { continue }
      story.happens(.action(bundleID: Story.bundle, id: nil, action: "accept", text: nil))
      #expect(story.calls == "NCE NCR NCR")
    }
  }

  @Test("D-149 a button outside the long look goes straight to the app")
  func notOpen() {
    var story = story(response: .doNotDismiss)
    story.push(Self.alert())
    story.happens(.action(bundleID: Story.bundle, id: nil, action: "accept", text: nil))
    #expect(story.calls == "DRR(accept)")
    story.forget()
    story.push(Self.alert())
    story.happens(
      .expand(bundleID: Story.bundle, id: nil), .collapse(bundleID: Story.bundle),
      .action(bundleID: Story.bundle, id: nil, action: "accept", text: nil))
    #expect(story.calls == "NCE DRR(accept)")
  }

  @Test("D-258 nothing to expand is told")
  func nothing() {
    var story = story()
    story.happens(.expand(bundleID: Story.bundle, id: "gone"), .collapse(bundleID: Story.bundle))
    story.happens(.expand(bundleID: "com.example.none", id: nil))
    #expect(story.calls == "-")
    #expect(story.rules.contains("D-151"))
  }
}
