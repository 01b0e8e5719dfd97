import Basics
import BelfryTesting
import Delivery
import HTTPAPI
import PushPayload
import PushService
import Testing

@Suite("The preference “only the scheduled push” over HTTP", .timeLimit(.minutes(2)))
struct PreferenceCallTests {
  private func register(_ bench: Bench, _ number: Int) async throws -> (path: String, who: Bench.Who) {
    let reply = try await bench.call(
      "POST", "/device/v1/registrations", as: .nobody,
      "{\"appKey\":\"\(bench.app.appKey)\",\"token\":\"\(Bench.token(number).hex)\"}")
    let object = try #require(reply.json.object)
    let id = try #require(object["registrationId"]?.string)
    let secret = try #require(object["deviceSecret"]?.string)
    return ("/device/v1/registrations/\(id)", .other(bench.app.appKey, secret))
  }

  @Test("D-331 D-332 the app reads it (off at first) and changes it with its secret", arguments: Depth.allCases)
  func sets(depth: Depth) async throws {
    try await Bench.with(depth) { bench in
      let (path, who) = try await register(bench, 1)
      #expect(try await bench.call("GET", path, as: who).json.object?["onlyScheduled"] == false)
      for wanted in [true, false, true] {
        let reply = try await bench.call("POST", path, as: who, "{\"onlyScheduled\":\(wanted)}")
        #expect(reply.status == 200, "\(reply.text)")
        #expect(try await bench.call("GET", path, as: who).json.object?["onlyScheduled"] == .bool(wanted))
      }
      try await bench.call("POST", path, as: who, "{\"badge\":1,\"onlyScheduled\":null}")
      #expect(try await bench.call("GET", path, as: who).json.object?["onlyScheduled"] == true, "null leaves it")
    }
  }

  @Test(
    "D-332 what is no bool is refused and changes nothing",
    arguments: ["1", "\"true\"", "[]", "{}"])
  func refuses(value: String) async throws {
    try await Bench.with(.inProcess) { bench in
      let (path, who) = try await register(bench, 1)
      try await bench.call("POST", path, as: who, "{\"onlyScheduled\":true}")
      let reply = try await bench.call("POST", path, as: who, "{\"badge\":3,\"onlyScheduled\":\(value)}")
      #expect(reply.status == 400 && reply.errorCode == 7002, "\(reply.text)")
      #expect(reply.json.object?["place"] == "onlyScheduled")
      let view = try await bench.call("GET", path, as: who).json.object
      #expect(view?["onlyScheduled"] == true && view?["badge"] == 0)
    }
  }

  @Test("D-331 it is the user's own: the app server's call does not change it, nor does another device's secret")
  func isTheUsers() async throws {
    try await Bench.with(.inProcess) { bench in
      let (path, who) = try await register(bench, 1)
      let (_, other) = try await register(bench, 2)
      let id = path.split(separator: "/").last ?? ""
      let byServer = try await bench.call("POST", "/v3/devices/\(id)", "{\"onlyScheduled\":true}")
      #expect(byServer.status == 400 && byServer.errorCode == 7002, "\(byServer.text)")
      for stranger in [other, .app, .nobody] {
        #expect(try await bench.call("POST", path, as: stranger, "{\"onlyScheduled\":true}").status == 401)
      }
      #expect(try await bench.call("GET", path, as: who).json.object?["onlyScheduled"] == false)
      let keys = try await bench.call("GET", "/v3/devices/\(id)").json.object?.members.map(\.key)
      #expect(keys == ["tags", "alias", "mobile"], "JPush's call has JPush's keys")
    }
  }

  static let marks: [(option: String, passes: Bool)] = [
    ("{}", false), ("{\"belfry_scheduled\":true}", true), ("{\"belfry_scheduled\":\"true\"}", true),
    ("{\"belfry_scheduled\":false}", false), ("{\"belfry_scheduled\":null}", false),
  ]

  @Test("D-333 options.belfry_scheduled marks the scheduled push; the report counts who was skipped", arguments: marks)
  func heeds(option: String, passes: Bool) async throws {
    try await Bench.with(.inProcess) { bench in
      let (path, who) = try await register(bench, 1)
      _ = try await register(bench, 2)
      try await bench.call("POST", path, as: who, "{\"onlyScheduled\":true}")
      let receipt = try await bench.call(
        "POST", "/v3/push", PushCallTests.push("\"all\"", ",\"options\":\(option)"))
      let id = try #require(receipt.json.object?["msg_id"]?.string, "\(receipt.text)")
      #expect(receipt.warnings == [])
      var report = JSONObject()
      for _ in 0..<100_000 where report["state"] != "finished" {
        report = try #require(try await bench.call("GET", "/v1/pushes/\(id)").json.object)
      }
      #expect(report["targeted"] == 2 && report["accepted"] == (passes ? 2 : 1), "\(report)")
      #expect(report["skippedByPreference"] == (passes ? 0 : 1) && report["skipped"] == 0)
      let words = "1 devices were skipped by the user's preference: only the scheduled push is wanted"
      #expect(report["warnings"] == (passes ? [] : [.string(words)]))
      let tokens = Set(bench.apns.pushes.values.map(\.token))
      #expect(tokens == Set([Bench.token(2)] + (passes ? [Bench.token(1)] : [])))
    }
  }

  @Test("D-333 a mark that is misspelt or no bool is refused: nobody is disturbed, or left out, by a typo")
  func refusesMarks() async throws {
    try await Bench.with(.inProcess) { bench in
      _ = try await register(bench, 1)
      for (option, code) in [
        ("{\"belfry_schedule\":true}", 1009), ("{\"belfry_scheduled\":1}", 1003),
        ("{\"belfry_scheduled\":\"yes\"}", 1003),
      ] {
        let reply = try await bench.call(
          "POST", "/v3/push", PushCallTests.push("\"all\"", ",\"options\":\(option)"))
        #expect(reply.errorCode == code, "\(reply.text)")
        #expect(reply.errorMessage.contains("belfry_schedule"), "\(reply.text)")
      }
    }
  }

  @Test("a user's quiet hours and channels: set, read, taken back with the device's secret", arguments: Depth.allCases)
  func choices(depth: Depth) async throws {
    try await Bench.with(depth) { bench in
      let (path, who) = try await register(bench, 1)
      var view = try #require(try await bench.call("GET", path, as: who).json.object)
      #expect(view["quietHours"] == .null && view["channels"] == .null)
      let set = try await bench.call(
        "POST", path, as: who,
        #"{"quietHours":"22:00-07:00","timeZone":"Asia/Shanghai","channels":["news","团购"]}"#)
      #expect(set.status == 200, "\(set.text)")
      view = try #require(try await bench.call("GET", path, as: who).json.object)
      #expect(view["quietHours"] == "22:00-07:00" && view["channels"] == ["news", "团购"])
      let id = path.split(separator: "/").last ?? ""
      #expect(try await bench.call("GET", "/v1/devices/\(id)").json.object?["quietHours"] == "22:00-07:00")
      try await bench.call("POST", path, as: who, #"{"quietHours":"","channels":"all"}"#)
      view = try #require(try await bench.call("GET", path, as: who).json.object)
      #expect(view["quietHours"] == .null && view["channels"] == .null)
    }
  }

  @Test(
    "what is no stretch of a day or no channel is refused, and so is a push's channel that is no name",
    arguments: [
      (#"{"quietHours":"22:00"}"#, "quietHours"), (#"{"quietHours":"22:00-22:00"}"#, "quietHours"),
      (#"{"quietHours":"25:00-07:00"}"#, "quietHours"), (#"{"channels":["a b"]}"#, "channels[0]"),
      (#"{"channels":"none"}"#, "channels"), (#"{"channels":{"news":true}}"#, "channels"),
    ])
  func refusesChoices(body: String, place: String) async throws {
    try await Bench.with(.inProcess) { bench in
      let (path, who) = try await register(bench, 1)
      let reply = try await bench.call("POST", path, as: who, body)
      #expect(reply.status == 400 && reply.json.object?["place"]?.string == place, "\(reply.text)")
    }
  }

  @Test("belfry_channel of /v3 and channel of /v1 name a push's channel")
  func namesChannels() async throws {
    try await Bench.with(.inProcess) { bench in
      let (path, who) = try await register(bench, 1)
      _ = try await register(bench, 2)
      try await bench.call("POST", path, as: who, #"{"channels":["news"]}"#)
      let bodies = [
        ("/v3/push", PushCallTests.push("\"all\"", #","options":{"belfry_channel":"sport"}"#)),
        ("/v1/pushes", #"{"audience":"everyone","alert":"a","channel":"sport"}"#),
      ]
      for (index, (path, body)) in bodies.enumerated() {
        let reply = try await bench.call("POST", path, body)
        #expect([200, 201].contains(reply.status) && reply.warnings == [], "\(reply.text)")
        #expect(await bench.apns.received(index + 1).map(\.token).last == Bench.token(2))
      }
      let wrong = try await bench.call(
        "POST", "/v3/push", PushCallTests.push("\"all\"", #","options":{"belfry_chanel":"sport"}"#))
      #expect(wrong.errorCode == 1009, "\(wrong.text)")
    }
  }
}
