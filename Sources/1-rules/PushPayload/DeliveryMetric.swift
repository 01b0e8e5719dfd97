/// What Apple's metrics and the delivery log say of a push that did not arrive, or not yet. Delivered is not among them.
/// (Apple, "Viewing the status of push notifications using Metrics and APNs"; device.md D-349)
public enum DeliveryMetric: Hashable, CaseIterable, Sendable {
  case storedOffline
  case storedForPower
  case discardedTokenInactive
  case discardedDisabled
  case discardedExpired
  case discardedReplaced

  /// As Apple names them.
  public var words: String {
    switch self {
    case .storedOffline: "stored, device offline"
    case .storedForPower: "stored, power considerations"
    case .discardedTokenInactive: "discarded, token inactive"
    case .discardedDisabled: "discarded, disabled by user"
    case .discardedExpired: "discarded, expired"
    case .discardedReplaced: "discarded, replaced in storage"
    }
  }
}
