import Basics
import Foundation
import HTTPClient
import Testing

extension ServiceScene {
  /// A push to a phone that registers for it; answers the message's id.
  fileprivate func push(at api: String) async throws -> String {
    _ = try await register("phone", at: api)
    return try await push("all", at: api)
  }

  fileprivate func call(
    _ method: String, _ url: String, _ body: [String: Any]? = nil
  ) async throws -> (status: Int, object: [String: Any]) {
    try await call(method, url, body, secret: masterSecret)
  }
}

@Suite("Credentials and secrets beside a running service", .serialized)
struct CredentialProcessTests {
  @Test("a key that a command brings reaches the running service; what waited goes out; nothing of the key is in clear")
  func uploaded() async throws {
    let scene = try await ServiceScene(hasCredential: false)
    let (service, api) = try await scene.serve()
    try await service.complaint(#""event":"no_credentials""#)
    let message = try await scene.push(at: api)
    try await scene.waitUntil("it waits") { try await scene.report(message, at: api)["state"] as? String == "waiting" }

    let file = try #require(scene.places["key"])
    let added = try await BelfryProcess.run([
      "credentials", "add", file, "--key-id", try #require(scene.places["keyId"]), "--team-id",
      try #require(scene.places["teamId"]), "--data", scene.data,
    ])
    #expect(added.status == 0, "\(added.errors)")
    try await scene.waitUntil("it is sent") { try await scene.report(message, at: api)["accepted"] as? Int == 1 }

    let pem = try String(contentsOfFile: file, encoding: .utf8)
    let lines = pem.split(separator: "\n").filter { !$0.hasPrefix("-----") }.map(String.init)
    let der = try #require(Data(base64Encoded: lines.joined()))
    for name in try FileManager.default.contentsOfDirectory(atPath: scene.data) where name.hasPrefix("belfry.db") {
      let bytes = try Data(contentsOf: URL(filePath: scene.data + "/" + name))
      #expect(bytes.range(of: Data("PRIVATE KEY".utf8)) == nil, "\(name)")
      for line in lines { #expect(bytes.range(of: Data(line.utf8)) == nil, "\(name)") }
      // 32 bytes from the 36th on are the private number (RFC 5958, RFC 5915)
      #expect(bytes.range(of: der[36..<68]) == nil, "\(name)")
    }
    let listed = try await BelfryProcess.run([
      "credentials", "list", "--server", api, "--app", "\(scene.appKey):\(scene.masterSecret)",
    ])
    #expect(listed.status == 0 && listed.output.contains("key \(scene.places["keyId"] ?? "") of team"), "\(listed)")
    for text in [added.output, added.errors, listed.output, service.output, service.errorOutput] {
      #expect(!text.contains("PRIVATE KEY"))
      for line in lines { #expect(!text.contains(line)) }
    }
    service.signal(SIGTERM)
    #expect(try await service.end() == 0)
  }

  @Test("under another sealing key the service does not start, and says whose credential does not open")
  func otherSealingKey() async throws {
    let scene = try await ServiceScene(hasCredential: false)
    let added = try await BelfryProcess.run([
      "credentials", "add", try #require(scene.places["key"]), "--key-id", try #require(scene.places["keyId"]),
      "--team-id", try #require(scene.places["teamId"]), "--data", scene.data, "--app", scene.appKey,
    ])
    #expect(added.status == 0, "\(added.errors)")
    let failed = try await BelfryProcess.run(
      ["serve", "--config", scene.folder.path + "/belfry.json5"],
      environment: ["BELFRY_SEALING_KEY": String(repeating: "0a", count: 32)])
    #expect(failed.status == 1 && failed.errors.contains("app \(scene.appKey)"), "\(failed.errors)")
    #expect(failed.errors.contains("sealed under another key"))
  }

  @Test("a new sealing key: not while the service runs; then it alone seals, and the service goes on")
  func newSealingKey() async throws {
    let scene = try await ServiceScene(hasCredential: false)
    let added = try await BelfryProcess.run([
      "credentials", "add", try #require(scene.places["key"]), "--key-id", try #require(scene.places["keyId"]),
      "--team-id", try #require(scene.places["teamId"]), "--data", scene.data,
    ])
    #expect(added.status == 0, "\(added.errors)")
    let path = scene.data + "/sealing.key"
    let former = try String(contentsOfFile: path, encoding: .utf8)
    var (service, _) = try await scene.serve()
    let refused = try await BelfryProcess.run(["sealing", "rotate", "--data", scene.data])
    #expect(refused.status == 1 && refused.errors.contains("in use"), "\(refused.errors)")
    #expect(try String(contentsOfFile: path, encoding: .utf8) == former)
    service.signal(SIGTERM)
    #expect(try await service.end() == 0)
    let rotated = try await BelfryProcess.run(["sealing", "rotate", "--data", scene.data])
    #expect(rotated.status == 0, "\(rotated.errors)")
    let keys = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map(String.init)
    #expect(keys.count == 2 && keys[1] + "\n" == former)
    #expect(!rotated.output.contains(keys[0]))
    // the new key alone opens everything
    try Data(keys[0].utf8).write(to: URL(filePath: path))
    let api: String
    (service, api) = try await scene.serve()
    let message = try await scene.push(at: api)
    try await scene.waitUntil("it is sent") { try await scene.report(message, at: api)["accepted"] as? Int == 1 }
    service.signal(SIGTERM)
    #expect(try await service.end() == 0)
  }

  @Test("a secret that a command renewed: the old one is refused by the running service within seconds")
  func renewedSecret() async throws {
    let scene = try await ServiceScene(hasCredential: false)
    let (service, api) = try await scene.serve()
    #expect(try await scene.call("GET", api + "/v1/tags").status == 200)
    let renewed = try await BelfryProcess.run(["apps", "secret", scene.appKey, "--data", scene.data, "--json"])
    let object = try JSONSerialization.jsonObject(with: Data(renewed.output.utf8)) as? [String: String]
    let secret = try #require(object?["masterSecret"], "\(renewed.errors)")
    try await scene.waitUntil("the old one is refused", within: 5) {
      try await scene.call("GET", api + "/v1/tags").status == 401
    }
    #expect(try await scene.call("GET", api + "/v1/tags", secret: secret).0 == 200)
    service.signal(SIGTERM)
    #expect(try await service.end() == 0)
  }

  @Test("the audit log tells what calls and commands did beside each other, and holds no secret")
  func audit() async throws {
    let scene = try await ServiceScene(hasCredential: false)
    let (service, api) = try await scene.serve()
    #expect(try await scene.call("PUT", api + "/v1/segments/all", ["audience": "everyone"]).status == 200)
    let devices = scene.folder.path + "/devices.csv"
    try Data("token\n\(String(repeating: "0a", count: 32))\n".utf8).write(to: URL(filePath: devices))
    for words in [
      [
        "credentials", "add", try #require(scene.places["key"]), "--key-id", try #require(scene.places["keyId"]),
        "--team-id", try #require(scene.places["teamId"]), "--data", scene.data,
      ],
      ["devices", "import", devices, "--data", scene.data],
      ["backup", scene.folder.path + "/backup", "--data", scene.data],
      ["apps", "secret", scene.appKey, "--server", api, "--app", "\(scene.appKey):\(scene.masterSecret)"],
    ] {
      let run = try await BelfryProcess.run(words)
      #expect(run.status == 0, "\(words): \(run.errors)")
    }
    let former = try await BelfryProcess.run(
      ["apps", "secret", scene.appKey, "--server", api, "--app", "\(scene.appKey):\(scene.masterSecret)"])
    #expect(former.status == 1 && former.errors.contains("answered 401"), "\(former)")
    let told = try await BelfryProcess.run(["audit", "list", "--data", scene.data, "--json"])
    let lines = try told.output.split(separator: "\n").map {
      try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
    }
    #expect(
      lines.compactMap { $0["kind"] as? String } == [
        "app.secretRenewed", "backup.made", "devices.imported", "credential.added", "segment.kept", "app.made",
      ], "\(told)")
    let doers = lines.compactMap { ($0["by"] as? [String: Any])?["kind"] as? String }
    #expect(doers == ["app", "command", "command", "command", "app", "command"])
    #expect(lines[4]["address"] as? String == "127.0.0.1")
    #expect(lines[2]["words"] as? String == "1 new, 0 there before, 0 lines not taken")
    #expect(!told.output.contains(scene.masterSecret) && !told.output.contains("PRIVATE KEY"))
    let one = try await BelfryProcess.run(["audit", "list", "--data", scene.data, "--kind", "segment.kept"])
    #expect(one.output.split(separator: "\n").count == 1 && one.output.contains("from 127.0.0.1"), "\(one)")
    service.signal(SIGTERM)
    #expect(try await service.end() == 0)
  }
}
