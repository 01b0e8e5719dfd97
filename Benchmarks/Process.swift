#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A program that runs beside us and writes to a pipe of ours.
struct Child {
  let pid: pid_t
  private let output: Int32

  /// What a process cost and said.
  struct Report {
    /// User and system, of the whole process from its start to its end.
    var cpuSeconds: Double
    var output: String
  }

  /// Starts `words`, the first of which is looked up in PATH, on one core where the system can pin (Linux).
  init(_ words: [String], core: Int? = nil, errors: Bool = false) throws {
    var words = words
    #if os(Linux)
      if let core { words = ["taskset", "-c", String(core)] + words }
    #endif
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { throw BenchFault("no pipe: \(String(cString: strerror(errno)))") }
    output = ends[0]
    _ = fcntl(ends[0], F_SETFD, FD_CLOEXEC)
    #if canImport(Glibc)
      var actions = posix_spawn_file_actions_t()
      var attributes = posix_spawnattr_t()
    #else
      var actions: posix_spawn_file_actions_t?
      var attributes: posix_spawnattr_t?
    #endif
    // a thread of a pool takes no signals; what it starts must
    posix_spawnattr_init(&attributes)
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    defer { posix_spawnattr_destroy(&attributes) }
    posix_spawn_file_actions_init(&actions)
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
    if errors { posix_spawn_file_actions_adddup2(&actions, ends[1], 2) }
    posix_spawn_file_actions_addclose(&actions, ends[1])
    defer { posix_spawn_file_actions_destroy(&actions) }
    var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    var pid: pid_t = 0
    let started = posix_spawnp(&pid, words[0], &actions, &attributes, &arguments, environ)
    close(ends[1])
    guard started == 0 else {
      close(ends[0])
      throw BenchFault("cannot start \(words[0]): \(String(cString: strerror(started))). Run script/bootstrap --tests.")
    }
    self.pid = pid
  }

  /// One line of its output.
  func line() throws -> String {
    var bytes: [UInt8] = []
    var byte: UInt8 = 0
    while read(output, &byte, 1) == 1 {
      if byte == UInt8(ascii: "\n") { return String(decoding: bytes, as: UTF8.self) }
      bytes.append(byte)
    }
    throw BenchFault("a process ended before it said what was expected: \(String(decoding: bytes, as: UTF8.self))")
  }

  /// Reads to the end, waits, and answers what it cost; throws when it did not end well.
  func finish() throws -> Report {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = read(output, &buffer, buffer.count)
      guard count > 0 else { break }
      bytes += buffer[..<count]
    }
    close(output)
    var status: Int32 = 0
    var usage = rusage()
    while wait4(pid, &status, 0, &usage) < 0, errno == EINTR {}
    let text = String(decoding: bytes, as: UTF8.self)
    guard status == 0 else { throw BenchFault("a process ended with status \(status): \(text)") }
    return Report(cpuSeconds: seconds(usage.ru_utime) + seconds(usage.ru_stime), output: text)
  }

  /// Ends it, whatever it does.
  func stop(by signal: Int32 = SIGTERM) {
    kill(pid, signal)
    close(output)
    var status: Int32 = 0
    while waitpid(pid, &status, 0) < 0, errno == EINTR {}
  }
}

private func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }

/// By a clock that nobody sets.
func monotonicSeconds() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// The file that we run from.
let ownPath: String = {
  var buffer = [CChar](repeating: 0, count: 4096)
  #if os(Linux)
    let count = readlink("/proc/self/exe", &buffer, buffer.count)
    if count > 0 { return String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self) }
  #endif
  guard realpath(CommandLine.arguments[0], &buffer) != nil else { return CommandLine.arguments[0] }
  return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}()

/// The cores of the two sides: the last for the server, the one before for the client.
enum Core {
  private static let count = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
  static let server = count - 1
  static let client = max(0, count - 2)
}
