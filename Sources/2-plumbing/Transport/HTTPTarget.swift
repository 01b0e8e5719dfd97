internal import Basics

/// Takes the raw target of a request apart (RFC 3986 §2.1, §3.3, §3.4).
public enum HTTPTarget {
  /// Splits at `/` first and decodes each part then, so that `%2F` stays within its part. Empty parts stay.
  /// nil if a part is no percent-encoded UTF-8.
  public static func parts(ofPath path: String) -> [String]? {
    var parts: [String] = []
    for part in path.split(separator: "/", omittingEmptySubsequences: false) {
      guard let decoded = percentDecoded(part.utf8, plusIsSpace: false) else { return nil }
      parts.append(decoded)
    }
    return parts
  }

  /// `name=value` pairs joined by `&`, decoded, `+` as space (as forms write it); a name alone has an empty value.
  /// nil if a pair is no percent-encoded UTF-8.
  public static func items(ofQuery query: String) -> [(name: String, value: String)]? {
    var items: [(name: String, value: String)] = []
    for pair in query.utf8.split(separator: UInt8(ascii: "&")) {
      let equals = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
      let rest = equals == pair.endIndex ? pair[equals...] : pair[pair.index(after: equals)...]
      guard
        let name = percentDecoded(pair[..<equals], plusIsSpace: true),
        let value = percentDecoded(rest, plusIsSpace: true)
      else { return nil }
      items.append((name, value))
    }
    return items
  }

  /// nil where `%` is not followed by two hex digits, or the bytes are not UTF-8.
  public static func percentDecoded(_ text: some Collection<UInt8>, plusIsSpace: Bool) -> String? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count)
    var rest = text.makeIterator()
    while let byte = rest.next() {
      if byte == UInt8(ascii: "%") {
        guard let high = rest.next()?.hexDigit, let low = rest.next()?.hexDigit else { return nil }
        bytes.append(high << 4 | low)
      } else {
        bytes.append(plusIsSpace && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
      }
    }
    return String(validating: bytes, as: UTF8.self)
  }

  /// Path and query of a request line's target: origin form, or the absolute form that proxies get (RFC 9112 §3.2).
  static func split(_ target: String) -> (path: String, query: String?) {
    var target = Substring(target)
    for scheme in ["http://", "https://"] where target.prefix(scheme.count).lowercased() == scheme {
      let authority = target.dropFirst(scheme.count)
      target = authority[(authority.firstIndex { $0 == "/" || $0 == "?" } ?? authority.endIndex)...]
    }
    guard let mark = target.utf8.firstIndex(of: UInt8(ascii: "?")) else { return (String(target), nil) }
    return (String(target[..<mark]), String(target[target.index(after: mark)...]))
  }
}
