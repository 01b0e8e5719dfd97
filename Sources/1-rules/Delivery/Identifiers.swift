public import Basics

/// A push while the client holds it: an index that is used again once the push has ended.
public struct PushID: Hashable, Comparable, Sendable, ExpressibleByIntegerLiteral, CustomStringConvertible {
  public let rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }
  public init(integerLiteral value: UInt32) { rawValue = value }
  public static func < (left: PushID, right: PushID) -> Bool { left.rawValue < right.rawValue }
  public var description: String { "push \(rawValue)" }
}

/// An HTTP/2 stream that we opened: odd, and growing within a connection (RFC 9113 §5.1.1).
public struct StreamID: Hashable, Comparable, Sendable, ExpressibleByIntegerLiteral, CustomStringConvertible {
  public let rawValue: Int32
  public init(rawValue: Int32) { self.rawValue = rawValue }
  public init(integerLiteral value: Int32) { rawValue = value }
  public static func < (left: StreamID, right: StreamID) -> Bool { left.rawValue < right.rawValue }
  public var description: String { "stream \(rawValue)" }
}

/// A connection of one pool; never used again for another.
public struct ConnectionID: Hashable, Sendable, ExpressibleByIntegerLiteral, CustomStringConvertible {
  public let rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }
  public init(integerLiteral value: UInt32) { rawValue = value }
  public var description: String { "connection \(rawValue)" }
}

/// When something happens: by the time of day, which expiration is measured in and which may jump, and by the uptime,
/// which time-outs and the age of a provider token are measured in (case C27).
public struct Moment: Hashable, Sendable {
  public var wall: Instant
  public var uptime: Instant.Span

  public init(wall: Instant, uptime: Instant.Span) {
    self.wall = wall
    self.uptime = uptime
  }

  public init(_ clock: some WallClock) { self.init(wall: clock.now, uptime: clock.uptime) }
}
