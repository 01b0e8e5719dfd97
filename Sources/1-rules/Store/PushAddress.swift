public import Audience
public import Basics

/// Where a push goes.
public enum PushAddress: Sendable, Hashable {
  /// To each device's own token.
  case device
  /// To another; a device without it, alive, is skipped.
  case special(TokenPurpose)
  /// To a broadcast channel of that id at APNs: one send, which `channelRecipient` stands for.
  case channel(String)

  /// Stands for a channel where others have devices: an ordinal that no app comes to.
  public static let channelRecipient = DeviceOrdinal.max
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

/// A token that a device has beside its own.
public struct PurposeToken: Sendable, Hashable {
  public var purpose: TokenPurpose
  public var token: [UInt8]
  /// When it was told.
  public var registeredAt: Instant

  public init(_ purpose: TokenPurpose, _ token: [UInt8], registeredAt: Instant) {
    self.purpose = purpose
    self.token = token
    self.registeredAt = registeredAt
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
