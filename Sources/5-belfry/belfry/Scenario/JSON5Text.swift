import PushPayload

/// Where the values of a JSON5 text stand, so that one can be replaced and all else, comments too, stays as it is. The text
/// must be one that the reader took.
struct JSON5Text {
  private(set) var bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Puts values in the place of those at the paths; answers the paths that were not found, and of those replaced the ones
  /// whose comments are lost.
  mutating func replace(_ edits: [(path: JSONPath, value: JSONValue)]) -> (missing: [JSONPath], lost: [JSONPath]) {
    var found: [(range: Range<Int>, path: JSONPath, value: JSONValue)] = []
    var missing: [JSONPath] = []
    for edit in edits {
      if let range = range(of: edit.path) {
        found.append((range, edit.path, edit.value))
      } else {
        missing.append(edit.path)
      }
    }
    var lost: [JSONPath] = []
    for edit in found.sorted(by: { $0.range.lowerBound > $1.range.lowerBound }) {
      if hasComment(edit.range) { lost.append(edit.path) }
      let line = bytes[..<edit.range.lowerBound].lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
      let indent = bytes[line...].prefix { $0 == 0x20 || $0 == 0x09 }
      bytes.replaceSubrange(
        edit.range, with: Self.written(edit.value, indent: String(decoding: indent, as: UTF8.self)).utf8)
    }
    return (missing, lost.reversed())
  }

  /// On one line if it is short, else each element of a list on its own.
  private static func written(_ value: JSONValue, indent: String) -> String {
    guard let list = value.array else { return value.text }
    let flat = "[" + list.map(\.text).joined(separator: ", ") + "]"
    guard flat.count > 90, list.count > 1 else { return flat }
    let lines = list.map { "\(indent)  \($0.text),\n" }.joined()
    return "[\n\(lines)\(indent)]"
  }

  private func hasComment(_ range: Range<Int>) -> Bool {
    var scanner = Scanner(bytes: bytes, place: range.lowerBound)
    _ = scanner.value(at: [][...])
    return scanner.sawComment
  }

  /// The bytes of the value; nil where there is none. Of a key that is there twice, the last.
  func range(of path: JSONPath) -> Range<Int>? {
    var scanner = Scanner(bytes: bytes, place: 0)
    return scanner.value(at: path.steps[...]).found
  }

  /// Walks over values without reading what they say. Never leaves the text, whatever it holds.
  private struct Scanner {
    let bytes: [UInt8]
    var place: Int
    var sawComment = false

    private var next: UInt8? { place < bytes.count ? bytes[place] : nil }

    /// The range of the value here, and that of the part at `path`.
    mutating func value(at path: ArraySlice<JSONPath.Step>) -> (whole: Range<Int>, found: Range<Int>?) {
      blank()
      let start = place
      var found: Range<Int>?
      switch next {
      case UInt8(ascii: "{"):
        members(closing: "}") { scanner in
          let key = scanner.key()
          scanner.blank()
          if scanner.next == UInt8(ascii: ":") { scanner.place += 1 }
          let isMeant = path.first == .key(key)
          let value = scanner.value(at: isMeant ? path.dropFirst() : [][...])
          if isMeant { found = path.count == 1 ? value.whole : value.found }
        }
      case UInt8(ascii: "["):
        var index = 0
        members(closing: "]") { scanner in
          let isMeant = path.first == .index(index)
          let value = scanner.value(at: isMeant ? path.dropFirst() : [][...])
          if isMeant { found = path.count == 1 ? value.whole : value.found }
          index += 1
        }
      case UInt8(ascii: "\""), UInt8(ascii: "'"): text()
      default: word()
      }
      return (start..<place, found)
    }

    private mutating func members(closing: Unicode.Scalar, _ member: (inout Scanner) -> Void) {
      place += 1
      while true {
        blank()
        guard let byte = next else { return }
        if byte == UInt8(ascii: closing) {
          place += 1
          return
        }
        if byte == UInt8(ascii: ",") {
          place += 1
          continue
        }
        let before = place
        member(&self)
        if place == before { place += 1 }  // never stand still
      }
    }

    private mutating func key() -> String {
      let start = place
      if next == UInt8(ascii: "\"") || next == UInt8(ascii: "'") {
        text()
        return String(decoding: bytes[(start + 1)..<max(start + 1, place - 1)], as: UTF8.self)
      }
      word()
      return String(decoding: bytes[start..<place], as: UTF8.self)
    }

    private mutating func text() {
      let quote = next
      place += 1
      while let byte = next {
        place += byte == UInt8(ascii: "\\") ? 2 : 1
        if byte == quote { break }
      }
      place = min(place, bytes.count)
    }

    private mutating func word() {
      while let byte = next, !" \t\r\n,:{}[]/\"'".utf8.contains(byte) { place += 1 }
    }

    /// White space and comments.
    private mutating func blank() {
      while let byte = next {
        if byte <= 0x20 {
          place += 1
        } else if byte == UInt8(ascii: "/"), place + 1 < bytes.count, bytes[place + 1] == UInt8(ascii: "/") {
          sawComment = true
          while let byte = next, byte != UInt8(ascii: "\n") { place += 1 }
        } else if byte == UInt8(ascii: "/"), place + 1 < bytes.count, bytes[place + 1] == UInt8(ascii: "*") {
          sawComment = true
          place += 2
          while place + 1 < bytes.count, !(bytes[place] == UInt8(ascii: "*") && bytes[place + 1] == UInt8(ascii: "/")) {
            place += 1
          }
          place = min(place + 2, bytes.count)
        } else {
          return
        }
      }
    }
  }
}
