import Basics
import Testing
import Transport

@testable import APNSSimulator

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

@Suite("A simulator with a data folder")
struct RestartTests {
  @Test("authority, key, .p12, tokens, 410 and what waits survive a restart; files are for the owner only")
  func survives() async throws {
    try await withFolder { path in
      var kept: (ca: [UInt8], keyID: String, password: String, token: [UInt8], dead: [UInt8])?
      try await LiveScene.run({ $0.dataFolder = path }) { scene in
        let simulator = scene.simulator
        let token = simulator.issueToken(device: "phone", bundle: "com.example.app")
        let dead = simulator.issueToken(device: "tablet", bundle: "com.example.app")
        simulator.end(token: dead, since: Instant(milliseconds: 77), isToldAtOnce: true)
        simulator.courier.setOnline(device: "phone", false)
        let provider = try await scene.provider()
        let fields = [scene.authorization(), ("apns-topic", "com.example.app"), ("apns-collapse-id", "x")]
        #expect(await provider.send("/3/device/\(token.hex)", fields, body: #"{"n":1.10}"#)?.status == 200)
        await provider.close()
        kept = (
          simulator.credentials.authority.pem, simulator.credentials.keyID, simulator.credentials.pkcs12Password, token,
          dead
        )
        let files = try #require(simulator.credentials.files)
        for file in [files.authority, files.signingKey, files.pkcs12, files.pem, "\(path)/simulator.sqlite"] {
          var facts = stat()
          #expect(stat(file, &facts) == 0 && facts.st_mode & 0o777 == 0o600, "\(file)")
        }
      }
      let before = try #require(kept)
      try await LiveScene.run({ $0.dataFolder = path }) { scene in
        let simulator = scene.simulator
        #expect(simulator.credentials.authority.pem == before.ca)
        #expect(simulator.credentials.keyID == before.keyID)
        let files = try #require(simulator.credentials.files)
        let pkcs12 = try #require(try PrivateFolder(path).read(String(files.pkcs12.split(separator: "/").last ?? "")))
        let identity = try TLSIdentity(pkcs12: pkcs12, password: before.password)
        #expect(identity.certificate.userID == "com.example.app")
        #expect(simulator.issueToken(device: "phone", bundle: "com.example.app") == before.token)
        let got = Locked<[DeliveredPush]>([])
        simulator.courier.connect(device: "phone") { push in got.withLock { $0.append(push) } }
        #expect(got.withLock { $0 }.isEmpty)
        simulator.courier.setOnline(device: "phone", true)
        let push = try #require(got.withLock { $0 }.first)
        #expect(push.payload == Array(#"{"n":1.10}"#.utf8) && push.collapseID == "x" && push.expiration == nil)
        let provider = try await scene.provider()
        let fields = [scene.authorization(), ("apns-topic", "com.example.app")]
        let answer = await provider.send("/3/device/\(before.dead.hex)", fields)
        #expect(answer?.body == #"{"reason":"Unregistered","timestamp":77}"#)
        await provider.close()
      }
    }
  }

  @Test("a folder that cannot be, a damaged key, and a port in use are told, and nothing is left running")
  func cannotStart() async throws {
    try await withFolder { path in
      try PrivateFolder(path).write([1], to: "file")
      var configuration = APNSSimulator.Configuration()
      configuration.dataFolder = "\(path)/file/folder"
      await #expect(throws: SimulatorFault.self) { try await APNSSimulator.start(configuration) }
      configuration.dataFolder = path
      let first = try await APNSSimulator.start(configuration)
      configuration.listen = first.endpoint
      configuration.dataFolder = nil
      await #expect(throws: TransportFault.self) { try await APNSSimulator.start(configuration) }
      await first.stop()
      try PrivateFolder(path).write(Array("no key".utf8), to: "AuthKey_\(first.credentials.keyID).p8")
      configuration.dataFolder = path
      await #expect(throws: KeyFault.self) { try await APNSSimulator.start(configuration) }
    }
  }
}
