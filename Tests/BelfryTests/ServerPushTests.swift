import Audience
import Basics
import Foundation
import PushPayload
import PushService
import Testing
import Transport

@testable import belfry

@Suite("belfry push through a service")
struct ServerPushTests {
  private func read(_ words: [String]) throws -> ServerPushOptions? {
    try ServerPushOptions(try pushCommand.parse(["p.json"] + words))
  }

  static let words: [([String], String)] = [
    (["--to", "all"], #""everyone""#),
    (["--to", "tag:vip"], #"{"tag":"vip"}"#),
    (["--to", "alias:a:b", "--to", "rid:7f"], #"{"or":[{"alias":"a:b"},{"registrationId":"7f"}]}"#),
  ]

  @Test("--to says whom", arguments: words)
  func audience(words: [String], audience: String) throws {
    let options = try #require(try read(words + ["--server", "http://h:1/", "--app", "k:s"]))
    #expect(options.audience.text == audience)
    #expect(options.call.server == "http://h:1" && options.call.key == "k" && options.call.secret == "s")
  }

  static let faults: [([String], String)] = [
    (["--to", "all"], "'--to' goes with --server: the address of a running service"),
    (
      ["--server", "http://h", "--app", "k:s", "--to", "tags:a"],
      "--to takes all, tag:NAME, alias:NAME or rid:ID, not 'tags:a'"
    ),
    (
      ["--server", "http://h", "--app", "k:s", "--to", "all", "--token", "aa"],
      "'--token' is for a push to one device; with --to leave it out"
    ),
  ]

  @Test("says what is wrong", arguments: faults)
  func usage(words: [String], fault: String) {
    #expect(throws: UsageFault(fault)) { try read(words) }
  }

  static let payloads: [(payload: String, body: String)] = [
    (
      #"{"aps":{"alert":"Hi","badge":3,"thread-id":"t","mutable-content":1},"k":[1]}"#,
      #"{"alert":"Hi","badge":3,"threadId":"t","mutableContent":true,"data":{"k":[1]},"audience":"everyone"}"#
    ),
    (#"{"aps":{"content-available":1}}"#, #"{"kind":"silent","audience":"everyone"}"#),
    (#"{"aps":{"alert":"Hi","content-available":1}}"#, #"{"alert":"Hi","kind":"background","audience":"everyone"}"#),
    (#"{"kind":"silent","data":{"a":1}}"#, #"{"kind":"silent","data":{"a":1},"audience":"everyone"}"#),
  ]

  @Test("a payload of APNs becomes a push of /v1", arguments: payloads)
  func body(payload: String, body: String) throws {
    let options = try #require(try read(["--server", "http://h", "--app", "k:s", "--to", "all"]))
    let object = try #require(try JSONReader.read(Array(payload.utf8)).value.object)
    #expect(try options.body(of: object).text == body)
  }

  @Test("pushes, waits for the last outcome, and tells it")
  func live() async throws {
    await openTimerDescriptors()
    let folder = FileManager.default.temporaryDirectory.path + "/belfry-push-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let parsed = try serveCommand.parse(["--listen", "127.0.0.1:0", "--data", folder])
    let configuration = try ServeConfiguration(parsed, environment: [:], standardData: folder)
    let host = try await ServiceHost.start(
      configuration, log: ServiceLog(clock: SystemClock(), isVerbose: false, write: { _ in }))
    let app = try await host.service.createApp(bundleID: "com.example.bell", name: nil)
    func push(_ payload: String, _ words: [String]) async throws -> belfry.ExitStatus {
      let path = folder + "/payload.json"
      try payload.write(toFile: path, atomically: true, encoding: .utf8)
      return try await pushCommand.run(
        try pushCommand.parse(
          [path, "--server", host.address, "--app", "\(app.appKey):\(app.masterSecret)"] + words))
    }
    // a token that the simulator never gave is refused, which is an outcome too
    let registered = try await host.service.register(
      appKey: app.appKey, DeviceRegistration(token: String(repeating: "ab", count: 32), environment: .production))
    #expect(try await push(#"{"aps":{"alert":"Hi"}}"#, ["--to", "rid:\(registered.registrationID)"]) == .failure)
    let device = try await host.service.device(app.app, registrationID: registered.registrationID)
    #expect(device.deadReason?.hasPrefix("BadDeviceToken") == true)
    await #expect {
      try await push(#"{"aps":{"alert":"Hi"}}"#, ["--to", "tag:nobody"])
    } throws: {
      "\($0)".contains(host.address)
    }
    await host.stop()
  }
}
