import Basics
import Phone
import PushPayload

/// What can be asked of a running phone. Keys, the lines of line mode and the verbs of scripts all come down to these, so
/// that one thing is done in one way.
enum PhoneAct: Equatable, Sendable {
  case events([Phone.Event])
  /// Installs or updates an app, as `belfry phone --app` would.
  case install(AppSource)
  /// Deletes the app and installs it again, so that it asks anew.
  case reinstall(bundleID: String)
  case push(PhonePush)
  /// The phone's clock goes forward, and what falls due happens.
  case forward(Instant.Span)
  /// The same, until that time; nothing when it has passed.
  case until(Instant)
  /// Waits, in real time, until something of that kind was told: the name of a timeline entry such as `arrived`.
  case awaitEntry(String, within: Instant.Span)
  case tell(PhoneQuestion)
  case statusBar(StatusBarOverride)
  case quit
}

/// A push that comes straight to the phone, as from `simctl push`: no provider, no token.
struct PhonePush: Equatable, Sendable {
  enum Source: Equatable, Sendable {
    case bytes([UInt8], name: String)
    /// To be read by the process that was asked.
    case file(String)
  }

  var source: Source
  /// nil: what the file says, else the app that is meant by default.
  var bundleID: String?
  var pushType: PushType?
  var priority: PushPriority?
  var collapseID: String?
}

extension PhonePush {
  /// A sample by its name, JSON, or a file.
  init(_ word: String) {
    if let sample = SamplePush(rawValue: word.uppercased()) {
      self = sample.push
    } else if word.hasPrefix("{") {
      self.init(source: .bytes(Array(word.utf8), name: "the payload"))
    } else {
      self.init(source: .file(word))
    }
  }

  /// Of the verb `push` and of the word.
  static let options: [Command.Option] = [
    .init(
      name: "push-type", value: "TYPE", help: "Default: what the payload looks like",
      completion: .words(PushType.allCases.map(\.rawValue))),
    .init(name: "collapse-id", value: "ID", help: "Replaces what is shown under the same id"),
  ]

  mutating func read(_ parsed: ParsedCommand) throws(UsageFault) {
    if let word = parsed.value("push-type") {
      guard let type = PushType(rawValue: word) else {
        let types = PushType.allCases.map(\.rawValue)
        throw UsageFault(
          "--push-type takes \(types.joined(separator: ", ")), not '\(word)'\(suggestion(word, among: types))")
      }
      pushType = type
    }
    collapseID = parsed.value("collapse-id")
  }
}

/// What a phone can be asked without anything happening on it.
enum PhoneQuestion: Equatable, Sendable {
  case screen(TerminalSize?)
  case apps
  case token(bundleID: String)
  case places
  /// The phone's switches, or the user's for one app.
  case settings(bundleID: String?)
  /// The last entries of the timeline.
  case log(Int)
  /// Why the last so many entries came.
  case why(Int)
  case help(String?)
}

/// What a script put into the status bar for its pictures (`simctl status_bar override`); shown, and nothing else.
struct StatusBarOverride: Equatable, Sendable {
  var time: String?
  var network: String?
  var battery: String?
  var carrier: String?

  static let options: [Command.Option] = [
    .init(name: "time", value: "TEXT", help: "Such as 9:41"),
    .init(name: "dataNetwork", value: "TEXT", help: "hide, wifi, 3g, lte, 5g …"),
    .init(name: "operatorName", value: "TEXT", help: "The carrier's name"),
    .init(name: "batteryState", value: "TEXT", help: "charging, charged or discharging"),
    .init(name: "batteryLevel", value: "N", help: "0 to 100"),
    .init(name: "wifiMode", value: "TEXT", help: "Taken, not drawn"),
    .init(name: "wifiBars", value: "N", help: "Taken, not drawn"),
    .init(name: "cellularMode", value: "TEXT", help: "Taken, not drawn"),
    .init(name: "cellularBars", value: "N", help: "Taken, not drawn"),
  ]

  static let action = Command.Argument(
    name: "ACTION", help: "override or clear", completion: .words(["override", "clear"]))
}

extension StatusBarOverride {
  /// `override` with options, or `clear`.
  init(_ words: [String]) throws(UsageFault) {
    let command = Command(
      name: "phone status_bar", summary: "", arguments: [Self.action], options: Self.options, run: { _ in .success })
    let parsed = try command.parse(words)
    switch parsed.arguments[0] {
    case "clear": self.init()
    case "override":
      let battery = [
        parsed.value("batteryLevel").map { "\($0)%" }, parsed.value("batteryState") == "charging" ? "⚡" : nil,
      ].compactMap { $0 }
      self.init(
        time: parsed.value("time"), network: parsed.value("dataNetwork").flatMap { $0 == "hide" ? nil : $0 },
        battery: battery.isEmpty ? nil : battery.joined(), carrier: parsed.value("operatorName"))
    case let other: throw UsageFault("ACTION is override or clear, not '\(other)'")
    }
  }
}
