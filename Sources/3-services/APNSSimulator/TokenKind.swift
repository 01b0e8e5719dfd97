/// What a device token is good for; each kind of an app has a token of its own, bound to its own topic (Apple,
/// "Registering your app with APNs" and the pages of each push type).
public enum TokenKind: String, CaseIterable, Sendable {
  /// `alert`, `background` and `mdm`.
  case app
  case voip, complication, fileprovider, location, pushtotalk
  /// The update token of one running Live Activity.
  case liveactivity
  /// Starts an activity of one attributes type; none has to run (iOS 17.2).
  case liveActivityStart = "liveactivity-start"
  case controls, widgets

  /// What its topic has behind the bundle id.
  var topicSuffix: String {
    switch self {
    case .app: ""
    case .voip: ".voip"
    case .complication: ".complication"
    case .fileprovider: ".pushkit.fileprovider"
    case .location: ".location-query"
    case .pushtotalk: ".voip-ptt"
    case .liveactivity, .liveActivityStart: ".push-type.liveactivity"
    case .controls: ".push-type.controls"
    case .widgets: ".push-type.widgets"
    }
  }
}
