import APNSClient
import Audience
import Basics
import BelfryTesting
import Bus
import Delivery
import Foundation
import HTTPAPI
import PushPayload
import PushService
import Store
import StoreSQLite
import Testing
import Transport

/// A service of one app that JPush's official Python SDK, as pip installs it, is pointed at.
final class JPushSDKScene: Sendable {
  let store: StoreSQLite
  let service: PushService
  let app: NewApp
  let apns = RecordingPushSender()
  private let folder: URL
  private let python: URL
  private let server: HTTPServer

  static func with<Result>(
    _ settings: HTTPAPI.Settings = .init(), _ body: (JPushSDKScene) async throws -> Result
  ) async throws -> Result {
    let scene = try await JPushSDKScene(settings)
    do {
      let result = try await body(scene)
      await scene.stop()
      return result
    } catch {
      await scene.stop()
      throw error
    }
  }

  private init(_ settings: HTTPAPI.Settings) async throws {
    let made = try await Self.run(Self.repository.appending(path: "script/python-venv"), [])
    try #require(made.status == 0, "script/python-venv: \(made.errors)")
    python = URL(filePath: made.output.trimmingCharacters(in: .whitespacesAndNewlines))
    folder = FileManager.default.temporaryDirectory.appending(path: "belfry-jpush-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let clock = SystemClock()
    store = try await StoreSQLite.open(folder: folder.path)
    let apns = apns
    service = PushService(
      store: store, bus: InProcessBus(clock: clock), clock: clock, seed: 1,
      scheduling: Scheduling(
        zone: { try? ZoneDatabase.usual.zone(named: $0).rules },
        order: { request throws(RequestFault) in try HTTPAPI.scheduledPush(request) }), senders: { _, _ in apns },
      broadcasts: { [channels = MemoryChannels()] _, _ in channels },
      sealing: SealingKey.random(), credentialReader: CredentialFiles(),
      webhooking: Webhooking { _, _, _ in .success(200) })
    try await service.start()
    app = try await service.createApp(bundleID: "com.example.chat", name: "Chat")
    server = try HTTPAPI(service: service, clock: clock, settings: settings).serve(
      on: Endpoint(host: "127.0.0.1", port: 0))
  }

  private func stop() async {
    await server.stop()
    await service.stop()
    await store.close()
    try? FileManager.default.removeItem(at: folder)
  }

  var address: String { "http://\(server.endpoint)" }

  /// Another program that pip installed beside the SDK.
  func program(_ name: String) -> String { python.deletingLastPathComponent().appending(path: name).path }

  /// A device under a registration id of the test's choice.
  func register(_ registrationID: String, number: UInt8) async throws {
    let app = try #require(try await store.app(key: app.appKey))
    _ = try await store.register(
      DeviceDraft(
        app: app.id, registrationID: registrationID, token: [UInt8](repeating: number, count: 32),
        environment: .production, secretHash: [], facts: DeviceFacts(), at: SystemClock().now))
  }

  /// Runs Python that has the SDK's `client` and says its findings by `said[…] = …`; `failure(call)` tells what a call
  /// throws.
  func run(_ script: String, _ words: String...) async throws -> JSONObject {
    let result = try await Self.run(
      python,
      [
        "-c", Self.prologue + script + "\nprint(json.dumps(said))", "http://\(server.endpoint)/", app.appKey,
        app.masterSecret,
      ]
        + words)
    try #require(result.status == 0, "\(result.output)\n\(result.errors)")
    return try JSONReader.read(Array(result.output.utf8)).value.object ?? JSONObject()
  }

  private static let prologue = """
    import json, logging, sys
    import jpush
    from jpush import common

    logging.disable(logging.CRITICAL)
    base, key, secret = sys.argv[1:4]
    words = sys.argv[4:]
    v3 = base + "v3/"
    common.ZONES["DEFAULT"].update({
        "PUSH": v3, "REPORT": v3, "DEVICE": v3 + "devices/", "ALIAS": v3 + "aliases/", "TAG": v3 + "tags/",
        "SCHEDULE": v3 + "schedules/", "ADMIN": base + "v1/"})
    common.ZONES["BJ"].update({
        "PUSH": v3, "REPORT": v3 + "report/", "DEVICE": v3 + "device/", "ALIAS": v3 + "device/aliases/",
        "TAG": v3 + "device/tags/", "SCHEDULE": v3 + "push/schedules/", "ADMIN": base + "v1/"})
    client = jpush.JPush(key, secret)
    said = {}

    def failure(call):
        try:
            call()
        except common.JPushFailure as fault:
            assert fault.details, "a message"
            return ["JPushFailure", fault.error_code]
        except Exception as fault:
            return type(fault).__name__
        return "no failure"

    """

  // MARK: processes

  private static let repository = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  /// Runs a program to its end on a thread of its own.
  private static func run(_ program: URL, _ words: [String]) async throws -> (
    status: Int32, output: String, errors: String
  ) {
    try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread {
        continuation.resume(
          with: Result {
            let process = Process()
            process.executableURL = program
            process.arguments = words
            let (output, errors) = (Pipe(), Pipe())
            process.standardOutput = output
            process.standardError = errors
            try process.run()
            let said = output.fileHandleForReading.readDataToEndOfFile()
            let complained = errors.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            return (
              process.terminationStatus, String(decoding: said, as: UTF8.self),
              String(decoding: complained, as: UTF8.self)
            )
          })
      }
    }
  }
}
