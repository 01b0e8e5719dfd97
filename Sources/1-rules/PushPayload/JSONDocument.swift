/// A JSON text that was read: its value, and where each part of it stood.
public struct JSONDocument: Sendable {
  public var value: JSONValue
  /// Every member whose key came before in the same object, in document order. iOS keeps the last.
  public let duplicateKeys: [JSONPath]
  let tape: JSONTape

  init(_ tape: JSONTape) {
    self.tape = tape
    value = tape.value(at: 0)
    duplicateKeys = tape.paths(to: tape.duplicates.map { Int($0) + 1 })
  }

  /// Where the value at `path` begins; nil where there is none. Of a key that came twice, the last.
  public func place(of path: JSONPath) -> SourcePlace? {
    tape.find(path).map { tape.place(of: $0) }
  }

  /// Where the key that `path` ends with begins; nil for an array element and for what is not there.
  public func keyPlace(of path: JSONPath) -> SourcePlace? {
    guard case .key = path.steps.last, let node = tape.find(path) else { return nil }
    return tape.place(of: node - 1)
  }
}
