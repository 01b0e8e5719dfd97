public import Basics
public import PushPayload

/// Why a scenario cannot be run as it is written: where, what was found, what to write instead.
public struct ScenarioFault: Error, Hashable, Sendable, CustomStringConvertible {
  public let path: JSONPath
  public let found: String
  public let remedy: String

  public init(path: JSONPath, found: String, remedy: String) {
    self.path = path
    self.found = found
    self.remedy = remedy
  }

  public var description: String { "\(path): \(found). \(remedy)" }
}

/// What a scenario names and does not hold.
public struct ScenarioSources: Sendable {
  /// A file beside the scenario, by the path that it writes.
  public var file: @Sendable (String) throws -> [UInt8]
  /// A time zone with its rules, by its name; nil for one that is not known.
  public var zone: @Sendable (String) -> Zone?

  public init(
    file: @escaping @Sendable (String) throws -> [UInt8], zone: @escaping @Sendable (String) -> Zone? = Self.utc
  ) {
    self.file = file
    self.zone = zone
  }

  /// Knows UTC only.
  public static let utc: @Sendable (String) -> Zone? = { $0 == "UTC" ? .utc : nil }
}

/// A value of a scenario and where it stands.
struct Reading: Sendable {
  let value: JSONValue
  let path: JSONPath
  let sources: ScenarioSources

  init(_ value: JSONValue, at path: JSONPath = .root, _ sources: ScenarioSources) {
    self.value = value
    self.path = path
    self.sources = sources
  }

  /// Another value in its place.
  func with(_ value: JSONValue) -> Reading { Reading(value, at: path, sources) }

  /// A member, or what stands for one.
  func member(_ name: String, _ value: JSONValue) -> Reading { Reading(value, at: path.appending(name), sources) }

  func fault(_ found: String, _ remedy: String) -> ScenarioFault {
    ScenarioFault(path: path, found: found, remedy: remedy)
  }

  func wrong(_ remedy: String) -> ScenarioFault {
    let text = value.text
    return fault("found \(text.count > 60 ? text.prefix(59) + "…" : text)", remedy)
  }

  func text(like example: String = "a text") throws(ScenarioFault) -> String {
    guard let text = value.string else { throw wrong("Write \(example).") }
    return text
  }

  func flag() throws(ScenarioFault) -> Bool {
    guard let flag = value.bool else { throw wrong("Write true or false.") }
    return flag
  }

  /// For what has no value of its own.
  func yes() throws(ScenarioFault) {
    guard value.bool == true else { throw wrong("Write true.") }
  }

  func whole(_ range: ClosedRange<Int64> = Int64(Int32.min)...Int64(Int32.max)) throws(ScenarioFault) -> Int64 {
    guard let number = value.number?.int64, range.contains(number) else {
      throw wrong("Write a whole number from \(range.lowerBound) to \(range.upperBound).")
    }
    return number
  }

  func number() throws(ScenarioFault) -> Double {
    guard let number = value.number?.double, number.isFinite else { throw wrong("Write a number.") }
    return number
  }

  /// At most some 300 years, so that sums of them stay far from what Int64 can hold.
  func span() throws(ScenarioFault) -> Instant.Span {
    guard let span = value.string.flatMap({ Instant.Span($0) }), span <= .days(115_000) else {
      throw wrong("Write a number with its unit (ms, s, m, h, d) as text, such as \"250ms\" or \"30s\".")
    }
    return span
  }

  func time() throws(ScenarioFault) -> Instant {
    guard let time = value.string.flatMap({ Instant(rfc3339: $0) }) else {
      throw wrong("Write a time such as \"2026-11-30T09:00:00Z\" or \"2026-11-30T10:00:00+01:00\".")
    }
    return time
  }

  func word(of words: [String]) throws(ScenarioFault) -> String {
    guard let text = value.string, words.contains(text) else {
      let near = value.string.flatMap { nearest(to: $0, in: words) }.map { "Did you mean \"\($0)\"? " } ?? ""
      throw wrong("\(near)Write one of \(words.map { "\"\($0)\"" }.joined(separator: ", ")).")
    }
    return text
  }

  func word<Word: RawRepresentable & CaseIterable>(_ type: Word.Type = Word.self) throws(ScenarioFault) -> Word
  where Word.RawValue == String {
    let text = try word(of: Word.allCases.map(\.rawValue))
    guard let word = Word(rawValue: text) else { throw wrong("Write another word.") }
    return word
  }

  func list() throws(ScenarioFault) -> [Reading] {
    guard let list = value.array else { throw wrong("Write a list: [ … ].") }
    return list.enumerated().map { Reading($1, at: path.appending($0), sources) }
  }

  /// A list, or one element alone.
  var oneOrMore: [Reading] {
    value.array?.enumerated().map { Reading($1, at: path.appending($0), sources) } ?? [self]
  }

  func object(like example: String = "an object: { … }") throws(ScenarioFault) -> JSONObject {
    guard let object = value.object else { throw wrong("Write \(example).") }
    return object
  }

  subscript(name: String) -> Reading? {
    value.object?[name].map { member(name, $0) }
  }

  /// Words that come to mind first, and ours for them.
  private static let meant = [
    "assert": "expect", "bundleID": "bundle", "bundleId": "bundle", "collapseId": "headers", "delay": "wait",
    "device": "phone", "devices": "phones", "groups": "appGroups", "id": "name", "priority": "headers",
    "pushType": "headers", "sleep": "wait", "state": "start", "then": "expect", "topic": "headers", "version": "ios",
  ]

  /// Every member with its place; one of another name is refused with the nearest known.
  func members(known: [String]) throws(ScenarioFault) -> [(name: String, reading: Reading)] {
    var members: [(String, Reading)] = []
    for member in try object().members {
      let here = path.appending(member.key)
      guard known.contains(member.key) else {
        let meant =
          nearest(to: member.key, in: known) ?? Self.meant[member.key].flatMap { known.contains($0) ? $0 : nil }
        let near = meant.map { "Did you mean '\($0)'? " } ?? ""
        throw ScenarioFault(
          path: here, found: "there is no such field", remedy: "\(near)Known are \(known.joined(separator: ", ")).")
      }
      members.append((member.key, self.member(member.key, member.value)))
    }
    return members
  }
}
