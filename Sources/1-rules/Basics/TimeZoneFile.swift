/// Why bytes are no rules of a time zone.
public struct TimeZoneFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// What is wrong, in words.
  public let description: String

  init(_ description: String) { self.description = description }
}

extension TimeZoneRules {
  /// Reads a TZif file, versions 1 to 4 (RFC 9636), such as those below /usr/share/zoneinfo.
  ///
  /// - Throws: what is wrong with the bytes. Files that count leap seconds ("right/…") are refused: an `Instant` does
  ///   not count them.
  public init(tzif bytes: [UInt8]) throws(TimeZoneFault) {
    var reader = Reader(bytes: bytes)
    var header = try reader.header()
    var wide = false
    if header.version > 0 {
      try reader.skip(header.length(timeSize: 4))
      header = try reader.header()
      wide = true
    }
    guard header.leaps == 0 else { throw TimeZoneFault("it counts leap seconds") }
    guard header.types > 0 else { throw TimeZoneFault("it has no offset from UTC at all") }
    let transitions = try reader.times(header.times, wide: wide)
    guard zip(transitions, transitions.dropFirst()).allSatisfy({ $0 < $1 }) else {
      throw TimeZoneFault("its transitions do not ascend")
    }
    guard transitions.allSatisfy({ -Self.farthest...Self.farthest ~= $0 }) else {
      throw TimeZoneFault("a transition lies before the beginning of the world")
    }
    let offsetAfter = Array(try reader.take(header.times))
    guard offsetAfter.allSatisfy({ Int($0) < header.types }) else {
      throw TimeZoneFault("a transition leads to an offset that is not there")
    }
    let offsets = try reader.offsets(header)
    try reader.skip(header.standardMarks + header.universalMarks)
    self.init(
      transitions: transitions, offsetAfter: offsetAfter, offsets: offsets, footer: wide ? try reader.footer() : nil)
  }

  /// Seconds; RFC 9636 §3.2 lets no transition be earlier, and none is as late.
  private static let farthest: Int64 = 1 << 59

  private struct Header {
    var version: UInt8
    var universalMarks, standardMarks, leaps, times, types, characters: Int

    /// Bytes of the block that follows.
    func length(timeSize: Int) -> Int {
      times * (timeSize + 1) + types * 6 + characters + leaps * (timeSize + 4) + standardMarks + universalMarks
    }
  }

  private struct Reader {
    var rest: ArraySlice<UInt8>

    init(bytes: [UInt8]) { rest = bytes[...] }

    mutating func take(_ count: Int) throws(TimeZoneFault) -> ArraySlice<UInt8> {
      guard rest.count >= count else { throw TimeZoneFault("it ends too early") }
      defer { rest = rest.dropFirst(count) }
      return rest.prefix(count)
    }

    mutating func skip(_ count: Int) throws(TimeZoneFault) { _ = try take(count) }

    /// Big-endian.
    mutating func number(_ size: Int) throws(TimeZoneFault) -> UInt64 {
      try take(size).reduce(0) { $0 << 8 | UInt64($1) }
    }

    mutating func header() throws(TimeZoneFault) -> Header {
      guard rest.starts(with: Array("TZif".utf8)) else { throw TimeZoneFault("it does not begin with TZif") }
      try skip(4)
      let version = try take(1).first ?? 0
      guard version == 0 || version >= UInt8(ascii: "2") else { throw TimeZoneFault("its version is unknown") }
      try skip(15)
      var counts: [Int] = []
      for _ in 0..<6 {
        let count = try number(4)
        guard count <= 1 << 20 else { throw TimeZoneFault("it claims \(count) entries") }
        counts.append(Int(count))
      }
      return Header(
        version: version, universalMarks: counts[0], standardMarks: counts[1], leaps: counts[2], times: counts[3],
        types: counts[4], characters: counts[5])
    }

    mutating func times(_ count: Int, wide: Bool) throws(TimeZoneFault) -> [Int64] {
      var times: [Int64] = []
      for _ in 0..<count {
        times.append(
          wide ? Int64(bitPattern: try number(8)) : Int64(Int32(bitPattern: UInt32(try number(4)))))
      }
      return times
    }

    mutating func offsets(_ header: Header) throws(TimeZoneFault) -> [Offset] {
      var raw: [(seconds: Int32, isDaylight: Bool, name: Int)] = []
      for _ in 0..<header.types {
        raw.append(
          (Int32(bitPattern: UInt32(try number(4))), try number(1) != 0, Int(try number(1))))
      }
      let characters = try take(header.characters)
      var offsets: [Offset] = []
      for type in raw {
        guard -93_599...93_599 ~= type.seconds else {
          throw TimeZoneFault("an offset of \(type.seconds) s is farther from UTC than any place")
        }
        guard type.name < characters.count else { throw TimeZoneFault("an offset's name is not there") }
        let name = characters[(characters.startIndex + type.name)...].prefix { $0 != 0 }
        offsets.append(
          Offset(
            seconds: Int(type.seconds), isDaylight: type.isDaylight, abbreviation: String(decoding: name, as: UTF8.self)
          ))
      }
      return offsets
    }

    /// Between two newlines; nil where it is empty.
    mutating func footer() throws(TimeZoneFault) -> ZoneFooter? {
      let newline = UInt8(ascii: "\n")
      guard try take(1).first == newline, let end = rest.firstIndex(of: newline) else {
        throw TimeZoneFault("its footer is missing")
      }
      let text = rest[..<end]
      guard !text.isEmpty else { return nil }
      guard let footer = ZoneFooter(text) else {
        throw TimeZoneFault("its footer \(String(decoding: text, as: UTF8.self)) is no rule")
      }
      return footer
    }
  }
}
