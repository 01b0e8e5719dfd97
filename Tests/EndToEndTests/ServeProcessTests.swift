import Basics
import Foundation
import HTTPClient
import Testing

/// A simulated APNs and a push service as two processes, joined by a configuration file as a user writes it.
private final class Scene: Sendable {
  static let bundle = "com.example.app"
  let folder: TemporaryFolder
  let apns: BelfryProcess
  let control: String
  let configuration: String
  let appKey: String
  let masterSecret: String
  let client = HTTPClient()

  var data: String { folder.path + "/service" }

  init() async throws {
    folder = try TemporaryFolder()
    apns = try BelfryProcess([
      "apns", "--listen", "127.0.0.1:0", "--control", "127.0.0.1:0", "--proxy", "127.0.0.1:0", "--data",
      folder.path + "/apns", "--quiet",
    ])
    let places = try await apns.event("listening")
    control = try #require(places["control"])
    configuration = folder.path + "/belfry.json5"
    let text = """
      { // as a user writes it
        listen: '127.0.0.1:0', data: 'service', apns: '\(try #require(places["apns"]))',
        trust: '\(try #require(places["ca"]))',
        credentials: [{ bundle: '\(Self.bundle)', key: '\(try #require(places["key"]))',
          keyID: '\(try #require(places["keyId"]))', teamID: '\(try #require(places["teamId"]))' }],
      }
      """
    try Data(text.utf8).write(to: URL(filePath: configuration))
    let created = try await BelfryProcess.run([
      "app", "create", "--bundle", Self.bundle, "--data", folder.path + "/service", "--json",
    ])
    let app = try #require(
      try JSONSerialization.jsonObject(with: Data(created.output.utf8)) as? [String: String], "\(created.errors)")
    appKey = try #require(app["appKey"])
    masterSecret = try #require(app["masterSecret"])
  }

  func serve(_ more: [String] = []) async throws -> (process: BelfryProcess, api: String) {
    let process = try BelfryProcess(["serve", "--config", configuration] + more)
    return (process, try #require(try await process.event("listening")["api"]))
  }

  func post(
    _ url: String, _ body: [String: Any], signed: Bool = false, over line: HTTPClient? = nil
  ) async throws -> (Int, [String: Any]) {
    let answer = try await (line ?? client).call(
      "POST", url, headers: ["Content-Type": "application/json"], basic: signed ? (appKey, masterSecret) : nil,
      body: [UInt8](try JSONSerialization.data(withJSONObject: body)))
    return (answer.status, (try? JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any]) ?? [:])
  }

  /// A phone's app: a token from the simulated APNs, given to the service.
  func register(
    _ device: String, at api: String, over line: HTTPClient? = nil
  ) async throws -> (token: String, id: String) {
    let (_, issued) = try await post(control + "/devices", ["device": device, "bundle": Self.bundle], over: line)
    let token = try #require(issued["token"] as? String)
    let (status, answer) = try await post(
      api + "/device/v1/registrations", ["appKey": appKey, "token": token, "environment": "sandbox"], over: line)
    #expect(status == 200, "\(answer)")
    return (token, try #require(answer["registrationId"] as? String))
  }

  /// Many phones, a few at a time.
  func register(count: Int, at api: String) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for lane in 0..<8 {
        group.addTask {
          let line = HTTPClient()
          for number in stride(from: lane, to: count, by: 8) {
            _ = try await self.register("phone-\(number)", at: api, over: line)
          }
        }
      }
      try await group.waitForAll()
    }
  }

  func push(_ audience: Any, at api: String) async throws -> String {
    let (status, answer) = try await post(
      api + "/v3/push",
      [
        "platform": "all", "audience": audience, "notification": ["alert": "Ring"],
        "options": ["apns_production": false],
      ], signed: true)
    #expect(status == 200, "\(answer)")
    return try #require(answer["msg_id"] as? String)
  }

  func report(_ message: String, at api: String) async throws -> [String: Any] {
    let answer = try await client.call("GET", api + "/v1/pushes/\(message)", basic: (appKey, masterSecret))
    return try #require(try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any])
  }

  func finished(_ message: String, at api: String, within seconds: Double = 60) async throws -> [String: Any] {
    let deadline = Date().addingTimeInterval(seconds)
    while true {
      let report = try await report(message, at: api)
      if report["state"] as? String == "finished" { return report }
      guard Date() < deadline else { throw ProcessFault(words: "not finished after \(seconds) s: \(report)") }
      try await Task.sleep(nanoseconds: 20_000_000)
    }
  }

  /// The rules of docs/faults.md in force from now on.
  func setFaults(_ rules: String) async throws {
    let answer = try await client.call("PUT", control + "/faults", body: Array(#"{"faults":[\#(rules)]}"#.utf8))
    #expect(answer.status == 200, "\(String(decoding: answer.body, as: UTF8.self))")
  }

  func received(atMost count: Int = 100_000) async throws -> [[String: Any]] {
    let answer = try await client.call("GET", control + "/notifications?count=\(count)")
    let object = try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any]
    return try #require(object?["notifications"] as? [[String: Any]])
  }
}

@Suite("The service as a process", .serialized)
struct ServeProcessTests {
  @Test("a push goes from REST over TLS and HTTP/2 to the simulated APNs, and SIGTERM ends the service in order")
  func onePush() async throws {
    let scene = try await Scene()
    let (service, api) = try await scene.serve()
    let (token, id) = try await scene.register("phone", at: api)
    let message = try await scene.push(["registration_id": [id]], at: api)
    let report = try await scene.finished(message, at: api)
    #expect(report["accepted"] as? Int == 1)
    let received = try await scene.received()
    #expect(received.count == 1)
    #expect(received.first?["token"] as? String == token)
    service.signal(SIGTERM)
    #expect(try await service.end() == 0)
    #expect(service.errorOutput.isEmpty)
  }

  @Test("C05 kill -9 in the middle of a broadcast: after the restart it ends, each device once on a screen")
  func killed() async throws {
    let scene = try await Scene()
    let count = 6_000
    var (service, api) = try await scene.serve()
    try await scene.register(count: count, at: api)
    let message = try await scene.push("all", at: api)
    // In the middle: some have reached APNs, not all.
    var seen = 0
    while seen == 0 { seen = try await scene.received(atMost: 1).count }
    service.signal(SIGKILL)
    #expect(try await service.end() == -SIGKILL)
    #expect(try await scene.received().count < count, "the kill came too late to be in the middle")

    (service, api) = try await scene.serve()
    let report = try await scene.finished(message, at: api)
    #expect(report["targeted"] as? Int == count)
    #expect(report["accepted"] as? Int == count)
    let received = try await scene.received()
    let tokens = Set(received.compactMap { $0["token"] as? String })
    #expect(tokens.count == count)
    // What was in flight may come twice, but with the id and collapse id of the first time: a phone replaces it.
    let shown = Set(received.map { "\($0["token"] ?? "") \($0["collapseId"] ?? $0["collapse_id"] ?? "none")" })
    #expect(shown.count == count)
    #expect(!shown.contains { $0.hasSuffix("none") })
    let ids = Set(received.map { "\($0["token"] ?? "") \($0["id"] ?? "")" })
    #expect(ids.count == count)
    service.signal(SIGTERM)
    #expect(try await service.end() == 0)
  }

  @Test("C26 a refused key: that app's pushes wait and the log says why; mended and SIGHUP, all that waited goes out")
  func resumes() async throws {
    let scene = try await Scene()
    let (service, api) = try await scene.serve()
    let (_, id) = try await scene.register("phone", at: api)
    try await scene.setFaults(#"{"action":{"refuse":"InvalidProviderToken"}}"#)
    let message = try await scene.push(["registration_id": [id]], at: api)
    try await service.complaint(#""event":"sending_held""#)
    #expect(service.errorOutput.contains("InvalidProviderToken"), "\(service.errorOutput)")
    #expect(try await scene.report(message, at: api)["state"] as? String != "finished")
    try await scene.setFaults("")
    service.signal(SIGHUP)
    #expect(try await scene.finished(message, at: api)["accepted"] as? Int == 1)
    #expect(try await scene.received().count == 1)
    service.signal(SIGTERM)
    #expect(try await service.end() == 0)
  }

  @Test("an app made beside the running service is known to it at once")
  func appBeside() async throws {
    let scene = try await Scene()
    let (service, api) = try await scene.serve()
    let created = try await BelfryProcess.run([
      "app", "create", "--bundle", "com.example.other", "--data", scene.data, "--json",
    ])
    #expect(created.status == 0, "\(created.errors)")
    let app = try #require(
      try JSONSerialization.jsonObject(with: Data(created.output.utf8)) as? [String: String])
    let answer = try await scene.client.call(
      "GET", api + "/v3/devices/0000000000000000000",
      basic: (try #require(app["appKey"]), try #require(app["masterSecret"])))
    // Known, so the fault is the device (7002), not the credentials (7004).
    #expect(String(decoding: answer.body, as: UTF8.self).contains("7002"))
    service.signal(SIGTERM)
    #expect(try await service.end() == 0)
  }

  @Test("a port in use, a folder that cannot be and a second service on one folder are told, with status 1")
  func cannotStart() async throws {
    let scene = try await Scene()
    let (service, api) = try await scene.serve()
    let port = try #require(api.split(separator: ":").last)

    let taken = try await BelfryProcess.run([
      "serve", "--config", scene.configuration, "--listen", "127.0.0.1:\(port)", "--data", scene.folder.path + "/two",
    ])
    #expect(taken.status == 1)
    #expect(taken.errors.contains("127.0.0.1:\(port)"), "\(taken.errors)")

    let nowhere = try await BelfryProcess.run([
      "serve", "--config", scene.configuration, "--data", scene.configuration + "/below-a-file",
    ])
    #expect(nowhere.status == 1)
    #expect(nowhere.errors.contains("below-a-file"), "\(nowhere.errors)")

    let second = try await BelfryProcess.run(["serve", "--config", scene.configuration, "--listen", "127.0.0.1:0"])
    #expect(second.status == 1)
    #expect(second.errors.contains("in use"), "\(second.errors)")

    service.signal(SIGTERM)
    #expect(try await service.end() == 0)
  }

  @Test("no secret, token or payload text is in what the service prints, even when verbose")
  func silence() async throws {
    let scene = try await Scene()
    let (service, api) = try await scene.serve(["--verbose"])
    let (token, id) = try await scene.register("phone", at: api)
    _ = try await scene.finished(try await scene.push(["registration_id": [id]], at: api), at: api)
    service.signal(SIGTERM)
    #expect(try await service.end() == 0)
    let printed = service.output + service.errorOutput
    #expect(printed.contains("push accepted"))
    for secret in [scene.masterSecret, token, "Ring", "bearer", "eyJ"] { #expect(!printed.contains(secret)) }
  }

  @Test("a signal right after the line that says listening ends the service in order", arguments: 0..<5)
  func earlySignal(round: Int) async throws {
    let scene = try await Scene()
    let (service, _) = try await scene.serve()
    service.signal(round % 2 == 0 ? SIGTERM : SIGINT)
    #expect(try await service.end() == 0)
  }

  @Test("the demo, once: every step as the seeds say")
  func demo() async throws {
    let demo = try await BelfryProcess.run(["serve", "--demo", "--once"])
    #expect(demo.status == 0, "\(demo.errors)")
    #expect(demo.output.contains(/\n[0-9]+ passed, 0 failed\n/))
    #expect(demo.output.contains("iphone-ios6, iOS 6.1 (G1)"))
  }
}
