internal import Basics
internal import PushPayload

/// What a value looks like, for the schema and the documentation.
indirect enum Shape: Sendable {
  case yes, flag, text, whole, number, span, time, object, any
  case word([String])
  case list(Shape)
  case oneOrMore(Shape)
  case map(Shape)
  case either([Shape])
  /// Or nothing.
  case orNull(Shape)
  case fields([Field], required: [String])
  /// Under `$defs`.
  case named(String)

  /// There need be no value: true says the same as the name alone.
  var takesNothing: Bool {
    switch self {
    case .yes, .flag: true
    case .either(let shapes): shapes.contains { if case .yes = $0 { true } else { false } }
    case .text, .whole, .number, .span, .time, .object, .any, .word, .list, .oneOrMore, .map, .fields, .named,
      .orNull:
      false
    }
  }

  struct Field: Sendable {
    var name: String
    var shape: Shape
    var help: String
  }
}

/// One field of something that a scenario describes: its name, its look, and how it is read. The reader, the JSON Schema
/// and the tables of docs/scenarios.md all come from these rows.
struct Row<Subject>: Sendable {
  let name: String
  let shape: Shape
  let help: String
  let read: @Sendable (inout Subject, Reading) throws(ScenarioFault) -> Void
  /// What `read` would make it again of; null for none. nil: rows of that kind are only read.
  private(set) var write: (@Sendable (Subject) -> JSONValue)?

  init(
    _ name: String, _ shape: Shape, _ help: String,
    _ read: @escaping @Sendable (inout Subject, Reading) throws(ScenarioFault) -> Void
  ) {
    self.name = name
    self.shape = shape
    self.help = help
    self.read = read
  }

  /// The same row, which can also be written.
  func written(_ write: @escaping @Sendable (Subject) -> JSONValue) -> Row {
    var row = self
    row.write = write
    return row
  }

  var field: Shape.Field { Shape.Field(name: name, shape: shape, help: help) }
}

/// What the value of a field may be by its type alone.
protocol FieldValue: SendableMetatype {
  static var shape: Shape { get }
  static func read(_ reading: Reading) throws(ScenarioFault) -> Self
  var written: JSONValue { get }
}

extension Bool: FieldValue {
  static var shape: Shape { .flag }
  static func read(_ reading: Reading) throws(ScenarioFault) -> Bool { try reading.flag() }
  var written: JSONValue { .bool(self) }
}

extension String: FieldValue {
  static var shape: Shape { .text }
  static func read(_ reading: Reading) throws(ScenarioFault) -> String { try reading.text() }
  var written: JSONValue { .string(self) }
}

extension Int: FieldValue {
  static var shape: Shape { .whole }
  static func read(_ reading: Reading) throws(ScenarioFault) -> Int { Int(try reading.whole()) }
  var written: JSONValue { .number(JSONNumber(self)) }
}

extension Int64: FieldValue {
  static var shape: Shape { .whole }
  static func read(_ reading: Reading) throws(ScenarioFault) -> Int64 { try reading.whole() }
  var written: JSONValue { .number(JSONNumber(self)) }
}

extension Double: FieldValue {
  static var shape: Shape { .number }
  static func read(_ reading: Reading) throws(ScenarioFault) -> Double { try reading.number() }
  var written: JSONValue { JSONNumber(self).map(JSONValue.number) ?? .null }
}

extension Instant: FieldValue {
  static var shape: Shape { .time }
  static func read(_ reading: Reading) throws(ScenarioFault) -> Instant { try reading.time() }
  var written: JSONValue { .string("\(self)") }
}

extension Instant.Span: FieldValue {
  static var shape: Shape { .span }
  static func read(_ reading: Reading) throws(ScenarioFault) -> Instant.Span { try reading.span() }
  var written: JSONValue { .string("\(milliseconds)ms") }
}

extension Zone: FieldValue {
  static var shape: Shape { .text }
  static func read(_ reading: Reading) throws(ScenarioFault) -> Zone { try reading.zone() }
  var written: JSONValue { .string(name) }
}

extension JSONObject: FieldValue {
  static var shape: Shape { .object }
  static func read(_ reading: Reading) throws(ScenarioFault) -> JSONObject { try reading.object() }
  var written: JSONValue { .object(self) }
}

extension Array: FieldValue where Element == String {
  static var shape: Shape { .list(.text) }
  static func read(_ reading: Reading) throws(ScenarioFault) -> [String] { try reading.texts() }
  var written: JSONValue { .array(map(JSONValue.string)) }
}

extension Row {
  typealias Path<Value> = any WritableKeyPath<Subject, Value> & Sendable

  init<Value: FieldValue>(_ name: String, _ path: Path<Value>, _ help: String) {
    self.init(name, Value.shape, help) {
      (subject, reading) throws(ScenarioFault) in
      subject[keyPath: path] = try Value.read(reading)
    }
    write = { $0[keyPath: path].written }
  }

  init<Value: FieldValue>(_ name: String, _ path: Path<Value?>, _ help: String) {
    self.init(name, Value.shape, help) {
      (subject, reading) throws(ScenarioFault) in
      subject[keyPath: path] = try Value.read(reading)
    }
    write = { $0[keyPath: path]?.written ?? .null }
  }

  init<Word: RawRepresentable & CaseIterable & SendableMetatype>(_ name: String, _ path: Path<Word>, _ help: String)
  where Word.RawValue == String {
    self.init(name, .word(Word.allCases.map(\.rawValue)), help) { (subject, reading) throws(ScenarioFault) in
      subject[keyPath: path] = try reading.word()
    }
    write = { .string($0[keyPath: path].rawValue) }
  }

  init<Word: RawRepresentable & CaseIterable & SendableMetatype>(_ name: String, _ path: Path<Word?>, _ help: String)
  where Word.RawValue == String {
    self.init(name, .word(Word.allCases.map(\.rawValue)), help) { (subject, reading) throws(ScenarioFault) in
      subject[keyPath: path] = try reading.word() as Word
    }
    write = { ($0[keyPath: path]?.rawValue).map(JSONValue.string) ?? .null }
  }

  init<Word: RawRepresentable & CaseIterable & Hashable & SendableMetatype>(
    _ name: String, _ path: Path<Set<Word>>, _ help: String
  )
  where Word.RawValue == String {
    self.init(name, .list(.word(Word.allCases.map(\.rawValue))), help) { (subject, reading) throws(ScenarioFault) in
      var set: Set<Word> = []
      for element in try reading.list() { set.insert(try element.word()) }
      subject[keyPath: path] = set
    }
  }
}

extension Array {
  /// Reads an object by the rows; `more` are fields that somebody else reads.
  func read<Subject>(
    _ reading: Reading, into subject: inout Subject, more: [String] = []
  ) throws(ScenarioFault) where Element == Row<Subject> {
    for (name, member) in try reading.members(known: map(\.name) + more) {
      guard let row = first(where: { $0.name == name }) else { continue }
      try row.read(&subject, member)
    }
  }

  func shape<Subject>(required: [String] = []) -> Shape where Element == Row<Subject> {
    .fields(map(\.field), required: required)
  }
}
