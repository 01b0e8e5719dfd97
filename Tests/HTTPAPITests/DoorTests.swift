import Basics
import BelfryTesting
import Delivery
import HTTPAPI
import PushPayload
import PushService
import StoreSQLite
import Testing
import Transport

@Suite("The door", .timeLimit(.minutes(2)))
struct DoorTests {
  @Test("§2 wrong credentials are 401 with the family's number", arguments: Depth.allCases)
  func refusesStrangers(depth: Depth) async throws {
    try await Bench.with(depth) { bench in
      let key = bench.app.appKey
      let wrong: [Bench.Who] = [
        .other(key, "000000000000000000000000"), .other("000000000000000000000000", bench.app.masterSecret),
        .other(key, ""), .other("", ""), .other(key.uppercased(), bench.app.masterSecret),
        .other("group-" + key, bench.app.masterSecret), .other(key, String(repeating: "x", count: 5000)),
      ]
      for who in wrong {
        let push = try await bench.call("POST", "/v3/push", as: who, "{}")
        #expect(push.status == 401)
        #expect(push.errorCode == 1004, "\(push.text)")
        let device = try await bench.call("GET", "/v3/devices/090c1f59f89", as: who)
        #expect(device.status == 401)
        #expect(device.errorCode == 7004, "\(device.text)")
      }
      #expect(try await bench.call("POST", "/v3/push", as: .nobody, "{}").errorCode == 1004)
      #expect(try await bench.call("GET", "/v3/devices/090c1f59f89", as: .nobody).errorCode == 7001)
      #expect(try await bench.call("GET", "/v1/pushes/1", as: .nobody).status == 401)
      let bearer = try await bench.call("POST", "/v3/push", as: .nobody, headers: ["Authorization": "Bearer x"], "{}")
      #expect(bearer.errorCode == 1004)
    }
  }

  static let wrongPaths: [(method: String, path: String, status: Int, code: Int)] = [
    ("GET", "/v3/push", 405, 1001), ("DELETE", "/v3/push/validate", 405, 1001), ("POST", "/v3/push/cid", 405, 1001),
    ("PUT", "/v3/devices/0a", 404, 7010), ("GET", "/v3/schedules/0a/x", 404, 8104), ("POST", "/v3/tags/", 404, 7010),
    ("GET", "/nothing", 404, 7010), ("POST", "/v3/pusch", 404, 7010), ("GET", "/%zz", 400, 1003),
    ("GET", "/", 404, 7010), ("DELETE", "/v1/pushes/1", 405, 1001), ("POST", "/healthz", 405, 1001),
    ("PATCH", "/device/v1/registrations", 405, 1001), ("GET", "/v1/%zz", 400, 1003),
  ]

  @Test("§18 every refusal is JSON with an error object and has the rate headers", arguments: Depth.allCases)
  func refusesInJSON(depth: Depth) async throws {
    try await Bench.with(depth) { bench in
      for (method, path, status, code) in Self.wrongPaths {
        let reply = try await bench.call(method, path, as: .nobody)
        #expect(reply.status == status, "\(method) \(path) \(reply.text)")
        #expect(reply.errorCode == code, "\(method) \(path) \(reply.text)")
        #expect(!reply.errorMessage.isEmpty)
        #expect(reply.headers["content-type"]?.hasPrefix("application/") == true)
        #expect(reply.headers["x-rate-limit-limit"].flatMap { Int($0) } != nil)
        #expect(reply.headers["x-rate-limit-quota"] == reply.headers["x-rate-limit-limit"])
        #expect(reply.headers["x-rate-limit-remaining"].flatMap { Int($0) } != nil)
        #expect(reply.headers["x-rate-limit-reset"].flatMap { Int($0) } != nil)
      }
    }
  }

  @Test("§3 over the limit: 429 and 2002; the bucket refills with time", arguments: Depth.allCases)
  func limitsRates(depth: Depth) async throws {
    var settings = HTTPAPI.Settings()
    settings.rateLimits.push = 3
    try await Bench.with(depth, settings) { bench in
      var replies: [Bench.Reply] = []
      for _ in 0..<4 { replies.append(try await bench.call("GET", "/v3/push/cid")) }
      #expect(replies.map(\.status) == [200, 200, 200, 429])
      #expect(replies.map { $0.headers["x-rate-limit-remaining"] } == ["2", "1", "0", "0"])
      #expect(replies.map { $0.headers["x-rate-limit-reset"] } == ["20", "40", "60", "60"])
      #expect(replies[3].errorCode == 2002)
      #expect(replies[3].headers["retry-after"] == "20")
      let device = try await bench.call("GET", "/v3/devices/090c1f59f89")
      #expect(device.errorCode == 7002, "another family has its own bucket")
      bench.clock.advance(by: .seconds(20))
      #expect(try await bench.call("GET", "/v3/push/cid").status == 200)
      #expect(try await bench.call("GET", "/v3/push/cid").status == 429)
    }
  }

  @Test("SM2 bodies are refused by name")
  func refusesEncryption() async throws {
    try await Bench.with(.inProcess) { bench in
      let reply = try await bench.call(
        "POST", "/v3/push", headers: ["X-Encrypt-Type": "SM2"], "{\"audience\":\"all\",\"payload\":\"x\"}")
      #expect(reply.errorCode == 1003)
      #expect(reply.errorMessage.contains("SM2"))
    }
  }

  @Test("health, readiness and metrics need no credentials", arguments: Depth.allCases)
  func tellsHealth(depth: Depth) async throws {
    try await Bench.with(depth) { bench in
      #expect(try await bench.call("GET", "/healthz", as: .nobody).status == 200)
      #expect(try await bench.call("GET", "/readyz", as: .nobody).status == 200)
      _ = try await bench.call("GET", "/v3/push", as: .nobody)
      let metrics = try await bench.call("GET", "/metrics", as: .nobody)
      #expect(metrics.headers["content-type"]?.hasPrefix("text/plain; version=0.0.4") == true)
      #expect(metrics.text.contains("# TYPE belfry_http_requests_total counter\n"), "\(metrics.text)")
      #expect(metrics.text.contains("belfry_http_requests_total{route=\"healthz\",status=\"200\"} 1\n"))
      #expect(metrics.text.contains("belfry_http_requests_total{route=\"none\",status=\"405\"} 1\n"))
      for line in metrics.text.split(separator: "\n") where !line.hasPrefix("#") {
        #expect(Double(line.split(separator: " ").last ?? "") != nil, "\(line)")
      }
    }
  }

  @Test("C40 the health page has room for what is known of the way to APNs", arguments: Depth.allCases)
  func tellsWayToAPNs(depth: Depth) async throws {
    var settings = HTTPAPI.Settings()
    settings.health = { ["apns": [["lastFault": "203.0.113.7:443"]]] }
    try await Bench.with(depth, settings) { bench in
      let reply = try await bench.call("GET", "/healthz", as: .nobody)
      #expect(reply.text == #"{"status":"ok","apns":[{"lastFault":"203.0.113.7:443"}]}"#)
    }
  }

  @Test("a body above the limit is 413 and 1005 in JSON; 1 MB of tags is told by its number")
  func refusesLargeBodies() async throws {
    var settings = HTTPAPI.Settings()
    settings.limits.body = 2 << 20
    try await Bench.with(.live, settings) { bench in
      let large = try await bench.call("POST", "/v3/push", String(repeating: " ", count: 3 << 20))
      #expect(large.status == 413)
      #expect(large.errorCode == 1005)
      #expect(large.headers["x-rate-limit-limit"] != nil)
      let tags = try await bench.call(
        "POST", "/v3/push", PushCallTests.push("{\"tag\":[\(PushReadingTests.list(150_000))]}"))
      #expect(tags.status == 400)
      #expect(tags.errorCode == 1003)
      #expect(tags.errorMessage.contains("150000"))
    }
  }

  @Test("a payload that APNs would not take is 1005 before anything is sent", arguments: Depth.allCases)
  func refusesLargePayloads(depth: Depth) async throws {
    try await Bench.with(depth) { bench in
      _ = try await bench.device(1)
      let reply = try await bench.call(
        "POST", "/v3/push",
        "{\"platform\":\"all\",\"audience\":\"all\",\"notification\":{\"alert\":\"\(String(repeating: "钟", count: 1400))\"}}"
      )
      #expect(reply.status == 400)
      #expect(reply.errorCode == 1005, "\(reply.text)")
      #expect(bench.apns.pushes.values == [])
    }
  }

  @Test(
    "a full disk: 503, to be tried again, nothing half done; with room the same call goes on", arguments: Depth.allCases
  )
  func survivesFullDisk(depth: Depth) async throws {
    try await Bench.with(depth) { bench in
      _ = try await bench.device(1)
      let cid = try await bench.call("GET", "/v3/push/cid").json.object?["cidlist"]?.array?.first?.string ?? ""
      let body = PushCallTests.push("\"all\"", ",\"cid\":\"\(cid)\"") + String(repeating: " ", count: 200_000)
      try await bench.store.limitSize(bytes: 1)
      let push = try await bench.call("POST", "/v3/push", body)
      #expect(push.status == 503 && push.errorCode == 1030, "\(push.text)")
      #expect(push.headers["retry-after"] != nil)
      // What still fits into pages that are there is taken; then devices are told to come again, too.
      var refused: Bench.Reply?
      for number in 2..<250 where refused == nil {
        let token = Bench.token(number).hex
        let reply = try await bench.call(
          "POST", "/device/v1/registrations", as: .nobody,
          "{\"appKey\":\"\(bench.app.appKey)\",\"token\":\"\(token)\",\"environment\":\"production\"}")
        if reply.status != 200 { refused = reply }
      }
      #expect(refused?.status == 503 && refused?.errorCode == 7030, "\(refused?.text ?? "never")")
      #expect(try await bench.store.unfinished(after: nil, limit: 10).isEmpty)
      #expect(try await bench.store.lastPushID() == 0)
      #expect(bench.apns.pushes.values.isEmpty)

      try await bench.store.limitSize(bytes: nil)
      let again = try await bench.call("POST", "/v3/push", body)
      #expect(again.status == 200, "\(again.text)")
      #expect(await bench.apns.received(1).contains { $0.token == Bench.token(1) })
    }
  }

  @Test("a port in use is told with its address")
  func namesPortInUse() async throws {
    try await Bench.with(.live) { bench in
      let fault = #expect(throws: TransportFault.self) { _ = try bench.api.serve(on: bench.endpoint) }
      #expect(fault?.kind == .addressInUse)
      #expect(fault?.place == bench.endpoint.description)
    }
  }
}
