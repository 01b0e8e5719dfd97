/// A text with places that differ by recipient: `Hello {{name|there}}`.
///
/// `{{name|default}}` is the recipient's value of that name, or the default, which may be empty; blanks around the name do
/// not count. Four braces in a row, `{{{{`, stand for two. A place without a default must be one that every recipient has.
public struct TextTemplate: Hashable, Sendable {
  public struct Place: Hashable, Sendable {
    public var name: String
    /// nil: whoever fills it answers for a value.
    public var fallback: String?

    public init(name: String, fallback: String?) {
      self.name = name
      self.fallback = fallback
    }
  }

  private enum Part: Hashable {
    case text(String)
    case place(Place)
  }

  private var parts: [Part] = []

  public init(_ text: String) throws(TemplateFault) {
    var rest = text[...]
    var literal = ""
    while let open = rest.firstRange(of: "{{") {
      literal += rest[..<open.lowerBound]
      rest = rest[open.upperBound...]
      if rest.hasPrefix("{{") {
        literal += "{{"
        rest.removeFirst(2)
        continue
      }
      guard let close = rest.firstRange(of: "}}") else { throw .unclosed(String(rest.prefix(20))) }
      if !literal.isEmpty { parts.append(.text(literal)) }
      literal = ""
      parts.append(.place(try Self.place(rest[..<close.lowerBound])))
      rest = rest[close.upperBound...]
    }
    literal += rest
    if !literal.isEmpty { parts.append(.text(literal)) }
  }

  private static func place(_ inside: Substring) throws(TemplateFault) -> Place {
    let halves = inside.split(separator: "|", maxSplits: 1, omittingEmptySubsequences: false)
    let name = halves[0].trimmingBlanks
    guard !name.isEmpty, name.utf8.allSatisfy(\.isNameCharacter) else { throw .noName(String(inside.prefix(40))) }
    return Place(name: String(name), fallback: halves.count > 1 ? String(halves[1]) : nil)
  }

  /// In the order of the text.
  public var places: [Place] {
    parts.compactMap { part in
      switch part {
      case .place(let place): place
      case .text: nil
      }
    }
  }

  public func filled(by value: (String) -> String?) -> String {
    parts.reduce(into: "") { text, part in
      switch part {
      case .text(let literal): text += literal
      case .place(let place): text += value(place.name) ?? place.fallback ?? ""
      }
    }
  }
}

/// What is wrong with a template.
public enum TemplateFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// What follows the braces.
  case unclosed(String)
  /// What stands between them.
  case noName(String)

  public var description: String {
    switch self {
    case .unclosed(let text): "“{{\(text)” has no “}}”"
    case .noName(let text): "“{{\(text)}}” names nothing: a name has letters, digits, “_”, “-” and “.”"
    }
  }
}

extension Substring {
  fileprivate var trimmingBlanks: Substring {
    var text = self
    while text.first == " " { text.removeFirst() }
    while text.last == " " { text.removeLast() }
    return text
  }
}

extension UInt8 {
  fileprivate var isNameCharacter: Bool {
    isLetter || isDigit || self == UInt8(ascii: "_") || self == UInt8(ascii: "-") || self == UInt8(ascii: ".")
  }
}
