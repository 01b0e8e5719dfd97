import PushPayload

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// `belfry-bench [NAME…] [--quick] [--json]`: see docs/benchmarks.md. It also runs itself as the measured process:
/// `belfry-bench send …` is a client and nothing else, `belfry-bench simulate …` a server and nothing else, and
/// `belfry-bench broadcast …` a lab of phones, and `belfry-bench subscribe …` connections that wait for messages.
@main
enum Program {
  // The first thread waits: an asynchronous `main` would end it, which valgrind does not survive.
  static func main() {
    let words = Array(CommandLine.arguments.dropFirst())
    Task.detached {
      do {
        switch words.first {
        case "send": try await sendProcess(Words(words.dropFirst()))
        case "simulate": try await simulateProcess(Words(words.dropFirst()))
        case "subscribe": try subscribeProcess(Words(words.dropFirst()))
        case "broadcast": try await broadcastProcess(Words(words.dropFirst()))
        default: try await measure(words)
        }
        exit(0)
      } catch {
        say("belfry-bench: \(error)")
        exit(error is UsageFault ? 2 : 1)
      }
    }
    while true { pause() }
  }

  private static func measure(_ words: [String]) async throws {
    let flags = words.filter { $0.hasPrefix("-") }
    let known = benchmarks.map(\.name).joined(separator: ", ")
    if let wrong = flags.first(where: { !["--quick", "--json"].contains($0) }) {
      throw UsageFault("'\(wrong)' is not known, only --quick and --json")
    }
    let names = words.filter { !$0.hasPrefix("-") }.map { $0.lowercased() }
    let chosen = try names.map { name in
      guard let benchmark = benchmarks.first(where: { $0.name == name }) else {
        throw UsageFault("'\(name)' is not measured by this version, but \(known) (docs/benchmarks.md)")
      }
      return benchmark
    }
    let setting = Setting(isQuick: flags.contains("--quick"))
    var figures: [Figure] = []
    for benchmark in chosen.isEmpty ? benchmarks : chosen {
      say("belfry-bench: measuring \(benchmark.name)")
      figures += try await benchmark.run(setting)
    }
    let text = table([Figure.columns] + figures.map(\.row))
    if flags.contains("--json") {
      say(text)
      print(JSONValue.array(figures.map(\.json)).text)
    } else {
      print(text)
    }
  }
}

struct Benchmark: Sendable {
  var name: String
  var run: @Sendable (Setting) async throws -> [Figure]
}

/// In the order in which they run.
private let benchmarks = [
  Benchmark(name: "b1", run: senderBenchmark),
  Benchmark(name: "python", run: pythonBenchmark),
  Benchmark(name: "roundtrip", run: roundTripBenchmark),
  Benchmark(name: "memory", run: memoryBenchmark),
  Benchmark(name: "b2", run: simulatorBenchmark),
  Benchmark(name: "import", run: importBenchmark),
  Benchmark(name: "b3", run: campaignBenchmark),
  Benchmark(name: "b4", run: audienceBenchmark),
  Benchmark(name: "gateway", run: gatewayBenchmark),
  Benchmark(name: "b6", run: payloadBenchmark),
  Benchmark(name: "b7", run: acceptanceBenchmark),
  Benchmark(name: "phone") { try phoneBenchmark($0) + broadcastBenchmark($0) },
]

/// What cannot be measured here, and why.
struct BenchFault: Error, CustomStringConvertible {
  var description: String
  init(_ description: String) { self.description = description }
}

struct UsageFault: Error, CustomStringConvertible {
  var description: String
  init(_ description: String) { self.description = description }
}

/// The words of a process of ours: `--name value` pairs.
struct Words {
  private var values: [String: String] = [:]

  init(_ words: ArraySlice<String>) {
    var words = words
    while let name = words.popFirst(), let value = words.popFirst() { values[name] = value }
  }

  func text(_ name: String) throws -> String {
    guard let value = values["--\(name)"] else { throw UsageFault("--\(name) is missing") }
    return value
  }

  func number(_ name: String) throws -> Int {
    guard let number = Int(try text(name)) else { throw UsageFault("--\(name) takes a number") }
    return number
  }
}

/// To people; results go to standard output.
func say(_ words: String) {
  var text = words + "\n"
  text.withUTF8 { bytes in _ = write(2, bytes.baseAddress, bytes.count) }
}
