import Basics
import Phone
import PhoneLab
import PushPayload
import Testing

@testable import belfry

@Suite("The words of line mode")
struct PhoneWordsTests {
  /// With two apps, and a switch that is not at its default.
  static let phone: Phone = {
    var settings = PhoneSettings()
    settings.bannerSeconds = 9
    var phone = Phone(settings)
    for bundleID in ["com.example.app", "com.example.news"] {
      _ = phone.handle(
        .installApp(UsualApp.description(bundleID, environment: .development)), at: Instant(seconds: 1_796_029_200))
    }
    return phone
  }()

  private func act(_ line: String) throws(UsageFault) -> PhoneAct? { try PhoneWord.act(of: line, on: Self.phone) }

  private static func changed(_ change: (inout PhoneSettings) -> Void) -> PhoneAct {
    var settings = phone.settings
    change(&settings)
    return .events([.change(settings)])
  }

  private static func user(_ change: (inout Phone.UserSettings) -> Void) -> Phone.UserSettings {
    var settings = Phone.UserSettings()
    change(&settings)
    return settings
  }

  static let rows: [(String, PhoneAct?)] = [
    ("", nil), ("   # a remark", nil), ("lock", .events([.lock])), ("  LOCK  ", .events([.lock])),
    ("launch", .events([.launch(bundleID: "com.example.app")])),
    ("open news", .events([.launch(bundleID: "com.example.news")])),
    ("tap", .events([.tap(bundleID: "com.example.app", id: nil)])),
    ("tap com.example.news id-7", .events([.tap(bundleID: "com.example.news", id: "id-7")])),
    ("tap 'an id'", .events([.tap(bundleID: "com.example.app", id: "an id")])),
    ("allow", .events([.answerPrompt(allow: true)])), ("no", .events([.answerPrompt(allow: false)])),
    ("centre", .events([.openCentre])), ("center close", .events([.closeCentre])),
    ("wait 1h", .forward(.hours(1))), ("await shown 2s", .awaitEntry("shown", within: .seconds(2))),
    ("push x.apns", .push(PhonePush(source: .file("x.apns")))),
    ("push k3 news", .push(.sample(.k3, "com.example.news"))),
    (
      #"push {"aps": {"alert": "it's \"quoted\""}}"#,
      .push(PhonePush(source: .bytes(Array(#"{"aps": {"alert": "it's \"quoted\""}}"#.utf8), name: "the payload")))
    ),
    ("code badge 0 news", .events([.app(bundleID: "com.example.news", .setBadge(0))])),
    ("code remove a b", .events([.app(bundleID: "com.example.app", .removeDelivered(["a", "b"]))])),
    ("action open news", .events([.action(bundleID: "com.example.news", id: nil, action: "open", text: nil)])),
    (
      "reply answer 'on my way'",
      .events([.action(bundleID: "com.example.app", id: nil, action: "answer", text: "on my way")])
    ),
    ("dismiss", .events([.dismiss(bundleID: "com.example.app", id: nil)])), ("airplane on", .events([.airplane(true)])),
    ("network captive", .events([.setNetwork(.captive)])), ("update 18.1", .events([.updateIOS(IOSVersion(18, 1))])),
    ("memory", .events([.terminateForMemory(bundleID: nil)])), ("answer", .events([.answerCall])),
    ("screen", .tell(.screen(nil))), ("quit", .quit),
    // the words of a scenario's steps
    ("cancelUnlock", .events([.cancelUnlock])),
    ("CLOSE-ALERT news", .events([.closeAlert(bundleID: "com.example.news")])),
    ("until 2026-12-01T09:00:00Z", .until(Instant(seconds: 1_796_115_600))),
    ("enter Home", .events([.cross(region: "Home", entering: true)])),
    ("showScene 2 news", .events([.showScene(bundleID: "com.example.news", SceneID(2))])),
    ("showScene 2 of=news", .events([.showScene(bundleID: "com.example.news", SceneID(2))])),
    ("answerTimeSensitive turnoff", .events([.answerTimeSensitive(bundleID: "com.example.app", keep: false)])),
    ("disconnectScene", .events([.disconnectScene(bundleID: "com.example.app", nil)])),
    ("memory news", .events([.terminateForMemory(bundleID: "com.example.news")])),
    (
      "action reply text='on my way' entry=7",
      .events([
        .action(bundleID: "com.example.app", id: "7", action: "reply", text: "on my way")
      ])
    ),
    ("dismissActivity news Ride-1", .events([.dismissActivity(bundleID: "com.example.news", id: "Ride-1")])),
    (
      "message 'Hello there' extras.order=7 extras.vip=true of=news",
      .events([
        .message(
          bundleID: "com.example.news",
          InAppMessage(sequence: 1, content: "Hello there", extras: ["order": 7, "vip": true]))
      ])
    ),
    ("mute on", changed { $0.mute = true }), ("focus Sleep", changed { $0.focus = Focus("Sleep") }),
    ("focus off", changed { _ in }), ("set summaryTimes 08:00,18:30", changed { $0.summaryTimes = [480, 1110] }),
    (
      "change focus.name=Work focus.allowedApps=com.example.app lowpower=on previews=never",
      changed {
        $0.focus = Focus("Work", allowedApps: ["com.example.app"])
        $0.lowPower = true
        $0.previews = .never
      }
    ),
    (
      "permission off news",
      .events([.changePermission(bundleID: "com.example.news", user { $0.allowed = false })])
    ),
    (
      "userSettings sound=off grouping=byApp news",
      .events([.changePermission(bundleID: "com.example.news", user { ($0.sound, $0.grouping) = (false, .byApp) })])
    ),
    ("app readPermission", .events([.app(bundleID: "com.example.app", .readPermission)])),
    ("code register", .events([.app(bundleID: "com.example.app", .askAndRegister(.usual))])),
    (
      "app requestAuthorization alert badge news",
      .events([.app(bundleID: "com.example.news", .requestAuthorization([.alert, .badge]))])
    ),
    (
      "app addNotification tea title=Tea in=5m repeats=yes",
      .events([
        .app(
          bundleID: "com.example.app",
          .addNotification(
            LocalNotification(
              id: "tea", content: with(NotificationContent()) { $0.title = .literal("Tea") },
              trigger: .interval(.minutes(5), repeats: true))))
      ])
    ),
    (
      "app startActivity Ride state={eta: 5, driver: 'Lin'} push=on",
      .events([
        .app(
          bundleID: "com.example.app",
          .startActivity(
            with(
              ActivityRequest(
                attributesType: "Ride", attributes: [:], content: ActivityContent(state: ["driver": "Lin", "eta": 5]))
            ) { $0.pushType = .token }))
      ])
    ),
    (
      "app setCategories [{id: 'CHAT'}]",
      .events([.app(bundleID: "com.example.app", .setCategories([NotificationCategory(id: "CHAT")]))])
    ),
    (
      "app endActivity",
      .events([.app(bundleID: "com.example.app", .endActivity(id: nil, contentState: nil, .standard))])
    ),
    ("push k1 news --collapse-id x", .push(with(.sample(.k1, "com.example.news")) { $0.collapseID = "x" })),
    ("install ./shop.json5", .install(.file("./shop.json5"))),
    ("install com.example.shop", .install(.bundleID("com.example.shop"))),
  ]

  private static func with<Value>(_ value: Value, _ change: (inout Value) -> Void) -> Value {
    var value = value
    change(&value)
    return value
  }

  @Test("each line is one act", arguments: rows)
  func reads(line: String, expected: PhoneAct?) throws {
    #expect(try act(line) == expected)
  }

  static let faults: [(String, String)] = [
    ("lokc", "there is no 'lokc' here; did you mean 'lock'? 'help' lists what can be done"),
    (
      "launch com.example.other",
      "launch: there is no app com.example.other on this phone. Installed: com.example.app, com.example.news."
    ),
    ("lock now", "lock: 'now' is one word too many. Type lock."),
    ("wait", "wait: it needs a value. Type wait TIME."),
    (
      "wait soon",
      #"wait: found "soon". Write a number with its unit (ms, s, m, h, d) as text, such as "250ms" or "30s"."#
    ),
    ("tap \"x", "a quote or a bracket is not closed"),
    ("mute maybe", #"change.mute: found "maybe". Write true or false."#),
    ("set mute", "the value is missing"),
    (
      "set previews sometimes",
      #"change.previews: found "sometimes". Write one of "always", "whenUnlocked", "never"."#
    ),
    ("app startActivity", "app.startActivity: it needs a value. Give ATTRIBUTESTYPE [NAME=VALUE…]."),
    ("push k1 --collapse x", "'--collapse' is no option of 'belfry phone push'; did you mean '--collapse-id'?"),
    ("push k1 other", "there is no app other on this phone; installed: com.example.app, com.example.news"),
    ("change mute=on mute=off", "change.mute: it is given twice. Give it once."),
    ("install shop", "an app is a bundle id such as com.example.app, or a .json5 file that describes one, not 'shop'"),
  ]

  @Test("says what is wrong with a line", arguments: faults)
  func complains(line: String, words: String) {
    #expect(throws: UsageFault(words)) { try act(line) }
  }

  @Test("every word is in the help, has one meaning, and a phone without apps is told of")
  func everyWord() throws {
    let help = try PhoneHelp.lines(nil).joined(separator: "\n")
    var names: Set<String> = []
    for word in PhoneWord.all {
      #expect(help.contains("  \(word.name)"))
      for name in [word.name] + word.also { #expect(names.insert(name).inserted, "\(name) means two things") }
      #expect(try PhoneHelp.lines(word.name).first == "\(word.name) \(word.usage)")
    }
    for entry in StepWords.entries {
      #expect(help.contains("  \(entry.name)"))
      #expect(try !PhoneHelp.lines(entry.name).isEmpty)
      #expect(names.insert(entry.name).inserted || entry.name == "network", "\(entry.name) means two things")
    }
    #expect(throws: UsageFault("launch: there is no app on this phone. 'install com.example.app' puts one there.")) {
      try PhoneWord.act(of: "launch", on: Phone())
    }
  }

  @Test("every switch of the phone and of an app takes the value that is told of it")
  func settings() throws {
    let settings = Self.with(PhoneSettings()) { ($0.summaryTimes, $0.zone) = ([480], Zone("UTC")) }
    for (name, value) in StepWords.settings(of: settings) where value != "default" {
      var changed = settings
      try PhoneWord.steps.set("\(name)=\(value)", in: &changed)
      #expect(changed == settings, "\(name)")
    }
    for (name, value) in StepWords.settings(of: Phone.UserSettings()) where value != "default" {
      let act = try act("userSettings \(name)=\(value)")
      #expect(act == .events([.changePermission(bundleID: "com.example.app", Phone.UserSettings())]), "\(name)")
    }
  }
}

extension PhonePush {
  static func sample(_ sample: SamplePush, _ bundle: String) -> PhonePush {
    var push = sample.push
    push.bundleID = bundle
    return push
  }
}
