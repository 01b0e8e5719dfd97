/// What was expected beside what happened, and the rules that decided; made to be read.
public struct ExpectationFailure: Error, Hashable, Sendable {
  /// One line.
  public var summary: String
  public var rows: [Row]
  /// What was withheld meanwhile, what was wrong with the app, what the user looked for in vain: mostly the reason.
  public var reasons: [TimelineEntry]

  public struct Row: Hashable, Sendable {
    public var mark: Mark
    public var expected: String?
    /// What happened there; beside `missing` what comes nearest.
    public var actual: TimelineEntry?
    /// Members that were asked for, as they are in `actual`: `sound "default"`.
    public var differences: [String] = []

    init(_ mark: Mark, _ expected: EntryPattern?, _ actual: TimelineEntry?) {
      self.mark = mark
      self.expected = expected?.description
      self.actual = actual
      if mark != .same, let expected, let actual { differences = expected.differences(from: actual) }
    }
  }

  public enum Mark: String, Sendable {
    case same = "="
    /// Both are there and differ.
    case other = "≠"
    case missing = "-"
    case extra = "+"
    case forbidden = "!"
    /// Not looked for, since what stands before it is missing.
    case unknown = "?"
  }

  init(_ summary: String, rows: [Row], entries: [TimelineEntry]) {
    self.summary = summary
    self.rows = rows
    let shown = Set(rows.compactMap(\.actual))
    reasons = entries.filter { $0.isReason && !shown.contains($0) }
  }

  /// The rules that decided what happened in place of what was expected, in their order, each once.
  public var rules: [Rule] {
    var seen: Set<Rule> = []
    let deciding = rows.filter { $0.mark != .same }.compactMap(\.actual) + reasons
    return deciding.map(\.rule).filter { seen.insert($0).inserted }
  }
}

extension TimelineEntry {
  /// Why something else may not have happened: it was withheld, the app is wrong, the user found nothing to act on.
  public var isReason: Bool {
    switch what {
    case .withheld, .fault, .notModelled: true
    case .user(let words): words.hasPrefix("finds no")
    case .arrived, .callback, .shown, .removed, .badge, .state, .app, .system, .activity, .summary: false
    }
  }
}

extension ExpectationFailure: CustomStringConvertible {
  public var description: String { rows.isEmpty ? summary : "\(summary):\n\(table())" }

  /// Two columns: expected, and what happened with the rule that decided.
  public func table(width: Int = 110) -> String {
    guard !rows.isEmpty else { return "" }
    let longest = rows.compactMap { $0.expected?.count }.max() ?? 0
    let left = min(max(longest, 8), max(20, width * 2 / 5))
    let right = max(30, width - left - 5)
    var lines = ["    \(Self.padded("expected", left)) │ what happened"]
    for row in rows {
      let pieces = Self.wrapped(row.expected ?? "", left)
      let near = row.mark == .missing && row.actual != nil ? "nearest: " : ""
      let actual =
        row.actual.map { near + $0.line(width: right - near.count) } ?? (row.mark == .unknown ? "" : "nothing")
      for (index, piece) in pieces.enumerated() {
        let line = "  \(index == 0 ? row.mark.rawValue : " ") \(Self.padded(piece, left)) │ \(index == 0 ? actual : "")"
        lines.append(String(line.reversed().drop { $0 == " " }.reversed()))
      }
      lines += row.differences.map { "    \(Self.padded("", left)) │   it has \($0)" }
    }
    if !reasons.isEmpty {
      lines.append("  and meanwhile:")
      lines += reasons.map { "    \($0.line(width: width - 4))" }
    }
    lines += Self.because(rows.filter { $0.mark != .same }.compactMap(\.actual) + reasons, width: width)
    return lines.joined(separator: "\n")
  }

  /// Why these entries came so: what their rules say, with who says so, each rule once; of a callback why this one and not
  /// another. Lines of at most `width` characters where words allow it; none for no entry.
  public static func because(_ entries: [TimelineEntry], width: Int = 110) -> [String] {
    var seen: Set<Rule> = []
    let deciding = entries.filter { seen.insert($0.rule).inserted }
    guard !deciding.isEmpty else { return [] }
    let told = deciding.prefix(mostRules).flatMap { entry in
      entry.explanation.dropFirst(entry.what.callback == nil ? 0 : 1)
    }
    var lines = ["  because:"]
    for text in told {
      for (index, piece) in wrapped(text, max(20, width - 6)).enumerated() {
        lines.append("    \(index == 0 ? "" : "  ")\(piece)")
      }
    }
    let rest = deciding.dropFirst(mostRules).map(\.rule.id)
    if !rest.isEmpty { lines.append("    and \(rest.joined(separator: ", ")): see docs/iphone.md") }
    return lines
  }

  /// As many rules are told whole.
  private static let mostRules = 6

  private static func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }

  /// Broken at spaces, else in the middle of a word.
  private static func wrapped(_ text: String, _ width: Int) -> [String] {
    var lines: [String] = []
    var rest = text[...]
    while rest.count > width {
      let head = rest.prefix(width)
      let end = head.lastIndex(of: " ").map { $0 > head.startIndex ? $0 : head.endIndex } ?? head.endIndex
      lines.append(String(rest[..<end]))
      rest = rest[end...].drop { $0 == " " }
    }
    return lines + [String(rest)]
  }
}
