/// Completion scripts for the three shells, written from the commands' descriptions.
struct CompletionWriter {
  var commands: [Command]

  enum Shell: String, CaseIterable {
    case bash, zsh, fish
  }

  func script(for shell: Shell) -> String {
    switch shell {
    case .bash: bash()
    case .zsh: zsh()
    case .fish: fish()
    }
  }

  private var shown: [Command] { commands.filter { !$0.hidden } }

  private func options(of command: Command) -> String {
    (command.options.map { "--" + $0.name } + ["--help"]).joined(separator: " ")
  }

  private var firstWords: [String] {
    var words: [String] = []
    for command in shown {
      let first = String(command.name.split(separator: " ")[0])
      if !words.contains(first) { words.append(first) }
    }
    return words + ["help"]
  }

  private func secondWords(_ first: String) -> [String] {
    let prefix = first + " "
    return shown.map(\.name).filter { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) }
  }

  private func bash() -> String {
    let first = bashReply(firstWords)
    let groups = firstWords.filter { !secondWords($0).isEmpty }.map(bashGroup).joined(separator: "\n")
    let commands = bashReply(firstWords.dropLast())
    let values = shown.flatMap(bashValues).joined(separator: "\n")
    let arguments = shown.flatMap(bashArguments).joined(separator: "\n")
    let names = shown.map { command in "    \"\(command.name)\") \(bashReply([options(of: command)])) ;;" }
    let everyOption = names.joined(separator: "\n")
    return """
      _belfry() {
        local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" command="${COMP_WORDS[1]}"
        COMPREPLY=()
        if [ "$COMP_CWORD" -eq 1 ]; then
          \(first)
          return
        fi
        local start=2
        case "$command" in
      \(groups)
          help) if [ "$COMP_CWORD" -eq 2 ]; then \(commands); fi; return ;;
        esac
        case "$command $before" in
      \(values)
        esac
        local place=1 index
        for ((index = start; index < COMP_CWORD; index++)); do
          case "${COMP_WORDS[index]}" in -*) ;; *) place=$((place + 1)) ;; esac
        done
        case "$word" in
          -*) ;;
          *) case "$command $place" in
      \(arguments)
          esac ;;
        esac
        case "$word" in
          -*) ;;
          *) mapfile -t COMPREPLY < <(compgen -f -- "$word"); return ;;
        esac
        case "$command" in
      \(everyOption)
        esac
      }
      complete -o filenames -F _belfry belfry
      """
  }

  private func bashReply(_ words: some Sequence<String>) -> String {
    "mapfile -t COMPREPLY < <(compgen -W \"\(words.joined(separator: " "))\" -- \"$word\")"
  }

  private func bashGroup(_ first: String) -> String {
    // what is a command by itself, too, takes its own options where no second word stands
    let own = shown.first { $0.name == first }.map { options(of: $0).split(separator: " ").map(String.init) } ?? []
    return """
          \(first))
            if [ "$COMP_CWORD" -eq 2 ]; then \(bashReply(secondWords(first) + own)); return; fi
            case "${COMP_WORDS[2]}" in -*) ;; *) command="$command ${COMP_WORDS[2]}"; start=3 ;; esac ;;
      """
  }

  private func bashValues(_ command: Command) -> [String] {
    command.options.compactMap { option in
      guard case .words(let words) = option.completion else { return nil }
      return "    \"\(command.name) --\(option.name)\") \(bashReply(words)); return ;;"
    }
  }

  private func bashArguments(_ command: Command) -> [String] {
    command.arguments.enumerated().compactMap { index, argument in
      guard case .words(let words) = argument.completion else { return nil }
      return "    \"\(command.name) \(index + 1)\") \(bashReply(words)); return ;;"
    }
  }

  private func zsh() -> String {
    var lines = ["#compdef belfry", "_belfry() {", "  local -a names", "  if (( CURRENT == 2 )); then", "    names=("]
    for first in firstWords {
      let summary =
        shown.first { $0.name == first || $0.name.hasPrefix(first + " ") }?.summary ?? "tell about a command"
      lines.append("      '\(first):\(escaped(summary))'")
    }
    lines += ["    )", "    _describe command names", "    return", "  fi", "  case \"${words[2]}\" in"]
    for first in firstWords {
      let seconds = secondWords(first)
      if seconds.isEmpty, let command = shown.first(where: { $0.name == first }) {
        lines.append("    \(first)) shift words; (( CURRENT-- )); _arguments \(zshArguments(command)) ;;")
      } else if !seconds.isEmpty {
        lines.append("    \(first))")
        if let command = shown.first(where: { $0.name == first }) {
          lines.append(
            "      if [[ ${words[3]} == -* ]]; then shift words; (( CURRENT-- )); _arguments \(zshArguments(command)); return; fi"
          )
        }
        lines.append("      if (( CURRENT == 3 )); then compadd \(seconds.joined(separator: " ")); return; fi")
        lines.append("      case \"${words[3]}\" in")
        for command in shown where command.name.hasPrefix(first + " ") {
          let second = command.name.dropFirst(first.count + 1)
          lines.append("        \(second)) shift 2 words; (( CURRENT -= 2 )); _arguments \(zshArguments(command)) ;;")
        }
        lines += ["      esac ;;"]
      }
    }
    lines.append("    help) if (( CURRENT == 3 )); then compadd \(firstWords.dropLast().joined(separator: " ")); fi ;;")
    lines += ["  esac", "}", "compdef _belfry belfry"]
    return lines.joined(separator: "\n")
  }

  private func zshArguments(_ command: Command) -> String {
    var words = command.options.map { option -> String in
      let help = escaped(option.help)
      guard let value = option.value else { return "'--\(option.name)[\(help)]'" }
      let action =
        switch option.completion {
        case .none: ""
        case .file: "_files"
        case .words(let words): "(\(words.joined(separator: " ")))"
        }
      return "'\(option.repeats ? "*" : "")--\(option.name)[\(help)]:\(escaped(value)):\(action)'"
    }
    words.append("'--help[tell about this command]'")
    for (index, argument) in command.arguments.enumerated() {
      let place = argument.repeats ? "*" : "\(index + 1)"
      switch argument.completion {
      case .words(let choices): words.append("'\(place):\(argument.name):(\(choices.joined(separator: " ")))'")
      case .file: words.append("'\(place):\(argument.name):_files'")
      case .none: words.append("'\(place):\(argument.name):'")
      }
    }
    return words.joined(separator: " ")
  }

  private func escaped(_ text: String) -> String {
    text.map { character in
      switch character {
      case "'": "'\\''"
      case "[", "]", ":": "\\" + String(character)
      default: String(character)
      }
    }.joined()
  }

  private func fish() -> String {
    var lines: [String] = []
    for first in firstWords {
      let summary =
        shown.first { $0.name == first || $0.name.hasPrefix(first + " ") }?.summary ?? "tell about a command"
      lines.append("complete -c belfry -f -n __fish_use_subcommand -a \(first) -d '\(fishEscaped(summary))'")
    }
    let commands = firstWords.dropLast().joined(separator: " ")
    lines.append("complete -c belfry -f -n '__fish_seen_subcommand_from help' -a '\(commands)'")
    for command in shown {
      let words = command.name.split(separator: " ")
      let seconds = secondWords(String(words[0])).joined(separator: " ")
      let none = seconds.isEmpty ? "" : "; and not __fish_seen_subcommand_from \(seconds)"
      if words.count == 2 {
        lines.append(
          "complete -c belfry -f -n '__fish_seen_subcommand_from \(words[0])\(none)' -a \(words[1]) -d '\(fishEscaped(command.summary))'"
        )
      }
      let seen = words.map { "__fish_seen_subcommand_from \($0)" }.joined(separator: "; and ")
      let condition = words.count == 1 ? seen + none : seen
      for argument in command.arguments {
        guard case .words(let choices) = argument.completion else { continue }
        lines.append("complete -c belfry -f -n '\(condition)' -a '\(choices.joined(separator: " "))'")
      }
      for option in command.options {
        var line = "complete -c belfry -n '\(condition)' -l \(option.name) -d '\(fishEscaped(option.help))'"
        if option.value != nil { line += " -r" }
        if case .words(let choices) = option.completion { line += " -f -a '\(choices.joined(separator: " "))'" }
        lines.append(line)
      }
    }
    return lines.joined(separator: "\n")
  }

  private func fishEscaped(_ text: String) -> String {
    text.map { $0 == "'" || $0 == "\\" ? "\\" + String($0) : String($0) }.joined()
  }
}
