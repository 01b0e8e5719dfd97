import Basics

/// The words of one line behind its first, taken from the left.
struct WordReader {
  /// The app that is meant when none is named; nil when there is no app.
  let usualApp: String?
  let apps: [String]
  private(set) var words: [String]

  init(_ words: [String], apps: [String], usualApp: String?) {
    self.words = words
    self.apps = apps
    self.usualApp = usualApp ?? apps.first
  }

  var isEmpty: Bool { words.isEmpty }

  mutating func next() -> String? { words.isEmpty ? nil : words.removeFirst() }

  mutating func next(_ what: String) throws(UsageFault) -> String {
    guard let word = next() else { throw UsageFault("\(what) is missing") }
    return word
  }

  /// The app of the next word, or the usual one where there is none.
  mutating func app() throws(UsageFault) -> String {
    if let word = next() { return try app(word) }
    guard let usualApp else {
      throw UsageFault("there is no app on this phone; 'install com.example.app' puts one there")
    }
    return usualApp
  }

  /// An app by its bundle id, or by the last part of it.
  func app(_ word: String) throws(UsageFault) -> String {
    if let found = apps.first(where: { $0 == word }) ?? apps.first(where: { $0.hasSuffix("." + word) }) { return found }
    let installed = apps.isEmpty ? "none is installed" : "installed: \(apps.joined(separator: ", "))"
    throw UsageFault("there is no app \(word) on this phone; \(installed)")
  }

  mutating func span(_ what: String) throws(UsageFault) -> Instant.Span {
    let word = try next("how long, as in 30s, 5m, 2h, 1d")
    guard let span = PushOptions.span(word) else {
      throw UsageFault("\(what) takes a time such as 30s, 5m, 2h or 1d, not '\(word)'")
    }
    return span
  }

  /// How many, from one up.
  mutating func count(_ what: String, usual: Int) throws(UsageFault) -> Int {
    guard let word = next() else { return usual }
    guard let count = Int(word), count > 0 else { throw UsageFault("\(what) takes how many, not '\(word)'") }
    return count
  }

  mutating func rest() -> [String] {
    defer { words = [] }
    return words
  }

  func end() throws(UsageFault) {
    if let word = words.first { throw UsageFault("'\(word)' is one word too many") }
  }

  /// Words of a line as a shell would part them: blanks part, quotes of both kinds hold together, `\` takes the next
  /// character as it is. What begins with `{` or `[`, also behind `=`, is one word up to its closing bracket, untouched. nil: a
  /// quote or a bracket is not closed.
  static func split(_ line: String) -> [String]? {
    var words: [String] = []
    var word: String?
    var quote: Character?
    var rest = Substring(line)
    while let character = rest.popFirst() {
      if let open = quote {
        if character == "\\", open != "'", let next = rest.popFirst() {
          word = (word ?? "") + String(next)
        } else if character == open {
          quote = nil
        } else {
          word = (word ?? "") + String(character)
        }
      } else if character == "{" || character == "[", word == nil || word?.last == "=" {
        guard let value = bracketed(character, &rest) else { return nil }
        word = (word ?? "") + value
      } else if character == "\\", let next = rest.popFirst() {
        word = (word ?? "") + String(next)
      } else if character == "\"" || character == "'" {
        quote = character
        word = word ?? ""
      } else if character.isWhitespace {
        if let done = word { words.append(done) }
        word = nil
      } else {
        word = (word ?? "") + String(character)
      }
    }
    if let word { words.append(word) }
    return quote == nil ? words : nil
  }

  /// From an opening bracket to the one that closes it, which a text in quotes does not.
  private static func bracketed(_ first: Character, _ rest: inout Substring) -> String? {
    var value = String(first)
    var depth = 1
    var quote: Character?
    while depth > 0, let character = rest.popFirst() {
      value.append(character)
      if character == "\\", let next = rest.popFirst() {
        value.append(next)
      } else if let open = quote {
        if character == open { quote = nil }
      } else if character == "\"" || character == "'" {
        quote = character
      } else if character == "{" || character == "[" {
        depth += 1
      } else if character == "}" || character == "]" {
        depth -= 1
      }
    }
    return depth == 0 ? value : nil
  }
}
