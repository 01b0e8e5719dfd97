import Audience
import Basics
import Store

enum StoreSealingCases {
  private static let noon = StoreSamples.noon

  static let all: [ConformanceCase<any Store>] = [
    ConformanceCase("secrets are sealed anew, all or none; versions stay, so that nobody goes over to what is the same")
    {
      store in
      let app = try await store.sampleApp("one")
      let note = AuditNote(.sealingKeyRenewed, at: noon, doer: AuditDoer(.command))
      for environment in [APNSEnvironment.sandbox, .production] {
        _ = try await store.addCredential(
          StoredCredential(
            app: app, environments: [environment], name: "k", fingerprint: "f", secret: [environment.rawValue],
            createdAt: noon, uploadedAt: noon))
      }
      _ = try await store.createWebhook(
        StoredWebhook(
          app: app, url: "https://a.example/", events: [.clicked], isEnabled: true, secret: [5], request: [],
          createdAt: noon), limit: 9, clientIDsSince: noon)
      func secrets() async throws -> [[UInt8]] {
        try await store.credentials().map(\.secret) + store.webhooks(app: app, after: 0, limit: 9).map(\.secret)
      }
      let versions = try await store.credentialVersions()
      try expect(try await store.reseal(audit: note) { $1 == [5] ? nil : [9] }, is: false)
      try expect(try await secrets(), is: [[0], [1], [5]])
      try expect(
        try await store.reseal(audit: note) { secret, bytes in
          switch secret {
          case .credential: bytes + [7]
          case .webhook, .formerOfWebhook: bytes + [8]
          }
        }, is: true)
      try expect(try await secrets(), is: [[0, 7], [1, 7], [5, 8]])
      try expect(try await store.credentialVersions(), is: versions)
      let notes = try await store.audit(.init(kind: .sealingKeyRenewed), before: nil, limit: 9)
      try expect(notes.map(\.note), is: [note])
    }
  ]
}
