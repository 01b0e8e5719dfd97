import APNSClient
import APNSSimulator
import Basics
import Delivery
import PushPayload
import Testing
import Transport

@testable import belfry

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite("belfry push")
struct PushCommandTests {
  static let hex = String(repeating: "ab", count: 32)
  static let key = ["--key", "k.p8", "--key-id", "ABC123DEFG", "--team-id", "DEF123GHIJ"]

  static func options(_ words: [String]) throws -> PushOptions {
    let parser = CommandLineParser(commands: [pushCommand], environment: [:])
    guard case .run(_, let parsed) = try parser.parse(["push", "p.json"] + words) else { throw UsageFault("help") }
    return try PushOptions(parsed)
  }

  static let wrong: [([String], String)] = [
    ([], "--token"),
    (["--token", hex], "a credential is missing"),
    (["--token", hex, "--key", "k.p8"], "--key-id"),
    (["--token", hex, "--key", "k.p8", "--key-id", "ABC123DEFG"], "--team-id"),
    (["--token", hex, "--cert", "c.p12"] + key, "either"),
    (
      ["--token", "{length = 32, bytes = 0x11aa22bb 33cc44dd ... 5566eeff }"] + key,
      "the middle of the token is missing"
    ),
    (["--token", "qurN7wGrze8Bq83vAavN7wGrze8Bq83vAavN7wGrze8="] + key, "base64"),
    (["--token", String(hex.dropLast())] + key, "63 hex digits"),
    (["--token", hex, "--apns", "ftp://example.com"] + key, "--apns"),
    (["--token", hex, "--apns", "http://example.com:80"] + key, "in the clear"),
    (["--token", hex, "--priority", "7"] + key, "--priority takes"),
    (["--token", hex, "--push-type", "alarm"] + key, "--push-type takes"),
    (["--token", hex, "--expires", "soon"] + key, "--expires takes"),
    (["--token", hex, "--expires", "9999999999999999999d"] + key, "--expires takes"),
    (["--token", hex, "--timeout", "0"] + key, "--timeout takes"),
  ]

  @Test("C18 says which word is wrong and why", arguments: wrong)
  func refusesWords(words: [String], said: String) throws {
    #expect { try Self.options(words) } throws: { ($0 as? UsageFault)?.words.contains(said) == true }
  }

  @Test("reads its options")
  func readsOptions() throws {
    let options = try Self.options(
      ["--token", Self.hex.uppercased(), "--topic", "com.example.app", "--apns", "production", "--expires", "30d"]
        + ["--priority", "5", "--push-type", "voip", "--collapse-id", "x", "--json"] + Self.key)
    #expect(options.token == [UInt8](repeating: 0xAB, count: 32))
    #expect(options.server == .production && options.expires == .days(30) && options.priority == .considerate)
    #expect(options.pushType == .voip && options.collapseID == "x" && options.json)
    #expect(options.identity == .key(path: "k.p8", keyID: "ABC123DEFG", teamID: "DEF123GHIJ"))
    #expect(try Self.options(["--token", Self.hex, "--expires", "0"] + Self.key).expires == nil)
    #expect(try Self.options(["--token", Self.hex, "--expires", "90"] + Self.key).expires == .seconds(90))
  }

  @Test("tells every reason of Apple's in two sentences, and in JSON", arguments: RefusalReason.allCases)
  func tellsReasons(reason: RefusalReason) {
    let outcome = PushOutcome.refused(
      .init(status: reason.status, reason: reason.rawValue, since: Instant(seconds: 1_796_000_000)))
    let report = PushReportText(push: Self.push, server: .sandbox, outcome: outcome, milliseconds: 12)
    let lines = report.text.split(separator: "\n")
    #expect(lines[0] == "refused  \(reason.status) \(reason.rawValue)  apns-id \(Self.push.id)  sandbox  12 ms")
    #expect(lines[1].contains("It is dead since 2026-11-30T") && lines[2].hasSuffix("."))
    #expect(report.json.object?["reason"]?.string == reason.rawValue)
    #expect(report.json.object?["outcome"]?.string == "refused")
    #expect(!report.isAccepted)
  }

  static let push = OutgoingPush(
    id: "01234567-0123-4123-8123-0123456789ab", token: [1], topic: "com.example.app", pushType: .alert,
    priority: .immediate, expiration: 0, collapseID: nil, payload: [])

  @Test("sends to the simulated APNs with its key and with its certificate, and tells what it said")
  func sends() async throws {
    let simulator = try await APNSSimulator.start()
    let folder = try Files.temporaryFolder("push")
    defer { Files.remove(folder) }
    let credentials = simulator.credentials
    try write(credentials.authority.pem, folder + "/ca.pem")
    try write(credentials.signingKey.pem, folder + "/key.p8")
    try write(credentials.pkcs12, folder + "/push.p12")
    try write(Array(#"{"aps":{"alert":"Hello"}}"#.utf8), folder + "/p.json")
    try write(
      Array(#"{"Simulator Target Bundle":"com.example.app","aps":{"content-available":1}}"#.utf8), folder + "/p.apns")
    let token = simulator.issueToken(device: "phone", bundle: "com.example.app")
    let place = ["--apns", "https://127.0.0.1:\(simulator.endpoint.port)", "--ca", folder + "/ca.pem"]
    let key = [
      "--key", folder + "/key.p8", "--key-id", credentials.keyID, "--team-id",
      credentials.teamID,
    ]
    let certificate = ["--cert", folder + "/push.p12", "--cert-password", credentials.pkcs12Password]

    var options = try Self.options(["--token", token.hex, "--topic", "com.example.app"] + place + key)
    options.path = folder + "/p.json"
    let first = try await sendPush(options)
    #expect(first.isAccepted, "\(first.text)")
    #expect(simulator.notifications.last?.push.id == options.id)

    options = try Self.options(["--token", token.hex] + place + certificate)
    options.path = folder + "/p.apns"
    let second = try await sendPush(options)
    #expect(second.isAccepted, "\(second.text)")
    #expect(second.push.pushType == .background && second.push.priority == .considerate)
    #expect(second.push.payload == Array(#"{"aps":{"content-available":1}}"#.utf8))

    options = try Self.options(["--token", Self.hex, "--topic", "com.example.app"] + place + key)
    options.path = folder + "/p.json"
    #expect(try await sendPush(options).text.contains("refused  400 BadDeviceToken"))

    options = try Self.options(
      ["--token", token.hex, "--topic", "com.example.app", "--key-id", "AAAAAAAAAA"] + place + key.prefix(2)
        + key.suffix(2))
    options.path = folder + "/p.json"
    let swapped = try await sendPush(options)
    #expect(!swapped.isAccepted && swapped.text.contains("InvalidProviderToken") && swapped.text.contains("key.p8"))

    try write(Array(#"{"aps":{"alert":"Hello"}"#.utf8), folder + "/bad.json")
    options.path = folder + "/bad.json"
    let bad = options
    await #expect(throws: CommandFault.self) { try await sendPush(bad) }
    await simulator.stop()
  }

  @Test("C26 C28 a credential that cannot be used is named with its file, by push and by serve alike; nothing is sent")
  func unusableCredentials() async throws {
    let simulator = try await APNSSimulator.start()
    let folder = try Files.temporaryFolder("push")
    defer { Files.remove(folder) }
    let credentials = simulator.credentials
    let ended = try credentials.authority.issuePushCertificate(
      bundleID: "com.example.app", now: SystemClock().now - .days(500))
    try write(credentials.authority.pem, folder + "/ca.pem")
    try write(credentials.pkcs12, folder + "/push.p12")
    try write(try ended.pkcs12(password: "old"), folder + "/ended.p12")
    try write(credentials.certificate.certificate.pem, folder + "/public.pem")
    try write(Array("remember the milk".utf8), folder + "/key.p8")
    try write(Array("wrong\n".utf8), folder + "/password")
    try write(Array(#"{"aps":{"alert":"Hello"}}"#.utf8), folder + "/p.json")
    let token = simulator.issueToken(device: "phone", bundle: "com.example.app")
    func report(_ credential: [String]) async throws -> PushReportText {
      var options = try Self.options(
        ["--token", token.hex, "--topic", "com.example.app", "--ca", folder + "/ca.pem"]
          + ["--apns", "https://127.0.0.1:\(simulator.endpoint.port)"] + credential)
      options.path = folder + "/p.json"
      return try await sendPush(options)
    }
    let unusable: [(file: String, words: [String], json: String, says: String)] = [
      ("push.p12", ["--cert-password", "wrong"], "", "password"),
      ("public.pem", [], "", "no private key"), ("missing.p12", [], "", "cannot be read"),
      ("p.json", [], "", "PKCS#12"),
      (
        "key.p8", ["--key-id", "ABC123DEFG", "--team-id", "DEF123GHIJ"],
        ", keyID: 'ABC123DEFG', teamID: 'DEF123GHIJ'", "no PEM text"
      ),
    ]
    for (file, words, json, says) in unusable {
      let isKey = file.hasSuffix(".p8")
      let path = folder + "/" + file
      let fault = await #expect(throws: CommandFault.self, "\(file)") {
        try await report([isKey ? "--key" : "--cert", path] + words)
      }
      #expect(fault?.words.contains(file) == true && fault?.words.contains(says) == true, "\(fault?.words ?? "")")
      let decoder = JSONDecoder()
      decoder.allowsJSON5 = true
      let rest = isKey ? json : ", passwordFile: '\(folder)/password'"
      let entry = try decoder.decode(
        [ServeConfiguration.Credential].self,
        from: Data("[{bundle: 'com.example.app', \(isKey ? "key" : "certificate"): '\(path)'\(rest)}]".utf8))
      let told = #expect(throws: (any Error).self) { try Senders.entries(entry) }
      let text = (told as? CommandFault)?.words ?? told.map { "\($0)" } ?? ""
      #expect(text.contains(file) && text.contains(says), "\(text)")
    }
    let late = try await report(["--cert", folder + "/ended.p12", "--cert-password", "old"])
    #expect(!late.isAccepted && late.text.contains("ended.p12 ended at"), "\(late.text)")
    #expect(simulator.notifications.isEmpty)
    await simulator.stop()
  }

  private func write(_ bytes: [UInt8], _ path: String) throws {
    try Files.writePrivate("", to: path)
    try Data(bytes).write(to: URL(filePath: path))
  }
}
