import Basics

/// Reads the notation in which device logs show a payload, which people paste from there: NSLog's description of a
/// dictionary (`{ aps = { alert = "…"; badge = 1; }; key1 = value1; }`, old-style property lists, with comments) and
/// Swift's (`[AnyHashable("aps"): { … }]`).
///
/// The notation does not tell the number 1 from the string "1": whatever is written without quotes and looks like a JSON
/// number is taken for one, as it almost always was. `"<null>"` is null.
public enum PlistReader {
  /// The value, with places in the text as given.
  public static func read(
    _ bytes: [UInt8], limits: JSONReader.Limits = JSONReader.Limits()
  ) throws(JSONFault) -> JSONDocument {
    JSONDocument(try tape(reading: bytes, limits: limits))
  }

  static func tape(
    reading bytes: [UInt8], limits: JSONReader.Limits = JSONReader.Limits()
  ) throws(JSONFault) -> JSONTape {
    var translator = PlistTranslator(bytes, limits)
    try translator.translate()
    var tape = try JSONTape(reading: translator.json, limits: limits)
    tape.origin = JSONTape.Origin(text: bytes, offsets: translator.offsets, ends: translator.ends)
    return tape
  }
}

/// Writes the JSON that a text stands for, remembering for each node, in document order, where it stood.
private struct PlistTranslator {
  private let bytes: [UInt8]
  private let limits: JSONReader.Limits
  private var at = 0
  private var depth = 0
  private(set) var json: [UInt8] = []
  private(set) var offsets: [UInt32] = []
  private(set) var ends: [UInt32] = []

  init(_ bytes: [UInt8], _ limits: JSONReader.Limits) {
    self.bytes = bytes
    self.limits = limits
    json.reserveCapacity(bytes.count)
  }

  mutating func translate() throws(JSONFault) {
    if bytes.count > limits.bytes {
      throw fault(
        .tooLong, "the text has \(bytes.count) bytes, more than the \(limits.bytes) accepted here", "Send less.")
    }
    var checked = 0
    while checked < bytes.count {
      let length = utf8SequenceLength(bytes, checked)
      guard length > 0 else {
        at = checked
        throw fault(.notUTF8, "a byte that is not UTF-8", "Save the text as UTF-8.")
      }
      checked += length
    }
    try skipSpace()
    if at == bytes.count { throw fault(.empty, "nothing but white space", "Paste a dictionary: { aps = { … }; }") }
    try value(.plist)
    try skipSpace()
    if at < bytes.count {
      throw fault(
        .trailing, "after the end of the dictionary comes \(here)", "Remove everything after the last bracket.")
    }
  }

  // MARK: Values

  private enum Notation { case plist, swiftDictionary, swiftArray }

  private mutating func value(_ notation: Notation) throws(JSONFault) {
    switch peek {
    case UInt8(ascii: "{"): try dictionary()
    case UInt8(ascii: "("): try list()
    case UInt8(ascii: "["): try swiftCollection()
    case UInt8(ascii: "\""), UInt8(ascii: "'"):
      let node = begin()
      let text = try quoted()
      if text == "<null>" { json.append(contentsOf: "null".utf8) } else { text.writeJSON(to: &json) }
      end(node)
    default:
      let node = begin()
      let token = notation == .swiftDictionary ? swiftToken() : token()
      guard !token.isEmpty else { throw unexpected("a value") }
      if isNumber(token) || notation != .plist && (token == "true" || token == "false") {
        json.append(contentsOf: token.utf8)
      } else if token == "<null>" {
        json.append(contentsOf: "null".utf8)
      } else {
        token.writeJSON(to: &json)
      }
      end(node)
    }
  }

  private mutating func dictionary() throws(JSONFault) {
    let node = try open("{")
    try skipSpace()
    var isFirst = true
    while peek != UInt8(ascii: "}") {
      if !isFirst { json.append(UInt8(ascii: ",")) }
      isFirst = false
      try key()
      try skipSpace()
      guard peek == UInt8(ascii: "=") else { throw unexpected("an equals sign after the key") }
      at += 1
      json.append(UInt8(ascii: ":"))
      try skipSpace()
      try value(.plist)
      try skipSpace()
      if peek == UInt8(ascii: ";") || peek == UInt8(ascii: ",") {
        at += 1
        try skipSpace()
      } else if peek != UInt8(ascii: "}") {
        throw unexpected("a semicolon after the value")
      }
    }
    close(node, "}")
  }

  private mutating func list() throws(JSONFault) {
    let node = try open("[")
    try skipSpace()
    var isFirst = true
    while peek != UInt8(ascii: ")") {
      if !isFirst { json.append(UInt8(ascii: ",")) }
      isFirst = false
      try value(.plist)
      try skipSpace()
      if peek == UInt8(ascii: ",") {
        at += 1
        try skipSpace()
      } else if peek != UInt8(ascii: ")") {
        throw unexpected("a comma or )")
      }
    }
    close(node, "]")
  }

  /// `[key: value, …]`, `[:]`, `[value, …]` as Swift prints them.
  private mutating func swiftCollection() throws(JSONFault) {
    let start = at
    at += 1
    try skipSpace()
    let isDictionary = try startsSwiftDictionary()
    at = start
    let node = try open(isDictionary ? "{" : "[")
    try skipSpace()
    if isDictionary, peek == UInt8(ascii: ":") {
      at += 1
      try skipSpace()
    }
    var isFirst = true
    while peek != UInt8(ascii: "]") {
      if !isFirst { json.append(UInt8(ascii: ",")) }
      isFirst = false
      if isDictionary {
        try key()
        try skipSpace()
        guard peek == UInt8(ascii: ":") else { throw unexpected("a colon after the key") }
        at += 1
        json.append(UInt8(ascii: ":"))
        try skipSpace()
      }
      try value(isDictionary ? .swiftDictionary : .swiftArray)
      try skipSpace()
      if peek == UInt8(ascii: ",") {
        at += 1
        try skipSpace()
      } else if peek != UInt8(ascii: "]") {
        throw unexpected("a comma or ]")
      }
    }
    close(node, isDictionary ? "}" : "]")
  }

  private mutating func startsSwiftDictionary() throws(JSONFault) -> Bool {
    if peek == UInt8(ascii: ":") || follows("AnyHashable(") { return true }
    guard peek == UInt8(ascii: "\"") else { return false }
    _ = try quoted()
    try skipSpace()
    return peek == UInt8(ascii: ":")
  }

  private mutating func key() throws(JSONFault) {
    let node = begin()
    if follows("AnyHashable(") {
      at += "AnyHashable(".utf8.count
      try skipSpace()
      let text = peek == UInt8(ascii: "\"") ? try quoted() : token()
      try skipSpace()
      guard peek == UInt8(ascii: ")") else { throw unexpected(") after the key") }
      at += 1
      text.writeJSON(to: &json)
    } else if peek == UInt8(ascii: "\"") || peek == UInt8(ascii: "'") {
      try quoted().writeJSON(to: &json)
    } else {
      let token = token()
      guard !token.isEmpty else { throw unexpected("a key") }
      token.writeJSON(to: &json)
    }
    end(node)
  }

  // MARK: Nodes

  private mutating func begin() -> Int {
    offsets.append(UInt32(at))
    ends.append(UInt32(at))
    return ends.count - 1
  }

  private mutating func end(_ node: Int) { ends[node] = UInt32(at) }

  private mutating func open(_ bracket: Unicode.Scalar) throws(JSONFault) -> Int {
    depth += 1
    if depth > limits.depth {
      throw fault(
        .tooDeep, "dictionaries and lists lie more than \(limits.depth) deep",
        "Flatten the document: readers stop at \(limits.depth) levels.")
    }
    let node = begin()
    at += 1
    json.append(UInt8(ascii: bracket))
    return node
  }

  private mutating func close(_ node: Int, _ bracket: Unicode.Scalar) {
    depth -= 1
    at += 1
    json.append(UInt8(ascii: bracket))
    end(node)
  }

  // MARK: Tokens

  /// What is written without quotes ends at a blank or at punctuation of the notation.
  private mutating func token() -> String {
    let start = at
    while at < bytes.count {
      switch bytes[at] {
      case 0x00...0x20, UInt8(ascii: ";"), UInt8(ascii: ","), UInt8(ascii: "="), UInt8(ascii: "{"), UInt8(ascii: "}"),
        UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: "\""):
        return String(decoding: bytes[start..<at], as: UTF8.self)
      case UInt8(ascii: "/")
      where follows("//") && (at == start || bytes[at - 1] != UInt8(ascii: ":")) || follows("/*"):
        return String(decoding: bytes[start..<at], as: UTF8.self)
      default: at += 1
      }
    }
    return String(decoding: bytes[start..<at], as: UTF8.self)
  }

  /// Swift prints bare text even with blanks and commas in it: it goes on to the next key or the end.
  private mutating func swiftToken() -> String {
    let start = at
    while at < bytes.count, bytes[at] != UInt8(ascii: "]"), !follows(", AnyHashable("), !follows(", \"") { at += 1 }
    return String(decoding: bytes[start..<at], as: UTF8.self).trimmed
  }

  private mutating func quoted() throws(JSONFault) -> String {
    let start = at
    let quote = peek
    var text: [UInt8] = []
    at += 1
    while at < bytes.count {
      let byte = bytes[at]
      if byte == quote {
        at += 1
        return String(decoding: text, as: UTF8.self)
      }
      if byte == UInt8(ascii: "\\") {
        try escape(into: &text)
      } else {
        text.append(byte)
        at += 1
      }
    }
    let begin = SourcePlace(offset: start, in: bytes)
    throw fault(
      .unexpectedEnd, "the text ends inside the string that begins at line \(begin.line), column \(begin.column)",
      "Close the string, and then the brackets around it.")
  }

  /// `\U4f60` (a UTF-16 unit, so pairs for what lies beyond), `\u`, octal, and C's letters.
  private mutating func escape(into text: inout [UInt8]) throws(JSONFault) {
    let start = at
    at += 1
    let letter = peek
    at += 1
    switch letter {
    case UInt8(ascii: "n"): text.append(0x0A)
    case UInt8(ascii: "t"): text.append(0x09)
    case UInt8(ascii: "r"): text.append(0x0D)
    case UInt8(ascii: "a"): text.append(0x07)
    case UInt8(ascii: "b"): text.append(0x08)
    case UInt8(ascii: "v"): text.append(0x0B)
    case UInt8(ascii: "f"): text.append(0x0C)
    case UInt8(ascii: "U"), UInt8(ascii: "u"):
      guard var scalar = unit() else {
        at = start
        throw fault(.badEscape, "\\U without four hexadecimal digits after it", "Write \\U and four digits.")
      }
      if 0xD800..<0xDC00 ~= scalar, follows("\\U") || follows("\\u") {
        at += 2
        if let low = unit(), 0xDC00..<0xE000 ~= low { scalar = 0x10000 + (scalar - 0xD800) << 10 + (low - 0xDC00) }
      }
      guard let scalar = Unicode.Scalar(scalar) else {
        at = start
        throw fault(
          .loneSurrogate, "half of a surrogate pair without the other", "Paste the whole of the emoji's two escapes.")
      }
      text.append(contentsOf: String(Character(scalar)).utf8)
    case UInt8(ascii: "0")...UInt8(ascii: "7"):
      var code = UInt32(letter - UInt8(ascii: "0"))
      for _ in 0..<2 where UInt8(ascii: "0")...UInt8(ascii: "7") ~= peek {
        code = code << 3 | UInt32(peek - UInt8(ascii: "0"))
        at += 1
      }
      if let scalar = Unicode.Scalar(code) { text.append(contentsOf: String(Character(scalar)).utf8) }
    default:
      at -= 1
      guard at < bytes.count else {
        throw fault(.unexpectedEnd, "the text ends after a backslash", "Finish the escape and close the string.")
      }
      text.append(bytes[at])  // a quote, a backslash, or the first byte of anything else
      at += 1
    }
  }

  private mutating func unit() -> UInt32? {
    guard at + 4 <= bytes.count else { return nil }
    var unit: UInt32 = 0
    for index in at..<at + 4 {
      guard let digit = bytes[index].hexDigit else { return nil }
      unit = unit << 4 | UInt32(digit)
    }
    at += 4
    return unit
  }

  private func isNumber(_ token: String) -> Bool {
    guard token.utf8.first.map({ $0.isDigit || $0 == UInt8(ascii: "-") }) == true else { return false }
    return (try? JSONTape(reading: Array(token.utf8), limits: JSONReader.Limits()))?.nodes.first?.kind == .number
  }

  private mutating func skipSpace() throws(JSONFault) {
    while at < bytes.count {
      if bytes[at] <= 0x20 {
        at += 1
      } else if follows("//") {
        while at < bytes.count, bytes[at] != 0x0A, bytes[at] != 0x0D { at += 1 }
      } else if follows("/*") {
        let start = at
        at += 2
        while at < bytes.count, !follows("*/") { at += 1 }
        guard at < bytes.count else {
          at = start
          throw fault(.unexpectedEnd, "a comment that never ends", "Close it with */.")
        }
        at += 2
      } else {
        return
      }
    }
  }

  // MARK: Faults

  private var peek: UInt8 { at < bytes.count ? bytes[at] : 0 }

  private func follows(_ text: StaticString) -> Bool {
    guard at + text.utf8CodeUnitCount <= bytes.count else { return false }
    return text.withUTF8Buffer { text in
      for index in text.indices where bytes[at + index] != text[index] { return false }
      return true
    }
  }

  private var here: String {
    guard at < bytes.count else { return "the end" }
    return String(decoding: bytes[at..<at + max(1, utf8SequenceLength(bytes, at))], as: UTF8.self)
  }

  private func fault(_ code: JSONFault.Code, _ found: String, _ remedy: String) -> JSONFault {
    JSONFault(code, at: at, in: bytes, found: found, remedy: remedy)
  }

  private func unexpected(_ wanted: String) -> JSONFault {
    guard at < bytes.count else {
      return fault(.unexpectedEnd, "the text ends where \(wanted) should come", "Close every bracket.")
    }
    return fault(
      .unexpectedCharacter, "\(here) where \(wanted) should come",
      peek == UInt8(ascii: ":") ? "This looks like JSON: leave --format-in out." : "Write \(wanted).")
  }
}

extension String {
  fileprivate var trimmed: String {
    let space: (UInt8) -> Bool = { $0 <= 0x20 }
    let rest = Array(Array(utf8.drop(while: space)).reversed().drop(while: space).reversed())
    return String(decoding: rest, as: UTF8.self)
  }
}
