#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The version told by `belfry --version` and by every server header; CHANGELOG.md says what is in it.
let belfryVersion = "0.1.0"

@main
struct Belfry {
  static func main() async {
    signal(SIGPIPE, SIG_IGN)
    fillStandardDescriptors()
    var status = await run(Array(CommandLine.arguments.dropFirst()))
    if Terminal.hasLostOutput {
      Terminal.complain("belfry: standard output took not all of it; is its disk full?")
      if status == .success { status = .failure }
    }
    exit(status.rawValue)
  }

  static func run(_ words: [String]) async -> ExitStatus {
    let parser = CommandLineParser(commands: allCommands, environment: processEnvironment())
    do {
      switch try parser.parse(words) {
      case .help(nil): Terminal.print(HelpWriter(commands: allCommands).overview())
      case .help(let command?): Terminal.print(HelpWriter(commands: allCommands).page(of: command))
      case .version: Terminal.print("belfry \(belfryVersion)")
      case .run(let command, let parsed): return try await command.run(parsed)
      }
      return .success
    } catch let fault as UsageFault {
      Terminal.complain("belfry: \(fault.words)\nTry '\(parser.help(on: words))'.")
      return .usage
    } catch let fault as CommandFault {
      Terminal.complain("belfry: \(fault.words)")
      return .failure
    } catch {
      Terminal.complain("belfry: \(error)")
      return .failure
    }
  }
}

/// Gives descriptors 0 to 2 that the starter closed to `/dev/null`: else the next socket or database gets such a number,
/// and what is printed goes into it.
func fillStandardDescriptors() {
  var descriptor: Int32
  repeat { descriptor = open("/dev/null", O_RDWR) } while 0...2 ~= descriptor
  if descriptor > 2 { close(descriptor) }
}

/// For commands that listen: has Dispatch open its descriptors for timers, one for each kind of clock, while there are
/// some left. It does so at the first sleep, and ends the process when it cannot, which a burst of connections could bring
/// about.
func openTimerDescriptors() async {
  try? await Task.sleep(for: .milliseconds(1), clock: .continuous)
  try? await Task.sleep(for: .milliseconds(1), clock: .suspending)
}

func processEnvironment() -> [String: String] {
  var variables: [String: String] = [:]
  var entry = environ
  while let text = entry.pointee {
    let parts = String(cString: text).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    if parts.count == 2 { variables[String(parts[0])] = String(parts[1]) }
    entry += 1
  }
  return variables
}
