internal import Basics
internal import Transport

/// The parameters of a query, decoded; unknown ones are refused.
struct ControlQuery {
  private var values: [String: String] = [:]

  init(_ request: HTTPRequest, known: [String]) throws(ControlFault) {
    guard let query = request.query else { return }
    guard let items = HTTPTarget.items(ofQuery: query) else {
      throw ControlFault(400, at: "query", "it is not percent-encoded UTF-8", "Encode the query (RFC 3986 §2.1).")
    }
    for item in items {
      guard known.contains(item.name) else {
        throw ControlFault(
          400, at: item.name.shortened, "there is no such parameter", .oneOf(known, near: item.name))
      }
      values[item.name] = item.value
    }
  }

  subscript(name: String) -> String? { values[name] }

  func number(_ name: String) throws(ControlFault) -> UInt64? {
    guard let text = values[name] else { return nil }
    guard let number = UInt64(text) else {
      throw ControlFault(400, at: name, "\"\(text.shortened)\" is no whole number", "Give digits only.")
    }
    return number
  }

  /// A length of time with its unit: `5s`, `250ms`.
  func span(_ name: String) throws(ControlFault) -> Instant.Span? {
    try values[name].map { text throws(ControlFault) in try .control(text, at: name) }
  }

  /// One of few words; nil when it is not given.
  func word<Word: RawRepresentable & CaseIterable>(
    _ name: String, _ type: Word.Type
  ) throws(ControlFault) -> Word? where Word.RawValue == String {
    try values[name].map { text throws(ControlFault) in try .control(text, at: name) }
  }

  func flag(_ name: String) throws(ControlFault) -> Bool {
    switch values[name] {
    case nil, "false", "0": return false
    case "true", "1", "": return true
    case .some(let other):
      throw ControlFault(400, at: name, "\"\(other.shortened)\" is no truth value", "Give true or false.")
    }
  }
}

extension RawRepresentable where Self: CaseIterable, RawValue == String {
  static func control(_ text: String, at place: String) throws(ControlFault) -> Self {
    guard let word = Self(rawValue: text) else {
      throw ControlFault(
        400, at: place, "\"\(text.shortened)\" is not known", .oneOf(allCases.map(\.rawValue), near: text))
    }
    return word
  }
}

extension Instant.Span {
  static func control(_ text: String, at place: String) throws(ControlFault) -> Instant.Span {
    guard let span = Instant.Span(text) else {
      throw ControlFault(
        400, at: place, "\"\(text.shortened)\" is no length of time", "Give digits and a unit: 250ms, 5s, 2m.")
    }
    return span
  }
}
