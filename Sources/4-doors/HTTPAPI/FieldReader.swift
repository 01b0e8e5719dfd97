internal import Basics
internal import PushPayload
internal import PushService

/// A value of a request's JSON and where it stands. Reading it as something it is not throws a fault that says where,
/// what was found, and what is wanted.
struct Field {
  let value: JSONValue
  let path: JSONPath
  let codes: FaultCodes

  /// The value is there, but not what it may be.
  func wrong(_ found: String, _ remedy: String) -> RequestFault {
    RequestFault(codes.invalid, at: path.description, found: found, remedy: remedy)
  }

  func string() throws(RequestFault) -> String {
    guard case .string(let text) = value else {
      throw wrong("\(value.kindInWords) stands here", "It must be a string.")
    }
    return text
  }

  func integer(_ range: ClosedRange<Int64>) throws(RequestFault) -> Int64 {
    guard case .number(let number) = value else {
      throw wrong(
        "\(value.kindInWords) stands here", "It must be a whole number without quotes, \(range.inWords).")
    }
    guard let integer = number.int64, range ~= integer else {
      throw wrong("\(quoted(number.literal)) is out of range", "It must be a whole number, \(range.inWords).")
    }
    return integer
  }

  /// A bool; with `orNumber`, also 1 and 0, which some SDKs send.
  func bool(orNumber: Bool = false) throws(RequestFault) -> Bool {
    switch value {
    case .bool(let bool): return bool
    case .number(let number) where orNumber && number.literal == "1": return true
    case .number(let number) where orNumber && number.literal == "0": return false
    case .null, .number, .string, .array, .object:
      throw wrong("\(value.kindInWords) stands here", "It must be true or false\(orNumber ? ", or 1 or 0" : "").")
    }
  }

  /// A message id: digits, in quotes or not, since one outgrows the numbers of JavaScript (jpush.md §3, §16).
  func messageID() throws(RequestFault) -> Int64 {
    let digits: String? =
      switch value {
      case .number(let number): number.literal
      case .string(let text): text
      case .null, .bool, .array, .object: nil
      }
    guard let digits, let id = Int64(digits), id >= 0, digits.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else {
      throw wrong("\(value.kindInWords) stands here", "It must be a message id: digits, as a string or a number.")
    }
    return id
  }

  /// `2026-11-30T09:00:00Z`.
  func moment() throws(RequestFault) -> Instant {
    let text = try string()
    guard let moment = Instant(rfc3339: text) else {
      throw wrong("\(quoted(text)) is no time", "It must be as RFC 3339 has it: 2026-11-30T09:00:00Z.")
    }
    return moment
  }

  func object() throws(RequestFault) -> Fields {
    guard case .object(let object) = value else {
      throw wrong("\(value.kindInWords) stands here", "It must be an object.")
    }
    return Fields(object: object, path: path, codes: codes)
  }

  func array() throws(RequestFault) -> [Field] {
    guard case .array(let elements) = value else {
      throw wrong("\(value.kindInWords) stands here", "It must be an array, also for one value.")
    }
    return elements.enumerated().map { Field(value: $1, path: path.appending($0), codes: codes) }
  }

  func strings() throws(RequestFault) -> [String] {
    var texts: [String] = []
    for element in try array() { texts.append(try element.string()) }
    return texts
  }

  /// One of `words`; another word close to one of them is answered by it.
  func word(outOf words: [String]) throws(RequestFault) -> String {
    let text = try string()
    guard words.contains(text) else {
      throw wrong("\(quoted(text)) is none of its values", hint(for: text, words) ?? oneOf(words))
    }
    return text
  }
}

/// For a word that is nearly one of those known.
private func hint(for word: String, _ known: [String]) -> String? {
  nearest(to: word, in: known).map { "Did you mean \($0)?" }
}

/// The members of an object. A member that is `null` counts as absent, since SDKs write absent ones so.
struct Fields {
  let object: JSONObject
  let path: JSONPath
  let codes: FaultCodes

  subscript(key: String) -> Field? {
    guard let value = object[key], value != .null else { return nil }
    return Field(value: value, path: path.appending(key), codes: codes)
  }

  var isEmpty: Bool { object.members.isEmpty }

  /// Each with its place.
  var members: [(key: String, field: Field)] {
    object.members.map { ($0.key, Field(value: $0.value, path: path.appending($0.key), codes: codes)) }
  }

  /// Whether its `environment` is production, which it is unless it says sandbox.
  func isForProduction() throws(RequestFault) -> Bool {
    try self["environment"]?.word(outOf: ["production", "sandbox"]) != "sandbox"
  }

  /// Refuses every key that is not `known` (JPush 1009), naming the nearest (case C35).
  func refuseUnknown(besides known: [String]) throws(RequestFault) {
    for member in object.members where !known.contains(member.key) {
      let hint = hint(for: member.key, known)
      throw unknown(member.key, hint ?? "Known here: \(known.joined(separator: ", ")).")
    }
  }

  /// For objects that grow with the years: refuses a key only when it is close to a known one, which makes it a
  /// mistake of the hand; answers the others.
  func refuseMistyped(besides known: [String]) throws(RequestFault) -> [String] {
    var others: [String] = []
    for member in object.members where !known.contains(member.key) {
      if let hint = hint(for: member.key, known) { throw unknown(member.key, hint) }
      others.append(member.key)
    }
    return others
  }

  private func unknown(_ key: String, _ remedy: String) -> RequestFault {
    RequestFault(
      codes.unknownKey, at: path.appending(key).description, found: "the key \(quoted(key)) does not exist",
      remedy: remedy)
  }

  func missing(_ key: String, _ remedy: String) -> RequestFault {
    RequestFault(codes.missing, at: path.appending(key).description, found: "it is missing", remedy: remedy)
  }
}

/// The numbers that one family of calls has for the same mistakes (jpush.md §10).
struct FaultCodes {
  var missing: RequestFault.Code
  var invalid: RequestFault.Code
  var unknownKey: RequestFault.Code

  static let push = FaultCodes(missing: .missingParameter, invalid: .invalidParameter, unknownKey: .unknownKey)
  static let admin = FaultCodes(missing: .adminInvalid, invalid: .adminInvalid, unknownKey: .adminInvalid)
  static let report = FaultCodes(
    missing: .reportInvalidParameter, invalid: .reportInvalidParameter, unknownKey: .reportInvalidParameter)
  static let device = FaultCodes(
    missing: .deviceInvalidParameter, invalid: .deviceInvalidParameter, unknownKey: .deviceInvalidParameter)
  static let schedule = FaultCodes(missing: .scheduleInvalid, invalid: .scheduleInvalid, unknownKey: .scheduleInvalid)
}

extension JSONValue {
  /// `a number (46)`, for messages.
  var kindInWords: String {
    switch self {
    case .null: "null"
    case .bool(let bool): "\(bool)"
    case .number(let number): "a number (\(number.literal.prefix(20)))"
    case .string(let text): "a string (\(quoted(text)))"
    case .array: "an array"
    case .object: "an object"
    }
  }
}

extension ClosedRange<Int64> {
  fileprivate var inWords: String {
    upperBound == .max ? "at least \(lowerBound)" : "\(lowerBound) to \(upperBound)"
  }
}

func oneOf(_ words: [String]) -> String { "It must be one of \(words.joined(separator: ", "))." }
