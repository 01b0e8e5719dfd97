import Audience
import Basics
import BelfryTesting
import Delivery
import PushPayload
import PushService
import Store
import Testing

@testable import HTTPAPI

@Suite("The audit log over /v1", .timeLimit(.minutes(1)))
struct AuditCallTests {
  private func entries(_ bench: Bench, _ query: String = "") async throws -> [JSONObject] {
    let reply = try await bench.call("GET", "/v1/audit\(query)")
    return try #require(reply.json.object?["entries"]?.array, "\(reply.text)").compactMap(\.object)
  }

  @Test(
    "tells who changed what, when and from where; reading, and what was refused, is not in it",
    arguments: Depth.allCases)
  func tells(depth: Depth) async throws {
    try await Bench.with(depth) { bench in
      let device = try await bench.device(1)
      _ = try await bench.device(2)
      bench.clock.advance(by: .hours(1))
      let push = try await bench.call(
        "POST", "/v3/push",
        "{\"platform\":\"ios\",\"audience\":\"all\",\"notification\":{\"alert\":\"a\"},\"options\":{\"belfry_per_second\":1}}"
      )
      let message = try #require(push.json.object?["msg_id"]?.string, "\(push.text)")
      try await bench.call("POST", "/v1/pushes/\(message)/pause")
      try await bench.call("DELETE", "/v3/push/\(message)")
      try await bench.call("PUT", "/v1/segments/s", "{\"audience\":\"everyone\"}")
      try await bench.call("DELETE", "/v1/segments/none")
      try await bench.call("GET", "/v1/devices")
      try await bench.call("DELETE", "/v1/devices/\(device)")
      let all = try await entries(bench)
      #expect(
        all.compactMap { $0["kind"]?.string }
          == ["device.deleted", "segment.kept", "push.withdrawn", "push.paused", "push.sent", "app.made"])
      #expect(all.compactMap { $0["subject"]?.string } == [device, "s", message, message, message, bench.app.appKey])
      for entry in all.dropLast() {
        #expect(entry["by"] == ["kind": "app", "key": .string(bench.app.appKey)])
        #expect(entry["appKey"] == .string(bench.app.appKey))
        #expect(entry["at"]?.string == bench.clock.now.description)
        #expect(entry["address"] == (depth == .live ? "127.0.0.1" : .null))
      }
      #expect(all.last?["by"] == ["kind": "service", "key": .null])
    }
  }

  @Test("names calls of /v3 and /v1 that change tags, aliases and files, or send; not what a device says of itself")
  func calls() async throws {
    try await Bench.with(.inProcess) { bench in
      let device = try await bench.device(1)
      _ = try await bench.device(2)
      try await bench.call("POST", "/v3/devices/\(device)", "{\"alias\":\"lin\",\"tags\":{\"add\":[\"vip\"]}}")
      try await bench.call("POST", "/v3/devices/\(device)", "{\"alias\":\"lin\"}")
      try await bench.call("PATCH", "/v1/devices/\(device)", "{\"mobile\":\"1\"}")
      try await bench.call("POST", "/v3/tags/vip", "{\"registration_ids\":{\"add\":[\"\(device)\"],\"remove\":[]}}")
      try await bench.call("PATCH", "/v1/tags/new", "{\"add\":[\"\(device)\"]}")
      try await bench.call("DELETE", "/v1/tags/new")
      try await bench.call("DELETE", "/v3/tags/vip")
      try await bench.call("DELETE", "/v3/aliases/lin")
      try await bench.call("DELETE", "/v3/aliases/lin")
      let channel = try await bench.call("POST", "/v1/channels", "{}")
      let id = try #require(channel.json.object?["id"]?.string, "\(channel.text)")
      let path = id.replacing("+", with: "%2B").replacing("/", with: "%2F")
      try await bench.call("POST", "/v1/channels/\(path)/end", "{\"contentState\":{}}")
      try await bench.call("DELETE", "/v1/channels/\(path)")
      try await bench.call(
        "POST", "/v3/push", "{\"platform\":\"ios\",\"audience\":\"all\",\"message\":{\"msg_content\":\"m\"}}")
      let told = try await entries(bench).map { "\($0["kind"]?.string ?? ""): \($0["words"]?.string ?? "")" }
      #expect(
        told.dropLast() == [
          "push.sent: a message", "channel.deleted: ", "push.sent: end of the Live Activity on a channel",
          "channel.made: ",
          "alias.deleted: ", "tag.deleted: ", "tag.deleted: ", "tag.changed: 1 added, 0 removed", "device.changed: ",
          "device.changed: ",
        ])
    }
  }

  @Test("by kind and time, page by page; only the app's own; never a secret")
  func filters() async throws {
    try await Bench.with(.inProcess) { bench in
      let other = try await bench.service.createApp(bundleID: "com.example.other", name: nil)
      let made = try await bench.service.createDeveloper(name: "build server")
      let developer = Bench.Who.other(made.developer.key, made.secret)
      bench.clock.advance(by: .hours(1))
      let renewed = try await bench.call("POST", "/v1/apps/\(other.appKey)/secret", as: developer)
      let secret = try #require(renewed.json.object?["masterSecret"]?.string)
      for name in ["a", "b", "c"] {
        bench.clock.advance(by: .hours(1))
        try await bench.call("PUT", "/v1/segments/\(name)", "{\"audience\":\"everyone\"}")
      }
      #expect(try await entries(bench, "?kind=segment.kept").compactMap { $0["subject"]?.string } == ["c", "b", "a"])
      let (from, before) = ((bench.clock.now - .hours(1)).description, bench.clock.now.description)
      #expect(try await entries(bench, "?from=\(from)&before=\(before)").compactMap { $0["subject"]?.string } == ["b"])
      var pages: [String] = []
      var cursor = ""
      while true {
        let reply = try await bench.call("GET", "/v1/audit?limit=1\(cursor)")
        pages += reply.json.object?["entries"]?.array?.compactMap { $0.object?["subject"]?.string } ?? []
        guard let next = reply.json.object?["next"]?.string else { break }
        cursor = "&cursor=\(next)"
      }
      #expect(pages == ["c", "b", "a", bench.app.appKey])
      let theirs = try await bench.call("GET", "/v1/audit", as: .other(other.appKey, secret))
      let kinds = theirs.json.object?["entries"]?.array?.compactMap { $0.object?["kind"]?.string }
      #expect(kinds == ["app.secretRenewed", "app.made"])
      #expect(
        theirs.json.object?["entries"]?.array?.first?.object?["by"]
          == ["kind": "developer", "key": .string(made.developer.key)])
      #expect(!theirs.text.contains(secret) && !theirs.text.contains(made.secret))
      for query in ["kind=segment", "from=yesterday", "before=1", "cursor=x", "who=me"] {
        let refused = try await bench.call("GET", "/v1/audit?\(query)")
        #expect(refused.status == 400, "\(query)")
        #expect(refused.json.object?["place"]?.string == String(query.prefix { $0 != "=" }))
      }
    }
  }

  @Test("the document knows every kind")
  func kinds() {
    let schemas = OpenAPIDocument.document.object?["components"]?.object?["schemas"]?.object
    let known = schemas?["AuditKind"]?.object?["enum"]?.array?.compactMap(\.string)
    #expect(known == AuditKind.allCases.map(\.word))
  }
}
