import Foundation

/// A program of the system, run to its end.
///
/// On a thread of its own: Swift's pool has a thread a core, and one that waits for a process is missing to every other
/// test; two that wait on a machine of two cores stop them all.
enum ForeignProgram {
  /// Answers the exit status and what was written to both outputs together; ends a program that takes longer than
  /// `seconds`.
  static func run(
    _ program: String, _ words: [String], input: String = "", within seconds: Double = 60
  ) async throws -> (status: Int32, output: String) {
    try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread {
        continuation.resume(with: Result { try runHere(program, words, input: input, within: seconds) })
      }
    }
  }

  private static func runHere(
    _ program: String, _ words: [String], input: String, within seconds: Double
  ) throws -> (status: Int32, output: String) {
    let process = Process()
    process.executableURL = URL(filePath: program)
    process.arguments = words
    let (output, stdin) = (Pipe(), Pipe())
    process.standardOutput = output
    process.standardError = output
    process.standardInput = stdin
    try process.run()
    let id = process.processIdentifier
    let guardian = DispatchWorkItem { kill(id, SIGTERM) }
    DispatchQueue.global().asyncAfter(deadline: .now() + seconds, execute: guardian)
    try stdin.fileHandleForWriting.write(contentsOf: Data(input.utf8))
    try stdin.fileHandleForWriting.close()
    let said = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guardian.cancel()
    return (process.terminationStatus, String(decoding: said, as: UTF8.self))
  }
}
