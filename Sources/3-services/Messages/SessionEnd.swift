/// Why the gateway ends a connection; the numbers are close codes of WebSocket (docs/gateway-protocol.md). The range says
/// what the app is to do: 4000–4099 connect again with back-off, 4100–4199 connect again once something has changed in the
/// app, 4200–4299 never with what was sent. Never renumbered, never reused.
public enum SessionEnd: UInt16, CaseIterable, Sendable {
  /// The service goes down or moves; `draining` said when to come back.
  case draining = 4000
  /// What was sent was not read in time.
  case slow = 4001
  /// What was sent was not acknowledged in time.
  case unacknowledged = 4002
  /// No word came, and no answer to a ping.
  case silent = 4003
  /// No hello came in time.
  case noHello = 4004
  /// The service cannot do its part now.
  case unavailable = 4005

  /// The app said that it went to the background.
  case background = 4100
  /// A newer connection of the device took its place.
  case replaced = 4101

  /// A frame that the protocol does not know, or not then.
  case badFrame = 4200
  /// No version that both speak.
  case badVersion = 4201
  /// App key, registration id or secret is wrong.
  case refused = 4202
  /// The device was deleted while it was connected.
  case deviceDeleted = 4203
  /// The device registered anew while it was connected, and was given another secret.
  case secretReplaced = 4204
  /// Its app was deleted while it was connected.
  case appDeleted = 4205

  public var words: String {
    switch self {
    case .draining: "the service goes down; come back when draining said"
    case .slow: "what was sent was not read in time"
    case .unacknowledged: "what was sent was not acknowledged in time"
    case .silent: "no answer to a ping"
    case .noHello: "no hello came in time"
    case .unavailable: "the service cannot do its part now"
    case .background: "the app is in the background"
    case .replaced: "a newer connection of the device took this one's place"
    case .badFrame: "a frame that is not allowed"
    case .badVersion: "version 1 is spoken here"
    case .refused: "the app key, registration id or device secret is wrong"
    case .deviceDeleted: "the device was deleted; register it anew"
    case .secretReplaced: "the device registered anew; use the secret that it was given then"
    case .appDeleted: "the app was deleted"
    }
  }
}
