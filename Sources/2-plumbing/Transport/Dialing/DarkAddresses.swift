public import Basics

/// An address that did not answer lately; connections go by others first (case C40).
public struct DarkAddress: Hashable, Sendable {
  /// In digits.
  public var address: Endpoint
  /// When it was last found silent.
  public var since: Instant
  /// What was found, without a full stop.
  public var why: String
}

/// Which addresses are dark. Forgotten after a while, or as soon as they answer. A value.
struct DarkAddresses: Sendable {
  struct Settings: Hashable, Sendable {
    /// After the first time; doubles with each further one in a row.
    var first = Instant.Span.minutes(1)
    var longest = Instant.Span.minutes(30)
    /// Addresses remembered, the oldest forgotten first.
    var limit = 64
  }

  private struct Entry {
    var address: Endpoint
    var count: Int
    var noted: Instant
    /// By uptime.
    var until: Instant.Span
    var why: String
  }

  private var entries: [Entry] = []
  private let settings: Settings

  init(_ settings: Settings = Settings()) { self.settings = settings }

  mutating func note(_ address: Endpoint, why: String, wall: Instant, uptime: Instant.Span) {
    var count = 1
    if let index = entries.firstIndex(where: { $0.address == address }) {
      let before = entries.remove(at: index)
      // what is told twice of the same silence counts once
      count = before.until > uptime ? before.count : before.count + 1
    }
    var span = settings.first.milliseconds
    for _ in 1..<max(1, min(count, 20)) where span < settings.longest.milliseconds { span *= 2 }
    span = min(span, settings.longest.milliseconds)
    entries.append(
      Entry(
        address: address, count: count, noted: wall, until: .milliseconds(uptime.milliseconds + span), why: why))
    if entries.count > settings.limit { entries.removeFirst() }
  }

  mutating func answered(_ address: Endpoint) { entries.removeAll { $0.address == address } }

  func isDark(_ address: Endpoint, uptime: Instant.Span) -> Bool {
    entries.contains { $0.address == address && $0.until > uptime }
  }

  func list(uptime: Instant.Span) -> [DarkAddress] {
    entries.filter { $0.until > uptime }.map { DarkAddress(address: $0.address, since: $0.noted, why: $0.why) }
  }
}
