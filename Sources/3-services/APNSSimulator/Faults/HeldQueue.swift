internal import Basics

/// Things to do at their times, first the earliest, those of one time in the order in which they came.
struct HeldQueue<Work> {
  private struct Entry {
    var due: Instant.Span
    var work: Work
  }

  /// The latest first, so that what is due leaves at the end.
  private var entries: [Entry] = []

  var earliest: Instant.Span? { entries.last?.due }

  /// `due` in the time of `WallClock.uptime`.
  mutating func add(_ work: Work, due: Instant.Span) {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].due > due { low = middle + 1 } else { high = middle }
    }
    entries.insert(Entry(due: due, work: work), at: low)
  }

  /// What is due by now.
  mutating func take(by now: Instant.Span) -> [Work] {
    var due: [Work] = []
    while let last = entries.last, last.due <= now {
      due.append(last.work)
      entries.removeLast()
    }
    return due
  }

  mutating func removeAll() { entries = [] }
}
