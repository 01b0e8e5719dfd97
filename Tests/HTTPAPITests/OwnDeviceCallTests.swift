import Basics
import BelfryTesting
import Delivery
import PushPayload
import PushService
import Testing
import Transport

@testable import HTTPAPI

@Suite("What a device tells of itself", .timeLimit(.minutes(2)))
struct OwnDeviceCallTests {
  func register(_ bench: Bench, _ number: Int, _ more: String = "") async throws -> (id: String, who: Bench.Who) {
    let reply = try await bench.call(
      "POST", "/device/v1/registrations", as: .nobody,
      "{\"appKey\":\"\(bench.app.appKey)\",\"token\":\"\(Bench.token(number).hex)\"\(more)}")
    let object = try #require(reply.json.object, "\(reply.text)")
    let secret = try #require(object["deviceSecret"]?.string, "\(reply.text)")
    return (try #require(object["registrationId"]?.string), .other(bench.app.appKey, secret))
  }

  @Test("it registers with its facts, changes some, and reads them back", arguments: Depth.allCases)
  func facts(depth: Depth) async throws {
    try await Bench.with(depth) { bench in
      let (id, who) = try await register(
        bench, 1,
        ",\"osVersion\":\"18.1\",\"appVersion\":\"2.9\",\"language\":\"zh-Hans-CN\",\"permission\":\"notAsked\",\"model\":\"\""
      )
      let path = "/device/v1/registrations/\(id)"
      let change = try await bench.call(
        "POST", path, as: who, "{\"permission\":\"provisional\",\"appVersion\":\"2.10\",\"model\":\"iPhone17,1\"}")
      #expect(change.status == 200, "\(change.text)")
      let seen = try #require(try await bench.call("GET", path, as: who).json.object)
      #expect(seen["permission"] == "provisional")
      #expect(seen["appVersion"] == "2.10")
      #expect(seen["model"] == "iPhone17,1")
      #expect(seen["language"] == "zh-Hans-CN")
      #expect(seen["timeZone"] == .null)
    }
  }

  @Test(
    "jpush.md §15.6 what became of a push on it counts once, and the push's record shows it", arguments: Depth.allCases)
  func reports(depth: Depth) async throws {
    try await Bench.with(depth) { bench in
      let (id, who) = try await register(bench, 1, ",\"appVersion\":\"2.9\"")
      _ = try await register(bench, 2)
      let push = try await bench.call(
        "POST", "/v3/push",
        "{\"platform\":\"all\",\"audience\":{\"registration_id\":[\"\(id)\"]},\"notification\":{\"alert\":\"hi\"}}")
      let message = try #require(push.json.object?["msg_id"]?.string, "\(push.text)")
      _ = await bench.apns.received(1)
      bench.clock.advance(by: .hours(2))
      let path = "/device/v1/registrations/\(id)/reports"
      let first = try await bench.call(
        "POST", path, as: who,
        """
        {"reports":[{"msgId":"\(message)","kind":"received","at":"2000-01-01T00:00:00Z"},
        {"msgId":\(message),"kind":"clicked"},{"msgId":"7","kind":"clicked"}]}
        """)
      #expect(
        first.status == 200 && first.text == "{\"counted\":2,\"repeated\":0,\"unknown\":[\"7\"]}", "\(first.text)")
      let again = try await bench.call(
        "POST", path, as: who, "{\"reports\":[{\"msgId\":\"\(message)\",\"kind\":\"clicked\"}]}")
      #expect(again.text == "{\"counted\":0,\"repeated\":1,\"unknown\":[]}")
      let record = try #require(try await bench.call("GET", "/v1/pushes/\(message)").json.object)
      #expect(record["received"] == 1 && record["shown"] == 0 && record["clicked"] == 1 && record["sent"] == 1)
      let hours = record["byHour"]?.array?.compactMap(\.object) ?? []
      #expect(hours.map { $0["clicked"] } == [0, 1])
      #expect(hours.map { $0["received"] } == [1, 0], "never before the push")
      let versions = record["byAppVersion"]?.array?.compactMap(\.object) ?? []
      #expect(versions.count == 1 && versions.first?["appVersion"] == "2.9" && versions.first?["accepted"] == 1)
      let metrics = try await bench.call("GET", "/metrics").text
      #expect(metrics.contains("belfry_device_reports_total{kind=\"clicked\"} 1\n"))
    }
  }

  static let reportRefusals = [
    "{}", "{\"reports\":[]}", "{\"reports\":{}}", "{\"reports\":[{\"kind\":\"clicked\"}]}",
    "{\"reports\":[{\"msgId\":\"1\"}]}",
    "{\"reports\":[{\"msgId\":\"x\",\"kind\":\"clicked\"}]}", "{\"reports\":[{\"msgId\":-1,\"kind\":\"clicked\"}]}",
    "{\"reports\":[{\"msgId\":1.5,\"kind\":\"clicked\"}]}", "{\"reports\":[{\"msgId\":\"1\",\"kind\":\"seen\"}]}",
    "{\"reports\":[{\"msgId\":\"1\",\"kind\":\"clicked\",\"at\":\"now\"}]}",
    "{\"reports\":[\(String(repeating: "{\"msgId\":\"1\",\"kind\":\"shown\"},", count: 100)){\"msgId\":\"1\",\"kind\":\"shown\"}]}",
  ]

  @Test("reports that are wrong are 7002, and only the device itself makes them", arguments: reportRefusals)
  func refusesReports(body: String) async throws {
    try await Bench.with(.inProcess) { bench in
      let (id, who) = try await register(bench, 1)
      let path = "/device/v1/registrations/\(id)/reports"
      let reply = try await bench.call("POST", path, as: who, body)
      #expect(reply.status == 400 && reply.errorCode == 7002, "\(reply.text)")
      #expect(try await bench.call("POST", path, body).status == 401, "the app server is not the device")
    }
  }

  static let refusals = [
    "{\"permission\":\"granted\"}", "{\"model\":5}",
    "{\"language\":\"\(String(repeating: "x", count: 65))\"}", "{\"environment\":\"sandbox\"}",
    "{\"token\":\"(null)\"}", "{\"token\":\"\(Bench.token(5).hex)\",\"environment\":\"prod\"}",
    "{\"appversion\":\"1\"}",
  ]

  @Test("what is wrong is 7002, a problem, and changes nothing", arguments: refusals)
  func refuses(body: String) async throws {
    try await Bench.with(.inProcess) { bench in
      let (id, who) = try await register(bench, 1)
      let path = "/device/v1/registrations/\(id)"
      let before = try await bench.call("GET", path, as: who).text
      let reply = try await bench.call("POST", path, as: who, body)
      #expect(reply.status == 400 && reply.errorCode == 7002, "\(reply.text)")
      #expect(reply.headers["content-type"] == "application/problem+json")
      #expect(try await bench.call("GET", path, as: who).text == before)
    }
  }

  @Test("a new token keeps the device; pushes go to it, whole with the rest of the change or not at all")
  func newToken() async throws {
    try await Bench.with(.inProcess) { bench in
      let (id, who) = try await register(bench, 1)
      let path = "/device/v1/registrations/\(id)"
      let bad = try await bench.call(
        "POST", path, as: who, "{\"token\":\"\(Bench.token(8).hex)\",\"alias\":\"a-b\"}")
      #expect(bad.status == 400)
      let body = "{\"token\":\"\(Bench.token(9).hex)\",\"environment\":\"production\",\"alias\":\"lin\"}"
      #expect(try await bench.call("POST", path, as: who, body).status == 200)
      let push = #"{"platform":"all","audience":{"alias":["lin"]},"notification":{"alert":"x"}}"#
      #expect(try await bench.call("POST", "/v3/push", push).status == 200)
      #expect(await bench.apns.received(1).map(\.token) == [Bench.token(9)])
    }
  }

  @Test("a device that calls without end is told 429, and no other device with it")
  func limitsDevices() async throws {
    var settings = HTTPAPI.Settings()
    settings.rateLimits.ownDevice = 3
    try await Bench.with(.inProcess, settings) { bench in
      let (id, who) = try await register(bench, 1)
      let (other, otherWho) = try await register(bench, 2)
      let statuses = try await (0..<5).asyncMap { _ in
        try await bench.call("GET", "/device/v1/registrations/\(id)", as: who).status
      }
      #expect(statuses == [200, 200, 200, 429, 429])
      #expect(try await bench.call("GET", "/device/v1/registrations/\(other)", as: otherWho).status == 200)
      bench.clock.advance(by: .seconds(21))
      let again = try await bench.call("GET", "/device/v1/registrations/\(id)", as: who)
      #expect(again.status == 200)
    }
  }

  @Test("an address that calls without end is told 429 before anything is looked up; loopback speaks for many")
  func limitsAddresses() async throws {
    var settings = HTTPAPI.Settings()
    settings.rateLimits.address = 2
    try await Bench.with(.inProcess, settings) { bench in
      func call(from host: String) async -> Int {
        await bench.api.answer(
          HTTPRequest(
            method: "POST", path: "/device/v1/registrations", body: Array("{}".utf8),
            peer: Endpoint(host: host, port: 9))
        ).status
      }
      var statuses: [Int] = []
      for host in ["192.0.2.1", "192.0.2.1", "192.0.2.1", "192.0.2.2", "127.0.0.1", "127.0.0.1", "127.0.0.1"] {
        statuses.append(await call(from: host))
      }
      #expect(statuses == [400, 400, 429, 400, 400, 400, 400])
    }
  }

  @Test(
    "addresses of one /64 are one caller",
    arguments: [
      ("192.0.2.1", "192.0.2.1"), ("127.8.0.1", nil), ("::1", nil), ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
      ("2001:db8::5", "2001:db8:0:0::/64"), ("fe80::1", "fe80:0:0:0::/64"), ("::ffff:192.0.2.1", "192.0.2.1"),
      ("::ffff:127.0.0.1", nil),
    ])
  func networks(address: String, network: String?) {
    #expect(RateLimits.network(of: address) == network)
  }
}

extension Sequence {
  fileprivate func asyncMap<Result>(_ body: (Element) async throws -> Result) async throws -> [Result] {
    var results: [Result] = []
    for element in self { results.append(try await body(element)) }
    return results
  }
}
