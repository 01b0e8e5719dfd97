/// What a token is for that a device has beside its own. (Apple, "Responding to VoIP Notifications from PushKit" and
/// "Starting and updating Live Activities with ActivityKit push notifications")
public enum TokenPurpose: Hashable, Sendable {
  /// PushKit's, for calls.
  case voip
  /// Push-to-start: begins Live Activities of one attributes type.
  case activityStart(type: String)
  /// Updates and ends one running Live Activity, by the id that the app gave it.
  case activity(id: String)

  /// Kept in stores.
  public var kind: UInt8 {
    switch self {
    case .voip: 1
    case .activityStart: 2
    case .activity: 3
    }
  }

  /// The attributes type, or the activity's id.
  public var name: String {
    switch self {
    case .voip: ""
    case .activityStart(let name), .activity(let name): name
    }
  }

  /// nil for a kind that there is not.
  public init?(kind: UInt8, name: String) {
    switch kind {
    case 1: self = .voip
    case 2: self = .activityStart(type: name)
    case 3: self = .activity(id: name)
    default: return nil
    }
  }

  /// For people: what a device has that has such a token.
  public var words: String {
    switch self {
    case .voip: "VoIP token"
    case .activityStart(let type): "push-to-start token of “\(type)”"
    case .activity(let id): "running Live Activity “\(id)”"
    }
  }
}
