/// How long a connection may be silent before it is asked for a sign of life. It grows while answers come after so long a
/// silence, since whatever keeps the connection in between (NAT) forgets later than that, and begins lower where one was
/// lost in silence.
public struct Heartbeat: Sendable, Equatable {
  public struct Bounds: Sendable, Equatable {
    /// Seconds.
    public var shortest: Int32 = 30
    public var first: Int32 = 60
    /// Below the 5 minutes after which many carriers forget a connection.
    public var longest: Int32 = 240

    public init() {}
  }

  /// Seconds.
  public private(set) var interval: Int32
  private var answers: UInt8 = 0
  private let longest: Int32

  public init(_ bounds: Bounds, interval: Int32? = nil) {
    longest = bounds.longest
    self.interval = min(max(interval ?? bounds.first, bounds.shortest), bounds.longest)
  }

  /// An answer came after a whole interval of silence. true: the interval is another from now on.
  public mutating func answered() -> Bool {
    guard interval < longest else { return false }
    answers += 1
    guard answers == 3 else { return false }
    answers = 0
    interval = min(longest, interval + interval / 2)
    return true
  }

  /// What the device's next connection begins with, when none came.
  public var afterLoss: Int32 { interval / 2 }
}
