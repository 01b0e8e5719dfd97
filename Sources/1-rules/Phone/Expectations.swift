/// What somebody expects of a timeline, or of a part of it.
public enum TimelineExpectation: Hashable, Sendable {
  /// The entries of these kinds are exactly these, in this order; nil: of every kind.
  case exactly([EntryPattern], of: Set<String>?)
  /// Each is there, in any order; one entry does not stand for two.
  case contains([EntryPattern])
  /// Each is there, one after the other, with anything between.
  case inOrder([EntryPattern])
  /// None of them is there.
  case never([EntryPattern])

  /// nil when it is so.
  public func failure(in entries: [TimelineEntry]) -> ExpectationFailure? {
    if let fault = patterns.compactMap(\.fault).first {
      return ExpectationFailure("an expectation means nothing: \(fault)", rows: [], entries: [])
    }
    switch self {
    case .exactly(let patterns, let kinds): return Self.exactly(patterns, of: kinds, in: entries)
    case .contains(let patterns): return Self.contains(patterns, in: entries)
    case .inOrder(let patterns): return Self.inOrder(patterns, in: entries)
    case .never(let patterns): return Self.never(patterns, in: entries)
    }
  }

  public var patterns: [EntryPattern] {
    switch self {
    case .exactly(let patterns, _), .contains(let patterns), .inOrder(let patterns), .never(let patterns): patterns
    }
  }

  /// The same with names of pushes replaced by the ids that they stand for.
  public func resolving(_ names: [String: String]) -> TimelineExpectation {
    func all(_ patterns: [EntryPattern]) -> [EntryPattern] { patterns.map { $0.resolving(names) } }
    return switch self {
    case .exactly(let patterns, let kinds): .exactly(all(patterns), of: kinds)
    case .contains(let patterns): .contains(all(patterns))
    case .inOrder(let patterns): .inOrder(all(patterns))
    case .never(let patterns): .never(all(patterns))
    }
  }

  // MARK: each kind

  private static func exactly(
    _ patterns: [EntryPattern], of kinds: Set<String>?, in entries: [TimelineEntry]
  ) -> ExpectationFailure? {
    let meant = kinds.map { kinds in entries.filter { kinds.contains($0.what.name) } } ?? entries
    guard meant.count != patterns.count || !zip(patterns, meant).allSatisfy({ $0.matches($1) }) else { return nil }
    let what = kinds.map { $0.sorted().joined(separator: " or ") + " " } ?? ""
    return ExpectationFailure(
      "expected exactly these \(what)entries", rows: Alignment.rows(patterns, meant), entries: entries)
  }

  private static func contains(_ patterns: [EntryPattern], in entries: [TimelineEntry]) -> ExpectationFailure? {
    let holder = Matching(patterns, entries).holders
    guard holder.contains(nil) else { return nil }
    let taken = Set(holder.compactMap { $0 })
    let rows = zip(patterns, holder).map { pattern, index in
      if let index { return ExpectationFailure.Row(.same, pattern, entries[index]) }
      let free = entries.indices.filter { !taken.contains($0) }.map { entries[$0] }
      return ExpectationFailure.Row(.missing, pattern, pattern.closest(in: free))
    }
    return ExpectationFailure(
      "expected, and not found: \(rows.count { $0.mark == .missing }) of \(patterns.count)", rows: rows,
      entries: entries)
  }

  private static func inOrder(_ patterns: [EntryPattern], in entries: [TimelineEntry]) -> ExpectationFailure? {
    var rows: [ExpectationFailure.Row] = []
    var start = entries.startIndex
    for (place, pattern) in patterns.enumerated() {
      if let found = entries[start...].firstIndex(where: pattern.matches) {
        rows.append(.init(.same, pattern, entries[found]))
        start = found + 1
        continue
      }
      let earlier = entries[..<start].last(where: pattern.matches)
      rows.append(.init(.missing, pattern, earlier ?? pattern.closest(in: Array(entries[start...]))))
      rows += patterns.dropFirst(place + 1).map { .init(.unknown, $0, nil) }
      let words = earlier == nil ? "is not there" : "came earlier than what should stand before it"
      return ExpectationFailure(
        "expected in this order, but number \(place + 1) \(words)", rows: rows, entries: entries)
    }
    return nil
  }

  private static func never(_ patterns: [EntryPattern], in entries: [TimelineEntry]) -> ExpectationFailure? {
    let rows = patterns.flatMap { pattern in
      entries.filter(pattern.matches).map { ExpectationFailure.Row(.forbidden, pattern, $0) }
    }
    guard !rows.isEmpty else { return nil }
    return ExpectationFailure("expected never", rows: rows, entries: entries)
  }
}

extension EntryPattern {
  /// What comes closest; nil when nothing is of its kind, of a callback: when it was not called.
  public func closest(in entries: [TimelineEntry]) -> TimelineEntry? {
    entries.filter { entry in
      (kind == nil || entry.what.name == kind)
        && callback.map { entry.what.callback?.method.isCalled($0) ?? false } ?? true
    }.min { misses(in: $0) < misses(in: $1) }
  }
}

/// Gives each pattern an entry of its own, as many as possible (Kuhn's algorithm): a broad pattern does not take away the
/// entry that a narrow one needs.
private struct Matching {
  /// For each pattern, the index of its entry.
  private(set) var holders: [Int?]
  private let wants: [[Int]]
  private var owner: [Int: Int] = [:]

  init(_ patterns: [EntryPattern], _ entries: [TimelineEntry]) {
    wants = patterns.map { pattern in entries.indices.filter { pattern.matches(entries[$0]) } }
    holders = patterns.map { _ in nil }
    for pattern in patterns.indices {
      var seen: Set<Int> = []
      _ = find(pattern, &seen)
    }
  }

  private mutating func find(_ pattern: Int, _ seen: inout Set<Int>) -> Bool {
    for entry in wants[pattern] where seen.insert(entry).inserted {
      if let other = owner[entry], !find(other, &seen) { continue }
      owner[entry] = pattern
      holders[pattern] = entry
      return true
    }
    return false
  }
}

/// Expected and actual entries beside each other, so that as many as possible stand on one line.
private enum Alignment {
  /// Beyond this, entries are paired by number: the table below would be too large.
  private static let most = 2_000

  static func rows(_ patterns: [EntryPattern], _ entries: [TimelineEntry]) -> [ExpectationFailure.Row] {
    guard patterns.count <= most, entries.count <= most else { return paired(patterns[...], entries[...]) }
    let width = entries.count + 1
    // longest common subsequence of what follows
    var longest = [Int](repeating: 0, count: (patterns.count + 1) * width)
    var same = [Bool](repeating: false, count: patterns.count * width)
    for row in patterns.indices.reversed() {
      for column in entries.indices.reversed() {
        same[row * width + column] = patterns[row].matches(entries[column])
        longest[row * width + column] =
          same[row * width + column]
          ? longest[(row + 1) * width + column + 1] + 1
          : max(longest[(row + 1) * width + column], longest[row * width + column + 1])
      }
    }
    var rows: [ExpectationFailure.Row] = []
    var (row, column) = (0, 0)
    var (fromRow, fromColumn) = (0, 0)
    while row < patterns.count, column < entries.count {
      if same[row * width + column] {
        rows += paired(patterns[fromRow..<row], entries[fromColumn..<column])
        rows.append(.init(.same, patterns[row], entries[column]))
        (row, column) = (row + 1, column + 1)
        (fromRow, fromColumn) = (row, column)
      } else if longest[(row + 1) * width + column] >= longest[row * width + column + 1] {
        row += 1
      } else {
        column += 1
      }
    }
    return rows + paired(patterns[fromRow...], entries[fromColumn...])
  }

  private static func paired(
    _ patterns: ArraySlice<EntryPattern>, _ entries: ArraySlice<TimelineEntry>
  ) -> [ExpectationFailure.Row] {
    let (patterns, entries) = (Array(patterns), Array(entries))
    return (0..<max(patterns.count, entries.count)).map { index in
      let pattern = index < patterns.count ? patterns[index] : nil
      let entry = index < entries.count ? entries[index] : nil
      let mark: ExpectationFailure.Mark = pattern == nil ? .extra : entry == nil ? .missing : .other
      return .init(mark, pattern, entry)
    }
  }
}
