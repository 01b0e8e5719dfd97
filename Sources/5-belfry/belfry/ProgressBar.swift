import Basics

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// How far something is, on standard error: redrawn in place for a person, else a line at each tenth.
struct ProgressBar {
  private let label: String
  private let isDrawn: Bool
  private var shown = -1
  private static let width = 30

  init(_ label: String, isDrawn: Bool = Terminal.isDrawable(2)) {
    self.label = label
    self.isDrawn = isDrawn
  }

  /// `note` says more, as a count.
  mutating func show(_ done: Int64, of total: Int64, _ note: String) {
    let percent = total <= 0 ? 100 : Int(min(100, max(0, done) * 100 / total))
    if isDrawn {
      Terminal.write("\r" + Self.line(label, percent, note) + "\u{1B}[K", to: 2)
    } else if percent / 10 != shown / 10 || shown < 0 {
      Terminal.complain("\(label) \(percent)%, \(note)")
    }
    shown = percent
  }

  /// So that what is printed next has a line of its own.
  mutating func end() {
    if isDrawn, shown >= 0 { Terminal.write("\n", to: 2) }
    shown = -1
  }

  static func line(_ label: String, _ percent: Int, _ note: String) -> String {
    let filled = width * percent / 100
    let bar = String(repeating: "#", count: filled) + String(repeating: "-", count: width - filled)
    return "\(label) [\(bar)] \(padded("\(percent)%", 4)) \(note)"
  }
}
