import Basics
import Phone

/// The whole terminal: phone on the left, timeline beside it, hints below; on a narrow terminal one of the two.
struct ConsoleFrame {
  var console: PhoneConsole
  var sight: PhoneSight

  /// Exactly `size.rows` lines of `size.columns`.
  func lines(_ size: TerminalSize) -> [StyledLine] {
    let (columns, rows) = (max(0, size.columns), max(0, size.rows))
    guard columns >= 20, rows >= 4 else {
      return (0..<rows).map { row in row == 0 ? StyledLine("too small").fit(to: columns) : StyledLine().fit(to: columns)
      }
    }
    let hints = self.hints(columns, rows)
    let height = rows - hints.count
    let isWide = columns >= 64
    let phoneWidth = isWide ? min(40, max(30, columns * 2 / 5)) : columns
    var phone = ScreenDrawing(sight.screen, now: sight.now, statusBar: sight.statusBar)
    phone.selectedApp = console.app
    phone.selected = console.selection
    let side: [StyledLine]
    let sideWidth = isWide ? columns - phoneWidth - 1 : columns
    switch console.mode {
    case .page(.help): side = Self.help(sideWidth)
    case .page(.info): side = Self.text(sight.places, sideWidth)
    case .page(.text(let lines)): side = Self.text(lines, sideWidth)
    case .watching, .menu, .typing:
      side = TimelineDrawing(entries: sight.log, showsAll: console.showsAll, scrolled: console.scrolled)
        .lines(TerminalSize(columns: sideWidth, rows: height))
    }
    let rest = { (place: Int) in (place < side.count ? side[place] : StyledLine()).fit(to: sideWidth) }
    let body: [StyledLine]
    if isWide {
      let drawn = phone.lines(TerminalSize(columns: phoneWidth, rows: min(height, 34)))
      body = (0..<height).map { row in
        (row < drawn.count ? drawn[row] : StyledLine().fit(to: phoneWidth)) + StyledLine(" ") + rest(row)
      }
    } else if console.showsLog || isPage {
      body = (0..<height).map(rest)
    } else {
      body = phone.lines(TerminalSize(columns: columns, rows: height))
    }
    return body + hints
  }

  private var isPage: Bool {
    if case .page = console.mode { return true }
    return false
  }

  // MARK: below

  /// Who this is, and what can be pressed or is being typed.
  private func hints(_ columns: Int, _ rows: Int) -> [StyledLine] {
    var lines: [StyledLine] = []
    if rows >= 10 {
      let apps = sight.apps.map { app in
        StyledLine(
          " \(TextWidth.harmless(app.bundleID)) \(app.state.rawValue) ", app.bundleID == console.app ? .inverse : .faint
        )
      }
      lines.append(
        (StyledLine("\(TextWidth.harmless(sight.name)) · iOS \(sight.ios) ", .bold)
          + apps.reduce(StyledLine()) { $0 + $1 })
          .fit(to: columns))
    }
    switch console.mode {
    case .watching, .page:
      if let complaint = console.complaint {
        lines.append(StyledLine(TextWidth.harmless(complaint), .ink(.red)).fit(to: columns))
      } else {
        lines.append(Self.keyLine.fit(to: columns))
      }
    case .menu(let menu):
      let words = menu.choices.enumerated().map { "\($0.offset + 1) \($0.element.words)" }
      let text = "\(menu.title):  " + words.joined(separator: "   ")
      lines += TextWidth.wrap(TextWidth.harmless(text), to: columns, limit: rows >= 10 ? 4 : 1)
        .map { StyledLine($0, .ink(.cyan)).fit(to: columns) }
    case .typing(let label, let text, _):
      // the end of what is typed stays in sight
      var shown = TextWidth.harmless(text)
      while TextWidth.of(label) + TextWidth.of(shown) + 3 > columns, !shown.isEmpty { shown.removeFirst() }
      lines.append(
        (StyledLine("\(TextWidth.harmless(label)) ", .bold) + StyledLine(shown) + StyledLine(" ", .inverse))
          .fit(to: columns))
    }
    return lines
  }

  private static let keyLine: StyledLine = [
    ("l", "lock"), ("h", "home"), ("o", "open"), ("t", "tap"), ("c", "centre"), ("p", "push"), ("w", "time"),
    ("k", "swipe away"), (":", "command"), ("?", "all keys"), ("q", "quit"),
  ].reduce(StyledLine()) { $0 + StyledLine(" \($1.0)", .bold) + StyledLine(" \($1.1) ", .faint) }

  // MARK: pages

  static func help(_ columns: Int) -> [StyledLine] {
    let groups = [("A FINGER", KeyBinding.finger), ("THE PHONE", KeyBinding.phone), ("THIS VIEW", KeyBinding.view)]
    return groups.flatMap { title, bindings in
      [StyledLine(title, .faint)]
        + bindings.compactMap { binding in
          guard let label = binding.label else { return nil }
          return (StyledLine(" " + TextWidth.fit(label, to: 10), .bold) + StyledLine(binding.words)).fit(to: columns)
        }
    }
  }

  private static func text(_ lines: [String], _ columns: Int) -> [StyledLine] {
    lines.flatMap { line in
      line.isEmpty ? [StyledLine()] : TextWidth.wrap(TextWidth.harmless(line), to: columns).map { StyledLine($0) }
    }
  }
}
