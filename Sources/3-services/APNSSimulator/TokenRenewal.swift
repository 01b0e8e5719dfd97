internal import PushPayload

/// Why an app gets another device token. (Apple, "Registering your app with APNs": restored from a backup, moved to
/// another device, operating system installed again; Apple's engineers, forum thread 794478: app removed and installed
/// again, device reset, some major updates of the system)
public enum RenewalReason: String, CaseIterable, Sendable {
  case restore
  case newDevice = "new-device"
  case osReinstall = "os-reinstall"
  case osUpdate = "os-update"
  case appReinstall = "app-reinstall"
  case reset

  /// The word of 410 for the old token. Apple does not say which it uses when; ours: a token whose app goes on, only
  /// with another one, has outlived its time.
  var end: RefusalReason {
    switch self {
    case .osUpdate: .expiredToken
    case .restore, .newDevice, .osReinstall, .appReinstall, .reset: .unregistered
    }
  }
}

/// A token that took the place of another.
public struct TokenRenewal: Hashable, Sendable {
  public var bundleID: String
  public var environment: SimulatedEnvironment
  public var kind: TokenKind
  /// The attributes type of a push-to-start token, the activity of an update token; else empty.
  public var detail: String
  public var topic: String
  public var former: [UInt8]
  public var token: [UInt8]
  public var reason: RenewalReason
}
