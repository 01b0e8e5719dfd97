import Basics
import Phone
import PhoneLab

/// The words that a phone understands, for people.
enum PhoneHelp {
  fileprivate struct Word {
    var name: String
    var usage: String
    var help: String

    var head: String { usage.isEmpty ? name : "\(name) \(usage)" }
  }

  static func lines(_ name: String?) throws(CommandFault) -> [String] {
    guard let name else { return all }
    if let word = PhoneWord.find(name) {
      let also = word.also.isEmpty ? "" : "  (also \(word.also.joined(separator: ", ")))"
      return ["\(word.name) \(word.usage)", "  \(word.help)\(also)"]
        + details(of: word.name == "code" ? "app" : word.name)
    }
    guard let entry = StepWords.find(name) else {
      throw CommandFault(
        "there is no '\(name)'\(suggestion(name, among: PhoneWord.names)); 'help' lists what can be done")
    }
    return ["\(entry.name) \(entry.usage)", "  \(entry.help)"] + details(of: entry.name)
  }

  /// What stands behind a word that has many things behind it.
  private static func details(of name: String) -> [String] {
    switch name {
    case "app": table(StepWords.acts.map(Word.init))
    case "change", "set": table(StepWords.phoneSettings.map(Word.init))
    case "userSettings": table(StepWords.userSettings.map(Word.init))
    case _: []
    }
  }

  private static var all: [String] {
    let steps = Dictionary(grouping: StepWords.entries, by: \.group)
    let groups: [(String, [Word])] = [
      ("WHAT A FINGER DOES", steps[.finger] ?? []), ("SETTINGS", steps[.settings] ?? []),
      ("THE PHONE AND ITS APPS", steps[.system] ?? []), ("TIME", steps[.time] ?? []),
      ("MESSAGES", steps[.pushes] ?? []),
    ].map { title, entries in (title, entries.map(Word.init)) }
    let own = [("PUSHES", PhoneWord.pushes), ("QUESTIONS", PhoneWord.questions), ("IN FEWER LETTERS", PhoneWord.short)]
      .map { title, words in
        (title, words.map { Word(name: ([$0.name] + $0.also).joined(separator: ", "), usage: $0.usage, help: $0.help) })
      }
    return (groups + own).flatMap { title, words in [title] + table(words) } + [
      "APP is a bundle id or its last part, the first app without; ID is a notification's request identifier.",
      "'help app', 'help change' and 'help userSettings' list what stands behind them.",
    ]
  }

  private static func table(_ words: [Word]) -> [String] {
    words.flatMap { word -> [String] in
      word.head.count > 26
        ? ["  \(word.head)", String(repeating: " ", count: 30) + word.help]
        : ["  " + TextWidth.fit(word.head, to: 28) + word.help]
    }
  }
}

extension PhoneHelp.Word {
  init(_ entry: StepWords.Entry) { self.init(name: entry.name, usage: entry.usage, help: entry.help) }
}

/// What is installed, as `apps` prints it.
enum AppTable {
  static func lines(_ phone: Phone) -> [String] {
    let rows = phone.bundleIDs.map { bundle in
      [
        bundle, phone.state(of: bundle)?.rawValue ?? "", "badge \(phone.badge(of: bundle))",
        "centre \(phone.centre(of: bundle).count)", phone.token(of: bundle).map { "token \($0.hex)" } ?? "no token",
      ]
    }
    return rows.map { row in
      row.enumerated().map { place, cell in
        place == row.count - 1 ? cell : TextWidth.fit(cell, to: rows.map { $0[place].count }.max()! + 2)
      }.joined()
    }
  }
}
