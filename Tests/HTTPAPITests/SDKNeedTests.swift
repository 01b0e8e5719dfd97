import Foundation
import HTTPAPI
import PushPayload
import PushService
import Testing

/// What JPush's server SDKs need beyond the papers (jpush.md §12 to §14), each as the SDK says it on the wire. The Python
/// SDK itself is driven in EndToEndTests; the others do not run here.
@Suite("What SDKs need", .timeLimit(.minutes(2)))
struct SDKNeedTests {
  private struct Need: Sendable {
    var sdk: String
    var method: String
    var target: String
    var headers: [String: String] = [:]
    var body: String?
    var who: Who = .app
    var status = 200
    /// The keys of the answer, all of them; nil for an empty body.
    var keys: Set<String>?

    enum Who { case app, group, developer }
  }

  private static let push = #"{"platform":["ios"],"audience":"all","notification":{"alert":"hi"}}"#
  private static let schedule =
    #"{"name":"n","enabled":true,"trigger":{"single":{"time":"2027-01-15 09:00:00"}},"push":\#(push)}"#

  /// DEVICE, SCHEDULE and FILE stand for ids.
  private static let needs: [Need] = [
    // JSON of the wrong type by name, on every call
    Need(
      sdk: "Python: a malformed content type", method: "GET", target: "/v3/devices/DEVICE",
      headers: ["Content-Type": "application/json;charset:utf-8"], keys: ["tags", "alias", "mobile"]),
    Need(
      sdk: "docs: JSON as a form", method: "POST", target: "/v3/push/validate",
      headers: ["Content-Type": "application/x-www-form-urlencoded"], body: push, keys: ["sendno", "msg_id"]),
    Need(
      sdk: "Python: no audience is null", method: "POST", target: "/v3/push",
      body: #"{"platform":"all","audience":null,"notification":{"alert":"hi"}}"#, status: 400, keys: ["error"]),
    Need(sdk: "Python: collections with a slash", method: "GET", target: "/v3/tags/", keys: ["tags"]),
    Need(
      sdk: "Python: commas encoded", method: "GET", target: "/v3/received?msg_ids=1%2C2",
      headers: ["Content-Type": "application/json;charset:utf-8"], keys: []),
    // PHP
    Need(
      sdk: "PHP: a doubled slash, and an offer of h2c", method: "POST", target: "/v3//push/validate",
      headers: [
        "Connection": "Upgrade, HTTP2-Settings", "Upgrade": "h2c", "HTTP2-Settings": "AAMAAABkAAQCAAAAAAIAAAAA",
      ], body: push, keys: ["sendno", "msg_id"]),
    Need(sdk: "PHP: a slash before the query", method: "GET", target: "/v3/messages/?msg_ids=1,2", keys: []),
    Need(
      sdk: "PHP: users", method: "GET", target: "/v3/users/?time_unit=DAY&start=2026-11-01&duration=3",
      keys: ["time_unit", "start", "duration", "items"]),
    Need(
      sdk: "PHP: an alias by platform", method: "GET", target: "/v3/aliases/alias2/?platform=ios,android",
      keys: ["registration_ids"]),
    Need(
      sdk: "PHP: three keys of a device", method: "GET", target: "/v3/devices/DEVICE",
      keys: ["tags", "alias", "mobile"]),
    Need(
      sdk: "PHP: its misspelt date", method: "POST", target: "/v3/status/message",
      body: #"{"msg_id":"1","registration_ids":["DEVICE"],"data":"2026-11-30"}"#, keys: ["DEVICE"]),
    // Node
    Need(
      sdk: "Node: status with a slash", method: "POST", target: "/v3/devices/status/",
      body: #"{"registration_ids":["DEVICE"]}"#, keys: ["DEVICE"]),
    Need(
      sdk: "Node 4.2.0: a chunked body", method: "POST", target: "/v3/push/validate",
      headers: ["Transfer-Encoding": "chunked"], body: push, keys: ["sendno", "msg_id"]),
    Need(
      sdk: "Node async: tags with a doubled slash", method: "POST", target: "/v3/tags//tag1",
      body: #"{"registration_ids":{"add":["DEVICE"]}}"#),
    // Java 3
    Need(
      sdk: "Java 3: environment and classification always", method: "POST", target: "/v3/push",
      body: """
        {"platform":"all","audience":{"alias":["alias2"]},"notification":{"ios":{"alert":"hi","badge":"+1","sound":""}},\
        "options":{"sendno":12,"apns_production":true,"classification":0}}
        """, keys: ["sendno", "msg_id"]),
    Need(
      sdk: "Java 3: an unknown platform", method: "POST", target: "/v3/push",
      body: #"{"platform":"all_platform","audience":"all","notification":{"alert":"hi"}}"#, status: 400, keys: ["error"]
    ),
    Need(
      sdk: "Java 3: a group's parts are pushes", method: "POST", target: "/v3/grouppush", body: push, who: .group,
      keys: ["group_msgid", "APP"]),
    // Java 5 fails on keys that it does not know, and wants a content type with an empty body too
    Need(sdk: "Java 5: cid", method: "GET", target: "/v3/push/cid?count=3&type=push", keys: ["cidlist"]),
    Need(
      sdk: "Java 5: an alias anew", method: "GET", target: "/v3/aliases/alias2?new_format=true", keys: ["data"]),
    Need(
      sdk: "Java 5: a tag's member", method: "GET", target: "/v3/tags/tag1/registration_ids/DEVICE", keys: ["result"]),
    Need(
      sdk: "Java 5: a schedule", method: "POST", target: "/v3/schedules", body: schedule, keys: ["schedule_id", "name"]),
    Need(
      sdk: "Java 5: its list", method: "GET", target: "/v3/schedules?page=1",
      keys: ["total_count", "total_pages", "page", "schedules"]),
    Need(
      sdk: "Java 5: nothing to say", method: "POST", target: "/v3/devices/DEVICE", body: #"{"tags":{"add":["tag2"]}}"#),
    Need(sdk: "Java 5: files", method: "GET", target: "/v3/files", keys: ["total_count", "files"]),
    Need(
      sdk: "Java 5: a number for msg_id", method: "POST", target: "/v3/status/message",
      body: #"{"msg_id":1,"registration_ids":["DEVICE"]}"#, keys: ["DEVICE"]),
    Need(sdk: "Java 5: quota", method: "GET", target: "/v3/push/quota", keys: ["data"]),
    // Go
    Need(sdk: "Go cavlabs: asks what the host speaks", method: "HEAD", target: "/", status: 404),
    Need(
      sdk: "Go cavlabs: an alias without a question mark", method: "GET", target: "/v3/aliases/alias2&new_format=true",
      keys: ["data"]),
    Need(
      sdk: "Go DeanThompson: always the sandbox", method: "POST", target: "/v3/push/validate",
      body: """
        {"platform":"ios","audience":"all","notification":{"alert":"hi"},"options":{"apns_production":false}}
        """, status: 400, keys: ["error"]),
    // the Admin API
    Need(
      sdk: "Java 3: an app is deleted by DELETE", method: "DELETE", target: "/v1/app/000000000000000000000000",
      who: .developer, keys: ["error"]),
    Need(
      sdk: "PHP: an app is made with a slash", method: "POST", target: "/v1/app/",
      body: #"{"app_name":"n","android_package":"com.example.more","group_name":null}"#, who: .developer,
      keys: ["app_key", "android_package", "is_new_created", "master_secret"]),
  ]

  @Test("§12–§14 each call is answered as its SDK reads it", arguments: needs.map(\.sdk))
  func answers(sdk: String) async throws {
    let need = try #require(Self.needs.first { $0.sdk == sdk })
    try await Bench.with(.live) { bench in
      let device = try await bench.device(1, alias: "alias2", tags: ["tag1", "tag2"])
      let group = try await bench.service.createGroup(name: nil)
      try await bench.service.addApp(key: bench.app.appKey, toGroup: group.group.key)
      let developer = try await bench.service.createDeveloper(name: nil)
      let who: Bench.Who =
        switch need.who {
        case .app: .app
        case .group: .other("group-\(group.group.key)", group.masterSecret)
        case .developer: .other(developer.developer.key, developer.secret)
        }
      func filled(_ text: String) -> String {
        text.replacing("DEVICE", with: device).replacing("APP", with: bench.app.appKey)
      }
      let reply = try await bench.call(
        need.method, filled(need.target), as: who, headers: need.headers, need.body.map(filled))
      #expect(reply.status == need.status, "\(reply.text)")
      #expect(reply.headers["content-type"]?.hasPrefix("application/json") == true)
      for name in ["limit", "quota", "remaining", "reset"] {
        #expect(reply.headers["x-rate-limit-\(name)"].flatMap { Int($0) } != nil, "an SDK reads it as a number")
      }
      guard let keys = need.keys else { return #expect(reply.text.isEmpty, "\(reply.text)") }
      let found = Set(reply.json.object?.members.map(\.key) ?? [])
      #expect(found == Set(keys.map(filled)), "\(reply.text)")
      if let id = reply.json.object?["msg_id"]?.string { #expect(Int64(id) != nil, "a long, of digits") }
      if let number = reply.json.object?["sendno"]?.string { #expect(Int32(number) != nil, "an int, of digits") }
    }
  }

  @Test("Java 3 and Node: every key and secret is 24 letters and digits")
  func keys() async throws {
    try await Bench.with(.inProcess) { bench in
      let group = try await bench.service.createGroup(name: nil)
      let developer = try await bench.service.createDeveloper(name: nil)
      for text in [
        bench.app.appKey, bench.app.masterSecret, group.group.key, group.masterSecret, developer.developer.key,
        developer.secret,
      ] {
        #expect(text.utf8.count == 24 && text.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) })
      }
    }
  }
}
