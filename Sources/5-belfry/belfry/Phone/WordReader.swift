import Basics

/// The words of one line behind its first, taken from the left.
struct WordReader {
  /// The app that is meant when none is named; nil when there is no app.
  let usualApp: String?
  let apps: [String]
  private(set) var words: [String]
  /// The line behind the first word, as it was typed.
  let text: String

  init(_ words: [String], text: String? = nil, apps: [String], usualApp: String?) {
    self.words = words
    self.text = text ?? words.joined(separator: " ")
    self.apps = apps
    self.usualApp = usualApp ?? apps.first
  }

  var isEmpty: Bool { words.isEmpty }
  var first: String? { words.first }

  mutating func next() -> String? { words.isEmpty ? nil : words.removeFirst() }

  mutating func next(_ what: String) throws(UsageFault) -> String {
    guard let word = next() else { throw UsageFault("\(what) is missing") }
    return word
  }

  /// An app by its bundle id, or by the last part of it; else the usual one. A word that looks like a bundle id but is no
  /// app here is a fault.
  mutating func app() throws(UsageFault) -> String {
    if let word = words.first {
      if let found = apps.first(where: { $0 == word }) ?? apps.first(where: { $0.hasSuffix("." + word) }) {
        words.removeFirst()
        return found
      }
      if word.split(separator: ".").count >= 3 {
        let installed = apps.isEmpty ? "none is installed" : "installed: \(apps.joined(separator: ", "))"
        throw UsageFault("there is no app \(word) on this phone; \(installed)")
      }
    }
    guard let usualApp else {
      throw UsageFault("there is no app on this phone; 'install com.example.app' puts one there")
    }
    return usualApp
  }

  mutating func isOn(_ what: String) throws(UsageFault) -> Bool {
    switch try next("on or off") {
    case "on", "yes", "true": return true
    case "off", "no", "false": return false
    case let word: throw UsageFault("\(what) takes on or off, not '\(word)'")
    }
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
  /// character as it is. nil: a quote is not closed.
  static func split(_ line: String) -> [String]? {
    var words: [String] = []
    var word: String?
    var quote: Character?
    var rest = Substring(line)
    while let character = rest.popFirst() {
      if character == "\\", quote != "'", let next = rest.popFirst() {
        word = (word ?? "") + String(next)
      } else if let open = quote {
        if character == open { quote = nil } else { word = (word ?? "") + String(character) }
      } else if character == "\"" || character == "'" {
        quote = character
        word = word ?? ""
      } else if character == " " || character == "\t" {
        if let done = word { words.append(done) }
        word = nil
      } else {
        word = (word ?? "") + String(character)
      }
    }
    if let word { words.append(word) }
    return quote == nil ? words : nil
  }
}
