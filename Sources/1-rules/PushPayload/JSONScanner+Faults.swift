import Basics

/// Faults in words that a person can act on.
extension JSONScanner {
  func fault(_ code: JSONFault.Code, _ found: String, _ remedy: String) -> JSONFault {
    JSONFault(code, at: at, in: bytes, found: found, remedy: remedy)
  }

  func checkStart() throws(JSONFault) {
    if bytes.count > limits.bytes {
      throw fault(
        .tooLong, "the text has \(bytes.count) bytes, more than the \(limits.bytes) accepted here", "Send less.")
    }
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
      throw fault(.byteOrderMark, "a byte order mark before the document", "Save the text as UTF-8 without BOM.")
    }
    if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) {
      throw fault(.notUTF8, "a byte order mark of UTF-16", "Save the text as UTF-8 without BOM.")
    }
    if bytes.count >= 2, bytes[0] == 0 || bytes[1] == 0 {
      throw fault(.notUTF8, "a zero byte, as in UTF-16 or UTF-32", "Save the text as UTF-8.")
    }
    if bytes.allSatisfy({ $0 == 0x20 || $0 == 0x0A || $0 == 0x0D || $0 == 0x09 }) {
      throw fault(
        .empty, bytes.isEmpty ? "nothing" : "nothing but white space", "Send a JSON object; {} is the least there is.")
    }
  }

  func trailingComma() -> JSONFault {
    fault(.trailingComma, "a comma with nothing after it", "Remove the comma before the closing bracket.")
  }

  mutating func badNumber(_ found: String, at place: Int? = nil) -> JSONFault {
    if let place { at = place }
    return fault(.badNumber, found, "Write digits, then perhaps a fraction and an exponent, as in -12.5e3.")
  }

  func badEscape() -> JSONFault {
    let letter = at + 1 < bytes.count ? bytes[at + 1] : 0
    return letter == UInt8(ascii: "u")
      ? fault(
        .badEscape, "\\u without four hexadecimal digits after it", "Write \\u and exactly four digits, as in \\u4f60.")
      : fault(
        .badEscape, "an escape that JSON does not know: \\\(printable(letter))",
        "Write the character itself, or \\\\ if a backslash is meant.")
  }

  func loneSurrogate(_ half: String) -> JSONFault {
    let written = String(decoding: bytes[at..<min(at + 6, bytes.count)], as: UTF8.self)
    return fault(
      .loneSurrogate, "\(written), the \(half) half of a surrogate pair without the other",
      "Send the character itself in UTF-8; the text was probably cut in the middle of an emoji.")
  }

  func notUTF8() -> JSONFault {
    let byte = "0x" + CollectionOfOne(bytes[at]).hex
    return fault(
      .notUTF8, "the byte \(byte), which is not UTF-8 here",
      "Encode the text as UTF-8; cutting text by bytes can split a character.")
  }

  func unexpected(_ wanted: String) -> JSONFault {
    let byte = peek
    guard at < bytes.count else {
      return fault(.unexpectedEnd, "the text ends where \(wanted) should come", "Close what is open: \(closers).")
    }
    if byte == UInt8(ascii: "/") || byte == UInt8(ascii: "#") {
      return fault(.comment, "a comment where \(wanted) should come", "Remove it: JSON has no comments.")
    }
    if byte >= 0x80, sequenceLength == 0 { return notUTF8() }
    return fault(.unexpectedCharacter, "\(here) where \(wanted) should come", remedy(for: byte, wanted))
  }

  private func remedy(for byte: UInt8, _ wanted: String) -> String {
    let word = String(decoding: bytes[at..<min(at + 9, bytes.count)].prefix { $0.isLetter }, as: UTF8.self)
    switch byte {
    case UInt8(ascii: "'"): return "Use double quotes: JSON knows no others."
    case UInt8(ascii: "="), UInt8(ascii: ";"), UInt8(ascii: "("): return Self.logNotation
    case UInt8(ascii: "+"), UInt8(ascii: "."): return "Write a number without a plus sign, beginning with a digit."
    case UInt8(ascii: ":"): return "Give the key before the colon."
    case UInt8(ascii: ","): return "Remove the comma, or write what is missing before it."
    case UInt8(ascii: "\""): return "Put a comma between the values; inside a string a quote is written \\\"."
    case 0xE2: return "Use straight double quotes; an editor may have made them typographic."
    default: break
    }
    if wanted.hasPrefix("a key"),
      bytes[at...].prefix(80).drop(while: { $0 != UInt8(ascii: "=") && $0.isToken }).first
        == UInt8(ascii: "=")
    {
      return Self.logNotation
    }
    switch word {
    case "True", "TRUE", "YES": return "Write true."
    case "False", "FALSE", "NO": return "Write false."
    case "None", "nil", "NULL", "Null", "undefined": return "Write null, or leave the key out."
    case "NaN", "Infinity": return "JSON has no such number; leave the key out."
    case "": return "Write \(wanted)."
    default: return wanted.hasPrefix("a key") ? "Put the key in double quotes." : "Put text in double quotes."
    }
  }

  private static let logNotation =
    "This looks like the notation of device logs (key = value;): read it with --format-in plist."

  /// The brackets that are still to be closed, innermost first.
  private var closers: String {
    let closers = open.suffix(8).reversed().map { nodes[Int($0)].kind == .object ? "}" : "]" }
    return closers.isEmpty ? "the document has no value" : closers.joined(separator: " ") + (open.count > 8 ? " …" : "")
  }

  /// The character that stands here, in words.
  var here: String {
    guard at < bytes.count else { return "the end" }
    let length = bytes[at] < 0x80 ? 1 : max(1, sequenceLength)
    if length == 1 { return bytes[at] < 0x80 ? printable(bytes[at]) : "the byte 0x" + CollectionOfOne(bytes[at]).hex }
    return String(decoding: bytes[at..<at + length], as: UTF8.self)
  }

  private func printable(_ byte: UInt8) -> String {
    0x20..<0x7F ~= byte ? String(Character(Unicode.Scalar(byte))) : name(of: byte)
  }

  func name(of byte: UInt8) -> String {
    switch byte {
    case 0x0A: "line feed"
    case 0x0D: "carriage return"
    case 0x09: "tab"
    case 0x00: "zero byte"
    default: "control character 0x" + CollectionOfOne(byte).hex
    }
  }

  func escape(of byte: UInt8) -> String {
    switch byte {
    case 0x0A: "\\n"
    case 0x0D: "\\r"
    case 0x09: "\\t"
    default: "\\u00" + CollectionOfOne(byte).hex
    }
  }
}

extension UInt8 {
  fileprivate var isToken: Bool { isLetter || isDigit || self == 0x20 || self == 0x5F || self == 0x2D }

  var isLetter: Bool {
    UInt8(ascii: "a")...UInt8(ascii: "z") ~= self || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= self
  }
}
