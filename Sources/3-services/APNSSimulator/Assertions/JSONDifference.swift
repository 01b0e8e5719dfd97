internal import PushPayload

/// One place in which a push is not what was expected, in words that a person reads: `payload.aps.alert`.
struct Difference: Hashable, Sendable {
  var path: String
  /// JSON, or words in parentheses: `(nothing)`.
  var expected: String
  var actual: String

  static let nothing = "(nothing)"
}

/// Compares two JSON values by what they mean: members in any order, numbers by their value.
enum JSONDifference {
  enum Match: String, CaseIterable, Sendable {
    /// Objects may have more members than expected; arrays may not have more elements.
    case contains
    case exact
  }

  /// Every place where `actual` is not as expected, in the order of the expected members; empty when it is.
  static func between(
    _ expected: JSONValue, _ actual: JSONValue, match: Match, at path: JSONPath = .root
  ) -> [Difference] {
    switch (expected, actual) {
    case (.object(let expected), .object(let actual)):
      return objects(expected, actual, match: match, at: path)
    case (.array(let expected), .array(let actual)):
      return arrays(expected, actual, match: match, at: path)
    case (.number(let expected), .number(let actual)) where same(expected, actual): return []
    default: return expected == actual ? [] : [difference(at: path, expected, actual)]
    }
  }

  private static func objects(
    _ expected: JSONObject, _ actual: JSONObject, match: Match, at path: JSONPath
  ) -> [Difference] {
    var differences: [Difference] = []
    var known: Set<String> = []
    for member in expected.members where known.insert(member.key).inserted {
      let place = path.appending(member.key)
      let wanted = expected[member.key] ?? member.value
      if let found = actual[member.key] {
        differences += between(wanted, found, match: match, at: place)
      } else {
        differences.append(difference(at: place, wanted, nil))
      }
    }
    guard match == .exact else { return differences }
    for member in actual.members where known.insert(member.key).inserted {
      differences.append(difference(at: path.appending(member.key), nil, member.value))
    }
    return differences
  }

  private static func arrays(
    _ expected: [JSONValue], _ actual: [JSONValue], match: Match, at path: JSONPath
  ) -> [Difference] {
    (0..<max(expected.count, actual.count)).flatMap { index -> [Difference] in
      let place = path.appending(index)
      guard index < expected.count else { return [difference(at: place, nil, actual[index])] }
      guard index < actual.count else { return [difference(at: place, expected[index], nil)] }
      return between(expected[index], actual[index], match: match, at: place)
    }
  }

  /// Integers by their digits, which may be more than a double holds; else as doubles.
  private static func same(_ left: JSONNumber, _ right: JSONNumber) -> Bool {
    if left.literal == right.literal { return true }
    if let left = left.int64, let right = right.int64 { return left == right }
    return left.double == right.double && !(left.isInteger && right.isInteger)
  }

  private static func difference(at path: JSONPath, _ expected: JSONValue?, _ actual: JSONValue?) -> Difference {
    Difference(
      path: path == .root ? "payload" : JSONPath([.key("payload")] + path.steps).description,
      expected: expected?.text ?? Difference.nothing, actual: actual?.text ?? Difference.nothing)
  }
}

extension JSONNumber {
  /// Written without fraction and exponent.
  fileprivate var isInteger: Bool {
    literal.utf8.allSatisfy { $0 != UInt8(ascii: ".") && $0 | 0x20 != UInt8(ascii: "e") }
  }
}
