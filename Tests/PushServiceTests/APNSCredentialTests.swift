import APNSClient
import Audience
import Basics
import BelfryTesting
import Bus
import Delivery
import PushService
import Store
import StoreSQLite
import Testing
import Transport

@Suite("Credentials of apps")
struct APNSCredentialTests {
  private static func service(_ store: StoreSQLite, _ sealing: SealingKey?, _ clock: VirtualClock) -> PushService {
    PushService(
      store: store, bus: InProcessBus(clock: clock), clock: clock, seed: 1, senders: { _, _ in nil }, sealing: sealing,
      credentialReader: CredentialFiles())
  }

  private static func key(_ pem: [UInt8], team: String = "DEF123GHIJ") -> CredentialUpload {
    CredentialUpload(.key(pem, keyID: "ABC123DEFG", teamID: team), name: "AuthKey_ABC123DEFG.p8")
  }

  @Test("a secret is sealed at rest, opens for who sends, and under no other key: the fault names the app")
  func sealed() async throws {
    let (folder, clock, sealing) = (TemporaryFolder(), VirtualClock(), SealingKey.random())
    let store = try await StoreSQLite.open(folder: folder.path)
    let service = Self.service(store, sealing, clock)
    let app = try await service.createApp(bundleID: "com.example.app", name: nil).app
    let pem = try P256PrivateKey.generate().pem
    let added = try await service.addCredential(app, Self.key(pem), environment: nil)
    #expect(added.isNew && added.credential.environments == [.sandbox, .production])
    let open = try await service.openCredentials()
    #expect(open.map(\.secret) == [pem] && open.map(\.app) == [app])
    let kept = try #require(try await store.credentials().first)
    #expect(!kept.secret.contains(pem.dropFirst(28).prefix(16)))
    let other = Self.service(store, SealingKey.random(), clock)
    await #expect { try await other.openCredentials() } throws: {
      let fault = $0 as? RequestFault
      return fault?.found.contains("credential 1 of app \(app.key)") == true
        && fault?.found.contains("another key") == true
    }
    await #expect {
      try await other.addCredential(
        try await service.createApp(bundleID: "com.example.two", name: nil).app, Self.key(pem), environment: nil)
    } throws: {
      ($0 as? RequestFault)?.found.contains("another key") == true
    }
    #expect(
      try await other.rotateCredential(app, id: 1, Self.key(pem), environment: nil).version == 2,
      "the only one that does not open may be replaced")
    let without = Self.service(store, nil, clock)
    await #expect(throws: RequestFault.self) {
      try await without.addCredential(app, Self.key(pem), environment: .sandbox)
    }
    #expect(try await without.credentials(app, after: 0, limit: 9).map(\.id) == [1], "what is known needs no key")
    await store.close()
  }

  @Test("the same again changes nothing; another for an environment that has one is a conflict; rotated in its place")
  func places() async throws {
    let (folder, clock) = (TemporaryFolder(), VirtualClock())
    let store = try await StoreSQLite.open(folder: folder.path)
    let service = Self.service(store, .random(), clock)
    let app = try await service.createApp(bundleID: "com.example.app", name: nil).app
    let (first, second) = (try P256PrivateKey.generate().pem, try P256PrivateKey.generate().pem)
    let added = try await service.addCredential(app, Self.key(first), environment: .production).credential
    let again = try await service.addCredential(app, Self.key(first), environment: .production)
    #expect(!again.isNew && again.credential == added)
    for environment in [nil, .production] as [APNSEnvironment?] {
      await #expect { try await service.addCredential(app, Self.key(second), environment: environment) } throws: {
        ($0 as? RequestFault)?.code == .conflict
      }
    }
    _ = try await service.addCredential(app, Self.key(second), environment: .sandbox)
    let before = try await service.credentialVersions()
    let rotated = try await service.rotateCredential(
      app, id: added.id, Self.key(second, team: "XYZ123GHIJ"), environment: .production, ifVersion: 1)
    #expect(rotated.id == added.id && rotated.version == 2 && rotated.facts.teamID == "XYZ123GHIJ")
    #expect(try await service.credentialVersions() != before)
    await #expect {
      try await service.rotateCredential(app, id: added.id, Self.key(first), environment: .production, ifVersion: 1)
    } throws: {
      ($0 as? RequestFault)?.code == .changedMeanwhile
    }
    try await service.deleteCredential(app, id: added.id)
    #expect(try await service.openCredentials().map(\.secret) == [second])
    await #expect { try await service.deleteCredential(app, id: added.id) } throws: {
      ($0 as? RequestFault)?.code == .noSuchResource
    }
    await store.close()
  }

  @Test("C28 a certificate's end is told from 30 days ahead on")
  func ending() async throws {
    let (folder, clock) = (TemporaryFolder(), VirtualClock())
    let store = try await StoreSQLite.open(folder: folder.path)
    let service = Self.service(store, .random(), clock)
    let app = try await service.createApp(bundleID: "com.example.app", name: nil).app
    let authority = try CertificateAuthority.create(
      commonName: "Test CA", notBefore: clock.now - .days(1), notAfter: clock.now + .days(3650))
    let identity = try authority.issueClient(
      commonName: "Apple Push Services: com.example.app", userID: "com.example.app",
      extensions: [.appleSandboxPush, .appleProductionPush], notBefore: clock.now - .days(1),
      notAfter: clock.now + .days(31))
    let upload = CredentialUpload(.certificate(try identity.pkcs12(password: "p"), password: "p"), name: "push.p12")
    let added = try await service.addCredential(app, upload, environment: nil).credential
    #expect(added.warnings == [] && added.facts.topics == ["com.example.app"])
    clock.advance(by: .days(2))
    #expect(try await service.credential(app, id: added.id).warnings.first?.contains("no more than 30 days") == true)
    clock.advance(by: .days(40))
    #expect(try await service.credential(app, id: added.id).warnings.first?.contains("ended at") == true)
    await store.close()
  }
}
