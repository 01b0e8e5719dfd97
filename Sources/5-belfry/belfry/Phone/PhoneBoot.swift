import Basics
import PushPayload

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Starts `belfry phone --headless` as a process of its own session, and waits until it can be reached.
struct PhoneBoot {
  var options: PhoneOptions
  var parsed: ParsedCommand

  init(_ options: PhoneOptions, _ parsed: ParsedCommand) {
    self.options = options
    self.parsed = parsed
  }

  func run() async throws -> ExitStatus {
    let call = try RunningPhones()
    let udid = PhoneIdentity.udid(of: options.name)
    guard call.status(udid) == nil else {
      throw CommandFault("Unable to boot device in current state: Booted. \"\(options.name)\" runs already.")
    }
    let log = call.folder.log(of: udid)
    let child = try spawn(words, log: log)
    for _ in 0..<1500 {
      if call.status(udid) != nil {
        Terminal.print(udid)
        return .success
      }
      var status: Int32 = 0
      guard waitpid(child, &status, WNOHANG) == 0 else {
        let said = (try? Files.read(log)).map { String(decoding: $0, as: UTF8.self) } ?? ""
        throw CommandFault("the phone did not start: \(said.split(separator: "\n").last ?? "it said nothing")")
      }
      try await Task.sleep(for: .milliseconds(20))
    }
    throw CommandFault("the phone did not answer within 30 s; what it says is in \(log)")
  }

  /// The same options, as words.
  private var words: [String] { ["phone", "--headless"] + parsed.words(of: PhoneOptions.options) }

  private func spawn(_ words: [String], log: String) throws(CommandFault) -> pid_t {
    #if canImport(Glibc)
      var actions = posix_spawn_file_actions_t()
      var attributes = posix_spawnattr_t()
      let newSession = Int16(0x80)  // POSIX_SPAWN_SETSID
      let program = "/proc/self/exe"
    #else
      var actions: posix_spawn_file_actions_t?
      var attributes: posix_spawnattr_t?
      let newSession = Int16(0x400)  // POSIX_SPAWN_SETSID
      let program = CommandLine.arguments[0]
    #endif
    posix_spawn_file_actions_init(&actions)
    posix_spawnattr_init(&attributes)
    defer {
      posix_spawn_file_actions_destroy(&actions)
      posix_spawnattr_destroy(&attributes)
    }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    posix_spawn_file_actions_adddup2(&actions, 1, 2)
    posix_spawnattr_setflags(&attributes, newSession)
    // whoever started this waits, by a descriptor that it gave us, for us alone
    for descriptor in Int32(3)..<1024 { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    var arguments: [UnsafeMutablePointer<CChar>?] = (["belfry"] + words).map { strdup($0) }
    defer { for argument in arguments { free(argument) } }
    arguments.append(nil)
    var child = pid_t()
    let cause = posix_spawnp(&child, program, &actions, &attributes, arguments, environ)
    guard cause == 0 else { throw CommandFault("no process can be started: \(String(cString: strerror(cause)))") }
    return child
  }
}
