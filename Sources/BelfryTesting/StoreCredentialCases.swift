import Audience
import Basics
import Store

enum StoreCredentialCases {
  private static let noon = StoreSamples.noon

  private static func credential(
    _ app: Int64, _ environments: Set<APNSEnvironment>, _ name: String = "AuthKey_ABC123DEFG.p8"
  ) -> StoredCredential {
    var credential = StoredCredential(
      app: app, environments: environments, name: name, fingerprint: "AB:CD", secret: [1, 0, 255], createdAt: noon,
      uploadedAt: noon)
    (credential.keyID, credential.teamID) = ("ABC123DEFG", "DEF123GHIJ")
    return credential
  }

  private static func add(_ credential: StoredCredential, to store: any Store) async throws -> StoredCredential {
    let answer = try await store.addCredential(credential)
    guard case .kept(let kept) = answer else { throw ConformanceFailure(description: "\(answer)") }
    return kept
  }

  static let all: [ConformanceCase<any Store>] = [
    ConformanceCase("a credential is kept whole; an app has one for each environment") { store in
      let app = try await store.sampleApp("one")
      let other = try await store.sampleApp("two")
      var certificate = StoredCredential(
        app: app, environments: [.sandbox], name: "push.p12", topics: ["com.example.app", "com.example.app.voip"],
        notBefore: noon - .days(1), notAfter: noon + .days(364), fingerprint: "EF", secret: [9], createdAt: noon,
        uploadedAt: noon)
      let first = try await add(certificate, to: store)
      certificate.id = first.id
      try expect(first, is: certificate)
      try expect(
        try await store.addCredential(credential(app, [.sandbox, .production])), is: .occupied(by: certificate))
      let second = try await add(credential(app, [.production]), to: store)
      let third = try await add(credential(other, [.sandbox, .production]), to: store)
      try expect([first.id, second.id, third.id].sorted(), is: [first.id, second.id, third.id], "ids grow")
      try expect(try await store.credential(app: app, id: first.id), is: first)
      try expect(try await store.credential(app: other, id: first.id), is: nil)
      try expect(try await store.credentials(app: app, after: 0, limit: 9), is: [first, second])
      try expect(try await store.credentials(app: app, after: first.id, limit: 9), is: [second])
      try expect(try await store.credentials(app: app, after: 0, limit: 1), is: [first])
      try expect(try await store.credentials(), is: [first, second, third])
      try expect(try await store.credentialVersions(), is: [first.id: 1, second.id: 1, third.id: 1])
    },
    ConformanceCase("a credential is rotated by version, in its place and not in another's") { store in
      let app = try await store.sampleApp("one")
      let sandbox = try await add(credential(app, [.sandbox]), to: store)
      let production = try await add(credential(app, [.production]), to: store)
      var next = production
      (next.name, next.secret, next.keyID, next.teamID) = ("new.p12", [2], nil, nil)
      next.uploadedAt = noon + .days(1)
      next.topics = ["com.example.app"]
      next.environments = [.sandbox, .production]
      try expect(try await store.rotateCredential(next), is: .occupied(by: sandbox))
      next.environments = [.production]
      let answer = try await store.rotateCredential(next)
      var kept = next
      kept.version = 2
      try expect(answer, is: .kept(kept))
      try expect(try await store.rotateCredential(next), is: .changedMeanwhile)
      try expect(try await store.credential(app: app, id: production.id), is: kept)
      var absent = kept
      absent.id = 999
      absent.environments = []
      try expect(try await store.rotateCredential(absent), is: .changedMeanwhile)
      try expect(try await store.credentialVersions(), is: [sandbox.id: 1, production.id: 2])
    },
    ConformanceCase("a credential that is deleted is gone, its id for ever; with an app go all of its") { store in
      let app = try await store.sampleApp("one")
      let other = try await store.sampleApp("two")
      let first = try await add(credential(app, [.sandbox]), to: store)
      try expect(try await store.deleteCredential(app: other, id: first.id), is: false)
      try expect(try await store.deleteCredential(app: app, id: first.id), is: true)
      try expect(try await store.deleteCredential(app: app, id: first.id), is: false)
      let again = try await add(credential(app, [.sandbox]), to: store)
      try expect(again.id > first.id, is: true)
      let others = try await add(credential(other, [.sandbox]), to: store)
      try await store.deleteApp(app, at: noon)
      try expect(try await store.credentials(), is: [others])
    },
  ]
}
