import Basics
import HTTPAPI
import PushPayload
import PushService
import Testing

@Suite("Devices", .timeLimit(.minutes(2)))
struct DeviceCallTests {
  @Test("§7 GET /v3/devices/{id} has three keys, null where nothing is set", arguments: Depth.allCases)
  func getsDevice(depth: Depth) async throws {
    try await Bench.with(depth) { bench in
      let id = try await bench.device(1)
      #expect(try await bench.call("GET", "/v3/devices/\(id)").text == "{\"tags\":[],\"alias\":null,\"mobile\":null}")
      let set = try await bench.call(
        "POST", "/v3/device/\(id)/",
        "{\"tags\":{\"add\":[\"b\",\"a\"]},\"alias\":\"lin\",\"mobile\":\"+86-13800000000\"}")
      #expect(set.status == 200, "\(set.text)")
      #expect(set.body == [])
      #expect(set.headers["content-type"] == "application/json")
      #expect(
        try await bench.call("GET", "/v3/devices/\(id)").text
          == "{\"tags\":[\"a\",\"b\"],\"alias\":\"lin\",\"mobile\":\"+86-13800000000\"}")
    }
  }

  static let changes: [(body: String, after: String)] = [
    ("{\"tags\":{\"add\":[\"t1\",\"t2\"],\"remove\":[\"t1\",\"t2\"]}}", "[\"old\",\"t1\",\"t2\"] lin 1"),
    ("{\"tags\":\"\"}", "[] lin 1"),
    ("{\"tags\":{}}", "[\"old\"] lin 1"),
    ("{}", "[\"old\"] lin 1"),
    ("{\"alias\":\"\"}", "[\"old\"] null 1"),
    ("{\"alias\":\"wei\"}", "[\"old\"] wei 1"),
    ("{\"mobile\":\"\"}", "[\"old\"] lin null"),
    ("{\"mobile\":null,\"alias\":null}", "[\"old\"] lin null"),
  ]

  @Test("§7 what a change does", arguments: changes.indices)
  func changesDevice(index: Int) async throws {
    let (body, after) = Self.changes[index]
    try await Bench.with(.inProcess) { bench in
      let id = try await bench.device(1, alias: "lin", tags: ["old"])
      try await bench.call("POST", "/v3/devices/\(id)", "{\"mobile\":\"1\"}")
      let reply = try await bench.call("POST", "/v3/devices/\(id)", body)
      #expect(reply.status == 200, "\(reply.text)")
      let seen = try await bench.call("GET", "/v3/devices/\(id)")
      let view = try #require(seen.json.object)
      let text = "\(view["tags"]!.text) \(view["alias"]?.string ?? "null") \(view["mobile"]?.string ?? "null")"
      #expect(text == after, "\(body)")
    }
  }

  static let refusals = [
    "{\"tags\":{\"add\":[\"a b\"]}}", "{\"tags\":{\"add\":[46]}}", "{\"tags\":{\"add\":\"a\"}}", "{\"tags\":\"a\"}",
    "{\"tags\":[\"a\"]}", "{\"tags\":{\"set\":[\"a\"]}}", "{\"alias\":46}", "{\"alias\":\"user,1\"}",
    "{\"alias\":\"a-b\"}", "{\"alias\":\"\(String(repeating: "北", count: 14))\"}", "{\"mobile\":\"abc\"}",
    "{\"mobile\":\"123456789012345678901\"}", "{\"Tags\":\"\"}", "{\"tag\":\"\"}", "[]", "", "{\"alias\":",
    "{\"alias\":\"a\",\"alias\":\"b\"}", "{\"tags\":{\"add\":[\(PushReadingTests.list(101))]}}",
    "{\"tags\":{\"add\":[\((0..<30).map { "\"\($0)\(String(repeating: "x", count: 38))\"" }.joined(separator: ","))]}}",
  ]

  @Test("C30 wrong fields are 7002, and change nothing", arguments: refusals)
  func refusesChanges(body: String) async throws {
    try await Bench.with(.inProcess) { bench in
      let id = try await bench.device(1, alias: "lin", tags: ["old"])
      let reply = try await bench.call("POST", "/v3/devices/\(id)", body)
      #expect(reply.status == 400)
      #expect(reply.errorCode == 7002, "\(reply.text)")
      #expect(
        try await bench.call("GET", "/v3/devices/\(id)").text
          == "{\"tags\":[\"old\"],\"alias\":\"lin\",\"mobile\":null}")
    }
  }

  @Test(
    "§7 an unknown or malformed id is 400 and 7002", arguments: ["090c1f59f89", "a%20b", "%E5%8C%97", "a.b"],
    Depth.allCases)
  func refusesUnknownIDs(id: String, depth: Depth) async throws {
    try await Bench.with(depth) { bench in
      for method in ["GET", "POST"] {
        let reply = try await bench.call(method, "/v3/devices/\(id)", method == "POST" ? "{\"alias\":\"a\"}" : nil)
        #expect(reply.status == 400)
        #expect(reply.errorCode == 7002, "\(reply.text)")
      }
    }
  }

  // MARK: the device's own calls

  @Test("an app's key and a token give an id and a secret; the same token keeps its id", arguments: Depth.allCases)
  func registers(depth: Depth) async throws {
    try await Bench.with(depth) { bench in
      let body =
        "{\"appKey\":\"\(bench.app.appKey)\",\"token\":\"\(Bench.token(9).hex.uppercased())\",\"osVersion\":\"18.1\"}"
      let answer = try await bench.call("POST", "/device/v1/registrations", as: .nobody, body)
      let first = try #require(answer.json.object)
      let id = try #require(first["registrationId"]?.string)
      let secret = try #require(first["deviceSecret"]?.string)
      #expect(id.count == 19)
      let own = try await bench.call(
        "GET", "/device/v1/registrations/\(id)", as: .other(bench.app.appKey, secret))
      #expect(own.status == 200, "\(own.text)")
      #expect(own.json.object?["environment"] == "production")
      let again = try await bench.call("POST", "/device/v1/registrations", as: .nobody, body)
      #expect(again.json.object?["registrationId"]?.string == id)
    }
  }

  @Test("a device changes itself with its secret, not with another's; it resets its badge (C07)")
  func changesItself() async throws {
    try await Bench.with(.inProcess) { bench in
      func register(_ number: Int) async throws -> (id: String, secret: String) {
        let reply = try await bench.call(
          "POST", "/device/v1/registrations", as: .nobody,
          "{\"appKey\":\"\(bench.app.appKey)\",\"token\":\"\(Bench.token(number).hex)\"}")
        let object = try #require(reply.json.object)
        return (try #require(object["registrationId"]?.string), try #require(object["deviceSecret"]?.string))
      }
      let mine = try await register(1)
      let other = try await register(2)
      let path = "/device/v1/registrations/\(mine.id)"
      let reply = try await bench.call(
        "POST", path, as: .other(bench.app.appKey, mine.secret), "{\"badge\":5,\"alias\":\"lin\"}")
      #expect(reply.status == 200, "\(reply.text)")
      let view = try await bench.call("GET", path, as: .other(bench.app.appKey, mine.secret))
      #expect(view.json.object?["badge"] == 5)
      #expect(view.json.object?["alias"] == "lin")
      for who in [
        Bench.Who.other(bench.app.appKey, other.secret), .other(bench.app.appKey, bench.app.masterSecret), .nobody,
      ] {
        let refused = try await bench.call("POST", path, as: who, "{\"badge\":0}")
        #expect(refused.status == 401)
        #expect([7001, 7004].contains(refused.errorCode), "\(refused.text)")
      }
    }
  }

  static let tokens = [
    "{length = 32, bytes = 0x11aa22bb 33cc44dd ... 5566eeff }", "(null)", "undefined",
    String(repeating: "a", count: 63), String(repeating: "a", count: 50),
    "qrvM3e7/ABEiM0RVZneImaq7zN3u/wARIjNEVWZ3iJk=",
    "",
  ]

  @Test("C18 a description instead of a token is refused and named", arguments: tokens, Depth.allCases)
  func refusesDescriptions(token: String, depth: Depth) async throws {
    try await Bench.with(depth) { bench in
      let reply = try await bench.call(
        "POST", "/device/v1/registrations", as: .nobody, "{\"appKey\":\"\(bench.app.appKey)\",\"token\":\"\(token)\"}")
      #expect(reply.status == 400)
      #expect(reply.errorCode == 7002, "\(reply.text)")
      #expect(reply.headers["content-type"] == "application/problem+json")
      #expect(reply.json.object?["place"]?.string?.contains("token") == true, "\(reply.text)")
    }
  }

  @Test("registering wants an app's key, known words and the app's bundle")
  func refusesRegistrations() async throws {
    try await Bench.with(.inProcess) { bench in
      let token = Bench.token(1).hex
      let key = bench.app.appKey
      for body in [
        "{\"token\":\"\(token)\"}", "{\"appKey\":\"\(key)\"}",
        "{\"appKey\":\"\(key)\",\"token\":\"\(token)\",\"environment\":\"prod\"}",
        "{\"appKey\":\"\(key)\",\"token\":\"\(token)\",\"enviroment\":\"sandbox\"}",
        "{\"appKey\":\"\(key)\",\"token\":\"\(token)\",\"bundleId\":\"com.example.other\"}",
        "{\"appKey\":1,\"token\":\"\(token)\"}",
      ] {
        let reply = try await bench.call("POST", "/device/v1/registrations", as: .nobody, body)
        #expect(reply.status == 400, "\(body) \(reply.text)")
        #expect(reply.errorCode == 7002, "\(body) \(reply.text)")
      }
      let unknown = try await bench.call(
        "POST", "/device/v1/registrations", as: .nobody,
        "{\"appKey\":\"000000000000000000000000\",\"token\":\"\(token)\"}")
      #expect(400...401 ~= unknown.status, "\(unknown.text)")
    }
  }
}
