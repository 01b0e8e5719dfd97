import Basics

/// A JSON text as a flat list of what stands in it, in document order: reading it costs one allocation, whatever it
/// holds, and lint walks it without making a single String.
///
/// Node 0 is the document. A member is two nodes: the key, then its value. `next` leads past a value and all in it.
struct JSONTape: Sendable {
  struct Node: Sendable {
    var kind: Kind
    /// A string with at least one backslash.
    var isEscaped: Bool
    /// Bytes `start..<end` of the text, quotes and brackets included.
    var start: UInt32
    var end: UInt32
    var next: UInt32
  }

  enum Kind: UInt8, Sendable { case null, `false`, `true`, number, string, key, array, object }

  let bytes: [UInt8]
  var nodes: [Node] = []
  /// Key nodes whose key came before in the same object, in document order.
  var duplicates: [UInt32] = []
  /// For a text that was translated into `bytes` (see PlistReader): the text itself, and where each node stood in it.
  var origin: Origin?

  struct Origin: Sendable {
    var text: [UInt8]
    var offsets: [UInt32]
    var ends: [UInt32]
  }

  init(reading bytes: [UInt8], limits: JSONReader.Limits) throws(JSONFault) {
    var scanner = JSONScanner(bytes, limits)
    try scanner.scan()
    self.bytes = bytes
    nodes = scanner.nodes
    duplicates = scanner.duplicates
  }

  func place(of node: Int) -> SourcePlace {
    if let origin { return SourcePlace(offset: Int(origin.offsets[node]), in: origin.text) }
    return SourcePlace(offset: Int(nodes[node].start), in: bytes)
  }

  /// Bytes of a string or key between its quotes, as written.
  func written(_ node: Int) -> ArraySlice<UInt8> {
    bytes[Int(nodes[node].start) + 1..<Int(nodes[node].end) - 1]
  }

  /// The text that a string or key stands for.
  func string(_ node: Int) -> String {
    guard nodes[node].isEscaped else { return String(decoding: written(node), as: UTF8.self) }
    return String(decoding: Self.unescaped(written(node)), as: UTF8.self)
  }

  /// UTF-8 of what the checked inside of a string stands for.
  static func unescaped(_ written: ArraySlice<UInt8>) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(written.count)
    var at = written.startIndex
    while at < written.endIndex {
      guard written[at] == UInt8(ascii: "\\") else {
        result.append(written[at])
        at += 1
        continue
      }
      switch written[at + 1] {
      case UInt8(ascii: "b"): result.append(0x08)
      case UInt8(ascii: "f"): result.append(0x0C)
      case UInt8(ascii: "n"): result.append(0x0A)
      case UInt8(ascii: "r"): result.append(0x0D)
      case UInt8(ascii: "t"): result.append(0x09)
      case UInt8(ascii: "u"):
        var scalar = hexUnit(written, at + 2)
        if 0xD800..<0xDC00 ~= scalar {
          scalar = 0x10000 + (scalar - 0xD800) << 10 + (hexUnit(written, at + 8) - 0xDC00)
          at += 6
        }
        if let scalar = Unicode.Scalar(scalar) { result.append(contentsOf: String(Character(scalar)).utf8) }
        at += 4
      default: result.append(written[at + 1])
      }
      at += 2
    }
    return result
  }

  private static func hexUnit(_ bytes: ArraySlice<UInt8>, _ start: Int) -> UInt32 {
    bytes[start..<start + 4].reduce(0) { $0 << 4 | UInt32($1.hexDigit ?? 0) }
  }

  func value(at node: Int) -> JSONValue {
    switch nodes[node].kind {
    case .null: return .null
    case .false: return .bool(false)
    case .true: return .bool(true)
    case .number:
      let literal = bytes[Int(nodes[node].start)..<Int(nodes[node].end)]
      return .number(JSONNumber(checked: String(decoding: literal, as: UTF8.self)))
    case .string, .key: return .string(string(node))
    case .array: return .array(children(of: node).map(value(at:)))
    case .object:
      return .object(JSONObject(children(of: node).map { JSONObject.Member(string($0 - 1), value(at: $0)) }))
    }
  }

  /// Value nodes of an array or object, in order; the key of a member is the node before its value.
  func children(of node: Int) -> Children {
    let isObject = nodes[node].kind == .object
    let isContainer = isObject || nodes[node].kind == .array
    return Children(
      tape: self, at: node + 1, end: isContainer ? Int(nodes[node].next) : node + 1, stride: isObject ? 1 : 0)
  }

  struct Children: Sequence, IteratorProtocol {
    let tape: JSONTape
    var at: Int
    let end: Int
    let stride: Int

    mutating func next() -> Int? {
      guard at < end else { return nil }
      let value = at + stride
      at = Int(tape.nodes[value].next)
      return value
    }
  }

  func find(_ path: JSONPath) -> Int? {
    var node = 0
    for step in path.steps {
      switch step {
      case .key(let key):
        guard nodes[node].kind == .object else { return nil }
        var found: Int?
        for child in children(of: node) where string(child - 1).utf8.elementsEqual(key.utf8) { found = child }
        guard let found else { return nil }
        node = found
      case .index(let index):
        guard nodes[node].kind == .array, index >= 0 else { return nil }
        guard let found = children(of: node).dropFirst(index).first(where: { _ in true }) else { return nil }
        node = found
      }
    }
    return node
  }

  /// The path to a node; a key's is its value's.
  func path(to target: Int) -> JSONPath {
    let target = nodes[target].kind == .key ? target + 1 : target
    var steps: [JSONPath.Step] = []
    var node = 0
    while node != target {
      var inside: Int?
      for (index, child) in children(of: node).enumerated() where child <= target && target < Int(nodes[child].next) {
        steps.append(nodes[node].kind == .object ? .key(string(child - 1)) : .index(index))
        inside = child
      }
      guard let inside else { break }
      node = inside
    }
    return JSONPath(steps)
  }
}

extension UInt8 {
  var isDigit: Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= self }
}
