import Basics
import Foundation
import HTTPClient
import Testing

/// `belfry serve` with a gateway, as apps and app servers meet it.
@Suite("The gateway of belfry serve")
struct GatewayProcessTests {
  /// A service with one device. Answers its places and the device's credentials.
  private struct Scene {
    let folder: TemporaryFolder
    var process: BelfryProcess
    var api: String
    var gateway: String
    let key: String
    let secret: String
    var device = ""
    var deviceSecret = ""

    init() async throws {
      folder = try TemporaryFolder()
      let created = try await BelfryProcess.run([
        "app", "create", "--bundle", "com.example.app", "--data", folder.path, "--json",
      ])
      let app = try #require(
        try JSONSerialization.jsonObject(with: Data(created.output.utf8)) as? [String: String], "\(created.errors)")
      key = try #require(app["appKey"])
      secret = try #require(app["masterSecret"])
      (process, api, gateway) = try await Self.serve(folder)
      let (status, answer) = try await post(
        "/device/v1/registrations",
        ["appKey": key, "token": String(repeating: "ab", count: 32), "environment": "production"], signed: false)
      #expect(status == 200, "\(answer)")
      device = try #require(answer["registrationId"] as? String)
      deviceSecret = try #require(answer["deviceSecret"] as? String)
    }

    static func serve(_ folder: TemporaryFolder) async throws -> (BelfryProcess, String, String) {
      let process = try BelfryProcess([
        "serve", "--listen", "127.0.0.1:0", "--gateway", "127.0.0.1:0", "--data", folder.path,
      ])
      let places = try await process.event("listening")
      return (process, try #require(places["api"]), try #require(places["gateway"]))
    }

    func post(_ path: String, _ body: [String: Any], signed: Bool = true) async throws -> (Int, [String: Any]) {
      let answer = try await HTTPClient().call(
        "POST", api + path, headers: ["Content-Type": "application/json"], basic: signed ? (key, secret) : nil,
        body: [UInt8](try JSONSerialization.data(withJSONObject: body)))
      return (answer.status, (try? JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any]) ?? [:])
    }
  }

  private static let repository = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  @Test("RFC 6455 as the public Autobahn list names it, driven by websockets and wsproto")
  func conformance() async throws {
    let scene = try await Scene()
    try Self.python("websocket_conformance.py", [scene.gateway, scene.key, scene.device, scene.deviceSecret])
  }

  @Test("killed again and again while it sends: nothing is lost, nothing comes twice, all in order")
  func killed() throws {
    try Self.python("gateway_kill.py", [BelfryProcess.binary.path, "6"])
  }

  private static func python(_ script: String, _ words: [String]) throws {
    let python = repository.appending(path: ".venv/bin/python").path
    try #require(FileManager.default.fileExists(atPath: python), "run script/python-venv first")
    let run = Process()
    run.executableURL = URL(filePath: python)
    run.arguments = [repository.appending(path: "Tests/\(script)").path] + words
    let output = Pipe()
    run.standardOutput = output
    run.standardError = output
    try run.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    run.waitUntilExit()
    #expect(run.terminationStatus == 0, "\(text)")
  }
}
