import APNSClient
import APNSSimulator
import Audience
import Basics
import BelfryTesting
import Delivery
import Foundation
import PushPayload
import Testing
import Transport

@testable import belfry

/// Each fault is really there, in files or in a simulated APNs, and the doctor has to name it.
@Suite("belfry doctor names the pitfall", .timeLimit(.minutes(2)))
struct DoctorTests {
  static let bundle = "com.example.app"

  static func expect(
    _ report: DoctorReport, _ level: DoctorCheck.Level, _ name: DoctorCheck.Name, _ words: String,
    _ location: SourceLocation = #_sourceLocation
  ) {
    let found = report.checks.contains { check in
      check.level == level && check.name == name && "\(check.found) \(check.remedy ?? "")".contains(words)
    }
    #expect(found, "\(report.text)", sourceLocation: location)
  }

  @Test("all is well: the credential is good though the token is nobody's, and the report is a table")
  func good() async throws {
    let scene = try await Scene()
    let report = try await scene.report(try scene.key())
    #expect(report.worst == .ok, "\(report.text)")
    Self.expect(report, .ok, .credential, "BadDeviceToken to a token that nobody has")
    Self.expect(report, .ok, .connection, "chain, name and HTTP/2")
    #expect(report.text.hasSuffix("0 warn, 0 fail"))
    let certificate = try await scene.report(try scene.certificate(scene.credentials.certificate))
    #expect(certificate.worst == .ok, "\(certificate.text)")
    await scene.stop()
  }

  // MARK: Keys (C26)

  struct KeyFile: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var level: DoctorCheck.Level
    var words: String
    var change: @Sendable (String) -> String
  }

  static let keyFiles: [KeyFile] = [
    .init(testDescription: "literal \\n", level: .warn, words: "two characters \\n") {
      $0.split(separator: "\n").joined(separator: "\\n")
    },
    .init(testDescription: "CRLF", level: .warn, words: "CRLF") { $0.split(separator: "\n").joined(separator: "\r\n") },
    .init(testDescription: "BOM", level: .warn, words: "byte order mark") { "\u{FEFF}" + $0 },
    .init(testDescription: "RSA key", level: .fail, words: "RSA") { _ in Self.rsaKey },
    .init(testDescription: "text file", level: .fail, words: "no PEM text") { _ in "remember the milk\n" },
    .init(testDescription: "empty file", level: .fail, words: "empty") { _ in "" },
    .init(testDescription: "broken block", level: .fail, words: "no key") { _ in
      "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"
    },
  ]

  /// The form of a PKCS#8 RSA key; its numbers are no key's.
  static let rsaKey = """
    -----BEGIN PRIVATE KEY-----
    MDMCAQAwDQYJKoZIhvcNAQEBBQAEHzAdAgEAAgIMoQIBEQICCsECAT0CATUCATUCATECASY=
    -----END PRIVATE KEY-----

    """

  @Test("C26 a key file that was mangled, or is something else", arguments: keyFiles)
  func keyFile(row: KeyFile) async throws {
    let scene = try await Scene()
    let text = row.change(String(decoding: scene.credentials.signingKey.pem, as: UTF8.self))
    let report = try await scene.report(try scene.key(Array(text.utf8)))
    Self.expect(report, row.level, .key, row.words)
    #expect(report.worst == row.level, "\(report.text)")
    await scene.stop()
  }

  @Test("C26 swapped key id and team id: by the file's name, and by APNs' answer when the name says nothing")
  func swapped() async throws {
    let scene = try await Scene()
    let (keyID, teamID) = (scene.credentials.keyID, scene.credentials.teamID)
    let named = try scene.key(name: "AuthKey_\(keyID).p8", keyID: teamID, teamID: keyID)
    Self.expect(try await scene.report(named), .fail, .ids, "key id and team id are swapped")
    let unnamed = try scene.key(keyID: teamID, teamID: keyID)
    Self.expect(try await scene.report(unnamed), .fail, .ids, "key id and team id are swapped")
    let other = try scene.key(name: "AuthKey_ABCDE12345.p8")
    Self.expect(try await scene.report(other), .warn, .ids, "the file's name says key ABCDE12345")
    let malformed = try scene.key(keyID: "short")
    Self.expect(try await scene.report(malformed), .fail, .key, "not 10 capital letters and digits")
    await scene.stop()
  }

  @Test("C26 a key that APNs does not know: revoked, or another file's")
  func unknownKey() async throws {
    let scene = try await Scene()
    let report = try await scene.report(try scene.key(P256PrivateKey.generate().pem))
    Self.expect(report, .fail, .credential, "InvalidProviderToken")
    Self.expect(report, .fail, .credential, "revoked")
    Self.expect(report, .fail, .credential, "Check key id ↔ team id")
    await scene.stop()
  }

  @Test("§6 a key of the other environment, a key that is limited to other topics")
  func limitedKeys() async throws {
    let (production, topics) = (try P256PrivateKey.generate(), try P256PrivateKey.generate())
    let scene = try await Scene { settings in
      settings.keys = [
        .init(
          keyID: "PRODUCTION", teamID: "TEAM000001", publicKey: production.publicKey, scope: .team(only: .production)),
        .init(
          keyID: "TOPICS0001", teamID: "TEAM000001", publicKey: topics.publicKey,
          scope: .topics(["com.example.other"], .sandbox, family: "a")),
      ]
    }
    let wrong = try scene.key(production.pem, keyID: "PRODUCTION", teamID: "TEAM000001")
    Self.expect(try await scene.report(wrong), .fail, .environment, "limited to the other environment")
    let foreign = try scene.key(topics.pem, keyID: "TOPICS0001", teamID: "TEAM000001")
    Self.expect(try await scene.report(foreign), .fail, .topic, "TopicDisallowed")
    await scene.stop()
  }

  // MARK: Clock (C27, §17)

  @Test("C27 a clock that is an hour off, from APNs' answers though they have no date", arguments: [-90, 50])
  func clock(minutes: Int64) async throws {
    let scene = try await Scene()
    var doctor = try scene.key()
    doctor.clock = VirtualClock(now: SystemClock().now + .minutes(minutes))
    let report = try await scene.report(doctor)
    Self.expect(report, .fail, .clock, minutes < 0 ? "behind" : "ahead of")
    Self.expect(report, .fail, .clock, "Set the clock")
    await scene.stop()
  }

  // MARK: Certificates (C28)

  func certificate(
    _ scene: Scene, userID: String? = bundle, topics: [UInt8]? = nil, days: ClosedRange<Int64> = -1...100,
    environments: [CertificateExtension] = [.appleSandboxPush, .appleProductionPush]
  ) throws -> TLSIdentity {
    let now = SystemClock().now
    let list = topics.map { [CertificateExtension(oid: "1.2.840.113635.100.6.3.6", der: $0)] } ?? []
    return try scene.credentials.authority.issueClient(
      commonName: "Apple Push Services", userID: userID, extensions: environments + list,
      notBefore: now + .days(days.lowerBound), notAfter: now + .days(days.upperBound))
  }

  @Test("C28 a certificate that ended, ends soon, or has not begun")
  func terms() async throws {
    let scene = try await Scene()
    let rows: [(ClosedRange<Int64>, DoctorCheck.Level, String)] = [
      (-300 ... -2, .fail, "ended at"), (-300...20, .warn, "no more than 30 days"),
      (-300...6, .warn, "no more than 7 days"), (-300...1, .warn, "no more than a day"), (2...300, .fail, "on only"),
      (-300...60, .ok, "good until"),
    ]
    for (days, level, words) in rows {
      let report = try await scene.report(try scene.certificate(certificate(scene, days: days)))
      Self.expect(report, level, .term, words)
    }
    await scene.stop()
  }

  @Test("C28 a topic that is not in the certificate, a VoIP certificate, one without UID, one of the other environment")
  func facts() async throws {
    let scene = try await Scene()
    let other = try scene.certificate(certificate(scene, userID: "com.example.other"))
    Self.expect(try await scene.report(other), .fail, .topic, "for com.example.other, not for com.example.app")
    let voip = Array("com.example.app.voip".utf8)
    let list =
      [0x30, UInt8(voip.count + 10), 0x0C, UInt8(voip.count)] + voip + [0x30, 6, 0x0C, 4] + Array("voip".utf8)
    let report = try await scene.report(try scene.certificate(certificate(scene, topics: list)))
    Self.expect(report, .fail, .topic, "a VoIP certificate")
    Self.expect(report, .fail, .topic, "TopicDisallowed")
    let nobody = try scene.certificate(certificate(scene, userID: nil))
    Self.expect(try await scene.report(nobody), .fail, .certificate, "no UID")
    let production = try scene.certificate(certificate(scene, environments: [.appleProductionPush]))
    Self.expect(try await scene.report(production), .fail, .environment, "BadCertificateEnvironment")
    await scene.stop()
  }

  @Test("C28 a .p12 of an older Mac opens; a wrong password is told apart from a file that is none")
  func containers() async throws {
    let scene = try await Scene()
    let legacy = try scene.certificate(certificate(scene), encryption: .legacy)
    #expect(try await scene.report(legacy).worst == .ok)
    let locked = try scene.certificate(certificate(scene), password: "wrong")
    Self.expect(try await scene.report(locked), .fail, .certificate, "password does not open")
    let path = try scene.write(Array("no certificate".utf8), "text.p12")
    let none = try scene.doctor(#"{bundle: "\#(Self.bundle)", certificate: "\#(path)"}"#)
    Self.expect(try await scene.report(none), .fail, .certificate, "no PKCS#12")
    await scene.stop()
  }

  // MARK: The way there

  @Test("a server that is not trusted, is not called so, does not listen, or never answers")
  func connections() async throws {
    let scene = try await Scene()
    var doctor = try scene.key()
    doctor.trust = .system
    Self.expect(try await scene.report(doctor), .fail, .connection, "as 'trust' in the configuration")
    doctor.trust = .pem(scene.credentials.authority.pem)
    doctor.server = APNSServer(Endpoint(host: "127.0.0.1", port: 1))
    Self.expect(try await scene.report(doctor), .fail, .connection, "nobody listens")
    await scene.stop()
  }

  @Test("§1 Apple's root that is missing from the machine's trust store is named")
  func appleRoot() {
    let fault = TransportFault(
      .certificateUntrusted, at: "api.push.apple.com:443", what: "the server's certificate is not trusted", remedy: "-")
    for name in ["sandbox", "production"] {
      let check = DoctorProbe.connection(fault, name)
      #expect(check.level == .fail && check.found.contains("USERTrust RSA"))
      #expect(check.remedy?.contains("ca-certificates") == true)
    }
    #expect(!DoctorProbe.connection(fault, "https://127.0.0.1:2197").found.contains("USERTrust"))
  }

  @Test("C27 the distance of the clock from an answer's date: within two minutes, within five, further")
  func clockByDate() {
    let rows: [(Int64, DoctorCheck.Level, String)] = [
      (0, .ok, "within"), (-120, .ok, "within"), (180, .warn, "3 minutes ahead of"),
      (-3600, .fail, "60 minutes behind"),
      (.min / 1000, .fail, "behind"), (.max / 1000, .fail, "ahead"),
    ]
    for (seconds, level, words) in rows {
      let check = DoctorProbe.clock(.seconds(seconds))
      #expect(check.level == level && check.found.contains(words), "\(seconds): \(check)")
    }
  }

  @Test("a peer that speaks no TLS, one that lets TLS hang, and a certificate for another name")
  func strangePeers() async throws {
    let scene = try await Scene()
    var doctor = try scene.key()
    doctor.timeout = .milliseconds(300)
    let loops = LoopGroup(count: 1)
    func mute(_ tls: TLSServerContext?) async throws -> HTTP2Listener {
      try await HTTP2Listener.bind(
        Endpoint(host: "127.0.0.1", port: 0), loops: loops, tls: tls, settings: .server
      ) { _ in Mute() }
    }
    let elsewhere = try await mute(TLSServerContext(identity: scene.serverIdentity("elsewhere.example")))
    doctor.server = APNSServer(elsewhere.endpoint)
    Self.expect(try await scene.report(doctor), .fail, .connection, "for another name")
    let plain = try await mute(nil)
    doctor.server = APNSServer(plain.endpoint)
    let report = try await scene.report(doctor)
    #expect(report.checks.contains { $0.level == .fail && $0.name == .connection }, "\(report.text)")
    let silent = try await mute(TLSServerContext(identity: scene.serverIdentity()))
    doctor.server = APNSServer(silent.endpoint)
    Self.expect(try await scene.report(doctor), .fail, .connection, "no answer within")
    for listener in [elsewhere, plain, silent] { await listener.stop(grace: .milliseconds(10)) }
    await loops.stop()
    await scene.stop()
  }

  /// Takes requests and says nothing.
  private final class Mute: HTTP2ServerHandler {
    func request(_ request: HTTP2Request, stream: Int32) {}
    func streamClosed(_ stream: Int32, code: HTTP2ErrorCode) {}
    func closed(_ fault: TransportFault) {}
  }

  @Test("the configured proxy is tried: one that lets the way through, and one that is not there")
  func proxies() async throws {
    let scene = try await Scene { $0.proxy = Endpoint(host: "127.0.0.1", port: 0) }
    let endpoint = try #require(scene.simulator.proxyEndpoint)
    func doctor(by proxy: Endpoint) throws -> Doctor {
      let plain = try scene.key()
      var configuration = plain.configuration
      configuration.proxy.value = try ProxyChoice("http://\(proxy)", environment: [:])
      var doctor = Doctor(configuration)
      doctor.server = .sandbox  // the simulator's proxy brings Apple's names to itself
      doctor.trust = plain.trust
      return doctor
    }
    let report = try await scene.report(doctor(by: endpoint))
    Self.expect(report, .ok, .credential, "BadDeviceToken")
    #expect(report.checks.contains { $0.subject == "sandbox through the proxy \(endpoint)" }, "\(report.text)")
    let dead = try await scene.report(doctor(by: Endpoint(host: "127.0.0.1", port: 1)))
    #expect(dead.checks.contains { $0.name == .connection && $0.level == .fail }, "\(dead.text)")
    await scene.stop()
  }

  @Test("a file that is missing, and one that others may read")
  func files() async throws {
    let scene = try await Scene()
    let doctor = try scene.key()
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: scene.folder + "/key.p8")
    Self.expect(try await scene.report(doctor), .warn, .permissions, "mode 644")
    Files.remove(scene.folder + "/key.p8")
    Self.expect(try await scene.report(doctor), .fail, .file, "cannot be read")
    await scene.stop()
  }

  // MARK: Tokens (C18, §17)

  @Test("C18 a description or base64 in place of a token; C37 a token that no environment takes")
  func tokens() async throws {
    let scene = try await Scene()
    var doctor = try scene.key()
    let rows = [
      ("{length = 32, bytes = 0x11aa22bb 33cc44dd ... 5566eeff }", "iOS 13"),
      ("EaoiuzPERN1VZu7/EaoiuzPERN1VZu7/EaoiuzPERN0=", "hex"), (String(repeating: "0a", count: 32), "no environment"),
    ]
    for (token, words) in rows {
      doctor.token = token
      Self.expect(try await scene.report(doctor), .fail, .token, words)
    }
    await scene.stop()
  }

  @Test("no credential at all, or none for that app")
  func settings() async throws {
    let scene = try await Scene()
    var doctor = try scene.key()
    doctor.app = "com.example.unknown"
    Self.expect(try await scene.report(doctor), .fail, .configuration, "no credential is for it")
    let empty = try scene.doctor("")
    Self.expect(try await scene.report(empty), .ok, .configuration, "none are needed")
    await scene.stop()
  }
}
