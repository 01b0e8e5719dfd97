import BelfryTesting
import Delivery
import HTTPAPI
import PushPayload
import Testing

@Suite("Pushes under way, over HTTP", .timeLimit(.minutes(1)))
struct PushControlCallTests {
  private static let slow =
    #"{"platform":"all","audience":"all","notification":{"alert":"a"},"options":{"big_push_duration":60}}"#

  @Test(
    "§5.6 withdrawn: 200 without a body, also twice; the report says what became of each", arguments: Depth.allCases)
  func withdraw(depth: Depth) async throws {
    try await Bench.with(depth) { bench in
      for number in 1...3 { _ = try await bench.device(number) }
      let id = try #require(try await bench.call("POST", "/v3/push", Self.slow).json.object?["msg_id"]?.string)
      _ = await bench.apns.received(1)
      for _ in 1...2 {
        let reply = try await bench.call("DELETE", "/v3/push/\(id)/")
        #expect(reply.status == 200 && reply.body.isEmpty && reply.headers["content-type"] == "application/json")
      }
      var report = try await bench.call("GET", "/v1/pushes/\(id)").json.object
      for _ in 0..<2000 where report?["pending"] != 0 {
        try await Task.sleep(for: .milliseconds(1))
        report = try await bench.call("GET", "/v1/pushes/\(id)").json.object
      }
      #expect(report?["state"] == "withdrawn" && report?["withdrawn"] == 2 && report?["accepted"] == 1)
      #expect(bench.apns.pushes.values.count == 1)
      let late = try await bench.call("POST", "/v1/pushes/\(id)/resume")
      #expect(
        late.status == 409 && late.errorCode == 9409 && late.headers["content-type"] == "application/problem+json")
    }
  }

  @Test("an unknown id is 1003, a path that takes only DELETE says so, and what has ended is told")
  func others() async throws {
    try await Bench.with(.inProcess) { bench in
      _ = try await bench.device(1)
      let unknown = try await bench.call("DELETE", "/v3/push/1")
      #expect(unknown.status == 400 && unknown.errorCode == 1003)
      #expect(try await bench.call("DELETE", "/v3/push/99999999999999999999999").errorCode == 1003)
      #expect(try await bench.call("GET", "/v3/push/1").status == 405)
      let push = #"{"platform":"all","audience":"all","notification":{"alert":"a"}}"#
      let id = try #require(try await bench.call("POST", "/v3/push", push).json.object?["msg_id"]?.string)
      for _ in 0..<2000 where try await bench.call("GET", "/v1/pushes/\(id)").json.object?["state"] != "finished" {
        try await Task.sleep(for: .milliseconds(1))
      }
      let ended = try await bench.call("DELETE", "/v3/push/\(id)")
      #expect(ended.status == 200 && ended.warnings.count == 1)
      #expect(try await bench.call("POST", "/v1/pushes/\(id)/pause").errorCode == 9409)
      #expect(try await bench.call("POST", "/v1/pushes/1/pause").errorCode == 9404)
    }
  }

  @Test("paused and resumed: the answer is the push as it stands")
  func pause() async throws {
    try await Bench.with(.inProcess) { bench in
      for number in 1...2 { _ = try await bench.device(number) }
      let id = try #require(try await bench.call("POST", "/v3/push", Self.slow).json.object?["msg_id"]?.string)
      #expect(try await bench.call("POST", "/v1/pushes/\(id)/pause").json.object?["state"] == "paused")
      #expect(try await bench.call("POST", "/v1/pushes/\(id)/resume").json.object?["state"] == "sending")
    }
  }

  @Test(
    "how fast: minutes up to 1400, or devices a second; not both",
    arguments: [
      (#""big_push_duration":1400"#, nil), (#""big_push_duration":1"#, nil), (#""belfry_per_second":500"#, nil),
      (#""big_push_duration":0"#, "options.big_push_duration"),
      (#""big_push_duration":1401"#, "options.big_push_duration"),
      (#""big_push_duration":"5""#, "options.big_push_duration"),
      (#""belfry_per_second":0"#, "options.belfry_per_second"),
      (#""belfry_per_second":5,"big_push_duration":5"#, "options.belfry_per_second"),
    ] as [(String, String?)])
  func rates(options: String, place: String?) async throws {
    try await Bench.with(.inProcess) { bench in
      _ = try await bench.device(1)
      let body = #"{"platform":"all","audience":"all","notification":{"alert":"a"},"options":{\#(options)}}"#
      let reply = try await bench.call("POST", "/v3/push/validate", body)
      #expect(reply.status == (place == nil ? 200 : 400), "\(reply.text)")
      #expect(reply.warnings == [])
      if let place { #expect(reply.errorMessage.hasPrefix(place + ": "), "\(reply.errorMessage)") }
    }
  }

  @Test("override_msg_id and replaces; a withdrawal with belfry_clear or clear asks phones to show it no more")
  func replacesAndClears() async throws {
    try await Bench.with(.inProcess) { bench in
      _ = try await bench.device(1)
      let first = try await bench.call("POST", "/v3/push", PushCallTests.push("\"all\"", ""))
      let id = try #require(first.json.object?["msg_id"]?.string)
      func finish(_ id: String) async throws {
        var state: JSONValue?
        for _ in 0..<100_000 where state != "finished" {
          state = try await bench.call("GET", "/v1/pushes/\(id)").json.object?["state"]
        }
        #expect(state == "finished")
      }
      try await finish(id)  // else what replaces it withdraws it
      let second = try await bench.call(
        "POST", "/v3/push", PushCallTests.push("\"all\"", ",\"options\":{\"override_msg_id\":\(id)}"))
      #expect(second.status == 200 && second.warnings == [], "\(second.text)")
      let third = try await bench.call(
        "POST", "/v1/pushes", "{\"audience\":\"everyone\",\"alert\":\"c\",\"replaces\":\"\(id)\"}")
      #expect(third.status == 201, "\(third.text)")
      #expect(Set(await bench.apns.received(3).map(\.collapseID)) == ["belfry-\(id)"])
      let unknown = try await bench.call(
        "POST", "/v3/push", PushCallTests.push("\"all\"", ",\"options\":{\"override_msg_id\":7}"))
      #expect(unknown.errorCode == 1003 && unknown.errorMessage.contains("override_msg_id"), "\(unknown.text)")

      try await finish(try #require(third.json.object?["id"]?.string))
      let plain = try await bench.call("DELETE", "/v3/push/\(id)")
      #expect(plain.status == 200 && plain.warnings.contains { $0.contains("belfry_clear") })
      let cleared = try await bench.call("DELETE", "/v3/push/\(id)?belfry_clear=true")
      #expect(cleared.status == 200 && cleared.text.isEmpty && cleared.warnings == [], "\(cleared.text)")
      let other = try #require(third.json.object?["id"]?.string)
      let own = try await bench.call("POST", "/v1/pushes/\(other)/withdraw", #"{"clear":true}"#)
      #expect(own.status == 200, "\(own.text)")
      let silent = await bench.apns.received(5).suffix(2)
      let named = silent.map { (try? JSONReader.read($0.payload).value.object?["_j_withdraw"]?.number?.literal) ?? "" }
      #expect(Set(named) == [id, other])
      #expect(try await bench.call("POST", "/v1/pushes/\(other)/withdraw", #"{"clean":true}"#).errorCode == 1009)
    }
  }
}
