import Basics
import BelfryTesting
import Delivery
import PushPayload
import PushService
import Testing

@Suite("JPush's reports", .timeLimit(.minutes(2)))
struct ReportCallTests {
  /// A push to two devices of three, one of which says that it received and opened it.
  private func pushed(_ bench: Bench) async throws -> (message: String, ids: [String]) {
    var ids: [String] = []
    for number in 1...3 { ids.append(try await bench.device(number, alias: number == 3 ? "other" : "lin")) }
    let reply = try await bench.call(
      "POST", "/v3/push",
      "{\"platform\":\"all\",\"audience\":{\"alias\":[\"lin\"]},\"notification\":{\"alert\":\"hi\"}}")
    let message = try #require(reply.json.object?["msg_id"]?.string, "\(reply.text)")
    let app = try await bench.service.authenticate(
      appKey: bench.app.appKey, masterSecret: bench.app.masterSecret)
    let number = try #require(Int64(message))
    for _ in 0..<100_000 where try await bench.service.report(app, messageID: number)?.state != .finished {
      await Task.yield()
    }
    _ = try await bench.service.note(
      app, registrationID: ids[0],
      [PushSaying(messageID: number, kind: .received), PushSaying(messageID: number, kind: .clicked)])
    return (message, ids)
  }

  @Test("§8 received and its detail, with nulls for an unknown id", arguments: Depth.allCases)
  func received(depth: Depth) async throws {
    try await Bench.with(depth) { bench in
      let (message, _) = try await pushed(bench)
      for path in [
        "/v3/received?msg_ids=\(message),3289406737", "/v3/report/received/?msg_ids=\(message)%2C3289406737",
      ] {
        let reply = try await bench.call("GET", path)
        #expect(reply.status == 200, "\(reply.text)")
        let known: JSONValue = [
          "msg_id": .string(message), "android_received": .null, "ios_apns_sent": 2, "ios_apns_received": 1,
          "ios_msg_received": .null, "wp_mpns_sent": .null,
        ]
        let unknown: JSONValue = [
          "msg_id": "3289406737", "android_received": .null, "ios_apns_sent": .null, "ios_apns_received": .null,
          "ios_msg_received": .null, "wp_mpns_sent": .null,
        ]
        #expect(reply.json == [known, unknown], "\(reply.text)")
      }
      let detail = try await bench.call("GET", "/v3/received/detail?msg_ids=\(message)")
      let item = try #require(detail.json.array?.first?.object, "\(detail.text)")
      #expect(item.members.count == 16 && item["live_acivity_sent"] == .null)
      #expect(item["ios_apns_sent"] == 2 && item["ios_apns_received"] == 1)
    }
  }

  @Test("§8 messages has four keys (PHP counts them), messages/detail also details")
  func messages() async throws {
    try await Bench.with(.inProcess) { bench in
      let (message, _) = try await pushed(bench)
      let reply = try await bench.call("GET", "/v3/messages/?msg_ids=\(message)")
      let item = try #require(reply.json.array?.first?.object, "\(reply.text)")
      #expect(item.members.map(\.key) == ["msg_id", "android", "ios", "winphone"])
      #expect(
        item["ios"] == [
          "apns_sent": 2, "apns_target": 2, "apns_received": 1, "click": 1, "target": .null, "received": .null,
        ])
      let detail = try await bench.call("GET", "/v3/messages/detail?msg_ids=\(message),99999999999999999999")
      let items = detail.json.array?.compactMap(\.object) ?? []
      #expect(items.map { $0["msg_id"] } == [.string(message), "99999999999999999999"], "no 64-bit number, so unknown")
      #expect(items.first?["ios"]?.object?["apns_click"] == 1)
      let notification = items.first?["details"]?.object?["notification"]?.object
      #expect(notification?["target"] == 2 && notification?["sent"] == 2 && notification?["click"] == 1)
      #expect(notification?["sub_ios"]?.object?["apns"]?.object?["received"] == 1)
      #expect(items.last?["ios"]?.object?["apns_sent"] == .null)
    }
  }

  static let refusals = [
    ("GET", "/v3/received", 3002), ("GET", "/v3/received?msg_ids=", 3002), ("GET", "/v3/received?msg_ids=1,,2", 3002),
    ("GET", "/v3/messages?msg_ids=1,x", 3002),
    ("GET", "/v3/messages?msg_ids=\((0...100).map(String.init).joined(separator: ","))", 3002),
    ("GET", "/v3/users?time_unit=WEEK&start=2026-11-30&duration=1", 3002),
    ("GET", "/v3/users?time_unit=DAY&start=2026-11-30", 3002),
    ("GET", "/v3/users?time_unit=DAY&start=2026-11-30&duration=0", 3002),
    ("GET", "/v3/users?time_unit=DAY&start=2026-11&duration=1", 3004),
    ("GET", "/v3/users?time_unit=MONTH&start=2026-13&duration=1", 3004),
    ("GET", "/v3/users?time_unit=HOUR&start=2026-11-30&duration=1", 3004),
    ("GET", "/v3/users?time_unit=DAY&start=2026-02-29&duration=1", 3004),
    ("GET", "/v3/users?time_unit=DAY&start=2026-11-30&duration=61", 3005),
    ("GET", "/v3/users?time_unit=HOUR&start=2026-11-30%2020&duration=5", 3005),
    ("GET", "/v3/users?time_unit=MONTH&start=2026-11&duration=3", 3005),
  ]

  @Test("§8 what is wrong has its code", arguments: refusals.indices)
  func refuses(index: Int) async throws {
    let (method, path, code) = Self.refusals[index]
    try await Bench.with(.inProcess) { bench in
      let reply = try await bench.call(method, path)
      #expect(reply.status == 400 && reply.errorCode == code, "\(reply.text)")
      let stranger = try await bench.call(method, path, as: .nobody)
      #expect(stranger.status == 401 && stranger.errorCode == 3001, "\(stranger.text)")
    }
  }

  @Test("§8 status/message takes the id as a string (Python) and as a number (Java), and any further key (PHP)")
  func status() async throws {
    try await Bench.with(.inProcess) { bench in
      let (message, ids) = try await pushed(bench)
      for id in [message, "\"\(message)\""] {
        let body = """
          {"msg_id":\(id),"registration_ids":["\(ids[0])","\(ids[1])","\(ids[2])","ghost","\(ids[0])"],"data":"2026-11-30"}
          """
        let reply = try await bench.call("POST", "/v3/status/message", body)
        #expect(
          reply.text
            == "{\"\(ids[0])\":{\"status\":0},\"\(ids[1])\":{\"status\":1},\"\(ids[2])\":{\"status\":3},\"ghost\":{\"status\":2}}"
        )
      }
      for body in [
        "no JSON", "{}", "{\"msg_id\":1}", "{\"msg_id\":\"x\",\"registration_ids\":[\"a\"]}",
        "{\"msg_id\":1,\"registration_ids\":[]}", "{\"msg_id\":1,\"registration_ids\":[1]}",
        "{\"msg_id\":1,\"registration_ids\":[\"a\"],\"date\":\"30.11.2026\"}",
      ] {
        #expect(try await bench.call("POST", "/v3/status/message", body).errorCode == 3002, "\(body)")
      }
    }
  }

  @Test("§8 users by hour, day and month, in China's days", arguments: Depth.allCases)
  func users(depth: Depth) async throws {
    try await Bench.with(depth) { bench in
      _ = try await bench.device(1)
      let start = bench.clock.now
      bench.clock.advance(by: .hours(24))
      _ = try await bench.device(2)
      _ = try await bench.device(1)
      let zone = TimeZoneRules(fixed: 8 * 3600, abbreviation: "CST")
      let first = zone.local(at: start).description
      func rows(_ unit: String, _ length: Int, _ count: Int) async throws -> [[JSONValue?]] {
        let start = String(first.prefix(length))
        let query = "time_unit=\(unit)&start=\(start.split(separator: " ").joined(separator: "%20"))&duration=\(count)"
        let reply = try await bench.call("GET", "/v3/users/?\(query)")
        let object = try #require(reply.json.object, "\(reply.text)")
        #expect(object.members.map(\.key) == ["time_unit", "start", "duration", "items"])
        #expect(object["time_unit"] == .string(unit) && object["start"] == .string(start))
        let items = object["items"]?.array?.compactMap(\.object) ?? []
        return items.map { item in
          let (ios, android) = (item["ios"]?.object, item["android"]?.object)
          return [item["time"], ios?["new"], ios?["active"], android?["new"]]
        }
      }
      let second = zone.local(at: start + .days(1)).description.prefix(10)
      let days = try await rows("DAY", 10, 2)
      #expect(days == [[.string(String(first.prefix(10))), 1, 1, 0], [.string(String(second)), 1, 2, 0]])
      let hours = try await rows("HOUR", 13, 1)
      #expect(hours == [[.string(String(first.prefix(13))), 1, 1, 0]])
      let months = try await rows("MONTH", 7, 2)
      #expect(months.count == 2)
      let total = months.compactMap { $0[1]?.number?.int64 }.reduce(0, +)
      #expect(total == 2)
    }
  }

  @Test("§5.7 the quota has the keys that Java 5 knows, and no others")
  func quota() async throws {
    try await Bench.with(.inProcess) { bench in
      let reply = try await bench.call("GET", "/v3/push/quota")
      #expect(reply.status == 200)
      let quota: JSONValue = ["system": ["total": -1, "used": 0], "operation": ["total": -1, "used": 0]]
      #expect(reply.json == ["data": ["xiaomi_quota": quota, "oppo_quota": quota, "vivo_quota": quota]])
    }
  }
}
