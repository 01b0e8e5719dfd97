/// What the service takes as an alias or tag: 1 to 40 bytes of digits, letters, `_@!#$&*+=.|￥` and Chinese characters.
enum NameRule {
  static func check(alias: String) throws(BelfryFault) {
    guard !alias.isEmpty else { throw BelfryFault(.empty, "The alias is empty. deleteAlias() removes it.") }
    if let wrong = firstWrong(alias) {
      throw BelfryFault(
        .aliasCharacters, "An alias may not have “\(wrong)”: letters, digits, _@!#$&*+=.|￥ and Chinese.")
    }
    guard alias.utf8.count <= 40 else {
      throw BelfryFault(.aliasTooLong, "The alias has \(alias.utf8.count) bytes of UTF-8, 40 are allowed.")
    }
  }

  static func check(tags: [String]) throws(BelfryFault) {
    guard !tags.isEmpty else { throw BelfryFault(.empty, "There is no tag. cleanTags() removes all.") }
    guard tags.count <= 1000 else { throw BelfryFault(.tooManyTags, "\(tags.count) tags, 1,000 are allowed.") }
    for tag in tags {
      guard !tag.isEmpty else { throw BelfryFault(.empty, "A tag is empty.") }
      if let wrong = firstWrong(tag) {
        throw BelfryFault(.tagCharacters, "A tag may not have “\(wrong)”: letters, digits, _@!#$&*+=.|￥ and Chinese.")
      }
      guard tag.utf8.count <= 40 else {
        throw BelfryFault(.tagTooLong, "A tag has \(tag.utf8.count) bytes of UTF-8, 40 are allowed.")
      }
    }
  }

  private static func firstWrong(_ name: String) -> Character? {
    name.first { character in !character.unicodeScalars.allSatisfy(isAllowed) }
  }

  private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "0"..."9", "a"..."z", "A"..."Z": true
    case "_", "@", "!", "#", "$", "&", "*", "+", "=", ".", "|", "\u{FFE5}": true
    case "\u{3006}", "\u{3007}", "\u{3021}"..."\u{3029}", "\u{3038}"..."\u{303A}": true
    case "\u{3400}"..."\u{4DBF}", "\u{4E00}"..."\u{9FFF}", "\u{F900}"..."\u{FA6D}", "\u{FA70}"..."\u{FAD9}": true
    default: false
    }
  }
}
