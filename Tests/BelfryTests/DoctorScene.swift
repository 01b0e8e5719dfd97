import APNSClient
import APNSSimulator
import Basics
import Foundation
import PushPayload
import Testing
import Transport

@testable import belfry

extension DoctorTests {
  /// A folder with a configuration, and a simulated APNs to try it at.
  final class Scene: Sendable {
    let simulator: APNSSimulator
    let folder: String

    init(_ adjust: (inout APNSSimulator.Configuration) -> Void = { _ in }) async throws {
      var settings = APNSSimulator.Configuration()
      adjust(&settings)
      simulator = try await APNSSimulator.start(settings)
      folder = try Files.temporaryFolder("belfry-doctor")
    }

    deinit { Files.remove(folder) }

    var credentials: SimulatorCredentials { simulator.credentials }

    func write(_ bytes: [UInt8], _ name: String) throws -> String {
      let path = "\(folder)/\(name)"
      Files.remove(path)
      try #require(
        FileManager.default.createFile(atPath: path, contents: Data(bytes), attributes: [.posixPermissions: 0o600]))
      return path
    }

    /// The configuration with one key.
    func key(
      _ bytes: [UInt8]? = nil, name: String? = nil, keyID: String? = nil, teamID: String? = nil,
      bundle: String = DoctorTests.bundle, settings: String = ""
    ) throws -> Doctor {
      let path = try write(bytes ?? credentials.signingKey.pem, name ?? "key.p8")
      return try doctor(
        #"{bundle: "\#(bundle)", key: "\#(path)", keyID: "\#(keyID ?? credentials.keyID)", "#
          + #"teamID: "\#(teamID ?? credentials.teamID)"}"#, settings: settings)
    }

    func certificate(
      _ identity: TLSIdentity, bundle: String = DoctorTests.bundle,
      encryption: TLSIdentity.PKCS12Encryption = .aes256, password: String = "sesame"
    ) throws -> Doctor {
      let path = try write(identity.pkcs12(password: "sesame", encryption: encryption), "push.p12")
      let secret = try write(Array(password.utf8), "push.password")
      return try doctor(#"{bundle: "\#(bundle)", certificate: "\#(path)", passwordFile: "\#(secret)"}"#)
    }

    /// - Parameter settings: more of the configuration, each ending with a comma.
    func doctor(_ credential: String, settings: String = "") throws -> Doctor {
      let file = try write(Array("{\(settings)credentials: [\(credential)], data: \"none\"}".utf8), "belfry.json5")
      var parsed = ParsedCommand()
      parsed.values["config"] = [file]
      var doctor = Doctor(try ServeConfiguration(parsed, environment: [:], standardData: folder + "/none"))
      doctor.server = APNSServer(simulator.endpoint)
      doctor.trust = .pem(credentials.authority.pem)
      return doctor
    }

    /// A certificate of a server of that name, by the simulator's authority.
    func serverIdentity(_ name: String = "127.0.0.1") throws -> TLSIdentity {
      let now = SystemClock().now
      return try credentials.authority.issueServer(
        names: [name], notBefore: now - .days(1), notAfter: now + .days(30))
    }

    /// What the doctor says, after a look that it says no secret.
    func report(_ doctor: Doctor) async throws -> DoctorReport {
      let report = DoctorReport(checks: await doctor.run())
      let text = report.text + report.json.text
      for secret in [
        "sesame", "eyJ", "bearer", "BEGIN",
        String(decoding: credentials.signingKey.pem.dropFirst(40).prefix(30), as: UTF8.self),
      ] {
        #expect(!text.contains(secret), "a secret is told")
      }
      for check in report.checks where check.level == .fail { #expect(check.remedy?.hasSuffix(".") == true) }
      return report
    }

    func stop() async { await simulator.stop() }
  }
}
