internal import PushPayload
internal import Transport

/// Why the control API did not do what was asked: where, what was found, what to do.
struct ControlFault: Error {
  var status: Int
  /// A field of the body, a parameter of the query, a part of the path; nil for the whole request.
  var place: String?
  var found: String
  var remedy: String

  init(_ status: Int, at place: String? = nil, _ found: String, _ remedy: String) {
    self.status = status
    self.place = place
    self.found = found
    self.remedy = remedy
  }

  var response: HTTPResponse {
    .json(
      status,
      [
        "error": [
          "place": place.map { .string($0) } ?? .null, "found": .string(found), "remedy": .string(remedy),
        ]
      ])
  }
}

extension HTTPResponse {
  static func json(_ status: Int, _ value: JSONValue) -> HTTPResponse { json(status, bytes: value.encoded()) }

  static func json(_ status: Int, bytes: [UInt8]) -> HTTPResponse {
    HTTPResponse(status: status, headers: ["Content-Type": "application/json"], body: bytes + [UInt8(ascii: "\n")])
  }
}

/// Reads the fields of a JSON object one by one and refuses what it does not know.
struct ControlFields {
  private let object: JSONObject

  init(_ body: [UInt8], known: [String]) throws(ControlFault) {
    guard !body.isEmpty else {
      object = JSONObject()
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
    for member in object.members where !known.contains(member.key) {
      throw ControlFault(
        400, at: member.key.shortened, "there is no such field", .oneOf(known, near: member.key))
    }
    self.object = object
  }

  func text(_ name: String) throws(ControlFault) -> String? {
    guard let value = object[name] else { return nil }
    guard let text = value.string else {
      throw ControlFault(400, at: name, "it is no string", "Give a JSON string.")
    }
    return text
  }

  /// A name of a device or an app: 1 to 200 characters, nothing invisible.
  func name(_ name: String) throws(ControlFault) -> String {
    guard let text = try text(name) else {
      throw ControlFault(400, at: name, "it is missing", "Give a JSON string.")
    }
    guard Self.isName(text) else {
      throw ControlFault(
        400, at: name, "\"\(text.shortened)\" cannot be a name", "Give 1 to 200 characters without spaces and controls."
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
    guard let text = try text(name) else { return usual }
    guard let word = Word(rawValue: text) else {
      throw ControlFault(
        400, at: name, "\"\(text.shortened)\" is not known",
        .oneOf(Word.allCases.map(\.rawValue), near: text))
    }
    return word
  }

  func names(_ name: String) throws(ControlFault) -> [String]? {
    guard let value = object[name] else { return nil }
    let texts = value.array?.map(\.string)
    guard let texts, texts.allSatisfy({ $0.map(Self.isName) ?? false }) else {
      throw ControlFault(400, at: name, "it is no list of names", "Give an array of JSON strings.")
    }
    return texts.compactMap { $0 }
  }

  func value(_ name: String) -> JSONValue? { object[name] }

  func flag(_ name: String) throws(ControlFault) -> Bool? {
    guard let value = object[name] else { return nil }
    guard let flag = value.bool else {
      throw ControlFault(400, at: name, "it is no truth value", "Give true or false.")
    }
    return flag
  }
}
