public import Basics

/// A stretch of each day in which nothing is to be seen or heard, by the clock on the wall; it may go over midnight.
public struct QuietHours: Hashable, Sendable, CustomStringConvertible {
  public let from: TimeOfDay
  /// Quiet until just before.
  public let to: TimeOfDay

  /// nil when both are the same: that is no stretch.
  public init?(from: TimeOfDay, to: TimeOfDay) {
    guard from != to else { return nil }
    self.from = from
    self.to = to
  }

  /// Reads `22:00-07:00`.
  public init?(_ text: String) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, let from = TimeOfDay("\(parts[0]):00"), let to = TimeOfDay("\(parts[1]):00") else {
      return nil
    }
    self.init(from: from, to: to)
  }

  public var description: String { "\(from.description.dropLast(3))-\(to.description.dropLast(3))" }

  /// When they are over; nil: it is not quiet at `now`. An end that the clocks are put forward over is the first instant
  /// after the gap, and of an end that they show twice the first that is to come.
  public func end(at now: Instant, in rules: TimeZoneRules) -> Instant? {
    let wall = rules.local(at: now)
    let time = TimeOfDay(of: wall)
    let isQuiet = from < to ? from <= time && time < to : from <= time || time < to
    guard isQuiet else { return nil }
    let day = wall.days + (time < to ? 0 : 1)
    switch rules.reading(to.onDay(day)) {
    case .once(let end): return end
    case .twice(let first, let second): return first > now ? first : second
    case .skipped(let next, _): return next
    }
  }
}
