internal import APNSSimulator
internal import Phone
internal import PushPayload

// What the phone and the simulated APNs have different words for.

extension SimulatedEnvironment {
  /// nil: the app has none.
  init?(_ environment: AppDescription.APSEnvironment) {
    switch environment {
    case .none: return nil
    case .development: self = .sandbox
    case .production: self = .production
    }
  }
}

extension Phone.TokenKind {
  /// nil: a kind that phones do not have. `detail` tells the tokens of Live Activities apart.
  init?(_ kind: TokenKind, _ detail: String) {
    switch kind {
    case .app: self = .remote
    case .voip: self = .voip
    case .liveActivityStart: self = .liveActivityStart(attributesType: detail)
    case .liveactivity: self = .liveActivity(id: detail)
    case .complication, .fileprovider, .location, .pushtotalk, .controls, .widgets: return nil
    }
  }

  var atAPNs: TokenKind {
    switch self {
    case .remote: .app
    case .voip: .voip
    case .liveActivityStart: .liveActivityStart
    case .liveActivity: .liveactivity
    }
  }

  var detail: String {
    switch self {
    case .remote, .voip: ""
    case .liveActivityStart(let attributesType): attributesType
    case .liveActivity(let id): id
    }
  }

  /// What 410 says of a token that ended: an activity's has had its time, the others end with their app.
  var end: RefusalReason {
    switch self {
    case .liveActivity: .expiredToken
    case .remote, .voip, .liveActivityStart: .unregistered
    }
  }
}
