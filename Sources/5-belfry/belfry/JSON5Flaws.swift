/// What is wrong with a JSON5 text and where, for people: the decoder says neither.
struct JSON5Flaws {
  /// Why it cannot be read: a bracket, text or comma that is missing; nil where nothing of that kind is.
  private(set) var syntax: String?
  /// A key that stands twice in one object, of which the decoder would lose one.
  private(set) var twice: String?

  private struct Open {
    let byte: UInt8
    let line: Int
    var keys: [String: Int] = [:]
  }

  private let bytes: [UInt8]
  private var place = 0
  private var line = 1
  private var open: [Open] = []
  /// The value or key that ended last, while nothing has followed it.
  private var last: String?

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    while place < bytes.count, syntax == nil { step() }
    if syntax == nil, let left = open.last {
      syntax = "the \(Self.character(left.byte)) of line \(left.line) is not closed"
    }
  }

  private static func character(_ byte: UInt8) -> Character { Character(Unicode.Scalar(byte)) }

  private mutating func step() {
    let byte = bytes[place]
    switch byte {
    case UInt8(ascii: "\n"):
      line += 1
      place += 1
    case ...0x20: place += 1
    case UInt8(ascii: "/"): comment()
    case UInt8(ascii: "{"), UInt8(ascii: "["):
      begin("\(Self.character(byte))")
      open.append(Open(byte: byte, line: line))
      place += 1
    case UInt8(ascii: "}"), UInt8(ascii: "]"):
      close(byte)
      place += 1
    case UInt8(ascii: ","):
      last = nil
      place += 1
    case UInt8(ascii: ":"):
      colon()
      place += 1
    case UInt8(ascii: "\""), UInt8(ascii: "'"): text(byte)
    default: word()
    }
  }

  private mutating func begin(_ what: String) {
    guard last != nil, syntax == nil else { return }
    syntax = "line \(line): a comma, or a colon, is missing before \(what)"
  }

  private mutating func close(_ byte: UInt8) {
    guard let opened = open.popLast() else {
      syntax = "line \(line): the \(Self.character(byte)) closes nothing"
      return
    }
    if opened.byte + 2 != byte {
      syntax =
        "line \(line): a \(Self.character(byte)) where the \(Self.character(opened.byte)) of line \(opened.line) is open"
    }
    last = "\(Self.character(byte))"
  }

  private mutating func colon() {
    if let key = last, !open.isEmpty {
      if let former = open[open.count - 1].keys.updateValue(line, forKey: key), twice == nil {
        twice = "line \(line): \(key) is there already, in line \(former)"
      }
    }
    last = nil
  }

  private mutating func text(_ quote: UInt8) {
    let (start, begun) = (place + 1, line)
    place += 1
    while place < bytes.count, bytes[place] != quote {
      if bytes[place] == UInt8(ascii: "\n") { line += 1 }
      place += bytes[place] == UInt8(ascii: "\\") ? 2 : 1
    }
    guard place < bytes.count else {
      syntax = "the text that begins in line \(begun) has no end"
      return
    }
    let text = String(decoding: bytes[start..<place], as: UTF8.self)
    place += 1
    begin("\"\(text.prefix(30))\"")
    last = text
  }

  private mutating func word() {
    let start = place
    while place < bytes.count, bytes[place] > 0x20, !",:{}[]/\"'".utf8.contains(bytes[place]) { place += 1 }
    let word = String(decoding: bytes[start..<place], as: UTF8.self)
    begin(String(word.prefix(30)))
    last = word
  }

  private mutating func comment() {
    place += 1
    guard place < bytes.count, bytes[place] == UInt8(ascii: "/") || bytes[place] == UInt8(ascii: "*") else {
      syntax = "line \(line): a / that begins no comment"
      return
    }
    let isLine = bytes[place] == UInt8(ascii: "/")
    place += 1
    while place < bytes.count {
      if isLine, bytes[place] == UInt8(ascii: "\n") { return }
      if bytes[place] == UInt8(ascii: "\n") { line += 1 }
      if !isLine, bytes[place] == UInt8(ascii: "/"), bytes[place - 1] == UInt8(ascii: "*") {
        place += 1
        return
      }
      place += 1
    }
  }
}
