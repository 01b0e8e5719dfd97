extension LintReport {
  /// Findings as a compiler prints them: place, severity, words, code; the line with the place underlined; effect and fix.
  /// `colour` adds the escapes of terminals. Without findings the empty text.
  public func listing(colour: Bool) -> String {
    let paint = Paint(isOn: colour)
    return files.flatMap { file in file.findings.map { listing(of: $0, in: file, paint) } }.joined(separator: "\n\n")
  }

  private func listing(of finding: Finding, in file: File, _ paint: Paint) -> String {
    let place = finding.header == nil ? ":\(finding.line):\(finding.column)" : ""
    let severity = paint.severity(finding.severity)
    var lines = [
      "\(paint.bold(file.name + place + ":")) \(severity) \(paint.bold(safe(finding.message))) [\(finding.code.rawValue)]"
    ]
    if finding.header == nil, !file.text.isEmpty {
      let excerpt = SourceExcerpt(finding, in: file.text)
      let number = String(finding.line)
      let margin = String(repeating: " ", count: number.count)
      lines.append(" \(number) | \(excerpt.line)")
      lines.append(" \(margin) | \(paint.mark(excerpt.marks))")
    }
    lines.append("   effect: \(safe(finding.effect))")
    lines.append("   fix: \(safe(finding.fix))")
    return lines.joined(separator: "\n")
  }

  private struct Paint {
    var isOn: Bool

    func bold(_ text: String) -> String { isOn ? "\u{1B}[1m\(text)\u{1B}[0m" : text }

    func mark(_ text: String) -> String { isOn ? "\u{1B}[32m\(text)\u{1B}[0m" : text }

    func severity(_ severity: Severity) -> String {
      let word = severity.rawValue + ":"
      guard isOn else { return word }
      switch severity {
      case .error: return "\u{1B}[1;31m\(word)\u{1B}[0m"
      case .warning: return "\u{1B}[1;33m\(word)\u{1B}[0m"
      case .hint: return "\u{1B}[1;36m\(word)\u{1B}[0m"
      }
    }
  }
}

/// The line of a finding, cut to what fits a screen, and marks under what is meant.
private struct SourceExcerpt {
  var line: String
  var marks: String

  private static let widest = 100
  private static let before = 40
  /// More bytes than `widest` scalars have: what lies further off is cut anyhow, so it is not looked at, and a payload in
  /// one long line with a finding at each of its keys is listed in linear time.
  private static let reach = 4 * (widest + 1)

  init(_ finding: Finding, in text: [UInt8]) {
    let isEnd: (UInt8) -> Bool = { $0 == 0x0A || $0 == 0x0D }
    let near = text[max(0, finding.offset - Self.reach)..<finding.offset]
    let start = near.lastIndex(where: isEnd).map { $0 + 1 } ?? near.startIndex
    let meantEnd = min(finding.offset + min(finding.length, Self.reach), text.count)
    let stop = text[finding.offset..<meantEnd].firstIndex(where: isEnd) ?? meantEnd
    let far = text[stop..<min(stop + Self.reach, text.count)]
    let end = far.firstIndex(where: isEnd) ?? far.endIndex
    let before = Array(String(decoding: text[start..<finding.offset], as: UTF8.self).unicodeScalars)
    let meant = Array(String(decoding: text[finding.offset..<stop], as: UTF8.self).unicodeScalars)
    let after = Array(String(decoding: text[stop..<end], as: UTF8.self).unicodeScalars)
    let isCut = before.count + meant.count + after.count > Self.widest
    let left = isCut ? Array(before.suffix(Self.before)) : before
    let middle = isCut ? Array(meant.prefix(Self.widest - left.count)) : meant
    let right = isCut ? Array(after.prefix(Self.widest - left.count - middle.count)) : after
    line =
      (left.count < before.count ? "…" : "") + (left + middle + right).map(shown).joined()
      + (middle.count < meant.count || right.count < after.count ? "…" : "")
    marks = left.count < before.count ? " " : ""
    for scalar in left { marks += scalar == "\t" ? "\t" : String(repeating: " ", count: columns(scalar)) }
    marks += "^" + String(repeating: "~", count: max(0, middle.reduce(0) { $0 + columns($1) } - 1))
  }
}

/// Nothing that moves the cursor or turns the reading direction gets from a payload to a terminal.
private func safe(_ text: String) -> String { text.unicodeScalars.map(shown).joined() }

private func shown(_ scalar: Unicode.Scalar) -> String {
  if scalar == "\t" { return "\t" }
  switch scalar.properties.generalCategory {
  case .control, .lineSeparator, .paragraphSeparator: return "\u{FFFD}"
  case .format: return scalar.value == 0x200D || scalar.properties.isEmojiModifier ? String(scalar) : ""
  default: return String(scalar)
  }
}

/// Columns of a terminal that a scalar takes (after Unicode's East Asian Width).
private func columns(_ scalar: Unicode.Scalar) -> Int {
  switch scalar.properties.generalCategory {
  case .nonspacingMark, .enclosingMark, .format: return 0
  default: break
  }
  switch scalar.value {
  case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF,
    0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE4F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F,
    0x1F680...0x1F6FF, 0x1F900...0x1F9FF, 0x1FA70...0x1FAFF, 0x20000...0x3FFFD:
    return 2
  default: return 1
  }
}
