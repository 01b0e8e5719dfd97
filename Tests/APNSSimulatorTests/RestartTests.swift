import Basics
import PushPayload
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

  @Test("§6 §7 what Apple did to keys, teams and certificates outlives a restart, and so do keys that were made")
  func providers() async throws {
    try await withFolder { path in
      let topic = ("apns-topic", "com.example.app")
      func answer(_ scene: LiveScene, _ authorization: (String, String)) async throws -> String? {
        let token = scene.simulator.issueToken(device: "phone", bundle: "com.example.app").hex
        let provider = try await scene.provider()
        let answer = await provider.send("/3/device/\(token)", [authorization, topic])
        await provider.close()
        return answer.map { "\($0.status) \($0.body)" }
      }
      struct Made: Sendable {
        var key: MadeKey
        var gone: MadeKey
        var certificate: TLSIdentity
      }
      let made = try await LiveScene.run({ $0.dataFolder = path }) { scene in
        let key = try await MadeKey(scene, #"{"topics":["com.example.app"],"environment":"sandbox","family":"f"}"#)
        let gone = try await MadeKey(scene, "{}")
        #expect(try await answer(scene, gone.authorization) == "200 ")
        #expect(try await scene.control("DELETE", "/keys/\(gone.keyID)").status == 204)
        let certificate = try await scene.control("POST", "/certificates", #"{"bundle":"com.example.app"}"#)
        let fingerprint = try #require(certificate["fingerprint"]?.string)
        #expect(try await scene.control("DELETE", "/certificates/\(fingerprint)").status == 204)
        let team = scene.simulator.credentials.teamID
        #expect(try await scene.control("PUT", "/teams/\(team)", #"{"membership":"suspended"}"#).status == 200)
        let identity = try TLSIdentity(pem: Array(#require(certificate["pem"]?.string).utf8))
        return Made(key: key, gone: gone, certificate: identity)
      }
      for isLast in [false, true] {
        try await LiveScene.run({ $0.dataFolder = path }) { scene in
          let team = scene.simulator.credentials.teamID
          if !isLast {
            #expect(try await answer(scene, scene.authorization()) == #"403 {"reason":"Forbidden"}"#)
            #expect(try await scene.control("PUT", "/teams/\(team)", #"{"membership":"active"}"#).status == 200)
          }
          #expect(try await answer(scene, scene.authorization()) == "200 ")
          #expect(try await answer(scene, made.key.authorization) == "200 ")
          #expect(try await answer(scene, made.gone.authorization) == #"403 {"reason":"InvalidProviderToken"}"#)
          let revoked = try await scene.provider(identity: made.certificate)
          #expect(await revoked.until { $0.contains(.closed) }.contains(.goAway(#"{"reason":"BadCertificate"}"#)))
        }
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

/// A key that the control API made.
private struct MadeKey: Sendable {
  let keyID: String
  let authorization: (String, String)

  init(_ scene: LiveScene, _ wish: String) async throws {
    let made = try await scene.control("POST", "/keys", wish)
    keyID = try #require(made["keyId"]?.string)
    let key = try P256PrivateKey(pem: Array(#require(made["p8"]?.string).utf8))
    let signed =
      #"{"alg":"ES256","kid":"\#(keyID)"}"#.utf8.base64URL + "."
      + #"{"iss":"\#(scene.simulator.credentials.teamID)","iat":\#(SystemClock().now.seconds)}"#.utf8.base64URL
    authorization = ("authorization", "bearer \(signed).\((key.derSignature(of: Array(signed.utf8)) ?? []).base64URL)")
  }
}
