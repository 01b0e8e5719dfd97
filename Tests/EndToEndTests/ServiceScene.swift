import Basics
import Foundation
import HTTPClient
import Testing

/// A simulated APNs and a push service as two processes, joined by a configuration file as a user writes it.
final class ServiceScene: Sendable {
  static let bundle = "com.example.app"
  let folder: TemporaryFolder
  let apns: BelfryProcess
  /// Where the simulated APNs is, and its key.
  let places: [String: String]
  let control: String
  let configuration: String
  let appKey: String
  let masterSecret: String
  let client = HTTPClient()

  var data: String { folder.path + "/service" }

  /// - Parameter hasCredential: whether the configuration names the key that the simulated APNs takes.
  init(hasCredential: Bool = true) async throws {
    folder = try TemporaryFolder()
    apns = try BelfryProcess([
      "apns", "--listen", "127.0.0.1:0", "--control", "127.0.0.1:0", "--proxy", "127.0.0.1:0", "--data",
      folder.path + "/apns", "--quiet",
    ])
    places = try await apns.event("listening")
    control = try #require(places["control"])
    configuration = folder.path + "/belfry.json5"
    let credentials = """
      credentials: [{ bundle: '\(Self.bundle)', key: '\(try #require(places["key"]))',
          keyID: '\(try #require(places["keyId"]))', teamID: '\(try #require(places["teamId"]))' }],
      """
    let text = """
      { // as a user writes it
        listen: '127.0.0.1:0', data: 'service', apns: '\(try #require(places["apns"]))',
        trust: '\(try #require(places["ca"]))',
        \(hasCredential ? credentials : "")
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
    try await call("POST", url, body, secret: signed ? masterSecret : nil, over: line)
  }

  /// - Parameter secret: the app's, with which the call is signed; nil: it is not.
  func call(
    _ method: String, _ url: String, _ body: [String: Any]? = nil, secret: String?, over line: HTTPClient? = nil
  ) async throws -> (Int, [String: Any]) {
    let bytes = try body.map { [UInt8](try JSONSerialization.data(withJSONObject: $0)) }
    let answer = try await (line ?? client).call(
      method, url, headers: ["Content-Type": "application/json"], basic: secret.map { (appKey, $0) }, body: bytes)
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

  func waitUntil(_ what: String, within seconds: Double = 30, _ holds: () async throws -> Bool) async throws {
    let deadline = Date().addingTimeInterval(seconds)
    while try await !holds() {
      guard Date() < deadline else { throw ProcessFault(words: "not in \(seconds) s: \(what)") }
      try await Task.sleep(nanoseconds: 20_000_000)
    }
  }
}
