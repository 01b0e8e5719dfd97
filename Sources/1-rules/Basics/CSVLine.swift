/// One line of comma-separated values (RFC 4180, but that a field never goes on in the next line).
public enum CSVLine {
  public enum Fault: Error, Hashable, Sendable {
    /// A quoted field is not closed.
    case openQuote
    /// Something stands between a closing quote and the next comma.
    case afterQuote
  }

  /// The fields of a line without its end. A quote within a field that does not begin with one stands for itself.
  public static func fields(of line: String) throws(Fault) -> [String] {
    var fields: [String] = []
    var rest = line.utf8[...]
    while true {
      if rest.first == quote {
        fields.append(try quoted(&rest))
        guard let comma = rest.first else { return fields }
        guard comma == separator else { throw .afterQuote }
        rest.removeFirst()
        continue
      }
      guard let comma = rest.firstIndex(of: separator) else {
        fields.append(String(Substring(rest)))
        return fields
      }
      fields.append(String(Substring(rest[..<comma])))
      rest = rest[rest.index(after: comma)...]
    }
  }

  /// Takes the field up to its closing quote, two in a row being one of its own.
  private static func quoted(_ rest: inout Substring.UTF8View) throws(Fault) -> String {
    rest.removeFirst()
    var field = ""
    while let end = rest.firstIndex(of: quote) {
      field += Substring(rest[..<end])
      rest = rest[rest.index(after: end)...]
      guard rest.first == quote else { return field }
      field += "\""
      rest.removeFirst()
    }
    throw .openQuote
  }

  /// A line that `fields` reads as these, without its end.
  public static func text(_ fields: [String]) -> String {
    fields.map { field in
      let isPlain = field.utf8.allSatisfy { $0 != quote && $0 != separator && $0 >= 0x20 }
      return isPlain
        ? field
        : "\""
          + field.split(separator: "\"", omittingEmptySubsequences: false)
          .joined(separator: "\"\"") + "\""
    }.joined(separator: ",")
  }

  private static let quote = UInt8(ascii: "\"")
  private static let separator = UInt8(ascii: ",")
}
