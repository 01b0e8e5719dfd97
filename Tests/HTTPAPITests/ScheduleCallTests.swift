import Basics
import BelfryTesting
import HTTPAPI
import PushPayload
import PushService
import Testing

@Suite("Schedules over HTTP (jpush.md §6)", .timeLimit(.minutes(2)))
struct ScheduleCallTests {
  static let push =
    #"{"platform":"all","audience":"all","notification":{"alert":"早"},"message":{},"cid":"no cid at all!","options":{"apns_production":"true"}}"#

  static func body(_ trigger: String, name: String = "定期_1") -> String {
    #"{"cid":"c1","name":"\#(name)","enabled":true,"trigger":\#(trigger),"push":\#(push)}"#
  }

  /// The bench's clock shows 2026-11-30.
  static let single = #"{"single":{"time":"2026-12-05 09:30:00"}}"#
  static let weekly = """
    {"periodical":{"start":"2026-12-01 00:00:00","end":"2027-11-30 00:00:00","time":"17:00:00","time_unit":"WEEK",\
    "frequency":1,"point":["wed","MON"]}}
    """

  @Test("created, read, listed, changed by sections, deleted: with JPush's keys only", arguments: Depth.allCases)
  func life(depth: Depth) async throws {
    try await Bench.with(depth) { bench in
      let made = try await bench.call("POST", "/v3/schedules/", Self.body(Self.weekly))
      let id = try #require(made.json.object?["schedule_id"]?.string)
      #expect(made.status == 200 && made.json == ["schedule_id": .string(id), "name": "定期_1"])
      let again = try await bench.call("POST", "/v3/schedules", Self.body(Self.weekly))
      #expect(again.json == made.json, "the same cid")

      let full: JSONValue = [
        "schedule_id": .string(id), "name": "定期_1", "enabled": true,
        "trigger": [
          "periodical": [
            "start": "2026-12-01 00:00:00", "end": "2027-11-30 00:00:00", "time": "17:00:00", "time_unit": "week",
            "frequency": 1, "point": ["MON", "WED"],
          ]
        ], "push": try JSONReader.read(Array(Self.push.utf8)).value,
      ]
      for path in ["/v3/schedules/\(id)", "/v3/push/schedules/\(id.uppercased())/", "/v3//schedules/\(id)"] {
        #expect(try await bench.call("GET", path).json == full, "\(path)")
      }
      let list: JSONValue = ["total_count": 1, "total_pages": 1, "page": 1, "schedules": [full]]
      #expect(try await bench.call("GET", "/v3/schedules").json == list)
      #expect(try await bench.call("GET", "/v3/push/schedules/?page=1").json == list)
      let beyond = try await bench.call("GET", "/v3/schedules?page=7")
      #expect(beyond.json == ["total_count": 1, "total_pages": 1, "page": 7, "schedules": []])
      #expect(try await bench.call("GET", "/v3/schedules/\(id)/msg_ids").json == ["count": 0, "msgids": []])

      let changed = try await bench.call("PUT", "/v3/schedules/\(id)", #"{"name":"neu","enabled":false}"#)
      #expect(changed.json.object?["name"] == "neu" && changed.json.object?["enabled"] == false)
      #expect(changed.json.object?["trigger"] == full.object?["trigger"])
      #expect(changed.json.object?["push"] == full.object?["push"])

      let gone = try await bench.call("DELETE", "/v3/schedules/\(id)")
      #expect(gone.status == 200 && gone.body.isEmpty && gone.headers["content-type"] == "application/json")
      for (method, path) in [
        ("GET", "/v3/schedules/\(id)"), ("DELETE", "/v3/schedules/\(id)"), ("GET", "/v3/schedules/\(id)/msg_ids"),
        ("GET", "/v3/schedules/no-uuid"), ("DELETE", "/v3/schedules/7"),
      ] {
        let reply = try await bench.call(method, path)
        #expect(reply.status == 404 && reply.errorCode == 8104, "\(method) \(path)")
      }
      #expect(try await bench.call("PUT", "/v3/schedules/\(id)", "{}").errorCode == 8104)
    }
  }

  @Test("what a schedule made is told under msg_ids as strings of JSON, and the push is reported as any other")
  func messages() async throws {
    try await Bench.with(.inProcess) { bench in
      _ = try await bench.device(1)
      let made = try await bench.call("POST", "/v3/schedules", Self.body(Self.single))
      let id = try #require(made.json.object?["schedule_id"]?.string)
      var reply = try await bench.call("GET", "/v3/schedules/\(id)/msg_ids")
      for _ in 0..<2000 where reply.json.object?["count"] == 0 {
        bench.clock.advance(by: .minutes(30))
        try await Task.sleep(for: .milliseconds(2))
        reply = try await bench.call("GET", "/v3/schedules/\(id)/msg_ids")
      }
      let element = try #require(reply.json.object?["msgids"]?.array?.first?.string)
      let object = try #require(try JSONReader.read(Array(element.utf8)).value.object)
      #expect(object.members.map(\.key) == ["msg_id", "error", "needRetry", "ts"])
      #expect(object["error"] == ["code": 0, "message": ""] && object["needRetry"] == false)
      let at = try #require(object["ts"]?.number?.int64)
      #expect(at >= 1_796_434_200_000 && at < 1_796_434_200_000 + 1_800_000, "09:30 of Shanghai")
      let messageID = try #require(object["msg_id"]?.string)
      #expect(try await bench.call("GET", "/v1/pushes/\(messageID)").json.object?["targeted"] == 1)
      #expect(try await bench.call("GET", "/v3/schedules").json.object?["total_count"] == 0, "it is over")
      #expect(try await bench.call("PUT", "/v3/schedules/\(id)", #"{"name":"x"}"#).errorCode == 8100)
    }
  }

  struct Row: CustomTestStringConvertible {
    var testDescription: String
    var body: String
    var place: String
    init(_ testDescription: String, _ body: String, _ place: String) {
      self.testDescription = testDescription
      self.body = body
      self.place = place
    }
  }

  static func periodical(_ members: String) -> String {
    body(#"{"periodical":{"start":"2026-12-01 00:00:00","end":"2026-12-31 00:00:00",\#(members)}}"#)
  }

  static let rows = [
    Row("no JSON", "{", "line 1, column 2"),
    Row("no name", #"{"trigger":\#(single),"push":\#(push)}"#, "name"),
    Row("no trigger", #"{"name":"n","push":\#(push)}"#, "trigger"),
    Row("no push", #"{"name":"n","trigger":\#(single)}"#, "push"),
    Row("a hyphen in the name", body(single, name: "a-b"), "name"),
    Row("a long name", body(single, name: String(repeating: "早", count: 86)), "name"),
    Row("a key that does not exist", #"{"name":"n","triger":\#(single),"push":\#(push)}"#, "triger"),
    Row("disabled from the start", #"{"name":"n","enabled":false,"trigger":\#(single),"push":\#(push)}"#, "enabled"),
    Row("neither kind", body("{}"), "trigger"),
    Row("both kinds", body(#"{"single":{"time":"2026-12-05 09:30:00"},"periodical":{}}"#), "trigger"),
    Row("digits missing", body(#"{"single":{"time":"2026-12-5 9:30:00"}}"#), "trigger.single.time"),
    Row("no such day", body(#"{"single":{"time":"2027-02-29 09:30:00"}}"#), "trigger.single.time"),
    Row("the past", body(#"{"single":{"time":"2026-11-01 09:30:00"}}"#), "trigger"),
    Row("more than a year ahead", body(#"{"single":{"time":"2027-12-05 09:30:00"}}"#), "trigger.single.time"),
    Row("no unit", periodical(#""time":"09:00:00","frequency":1"#), "trigger.periodical.time_unit"),
    Row("an unknown unit", periodical(#""time":"09:00:00","time_unit":"year""#), "trigger.periodical.time_unit"),
    Row(
      "a frequency of 0", periodical(#""time":"09:00:00","time_unit":"day","frequency":0"#),
      "trigger.periodical.frequency"),
    Row("a week without days", periodical(#""time":"09:00:00","time_unit":"week""#), "trigger.periodical.point"),
    Row(
      "a weekday of a month", periodical(#""time":"09:00:00","time_unit":"month","point":["MON"]"#),
      "trigger.periodical.point[0]"),
    Row(
      "one digit", periodical(#""time":"09:00:00","time_unit":"month","point":["01","1"]"#),
      "trigger.periodical.point[1]"),
    Row(
      "points of a day", periodical(#""time":"09:00:00","time_unit":"day","point":["01"]"#),
      "trigger.periodical.point"),
    Row("a time without seconds", periodical(#""time":"09:00","time_unit":"day""#), "trigger.periodical.time"),
    Row(
      "an end before the start",
      body(
        #"{"periodical":{"start":"2026-12-31 00:00:00","end":"2026-12-01 00:00:00","time":"09:00:00","time_unit":"day"}}"#
      ), "trigger.periodical"),
    Row(
      "more than a year",
      body(
        #"{"periodical":{"start":"2026-12-01 00:00:00","end":"2027-12-02 00:00:00","time":"09:00:00","time_unit":"day"}}"#
      ), "trigger.periodical"),
    Row(
      "an unknown key in the push",
      #"{"name":"n","trigger":\#(single),"push":{"platform":"all","Audience":"all","notification":{"alert":"a"}}}"#,
      "push.Audience"),
    Row(
      "a push without contents", #"{"name":"n","trigger":\#(single),"push":{"platform":"all","audience":"all"}}"#,
      "push.notification"),
    Row(
      "a push too large",
      #"{"name":"n","trigger":\#(single),"push":{"platform":"all","audience":"all","notification":{"alert":"\#(String(repeating: "a", count: 5000))"}}}"#,
      "push.notification"),
  ]

  @Test("what is wrong is 8100, with its place", arguments: rows)
  func refused(row: Row) async throws {
    try await Bench.with(.inProcess) { bench in
      let reply = try await bench.call("POST", "/v3/schedules", row.body)
      #expect(reply.status == 400 && [8100, 1005].contains(reply.errorCode), "\(reply.text)")
      #expect(reply.errorMessage.hasPrefix(row.place + ": "), "\(reply.errorMessage)")
      #expect(try await bench.call("GET", "/v3/schedules").json.object?["total_count"] == 0)
    }
  }

  @Test("credentials, methods and paths have this family's numbers")
  func family() async throws {
    try await Bench.with(.inProcess) { bench in
      let nobody = try await bench.call("GET", "/v3/schedules", as: .nobody)
      #expect(nobody.status == 401 && nobody.errorCode == 8101)
      let wrong = try await bench.call("POST", "/v3/schedules", as: .other(bench.app.appKey, "x"), "{}")
      #expect(wrong.status == 401 && wrong.errorCode == 8101)
      #expect(try await bench.call("GET", "/v3/schedules/a/b/c").errorCode == 8104)
      #expect(try await bench.call("PATCH", "/v3/schedules").status == 405)
      #expect(try await bench.call("GET", "/v3/schedules?page=0").errorCode == 8100)
    }
  }

  @Test("fifty a page; at most a hundred that are not over")
  func pages() async throws {
    try await Bench.with(.inProcess) { bench in
      for number in 0..<100 {
        let body = Self.body(Self.single, name: "n\(number)").replacing(#""cid":"c1","#, with: "")
        #expect(try await bench.call("POST", "/v3/schedules", body).status == 200)
      }
      let more = try await bench.call("POST", "/v3/schedules", Self.body(Self.single))
      #expect(more.errorCode == 8100 && more.errorMessage.contains("100"))
      for (page, first) in [(1, "n0"), (2, "n50")] {
        let list = try await bench.call("GET", "/v3/schedules?page=\(page)").json.object
        #expect(list?["total_count"] == 100 && list?["total_pages"] == 2)
        #expect(list?["schedules"]?.array?.count == 50)
        #expect(list?["schedules"]?.array?.first?.object?["name"] == .string(first))
      }
    }
  }
}
