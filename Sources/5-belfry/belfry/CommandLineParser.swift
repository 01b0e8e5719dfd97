import PushPayload

/// Turns the words after `belfry` into a command and its parsed words.
struct CommandLineParser {
  var commands: [Command]
  var environment: [String: String]

  enum Call {
    case run(Command, ParsedCommand)
    case help(Command?)
    case version
  }

  func parse(_ words: [String]) throws(UsageFault) -> Call {
    guard let first = words.first else { return .help(nil) }
    if first == "--version" { return .version }
    if first == "--help" || first == "-h" { return .help(nil) }
    if first == "help" {
      guard words.count > 1 else { return .help(nil) }
      return .help(try command(Array(words.dropFirst())).command)
    }
    let (command, used) = try command(words)
    let rest = words.dropFirst(used)
    let options = rest.prefix { $0 != "--" }
    if options.contains("--help") || options.contains("-h") { return .help(command) }
    return .run(command, try parse(Array(rest), for: command))
  }

  /// The help that fits these words, which were wrong.
  func help(on words: [String]) -> String {
    guard !words.isEmpty, words[0] != "help", let command = try? command(words).command else { return "belfry help" }
    return "belfry help \(command.name)"
  }

  private func command(_ words: [String]) throws(UsageFault) -> (command: Command, used: Int) {
    for length in [2, 1] where words.count >= length {
      let name = words.prefix(length).joined(separator: " ")
      if let command = commands.first(where: { $0.name == name }) { return (command, length) }
    }
    let group = commands.filter { $0.name.hasPrefix(words[0] + " ") }
    if !group.isEmpty {
      let names = group.map { "'belfry \($0.name)'" }.joined(separator: ", ")
      throw UsageFault("'\(words[0])' needs one more word: \(names)")
    }
    throw UsageFault("there is no command '\(words[0])'" + suggestion(words[0], among: commands.map(\.name)))
  }

  fileprivate func parse(_ words: [String], for command: Command) throws(UsageFault) -> ParsedCommand {
    var parsed = ParsedCommand()
    var index = 0
    var onlyArguments = false
    while index < words.count {
      let word = words[index]
      index += 1
      if onlyArguments || word == "-" || !word.hasPrefix("-") {
        parsed.arguments.append(word)
        continue
      }
      if word == "--" {
        onlyArguments = true
        continue
      }
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = String(parts[0].drop { $0 == "-" })
      guard word.hasPrefix("--"), let option = command.options.first(where: { $0.name == name }) else {
        throw UsageFault(
          "'\(parts[0])' is no option of 'belfry \(command.name)'"
            + suggestion(name, among: command.options.map(\.name), prefix: "--"))
      }
      guard option.value != nil else {
        guard parts.count == 1 else { throw UsageFault("'--\(name)' takes no value") }
        parsed.flags.insert(name)
        continue
      }
      let value: String
      if parts.count == 2 {
        value = String(parts[1])
      } else if index < words.count {
        value = words[index]
        index += 1
      } else {
        throw UsageFault("'--\(name)' needs a value: --\(name) \(option.value ?? "")")
      }
      if parsed.values[name] != nil, !option.repeats { throw UsageFault("'--\(name)' is given twice") }
      parsed.values[name, default: []].append(value)
    }
    for option in command.options where option.value != nil && parsed.values[option.name] == nil {
      if let variable = option.variable, let value = environment[variable] { parsed.values[option.name] = [value] }
    }
    try checkCount(parsed.arguments, for: command)
    return parsed
  }

  private func checkCount(_ arguments: [String], for command: Command) throws(UsageFault) {
    let required = command.arguments.filter { !$0.optional }
    if arguments.count < required.count {
      throw UsageFault("\(required[arguments.count].name) is missing: \(required[arguments.count].help)")
    }
    if arguments.count > command.arguments.count, command.arguments.last?.repeats != true {
      throw UsageFault("'\(arguments[command.arguments.count])' is one argument too many")
    }
  }
}

extension Command {
  /// Words that came another way than the process's own: arguments and options, without the environment.
  func parse(_ words: [String]) throws(UsageFault) -> ParsedCommand {
    try CommandLineParser(commands: [], environment: [:]).parse(words, for: self)
  }
}

extension ParsedCommand {
  /// These options again, as words.
  func words(of options: [Command.Option]) -> [String] {
    options.flatMap { option in
      option.value == nil
        ? flag(option.name) ? ["--\(option.name)"] : [] : all(option.name).map { "--\(option.name)=\($0)" }
    }
  }
}

/// `; did you mean 'push'?` for a word that is nearly one of the names, or begins one alone; else empty.
func suggestion(_ word: String, among names: [String], prefix: String = "") -> String {
  let begun = names.filter { !word.isEmpty && $0.hasPrefix(word) }
  guard let near = nearest(to: word, in: names) ?? (begun.count == 1 ? begun[0] : nil) else { return "" }
  return "; did you mean '\(prefix)\(near)'?"
}
