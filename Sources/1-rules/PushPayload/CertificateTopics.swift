/// The topic list in extension 1.2.840.113635.100.6.3.6, as is believed: a SEQUENCE in which a UTF8String (the topic) and
/// a SEQUENCE of UTF8Strings (its kinds) take turns.
public enum CertificateTopics {
  /// DER (X.690) of the extension's value. APNs looks at the topics alone.
  public static func encoded(_ topics: [(topic: String, kinds: [String])]) -> [UInt8] {
    element(
      tag: 0x30,
      topics.flatMap { entry in
        element(tag: 0x0C, Array(entry.topic.utf8))
          + element(tag: 0x30, entry.kinds.flatMap { element(tag: 0x0C, Array($0.utf8)) })
      })
  }

  /// The topics of the list, in order; `[]` for bytes of another form.
  public static func topics(in der: [UInt8]) -> [String] {
    guard let outer = next(der[...]), outer.tag == 0x30 else { return [] }
    var topics: [String] = []
    var rest = outer.content
    while let item = next(rest) {
      if item.tag == 0x0C { topics.append(String(decoding: item.content, as: UTF8.self)) }
      rest = item.rest
    }
    return topics
  }

  private static func element(tag: UInt8, _ content: [UInt8]) -> [UInt8] {
    switch content.count {
    case ..<0x80: [tag, UInt8(content.count)] + content
    case ..<0x100: [tag, 0x81, UInt8(content.count)] + content
    default:
      [tag, 0x82, UInt8(truncatingIfNeeded: content.count >> 8), UInt8(truncatingIfNeeded: content.count)] + content
    }
  }

  private static func next(
    _ bytes: ArraySlice<UInt8>
  ) -> (tag: UInt8, content: ArraySlice<UInt8>, rest: ArraySlice<UInt8>)? {
    var rest = bytes
    guard let tag = rest.popFirst(), let first = rest.popFirst() else { return nil }
    var length = Int(first)
    if first >= 0x80 {
      let count = Int(first & 0x7F)
      guard (1...3).contains(count), rest.count >= count else { return nil }
      length = rest.prefix(count).reduce(0) { $0 << 8 | Int($1) }
      rest = rest.dropFirst(count)
    }
    guard rest.count >= length else { return nil }
    return (tag, rest.prefix(length), rest.dropFirst(length))
  }
}
