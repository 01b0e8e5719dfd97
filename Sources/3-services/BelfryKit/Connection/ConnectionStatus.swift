/// Whether messages come.
public enum ConnectionStatus: Hashable, Sendable {
  case connected
  case connecting
  case disconnected(Reason)

  public enum Reason: Hashable, Sendable {
    /// Messages come only while the app is in front; they wait at the service.
    case background
    case noNetwork
    /// There is no registration id yet.
    case notRegistered
    /// It ended, or could not be made; it is tried again by itself, in so many milliseconds.
    case retrying(after: Int64)
    /// Another process with this device's registration has connected. Tried again when the app comes to front anew.
    case replaced
    /// The service does not know the app key, registration id or secret, also after registering anew. Tried again when the app
    /// comes to front anew, or registers.
    case refused
    /// The service does not speak with this version of the library; the close code says why. Tried again by `reconnect()`.
    case stopped(code: UInt16)
  }
}

/// What the app's phone is connected to.
public enum NetworkChange: Hashable, Sendable {
  case lost
  case available
  /// It is another one (from Wi-Fi to mobile): connections over the former lead nowhere.
  case changed
}
