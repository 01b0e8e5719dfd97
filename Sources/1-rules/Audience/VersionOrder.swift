/// How a version is compared with one given.
public enum VersionComparison: UInt8, CaseIterable, Sendable {
  case equal = 0
  case notEqual = 1
  case atLeast = 2
  case above = 3
  case atMost = 4
  case below = 5

  public func holds(_ version: String, _ other: String) -> Bool {
    let order = VersionOrder(version).compared(to: VersionOrder(other))
    switch self {
    case .equal: return order == 0
    case .notEqual: return order != 0
    case .atLeast: return order >= 0
    case .above: return order > 0
    case .atMost: return order <= 0
    case .below: return order < 0
    }
  }
}

/// Versions as people count them: part by part between dots, by number, so that 2.10 comes after 2.9 and 2.0 is 2. Where
/// numbers are equal, one with letters after it comes first (2.0-beta before 2.0), and letters go by their bytes.
public struct VersionOrder {
  private struct Part {
    var digits: Substring = ""
    var rest: Substring = ""
  }

  private var parts: [Part]

  public init(_ version: String) {
    parts = version.split(separator: ".", omittingEmptySubsequences: false).map { part in
      let digits = part.prefix { $0.isASCII && $0.isNumber }
      return Part(digits: digits.drop { $0 == "0" }, rest: part[digits.endIndex...])
    }
  }

  /// Below 0 when this comes first.
  public func compared(to other: VersionOrder) -> Int {
    for index in 0..<max(parts.count, other.parts.count) {
      let mine = index < parts.count ? parts[index] : Part()
      let theirs = index < other.parts.count ? other.parts[index] : Part()
      if mine.digits.count != theirs.digits.count { return mine.digits.count - theirs.digits.count }
      if mine.digits != theirs.digits { return mine.digits < theirs.digits ? -1 : 1 }
      if mine.rest == theirs.rest { continue }
      if mine.rest.isEmpty != theirs.rest.isEmpty { return mine.rest.isEmpty ? 1 : -1 }
      return Array(mine.rest.utf8).lexicographicallyPrecedes(Array(theirs.rest.utf8)) ? -1 : 1
    }
    return 0
  }
}
