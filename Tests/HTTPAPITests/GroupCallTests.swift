import Audience
import Basics
import BelfryTesting
import Delivery
import PushPayload
import PushService
import Testing

@Suite("POST /v3/grouppush", .timeLimit(.minutes(2)))
struct GroupCallTests {
  private static func push(_ audience: String, _ rest: String = "") -> String {
    "{\"platform\":\"all\",\"audience\":\(audience),\"notification\":{\"alert\":\"hi\"}\(rest)}"
  }

  /// A group of the bench's app and of another, whose credentials come back.
  private func group(_ bench: Bench) async throws -> (who: Bench.Who, other: NewApp) {
    let group = try await bench.service.createGroup(name: "both")
    let other = try await bench.service.createApp(bundleID: "com.example.other", name: nil)
    for app in [bench.app.appKey, other.appKey, bench.app.appKey] {
      try await bench.service.addApp(key: app, toGroup: group.group.key)
    }
    return (.other("group-\(group.group.key)", group.masterSecret), other)
  }

  @Test("§5.4 each app answers for itself; a success has msg_id and sendno, in strings", arguments: Depth.allCases)
  func answersPerApp(depth: Depth) async throws {
    try await Bench.with(depth) { bench in
      let (who, other) = try await group(bench)
      _ = try await bench.device(1, alias: "lin")
      let body = Self.push("{\"alias\":[\"lin\"]}", ",\"options\":{\"sendno\":7},\"cid\":\"c1\"")
      let reply = try await bench.call("POST", "/v3/grouppush/", as: who, body)
      #expect(reply.status == 200, "\(reply.text)")
      let object = try #require(reply.json.object)
      #expect(object.members.map(\.key) == ["group_msgid", bench.app.appKey, other.appKey])
      #expect(object["group_msgid"]?.string.flatMap { Int64($0) } != nil)
      let part = try #require(object[bench.app.appKey]?.object)
      #expect(part.members.map(\.key) == ["sendno", "msg_id"] && part["sendno"] == "7")
      #expect(object[other.appKey]?.object?["error"]?.object?["code"] == 1011)
      #expect(await bench.apns.received(1).count == 1)
      let again = try await bench.call("POST", "/v3/grouppush", as: who, body)
      #expect(again.json == reply.json, "the same cid answers as before: \(again.text)")
      let record = try await bench.call("GET", "/v1/pushes/\(part["msg_id"]?.string ?? "")")
      #expect(record.status == 200, "each part is a push of its app")
    }
  }

  @Test("§2 a group's credentials are a group's, and an app's an app's")
  func keepsCredentialsApart() async throws {
    try await Bench.with(.inProcess) { bench in
      let (who, _) = try await group(bench)
      let body = Self.push("\"all\"")
      #expect(try await bench.call("POST", "/v3/grouppush", body).errorCode == 1004)
      #expect(try await bench.call("POST", "/v3/push", as: who, body).errorCode == 1004)
      let stranger = Bench.Who.other("group-\(bench.app.appKey)", bench.app.masterSecret)
      #expect(try await bench.call("POST", "/v3/grouppush", as: stranger, body).errorCode == 1004)
      let report = try await bench.call("GET", "/v3/group/users?time_unit=DAY&start=2026-11-30&duration=1")
      #expect(report.status == 401 && report.errorCode == 3001)
      let empty = try await bench.service.createGroup(name: nil)
      let nobody = Bench.Who.other("group-\(empty.group.key)", empty.masterSecret)
      let reply = try await bench.call("POST", "/v3/grouppush", as: nobody, body)
      #expect(reply.status == 400 && reply.errorCode == 1011)
    }
  }

  @Test("§8 a group's reports are the sums of its apps'")
  func sums() async throws {
    try await Bench.with(.inProcess) { bench in
      let (who, other) = try await group(bench)
      _ = try await bench.device(1)
      for number in 2...3 {
        _ = try await bench.service.register(
          appKey: other.appKey, DeviceRegistration(token: Bench.token(number).hex, environment: .production))
      }
      let push = try await bench.call("POST", "/v3/grouppush", as: who, Self.push("\"all\""))
      let id = try #require(push.json.object?["group_msgid"]?.string, "\(push.text)")
      var ios = JSONObject()
      for _ in 0..<100_000 where ios["apns_sent"] != 3 {
        let reply = try await bench.call("GET", "/v3/group/messages/detail?group_msgids=\(id),5", as: who)
        let items = reply.json.array?.compactMap(\.object) ?? []
        #expect(items.map { $0["group_msgid"] } == [.string(id), "5"])
        #expect(items.last?["ios"]?.object?["apns_sent"] == .null)
        ios = try #require(items.first?["ios"]?.object)
      }
      #expect(ios["apns_target"] == 3 && ios["apns_sent"] == 3)
      let day = bench.clock.now.description.prefix(10)
      let users = try await bench.call("GET", "/v3/group/users?time_unit=DAY&start=\(day)&duration=2", as: who)
      let new = users.json.object?["items"]?.array?.compactMap { $0.object?["ios"]?.object?["new"]?.number?.int64 }
      #expect(new?.reduce(0, +) == 3, "\(users.text)")
      let another = try await bench.service.createGroup(name: nil)
      let stranger = Bench.Who.other("group-\(another.group.key)", another.masterSecret)
      let unknown = try await bench.call("GET", "/v3/group/messages/detail?group_msgids=\(id)", as: stranger)
      #expect(unknown.json.array?.first?.object?["ios"]?.object?["apns_sent"] == .null)
    }
  }
}
