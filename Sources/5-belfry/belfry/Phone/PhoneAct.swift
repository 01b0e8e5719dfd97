import Basics
import Phone
import PushPayload

/// What can be asked of a running phone. Keys, the lines of line mode and the verbs of scripts all come down to these, so
/// that one thing is done in one way.
enum PhoneAct: Equatable, Sendable {
  case events([Phone.Event])
  /// Installs what a file describes, or an app of that bundle id as `belfry phone --app` would.
  case install(String)
  case push(PhonePush)
  case change(SettingChange)
  /// The phone's clock goes forward, and what falls due happens.
  case forward(Instant.Span)
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

/// What a phone can be asked without anything happening on it.
enum PhoneQuestion: Equatable, Sendable {
  case screen(TerminalSize?)
  case apps
  case token(bundleID: String)
  case places
  case settings
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
}
