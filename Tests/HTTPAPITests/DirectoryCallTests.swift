import Basics
import BelfryTesting
import Delivery
import Foundation
import PushPayload
import PushService
import Testing

@Suite("Devices, tags, segments and A/B tests of /v1", .timeLimit(.minutes(2)))
struct DirectoryCallTests {
  /// Devices 0 ..< 5 of odd or even tags, each with an app version and language of its own.
  func fill(_ bench: Bench) async throws -> [String] {
    var ids: [String] = []
    for number in 0..<5 {
      let reply = try await bench.call(
        "POST", "/device/v1/registrations", as: .nobody,
        """
        {"appKey":"\(bench.app.appKey)","token":"\(Bench.token(number + 1).hex)","appVersion":"2.\(number + 7)",
         "language":"\(number < 3 ? "zh-Hans" : "en")","permission":"\(number == 4 ? "denied" : "authorized")",
         "environment":"\(number == 3 ? "sandbox" : "production")"}
        """)
      let id = try #require(reply.json.object?["registrationId"]?.string, "\(reply.text)")
      ids.append(id)
      let edit = try await bench.call(
        "POST", "/v3/devices/\(id)", "{\"tags\":{\"add\":[\"\(number % 2 == 0 ? "even" : "odd")\",\"all\"]}}")
      #expect(edit.status == 200)
    }
    return ids
  }

  func list(_ reply: Bench.Reply, _ key: String, _ name: String) -> [String] {
    reply.json.object?[key]?.array?.compactMap { $0.object?[name]?.string } ?? []
  }

  func encoded(_ text: String) -> String { text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "" }

  static let audiences: [(json: String, meant: [Int])] = [
    ("\"everyone\"", [0, 1, 2, 3, 4]),
    ("{\"tag\":\"even\"}", [0, 2, 4]),
    ("{\"tag\":[\"even\",\"odd\"]}", [0, 1, 2, 3, 4]),
    ("{\"and\":[{\"tag\":\"all\"},{\"not\":{\"tag\":\"even\"}}]}", [1, 3]),
    ("{\"tag\":\"even\",\"language\":\"zh\"}", [0, 2]),
    ("{\"appVersion\":{\"atLeast\":\"2.9\",\"below\":\"2.11\"}}", [2, 3]),
    ("{\"appVersion\":\"2.10.0\"}", [3]),
    ("{\"permission\":[\"denied\",\"provisional\"]}", [4]),
    ("{\"or\":[{\"permission\":\"denied\"},{\"appVersion\":{\"below\":\"2.8\"}}]}", [0, 4]),
    ("{\"created\":{\"withinDays\":1}}", [0, 1, 2, 3, 4]),
    ("{\"lastSeen\":{\"longerAgoThanDays\":1}}", []),
    ("{\"segment\":\"chinese\"}", [0, 1, 2]),
    ("{\"not\":{\"segment\":\"chinese\"},\"tag\":\"even\"}", [4]),
    (
      "{\"or\":[{\"abTest\":{\"id\":\"t\",\"variant\":\"a\"}},{\"abTest\":{\"id\":\"t\",\"variant\":\"b\"}}]}",
      [0, 1, 2, 3, 4]
    ),
  ]

  @Test("an audience means the same to count, to list and as a segment; both environments are told apart")
  func counts() async throws {
    try await Bench.with(.inProcess) { bench in
      let ids = try await fill(bench)
      try await bench.call("PUT", "/v1/segments/chinese", "{\"audience\":{\"language\":\"zh\"}}")
      try await bench.call(
        "PUT", "/v1/ab-tests/t", "{\"variants\":[{\"name\":\"a\",\"percent\":50},{\"name\":\"b\",\"percent\":50}]}")
      for (json, meant) in Self.audiences {
        let count = try await bench.call("POST", "/v1/audiences/count", "{\"audience\":\(json)}")
        #expect(count.status == 200, "\(json) \(count.text)")
        let object = count.json.object
        #expect(object?["devices"]?.number?.int64 == Int64(meant.count), "\(json) \(count.text)")
        #expect(object?["sandbox"]?.number?.int64 == (meant.contains(3) ? 1 : 0), "\(json) \(count.text)")
        let listed = try await bench.call("GET", "/v1/devices?filter=\(encoded(json))")
        #expect(list(listed, "devices", "registrationId") == meant.map { ids[$0] }, "\(json) \(listed.text)")
      }
      let unmatched = try await bench.call(
        "POST", "/v1/audiences/count", "{\"audience\":{\"or\":[{\"tag\":\"none\"},{\"appVersion\":{\"above\":\"9\"}}]}}"
      )
      #expect(
        unmatched.json.object?["unmatched"] == ["the tag “none”", "app version above 9"], "\(unmatched.text)")
    }
  }

  static let refusals = [
    "{}", "[]", "\"all\"", "{\"tag\":[]}", "{\"tags\":\"x\"}", "{\"and\":[]}", "{\"and\":{\"tag\":\"x\"}}",
    "{\"not\":[]}", "{\"appVersion\":{}}", "{\"appVersion\":{\"least\":\"1\"}}", "{\"appVersion\":\"\"}",
    "{\"appVersion\":2}", "{\"permission\":\"granted\"}", "{\"lastSeen\":{\"from\":\"yesterday\"}}",
    "{\"lastSeen\":{\"withinDays\":-1}}", "{\"created\":{}}", "{\"segment\":\"gone\"}",
    "{\"not\":{\"segment\":\"gone\"}}",
    "{\"abTest\":{\"id\":\"t\"}}", "{\"abTest\":{\"id\":\"t\",\"variant\":\"a\"}}", "{\"tag\":\"a-b\"}", "null",
    String(repeating: "{\"not\":", count: 40) + "\"everyone\"" + String(repeating: "}", count: 40),
  ]

  @Test("C35 a wrong audience is a problem that says where, and never means everybody", arguments: refusals)
  func refuses(json: String) async throws {
    try await Bench.with(.inProcess) { bench in
      _ = try await bench.device(1)
      for (method, path, body) in [
        ("POST", "/v1/audiences/count", "{\"audience\":\(json)}"), ("PUT", "/v1/segments/s", "{\"audience\":\(json)}"),
        ("GET", "/v1/devices?filter=\(encoded(json))", nil),
      ] {
        let reply = try await bench.call(method, path, body)
        #expect(reply.status == 400, "\(path) \(reply.text)")
        #expect(reply.headers["content-type"] == "application/problem+json")
        #expect(reply.errorMessage.isEmpty == false)
      }
      #expect(try await bench.call("GET", "/v1/segments").text == "{\"segments\":[],\"next\":null}")
    }
  }

  @Test("devices are listed page by page, read, edited under their ETag, and deleted", arguments: Depth.allCases)
  func devices(depth: Depth) async throws {
    try await Bench.with(depth) { bench in
      let ids = try await fill(bench)
      var seen: [String] = []
      var cursor = ""
      repeat {
        let page = try await bench.call("GET", "/v1/devices?tag=all&limit=2\(cursor)")
        seen += list(page, "devices", "registrationId")
        cursor = page.json.object?["next"]?.string.map { "&cursor=\($0)" } ?? ""
      } while !cursor.isEmpty
      #expect(seen == ids)
      let path = "/v1/devices/\(ids[0])"
      let read = try await bench.call("GET", path)
      #expect(read.json.object?["appVersion"] == "2.7")
      #expect(read.json.object?["lastSeen"]?.string == bench.clock.now.description)
      let tag = try #require(read.headers["etag"])
      let edit = try await bench.call("PATCH", path, headers: ["If-Match": tag], "{\"alias\":\"lin\",\"badge\":4}")
      #expect(edit.status == 200 && edit.json.object?["badge"] == 4, "\(edit.text)")
      #expect(edit.headers["etag"] != tag)
      let late = try await bench.call("PATCH", path, headers: ["If-Match": tag], "{\"alias\":\"wu\"}")
      #expect(late.status == 412 && late.errorCode == 9412, "\(late.text)")
      let odd = try await bench.call("PATCH", path, headers: ["If-Match": "lin"], "{\"alias\":\"wu\"}")
      #expect(odd.status == 412)
      #expect(list(try await bench.call("GET", "/v1/devices?alias=lin"), "devices", "registrationId") == [ids[0]])
      #expect(try await bench.call("PATCH", path, headers: ["If-Match": "*"], "{\"alias\":\"\"}").status == 200)
      #expect(try await bench.call("DELETE", path).status == 204)
      for method in ["GET", "DELETE"] {
        let gone = try await bench.call(method, path)
        #expect(gone.status == 404 && gone.errorCode == 9404, "\(gone.text)")
      }
      #expect(try await bench.call("GET", "/v3/devices/\(ids[0])").errorCode == 7002)
      #expect(try await bench.call("GET", "/v1/devices?cursor=x").status == 400)
      #expect(try await bench.call("GET", "/v1/devices?limit=0").status == 400)
      #expect(try await bench.call("GET", "/v1/devices?sort=x").status == 400)
      #expect(try await bench.call("GET", "/v1/devices", as: .nobody).status == 401)
    }
  }

  @Test("tags are listed with how many have them, edited and deleted")
  func tags() async throws {
    try await Bench.with(.inProcess) { bench in
      let ids = try await fill(bench)
      #expect(
        try await bench.call("GET", "/v1/tags?limit=2").text
          == "{\"tags\":[{\"name\":\"all\",\"devices\":5},{\"name\":\"even\",\"devices\":3}],\"next\":\"even\"}")
      #expect(list(try await bench.call("GET", "/v1/tags?cursor=even"), "tags", "name") == ["odd"])
      let edit = try await bench.call("PATCH", "/v1/tags/odd", "{\"add\":[\"\(ids[0])\"],\"remove\":[\"\(ids[1])\"]}")
      #expect(edit.text == "{\"name\":\"odd\",\"devices\":2}")
      let bad = try await bench.call("PATCH", "/v1/tags/odd", "{\"add\":[\"nobody\"]}")
      #expect(bad.status == 400 && bad.errorCode == 7013, "\(bad.text)")
      #expect(try await bench.call("DELETE", "/v1/tags/odd").status == 204)
      #expect(try await bench.call("DELETE", "/v1/tags/odd").status == 404)
      #expect(try await bench.call("GET", "/v1/tags/odd").status == 404)
      #expect(try await bench.call("GET", "/v1/tags/even").text == "{\"name\":\"even\",\"devices\":3}")
    }
  }

  @Test("a segment is evaluated anew at each push, is edited under its ETag, and cannot name another")
  func segments() async throws {
    try await Bench.with(.inProcess) { bench in
      let ids = try await fill(bench)
      let put = try await bench.call("PUT", "/v1/segments/vip", "{\"audience\":{\"tag\":\"vip\"}}")
      #expect(put.json.object?["audience"] == ["tag": "vip"], "\(put.text)")
      let tag = try #require(put.headers["etag"])
      let push = #"{"platform":"all","audience":{"segment":["vip"]},"notification":{"alert":"x"}}"#
      #expect(try await bench.call("POST", "/v3/push", push).errorCode == 1011)
      try await bench.call("PATCH", "/v1/tags/vip", "{\"add\":[\"\(ids[2])\"]}")
      #expect(try await bench.call("POST", "/v3/push", push).status == 200)
      #expect(await bench.apns.received(1).map(\.token) == [Bench.token(3)])
      let second = try await bench.call(
        "PUT", "/v1/segments/vip", headers: ["If-Match": tag], "{\"audience\":\"everyone\"}")
      #expect(second.status == 200 && second.headers["etag"] != tag)
      let late = try await bench.call(
        "PUT", "/v1/segments/vip", headers: ["If-Match": tag], "{\"audience\":{\"tag\":\"x\"}}")
      #expect(late.status == 412)
      let nested = try await bench.call("PUT", "/v1/segments/b", "{\"audience\":{\"segment\":\"vip\"}}")
      #expect(nested.status == 400, "\(nested.text)")
      #expect(list(try await bench.call("GET", "/v1/segments"), "segments", "id") == ["vip"])
      #expect(try await bench.call("DELETE", "/v1/segments/vip").status == 204)
      #expect(try await bench.call("GET", "/v1/segments/vip").status == 404)
      #expect(try await bench.call("POST", "/v3/push", push).errorCode == 1003, "no segment is not everybody")
    }
  }

  @Test("an A/B test's variants reach different devices, always the same, with results side by side")
  func abTests() async throws {
    try await Bench.with(.inProcess) { bench in
      for number in 1...40 { _ = try await bench.device(number) }
      let body = "{\"variants\":[{\"name\":\"a\",\"percent\":40},{\"name\":\"b\",\"percent\":60}]}"
      for _ in 0..<2 { #expect(try await bench.call("PUT", "/v1/ab-tests/t", body).status == 200) }
      let other = try await bench.call(
        "PUT", "/v1/ab-tests/t", "{\"variants\":[{\"name\":\"a\",\"percent\":41}]}")
      #expect(other.status == 409 && other.errorCode == 9409, "\(other.text)")
      var tokens: [String: Set<[UInt8]>] = [:]
      var total = 0
      for variant in ["a", "b", "a"] {
        let push = try await bench.call(
          "POST", "/v3/push",
          "{\"platform\":\"all\",\"audience\":{\"abtest\":[\"t:\(variant)\"]},\"notification\":{\"alert\":\"\(variant)\"}}"
        )
        let id = try #require(push.json.object?["msg_id"]?.string, "\(push.text)")
        let targeted = try await bench.call("GET", "/v1/pushes/\(id)").json.object?["targeted"]?.number?.int64
        let before = total
        total += Int(try #require(targeted))
        let reached = Set(await bench.apns.received(total).dropFirst(before).map(\.token))
        if let first = tokens[variant] { #expect(reached == first) } else { tokens[variant] = reached }
      }
      let (a, b) = (tokens["a"] ?? [], tokens["b"] ?? [])
      #expect(a.isDisjoint(with: b) && a.count + b.count == 40 && !a.isEmpty && !b.isEmpty)
      let ended = await eventually {
        let text = try? await bench.call("GET", "/v1/ab-tests/t").text
        return text?.contains("\"accepted\":\(a.count * 2)") == true
          && text?.contains("\"accepted\":\(b.count)") == true
      }
      #expect(ended)
      let test = try await bench.call("GET", "/v1/ab-tests/t")
      let variants = test.json.object?["variants"]?.array?.compactMap(\.object) ?? []
      #expect(variants.map { $0["targeted"]?.number?.int64 } == [Int64(a.count * 2), Int64(b.count)], "\(test.text)")
      #expect(variants.map { $0["pushes"]?.array?.count } == [2, 1])
      #expect(variants.map { $0["percent"]?.number?.double } == [40, 60])
      for body in [
        "{}", "{\"variants\":[]}", "{\"variants\":[{\"name\":\"a\",\"percent\":0}]}",
        "{\"variants\":[{\"name\":\"a\",\"percent\":60},{\"name\":\"b\",\"percent\":60}]}",
        "{\"variants\":[{\"name\":\"a\",\"percent\":1},{\"name\":\"a\",\"percent\":1}]}",
        "{\"variants\":[{\"name\":\"a:b\",\"percent\":1}]}", "{\"variants\":[{\"name\":\"a\"}]}",
      ] {
        #expect(try await bench.call("PUT", "/v1/ab-tests/u", body).status == 400, "\(body)")
      }
      #expect(list(try await bench.call("GET", "/v1/ab-tests"), "tests", "id") == ["t"])
      #expect(try await bench.call("DELETE", "/v1/ab-tests/t").status == 204)
      #expect(try await bench.call("GET", "/v1/ab-tests/t").status == 404)
    }
  }
}
