import BelfryTesting
import HTTPAPI
import PushPayload
import Testing

@Suite("/v1/schedules", .timeLimit(.minutes(1)))
struct ScheduleResourceTests {
  private static func body(_ name: String, _ more: String = "") -> String {
    """
    {"name":"\(name)","trigger":{"single":{"time":"2026-12-05 09:30:00"}},\
    "push":{"platform":"all","audience":"all","notification":{"alert":"a"}}\(more)}
    """
  }

  @Test("made, read, edited under its ETag, deleted", arguments: Depth.allCases)
  func life(depth: Depth) async throws {
    try await Bench.with(depth) { bench in
      let made = try await bench.call("POST", "/v1/schedules", Self.body("one", #","timeZone":"Europe/Berlin""#))
      let id = try #require(made.json.object?["id"]?.string, "\(made.text)")
      #expect(made.status == 201 && made.headers["location"] == "/v1/schedules/\(id)")
      #expect(made.json.object?["timeZone"] == "Europe/Berlin")
      #expect(made.json.object?["nextAt"] == "2026-12-05T08:30:00.000Z")
      let read = try await bench.call("GET", "/v1/schedules/\(id)")
      #expect(read.json == made.json && read.headers["etag"] == made.headers["etag"])
      let tag = try #require(read.headers["etag"])
      let changed = try await bench.call(
        "PATCH", "/v1/schedules/\(id)", headers: ["If-Match": tag], #"{"timeZone":"Asia/Shanghai"}"#)
      #expect(changed.status == 200 && changed.json.object?["nextAt"] == "2026-12-05T01:30:00.000Z")
      #expect(changed.headers["etag"] != tag)
      for tag in [tag, "\"x\""] {
        let late = try await bench.call(
          "PATCH", "/v1/schedules/\(id)", headers: ["If-Match": tag], #"{"name":"late"}"#)
        #expect(late.status == 412 && late.headers["content-type"] == "application/problem+json")
      }
      #expect(try await bench.call("PATCH", "/v1/schedules/\(id)", #"{"name":"two"}"#).json.object?["name"] == "two")
      #expect(try await bench.call("GET", "/v1/schedules/\(id)/firings").json == ["firings": []])
      let gone = try await bench.call("DELETE", "/v1/schedules/\(id)")
      #expect(gone.status == 204 && gone.body.isEmpty)
      let unknown = try await bench.call("GET", "/v1/schedules/\(id)")
      #expect(unknown.status == 404 && unknown.headers["content-type"] == "application/problem+json")
    }
  }

  @Test("pages by cursor: every schedule once, those that are over too; then null")
  func pages() async throws {
    try await Bench.with(.inProcess) { bench in
      for number in 0..<5 { try await bench.call("POST", "/v1/schedules", Self.body("n\(number)")) }
      var names: [String] = []
      var cursor: String? = ""
      while let at = cursor {
        let page = try await bench.call("GET", "/v1/schedules?limit=2\(at.isEmpty ? "" : "&cursor=\(at)")").json.object
        names += page?["schedules"]?.array?.compactMap { $0.object?["name"]?.string } ?? []
        cursor = page?["next"]?.string
      }
      #expect(names == (0..<5).map { "n\($0)" })
      for query in ["limit=0", "limit=x", "cursor=-1", "page=1"] {
        #expect(try await bench.call("GET", "/v1/schedules?\(query)").status == 400, "\(query)")
      }
    }
  }

  @Test("an Idempotency-Key makes one schedule; another request under it is refused", arguments: Depth.allCases)
  func idempotency(depth: Depth) async throws {
    try await Bench.with(depth) { bench in
      func make(_ key: String, _ name: String) async throws -> Bench.Reply {
        try await bench.call("POST", "/v1/schedules", headers: ["Idempotency-Key": key], Self.body(name))
      }
      let first = try await make("one", "morning")
      let again = try await make("one", "morning")
      #expect(first.status == 201 && again.status == 200)
      #expect(again.json == first.json && again.headers["location"] == first.headers["location"])
      let other = try await make("one", "evening")
      #expect(other.status == 409 && other.json.object?["place"] == "Idempotency-Key", "\(other.text)")
      #expect(try await make("two", "morning").status == 201)
      let id = try #require(first.json.object?["id"]?.string)
      try await bench.call("PATCH", "/v1/schedules/\(id)", #"{"name":"noon"}"#)
      let edited = try await make("one", "morning")
      #expect(edited.status == 200 && edited.json.object?["name"] == "noon")
      #expect(try await make("a b", "morning").status == 400)
      #expect(try await bench.call("GET", "/v1/schedules").json.object?["schedules"]?.array?.count == 2)
    }
  }

  @Test("what is wrong is a problem with its place")
  func problems() async throws {
    try await Bench.with(.inProcess) { bench in
      for (body, place) in [
        (Self.body("a-b"), "name"), (Self.body("a", #","timeZone":"Mars""#), "timeZone"),
        (Self.body("a", #","time_zone":"UTC""#), "time_zone"), ("{}", "name"),
      ] {
        let reply = try await bench.call("POST", "/v1/schedules", body)
        #expect(reply.status == 400 && reply.json.object?["place"] == .string(place), "\(reply.text)")
        #expect(reply.headers["content-type"] == "application/problem+json")
      }
    }
  }
}
