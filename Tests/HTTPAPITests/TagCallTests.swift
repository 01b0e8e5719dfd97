import Basics
import Foundation
import PushPayload
import PushService
import Testing

@Suite("Tags, aliases and status", .timeLimit(.minutes(2)))
struct TagCallTests {
  func list(_ reply: Bench.Reply, _ key: String) -> [String]? {
    reply.json.object?[key]?.array?.compactMap(\.string)
  }

  @Test(
    "§7 a tag is given, asked for, taken and deleted, over both zones' paths", arguments: ["/v3", "/v3/device"],
    Depth.allCases)
  func tags(base: String, depth: Depth) async throws {
    try await Bench.with(depth) { bench in
      let one = try await bench.device(1)
      let two = try await bench.device(2, tags: ["b"])
      let body = "{\"registration_ids\":{\"add\":[\"\(one)\",\"\(two)\"],\"remove\":[\"\(two)\",\"\(two)\"]}}"
      for _ in 0..<2 {
        let set = try await bench.call("POST", "\(base)/tags/a%E5%8C%97.|/", body)
        #expect(set.status == 200 && set.body == [], "\(set.text)")
        #expect(set.headers["content-type"] == "application/json")
      }
      #expect(list(try await bench.call("GET", "\(base)/tags/"), "tags") == ["a北.|", "b"])
      for (tag, id, has) in [("a北.|", one, true), ("a北.|", two, true), ("b", one, false), ("none", one, false)] {
        let encoded = tag.addingPercentEncoding(withAllowedCharacters: .alphanumerics)!
        let reply = try await bench.call("GET", "\(base)/tags/\(encoded)/registration_ids/\(id)")
        #expect(reply.text == "{\"result\":\(has)}", "\(tag)")
      }
      let taken = try await bench.call(
        "POST", "\(base)/tags/b", "{\"registration_ids\":{\"remove\":[\"\(one)\",\"\(two)\"]}}")
      #expect(taken.status == 200)
      #expect(list(try await bench.call("GET", "\(base)/tags"), "tags") == ["a北.|"], "who has b left it")
      for tag in ["a%E5%8C%97.%7C?platform=android", "unknown", "unknown/?platform=ios,android"] {
        #expect(try await bench.call("DELETE", "\(base)/tags/\(tag)").status == 200)
      }
      #expect(list(try await bench.call("GET", "\(base)/tags"), "tags") == ["a北.|"], "another platform's")
      let gone = try await bench.call("DELETE", "\(base)/tags/a%E5%8C%97.%7C?platform=ios%2Candroid")
      #expect(gone.status == 200 && gone.body == [])
      #expect(list(try await bench.call("GET", "\(base)/tags"), "tags") == [])
      #expect(try await bench.call("GET", "/v3/devices/\(one)").json.object?["tags"] == [])
      let push = try await bench.call(
        "POST", "/v3/push",
        #"{"platform":"all","audience":{"tag":["a北.|"]},"notification":{"alert":"x"}}"#)
      #expect(push.errorCode == 1011)
    }
  }

  @Test("a tag that was deleted is a new one when it is given again, before and after the sweep")
  func deletedTagComesBackEmpty() async throws {
    try await Bench.with(.inProcess) { bench in
      let old = try await bench.device(1, tags: ["t"])
      let new = try await bench.device(2)
      for _ in 0..<3 {
        try await bench.call("DELETE", "/v3/tags/t")
        let body = "{\"registration_ids\":{\"add\":[\"\(new)\"]}}"
        #expect(try await bench.call("POST", "/v3/tags/t", body).status == 200)
        #expect(try await bench.call("GET", "/v3/devices/\(old)").json.object?["tags"] == [])
        #expect(try await bench.call("GET", "/v3/devices/\(new)").json.object?["tags"] == ["t"])
      }
    }
  }

  @Test("§7 ids that are no devices here are 7013 with illegal_rids, and nothing is changed", arguments: Depth.allCases)
  func illegalIDs(depth: Depth) async throws {
    try await Bench.with(depth) { bench in
      let id = try await bench.device(1, alias: "lin", tags: ["t"])
      for (path, body) in [
        ("/v3/tags/new", "{\"registration_ids\":{\"add\":[\"\(id)\",\"090c1f59f89\"],\"remove\":[\"a b\"]}}"),
        ("/v3/aliases/lin", "{\"registration_ids\":{\"remove\":[\"090c1f59f89\",\"\(id)\",\"a b\"]}}"),
      ] {
        let reply = try await bench.call("POST", path, body)
        #expect(reply.status == 400 && reply.errorCode == 7013, "\(reply.text)")
        let error = reply.json.object?["error"]?.object
        #expect(error?["illegal_rids"] == ["090c1f59f89", "a b"], "\(reply.text)")
        #expect(error?.members.map(\.key) == ["code", "message", "illegal_rids"])
      }
      #expect(
        try await bench.call("GET", "/v3/devices/\(id)").text == "{\"tags\":[\"t\"],\"alias\":\"lin\",\"mobile\":null}")
    }
  }

  static let ids = (0..<1001).map { "\"r\($0)\"" }.joined(separator: ",")
  static let refusals: [(method: String, path: String, body: String?)] = [
    ("POST", "/v3/tags/a-b", "{\"registration_ids\":{\"add\":[]}}"),
    ("POST", "/v3/tags/a", "{\"registration_ids\":{\"add\":[\(ids)]}}"),
    ("POST", "/v3/tags/a", "{\"registration_ids\":{\"set\":[]}}"),
    ("POST", "/v3/tags/a", "{\"registration_ids\":[]}"),
    ("POST", "/v3/tags/a", "{\"registration_ids\":{\"add\":[1]}}"),
    ("POST", "/v3/tags/a", "{}"),
    ("POST", "/v3/tags/a", ""),
    ("DELETE", "/v3/tags/a%2Fb", nil),
    ("DELETE", "/v3/tags/a?platform=iphone", nil),
    ("GET", "/v3/tags/a/registration_ids/090c1f59f89", nil),
    ("GET", "/v3/aliases/a%20b", nil),
    ("GET", "/v3/aliases/a?new_format=yes", nil),
    ("GET", "/v3/aliases/a?platform=%zz", nil),
    ("POST", "/v3/aliases/a", "{\"registration_ids\":{\"add\":[]}}"),
    ("POST", "/v3/devices/status", "{\"registration_ids\":\"r1\"}"),
    ("POST", "/v3/devices/status", "{\"registration_ids\":[1]}"),
    ("POST", "/v3/devices/status", "{\"registration_ids\":[\(ids)]}"),
    ("POST", "/v3/devices/status", "{}"),
  ]

  @Test("what is wrong is 7002 and says where", arguments: refusals.indices)
  func refuses(index: Int) async throws {
    let (method, path, body) = Self.refusals[index]
    try await Bench.with(.inProcess) { bench in
      let reply = try await bench.call(method, path, body)
      #expect(reply.status == 400 && reply.errorCode == 7002, "\(path) \(reply.text)")
    }
  }

  @Test("§7 an alias is asked for in both forms, taken from devices, and deleted", arguments: Depth.allCases)
  func aliases(depth: Depth) async throws {
    try await Bench.with(depth) { bench in
      let one = try await bench.device(1, alias: "lin")
      let two = try await bench.device(2, alias: "lin")
      let other = try await bench.device(3, alias: "wei")
      for path in ["/v3/aliases/lin", "/v3/device/aliases/lin/?platform=ios", "/v3/aliases/lin?new_format=false"] {
        #expect(
          try await bench.call("GET", path).text == "{\"registration_ids\":[\"\(one)\",\"\(two)\"]}", "\(path)")
      }
      let entries = [one, two].map {
        "{\"registration_id\":\"\($0)\",\"platform\":\"ios\",\"last_online_date\":\"\(bench.today)\"}"
      }
      for path in ["lin?new_format=true", "lin?platform=all&new_format=true", "lin&new_format=true"] {
        let reply = try await bench.call("GET", "/v3/aliases/\(path)")
        #expect(reply.text == "{\"data\":[\(entries.joined(separator: ","))]}", "\(path)")
      }
      for path in ["nobody", "lin?platform=android"] {
        #expect(try await bench.call("GET", "/v3/aliases/\(path)").text == "{\"registration_ids\":[]}")
      }
      let taken = try await bench.call(
        "POST", "/v3/aliases/lin", "{\"registration_ids\":{\"remove\":[\"\(one)\",\"\(other)\"]}}")
      #expect(taken.status == 200 && taken.body == [], "\(taken.text)")
      #expect(list(try await bench.call("GET", "/v3/aliases/lin"), "registration_ids") == [two])
      #expect(list(try await bench.call("GET", "/v3/aliases/wei"), "registration_ids") == [other], "not its alias")
      for alias in ["lin", "lin", "never"] {
        #expect(try await bench.call("DELETE", "/v3/aliases/\(alias)").status == 200)
      }
      #expect(list(try await bench.call("GET", "/v3/aliases/lin"), "registration_ids") == [])
    }
  }

  @Test("§7 status: online within ten minutes, then when it was last, after two days nothing; {} for a stranger")
  func statuses() async throws {
    try await Bench.with(.inProcess) { bench in
      let id = try await bench.device(1)
      let body = "{\"registration_ids\":[\"\(id)\",\"090c1f59f89\",\"\(id)\",\"a b\"]}"
      func status() async throws -> String {
        let reply = try await bench.call("POST", "/v3/devices/status/", body)
        #expect(reply.status == 200, "\(reply.text)")
        return reply.text
      }
      let rest = "\"090c1f59f89\":{},\"a b\":{}}"
      let registered = bench.jpushNow
      #expect(try await status() == "{\"\(id)\":{\"online\":true},\(rest)")
      bench.clock.advance(by: .minutes(11))
      #expect(
        try await status() == "{\"\(id)\":{\"online\":false,\"last_online_time\":\"\(registered)\"},\(rest)")
      bench.clock.advance(by: .days(2))
      #expect(try await status() == "{\"\(id)\":{\"online\":false},\(rest)")
      #expect(try await bench.call("POST", "/v3/devices/status", "{\"registration_ids\":[]}").text == "{}")
    }
  }

  @Test("a device's own call makes it seen")
  func ownCallsAreSeen() async throws {
    try await Bench.with(.inProcess) { bench in
      let reply = try await bench.call(
        "POST", "/device/v1/registrations", as: .nobody,
        "{\"appKey\":\"\(bench.app.appKey)\",\"token\":\"\(Bench.token(1).hex)\"}")
      let id = try #require(reply.json.object?["registrationId"]?.string)
      let secret = try #require(reply.json.object?["deviceSecret"]?.string)
      bench.clock.advance(by: .hours(3))
      let body = "{\"registration_ids\":[\"\(id)\"]}"
      #expect(try await bench.call("POST", "/v3/devices/status", body).text.contains("false"))
      try await bench.call("GET", "/device/v1/registrations/\(id)", as: .other(bench.app.appKey, "wrong"))
      #expect(try await bench.call("POST", "/v3/devices/status", body).text.contains("false"))
      try await bench.call("GET", "/device/v1/registrations/\(id)", as: .other(bench.app.appKey, secret))
      #expect(try await bench.call("POST", "/v3/devices/status", body).text == "{\"\(id)\":{\"online\":true}}")
    }
  }

  @Test("beyond JPush's hundred tags the list ends, and says so")
  func manyTags() async throws {
    try await Bench.with(.inProcess) { bench in
      let id = try await bench.device(1)
      for start in [0, 60] {
        let names = (start..<start + 60).map { "\"t\(1000 + $0)\"" }.joined(separator: ",")
        try await bench.call("POST", "/v3/devices/\(id)", "{\"tags\":{\"add\":[\(names)]}}")
      }
      let reply = try await bench.call("GET", "/v3/tags")
      #expect(list(reply, "tags") == (0..<100).map { "t\(1000 + $0)" })
      #expect(reply.warnings.count == 1)
    }
  }
}

extension Bench {
  /// As JPush writes it: Chinese time.
  var jpushNow: String {
    TimeZoneRules(fixed: 8 * 3600, abbreviation: "CST").local(at: clock.now).description
  }
  var today: String { String(jpushNow.prefix(10)) }
}
