/// What a phone is connected to.
public enum Network: String, CaseIterable, Hashable, Sendable {
  case none
  /// APNs can be reached.
  case online
  /// A network that wants a login first: the phone looks connected, and nothing gets through to APNs.
  case captive
}
