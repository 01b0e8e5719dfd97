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
  case fields([Field], required: [String])
  /// Under `$defs`.
  case named(String)

  /// There need be no value: true says the same as the name alone.
  var takesNothing: Bool {
    switch self {
    case .yes: true
    case .either(let shapes): shapes.contains { if case .yes = $0 { true } else { false } }
    case .flag, .text, .whole, .number, .span, .time, .object, .any, .word, .list, .oneOrMore, .map, .fields, .named:
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

  init(
    _ name: String, _ shape: Shape, _ help: String,
    _ read: @escaping @Sendable (inout Subject, Reading) throws(ScenarioFault) -> Void
  ) {
    self.name = name
    self.shape = shape
    self.help = help
    self.read = read
  }

  var field: Shape.Field { Shape.Field(name: name, shape: shape, help: help) }
}

extension Row {
  typealias Path<Value> = any WritableKeyPath<Subject, Value> & Sendable

  init(_ name: String, _ path: Path<Bool>, _ help: String) {
    self.init(name, .flag, help) { (subject, reading) throws(ScenarioFault) in
      subject[keyPath: path] = try reading.flag()
    }
  }

  init(_ name: String, _ path: Path<Bool?>, _ help: String) {
    self.init(name, .flag, help) { (subject, reading) throws(ScenarioFault) in
      subject[keyPath: path] = try reading.flag()
    }
  }

  init(_ name: String, _ path: Path<String>, _ help: String) {
    self.init(name, .text, help) { (subject, reading) throws(ScenarioFault) in
      subject[keyPath: path] = try reading.text()
    }
  }

  init(_ name: String, _ path: Path<String?>, _ help: String) {
    self.init(name, .text, help) { (subject, reading) throws(ScenarioFault) in
      subject[keyPath: path] = try reading.text()
    }
  }

  init(_ name: String, _ path: Path<Int>, _ help: String) {
    self.init(name, .whole, help) { (subject, reading) throws(ScenarioFault) in
      subject[keyPath: path] = Int(try reading.whole())
    }
  }

  init(_ name: String, _ path: Path<Int?>, _ help: String) {
    self.init(name, .whole, help) { (subject, reading) throws(ScenarioFault) in
      subject[keyPath: path] = Int(try reading.whole())
    }
  }

  init(_ name: String, _ path: Path<Int64>, _ help: String) {
    self.init(name, .whole, help) { (subject, reading) throws(ScenarioFault) in
      subject[keyPath: path] = try reading.whole()
    }
  }

  init(_ name: String, _ path: Path<Int64?>, _ help: String) {
    self.init(name, .whole, help) { (subject, reading) throws(ScenarioFault) in
      subject[keyPath: path] = try reading.whole()
    }
  }

  init(_ name: String, _ path: Path<Double>, _ help: String) {
    self.init(name, .number, help) { (subject, reading) throws(ScenarioFault) in
      subject[keyPath: path] = try reading.number()
    }
  }

  init(_ name: String, _ path: Path<Instant.Span?>, _ help: String) {
    self.init(name, .span, help) { (subject, reading) throws(ScenarioFault) in
      subject[keyPath: path] = try reading.span()
    }
  }

  init<Word: RawRepresentable & CaseIterable & SendableMetatype>(_ name: String, _ path: Path<Word>, _ help: String)
  where Word.RawValue == String {
    self.init(name, .word(Word.allCases.map(\.rawValue)), help) { (subject, reading) throws(ScenarioFault) in
      subject[keyPath: path] = try reading.word()
    }
  }

  init<Word: RawRepresentable & CaseIterable & SendableMetatype>(_ name: String, _ path: Path<Word?>, _ help: String)
  where Word.RawValue == String {
    self.init(name, .word(Word.allCases.map(\.rawValue)), help) { (subject, reading) throws(ScenarioFault) in
      subject[keyPath: path] = try reading.word() as Word
    }
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
