import Audience
import Foundation
import HTTPAPI
import PushPayload
import PushService
import Testing

/// `/v1` and `/device/v1` are held to their OpenAPI document by schemathesis, as pip installs it: it makes requests that are
/// as the document says, and others that are not, and judges every answer by it.
@Suite("schemathesis", .timeLimit(.minutes(10)))
struct SchemathesisTests {
  /// All that judge by the document. Not `positive_data_acceptance`: a request that is as the document says may name a
  /// segment, a zone or a push that is not there. Not `use_after_free`, `ensure_resource_availability`,
  /// `object_level_authorization`: they need links between calls, which the document has not.
  private static let checks = [
    "not_a_server_error", "status_code_conformance", "content_type_conformance", "response_headers_conformance",
    "response_schema_conformance", "negative_data_rejection", "missing_required_header", "unsupported_method",
    "allow_header_conformance", "ignored_auth",
  ]

  @Test("no fault of the server, no answer that the document does not tell, nothing taken that it forbids")
  func holdsTheServerToTheDocument() async throws {
    var settings = HTTPAPI.Settings()
    settings.rateLimits.ownDevice = 1_000_000
    try await JPushSDKScene.with(settings) { scene in
      let folder = FileManager.default.temporaryDirectory.appending(path: "belfry-schemathesis-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let file = folder.appending(path: "schemathesis.toml")
      try await Self.configuration(scene).write(to: file, atomically: true, encoding: .utf8)
      let found = try await ForeignProgram.run(
        scene.program("schemathesis"),
        [
          "--config-file", file.path, "run", "\(scene.address)/v1/openapi.json", "--checks",
          Self.checks.joined(separator: ","), "--seed", "7", "--max-examples", "10", "--no-shrink",
          "--continue-on-failure", "--generation-database", "none", "--no-color",
        ], within: 240)
      #expect(found.status == 0, "\(found.output)")
      #expect(found.output.contains(" passed"), "\(found.output)")
    }
  }

  /// Credentials for both kinds of callers, and the ids of a push, a webhook and a device that are there, the device with the tag of
  /// the examples. 412 is a refusal too.
  private static func configuration(_ scene: JPushSDKScene) async throws -> String {
    let app = try await scene.service.authenticate(
      appKey: scene.app.appKey, masterSecret: scene.app.masterSecret)
    let device = try await scene.service.register(
      appKey: app.key,
      DeviceRegistration(
        token: String(repeating: "0a", count: 32), environment: .production, facts: DeviceDescription()))
    var change = DeviceChange()
    change.addTags = ["vip"]
    try await scene.service.changeDevice(app, registrationID: device.registrationID, change)
    let push = try await scene.service.push(
      app, PushOrder(audience: .everyone, alert: .string("Hello"), production: true))
    let webhook = try await scene.service.createWebhook(app, WebhookOrder(url: "https://example.com/"))
    return """
      [auth.openapi.app]
      username = "\(scene.app.appKey)"
      password = "\(scene.app.masterSecret)"

      [auth.openapi.device]
      username = "\(scene.app.appKey)"
      password = "\(device.deviceSecret)"

      [checks.negative_data_rejection]
      expected-statuses = ["400", "401", "404", "405", "409", "412", "413", "429", "431"]

      [[operations]]
      include-path-regex = "^/v1/pushes/.id."
      parameters = { "path.id" = "\(push.messageID)" }

      [[operations]]
      include-path-regex = "^/v1/webhooks/.id."
      parameters = { "path.id" = "\(webhook.webhook.id)" }

      [[operations]]
      include-path-regex = "^/device/v1/registrations/"
      parameters = { "path.registrationId" = "\(device.registrationID)" }

      """
  }
}
