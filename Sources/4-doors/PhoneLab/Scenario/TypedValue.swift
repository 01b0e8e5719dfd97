internal import Basics
internal import PushPayload

/// Words of a line, taken from the left as the values that a scenario would write in their place, by the shapes of the
/// tables. What fits no shape is left as text, and the row that reads it says what it wants.
struct TypedValue {
  var words: ArraySlice<String>
  /// Reads what begins with `{` or `[`.
  let json5: StepWords.JSON5Reader
  /// Where the words stand, for faults.
  let path: JSONPath
  /// Whether a last word is of no list, but an app's name.
  var ends: (String) -> Bool = { _ in false }

  /// nil: no word is there.
  mutating func take(_ shape: Shape) throws(ScenarioFault) -> JSONValue? {
    if case .yes = shape { return true }
    guard let first = words.first else { return shape.takesNothing ? true : nil }
    if shape.mayBeWritten, first.hasPrefix("{") || first.hasPrefix("[") { return try written() }
    switch shape {
    case .yes: return true
    case .orNull(let shape):
      guard first == "default" else { return try take(shape) }
      words.removeFirst()
      return .null
    case .flag: return Self.flag(pop()).map(JSONValue.bool) ?? .string(first)
    case .whole, .number: return Self.number(pop()) ?? .string(first)
    case .text, .span, .time: return .string(pop())
    case .any: return Self.guess(pop())
    case .word(let known):
      let word = pop()
      return .string(known.first { Self.plain($0) == Self.plain(word) } ?? word)
    case .list(let element):
      var list: [JSONValue] = []
      while let word = words.first, words.count > 1 || !ends(word) || list.isEmpty, let value = try take(element) {
        list.append(value)
      }
      return .array(list)
    case .oneOrMore(let element): return try take(element)
    case .either(let shapes):
      return try take(shapes.first { $0.fits(first) } ?? shapes[shapes.count - 1])
    case .object: return .object(try members([], open: .any))
    case .map(let element): return .object(try members([], open: element))
    case .fields(let fields, let required):
      var object: JSONObject = [:]
      if required.count == 1, !first.contains("="), let field = fields.first(where: { $0.name == required[0] }) {
        object[field.name] = try take(field.shape)
      }
      object.members += try members(fields, open: nil).members
      return .object(object)
    case .named("act"): return try act()
    case .named(let name): return try take(Shape.named(name).resolved)
    }
  }

  /// `app`'s value: the name of what the code does, and its own value.
  private mutating func act() throws(ScenarioFault) -> JSONValue {
    let word = pop()
    guard let row = ActRow.all.first(where: { Self.plain($0.name) == Self.plain(word) }) else { return .string(word) }
    guard let value = try take(row.shape) else {
      throw ScenarioFault(path: path.appending(row.name), found: "it needs a value", remedy: "Give \(row.shape.usage).")
    }
    return .object([row.name: value])
  }

  /// `name=value` as long as there are some; a name with dots is of a member inside.
  private mutating func members(_ fields: [Shape.Field], open: Shape?) throws(ScenarioFault) -> JSONObject {
    var object: JSONObject = [:]
    while let word = words.first, let pair = Self.pair(word) {
      words.removeFirst()
      let names = pair.name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
      object = try setting(names[...], pair.value, in: object, .fields(fields, required: []), open: open)
    }
    return object
  }

  private func setting(
    _ names: ArraySlice<String>, _ text: String, in object: JSONObject, _ shape: Shape, open: Shape?
  ) throws(ScenarioFault) -> JSONObject {
    var object = object
    guard let name = names.first else { return object }
    let field = shape.members.first { Self.plain($0.name) == Self.plain(name) }
    let key = field?.name ?? name
    let inner = field?.shape ?? open ?? .any
    if names.count > 1 {
      let former = object[key]?.object ?? [:]
      object[key] = .object(try setting(names.dropFirst(), text, in: former, inner.resolved, open: inner.open))
      return object
    }
    guard object[key] == nil else {
      throw ScenarioFault(path: path.appending(key), found: "it is given twice", remedy: "Give it once.")
    }
    object[key] = try Self.value(of: text, inner, json5, path.appending(key))
    return object
  }

  /// Of one word alone; elements of a list by commas.
  static func value(
    of text: String, _ shape: Shape, _ json5: @escaping StepWords.JSON5Reader, _ path: JSONPath
  ) throws(ScenarioFault) -> JSONValue {
    let words = shape.isList && !text.hasPrefix("[") ? text.split(separator: ",").map(String.init) : [text]
    if words.isEmpty { return .array([]) }
    var typed = TypedValue(words: words[...], json5: json5, path: path)
    return try typed.take(shape) ?? .string(text)
  }

  private mutating func written() throws(ScenarioFault) -> JSONValue {
    do { return try json5(Array(pop().utf8)) } catch {
      throw ScenarioFault(path: path, found: "\(error)", remedy: "Write it as in a scenario, in quotes.")
    }
  }

  private mutating func pop() -> String { words.popFirst() ?? "" }

  // MARK: words

  /// Names are typed without regard to case, `-` and `_`.
  static func plain(_ name: String) -> String { name.lowercased().filter { $0 != "-" && $0 != "_" } }

  /// A name before `=`.
  static func pair(_ word: String) -> (name: String, value: String)? {
    guard let sign = word.firstIndex(of: "="), sign > word.startIndex else { return nil }
    let name = word[..<sign]
    guard name.allSatisfy({ $0.isLetter || $0.isNumber || "-_.".contains($0) }) else { return nil }
    return (String(name), String(word[word.index(after: sign)...]))
  }

  static func flag(_ word: String) -> Bool? {
    switch word.lowercased() {
    case "on", "yes", "true": true
    case "off", "no", "false": false
    default: nil
    }
  }

  static func number(_ word: String) -> JSONValue? {
    (try? JSONReader.read(Array(word.utf8)).value).flatMap { $0.number == nil ? nil : $0 }
  }

  /// A member of an object whose meaning is the app's own.
  private static func guess(_ word: String) -> JSONValue {
    (try? JSONReader.read(Array(word.utf8)).value) ?? .string(word)
  }
}

extension Shape {
  /// The shape under its name.
  var resolved: Shape {
    guard case .named(let name) = self else { return self }
    return ScenarioSchema.shapes.first { $0.name == name }?.shape ?? .text
  }

  /// The fields of an object, of whatever else it may be, too.
  fileprivate var members: [Field] {
    switch resolved {
    case .fields(let fields, _): fields
    case .either(let shapes): shapes.flatMap(\.members)
    case .oneOrMore(let element), .orNull(let element): element.members
    case .yes, .flag, .text, .whole, .number, .span, .time, .object, .any, .word, .list, .map, .named: []
    }
  }

  /// What members of any name are.
  fileprivate var open: Shape? {
    switch self {
    case .object, .any: .any
    case .map(let element): element
    case .orNull(let shape): shape.open
    case .either(let shapes): shapes.lazy.compactMap(\.open).first
    case .yes, .flag, .text, .whole, .number, .span, .time, .word, .list, .oneOrMore, .fields, .named: nil
    }
  }

  fileprivate var isList: Bool {
    switch resolved {
    case .list: true
    case .orNull(let shape): shape.isList
    case .either(let shapes): shapes.contains(where: \.isList)
    case .yes, .flag, .text, .whole, .number, .span, .time, .object, .any, .word, .oneOrMore, .map, .fields, .named:
      false
    }
  }

  /// `{` or `[` begins it.
  fileprivate var mayBeWritten: Bool {
    switch resolved {
    case .object, .any, .list, .oneOrMore, .map, .fields: true
    case .orNull(let shape): shape.mayBeWritten
    case .either(let shapes): shapes.contains(where: \.mayBeWritten)
    case .yes, .flag, .text, .whole, .number, .span, .time, .word, .named: false
    }
  }

  /// Whether the word may begin a value of this shape, where there is a choice.
  fileprivate func fits(_ word: String) -> Bool {
    switch resolved {
    case .yes: false
    case .flag: TypedValue.flag(word) != nil
    case .whole, .number: TypedValue.number(word) != nil
    case .span: Instant.Span(word) != nil
    case .time: Instant(rfc3339: word) != nil
    case .word(let known): known.contains { TypedValue.plain($0) == TypedValue.plain(word) }
    case .list(let element), .oneOrMore(let element), .orNull(let element): element.fits(word)
    case .either(let shapes): shapes.contains { $0.fits(word) }
    case .object, .map, .fields: TypedValue.pair(word) != nil
    case .text, .any, .named: true
    }
  }

  /// How a person would type it.
  var usage: String {
    switch self {
    case .yes: ""
    case .flag: "on|off"
    case .text, .any: "TEXT"
    case .whole, .number: "N"
    case .span: "TIME"
    case .time: "DATE"
    case .object, .map: "{…}"
    case .word(let words):
      words.count > 5 ? words.prefix(3).joined(separator: "|") + "|…" : words.joined(separator: "|")
    case .list(let element): "\(element.usage)…"
    case .oneOrMore(let element), .orNull(let element): element.usage
    case .either(let shapes):
      takesNothing
        ? "[\(shapes.map(\.usage).filter { !$0.isEmpty }.joined(separator: "|"))]"
        : shapes.map(\.usage).joined(separator: "|")
    case .fields(_, let required): required.count == 1 ? "\(required[0].uppercased()) [NAME=VALUE…]" : "NAME=VALUE…"
    case .named("act"): "ACT …"
    case .named: resolved.usage
    }
  }
}
