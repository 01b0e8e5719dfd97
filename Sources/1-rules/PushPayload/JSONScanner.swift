import Basics

/// One pass over a JSON text, without recursion. Every index is checked by the array, every fault knows its byte.
struct JSONScanner {
  let bytes: [UInt8]
  let limits: JSONReader.Limits
  var at = 0
  private(set) var nodes: [JSONTape.Node] = []
  private(set) var duplicates: [UInt32] = []
  /// Container nodes not yet closed, outermost first.
  private(set) var open: [UInt32] = []

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
    while true {
      at += plainRun(bytes, from: at)
      guard at < bytes.count else { break }
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

  var sequenceLength: Int { utf8SequenceLength(bytes, at) }

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

  /// The byte that comes next; 0, which JSON allows nowhere, at the end.
  var peek: UInt8 { at < bytes.count ? bytes[at] : 0 }

  private mutating func skipSpace() {
    while at < bytes.count {
      switch bytes[at] {
      case 0x20, 0x0A, 0x0D, 0x09: at += 1
      default: return
      }
    }
  }
}
