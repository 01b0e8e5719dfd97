/// The words of `belfry help` and `belfry <command> --help`.
struct HelpWriter {
  var commands: [Command]
  var width = 96

  func overview() -> String {
    let shown = commands.filter { !$0.hidden }
    var lines = [
      "Belfry runs, tests and shows iOS push: a push service, Apple's APNs simulated, and iPhones simulated.",
      "",
      "USAGE",
      "  belfry <command> [options]",
      "",
      "COMMANDS",
    ]
    lines += table(shown.map { ($0.name, $0.summary) })
    lines += [
      "", "'belfry <command> --help' tells more. Exit status: 0 done, 1 done with findings or refused, 2 wrong usage.",
    ]
    return lines.joined(separator: "\n")
  }

  func page(of command: Command) -> String {
    var lines = wrap(command.summary + ".", indent: 0)
    lines += ["", "USAGE", "  belfry \(command.name)\(usage(of: command))"]
    if !command.discussion.isEmpty {
      for paragraph in command.discussion.split(separator: "\n") { lines += [""] + wrap(String(paragraph), indent: 0) }
    }
    if !command.arguments.isEmpty {
      lines += ["", "ARGUMENTS"] + table(command.arguments.map { ($0.name, $0.help) })
    }
    let options = command.options.map { option in
      (
        "--\(option.name)" + (option.value.map { " " + $0 } ?? ""),
        option.help + (option.variable.map { " (or \($0))" } ?? "") + (option.repeats ? " (may be repeated)" : "")
      )
    }
    lines += ["", "OPTIONS"] + table(options + [("--help", "Print this")])
    return lines.joined(separator: "\n")
  }

  private func usage(of command: Command) -> String {
    var words = command.options.isEmpty ? "" : " [options]"
    for argument in command.arguments {
      let name = argument.name + (argument.repeats ? "…" : "")
      words += argument.optional ? " [\(name)]" : " \(name)"
    }
    return words
  }

  private func table(_ rows: [(String, String)]) -> [String] {
    let column = min(rows.map(\.0.count).max() ?? 0, 34) + 4
    return rows.flatMap { name, help -> [String] in
      var lines = wrap(help, indent: column)
      if name.count + 4 > column {
        lines.insert("  " + name, at: 0)
      } else {
        lines[0] = "  " + name + String(repeating: " ", count: column - 2 - name.count) + lines[0].dropFirst(column)
      }
      return lines
    }
  }

  private func wrap(_ text: String, indent: Int) -> [String] {
    let margin = String(repeating: " ", count: indent)
    var lines: [String] = []
    var line = margin
    for word in text.split(separator: " ") {
      if line.count + word.count > width, line.count > indent {
        lines.append(line)
        line = margin
      }
      line += (line.count > indent ? " " : "") + word
    }
    return lines + [line]
  }
}
