/// What the clocks of one place show at any time, as a value: the rules of one zone of the tz database.
///
/// Made from a TZif file's bytes (`init(tzif:)`, RFC 9636), or fixed. Copies share their tables until one is changed, so
/// a hundred thousand phones may hold one. No question traps, whatever the instant.
public struct TimeZoneRules: Hashable, Sendable {
  /// How far local time is from UTC, and what it is called then.
  public struct Offset: Hashable, Sendable {
    /// Seconds east of UTC.
    public var seconds: Int
    public var isDaylight: Bool
    /// `CET`, `CEST`, `+03`.
    public var abbreviation: String

    public init(seconds: Int, isDaylight: Bool = false, abbreviation: String) {
      self.seconds = seconds
      self.isDaylight = isDaylight
      self.abbreviation = abbreviation
    }
  }

  /// When the clocks change, in seconds since 1970, ascending; and from then on which of `offsets`.
  var transitions: [Int64]
  var offsetAfter: [UInt8]
  /// The first holds before the first transition.
  var offsets: [Offset]
  /// What goes on for ever after the last transition; nil: the last offset.
  var footer: ZoneFooter?

  /// The same offset at all times.
  public init(fixed seconds: Int, abbreviation: String) {
    transitions = []
    offsetAfter = []
    offsets = [Offset(seconds: seconds, abbreviation: abbreviation)]
  }

  init(transitions: [Int64], offsetAfter: [UInt8], offsets: [Offset], footer: ZoneFooter?) {
    self.transitions = transitions
    self.offsetAfter = offsetAfter
    self.offsets = offsets
    self.footer = footer
  }

  public static let utc = TimeZoneRules(fixed: 0, abbreviation: "UTC")

  // MARK: from an instant to the wall

  public func offset(at instant: Instant) -> Offset { stretch(at: instant.seconds).offset }

  public func local(at instant: Instant) -> LocalTime {
    let seconds = instant.seconds
    return LocalTime(seconds: seconds.addedClamped(Int64(stretch(at: seconds).offset.seconds)))
  }

  /// When the clocks change next; nil: never again.
  public func nextChange(after instant: Instant) -> Instant? {
    stretch(at: instant.seconds).end.map { Instant(seconds: $0) }
  }

  // MARK: from the wall to an instant

  /// When a clock on the wall shows a time.
  public enum Reading: Hashable, Sendable {
    case once(Instant)
    /// The clocks were put back over it.
    case twice(Instant, Instant)
    /// The clocks were put forward over it. `next` is the first instant after the gap; `shifted` as long after it as the
    /// time was after the gap's beginning: 02:30 gives 03:00 and 03:30.
    case skipped(next: Instant, shifted: Instant)
  }

  public func reading(_ local: LocalTime) -> Reading {
    let wall = local.seconds
    var at = wall - Self.widest
    var hits: [Int64] = []
    var gap: (end: Int64, before: Int64)?
    while true {
      let here = stretch(at: at)
      let offset = Int64(here.offset.seconds)
      let candidate = wall - offset
      if candidate >= here.start ?? .min, here.end.map({ candidate < $0 }) ?? true { hits.append(candidate) }
      guard let end = here.end, end <= wall + Self.widest else { break }
      if wall >= end + offset, wall < end + Int64(stretch(at: end).offset.seconds) { gap = (end, offset) }
      at = end
    }
    if let first = hits.first {
      return hits.count > 1 && hits[1] != first
        ? .twice(Instant(seconds: first), Instant(seconds: hits[1])) : .once(Instant(seconds: first))
    }
    guard let gap else { return .once(Instant(seconds: wall)) }
    return .skipped(next: Instant(seconds: gap.end), shifted: Instant(seconds: wall - gap.before))
  }

  /// No offset is farther from UTC (RFC 9636 §3.2 allows −25 h … 26 h), with a day to spare.
  static let widest: Int64 = 50 * 3600

  // MARK: stretches of one offset

  /// The time around an instant in which the offset stays; bounds nil: for ever.
  struct Stretch {
    var offset: Offset
    var start: Int64?
    /// Exclusive.
    var end: Int64?
  }

  func stretch(at seconds: Int64) -> Stretch {
    guard let first = transitions.first, let last = transitions.last else {
      return footer?.stretch(at: seconds, notBefore: nil) ?? Stretch(offset: offsets[0])
    }
    if seconds < first { return Stretch(offset: offsets[0], end: first) }
    if seconds >= last {
      return footer?.stretch(at: seconds, notBefore: last)
        ?? Stretch(offset: offsets[Int(offsetAfter[offsetAfter.count - 1])], start: last)
    }
    var low = 0
    var high = transitions.count - 1  // the answer's index is in low ..< high
    while high - low > 1 {
      let middle = (low + high) / 2
      if transitions[middle] <= seconds { low = middle } else { high = middle }
    }
    return Stretch(offset: offsets[Int(offsetAfter[low])], start: transitions[low], end: transitions[high])
  }
}

/// A zone by its name in the tz database, and its rules, if somebody has read them.
///
/// The names of UTC need no rules; a zone of another name without them counts as UTC, and whoever uses it says so.
public struct Zone: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
  /// `Europe/Berlin`.
  public var name: String
  public var rules: TimeZoneRules?

  public init(_ name: String, rules: TimeZoneRules? = nil) {
    self.name = name
    self.rules = rules ?? (Self.namesOfUTC.contains(name) ? .utc : nil)
  }

  public init(stringLiteral name: String) { self.init(name) }

  public static let utc = Zone("UTC")

  public var description: String { name }

  /// UTC where nobody has read the rules.
  public var effectiveRules: TimeZoneRules { rules ?? .utc }

  private static let namesOfUTC: Set<String> = ["UTC", "GMT", "Etc/UTC", "Etc/GMT", "Z"]
}
