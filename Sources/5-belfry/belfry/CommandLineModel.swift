/// One thing that `belfry` does, described once: parsing, help and completion all read this description.
struct Command: Sendable {
  /// The word after `belfry`; two words for a command of a group (`app create`).
  var name: String
  /// One line for the list of commands.
  var summary: String
  /// More, for `belfry <command> --help`; paragraphs, wrapped by the writer.
  var discussion = ""
  var arguments: [Argument] = []
  var options: [Option] = []
  /// Left out of help and completion.
  var hidden = false
  var run: @Sendable (ParsedCommand) async throws -> ExitStatus

  struct Argument: Sendable {
    var name: String
    var help: String
    var repeats = false
    var optional = false
    var completion = Completion.file
  }

  struct Option: Sendable {
    /// Without the dashes.
    var name: String
    /// What stands for the value in help; nil for a switch.
    var value: String?
    var help: String
    var repeats = false
    /// Also read from this environment variable when the option is not given.
    var variable: String?
    var completion = Completion.none

    static func flag(_ name: String, _ help: String) -> Option { Option(name: name, value: nil, help: help) }
  }

  enum Completion: Sendable, Equatable {
    case none
    case file
    case words([String])
  }
}

/// What a process leaves behind (docs/architecture.md): 0 done, 1 done with findings or a refusal, 2 wrong usage.
enum ExitStatus: Int32, Sendable {
  case success = 0
  case failure = 1
  case usage = 2
}

/// The words of one call, checked against its `Command`.
struct ParsedCommand: Sendable {
  var arguments: [String] = []
  var values: [String: [String]] = [:]
  var flags: Set<String> = []

  func flag(_ name: String) -> Bool { flags.contains(name) }
  func value(_ name: String) -> String? { values[name]?.last }
  func all(_ name: String) -> [String] { values[name] ?? [] }
}

/// The caller's words are wrong: printed to standard error with a pointer to `--help`; the process ends with 2.
struct UsageFault: Error, Equatable {
  var words: String
  init(_ words: String) { self.words = words }
}

/// The work could not be done: printed to standard error; the process ends with 1. Holds no secret.
struct CommandFault: Error, Equatable, CustomStringConvertible {
  var words: String
  init(_ words: String) { self.words = words }
  var description: String { words }
}
