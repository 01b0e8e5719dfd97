import Basics
import Phone

/// The timeline beside the phone: what came, what the user sees, and which code runs with what; under each callback the
/// line that says why. Newest at the bottom.
struct TimelineDrawing {
  var entries: [TimelineEntry]
  /// Also what the system does unseen.
  var showsAll: Bool
  /// How many of the newest are left out below.
  var scrolled: Int

  func lines(_ size: TerminalSize) -> [StyledLine] {
    guard size.rows > 0, size.columns > 0 else { return [] }
    let title = showsAll ? "Timeline" : "Callbacks"
    let head = StyledLine(title, .bold) + StyledLine(scrolled > 0 ? "  (scrolled)" : "", .faint)
    let seen = entries.filter { showsAll || Self.look($0.what).isTold }
    var drawn: [StyledLine] = []
    for entry in seen.dropLast(min(scrolled, max(0, seen.count - 1))).reversed() {
      let lines = Self.lines(entry, size.columns)
      if drawn.count + lines.count > size.rows - 1 {
        // the newest is shown as far as it goes, an older one whole or not at all
        if drawn.isEmpty { drawn = Array(lines.prefix(size.rows - 1)) }
        break
      }
      drawn = lines + drawn
    }
    return [head.fit(to: size.columns)] + drawn.map { $0.fit(to: size.columns) }
  }

  static func lines(_ entry: TimelineEntry, _ columns: Int) -> [StyledLine] {
    let clock = String(entry.time.description.dropFirst(11).prefix(8))
    let indent = columns >= 40 ? 11 : 2
    let (words, more) = words(entry.what)
    let style = look(entry.what).style
    let head = StyledLine("\(clock) ", .faint) + StyledLine("\(entry.arrow) ", style)
    let room = max(1, columns - 11)
    let first = TextWidth.wrap(words, to: room, limit: 3)
    var lines = [head + StyledLine(first.first ?? "", style)]
    let margin = StyledLine(String(repeating: " ", count: indent))
    lines += first.dropFirst().map { margin + StyledLine($0, style) }
    if !more.isEmpty {
      lines += TextWidth.wrap(more, to: max(1, columns - indent), limit: 2).map { margin + StyledLine($0, .faint) }
    }
    if case .callback = entry.what {
      let why = "why: " + entry.explanation.dropFirst().joined(separator: "; ")
      lines += TextWidth.wrap(TextWidth.harmless(why), to: max(1, columns - indent), limit: 4)
        .map { margin + StyledLine($0, .ink(.green)) }
    } else {
      lines[lines.count - 1] += StyledLine("  \(entry.rule)", .faint)
    }
    return lines
  }

  /// What happened, and the arguments apart.
  private static func words(_ what: TimelineEntry.What) -> (String, String) {
    guard case .callback(let callback) = what else { return (TextWidth.harmless(what.words), "") }
    let whole = callback.description
    let mark = " [\(callback.state.rawValue)]"
    guard let end = whole.ranges(of: mark).first?.upperBound else { return (TextWidth.harmless(whole), "") }
    let (head, more) = (String(whole[..<end]), String(whole[end...].drop { $0 == " " }))
    return (TextWidth.harmless(head), TextWidth.harmless(more))
  }

  /// How it looks, and whether it is told where not all is.
  private static func look(_ what: TimelineEntry.What) -> (style: TextStyle, isTold: Bool) {
    switch what {
    case .callback: (.ink(.cyan, bold: true), true)
    case .shown, .badge, .removed, .summary, .activity: (.ink(.yellow), true)
    case .arrived: (.ink(.magenta), true)
    case .fault: (.ink(.red, bold: true), true)
    case .withheld, .notModelled: (.ink(.red), true)
    case .user, .app: (.plain, true)
    case .state, .system: (.faint, false)
    }
  }
}
