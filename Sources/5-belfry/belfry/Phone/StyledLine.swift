/// How a piece of text looks; what a terminal without colours cannot show is left away, never the words.
struct TextStyle: Hashable, Sendable {
  enum Colour: Int, Sendable {
    case red = 31
    case green, yellow, blue, magenta, cyan
  }

  var colour: Colour?
  var isBold = false
  var isFaint = false
  var isInverse = false

  static let plain = TextStyle()
  static let bold = TextStyle(isBold: true)
  static let faint = TextStyle(isFaint: true)
  static let inverse = TextStyle(isInverse: true)
  static func ink(_ colour: Colour, bold: Bool = false) -> TextStyle { TextStyle(colour: colour, isBold: bold) }

  /// Select Graphic Rendition (ECMA-48 §8.3.117); empty for plain text.
  fileprivate func sequence(colours: Bool) -> String {
    var codes: [String] = []
    if isBold { codes.append("1") }
    if isFaint { codes.append("2") }
    if isInverse { codes.append("7") }
    if colours, let colour { codes.append(String(colour.rawValue)) }
    return codes.isEmpty ? "" : "\u{1B}[\(codes.joined(separator: ";"))m"
  }
}

/// One line of a drawing: runs of text, each in its style.
struct StyledLine: Hashable, Sendable, ExpressibleByStringLiteral, ExpressibleByStringInterpolation {
  struct Run: Hashable, Sendable {
    var text: String
    var style: TextStyle
  }

  var runs: [Run] = []

  init() {}
  init(_ text: String, _ style: TextStyle = .plain) { runs = text.isEmpty ? [] : [Run(text: text, style: style)] }
  init(stringLiteral text: String) { self.init(text) }

  static func + (left: StyledLine, right: StyledLine) -> StyledLine {
    var line = left
    line.runs += right.runs
    return line
  }

  static func += (left: inout StyledLine, right: StyledLine) { left.runs += right.runs }

  /// What a golden text holds.
  var plain: String { runs.map(\.text).joined() }

  var width: Int { runs.reduce(0) { $0 + TextWidth.of($1.text) } }

  /// Exactly `columns` wide: cut with `…`, or filled with blanks.
  func fit(to columns: Int) -> StyledLine {
    var line = StyledLine()
    var room = max(0, columns)
    for (place, run) in runs.enumerated() {
      let width = TextWidth.of(run.text)
      let isLast = place == runs.count - 1
      if width < room || (width == room && isLast) {
        line.runs.append(run)
        room -= width
      } else {
        let rest = runs[(place + 1)...].contains { !$0.text.isEmpty }
        let text = TextWidth.cut(rest ? run.text + " " : run.text, to: room)
        line.runs.append(Run(text: text, style: run.style))
        room -= TextWidth.of(text)
        break
      }
    }
    if room > 0 { line.runs.append(Run(text: String(repeating: " ", count: room), style: .plain)) }
    return line
  }

  /// Centred in `columns`, which it fills.
  func centred(in columns: Int) -> StyledLine {
    let width = width
    guard width < columns else { return fit(to: columns) }
    return (StyledLine(String(repeating: " ", count: (columns - width) / 2)) + self).fit(to: columns)
  }

  /// For a terminal: each run in its style, ending in the plain one. `placed`: behind a character that a terminal may
  /// take for wider or narrower than we do, the column is named anew, so that all to the right of it stays in place.
  func ansi(colours: Bool, placed: Bool = false) -> String {
    var text = ""
    var column = 1
    var isSure = true
    for run in runs {
      if placed, !isSure { text += "\u{1B}[\(column)G" }
      let sequence = run.style.sequence(colours: colours)
      text += sequence.isEmpty ? run.text : "\(sequence)\(run.text)\u{1B}[0m"
      column += TextWidth.of(run.text)
      isSure = run.text.unicodeScalars.allSatisfy { $0.value < 0x2600 }
    }
    return text
  }
}

/// Of a terminal, or a part of it.
struct TerminalSize: Hashable, Sendable {
  var columns: Int
  var rows: Int
}
