import Foundation
import HTTPClient
import Testing

/// A notification and a message of one push, on simulated phones whose apps use BelfryKit, against running processes.
@Suite("The pair of notification and message", .timeLimit(.minutes(3)))
struct PairScenarioTests {
  private static let file = ExampleTests.root.appending(path: "Examples/scenarios/chat-pair.json5").path()

  @Test("D-303 … D-306, D-325, D-326: in front, behind, not running, and with the network cut in between")
  func pair() async throws {
    let scene = try await ServiceScene()
    let (serve, api) = try await scene.serve(["--gateway", "127.0.0.1:0"])
    let gateway = try #require(try await serve.event("listening")["gateway"])
    let played = try await BelfryProcess.run(
      ["scenario", Self.file, "--apns", scene.control, "--service", api, "--gateway", gateway],
      environment: ["BELFRY_APP_KEY": scene.appKey, "BELFRY_MASTER_SECRET": scene.masterSecret])
    #expect(played.status == 0, "\(played.output)\n\(played.errors)")
    serve.signal(SIGTERM)
    #expect(try await serve.end() == 0)
  }

  @Test("'--gateway' without a service, and an address that is none, are told")
  func usage() async throws {
    let alone = try await BelfryProcess.run([
      "scenario", Self.file, "--apns", "http://127.0.0.1:1", "--gateway", "ws://a",
    ])
    #expect(alone.status == 2 && alone.errors.contains("--service"), "\(alone.errors)")
  }
}
