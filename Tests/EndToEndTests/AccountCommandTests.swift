import Foundation
import HTTPClient
import Testing

/// The commands that make groups and developers, and what a running service takes from those whom they made.
@Suite("belfry group and belfry dev")
struct AccountCommandTests {
  private static func json(_ words: [String], _ data: String) async throws -> Any {
    let answer = try await BelfryProcess.run(words + ["--data", data, "--json"])
    try #require(answer.status == 0, "\(words): \(answer.errors)")
    return try JSONSerialization.jsonObject(with: Data(answer.output.utf8))
  }

  private static func call(
    _ url: String, _ basic: (user: String, password: String), _ body: String
  ) async throws -> (status: Int, body: [String: Any]) {
    let answer = try await HTTPClient().call("POST", url, basic: basic, body: Array(body.utf8))
    return (answer.status, try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any] ?? [:])
  }

  @Test("a group is made, filled and listed; its key pushes to its apps under a running service")
  func group() async throws {
    let folder = try TemporaryFolder()
    let data = folder.path + "data"
    let app = try #require(
      try await Self.json(["app", "create", "--bundle", "com.example.app"], data) as? [String: String])
    let service = try BelfryProcess(["serve", "--listen", "127.0.0.1:0", "--data", data])
    let api = try #require(try await service.event("listening")["api"])
    let made = try #require(try await Self.json(["group", "create", "--name", "All"], data) as? [String: String])
    let key = try #require(made["groupKey"])
    let appKey = try #require(app["appKey"])
    let added = try await BelfryProcess.run(["group", "add", key, appKey, "--data", data])
    #expect(added.status == 0, "\(added.errors)")
    let groups = try #require(try await Self.json(["group", "list"], data) as? [[String: Any]])
    #expect(groups.map { $0["groupKey"] as? String } == [key])
    #expect(groups.first?["name"] as? String == "All")
    #expect(groups.first?["apps"] as? [String] == [appKey])

    let credentials = (user: "group-\(key)", password: try #require(made["masterSecret"]))
    let push = #"{"platform": "ios", "audience": "all", "notification": {"alert": "hi"}}"#
    let nobody = try await Self.call(api + "/v3/grouppush", credentials, push)
    let told = try #require(nobody.body[appKey] as? [String: Any], "\(nobody)")
    #expect((told["error"] as? [String: Any])?["code"] as? Int == 1011, "the app has no device yet")
    let stranger = try await Self.call(api + "/v3/grouppush", (credentials.user, "no"), push)
    #expect(stranger.status == 401)

    let wrong = try await BelfryProcess.run(["group", "add", key, "nobody", "--data", data])
    #expect(wrong.status == 1)
    #expect(wrong.errors.contains("nobody"), "\(wrong.errors)")
  }

  @Test("a developer makes an app by JPush's Admin API with what the command printed")
  func developer() async throws {
    let folder = try TemporaryFolder()
    let data = folder.path + "data"
    let service = try BelfryProcess(["serve", "--listen", "127.0.0.1:0", "--data", data])
    let api = try #require(try await service.event("listening")["api"])
    let made = try #require(try await Self.json(["dev", "create", "--name", "Lin"], data) as? [String: String])
    let credentials = (user: try #require(made["devKey"]), password: try #require(made["devSecret"]))
    let body = #"{"app_name": "Chat", "android_package": "com.example.chat"}"#
    let answer = try await Self.call(api + "/v1/app", credentials, body)
    #expect(answer.status == 200 && answer.body["is_new_created"] as? Bool == true, "\(answer)")
    let apps = try await BelfryProcess.run(["apps", "list", "--data", data])
    #expect(apps.output.contains("com.example.chat"), "\(apps)")
  }
}
