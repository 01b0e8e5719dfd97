import APNSSimulator
import Basics
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

  /// Closes the world.
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
    let story = """
      {"pace":"0s","app":{},"steps":[
        {"service":{"notification":{"ios":{"alert":"one","badge":"+1"}}},"expect":{"shown":["BCN"],"badge":1}}]}
      """
    let result = try await Self.withService { service, apns, app in
      let door = ServiceDoor.running(service, key: app.appKey, secret: app.masterSecret)
      return try await Self.play(story, in: try await LiveWorld(apns: apns, service: door))
    }
    #expect(result.passed, "\(result.text())")
  }

  /// With the addresses of a running service and of its simulated APNs, and an app that is there.
  private static func withService(
    _ play: (_ service: String, _ apns: String, _ app: NewApp) async throws -> ScenarioResult
  ) async throws -> ScenarioResult {
    let folder = try Files.temporaryFolder("live-scenario")
    defer { Files.remove(folder) }
    var parsed = ParsedCommand()
    parsed.values = ["listen": ["127.0.0.1:0"], "data": [folder]]
    let configuration = try ServeConfiguration(parsed, environment: [:], standardData: folder)
    let log = ServiceLog(clock: SystemClock(), isVerbose: false, write: { _ in })
    let host = try await ServiceHost.start(configuration, log: log)
    let control = try #require(host.simulator?.controlEndpoint)
    let app = try await host.service.createApp(bundleID: "com.example.app", name: nil)
    let result = try await play(host.address, "http://\(control)", app)
    await host.stop()
    return result
  }

  /// Stories in which something comes that must never come, or stays away that must come: each fails.
  static let untrue = [
    #"{"push":{"aps":{"alert":"Hello"}},"expect":{"never":["shown"]}}"#,
    #"{"push":{"aps":{"content-available":1}},"expect":{"never":["arrived"]}}"#,
    #"{"push":{"aps":{"alert":"Hello"}},"expires":"0s","expect":{"shown":[]}}"#,
    #"{"push":{"aps":{"alert":"Hello"}},"expect":{"centre":[]}}"#,
  ]

  @Test("never is looked at when nothing can come any more: what came fails it, each time", arguments: untrue)
  func never(step: String) async throws {
    let simulator = try await APNSSimulator.start()
    let control = try #require(simulator.controlEndpoint)
    for _ in 1...5 {
      let world = try await LiveWorld(apns: "http://\(control)", service: nil, patience: .milliseconds(1))
      let result = try await Self.play(#"{"app":{},"steps":[\#(step)]}"#, in: world)
      #expect(result.failures.count == 1, "\(result.text())")
    }
    await simulator.stop()
  }

  @Test("an app that hands its token to nobody is ready at once")
  func idle() async throws {
    let simulator = try await APNSSimulator.start()
    let control = try #require(simulator.controlEndpoint)
    let world = try await LiveWorld(apns: "http://\(control)", service: nil)
    let begin = SystemClock().uptime
    let story = """
      {"app":{"script":{"didBecomeActive":[{"setBadge":0}]}},"steps":[{"launch":true,"expect":{"token":false}}]}
      """
    let result = try await Self.play(story, in: world)
    #expect(result.passed, "\(result.text())")
    #expect(SystemClock().uptime - begin < world.patience)
    await simulator.stop()
  }

  /// What only APNs knows, and the phone hears by its courier.
  static let fates = [
    (
      "D-047 notifications turned off: APNs takes alerts and drops them, until they are on again",
      """
      {"phone":{"deniedDropsAlertAtAPNs":true},"app":{},"steps":[
        {"userSettings":{"allowed":false}},
        {"push":{"aps":{"alert":"x","content-available":1}},"expect":{"answer":200,"shown":[],"never":["arrived"],
          "contains":[{"what":"withheld","rule":"D-047"}]}},
        {"userSettings":{"allowed":true}},
        {"push":{"aps":{"alert":"y"}},"expect":{"shown":["BC"]}}]}
      """
    ),
    (
      "D-349 what becomes of pushes for a phone without network",
      """
      {"app":{},"steps":["offline",
        {"push":{"aps":{"alert":"one"}},"expect":{"contains":[{"what":"withheld","rule":"D-349"}]}},
        {"push":{"aps":{"alert":"two"}},"expect":{"contains":[{"text":"replaced"}]}},
        {"push":{"aps":{"alert":"three"}},"expires":"0s","expect":{"contains":[{"text":"expired"}]}},
        {"online":true,"expect":{"shown":[{"body":"two"}]}}]}
      """
    ),
    (
      "D-046 a renewed token: the former one has had its time, and the new one reaches",
      """
      {"app":{},"steps":[{"renewTokens":true},
        {"push":{"aps":{"alert":"by the old"}},"formerToken":true,"expect":{"answer":200,"never":["arrived"]}},
        {"wait":"20ms"},
        {"push":{"aps":{"alert":"by the old"}},"formerToken":true,
          "expect":{"answer":{"status":410,"reason":"ExpiredToken"}}},
        {"push":{"aps":{"alert":"by the new"}},"expect":{"shown":["BC"]}}]}
      """
    ),
    (
      "D-044 D-045 offloaded and restored: each former token is dead, the present one is not",
      """
      {"app":{"start":"notRunning"},"steps":[
        {"offload":true,"expect":{"token":false}},
        {"push":{"aps":{"alert":"x"}},"formerToken":true,"expect":{"answer":200,"shown":[]}},
        {"wait":"20ms"},
        {"push":{"aps":{"alert":"x"}},"formerToken":true,"expect":{"answer":{"status":410,"reason":"Unregistered"}}},
        "reinstallOffloaded",{"launch":true,"expect":{"token":true}},"home",
        {"push":{"aps":{"alert":"back"}},"expect":{"shown":["BC"]}},
        {"restoreFromBackup":"samePhone"},"unlock",
        {"push":{"aps":{"alert":"x"}},"formerToken":true,"expect":{"answer":200,"shown":[]}},
        {"wait":"20ms"},
        {"push":{"aps":{"alert":"x"}},"formerToken":true,"expect":{"answer":{"status":410}}},
        {"launch":true,"expect":{"token":true}},"home",
        {"push":{"aps":{"alert":"restored"}},"expect":{"answer":200}}]}
      """
    ),
  ]

  @Test("the same against a running simulator and in virtual time", arguments: fates)
  func fate(name: String, story: String) async throws {
    var configuration = APNSSimulator.Configuration()
    configuration.goneDelay = .milliseconds(0) ... .milliseconds(1)
    let simulator = try await APNSSimulator.start(configuration)
    let control = try #require(simulator.controlEndpoint)
    let live = try await Self.play(story, in: LiveWorld(apns: "http://\(control)", service: nil))
    #expect(live.passed, "\(name): \(live.text())")
    await simulator.stop()
    let start = Instant(seconds: 1_796_029_200)
    let slow = story.replacing(#""20ms""#, with: #""11s""#)
    let virtual = try await Self.play(slow, in: try await VirtualWorld(start: start))
    #expect(virtual.passed, "\(name): \(virtual.text())")
  }

  /// Those that name no reason against it.
  static let examples = ScenarioCommandTests.examples.filter { path in
    (try? readScenario(path))?.onlyVirtual == nil
  }

  @Test("the examples of docs/examples pass against a running simulator and service", arguments: examples)
  func example(path: String) async throws {
    let result = try await Self.withService { service, apns, app in
      var parsed = ParsedCommand()
      parsed.values = [
        "apns": [apns], "service": [service], "app-key": [app.appKey], "master-secret": [app.masterSecret],
      ]
      return try await ScenarioWorlds(parsed).play(readScenario(path))
    }
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
