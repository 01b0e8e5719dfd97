import Basics

/// One pass over a JSON text, without recursion. Every index is checked by the array, every fault knows its byte.
struct JSONScanner {
  private let bytes: [UInt8]
  private let limits: JSONReader.Limits
  private var at = 0
  private(set) var nodes: [JSONTape.Node] = []
  private(set) var duplicates: [UInt32] = []
  /// Container nodes not yet closed, outermost first.
  private var open: [UInt32] = []

  init(_ bytes: [UInt8], _ limits: JSONReader.Limits) {
    self.bytes = bytes
    self.limits = limits
    nodes.reserveCapacity(min(bytes.count / 6 + 4, 65_536))
  }

  mutating func scan() throws(JSONFault) {
    try checkStart()
    try scanValue()
    while let container = open.last {
      skipSpace()
      let isObject = nodes[Int(container)].kind == .object
      switch peek {
      case UInt8(ascii: ","):
        at += 1
        skipSpace()
        if isObject {
          if peek == UInt8(ascii: "}") { throw trailingComma() }
          try scanKey()
        } else if peek == UInt8(ascii: "]") {
          throw trailingComma()
        }
        try scanValue()
      case UInt8(ascii: "}") where isObject, UInt8(ascii: "]") where !isObject:
        close(container)
      default:
        throw unexpected(isObject ? "a comma or }" : "a comma or ]")
      }
    }
    skipSpace()
    if at < bytes.count {
      throw fault(.trailing, "after the end of the document comes \(here)", "Remove everything after the last bracket.")
    }
    if duplicates.count > 1 { duplicates.sort() }
  }

  // MARK: Values

  private mutating func scanValue() throws(JSONFault) {
    while true {
      skipSpace()
      switch peek {
      case UInt8(ascii: "{"):
        try begin(.object)
        skipSpace()
        guard peek != UInt8(ascii: "}") else { return close(open[open.count - 1]) }
        try scanKey()
      case UInt8(ascii: "["):
        try begin(.array)
        skipSpace()
        guard peek != UInt8(ascii: "]") else { return close(open[open.count - 1]) }
      case UInt8(ascii: "\""): return try scanString(.string)
      case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try scanNumber()
      case UInt8(ascii: "t"): return try scanWord("true", .true)
      case UInt8(ascii: "f"): return try scanWord("false", .false)
      case UInt8(ascii: "n"): return try scanWord("null", .null)
      default: throw unexpected("a value")
      }
    }
  }

  private mutating func scanKey() throws(JSONFault) {
    guard peek == UInt8(ascii: "\"") else { throw unexpected("a key in double quotes") }
    try scanString(.key)
    skipSpace()
    guard peek == UInt8(ascii: ":") else { throw unexpected("a colon after the key") }
    at += 1
  }

  private mutating func begin(_ kind: JSONTape.Kind) throws(JSONFault) {
    if open.count >= limits.depth {
      throw fault(
        .tooDeep, "arrays and objects lie more than \(limits.depth) deep",
        "Flatten the document: readers stop at \(limits.depth) levels.")
    }
    open.append(UInt32(nodes.count))
    append(kind, from: at, to: at)
    at += 1
  }

  private mutating func close(_ container: UInt32) {
    at += 1
    open.removeLast()
    nodes[Int(container)].end = UInt32(at)
    nodes[Int(container)].next = UInt32(nodes.count)
    if nodes[Int(container)].kind == .object { noteDuplicates(in: Int(container)) }
  }

  private mutating func append(_ kind: JSONTape.Kind, from start: Int, to end: Int, escaped: Bool = false) {
    nodes.append(
      JSONTape.Node(
        kind: kind, isEscaped: escaped, start: UInt32(start), end: UInt32(end), next: UInt32(nodes.count + 1)))
  }

  private mutating func scanWord(_ word: StaticString, _ kind: JSONTape.Kind) throws(JSONFault) {
    let start = at
    let matches = word.withUTF8Buffer { word in
      word.count <= bytes.count - start && word.indices.allSatisfy { bytes[start + $0] == word[$0] }
    }
    guard matches else { throw unexpected("a value") }
    at += word.utf8CodeUnitCount
    append(kind, from: start, to: at)
  }

  private mutating func scanNumber() throws(JSONFault) {
    let start = at
    if peek == UInt8(ascii: "-") { at += 1 }
    let firstDigit = at
    skipDigits()
    let integerDigits = at - firstDigit
    guard integerDigits > 0 else { throw badNumber("a minus sign without digits") }
    if integerDigits > 1, bytes[firstDigit] == UInt8(ascii: "0") {
      throw badNumber("a number with a leading zero", at: firstDigit)
    }
    var couldOverflow = integerDigits > 300
    if peek == UInt8(ascii: ".") {
      at += 1
      let fraction = at
      skipDigits()
      guard at > fraction else { throw badNumber("a decimal point without digits after it") }
    }
    if peek == UInt8(ascii: "e") || peek == UInt8(ascii: "E") {
      at += 1
      if peek == UInt8(ascii: "+") || peek == UInt8(ascii: "-") { at += 1 }
      let exponent = at
      skipDigits()
      guard at > exponent else { throw badNumber("an exponent without digits") }
      couldOverflow = true
    }
    if couldOverflow, Double(String(decoding: bytes[start..<at], as: UTF8.self))?.isFinite != true {
      at = start
      throw fault(
        .numberTooLarge, "a number beyond ±1.8e308", "Send it as a string, or a smaller number: no phone can hold it.")
    }
    append(.number, from: start, to: at)
  }

  private mutating func skipDigits() {
    while at < bytes.count, bytes[at].isDigit { at += 1 }
  }

  private mutating func scanString(_ kind: JSONTape.Kind) throws(JSONFault) {
    let start = at
    var escaped = false
    at += 1
    while at < bytes.count {
      let byte = bytes[at]
      switch byte {
      case UInt8(ascii: "\""):
        at += 1
        return append(kind, from: start, to: at, escaped: escaped)
      case UInt8(ascii: "\\"):
        escaped = true
        try skipEscape()
      case 0x00..<0x20:
        throw fault(
          .controlCharacter, "a bare \(name(of: byte)) inside a string",
          "Write it as \(escape(of: byte)); a string ends on the line it begins on.")
      case 0x20..<0x80: at += 1
      default:
        let length = sequenceLength
        guard length > 0 else { throw notUTF8() }
        at += length
      }
    }
    at = bytes.count
    let begin = SourcePlace(offset: start, in: bytes)
    throw fault(
      .unexpectedEnd, "the text ends inside the string that begins at line \(begin.line), column \(begin.column)",
      "Close the string with a double quote, and then the brackets around it.")
  }

  private var sequenceLength: Int { utf8SequenceLength(bytes, at) }

  private mutating func skipEscape() throws(JSONFault) {
    guard at + 1 < bytes.count else {
      throw fault(.unexpectedEnd, "the text ends after a backslash", "Finish the escape and close the string.")
    }
    switch bytes[at + 1] {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
      UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
      at += 2
    case UInt8(ascii: "u"):
      guard let unit = hexUnit(at: at + 2) else { throw badEscape() }
      switch unit {
      case 0xD800..<0xDC00:
        guard at + 7 < bytes.count, bytes[at + 6] == UInt8(ascii: "\\"), bytes[at + 7] == UInt8(ascii: "u"),
          let low = hexUnit(at: at + 8), 0xDC00..<0xE000 ~= low
        else { throw loneSurrogate("first") }
        at += 12
      case 0xDC00..<0xE000: throw loneSurrogate("second")
      default: at += 6
      }
    default: throw badEscape()
    }
  }

  private func hexUnit(at start: Int) -> UInt16? {
    guard start + 4 <= bytes.count else { return nil }
    var unit: UInt16 = 0
    for index in start..<start + 4 {
      guard let digit = bytes[index].hexDigit else { return nil }
      unit = unit << 4 | UInt16(digit)
    }
    return unit
  }

  // MARK: Keys that come twice

  private mutating func noteDuplicates(in container: Int) {
    let end = nodes.count
    var key = container + 1
    guard key < end else { return }
    var count = 0
    while key < end {
      count += 1
      key = Int(nodes[key + 1].next)
    }
    guard count <= 16 else { return noteDuplicatesOfMany(in: container) }
    key = container + 1
    while key < end {
      var earlier = container + 1
      while earlier < key {
        if isSameKey(earlier, key) {
          duplicates.append(UInt32(key))
          break
        }
        earlier = Int(nodes[earlier + 1].next)
      }
      key = Int(nodes[key + 1].next)
    }
  }

  /// Linear for objects of any size, so that no text is expensive to read.
  private mutating func noteDuplicatesOfMany(in container: Int) {
    var seen: Set<[UInt8]> = []
    var key = container + 1
    while key < nodes.count {
      if !seen.insert(keyBytes(key)).inserted { duplicates.append(UInt32(key)) }
      key = Int(nodes[key + 1].next)
    }
  }

  private func isSameKey(_ left: Int, _ right: Int) -> Bool {
    let one = nodes[left]
    let other = nodes[right]
    if one.isEscaped || other.isEscaped { return keyBytes(left) == keyBytes(right) }
    let length = one.end - one.start
    guard length == other.end - other.start else { return false }
    for index in 0..<Int(length) where bytes[Int(one.start) + index] != bytes[Int(other.start) + index] { return false }
    return true
  }

  private func keyBytes(_ node: Int) -> [UInt8] {
    let written = bytes[Int(nodes[node].start) + 1..<Int(nodes[node].end) - 1]
    return nodes[node].isEscaped ? JSONTape.unescaped(written) : Array(written)
  }

  // MARK: Faults

  /// The byte that comes next; 0, which JSON allows nowhere, at the end.
  private var peek: UInt8 { at < bytes.count ? bytes[at] : 0 }

  private mutating func skipSpace() {
    while at < bytes.count {
      switch bytes[at] {
      case 0x20, 0x0A, 0x0D, 0x09: at += 1
      default: return
      }
    }
  }

  private func fault(_ code: JSONFault.Code, _ found: String, _ remedy: String) -> JSONFault {
    JSONFault(code, at: at, in: bytes, found: found, remedy: remedy)
  }

  private func checkStart() throws(JSONFault) {
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

  private func trailingComma() -> JSONFault {
    fault(.trailingComma, "a comma with nothing after it", "Remove the comma before the closing bracket.")
  }

  private mutating func badNumber(_ found: String, at place: Int? = nil) -> JSONFault {
    if let place { at = place }
    return fault(.badNumber, found, "Write digits, then perhaps a fraction and an exponent, as in -12.5e3.")
  }

  private func badEscape() -> JSONFault {
    let letter = at + 1 < bytes.count ? bytes[at + 1] : 0
    return letter == UInt8(ascii: "u")
      ? fault(
        .badEscape, "\\u without four hexadecimal digits after it", "Write \\u and exactly four digits, as in \\u4f60.")
      : fault(
        .badEscape, "an escape that JSON does not know: \\\(printable(letter))",
        "Write the character itself, or \\\\ if a backslash is meant.")
  }

  private func loneSurrogate(_ half: String) -> JSONFault {
    let written = String(decoding: bytes[at..<min(at + 6, bytes.count)], as: UTF8.self)
    return fault(
      .loneSurrogate, "\(written), the \(half) half of a surrogate pair without the other",
      "Send the character itself in UTF-8; the text was probably cut in the middle of an emoji.")
  }

  private func notUTF8() -> JSONFault {
    let byte = "0x" + CollectionOfOne(bytes[at]).hex
    return fault(
      .notUTF8, "the byte \(byte), which is not UTF-8 here",
      "Encode the text as UTF-8; cutting text by bytes can split a character.")
  }

  private func unexpected(_ wanted: String) -> JSONFault {
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
  private var here: String {
    guard at < bytes.count else { return "the end" }
    let length = bytes[at] < 0x80 ? 1 : max(1, sequenceLength)
    if length == 1 { return bytes[at] < 0x80 ? printable(bytes[at]) : "the byte 0x" + CollectionOfOne(bytes[at]).hex }
    return String(decoding: bytes[at..<at + length], as: UTF8.self)
  }

  private func printable(_ byte: UInt8) -> String {
    0x20..<0x7F ~= byte ? String(Character(Unicode.Scalar(byte))) : name(of: byte)
  }

  private func name(of byte: UInt8) -> String {
    switch byte {
    case 0x0A: "line feed"
    case 0x0D: "carriage return"
    case 0x09: "tab"
    case 0x00: "zero byte"
    default: "control character 0x" + CollectionOfOne(byte).hex
    }
  }

  private func escape(of byte: UInt8) -> String {
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

/// Length of the well-formed UTF-8 sequence (Unicode 15, table 3-7) that begins at `at`; 0 when there is none.
func utf8SequenceLength(_ bytes: [UInt8], _ at: Int) -> Int {
  let first = bytes[at]
  if first < 0x80 { return 1 }
  let second = at + 1 < bytes.count ? bytes[at + 1] : 0
  let third = at + 2 < bytes.count ? bytes[at + 2] : 0
  let fourth = at + 3 < bytes.count ? bytes[at + 3] : 0
  let tail: ClosedRange<UInt8> = 0x80...0xBF
  switch first {
  case 0xC2...0xDF: return tail ~= second ? 2 : 0
  case 0xE0: return 0xA0...0xBF ~= second && tail ~= third ? 3 : 0
  case 0xED: return 0x80...0x9F ~= second && tail ~= third ? 3 : 0
  case 0xE1...0xEF: return tail ~= second && tail ~= third ? 3 : 0
  case 0xF0: return 0x90...0xBF ~= second && tail ~= third && tail ~= fourth ? 4 : 0
  case 0xF1...0xF3: return tail ~= second && tail ~= third && tail ~= fourth ? 4 : 0
  case 0xF4: return 0x80...0x8F ~= second && tail ~= third && tail ~= fourth ? 4 : 0
  default: return 0
  }
}
