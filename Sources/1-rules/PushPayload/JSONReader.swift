/// Reads JSON strictly by RFC 8259, keeping where everything stood.
///
/// Beyond the grammar it refuses what no iPhone could use: bytes that are not UTF-8, `\u` escapes of half a surrogate
/// pair, numbers beyond the range of a double, a byte order mark, nesting deeper than `Limits.depth`. It never traps and
/// never recurses, so no text can exhaust the stack. Time is linear in the size of the text.
public enum JSONReader {
  public struct Limits: Hashable, Sendable {
    /// Arrays and objects inside each other; default 512, where Apple's own reader stops.
    public var depth = 512
    /// Bytes; default 16 MiB. Doors should set what they accept.
    public var bytes = 16 << 20

    public init(depth: Int = 512, bytes: Int = 16 << 20) {
      self.depth = depth
      self.bytes = bytes
    }
  }

  public static func read(_ bytes: [UInt8], limits: Limits = Limits()) throws(JSONFault) -> JSONDocument {
    JSONDocument(try JSONTape(reading: bytes, limits: limits))
  }
}
