/// A JSON value as it was written: members keep their order, numbers their digits, so that what a caller sends is what
/// a phone gets (case C45).
public enum JSONValue: Hashable, Sendable {
  case null
  case bool(Bool)
  case number(JSONNumber)
  case string(String)
  case array([JSONValue])
  case object(JSONObject)
}

/// A number in the digits it was written in, since neither Int64 nor Double holds every legal JSON number.
public struct JSONNumber: Hashable, Sendable {
  /// Legal by RFC 8259 §6.
  public let literal: String

  /// Takes a literal that the reader has checked.
  init(checked literal: String) { self.literal = literal }

  public init(_ integer: some BinaryInteger) { literal = String(integer) }

  /// nil for what JSON cannot say: infinities and not-a-number.
  public init?(_ double: Double) {
    guard double.isFinite else { return nil }
    literal = double.description
  }

  /// nil unless written as an integer (no fraction, no exponent) that fits.
  public var int64: Int64? { Int64(literal) }

  public var double: Double { Double(literal) ?? .nan }
}

/// Members in the order written. A key that came twice is kept twice; `subscript` answers the last, as iOS does. Keys are
/// the same when their bytes are: unlike Swift's, JSON's strings know no canonical equivalence.
public struct JSONObject: Hashable, Sendable, ExpressibleByDictionaryLiteral {
  public var members: [Member]

  public struct Member: Hashable, Sendable {
    public var key: String
    public var value: JSONValue
    public init(_ key: String, _ value: JSONValue) {
      self.key = key
      self.value = value
    }
  }

  public init(_ members: [Member] = []) { self.members = members }

  public init(dictionaryLiteral elements: (String, JSONValue)...) {
    members = elements.map { Member($0.0, $0.1) }
  }

  /// Setting keeps the place of a key that is there and appends one that is not; nil removes every member of that key.
  public subscript(key: String) -> JSONValue? {
    get { members.last { $0.key.utf8.elementsEqual(key.utf8) }?.value }
    set {
      guard let newValue else { return members.removeAll { $0.key.utf8.elementsEqual(key.utf8) } }
      if let index = members.lastIndex(where: { $0.key.utf8.elementsEqual(key.utf8) }) {
        members[index].value = newValue
      } else {
        members.append(Member(key, newValue))
      }
    }
  }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  public init(stringLiteral value: String) { self = .string(value) }
  public init(integerLiteral value: Int64) { self = .number(JSONNumber(value)) }
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  public init(dictionaryLiteral elements: (String, JSONValue)...) {
    self = .object(JSONObject(elements.map { JSONObject.Member($0.0, $0.1) }))
  }

  public var object: JSONObject? { if case .object(let object) = self { object } else { nil } }
  public var array: [JSONValue]? { if case .array(let array) = self { array } else { nil } }
  public var string: String? { if case .string(let string) = self { string } else { nil } }
  public var number: JSONNumber? { if case .number(let number) = self { number } else { nil } }
  public var bool: Bool? { if case .bool(let bool) = self { bool } else { nil } }
}
