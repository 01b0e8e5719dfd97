public import Audience
public import Basics

/// Which token of a device a push goes to.
public enum PushAddress: Sendable, Hashable {
  /// Its own.
  case device
  /// Another; a device without it, alive, is skipped.
  case special(TokenPurpose)
}

/// What devices have tokens under: an attributes type, or an activity's id.
public struct TokenName: Sendable, Equatable {
  public var name: String
  /// How many have one that lives.
  public var devices: Int

  public init(_ name: String, devices: Int) {
    self.name = name
    self.devices = devices
  }
}

/// A token beside a device's own that was told, or is no more.
public struct TokenEdit: Sendable, Equatable {
  public var purpose: TokenPurpose
  /// nil: there is none any more.
  public var token: [UInt8]?
  /// An answer of APNs that says that the token died before does not count.
  public var at: Instant

  public init(_ purpose: TokenPurpose, _ token: [UInt8]?, at: Instant) {
    self.purpose = purpose
    self.token = token
    self.at = at
  }
}
