import Basics
import Phone
import PushPayload
import Testing

@testable import belfry

@Suite("The words of line mode")
struct PhoneWordsTests {
  static let apps = ["com.example.app", "com.example.news"]

  private func act(_ line: String) throws(UsageFault) -> PhoneAct? { try PhoneWord.act(of: line, apps: Self.apps) }

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
  ]

  @Test("each line is one act", arguments: rows)
  func reads(line: String, expected: PhoneAct?) throws {
    #expect(try act(line) == expected)
  }

  static let faults: [(String, String)] = [
    ("lokc", "there is no 'lokc' here; did you mean 'lock'? 'help' lists what can be done"),
    (
      "launch com.example.other",
      "there is no app com.example.other on this phone; installed: com.example.app, com.example.news"
    ),
    ("lock now", "'now' is one word too many"), ("wait", "how long, as in 30s, 5m, 2h, 1d is missing"),
    ("wait soon", "wait takes a time such as 30s, 5m, 2h or 1d, not 'soon'"), ("tap \"x", "a quote is not closed"),
    ("mute maybe", "mute takes on or off, not 'maybe'"), ("set mute", "the value is missing"),
    ("set previews sometimes", "previews takes always, whenUnlocked, never, not 'sometimes'"),
    ("set mutte on", "there is no setting 'mutte'; did you mean 'mute'? 'settings' lists all"),
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
    #expect(throws: UsageFault("there is no app on this phone; 'install com.example.app' puts one there")) {
      try PhoneWord.act(of: "launch", apps: [])
    }
  }

  @Test("every setting takes the value that it tells")
  func settings() throws {
    let settings = PhoneSettings()
    for setting in SettingChange.table {
      let change = try SettingChange(setting.name, setting.get(settings))
      var changed = settings
      change.apply(to: &changed)
      #expect(changed == settings, "\(setting.name)")
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
