import Basics
import Phone
import PushPayload

/// One thing that can be typed to a phone: in line mode, behind `:` on the drawn screen, or by `belfry phone do`.
struct PhoneWord: Sendable {
  var name: String
  /// Other spellings.
  var also: [String] = []
  /// What stands behind the name.
  var usage = ""
  var help: String
  var read: @Sendable (inout WordReader) throws(UsageFault) -> PhoneAct

  /// Reads a whole line; nil for one that holds nothing, or a remark behind `#`.
  static func act(
    of line: String, apps: [String], usualApp: String? = nil
  ) throws(UsageFault) -> PhoneAct? {
    let line = String(line.drop { $0 == " " || $0 == "\t" })
    guard !line.isEmpty, !line.hasPrefix("#") else { return nil }
    guard let name = line.split(whereSeparator: { $0 == " " || $0 == "\t" }).first else { return nil }
    let text = String(line.dropFirst(name.count).drop { $0 == " " || $0 == "\t" })
    // a payload in the line is no matter of quotes
    let words = text.hasPrefix("{") ? [text] : WordReader.split(text)
    guard let words else { throw UsageFault("a quote is not closed") }
    return try act(of: [String(name)] + words, text: text, apps: apps, usualApp: usualApp)
  }

  /// The same of words that a shell has parted already.
  static func act(
    of words: [String], text: String? = nil, apps: [String], usualApp: String? = nil
  ) throws(UsageFault) -> PhoneAct {
    guard let name = words.first else { throw UsageFault("say what to do; 'help' lists what can be done") }
    guard let word = find(name) else {
      let hint = suggestion(name, among: all.map(\.name))
      throw UsageFault("there is no '\(name)' here\(hint.isEmpty ? ";" : hint) 'help' lists what can be done")
    }
    var reader = WordReader(Array(words.dropFirst()), text: text, apps: apps, usualApp: usualApp)
    let act = try word.read(&reader)
    try reader.end()
    return act
  }

  static func find(_ name: String) -> PhoneWord? {
    let name = name.lowercased()
    return all.first { $0.name == name || $0.also.contains(name) }
  }

  static let all: [PhoneWord] = finger + system + apps + pushes + questions
}

extension PhoneWord {
  static func appEvent(
    _ name: String, also: [String] = [], _ help: String, _ event: @escaping @Sendable (String) -> Phone.Event
  ) -> PhoneWord {
    PhoneWord(name: name, also: also, usage: "[APP]", help: help) { reader throws(UsageFault) in
      .events([event(try reader.app())])
    }
  }

  static func entryEvent(
    _ name: String, also: [String] = [], _ help: String, _ event: @escaping @Sendable (String, String?) -> Phone.Event
  ) -> PhoneWord {
    PhoneWord(name: name, also: also, usage: "[APP] [ID]", help: help) { reader throws(UsageFault) in
      .events([event(try reader.app(), reader.next())])
    }
  }

  static func plain(_ name: String, also: [String] = [], _ help: String, _ event: Phone.Event) -> PhoneWord {
    PhoneWord(name: name, also: also, help: help) { _ throws(UsageFault) in .events([event]) }
  }

  /// What a finger does.
  static let finger: [PhoneWord] = [
    appEvent("launch", also: ["open"], "open an app by its icon") { .launch(bundleID: $0) },
    entryEvent("tap", "use a notification; the newest without ID") { .tap(bundleID: $0, id: $1) },
    PhoneWord(name: "action", usage: "NAME [APP] [ID]", help: "press a notification's button") {
      reader throws(UsageFault) in
      let action = try reader.next("the button's identifier")
      return .events([.action(bundleID: try reader.app(), id: reader.next(), action: action, text: nil)])
    },
    PhoneWord(name: "reply", usage: "NAME TEXT [APP] [ID]", help: "press a button that asks for a text, and type it") {
      reader throws(UsageFault) in
      let action = try reader.next("the button's identifier")
      let text = try reader.next("the text")
      return .events([.action(bundleID: try reader.app(), id: reader.next(), action: action, text: text)])
    },
    entryEvent("dismiss", "take a notification away: X or a swipe") { .dismiss(bundleID: $0, id: $1) },
    appEvent("flick", "flick the banner off the screen") { .flickAway(bundleID: $0) },
    entryEvent("expand", "open the long look of a notification") { .expand(bundleID: $0, id: $1) },
    appEvent("collapse", "close the long look") { .collapse(bundleID: $0) },
    entryEvent("keep", "Keep, on what came by provisional permission") { .keepProvisional(bundleID: $0, id: $1) },
    entryEvent("turnoff", "Turn Off, on what came by provisional permission") { .turnOff(bundleID: $0, id: $1) },
    entryEvent("appsettings", "the in-app settings button") { .openNotificationSettings(bundleID: $0, id: $1) },
    appEvent("close", also: ["ignore"], "Close on a modal alert, or not looking at a banner") {
      .closeAlert(bundleID: $0)
    },
    entryEvent("clear", "clear a notification from the centre; all of the app without ID") {
      .clear(bundleID: $0, id: $1)
    },
    plain("lock", "lock the phone", .lock),
    plain("unlock", "unlock it, and authenticate for what waits", .unlock),
    plain("cancel", "turn away from the authentication", .cancelUnlock),
    plain("wrongcode", "a wrong passcode", .failUnlock),
    plain("answer", "answer the call", .answerCall), plain("decline", "decline the call", .declineCall),
    plain("hangup", "end the call", .hangUp),
    plain("home", "leave the app in front", .home),
    PhoneWord(
      name: "centre", also: ["center"], usage: "[close]", help: "pull the notification centre down, or close it"
    ) {
      reader throws(UsageFault) in
      switch reader.next() {
      case nil, "open": .events([.openCentre])
      case "close": .events([.closeCentre])
      case let word?: throw UsageFault("centre takes open or close, not '\(word)'")
      }
    },
    plain("allow", also: ["yes"], "Allow, on the prompt", .answerPrompt(allow: true)),
    plain("deny", also: ["no"], "Don't Allow, on the prompt", .answerPrompt(allow: false)),
    appEvent("forcequit", also: ["force-quit", "swipe"], "swipe an app away") { .forceQuit(bundleID: $0) },
  ]

  /// The phone and its system.
  static let system: [PhoneWord] = [
    appEvent("suspend", "suspend an app in the background now") { .suspend(bundleID: $0) },
    appEvent("end", also: ["kill"], "end an app as the system does") { .endBySystem(bundleID: $0) },
    plain("restart", also: ["reboot"], "restart the phone", .restart),
    appEvent("prewarm", "prepare an app's process") { .prewarm(bundleID: $0) },
    PhoneWord(name: "memory", usage: "[APP]", help: "the system needs memory; it chooses without APP") {
      reader throws(UsageFault) in
      .events([.terminateForMemory(bundleID: reader.isEmpty ? nil : try reader.app())])
    },
    PhoneWord(name: "network", usage: "online|none|captive", help: "what the phone is connected to") {
      reader throws(UsageFault) in
      switch try reader.next("online, none or captive") {
      case "on": return .events([.setNetwork(.online)])
      case "off": return .events([.setNetwork(.none)])
      case let word:
        guard let network = Network(rawValue: word) else {
          throw UsageFault("network takes online, none or captive, not '\(word)'")
        }
        return .events([.setNetwork(network)])
      }
    },
    PhoneWord(name: "airplane", usage: "on|off", help: "airplane mode") { reader throws(UsageFault) in
      .events([.airplane(try reader.isOn("airplane"))])
    },
    PhoneWord(name: "focus", usage: "NAME|off", help: "a Focus that lets nothing through") {
      reader throws(UsageFault) in
      .change(try SettingChange("focus", try reader.next("the name, or off")))
    },
    PhoneWord(name: "update", usage: "VERSION", help: "install another iOS") { reader throws(UsageFault) in
      let word = try reader.next("the version")
      guard let version = IOSVersion(word) else {
        throw UsageFault("update takes a version such as 18.0, not '\(word)'")
      }
      return .events([.updateIOS(version)])
    },
    PhoneWord(name: "restore", usage: "[new]", help: "restore from a backup, on a new phone with 'new'") {
      reader throws(UsageFault) in
      switch reader.next() {
      case nil: .events([.restoreFromBackup(toNewPhone: false)])
      case "new": .events([.restoreFromBackup(toNewPhone: true)])
      case let word?: throw UsageFault("restore takes new, or nothing, not '\(word)'")
      }
    },
    setting("mute", "mute", "the ring/silent switch"), setting("lowpower", "lowPower", "Low Power Mode"),
    setting("refresh", "backgroundRefresh", "Background App Refresh of the phone"),
    PhoneWord(name: "set", usage: "NAME VALUE", help: "any switch of the phone; 'settings' lists them") {
      reader throws(UsageFault) in
      .change(try SettingChange(try reader.next("the name"), try reader.next("the value")))
    },
    PhoneWord(name: "wait", also: ["forward"], usage: "TIME", help: "the phone's clock goes forward: 30s, 5m, 2h, 1d") {
      reader throws(UsageFault) in
      .forward(try reader.span("wait"))
    },
  ]

  private static func setting(_ name: String, _ setting: String, _ help: String) -> PhoneWord {
    PhoneWord(name: name, usage: "on|off", help: help) { reader throws(UsageFault) in
      .change(try SettingChange(setting, try reader.isOn(name) ? "on" : "off"))
    }
  }

  /// Apps and what their code does.
  static let apps: [PhoneWord] = [
    PhoneWord(name: "install", usage: "BUNDLE", help: "install an app") { reader throws(UsageFault) in
      .install(try reader.next("the app's bundle id"))
    },
    appEvent("uninstall", also: ["delete"], "delete an app") { .uninstallApp(bundleID: $0) },
    appEvent("offload", "offload an app: its data stays") { .offloadApp(bundleID: $0) },
    appEvent("download", "download an offloaded app again") { .reinstallOffloaded(bundleID: $0) },
    PhoneWord(name: "apprefresh", usage: "on|off [APP]", help: "Background App Refresh of one app") {
      reader throws(UsageFault) in
      let isOn = try reader.isOn("apprefresh")
      return .events([.changeBackgroundRefresh(bundleID: try reader.app(), isOn)])
    },
    PhoneWord(
      name: "permission", usage: "on|off [APP]", help: "Allow Notifications in Settings"
    ) { reader throws(UsageFault) in
      var user = Phone.UserSettings()
      user.allowed = try reader.isOn("permission")
      return .events([.changePermission(bundleID: try reader.app(), user)])
    },
    PhoneWord(
      name: "code", usage: "register|badge N|delivered|remove ID…|removeall|permission", help: "the app's code acts"
    ) { reader throws(UsageFault) in
      let word = try reader.next("what the code does")
      let act: AppAct
      switch word {
      case "register": act = .askAndRegister(.usual)
      case "badge":
        guard let number = Int(try reader.next("the number")) else { throw UsageFault("badge takes a number") }
        act = .setBadge(number)
      case "delivered": act = .getDelivered
      case "removeall": act = .removeAllDelivered
      case "permission": act = .readPermission
      case "remove": return .events([.app(bundleID: try reader.app(), .removeDelivered(reader.rest()))])
      default:
        throw UsageFault("the code cannot '\(word)'; it can register, badge, delivered, remove, removeall, permission")
      }
      return .events([.app(bundleID: try reader.app(), act)])
    },
  ]

  static let pushes: [PhoneWord] = [
    PhoneWord(
      name: "push", usage: "FILE|K1…K7|{JSON} [APP]",
      help: "a push comes, straight to the phone; K1 to K7 are samples of each kind"
    ) { reader throws(UsageFault) in
      let word = try reader.next("the payload: a file, K1 to K7, or JSON")
      var push: PhonePush
      if let sample = SamplePush(rawValue: word.uppercased()) {
        push = sample.push
      } else if word.hasPrefix("{") {
        push = PhonePush(source: .bytes(Array(word.utf8), name: "the payload"))
      } else {
        push = PhonePush(source: .file(word))
      }
      if !reader.isEmpty { push.bundleID = try reader.app() }
      return .push(push)
    },
    PhoneWord(
      name: "await", usage: "KIND [TIME]",
      help: "wait in real time for an entry of the timeline: arrived, shown, callback …; 10s without TIME"
    ) { reader throws(UsageFault) in
      let kind = try reader.next("the kind of entry")
      return .awaitEntry(kind, within: reader.isEmpty ? .seconds(10) : try reader.span("await"))
    },
  ]

  static let questions: [PhoneWord] = [
    PhoneWord(name: "screen", help: "draw the screen") { _ throws(UsageFault) in .tell(.screen(nil)) },
    PhoneWord(name: "apps", help: "the apps, their state, badge and token") { _ throws(UsageFault) in .tell(.apps) },
    PhoneWord(name: "token", usage: "[APP]", help: "an app's device token") { reader throws(UsageFault) in
      .tell(.token(bundleID: try reader.app()))
    },
    PhoneWord(name: "places", help: "where providers push to, in JSON") { _ throws(UsageFault) in .tell(.places) },
    PhoneWord(name: "settings", help: "the phone's switches") { _ throws(UsageFault) in .tell(.settings) },
    PhoneWord(name: "log", usage: "[N]", help: "the last entries of the timeline") { reader throws(UsageFault) in
      .tell(.log(try reader.count("log", usual: 20)))
    },
    PhoneWord(name: "why", usage: "[N]", help: "why the last entries came: each rule in a sentence, with its sources") {
      reader throws(UsageFault) in
      .tell(.why(try reader.count("why", usual: 1)))
    },
    PhoneWord(name: "help", also: ["?"], usage: "[WORD]", help: "this list, or what a word does") {
      reader throws(UsageFault) in
      .tell(.help(reader.next()))
    },
    PhoneWord(name: "quit", also: ["exit"], help: "switch the phone off") { _ throws(UsageFault) in .quit },
  ]
}

/// A push of each kind that docs/iphone.md names, to try things with.
enum SamplePush: String, CaseIterable, Sendable {
  case k1 = "K1"
  case k2 = "K2"
  case k3 = "K3"
  case k4 = "K4"
  case k5 = "K5"
  case k6 = "K6"
  case k7 = "K7"

  var words: String {
    switch self {
    case .k1: "alert with badge and sound"
    case .k2: "alert and content-available"
    case .k3: "silent"
    case .k4: "badge only"
    case .k5: "sound only"
    case .k6: "VoIP"
    case .k7: "silent with custom keys"
    }
  }

  var push: PhonePush {
    let alert: JSONObject = ["title": "Belfry", "body": .string("Hello from \(rawValue)")]
    let payload: JSONValue =
      switch self {
      case .k1:
        ["aps": ["alert": .object(alert), "badge": 1, "sound": "default", "category": "MESSAGE"], "key1": "value1"]
      case .k2:
        ["aps": ["alert": .object(alert), "badge": 1, "sound": "default", "content-available": 1], "key1": "value1"]
      case .k3: ["aps": ["content-available": 1]]
      case .k4: ["aps": ["badge": 3]]
      case .k5: ["aps": ["sound": "default"]]
      case .k6: ["aps": [:], "caller": "Lin"]
      case .k7: ["aps": ["content-available": 1], "task": "sync"]
      }
    return PhonePush(
      source: .bytes(payload.encoded(), name: rawValue), pushType: self == .k6 ? .voip : nil)
  }
}
