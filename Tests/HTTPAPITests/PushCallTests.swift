import Basics
import BelfryTesting
import Delivery
import HTTPAPI
import PushPayload
import PushService
import Testing

@Suite("POST /v3/push", .timeLimit(.minutes(2)))
struct PushCallTests {
  static func push(_ audience: String, _ rest: String = "") -> String {
    "{\"platform\":\"all\",\"audience\":\(audience),\"notification\":{\"alert\":\"hi\"}\(rest)}"
  }

  @Test("a push is answered with two strings of digits, and reaches whom it names", arguments: Depth.allCases)
  func pushes(depth: Depth) async throws {
    try await Bench.with(depth) { bench in
      _ = try await bench.device(1, alias: "lin")
      _ = try await bench.device(2, alias: "wei")
      let reply = try await bench.call(
        "POST", "/v3/push", Self.push("{\"alias\":[\"lin\"]}", ",\"options\":{\"sendno\":18}"))
      #expect(reply.status == 200, "\(reply.text)")
      #expect(reply.headers["content-type"] == "application/json")
      let object = try #require(reply.json.object)
      #expect(object.members.map(\.key) == ["sendno", "msg_id"])
      #expect(object["sendno"] == "18")
      let id = try #require(object["msg_id"]?.string)
      #expect(17...18 ~= id.count && Int64(id) != nil)
      let pushes = await bench.apns.received(1)
      let sent = try #require(pushes.first)
      #expect(sent.token == Bench.token(1))
      #expect(sent.topic == "com.example.chat")
      #expect(String(decoding: sent.payload, as: UTF8.self) == "{\"aps\":{\"alert\":\"hi\"},\"_j_msgid\":\(id)}")
      #expect(reply.warnings == [])
    }
  }

  @Test("validating answers the same and sends nothing", arguments: Depth.allCases)
  func validates(depth: Depth) async throws {
    try await Bench.with(depth) { bench in
      _ = try await bench.device(1, alias: "lin")
      let reply = try await bench.call("POST", "/v3//push/validate", Self.push("{\"alias\":[\"lin\"]}"))
      #expect(reply.status == 200, "\(reply.text)")
      #expect(reply.json.object?.members.map(\.key) == ["sendno", "msg_id"])
      #expect(reply.json.object?["sendno"] == "0")
      let size = try #require(reply.headers["x-belfry-payload-size"])
      #expect(size.hasPrefix("ios=") && size.hasSuffix("/4096"), "\(size)")
      let sent = try await bench.call("POST", "/v3/push", Self.push("{\"alias\":[\"lin\"]}"))
      #expect(sent.status == 200 && sent.headers["x-belfry-payload-size"] == nil)
      let body = try #require(await bench.apns.received(1).first).payload
      #expect(size == "ios=\(body.count)/4096", "\(String(decoding: body, as: UTF8.self))")
      let nobody = try await bench.call("POST", "/v3/push/validate", Self.push("{\"alias\":[\"none\"]}"))
      #expect(nobody.errorCode == 1011)
      #expect(bench.apns.pushes.values.count == 1, "the one that was sent")
    }
  }

  static let audiences: [(String, Set<Int>)] = [
    ("\"all\"", [1, 2, 3]),
    ("{\"tag\":[\"a\",\"b\"]}", [1, 2, 3]),
    ("{\"tag_and\":[\"a\",\"b\"]}", [2]),
    ("{\"tag\":[\"a\"],\"tag_not\":[\"b\"]}", [1]),
    ("{\"tag_not\":[\"b\"]}", [1]),
    ("{\"tag\":[\"b\"],\"alias\":[\"lin\",\"wei\"]}", [2]),
    ("{\"tag\":[],\"alias\":[\"lin\"]}", [1]),
  ]

  @Test("§4.3 keys of an audience combine by AND", arguments: audiences.indices)
  func combinesAudiences(index: Int) async throws {
    let (audience, expected) = Self.audiences[index]
    try await Bench.with(.inProcess) { bench in
      _ = try await bench.device(1, alias: "lin", tags: ["a"])
      _ = try await bench.device(2, alias: "wei", tags: ["a", "b"])
      _ = try await bench.device(3, tags: ["b"])
      let reply = try await bench.call("POST", "/v3/push", Self.push(audience))
      #expect(reply.status == 200, "\(reply.text)")
      let reached = Set(await bench.apns.received(expected.count).map { Int($0.token[0]) })
      #expect(reached == expected)
    }
  }

  @Test("C09 a push that reaches nobody is 1011 and names the alias", arguments: Depth.allCases)
  func namesWhoIsMissing(depth: Depth) async throws {
    try await Bench.with(depth) { bench in
      _ = try await bench.device(1, alias: "lin")
      let reply = try await bench.call("POST", "/v3/push", Self.push("{\"alias\":[\"ghost\"]}"))
      #expect(reply.status == 400)
      #expect(reply.errorCode == 1011)
      #expect(reply.errorMessage.contains("ghost"), "\(reply.errorMessage)")
    }
  }

  @Test(
    "C29 one unknown alias among several is told and costs the others nothing",
    arguments: [
      "[\"nobody\",\"lin\"]", "[\"lin\",\"nobody\"]",
    ])
  func tellsUnknownAliases(aliases: String) async throws {
    try await Bench.with(.live) { bench in
      _ = try await bench.device(1, alias: "lin")
      let reply = try await bench.call("POST", "/v3/push", Self.push("{\"alias\":\(aliases)}"))
      #expect(reply.status == 200, "\(reply.text)")
      #expect(reply.warnings.filter { $0.contains("nobody") }.count == 1, "\(reply.warnings)")
      #expect(await bench.apns.received(1).map(\.token) == [Bench.token(1)])
    }
  }

  @Test("C45 the phone gets extras as they were sent, to the byte", arguments: Depth.allCases)
  func keepsBytes(depth: Depth) async throws {
    try await Bench.with(depth) { bench in
      _ = try await bench.device(1)
      let extras = #""c":"aa+bb/cc==","n":9007199254740993,"f":1.10,"e":"👨‍👩‍👧‍👦 ’ \#u{2028}","z":null,"o":{"b":1,"a":2}"#
      let long = String(repeating: "钟", count: 300)
      let reply = try await bench.call(
        "POST", "/v3/push",
        "{\"platform\":[\"ios\"],\"audience\":\"all\",\"notification\":{\"ios\":{\"alert\":\"\(long)\",\"extras\":{\(extras)}}}}"
      )
      #expect(reply.status == 200, "\(reply.text)")
      let pushes = await bench.apns.received(1)
      let payload = String(decoding: try #require(pushes.first).payload, as: UTF8.self)
      #expect(payload.contains(extras))
      #expect(payload.contains(long))
    }
  }

  @Test("badges count on what the service keeps for each device")
  func countsBadges() async throws {
    try await Bench.with(.inProcess) { bench in
      _ = try await bench.device(1)
      for (index, badge) in ["\"+1\"", "\"+1\"", "7", "\"-3\"", "\"\""].enumerated() {
        try await bench.call(
          "POST", "/v3/push",
          "{\"platform\":\"ios\",\"audience\":\"all\",\"notification\":{\"ios\":{\"alert\":\"a\",\"badge\":\(badge)}}}")
        _ = await bench.apns.received(index + 1)
      }
      let badges = try bench.apns.pushes.values.map {
        try JSONReader.read($0.payload).value.object?["aps"]?.object?["badge"]?.number?.int64
      }
      #expect(badges == [1, 2, 7, 4, 0])
    }
  }

  @Test("what is ignored stands in X-Belfry-Warnings, in ASCII, never in the body", arguments: Depth.allCases)
  func warnsInHeader(depth: Depth) async throws {
    try await Bench.with(depth) { bench in
      _ = try await bench.device(1)
      let reply = try await bench.call(
        "POST", "/v3/push",
        "{\"platform\":\"all\",\"audience\":\"all\",\"notification\":{\"alert\":\"a\"},\"message\":{\"msg_content\":\"m\"},\"options\":{\"未来\":1}}"
      )
      #expect(reply.status == 200, "\(reply.text)")
      #expect(reply.json.object?.members.map(\.key) == ["sendno", "msg_id"])
      #expect(reply.headers["x-belfry-warnings"]?.utf8.allSatisfy { 0x20..<0x7F ~= $0 } == true)
      #expect(reply.warnings.contains { $0.contains("--gateway") })
      #expect(reply.warnings.contains { $0.contains("未来") })
    }
  }

  @Test("the same cid answers the first receipt again and sends nothing", arguments: Depth.allCases)
  func repeatsReceipts(depth: Depth) async throws {
    try await Bench.with(depth) { bench in
      _ = try await bench.device(1)
      let cids = try await bench.call("GET", "/v3/push/cid/?count=3&type=push")
      let list = cids.json.object?["cidlist"]?.array?.compactMap { $0.string } ?? []
      #expect(Set(list).count == 3)
      #expect(list.allSatisfy { $0.hasPrefix(bench.app.appKey + "-") && $0.count == 61 })
      let body = Self.push("\"all\"", ",\"cid\":\"\(list[0])\"")
      let first = try await bench.call("POST", "/v3/push", body)
      let second = try await bench.call("POST", "/v3/push", body)
      #expect(first.status == 200, "\(first.text)")
      #expect(first.text == second.text)
      _ = try await bench.call("POST", "/v3/push", Self.push("\"all\""))
      #expect(await bench.apns.received(2).count == 2)
    }
  }

  @Test("GET /v3/push/cid: count from 1 to 1000, HEAD too", arguments: Depth.allCases)
  func countsCids(depth: Depth) async throws {
    try await Bench.with(depth) { bench in
      #expect(try await bench.call("GET", "/v3/push/cid").json.object?["cidlist"]?.array?.count == 1)
      #expect(try await bench.call("GET", "/v3/push/cid?count=1000").json.object?["cidlist"]?.array?.count == 1000)
      #expect(try await bench.call("HEAD", "/v3/push/cid").status == 200)
      for count in ["0", "1001", "-1", "x", ""] {
        let reply = try await bench.call("GET", "/v3/push/cid?count=\(count)")
        #expect(reply.errorCode == 1003, "\(count)")
      }
      #expect(try await bench.call("GET", "/v3/push/cid?type=pull").errorCode == 1003)
    }
  }

  @Test("GET /v1/pushes/{msg_id} tells the outcomes; another's id is 404", arguments: Depth.allCases)
  func reports(depth: Depth) async throws {
    try await Bench.with(depth) { bench in
      _ = try await bench.device(1)
      _ = try await bench.device(2, sandbox: true)
      let receipt = try await bench.call("POST", "/v3/push", Self.push("\"all\""))
      let id = try #require(receipt.json.object?["msg_id"]?.string, "\(receipt.text)")
      var report = JSONObject()
      for _ in 0..<100_000 where report["state"] != "finished" {
        let reply = try await bench.call("GET", "/v1/pushes/\(id)")
        report = try #require(reply.json.object)
      }
      #expect(report["id"] == .string(id))
      #expect(report["state"] == "finished")
      #expect(report["targeted"] == 1)
      #expect(report["accepted"] == 1)
      #expect(report["pending"] == 0)
      #expect(report["wrongEnvironment"] == 1)
      #expect(report["refused"] == [])
      let unknown = try await bench.call("GET", "/v1/pushes/1")
      #expect(unknown.status == 404)
      #expect(unknown.headers["content-type"] == "application/problem+json")
      #expect(unknown.json.object?["status"] == 404)
      #expect(unknown.errorCode != nil)
    }
  }
}
