import Basics
import Phone

/// The words that a phone understands, for people.
enum PhoneHelp {
  static func lines(_ name: String?) throws(CommandFault) -> [String] {
    if let name {
      guard let word = PhoneWord.find(name) else {
        throw CommandFault("there is no '\(name)'; 'help' lists what can be done")
      }
      let also = word.also.isEmpty ? "" : "  (also \(word.also.joined(separator: ", ")))"
      return ["\(word.name) \(word.usage)", "  \(word.help)\(also)"]
    }
    let groups: [(String, [PhoneWord])] = [
      ("WHAT A FINGER DOES", PhoneWord.finger), ("THE PHONE", PhoneWord.system), ("APPS", PhoneWord.apps),
      ("PUSHES", PhoneWord.pushes), ("QUESTIONS", PhoneWord.questions),
    ]
    return groups.flatMap { title, words in
      [title]
        + words.map { word in
          let head = word.usage.isEmpty ? word.name : "\(word.name) \(word.usage)"
          return "  "
            + (head.count > 26 ? head + "\n" + String(repeating: " ", count: 30) : TextWidth.fit(head, to: 28))
            + word.help
        }
    } + ["APP is a bundle id or its last part, the first app without; ID is a notification's request identifier."]
  }
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
