/// How many columns a terminal gives to a text: two to a CJK character or an emoji, none to a combining mark, one to all
/// else (Unicode Standard Annex 11, wide and fullwidth; Technical Standard 51 for emoji presentation).
enum TextWidth {
  static func of(_ text: some StringProtocol) -> Int { text.reduce(0) { $0 + of($1) } }

  static func of(_ character: Character) -> Int {
    var scalars = character.unicodeScalars.makeIterator()
    guard let first = scalars.next() else { return 0 }
    if first.isASCII { return first.value < 0x20 || first.value == 0x7F ? 0 : hasEmojiSelector(character) ? 2 : 1 }
    if isZero(first) { return 0 }
    if isWide(first) || first.properties.isEmojiPresentation || isRegionalIndicator(first) { return 2 }
    return first.properties.isEmoji && hasEmojiSelector(character) ? 2 : 1
  }

  /// U+FE0F asks for the picture in place of the sign.
  private static func hasEmojiSelector(_ character: Character) -> Bool {
    character.unicodeScalars.contains { $0.value == 0xFE0F }
  }

  private static func isRegionalIndicator(_ scalar: Unicode.Scalar) -> Bool { (0x1F1E6...0x1F1FF) ~= scalar.value }

  private static func isZero(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format, .control, .lineSeparator, .paragraphSeparator: true
    default: false  // Unicode's own categories, not ours
    }
  }

  private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
    let value = scalar.value
    guard value >= 0x1100 else { return false }
    return wide.contains { $0 ~= value }
  }

  private static let wide: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF,
    0xA000...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F,
    0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18CFF, 0x1AFF0...0x1B2FF, 0x1F200...0x1F2FF, 0x20000...0x3FFFD,
  ]

  /// At most `columns` wide; where something is left out, `…` ends it.
  static func cut(_ text: String, to columns: Int) -> String {
    guard of(text) > columns else { return text }
    guard columns > 0 else { return "" }
    var kept = ""
    var used = 0
    for character in text {
      let width = of(character)
      if used + width > columns - 1 { break }
      kept.append(character)
      used += width
    }
    return kept + "…"
  }

  /// Exactly `columns` wide.
  static func fit(_ text: String, to columns: Int) -> String {
    let cut = cut(text, to: columns)
    return cut + String(repeating: " ", count: max(0, columns - of(cut)))
  }

  /// Lines of at most `columns`, broken at blanks where there are any, at most `limit` of them; the last is cut.
  static func wrap(_ text: String, to columns: Int, limit: Int = .max) -> [String] {
    guard columns > 0, limit > 0 else { return [] }
    var lines: [String] = []
    var line = ""
    var used = 0
    var rest = Substring(text)
    while !rest.isEmpty {
      if lines.count == limit - 1 { return lines + [cut((line + String(rest)).trimmedAtStart, to: columns)] }
      let word = rest.prefix { $0 != " " }
      let width = of(word)
      if used + width <= columns {
        line += word
        used += width
        rest = rest.dropFirst(word.count)
        if rest.first == " " {
          rest = rest.dropFirst()
          if used < columns {
            line += " "
            used += 1
          } else {
            lines.append(line)
            (line, used) = ("", 0)
          }
        }
        continue
      }
      // a long word is broken when it has a line to itself, or fills more than a line anyway
      if line.isEmpty || width > columns {
        for character in word where used + of(character) <= columns {
          guard character == rest.first else { break }
          line.append(character)
          used += of(character)
          rest = rest.dropFirst()
        }
        if line.isEmpty { return lines }  // not even one character fits
      }
      lines.append(line.trimmedAtEnd)
      (line, used) = ("", 0)
    }
    return line.isEmpty ? lines : lines + [line.trimmedAtEnd]
  }

  /// Free of what would move a terminal's cursor or turn its text around: a sender decides what a notification says,
  /// never what the terminal does.
  static func harmless(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isHarmful) else { return text }
    var clean = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar.value {
      case 0x09, 0x0A, 0x0D, 0x85, 0x2028, 0x2029: clean.append(" ")
      case _ where isHarmful(scalar): if scalar.properties.generalCategory != .format { clean.append("·") }
      default: clean.append(scalar)
      }
    }
    return String(clean)
  }

  private static func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0...0x1F, 0x7F...0x9F, 0x2028...0x202E, 0x2066...0x2069, 0x200E...0x200F: true
    default: false
    }
  }
}

extension String {
  fileprivate var trimmedAtStart: String { String(drop { $0 == " " }) }
  fileprivate var trimmedAtEnd: String {
    var text = self
    while text.last == " " { text.removeLast() }
    return text
  }
}
