import Foundation

/// docs/matrix.txt: what is called, what is shown, and what is left, for every kind of push in every state of the app,
/// by generation and by what the user does then. The file says how to read it.
struct MatrixFile {
  /// Everything before the first heading, as it stands.
  var preface: [String]
  var rows: [Row]

  struct Row: Hashable {
    var device: String
    var state: String
    var kind: String
    var act: String
    /// Ids that decide this row, in one generation at least.
    var rules: [String]
    /// By generation, in the order of `generations`.
    var cells: [String]

    var place: String { "\(device), \(state)" }
  }

  static let generations = ["G1", "G2", "G3", "G3s"]
  static let devices = ["unlocked", "locked"]
  /// Of the app when the push comes; on a locked phone `active` is the app that was in front when it was locked.
  static let states = ["notRunning", "forceQuit", "suspended", "background", "inactive", "active"]
  static let kinds = ["K1", "K2", "K3", "K4", "K5", "K6", "K7"]

  /// What the user can do with a kind of push (D-151).
  static func acts(with kind: String) -> [String] {
    ["K1", "K2"].contains(kind)
      ? ["none", "tap", "icon", "action", "foreground", "text", "dismiss", "flick"] : ["none", "icon"]
  }

  static let url = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "docs/matrix.txt")

  init(preface: [String], rows: [Row]) {
    self.preface = preface
    self.rows = rows
  }

  /// `unlocked, notRunning` starts a block; a row is `kind act | rules | G1 | G2 | G3 | G3s`, a cell `·` is as the one
  /// before it.
  init(_ text: String) {
    preface = []
    rows = []
    var place: [String] = []
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      let columns = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      if line.hasPrefix("## ") {
        place = line.dropFirst(3).split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
      } else if place.isEmpty {
        preface.append(String(line))
      } else if columns.count == 2 + Self.generations.count, place.count == 2 {
        let head = columns[0].split(separator: " ").map(String.init)
        guard head.count == 2 else { continue }
        var cells: [String] = []
        for cell in columns[2...] { cells.append(cell == "·" ? cells.last ?? "" : cell) }
        rows.append(
          Row(
            device: place[0], state: place[1], kind: head[0], act: head[1],
            rules: columns[1].split(separator: " ").map(String.init), cells: cells))
      }
    }
  }

  var text: String {
    var lines = preface
    var place = ""
    for block in blocks {
      let table = block.map { row in
        ["\(row.kind) \(row.act)", row.rules.joined(separator: " ")] + Self.shortened(row.cells)
      }
      let widths = (0..<table[0].count).map { column in table.map { $0[column].count }.max() ?? 0 }
      if block[0].place != place {
        place = block[0].place
        lines += ["## \(place)", ""]
      }
      for row in table {
        let cells = zip(row, widths).map { $0.padding(toLength: $1, withPad: " ", startingAt: 0) }
        lines.append(cells.joined(separator: " | ").trimmingCharacters(in: .whitespaces))
      }
      lines.append("")
    }
    return lines.joined(separator: "\n")
  }

  /// For docs/matrix.md: the same as tables.
  var markdown: String {
    var lines = [
      "# The delivery matrix", "",
      "Rendered from [matrix.txt](matrix.txt), whose cells a test plays on the simulated phone: change that file, then run",
      "`script/matrix`.", "",
    ]
    lines += preface.drop { $0.hasPrefix("#") || $0.isEmpty }
    for block in blocks {
      if block[0].kind == Self.kinds[0] { lines += ["## \(block[0].place)", ""] }
      lines += ["| | rules | \(Self.generations.joined(separator: " | ")) |"]
      lines += ["| --- | --- |\(String(repeating: " --- |", count: Self.generations.count))"]
      for row in block {
        let cells = ["\(row.kind) \(row.act)", row.rules.joined(separator: " ")] + Self.shortened(row.cells)
        lines.append("| \(cells.joined(separator: " | ")) |")
      }
      lines.append("")
    }
    return lines.joined(separator: "\n")
  }

  /// Rows of one place and kind.
  private var blocks: [[Row]] {
    var blocks: [[Row]] = []
    for row in rows {
      if let last = blocks.last?.last, last.place == row.place, last.kind == row.kind {
        blocks[blocks.count - 1].append(row)
      } else {
        blocks.append([row])
      }
    }
    return blocks
  }

  private static func shortened(_ cells: [String]) -> [String] {
    cells.indices.map { $0 > 0 && cells[$0] == cells[$0 - 1] ? "·" : cells[$0] }
  }
}
