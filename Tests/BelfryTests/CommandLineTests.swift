import Testing

@testable import belfry

@Suite("The command line")
struct CommandLineTests {
  static let commands = [
    Command(
      name: "lint", summary: "Look at payloads",
      arguments: [.init(name: "FILE", help: "a payload", repeats: true)],
      options: [
        .init(name: "topic", value: "T", help: "The topic", variable: "BELFRY_TOPIC"),
        .init(name: "header", value: "K=V", help: "A header", repeats: true),
        .init(name: "format", value: "F", help: "How to print", completion: .words(["text", "json"])),
        .flag("strict", "Be strict"),
      ],
      run: { _ in .success }),
    Command(name: "app create", summary: "Make an app", run: { _ in .success }),
    Command(name: "secret", summary: "Unseen", hidden: true, run: { _ in .success }),
  ]

  private func parse(
    _ words: [String], environment: [String: String] = [:]
  ) throws -> (name: String, parsed: ParsedCommand)? {
    let parser = CommandLineParser(commands: Self.commands, environment: environment)
    guard case .run(let command, let parsed) = try parser.parse(words) else { return nil }
    return (command.name, parsed)
  }

  @Test("takes options in both spellings, repeated ones in order, and words after -- as they are")
  func options() throws {
    let call = try #require(
      try parse(["lint", "--topic=a=b", "--header", "x=1", "--header", "y=2", "a.json", "--strict", "--", "--b.json"]))
    #expect(call.name == "lint")
    #expect(call.parsed.value("topic") == "a=b")
    #expect(call.parsed.all("header") == ["x=1", "y=2"])
    #expect(call.parsed.flag("strict"))
    #expect(call.parsed.arguments == ["a.json", "--b.json"])
  }

  @Test("a lone dash is an argument: standard input")
  func dash() throws {
    #expect(try parse(["lint", "-"])?.parsed.arguments == ["-"])
  }

  @Test("a flag beats a variable")
  func precedence() throws {
    let environment = ["BELFRY_TOPIC": "from.variable"]
    #expect(try parse(["lint", "a"], environment: environment)?.parsed.value("topic") == "from.variable")
    #expect(try parse(["lint", "a", "--topic", "flag"], environment: environment)?.parsed.value("topic") == "flag")
  }

  static let faults: [([String], String)] = [
    (["lnt", "a"], "there is no command 'lnt'; did you mean 'lint'?"),
    (["quux"], "there is no command 'quux'"),
    (["app"], "'app' needs one more word: 'belfry app create'"),
    (["lint"], "FILE is missing: a payload"),
    (["lint", "a", "--topc", "x"], "'--topc' is no option of 'belfry lint'; did you mean '--topic'?"),
    (["lint", "a", "-x"], "'-x' is no option of 'belfry lint'"),
    (["lint", "a", "--topic"], "'--topic' needs a value: --topic T"),
    (["lint", "a", "--strict=yes"], "'--strict' takes no value"),
    (["lint", "a", "--topic", "a", "--topic", "b"], "'--topic' is given twice"),
    (["app", "create", "x"], "'x' is one argument too many"),
  ]

  @Test("says what is wrong and what is near", arguments: faults)
  func usageFaults(words: [String], expected: String) {
    #expect(throws: UsageFault(expected)) { try parse(words) }
  }

  @Test("points at the help of the command that was meant")
  func helpOnFaults() {
    let parser = CommandLineParser(commands: Self.commands, environment: [:])
    #expect(parser.help(on: ["lint", "--topc"]) == "belfry help lint")
    #expect(parser.help(on: ["app", "create", "x"]) == "belfry help app create")
    #expect(["lnt", "app", "help"].allSatisfy { parser.help(on: [$0]) == "belfry help" })
  }

  @Test("help is asked for in every usual way")
  func helpCalls() throws {
    let parser = CommandLineParser(commands: Self.commands, environment: [:])
    for words in [[], ["help"], ["--help"], ["-h"]] {
      guard case .help(nil) = try parser.parse(words) else { return #expect(Bool(false), "\(words)") }
    }
    for words in [["help", "app", "create"], ["app", "create", "--help"], ["app", "create", "-h"]] {
      guard case .help(let command?) = try parser.parse(words) else { return #expect(Bool(false), "\(words)") }
      #expect(command.name == "app create")
    }
    guard case .run = try parser.parse(["lint", "--", "--help"]) else { return #expect(Bool(false), "after --") }
  }

  @Test("the page of a command, whole")
  func page() {
    let page = HelpWriter(commands: Self.commands).page(of: Self.commands[0])
    #expect(
      page == """
        Look at payloads.

        USAGE
          belfry lint [options] FILE…

        ARGUMENTS
          FILE  a payload

        OPTIONS
          --topic T     The topic (or BELFRY_TOPIC)
          --header K=V  A header (may be repeated)
          --format F    How to print
          --strict      Be strict
          --help        Print this
        """)
  }

  @Test("every real command fits its page, and a hidden one is nowhere")
  func overview() {
    let overview = HelpWriter(commands: allCommands).overview()
    for command in allCommands where !command.hidden {
      #expect(overview.contains("  \(command.name)"))
      let lines = HelpWriter(commands: allCommands).page(of: command).split(separator: "\n")
      #expect(lines.allSatisfy { $0.count <= 100 }, "\(command.name)")
    }
    #expect(!HelpWriter(commands: Self.commands).overview().contains("secret"))
  }

  @Test("completion names every command and option", arguments: CompletionWriter.Shell.allCases)
  func completion(shell: CompletionWriter.Shell) {
    let script = CompletionWriter(commands: Self.commands).script(for: shell)
    for word in ["lint", "app", "create", "topic", "header", "strict", "text json"] { #expect(script.contains(word)) }
    #expect(!script.contains("secret"))
  }

  @Test(
    "the word that was meant: letters swapped, missing, one too many, or not all of them yet",
    arguments: [
      ("lokc", "lock"), ("lauch", "launch"), ("unlockk", "unlock"), ("term", "terminate"), ("un", nil), ("", nil),
    ]
      as [(String, String?)])
  func nearestWord(typed: String, meant: String?) {
    let hint = suggestion(typed, among: ["lock", "log", "launch", "unlock", "uninstall", "terminate"])
    #expect(hint == meant.map { "; did you mean '\($0)'?" } ?? "")
  }
}
