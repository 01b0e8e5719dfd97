import APNSSimulator
import Basics
import Delivery
import PushService
import StoreSQLite
import Testing
import Transport

@testable import belfry

extension DoctorTests {
  @Test("a credential that the service keeps is tried as those of files are; under another sealing key that is told")
  func kept() async throws {
    let scene = try await Scene()
    let sealing = SealingKey.random()
    let opened = try await FolderService.open(scene.folder + "/none", sealing: sealing)
    let app = try await opened.service.createApp(bundleID: Self.bundle, name: nil).app
    _ = try await opened.service.createApp(bundleID: "com.example.bare", name: nil)
    let upload = CredentialUpload(
      .key(scene.credentials.signingKey.pem, keyID: scene.credentials.keyID, teamID: scene.credentials.teamID),
      name: "AuthKey.p8")
    _ = try await opened.service.addCredential(app, upload, environment: nil)
    await opened.store.close()

    var doctor = try scene.doctor("")
    doctor.environment = [SealingKey.Source.variable: sealing.hex]
    let report = try await scene.report(doctor)
    #expect(!report.checks.contains { $0.level == .fail }, "\(report.text)")
    #expect(report.checks.contains { $0.name == .credential && $0.level == .ok }, "\(report.text)")
    let warnings = report.checks.filter { $0.level == .warn }
    #expect(warnings.map(\.subject) == ["com.example.bare"], "\(report.text)")

    doctor.environment = [SealingKey.Source.variable: SealingKey.random().hex]
    let closed = try await scene.report(doctor)
    #expect(closed.checks.contains { $0.level == .fail && $0.found.contains(app.key) }, "\(closed.text)")
    doctor.environment = [:]
    #expect(try await scene.report(doctor).worst == .fail)
    #expect(Files.stamp(scene.folder + "/none/sealing.key") == nil, "nothing is made")
    await scene.stop()
  }
}
