/// What a phone is connected to.
public enum Network: String, CaseIterable, Hashable, Sendable {
  case none
  /// APNs can be reached.
  case online
  /// A network that wants a login first: the phone looks connected, and nothing gets through to APNs.
  case captive
}

/// The way to APNs (D-041, D-116).
extension Phone {
  /// APNs can be reached.
  public var isOnline: Bool { network == .online }

  mutating func setNetwork(_ new: Network) {
    // Wi-Fi may be turned on again in airplane mode; then that is the network, before and after.
    networkBeforeAirplane = nil
    guard new != network else { return }
    let wasOnline = isOnline
    network = new
    settings.online = isOnline
    switch new {
    case .online: record(.system("the network is back"), nil, "D-116")
    case .none: record(.system("the network is gone"), nil, "D-116")
    case .captive: record(.system("a network that wants a login first: APNs cannot be reached"), nil, "D-116")
    }
    guard isOnline != wasOnline else { return }
    effects.append(.connectionChanged(online: isOnline))
    if isOnline { askAgain() } else { preferencesLoseNetwork() }
    if isOnline { askForActivityTokens() }
    messagesFollowNetwork()
  }

  mutating func setAirplane(_ on: Bool) {
    guard on != isInAirplaneMode else { return }
    isInAirplaneMode = on
    record(.user("turns airplane mode \(on ? "on" : "off")"), nil, "D-116")
    if on {
      let before = network
      setNetwork(.none)
      networkBeforeAirplane = before
    } else if let before = networkBeforeAirplane {
      setNetwork(before)
    }
  }
}
