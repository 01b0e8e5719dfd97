import Basics
import Phone
import PushPayload
import Testing

@Suite("Localised texts")
struct LocalisationTests {
  static let strings: [String: [String: String]] = [
    "en": [
      "INVITE": "%@ and %@ invite you", "TURNED": "%2$@ before %1$@", "TITLE": "Game", "SUB": "Round %@",
      "SALE": "%@ at 50%% off", "ENGLISH": "only English",
    ],
    "zh-Hans": ["INVITE": "%@和%@邀请你", "TITLE": "游戏"],
    "pt-BR": ["TITLE": "Jogo"],
    "pt": ["TITLE": "Jogo (PT)"],
  ]

  private func story(_ language: String = "en", _ version: IOSVersion = .g3) -> Story {
    Story(version, app: .complete { $0.strings = Self.strings }) { $0.language = language }
  }

  struct Row: CustomTestStringConvertible, Sendable {
    var id: String
    var language = "en"
    var alert: JSONValue
    var body: String
    var testDescription: String { "\(id) \(alert.text) in \(language): \(body)" }
  }

  static let rows = [
    Row(
      id: "D-205 in order", alert: ["loc-key": "INVITE", "loc-args": ["Jenna", "Frank"]],
      body: "Jenna and Frank invite you"),
    Row(id: "D-205 by number", alert: ["loc-key": "TURNED", "loc-args": ["one", "two"]], body: "two before one"),
    Row(
      id: "D-205 the phone's language", language: "zh-Hans",
      alert: ["loc-key": "INVITE", "loc-args": ["Jenna", "Frank"]], body: "Jenna和Frank邀请你"),
    Row(
      id: "D-205 without the region", language: "zh-Hans-CN",
      alert: ["loc-key": "INVITE", "loc-args": ["Jenna", "Frank"]], body: "Jenna和Frank邀请你"),
    Row(
      id: "D-205 a language that the app does not speak: the development language", language: "fr-CA",
      alert: ["loc-key": "ENGLISH"], body: "only English"),
    Row(id: "D-205 a percent sign", alert: ["loc-key": "SALE", "loc-args": ["Tea"]], body: "Tea at 50% off"),
    Row(id: "D-207 no such key: the key", alert: ["loc-key": "GAME_PLAY", "loc-args": ["Jenna"]], body: "GAME_PLAY"),
    Row(
      id: "D-207 no such key in this language: the key, not another language's words", language: "zh-Hans",
      alert: ["loc-key": "ENGLISH"], body: "ENGLISH"),
    Row(
      id: "D-207 no such key, a body beside it: the body", alert: ["loc-key": "NONE", "body": "plain"], body: "plain"),
    Row(id: "D-207 key and body: the key wins", alert: ["loc-key": "ENGLISH", "body": "plain"], body: "only English"),
    Row(
      id: "D-207 too few arguments: the placeholder stays", alert: ["loc-key": "INVITE", "loc-args": ["Jenna"]],
      body: "Jenna and %@ invite you"),
    Row(
      id: "D-207 too few, by number", alert: ["loc-key": "TURNED", "loc-args": ["one"]], body: "%2$@ before one"),
    Row(
      id: "D-207 too many: the rest is ignored", alert: ["loc-key": "INVITE", "loc-args": ["A", "B", "C"]],
      body: "A and B invite you"),
    Row(
      id: "D-207 arguments that are no strings fill nothing", alert: ["loc-key": "INVITE", "loc-args": [1, 2]],
      body: "%@ and %@ invite you"),
    Row(id: "D-205 a plain body keeps its percent signs", alert: ["body": "50%% %@ off"], body: "50%% %@ off"),
    Row(
      id: "D-205 an argument is not looked into", alert: ["loc-key": "SALE", "loc-args": ["%@"]], body: "%@ at 50% off"),
  ]

  @Test("D-205 D-207", arguments: rows)
  func body(_ row: Row) {
    for version in [IOSVersion.g1, .g2, .g3] {
      var story = story(row.language, version)
      story.push(["aps": ["alert": row.alert]])
      #expect(story.shown.map(\.body) == [row.body], "iOS \(version)")
    }
  }

  @Test("D-205 title and subtitle have keys of their own")
  func titles() throws {
    var story = story("pt-BR")
    story.push([
      "aps": ["alert": ["title-loc-key": "TITLE", "subtitle-loc-key": "SUB", "subtitle-loc-args": ["2"], "body": "b"]]
    ])
    let shown = try #require(story.shown.first)
    #expect(shown.heading == "Jogo")
    #expect(shown.subtitle == "SUB", "pt-BR has no such key, and no other language is asked")
    var other = self.story("pt-PT")
    other.push(["aps": ["alert": ["title-loc-key": "TITLE", "body": "b"]]])
    #expect(other.shown.first?.heading == "Jogo (PT)")
  }

  @Test("D-205 the app sees the words, its userInfo the keys")
  func appSees() {
    var story = story()
    story.bring(to: .active)
    story.push(["aps": ["alert": ["loc-key": "ENGLISH"]]])
    guard case .notification(let seen)? = story.callbacks.first?.arguments else {
      Issue.record("no notification")
      return
    }
    #expect(seen.body == "only English")
    #expect(seen.userInfo["aps"]?.object?["alert"]?.object?["loc-key"] == "ENGLISH")
  }

  @Test("D-206 looked up at delivery: a change of language counts for what comes after, not for what is there")
  func changeOfLanguage() {
    var story = story()
    story.push(["aps": ["alert": ["title-loc-key": "TITLE", "body": "b"]]])
    var settings = story.phone.settings
    settings.language = "zh-Hans"
    story.happens(.change(settings))
    story.push(["aps": ["alert": ["title-loc-key": "TITLE", "body": "b"]]])
    #expect(story.shown.map(\.heading) == ["Game", "游戏"])
  }

  @Test("D-206 while a service extension works, the language may still change; words that it set stay")
  func withExtension() {
    for (edits, heading) in [([], "游戏"), ([.title("T")], "T")] as [([ContentEdit], String)] {
      var app = AppDescription.complete
      app.strings = Self.strings
      app.serviceExtension = ServiceExtension(edits: edits)
      app.serviceExtension?.answer = .after(.seconds(5))
      var story = Story(.g3, app: app)
      story.push(["aps": ["alert": ["title-loc-key": "TITLE", "body": "b"], "mutable-content": 1]])
      var settings = story.phone.settings
      settings.language = "zh-Hans"
      story.happens(.change(settings))
      story.pass(.seconds(5))
      #expect(story.shown.map(\.heading) == [heading])
    }
  }

  @Test("D-206 a local notification's localizedUserNotificationString is looked up when it comes")
  func localText() {
    for (change, body) in [(false, "Game"), (true, "游戏")] {
      var story = story()
      story.bring(to: .active)
      var content = NotificationContent()
      content.body = .localized(key: "TITLE", arguments: [], fallback: nil)
      story.act(
        .addNotification(LocalNotification(id: "a", content: content, trigger: .interval(.minutes(5)))))
      story.happens(.home)
      if change {
        var settings = story.phone.settings
        settings.language = "zh-Hans"
        story.happens(.change(settings))
      }
      story.pass(.minutes(5))
      #expect(story.shown.map(\.body) == [body])
    }
  }

  @Test(
    "D-208 a local body: %% is a percent sign, other printf escapes are taken out; a pushed one stays as it is",
    arguments: [("50%% off", "50% off"), ("%@ a %d b %2$s c %5.1f", " a  b  c "), ("100 % sure", "100 % sure")])
  func printfEscapes(body: String, shown: String) {
    var story = story()
    story.happens(.launch(bundleID: Story.bundle))
    story.act(
      .addNotification(
        LocalNotification(id: "a", content: NotificationContent(body: body), trigger: .interval(.seconds(9)))))
    story.happens(.home)
    story.pass(.seconds(9))
    story.push(["aps": ["alert": .string(body)]])
    #expect(story.shown.map(\.body) == [shown, body])
  }

  @Test("D-209 launch-image names the picture of a start from the notification, and of no other")
  func launchImage() {
    let payload: JSONValue = ["aps": ["alert": ["body": "b", "launch-image": "Play.png"]]]
    for version in [IOSVersion.g1, .g2, .g3] {
      var tapped = story("en", version)
      tapped.push(payload)
      tapped.happens(.tap(bundleID: Story.bundle, id: nil))
      #expect(tapped.said("shows the launch image Play.png", "D-209"))
      var byIcon = story("en", version)
      byIcon.push(payload)
      byIcon.happens(.launch(bundleID: Story.bundle))
      #expect(!byIcon.rules.contains("D-209"))
      var alive = story("en", version)
      alive.bring(to: .background)
      alive.push(payload)
      alive.happens(.tap(bundleID: Story.bundle, id: nil))
      #expect(!alive.rules.contains("D-209"))
    }
  }

  @Test("D-209 D-127 the modal alert's second button: View, the words of action-loc-key, or none")
  func buttons() {
    for (extra, buttons) in [
      ([:], ["Close", "View"]), (["action-loc-key": "TITLE"], ["Close", "Game"]),
      (["action-loc-key": "PLAY"], ["Close", "PLAY"]), (["action-loc-key": .null], ["Close"]),
      (["show-view": false], ["Close"]),
    ] as [(JSONObject, [String])] {
      for version in [IOSVersion(4), .g1, .g2] {
        var alert: JSONObject = ["body": "b"]
        for member in extra.members { alert[member.key] = member.value }
        var story = Story(version, app: .complete { $0.strings = Self.strings }) { $0.appearanceOfAlert = .modal }
        story.push(["aps": ["alert": .object(alert)]])
        #expect(story.shown.map(\.buttons) == [buttons], "iOS \(version)")
      }
    }
    var banner = story()
    banner.push(["aps": ["alert": "b"]])
    #expect(banner.shown.first?.buttons == [])
  }
}
