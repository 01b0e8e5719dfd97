import PushPayload

/// JSON over several lines, two spaces a level: for files that people read.
enum Pretty {
  static func text(_ value: JSONValue, indent: String = "") -> String {
    let inner = indent + "  "
    switch value {
    case .null, .bool, .number, .string: return value.text
    case .array(let elements):
      if elements.allSatisfy({ $0.array == nil && $0.object == nil }), value.text.count + indent.count < 100 {
        return "[" + elements.map(\.text).joined(separator: ", ") + "]"
      }
      return "[\n" + elements.map { inner + text($0, indent: inner) }.joined(separator: ",\n") + "\n\(indent)]"
    case .object(let object):
      guard !object.members.isEmpty else { return "{}" }
      let lines = object.members.map { "\(inner)\(JSONValue.string($0.key).text): \(text($0.value, indent: inner))" }
      return "{\n" + lines.joined(separator: ",\n") + "\n\(indent)}"
    }
  }
}
