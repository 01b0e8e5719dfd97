import Foundation
import Testing

/// One `belfry` as a process of its own, as a user starts it. Ended by `deinit` at the latest.
final class BelfryProcess: @unchecked Sendable {  // `lock` guards what the reading threads write
  private let process = Process()
  private let lock = NSLock()
  private var outputBytes: [UInt8] = []
  private var errorBytes: [UInt8] = []
  private var openPipes = 2

  /// The binary beside the running test bundle.
  static var binary: URL {
    URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().appending(path: "belfry")
  }

  /// - Parameter program: another one of those that are built beside the tests.
  init(
    _ words: [String], environment: [String: String] = [:], input: String? = nil, folder: URL? = nil,
    program: String = "belfry"
  ) throws {
    process.executableURL = Self.binary.deletingLastPathComponent().appending(path: program)
    process.arguments = words
    var variables = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("BELFRY_") }
    variables.merge(environment) { $1 }
    process.environment = variables
    process.currentDirectoryURL = folder
    let (output, error, stdin) = (Pipe(), Pipe(), Pipe())
    process.standardOutput = output
    process.standardError = error
    process.standardInput = stdin
    try process.run()
    follow(output, isError: false)
    follow(error, isError: true)
    if let input { try stdin.fileHandleForWriting.write(contentsOf: Data(input.utf8)) }
    try stdin.fileHandleForWriting.close()
  }

  deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

  /// On a thread of its own, since dispatch must not hear of a descriptor that is closed in the moment its pipe ends.
  private func follow(_ pipe: Pipe, isError: Bool) {
    Thread.detachNewThread { [weak self] in
      while true {
        let bytes = pipe.fileHandleForReading.availableData
        guard let self else { return }
        lock.withLock {
          if isError { errorBytes += bytes } else { outputBytes += bytes }
          if bytes.isEmpty { openPipes -= 1 }
        }
        if bytes.isEmpty { return }
      }
    }
  }

  var output: String { lock.withLock { String(decoding: outputBytes, as: UTF8.self) } }
  var errorOutput: String { lock.withLock { String(decoding: errorBytes, as: UTF8.self) } }
  var isRunning: Bool { process.isRunning }

  /// The JSON line of standard output with this `event`, waited for; fails when the process ends first.
  func event(_ name: String, within seconds: Double = 60) async throws -> [String: String] {
    let deadline = Date().addingTimeInterval(seconds)
    while Date() < deadline {
      for line in output.split(separator: "\n") where line.hasPrefix("{") {
        let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        if let object, object["event"] as? String == name { return object.compactMapValues { $0 as? String } }
      }
      if !process.isRunning { throw ProcessFault(words: "ended before '\(name)'\n\(output)\n\(errorOutput)") }
      try await Task.sleep(nanoseconds: 10_000_000)
    }
    throw ProcessFault(words: "no event '\(name)' in \(seconds) s\n\(output)\n\(errorOutput)")
  }

  /// Waits until standard error has said so.
  func complaint(_ words: String, within seconds: Double = 60) async throws {
    let deadline = Date().addingTimeInterval(seconds)
    while !errorOutput.contains(words) {
      if Date() > deadline { throw ProcessFault(words: "never said '\(words)'\n\(errorOutput)") }
      try await Task.sleep(nanoseconds: 10_000_000)
    }
  }

  func signal(_ number: Int32) { kill(process.processIdentifier, number) }

  /// Waits for the end and answers the exit status; a process ended by signal n answers −n.
  func end(within seconds: Double = 60) async throws -> Int32 {
    let deadline = Date().addingTimeInterval(seconds)
    while process.isRunning {
      if Date() > deadline { throw ProcessFault(words: "still runs after \(seconds) s\n\(output)\n\(errorOutput)") }
      try await Task.sleep(nanoseconds: 5_000_000)
    }
    // The pipes may hold the last words still; they end once those are read.
    while lock.withLock({ openPipes > 0 }) {
      if Date() > deadline { throw ProcessFault(words: "ended, and its output did not\n\(output)\n\(errorOutput)") }
      try await Task.sleep(nanoseconds: 1_000_000)
    }
    return process.terminationReason == .uncaughtSignal ? -process.terminationStatus : process.terminationStatus
  }

  /// Runs one command to its end.
  static func run(
    _ words: [String], environment: [String: String] = [:], input: String? = nil, folder: URL? = nil
  ) async throws -> (status: Int32, output: String, errors: String) {
    let process = try BelfryProcess(words, environment: environment, input: input, folder: folder)
    let status = try await process.end()
    return (status, process.output, process.errorOutput)
  }
}

struct ProcessFault: Error, CustomStringConvertible {
  var words: String
  var description: String { words }
}

/// A folder that goes with the test.
final class TemporaryFolder: Sendable {
  let url: URL
  var path: String { url.path() }

  init() throws {
    url = FileManager.default.temporaryDirectory.appending(path: "belfry-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }
}
