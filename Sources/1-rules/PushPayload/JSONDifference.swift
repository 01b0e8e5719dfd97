/// One place in which a JSON value is not what was expected, in words that a person reads: `payload.aps.alert`. Values are
/// compared by what they mean: members in any order, numbers by their value.
public struct JSONDifference: Hashable, Sendable {
  public var path: String
  /// JSON, or words in parentheses: `(nothing)`.
  public var expected: String
  public var actual: String

  public init(path: String, expected: String, actual: String) {
    self.path = path
    self.expected = expected
    self.actual = actual
  }

  public static let nothing = "(nothing)"

  public enum Match: String, CaseIterable, Sendable {
    /// Objects may have more members than expected; arrays may not have more elements.
    case contains
    case exact
  }

  /// The places where `actual` is not as expected, in the order of the expected members, the first 1,000 of them; empty
  /// exactly when `isNone`. Paths begin with `root`.
  public static func between(
    _ expected: JSONValue, _ actual: JSONValue, match: Match, root: String = "payload"
  ) -> [JSONDifference] {
    var differences: [JSONDifference] = []
    collect(&differences, expected, actual, match: match, at: JSONPath(root))
    return differences
  }

  private static let most = 1_000

  /// Whether `actual` is as expected: for many comparisons, since it ends at the first difference and names no place.
  public static func isNone(between expected: JSONValue, _ actual: JSONValue, match: Match) -> Bool {
    switch (expected, actual) {
    case (.object(let expected), .object(let actual)):
      let isThere = expected.members.allSatisfy { member in
        guard let found = actual[member.key] else { return false }
        return isNone(between: expected[member.key] ?? member.value, found, match: match)
      }
      guard isThere, match == .exact else { return isThere }
      return actual.members.allSatisfy { expected[$0.key] != nil }
    case (.array(let expected), .array(let actual)):
      return expected.count == actual.count
        && zip(expected, actual).allSatisfy { isNone(between: $0, $1, match: match) }
    case (.number(let expected), .number(let actual)): return same(expected, actual)
    default: return expected == actual
    }
  }

  private static func collect(
    _ differences: inout [JSONDifference], _ expected: JSONValue, _ actual: JSONValue, match: Match, at path: JSONPath
  ) {
    guard differences.count < most, !isNone(between: expected, actual, match: match) else { return }
    switch (expected, actual) {
    case (.object(let expected), .object(let actual)):
      objects(&differences, expected, actual, match: match, at: path)
    case (.array(let expected), .array(let actual)):
      for index in 0..<max(expected.count, actual.count) where differences.count < most {
        let place = path.appending(index)
        if index < expected.count, index < actual.count {
          collect(&differences, expected[index], actual[index], match: match, at: place)
        } else {
          let wanted = index < expected.count ? expected[index] : nil
          differences.append(difference(at: place, wanted, index < actual.count ? actual[index] : nil))
        }
      }
    default: differences.append(difference(at: path, expected, actual))
    }
  }

  private static func objects(
    _ differences: inout [JSONDifference], _ expected: JSONObject, _ actual: JSONObject, match: Match, at path: JSONPath
  ) {
    var known: Set<String> = []
    for member in expected.members where known.insert(member.key).inserted {
      guard differences.count < most else { return }
      let wanted = expected[member.key] ?? member.value
      if let found = actual[member.key] {
        collect(&differences, wanted, found, match: match, at: path.appending(member.key))
      } else {
        differences.append(difference(at: path.appending(member.key), wanted, nil))
      }
    }
    guard match == .exact else { return }
    for member in actual.members where known.insert(member.key).inserted {
      differences.append(difference(at: path.appending(member.key), nil, member.value))
    }
  }

  /// Integers by their digits, which may be more than a double holds; else as doubles.
  private static func same(_ left: JSONNumber, _ right: JSONNumber) -> Bool {
    if left.literal == right.literal { return true }
    if let left = left.int64, let right = right.int64 { return left == right }
    return left.double == right.double && !(left.isInteger && right.isInteger)
  }

  private static func difference(at path: JSONPath, _ expected: JSONValue?, _ actual: JSONValue?) -> JSONDifference {
    JSONDifference(path: path.description, expected: expected?.text ?? nothing, actual: actual?.text ?? nothing)
  }
}

extension JSONNumber {
  /// Written without fraction and exponent.
  fileprivate var isInteger: Bool {
    literal.utf8.allSatisfy { $0 != UInt8(ascii: ".") && $0 | 0x20 != UInt8(ascii: "e") }
  }
}
