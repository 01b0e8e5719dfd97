public import Audience

/// Whose connection it is.
public struct SessionDevice: Sendable, Hashable {
  public var app: Int64
  public var ordinal: DeviceOrdinal

  public init(app: Int64, ordinal: DeviceOrdinal) {
    self.app = app
    self.ordinal = ordinal
  }
}

/// What a hello was answered.
public struct Entrance: Sendable, Equatable {
  public enum Cursor: String, Sendable {
    /// It goes on from there.
    case known
    /// It is nobody's, another device's, or of before a backup was put back: it goes on from what was acknowledged.
    case unknown
    /// None was given; likewise.
    case none
  }

  public var device: SessionDevice
  /// What comes is behind it.
  public var position: Int64
  /// The app's last position.
  public var last: Int64
  public var cursor: Cursor
  /// Nothing that it has not had was removed for its age or the limit of what waits.
  public var isComplete: Bool
  /// nil: the usual.
  public var heartbeat: Int32?

  public init(
    device: SessionDevice, position: Int64, last: Int64, cursor: Cursor, isComplete: Bool, heartbeat: Int32? = nil
  ) {
    self.device = device
    self.position = position
    self.last = last
    self.cursor = cursor
    self.isComplete = isComplete
    self.heartbeat = heartbeat
  }
}
