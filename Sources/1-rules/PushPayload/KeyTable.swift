/// Finds which of a few known keys a key in a text is, without making a String of it.
struct KeyTable<Key: RawRepresentable<String> & CaseIterable & Sendable>: Sendable {
  /// By length in bytes.
  private let buckets: [[Entry]]

  private struct Entry: Sendable {
    var bytes: [UInt8]
    var key: Key
  }

  init(_ type: Key.Type = Key.self) {
    let entries = Key.allCases.map { Entry(bytes: Array($0.rawValue.utf8), key: $0) }
    let longest = entries.map(\.bytes.count).max() ?? 0
    buckets = (0...longest).map { length in entries.filter { $0.bytes.count == length } }
  }

  func key(of tape: JSONTape, at node: Int) -> Key? {
    let place = tape.nodes[node]
    if place.isEscaped { return Key(rawValue: tape.string(node)) }
    let start = Int(place.start) + 1
    let length = Int(place.end) - start - 1
    guard length < buckets.count else { return nil }
    for entry in buckets[length] where tape.matches(entry.bytes, at: start) { return entry.key }
    return nil
  }
}

extension ApsKey {
  static let table = KeyTable<ApsKey>()
}

extension AlertKey {
  static let table = KeyTable<AlertKey>()
}

extension SoundKey {
  static let table = KeyTable<SoundKey>()
}

extension JSONTape {
  func matches(_ expected: [UInt8], at start: Int) -> Bool {
    for index in expected.indices where bytes[start + index] != expected[index] { return false }
    return true
  }

  /// Whether a key or string stands for `text`, whose characters are ASCII.
  func says(_ text: StaticString, _ node: Int) -> Bool {
    let place = nodes[node]
    if place.isEscaped { return string(node) == "\(text)" }
    let start = Int(place.start) + 1
    guard Int(place.end) - start - 1 == text.utf8CodeUnitCount else { return false }
    return text.withUTF8Buffer { expected in
      for index in expected.indices where bytes[start + index] != expected[index] { return false }
      return true
    }
  }

  /// Whether a key has the letters of `name`, which are lower case, in any case and with any `-` and `_` between.
  func isLike(_ name: [UInt8], _ node: Int) -> Bool {
    var index = 0
    for byte in bytes[Int(nodes[node].start) + 1..<Int(nodes[node].end) - 1] {
      if byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") { continue }
      guard index < name.count, byte | 0x20 == name[index] else { return false }
      index += 1
    }
    return index == name.count
  }

  func shape(of node: Int) -> JSONShape {
    switch nodes[node].kind {
    case .null: return .null
    case .false: return .bool(false)
    case .true: return .bool(true)
    case .number:
      let literal = bytes[Int(nodes[node].start)..<Int(nodes[node].end)]
      return JSONShape(JSONNumber(checked: String(decoding: literal, as: UTF8.self)))
    case .string, .key: return .string(string(node))
    case .array: return .array(ofStrings: children(of: node).allSatisfy { nodes[$0].kind == .string })
    case .object: return .object
    }
  }

  func isEmptyString(_ node: Int) -> Bool { nodes[node].kind == .string && nodes[node].end - nodes[node].start == 2 }

  /// Whether a value is exactly the number 1, written so.
  func isOne(_ node: Int) -> Bool {
    nodes[node].kind == .number && nodes[node].end - nodes[node].start == 1
      && bytes[Int(nodes[node].start)] == UInt8(ascii: "1")
  }

  /// The paths of value nodes given in document order, found in one walk.
  func paths(to targets: [Int]) -> [JSONPath] {
    guard var target = targets.first else { return [] }
    var paths: [JSONPath] = []
    var open: [(node: Int, isObject: Bool, index: Int)] = []
    var steps: [JSONPath.Step] = []
    var node = 0
    while node < nodes.count, paths.count < targets.count {
      while let container = open.last, node >= Int(nodes[container.node].next) {
        open.removeLast()
        steps.removeLast()
      }
      if let last = open.indices.last {
        steps.removeLast()
        if open[last].isObject {
          steps.append(.key(string(node)))
          node += 1
        } else {
          steps.append(.index(open[last].index))
          open[last].index += 1
        }
      }
      if node == target {
        paths.append(JSONPath(steps))
        if paths.count < targets.count { target = targets[paths.count] }
      }
      let kind = nodes[node].kind
      if kind == .object || kind == .array {
        open.append((node, kind == .object, 0))
        steps.append(.index(0))  // replaced by each child in turn
      }
      node += 1
    }
    return paths
  }
}
