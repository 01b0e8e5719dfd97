import Basics
import Phone
import PhoneLab
import PushPayload

/// What can be typed to a phone: in line mode, behind `:` on the drawn screen, or by `belfry phone do`. What happens to a
/// phone is typed in the words of a scenario's step (`StepWords`); here are those that only a running phone has, and short
/// ones for what is typed most.
struct PhoneWord: Sendable {
  var name: String
  /// Other spellings.
  var also: [String] = []
  /// What stands behind the name.
  var usage = ""
  var help: String
  var meaning: Meaning

  enum Meaning: Sendable {
    case act(@Sendable (inout WordReader) throws(UsageFault) -> PhoneAct)
    /// The same in the words of a step; what is handed over stands behind the name.
    case step(@Sendable (inout WordReader) throws(UsageFault) -> [String])
  }

  static let steps = StepWords(
    .usual,
    json5: { bytes in
      do throws(JSON5Fault) { return try JSON5File.read(bytes) } catch { throw CommandFault(error.words) }
    })

  /// Reads a whole line; nil for one that holds nothing, or a remark behind `#`.
  static func act(of line: String, on phone: Phone, usualApp: String? = nil) throws(UsageFault) -> PhoneAct? {
    guard let first = line.first(where: { !$0.isWhitespace }), first != "#" else { return nil }
    guard let words = WordReader.split(line) else { throw UsageFault("a quote or a bracket is not closed") }
    return try act(of: words, on: phone, usualApp: usualApp)
  }

  /// The same of words that a shell has parted already.
  static func act(of words: [String], on phone: Phone, usualApp: String? = nil) throws(UsageFault) -> PhoneAct {
    guard let name = words.first else { throw UsageFault("say what to do; 'help' lists what can be done") }
    var reader = WordReader(Array(words.dropFirst()), apps: phone.bundleIDs, usualApp: usualApp)
    var step = words
    switch find(name)?.meaning {
    case .act(let read)?:
      let act = try read(&reader)
      try reader.end()
      return act
    case .step(let rewrite)?: step = try rewrite(&reader) + reader.rest()
    case nil: break
    }
    do throws(ScenarioFault) {
      switch try steps.read(step, on: phone, usualApp: usualApp) {
      case .events(let events)?: return .events(events)
      case .wait(let span)?: return .forward(span)
      case .until(let time)?: return .until(time)
      case nil: break
      }
    } catch {
      throw UsageFault("\(error)")
    }
    let hint = suggestion(name, among: names)
    throw UsageFault("there is no '\(name)' here\(hint.isEmpty ? ";" : hint) 'help' lists what can be done")
  }

  /// By its name, or another spelling of it.
  static func find(_ name: String) -> PhoneWord? {
    let name = name.lowercased()
    return all.first { $0.name == name || $0.also.contains(name) }
  }

  static let all: [PhoneWord] = short + pushes + questions

  /// Every first word, as it is listed.
  static let names = all.flatMap { [$0.name] + $0.also } + StepWords.entries.map(\.name)
}

extension PhoneWord {
  /// Another name of a step's verb, and what stands behind it where it is always the same.
  private static func alias(_ names: String..., of step: String...) -> PhoneWord {
    let entry = StepWords.entries.first { $0.name == step[0] }
    return PhoneWord(
      name: names[0], also: Array(names.dropFirst()), usage: step.count > 1 ? "" : entry?.usage ?? "",
      help: "the same as \(step.joined(separator: " "))", meaning: .step { _ throws(UsageFault) in step })
  }

  private static func rewritten(
    _ names: [String], _ usage: String, _ help: String,
    _ step: @escaping @Sendable (inout WordReader) throws(UsageFault) -> [String]
  ) -> PhoneWord {
    PhoneWord(name: names[0], also: Array(names.dropFirst()), usage: usage, help: help, meaning: .step(step))
  }

  private static func setting(_ name: String, _ setting: String, _ help: String) -> PhoneWord {
    rewritten([name], "on|off", help) { reader throws(UsageFault) in
      ["change", "\(setting)=\(try reader.next("on or off"))"]
    }
  }

  /// Steps in fewer letters.
  static let short: [PhoneWord] = [
    alias("open", of: "launch"), alias("close", "ignore", of: "closeAlert"), alias("flick", of: "flickAway"),
    alias("appsettings", of: "openNotificationSettings"), alias("cancel", of: "cancelUnlock"),
    alias("wrongcode", of: "failUnlock"), alias("answer", of: "answerCall"), alias("decline", of: "declineCall"),
    alias("yes", of: "allow"), alias("no", of: "deny"), alias("swipe", of: "forceQuit"),
    alias("end", "kill", of: "endBySystem"), alias("reboot", of: "restart"), alias("memory", of: "terminateForMemory"),
    alias("update", of: "updateIOS"), alias("forward", of: "wait"), alias("delete", of: "uninstall"),
    alias("download", of: "reinstallOffloaded"), alias("apprefresh", of: "backgroundRefresh"),
    alias("zone", of: "changeZone"),
    rewritten(["reply"], "NAME TEXT [APP] [ID]", "press a button that asks for a text, and type it") {
      reader throws(UsageFault) in
      let action = try reader.next("the button's identifier")
      return ["action", action, "text=\(try reader.next("the text"))"]
    },
    rewritten(["centre", "center"], "[close]", "pull the notification centre down, or close it") {
      reader throws(UsageFault) in
      switch reader.next() {
      case nil, "open": return ["openCentre"]
      case "close": return ["closeCentre"]
      case let word?: throw UsageFault("centre takes open or close, not '\(word)'")
      }
    },
    rewritten(["network"], "online|none|captive", "what the phone is connected to") { reader throws(UsageFault) in
      let word = try reader.next("online, none or captive")
      return ["network", ["on": "online", "off": "none"][word] ?? word]
    },
    rewritten(["restore"], "[new]", "restore from a backup, on a new phone with 'new'") { reader throws(UsageFault) in
      switch reader.next() {
      case nil: return ["restoreFromBackup", "samePhone"]
      case "new": return ["restoreFromBackup", "newPhone"]
      case let word?: throw UsageFault("restore takes new, or nothing, not '\(word)'")
      }
    },
    rewritten(["focus"], "NAME|off", "a Focus that lets nothing through") { reader throws(UsageFault) in
      ["change", "focus=\(try reader.next("the name, or off"))"]
    },
    setting("mute", "mute", "the ring/silent switch"), setting("lowpower", "lowPower", "Low Power Mode"),
    setting("refresh", "backgroundRefresh", "Background App Refresh of the phone"),
    rewritten(["set"], "NAME VALUE", "any switch of the phone; 'settings' lists them") { reader throws(UsageFault) in
      let name = try reader.next("the name")
      return ["change", "\(name)=\(try reader.next("the value"))"]
    },
    rewritten(["permission"], "on|off [APP]", "Allow Notifications in Settings") { reader throws(UsageFault) in
      ["userSettings", "allowed=\(try reader.next("on or off"))"]
    },
    rewritten(
      ["code"], "ACT … [APP]", "the app's code acts: register, badge N, delivered, and all that 'help app' lists"
    ) {
      reader throws(UsageFault) in
      let act = try reader.next("what the code does")
      return ["app"] + (codeWords[act.lowercased()] ?? [act])
    },
  ]

  /// Acts of an app's code in fewer letters.
  private static let codeWords = [
    "register": ["askAndRegister", "usual"], "badge": ["setBadge"], "delivered": ["getDelivered"],
    "remove": ["removeDelivered"], "removeall": ["removeAllDelivered"], "permission": ["readPermission"],
  ]

  static let pushes: [PhoneWord] = [
    PhoneWord(
      name: "push", usage: "FILE|K1…K7|{JSON} [APP] [options]",
      help:
        "a push comes, straight to the phone; K1 to K7 are samples of each kind; options: --push-type, --collapse-id",
      meaning: .act { reader throws(UsageFault) in
        let parsed = try pushWords.parse(reader.rest())
        var push = PhonePush(parsed.arguments[0])
        if let word = parsed.arguments.dropFirst().first { push.bundleID = try reader.app(word) }
        try push.read(parsed)
        return .push(push)
      }),
    PhoneWord(
      name: "install", usage: "BUNDLE|FILE",
      help: "install or update an app: by its bundle id, or as a JSON5 file describes it",
      meaning: .act { reader throws(UsageFault) in
        .install(try AppSource(try reader.next("the app's bundle id, or a file that describes it")))
      }),
    PhoneWord(
      name: "reinstall", usage: "[APP]", help: "delete an app and install it again: it asks anew, with another token",
      meaning: .act { reader throws(UsageFault) in .reinstall(bundleID: try reader.app()) }),
    PhoneWord(
      name: "await", usage: "KIND [TIME]",
      help: "wait in real time for an entry of the timeline: arrived, shown, callback …; 10s without TIME",
      meaning: .act { reader throws(UsageFault) in
        let kind = try reader.next("the kind of entry")
        return .awaitEntry(kind, within: reader.isEmpty ? .seconds(10) : try reader.span("await"))
      }),
    PhoneWord(
      name: "statusbar", usage: "override|clear [options]",
      help: "what the drawn status bar says, for pictures: --time, --operatorName, --batteryLevel …",
      meaning: .act { reader throws(UsageFault) in .statusBar(try StatusBarOverride(reader.rest())) }),
  ]

  /// The words behind `push`.
  private static let pushWords = Command(
    name: "phone push", summary: "",
    arguments: [
      .init(name: "PAYLOAD", help: "a file, K1 to K7, or JSON"), .init(name: "APP", help: "", optional: true),
    ],
    options: PhonePush.options, run: { _ in .success })

  private static func question(
    _ name: String, also: [String] = [], usage: String = "", _ help: String,
    _ read: @escaping @Sendable (inout WordReader) throws(UsageFault) -> PhoneAct
  ) -> PhoneWord {
    PhoneWord(name: name, also: also, usage: usage, help: help, meaning: .act(read))
  }

  static let questions: [PhoneWord] = [
    question("screen", "draw the screen") { _ throws(UsageFault) in .tell(.screen(nil)) },
    question("apps", "the apps, their state, badge and token") { _ throws(UsageFault) in .tell(.apps) },
    question("token", usage: "[APP]", "an app's device token") { reader throws(UsageFault) in
      .tell(.token(bundleID: try reader.app()))
    },
    question("places", "where providers push to, in JSON") { _ throws(UsageFault) in .tell(.places) },
    question(
      "settings", usage: "[APP]", "the phone's switches, as 'change' takes them; those of an app's page in Settings"
    ) {
      reader throws(UsageFault) in
      .tell(.settings(bundleID: reader.isEmpty ? nil : try reader.app()))
    },
    question("log", usage: "[N]", "the last entries of the timeline") { reader throws(UsageFault) in
      .tell(.log(try reader.count("log", usual: 20)))
    },
    question("why", usage: "[N]", "why the last entries came: each rule in a sentence, with its sources") {
      reader throws(UsageFault) in
      .tell(.why(try reader.count("why", usual: 1)))
    },
    question("help", also: ["?"], usage: "[WORD]", "this list, or what a word does") { reader throws(UsageFault) in
      .tell(.help(reader.next()))
    },
    question("quit", also: ["exit"], "switch the phone off") { _ throws(UsageFault) in .quit },
  ]
}
