/// A caller's own text for a message: in quotes, at most 60 characters, with what cannot be seen spelled out.
public func quoted(_ text: String) -> String {
  var shown = ""
  for scalar in text.unicodeScalars.prefix(60) {
    if scalar == "\"" || scalar == "\\" {
      shown += "\\"
      shown.unicodeScalars.append(scalar)
    } else if scalar.isVisible || scalar == " " {
      shown.unicodeScalars.append(scalar)
    } else {
      shown += "<\(scalar.codePoint)>"
    }
  }
  return "\"\(shown)\(text.unicodeScalars.count > 60 ? "…" : "")\""
}

extension Unicode.Scalar {
  /// `U+200B`.
  fileprivate var codePoint: String {
    let hex = String(value, radix: 16, uppercase: true)
    return "U+" + String(repeating: "0", count: max(0, 4 - hex.count)) + hex
  }

  /// Leaves ink by itself.
  fileprivate var isVisible: Bool {
    switch properties.generalCategory {
    case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator,
      .spaceSeparator, .nonspacingMark, .enclosingMark:
      false
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .spacingMark,
      .decimalNumber, .letterNumber, .otherNumber, .connectorPunctuation, .dashPunctuation, .openPunctuation,
      .closePunctuation, .initialPunctuation, .finalPunctuation, .otherPunctuation, .mathSymbol, .currencySymbol,
      .modifierSymbol, .otherSymbol:
      true
    @unknown default: false
    }
  }

  /// Unicode names no control character.
  private var controlName: String? {
    switch self {
    case "\0": "null"
    case "\t": "tab"
    case "\n": "line feed"
    case "\r": "carriage return"
    default: properties.generalCategory == .control ? "control character" : nil
    }
  }

  /// `',' comma (U+002C)`, `zero width space (U+200B)`: the character if it can be seen, then the name that Unicode
  /// gives it.
  public var inWords: String {
    let name = (properties.name ?? controlName)?.lowercased()
    let shown = isVisible ? "'\(self)'" : nil
    return [shown, name, "(\(codePoint))"].compactMap(\.self).joined(separator: " ")
  }
}
