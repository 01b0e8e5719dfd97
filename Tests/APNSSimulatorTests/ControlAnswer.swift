import PushPayload

/// What the control API answered, by whatever way.
struct ControlAnswer: Sendable {
  var status: Int
  var text: String

  var value: JSONValue { (try? JSONReader.read(Array(text.utf8)).value) ?? .null }

  subscript(path: String...) -> JSONValue? {
    path.reduce(value as JSONValue?) { value, step in
      if let index = Int(step) {
        value?.array.flatMap { $0.indices.contains(index) ? $0[index] : nil }
      } else {
        value?.object?[step]
      }
    }
  }

  /// The numbers of the notifications told.
  var numbers: [Int64] {
    self["notifications"]?.array?.compactMap { $0.object?["number"]?.number?.int64 } ?? []
  }
}
