import Foundation
import Testing

@Suite("The binary as a person meets it")
struct CommandTests {
  @Test("help is told on standard output with status 0")
  func help() async throws {
    let help = try await BelfryProcess.run(["help"])
    #expect(help.status == 0)
    #expect(help.output.contains("belfry <command>"))
    #expect(help.errors.isEmpty)
  }

  @Test("a wrong word is told on standard error with status 2")
  func wrongWord() async throws {
    let answer = try await BelfryProcess.run(["sevre"])
    #expect(answer.status == 2)
    #expect(answer.errors.contains("did you mean 'serve'?"))
    #expect(answer.output.isEmpty)
  }

  @Test("output that is no terminal has no colour")
  func colour() async throws {
    let answer = try await BelfryProcess.run(["lint", "-"], input: #"{"aps": {"badge": "1"}}"#)
    #expect(answer.status == 1)
    #expect(!answer.output.contains("\u{1B}"))
    #expect(answer.output.contains("badge"))
  }

  @Test("bash takes the completion script and completes from it")
  func bashCompletion() async throws {
    let script = try await BelfryProcess.run(["completion", "bash"])
    let words = [
      "-c",
      script.output + """

        COMP_WORDS=(belfry serve --ap); COMP_CWORD=2; _belfry; echo "${COMPREPLY[*]}"
        COMP_WORDS=(belfry app cr); COMP_CWORD=2; _belfry; echo "${COMPREPLY[*]}"
        COMP_WORDS=(belfry completion z); COMP_CWORD=2; _belfry; echo "${COMPREPLY[*]}"
        COMP_WORDS=(belfry serve --apns sand); COMP_CWORD=3; _belfry; echo "${COMPREPLY[*]}"
        """,
    ]
    let (status, output) = try await ForeignProgram.run("/bin/bash", words)
    #expect(status == 0)
    #expect(output == "--apns --apns-manage\ncreate\nzsh\nsandbox\n")
  }

  @Test("output that a full disk does not take is told and fails; a reader that has seen enough is no fault")
  func lostOutput() throws {
    for (script, status) in [(#""$0" config 2>&1 >/dev/full"#, 1), (#""$0" help | true; exit ${PIPESTATUS[0]}"#, 0)] {
      let bash = Process()
      bash.executableURL = URL(filePath: "/bin/bash")
      bash.arguments = ["-c", script, BelfryProcess.binary.path]
      let pipe = Pipe()
      bash.standardOutput = pipe
      try bash.run()
      let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      bash.waitUntilExit()
      #expect(Int(bash.terminationStatus) == status)
      #expect(output == (status == 0 ? "" : "belfry: standard output took not all of it; is its disk full?\n"))
    }
  }

  @Test("started with its standard descriptors closed, it prints into nothing, not into its own sockets and files")
  func closedDescriptors() async throws {
    let folder = FileManager.default.temporaryDirectory.path + "/belfry-closed-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let words = [
      "-c",
      """
      "$0" serve --apns simulator --listen 127.0.0.1:0 --data "$1" <&- >&- 2>&- & pid=$!
      for _ in {1..200}; do [ -e "$1/apns/simulator.sqlite" ] && break; sleep 0.05; done
      readlink /proc/$pid/fd/{0,1,2}; kill $pid; wait $pid
      """, BelfryProcess.binary.path, folder,
    ]
    let (_, output) = try await ForeignProgram.run("/bin/bash", words)
    #expect(output == String(repeating: "/dev/null\n", count: 3))
  }
}
