/// One header field to send. The name must be lower case (RFC 9113 §8.2.1).
public struct HTTP2Field: Hashable, Sendable {
  public var name: [UInt8]
  public var value: [UInt8]
  /// Kept out of the peer's table: for values that differ each time, so that they do not push out those that repeat.
  public var neverIndexed: Bool

  public init(name: [UInt8], value: [UInt8], neverIndexed: Bool = false) {
    self.name = name
    self.value = value
    self.neverIndexed = neverIndexed
  }

  public init(_ name: String, _ value: String, neverIndexed: Bool = false) {
    self.init(name: Array(name.utf8), value: Array(value.utf8), neverIndexed: neverIndexed)
  }
}
