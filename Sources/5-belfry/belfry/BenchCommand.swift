import PushPayload

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

let benchCommand = Command(
  name: "bench",
  summary: "Measure what docs/benchmarks.md promises, each against a peer in the same run",
  arguments: [
    .init(
      name: "NAME", help: "\(allBenchmarks.map(\.id).joined(separator: ", ")); without one, all", repeats: true,
      optional: true, completion: .words(allBenchmarks.map(\.id)))
  ],
  options: [
    .flag("quick", "Under 30 seconds each: fewer and shorter runs"),
    .flag("json", "Print an array of results"),
  ],
  hidden: true,
  run: { parsed in
    let chosen = try parsed.arguments.map { name in
      guard let benchmark = allBenchmarks.first(where: { $0.id == name.lowercased() }) else {
        let known = allBenchmarks.map(\.id).joined(separator: ", ")
        throw UsageFault("'\(name)' is not measured by this version, but \(known) (docs/benchmarks.md)")
      }
      return benchmark
    }
    var results: [BenchmarkResult] = []
    for benchmark in chosen.isEmpty ? allBenchmarks : chosen {
      results += try await benchmark.run(parsed.flag("quick"))
    }
    if parsed.flag("json") {
      Terminal.print(JSONValue.array(results.map(\.json)).text)
    } else {
      for result in results { Terminal.print(result.line) }
    }
    return .success
  })

/// In the order of their names; each in a file of its own, `Bench<Name>.swift`.
let allBenchmarks: [Benchmark] = [
  payloadBenchmark
]

struct Benchmark: Sendable {
  /// `b1` … `b7`, as docs/benchmarks.md lists them.
  var id: String
  /// Takes whether it must be quick.
  var run: @Sendable (Bool) async throws -> [BenchmarkResult]
}

/// One measured number beside what a peer reached in the same run; medians, so that one slow run does not count.
struct BenchmarkResult: Sendable {
  var id: String
  var what: String
  var value: Double
  var unit: String
  var peer: String
  var peerValue: Double
  var runs: Int

  /// Ours by the peer's.
  var ratio: Double { value / peerValue }

  var json: JSONValue {
    [
      "id": .string(id), "what": .string(what), "value": number(value), "unit": .string(unit), "peer": .string(peer),
      "peer_value": number(peerValue), "ratio": number(ratio), "runs": .number(JSONNumber(runs)),
    ]
  }

  var line: String {
    "\(id)  \(what): \(rounded(value)) \(unit); \(peer): \(rounded(peerValue)); ratio \(rounded(ratio)); \(runs) runs"
  }

  private func number(_ value: Double) -> JSONValue { JSONNumber(value).map(JSONValue.number) ?? .null }

  /// Three significant places below a thousand, whole numbers above.
  private func rounded(_ value: Double) -> String {
    if value.isFinite, value.magnitude >= 1000, value.magnitude < 1e18 { return String(Int64(value)) }
    let scaled = (value * 100).rounded() / 100
    return String(scaled)
  }
}

/// How often `body` runs in a second of one core: counted by the calling thread's own time on the processor, so that what
/// else the machine does takes little part. The clock is read between batches, not between runs.
func ratePerCore(of batch: Int, for seconds: Double, _ body: () -> Void) -> Double {
  let start = threadSeconds()
  var done = 0
  var passed = 0.0
  repeat {
    for _ in 0..<batch { body() }
    done += batch
    passed = threadSeconds() - start
  } while passed < seconds
  return Double(done) / passed
}

private func threadSeconds() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

func median(_ values: [Double]) -> Double {
  let sorted = values.sorted()
  guard !sorted.isEmpty else { return .nan }
  return (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
}
