import APNSSimulator
import PhoneLab
import PushPayload
import PushService
import Testing
import Transport

@testable import belfry

@Suite("Scenarios against running servers")
struct LiveScenarioTests {
  static let story = """
    {"pace":"0s","phones":{"one":{"ios":"9.3"},"two":{}},"app":{"environment":"development"},"steps":[
      {"push":{"aps":{"alert":"Hello","content-available":1},"n":9007199254740993},"name":"hello","expect":{
        "shown":["BC"],"callbacks":["DRF(B)"],"centre":["hello"],
        "contains":[{"callback":{"method":"DRF","userInfo":{"n":9007199254740993}}}]}},
      "offline",
      {"push":{"aps":{"alert":"later"}},"on":"two","expect":{"never":["arrived"]}},
      {"online":true,"expect":{"on":"two","shown":[{"body":"later"}]}}]}
    """

  static func play(_ text: String, in world: some ScenarioWorld) async throws -> ScenarioResult {
    let scenario = try Scenario(
      JSONReader.read(Array(text.utf8)).value, name: "live", sources: ScenarioSources { _ in [] })
    let result = await scenario.run(in: world)
    await world.close()
    return result
  }

  @Test("phones register at a running simulator, and pushes go there by TLS and HTTP/2")
  func apns() async throws {
    let simulator = try await APNSSimulator.start()
    let control = try #require(simulator.controlEndpoint)
    let world = try await LiveWorld(apns: "http://\(control)", service: nil)
    let result = try await Self.play(Self.story, in: world)
    let logged = simulator.notifications
    await simulator.stop()
    #expect(result.passed, "\(result.text())")
    #expect(logged.map(\.device) == ["one", "two", "two"])
  }

  @Test("a running service takes the tokens, and its pushes reach the phones")
  func service() async throws {
    let folder = try Files.temporaryFolder("live-scenario")
    defer { Files.remove(folder) }
    var parsed = ParsedCommand()
    parsed.values = ["listen": ["127.0.0.1:0"], "data": [folder]]
    let configuration = try ServeConfiguration(parsed, environment: [:], standardData: folder)
    let log = ServiceLog(clock: SystemClock(), isVerbose: false, write: { _ in })
    let host = try await ServiceHost.start(configuration, log: log)
    let control = try #require(host.simulator?.controlEndpoint)
    let app = try await host.service.createApp(bundleID: "com.example.app", name: nil)
    let world = try await LiveWorld(
      apns: "http://\(control)",
      service: ServiceDoor.running(host.address, key: app.appKey, secret: app.masterSecret))
    let story = """
      {"pace":"0s","app":{},"steps":[
        {"service":{"notification":{"ios":{"alert":"one","badge":"+1"}}},"expect":{"shown":["BCN"],"badge":1}}]}
      """
    let result = try await Self.play(story, in: world)
    await host.stop()
    #expect(result.passed, "\(result.text())")
  }

  /// Those that name no reason against it.
  static let examples = ScenarioCommandTests.examples.filter { path in
    (try? readScenario(path))?.onlyVirtual == nil
  }

  @Test("the examples of docs/examples pass against a running simulator and service", arguments: examples)
  func example(path: String) async throws {
    let folder = try Files.temporaryFolder("live-example")
    defer { Files.remove(folder) }
    var parsed = ParsedCommand()
    parsed.values = ["listen": ["127.0.0.1:0"], "data": [folder]]
    let configuration = try ServeConfiguration(parsed, environment: [:], standardData: folder)
    let log = ServiceLog(clock: SystemClock(), isVerbose: false, write: { _ in })
    let host = try await ServiceHost.start(configuration, log: log)
    let control = try #require(host.simulator?.controlEndpoint)
    let app = try await host.service.createApp(bundleID: "com.example.app", name: nil)
    parsed.values = [
      "apns": ["http://\(control)"], "service": [host.address], "app-key": [app.appKey],
      "master-secret": [app.masterSecret],
    ]
    let result = try await ScenarioWorlds(parsed).play(readScenario(path))
    await host.stop()
    #expect(result.passed && result.checks > 0, "\(result.text())")
  }

  @Test("what is no control API is told")
  func wrong() async throws {
    await #expect(throws: CommandFault.self) { try await LiveWorld(apns: "http://127.0.0.1:1", service: nil) }
    let parser = CommandLineParser(commands: [scenarioCommand], environment: [:])
    guard case .run(_, let parsed) = try parser.parse(["scenario", "x", "--service", "http://127.0.0.1:1"]) else {
      return
    }
    #expect(throws: UsageFault.self) { try ScenarioWorlds(parsed) }
  }
}
