internal import PushPayload

/// Reads the fields of a JSON object one by one and refuses what it does not know.
struct ControlFields {
  private let object: JSONObject
  /// Where the object stands; empty for a whole body.
  private let place: String

  init(_ body: [UInt8], known: [String]) throws(ControlFault) {
    guard !body.isEmpty else {
      try self.init(JSONObject(), at: "", known: known)
      return
    }
    let document: JSONDocument
    do { document = try JSONReader.read(body) } catch {
      throw ControlFault(
        400, error.found, "Send one JSON object; line \(error.line), column \(error.column). \(error.remedy)")
    }
    guard let object = document.value.object else {
      throw ControlFault(400, "the body is no JSON object", "Send an object with \(known.joined(separator: ", ")).")
    }
    try self.init(object, at: "", known: known)
  }

  init(_ object: JSONObject, at place: String, known: [String]) throws(ControlFault) {
    self.object = object
    self.place = place
    for member in object.members where !known.contains(member.key) {
      throw fault(member.key.shortened, "there is no such field", .oneOf(known, near: member.key))
    }
  }

  func fault(_ name: String, _ found: String, _ remedy: String) -> ControlFault {
    ControlFault(400, at: path(name), found, remedy)
  }

  private func path(_ name: String) -> String { place.isEmpty ? name : "\(place).\(name)" }

  func value(_ name: String) -> JSONValue? { object[name] }

  func text(_ name: String) throws(ControlFault) -> String? {
    guard let value = object[name] else { return nil }
    guard let text = value.string else {
      throw fault(name, "it is no string", "Give a JSON string.")
    }
    return text
  }

  /// A name of a device or an app: 1 to 200 characters, nothing invisible.
  func name(_ name: String) throws(ControlFault) -> String {
    guard let text = try text(name) else {
      throw fault(name, "it is missing", "Give a JSON string.")
    }
    guard Self.isName(text) else {
      throw fault(
        name, "\"\(text.shortened)\" cannot be a name", "Give 1 to 200 characters without spaces and controls."
      )
    }
    return text
  }

  static func isName(_ text: String) -> Bool {
    (1...200).contains(text.utf8.count)
      && text.unicodeScalars.allSatisfy { $0.value > 0x20 && $0.value != 0x7F && !$0.properties.isWhitespace }
  }

  func word<Word: RawRepresentable & CaseIterable>(
    _ name: String, default usual: Word
  ) throws(ControlFault) -> Word where Word.RawValue == String {
    try word(name, Word.self) ?? usual
  }

  /// One of few words; nil when it is not given.
  func word<Word: RawRepresentable & CaseIterable>(
    _ name: String, _ type: Word.Type
  ) throws(ControlFault) -> Word? where Word.RawValue == String {
    try text(name).map { text throws(ControlFault) in try .control(text, at: path(name)) }
  }

  func names(_ name: String) throws(ControlFault) -> [String]? {
    guard let value = object[name] else { return nil }
    let texts = value.array?.map(\.string)
    guard let texts, texts.allSatisfy({ $0.map(Self.isName) ?? false }) else {
      throw fault(name, "it is no list of names", "Give an array of JSON strings.")
    }
    return texts.compactMap { $0 }
  }

  func flag(_ name: String) throws(ControlFault) -> Bool? {
    guard let value = object[name] else { return nil }
    guard let flag = value.bool else {
      throw fault(name, "it is no truth value", "Give true or false.")
    }
    return flag
  }

  /// A whole number from 0 to a million.
  func count(_ name: String) throws(ControlFault) -> Int? {
    guard let value = object[name] else { return nil }
    guard let count = value.number?.int64, 0...1_000_000 ~= count else {
      throw fault(name, "it is no whole number from 0", "Give a JSON number without fraction.")
    }
    return Int(count)
  }
}
