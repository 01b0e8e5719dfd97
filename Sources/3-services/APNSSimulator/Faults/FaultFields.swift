internal import Basics
public import PushPayload

/// Why fault rules were not taken: where, what was found, what to write instead.
public struct FaultReadingFault: Error, Hashable, Sendable, CustomStringConvertible {
  public let path: JSONPath
  public let found: String
  public let remedy: String

  public var description: String { "\(path): \(found). \(remedy)" }
}

/// Reads the members of a JSON object one by one, each with its place; unknown ones are refused with the nearest known.
struct FaultFields {
  let object: JSONObject
  let path: JSONPath

  init(_ value: JSONValue, at path: JSONPath, known: [String], like example: String) throws(FaultReadingFault) {
    guard let object = value.object else {
      throw FaultReadingFault(path: path, found: "found \(value.shown), not an object", remedy: "Write \(example).")
    }
    self.object = object
    self.path = path
    for (place, member) in object.members.enumerated() {
      let here = path.appending(member.key)
      guard known.contains(member.key) else {
        let near = nearest(to: member.key, in: known).map { "Did you mean '\($0)'? " } ?? ""
        throw FaultReadingFault(
          path: here, found: "there is no such field", remedy: "\(near)Known are \(known.joined(separator: ", ")).")
      }
      guard !object.members[..<place].contains(where: { $0.key == member.key }) else {
        throw FaultReadingFault(path: here, found: "the field is there twice", remedy: "Keep one.")
      }
    }
  }

  subscript(name: String) -> JSONValue? { object[name] }

  func has(_ name: String) -> Bool { object[name] != nil }

  func fault(_ name: String, _ found: String, _ remedy: String) -> FaultReadingFault {
    FaultReadingFault(path: path.appending(name), found: found, remedy: remedy)
  }

  func wrong(_ name: String, _ remedy: String) -> FaultReadingFault {
    fault(name, "found \(object[name]?.shown ?? "nothing")", remedy)
  }

  func text(_ name: String, like example: String) throws(FaultReadingFault) -> String? {
    guard let value = object[name] else { return nil }
    guard let text = value.string else { throw wrong(name, "Write \(example).") }
    return text
  }

  func flag(_ name: String) throws(FaultReadingFault) -> Bool? {
    guard let value = object[name] else { return nil }
    guard let flag = value.bool else { throw wrong(name, "Write true or false.") }
    return flag
  }

  func integer(_ name: String, _ range: ClosedRange<Int64>, like example: String) throws(FaultReadingFault) -> Int64? {
    guard let value = object[name] else { return nil }
    guard let number = value.number?.int64, range.contains(number) else {
      throw wrong(name, "Write a whole number from \(range.lowerBound) to \(range.upperBound), such as \(example).")
    }
    return number
  }

  func span(_ name: String) throws(FaultReadingFault) -> Instant.Span? {
    guard let value = object[name] else { return nil }
    guard let text = value.string, let span = Self.span(text) else {
      throw wrong(name, "Write a number with its unit (ms, s, m, h, d) as text, such as \"250ms\" or \"2s\".")
    }
    return span
  }

  /// At most some 300 years, so that sums of them stay far from what Int64 can hold.
  private static func span(_ text: String) -> Instant.Span? {
    Instant.Span(text).flatMap { $0 <= .days(115_000) ? $0 : nil }
  }

  /// RFC 3339, or a span since the rule was set.
  func time(_ name: String) throws(FaultReadingFault) -> FaultRule.Time? {
    guard let value = object[name] else { return nil }
    if let text = value.string {
      if let span = Self.span(text) { return .after(span) }
      if let instant = Instant(rfc3339: text) { return .at(instant) }
    }
    throw wrong(
      name, "Write a time such as \"2026-11-30T10:00:00Z\", or a span since the rule was set such as \"10s\".")
  }

  /// One text or a list of them, each made by `make`, which answers nil for a wrong one.
  func set<Element: Hashable>(
    _ name: String, _ remedy: (String) -> String, _ make: (String) -> Element?
  ) throws(FaultReadingFault) -> Set<Element>? {
    guard let value = object[name] else { return nil }
    var set: Set<Element> = []
    for (place, element) in (value.array ?? [value]).enumerated() {
      guard let text = element.string, let made = make(text) else {
        let here = path.appending(name)
        throw FaultReadingFault(
          path: value.array == nil ? here : here.appending(place), found: "found \(element.shown)",
          remedy: remedy(element.string ?? ""))
      }
      set.insert(made)
    }
    guard !set.isEmpty else { throw fault(name, "found an empty list", "Name one at least, or leave the field out.") }
    return set
  }

  func word<Word: RawRepresentable & CaseIterable>(_ name: String, _ usual: Word) throws(FaultReadingFault) -> Word
  where Word.RawValue == String {
    guard let value = object[name] else { return usual }
    guard let text = value.string, let word = Word(rawValue: text) else {
      throw wrong(name, Self.choices(Word.allCases.map(\.rawValue), for: value.string ?? ""))
    }
    return word
  }

  static func choices(_ words: [String], for text: String) -> String {
    let near = nearest(to: text, in: words).map { "Did you mean \"\($0)\"? " } ?? ""
    return "\(near)Write one of \(words.map { "\"\($0)\"" }.joined(separator: ", "))."
  }
}

extension JSONValue {
  /// At most 60 characters of it.
  var shown: String {
    let text = self.text
    return text.count > 60 ? text.prefix(59) + "…" : text
  }
}
