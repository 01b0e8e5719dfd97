import Basics
import BelfryTesting
import PushPayload
import PushService
import Store
import StoreSQLite
import Testing

@testable import HTTPAPI

@Suite("Messages over /v1", .timeLimit(.minutes(1)))
struct MessageCallTests {
  @Test("a message is sent, listed, read with who has it, and withdrawn", arguments: Depth.allCases)
  func life(depth: Depth) async throws {
    try await Bench.with(depth) { bench in
      let first = try await bench.device(1, tags: ["vip"])
      _ = try await bench.device(2)
      let body = #"{"audience":{"tag":"vip"},"content":"hello","title":"T","extras":{"n":12345678901234567890}}"#
      let sent = try await bench.call("POST", "/v1/messages", headers: ["Idempotency-Key": "a"], body)
      #expect(sent.status == 201 && sent.json.object?["targeted"] == 1, "\(sent.text)")
      let id = try #require(sent.json.object?["id"]?.string)
      #expect(sent.headers["location"] == "/v1/messages/\(id)")
      let again = try await bench.call("POST", "/v1/messages", headers: ["Idempotency-Key": "a"], body)
      #expect(again.status == 200 && again.json.object?["id"] == .string(id))
      let other = try await bench.call(
        "POST", "/v1/messages", #"{"audience":"everyone","content":"all","timeToLive":60}"#)
      let second = try #require(other.json.object?["id"]?.string, "\(other.text)")

      let page = try await bench.call("GET", "/v1/messages?limit=1").json.object
      #expect(page?["messages"]?.array?.map { $0.object?["id"] } == [.string(second)])
      let cursor = try #require(page?["next"]?.string)
      let rest = try await bench.call("GET", "/v1/messages?cursor=\(cursor)").json.object
      #expect(rest?["messages"]?.array?.map { $0.object?["id"] } == [.string(id)] && rest?["next"] == .null)

      let app = try await bench.service.authenticate(
        appKey: bench.app.appKey, masterSecret: bench.app.masterSecret)
      let ordinal = try #require(try await bench.store.device(app: app.id, registrationID: first)).ordinal
      let inbox = try await bench.store.inbox(app: app.id, ordinal: ordinal, InboxRange(limit: 9), at: bench.clock.now)
      try await bench.store.acknowledge(
        [.init(app: app.id, ordinal: ordinal, position: inbox.entries[0].position, delivered: nil)],
        at: bench.clock.now)
      _ = try await bench.store.noteRead(app: app.id, ordinal: ordinal, ids: [Int64(id)!], at: bench.clock.now)
      let shown = try await bench.call("GET", "/v1/messages/\(id)").json.object
      #expect(shown?["delivered"] == 1 && shown?["read"] == 1 && shown?["targeted"] == 1)
      #expect(shown?["expiresAt"] == .null && shown?["contentType"] == .null && shown?["content"] == "hello")
      #expect(JSONValue.object(shown ?? [:]).text.contains("12345678901234567890"), "digit for digit")
      let history = try await bench.call("GET", "/v1/devices/\(first)/messages").json.object?["messages"]?.array
      #expect(history?.map { $0.object?["id"] } == [.string(second), .string(id)])
      #expect(history?.map { $0.object?["delivered"] } == [false, true])

      for _ in 1...2 { #expect(try await bench.call("DELETE", "/v1/messages/\(id)").status == 204) }
      #expect(try await bench.call("GET", "/v1/messages/\(id)").json.object?["withdrawnAt"] != .null)
      let left = try await bench.call("GET", "/v1/devices/\(first)/messages?limit=1").json.object
      #expect(left?["messages"]?.array?.map { $0.object?["id"] } == [.string(second)], "\(left ?? [:])")
      let kinds = try await bench.service.audit(app, AuditFilter(), before: nil, limit: 9).map(\.entry.note.kind)
      #expect(kinds.filter { $0 == .messageWithdrawn }.count == 1)
      #expect(bench.apns.pushes.values == [], "nothing goes to Apple")
    }
  }

  @Test("a message beside a notification is taken back alone; the notification has gone")
  func pair() async throws {
    try await Bench.with(.inProcess) { bench in
      let device = try await bench.device(1)
      let push = try await bench.call(
        "POST", "/v1/pushes", #"{"audience":"everyone","alert":"Lin: hi","message":{"content":"hi"}}"#)
      let id = try #require(push.json.object?["id"]?.string, "\(push.text)")
      _ = await bench.apns.received(1)
      let history = try await bench.call("GET", "/v1/devices/\(device)/messages").json.object?["messages"]?.array
      #expect(history?.first?.object?["content"] == "hi" && history?.first?.object?["id"] == .string(id))
      #expect(try await bench.call("DELETE", "/v1/messages/\(id)").status == 204)
      let gone = try await bench.call("GET", "/v1/devices/\(device)/messages").json.object
      #expect(gone?["messages"] == [])
      let silent = try await bench.call("POST", "/v1/pushes", #"{"audience":"everyone","alert":"x"}"#)
      let other = try #require(silent.json.object?["id"]?.string)
      #expect(try await bench.call("GET", "/v1/messages/\(other)").errorCode == 9404, "that push had none")
    }
  }

  @Test(
    "what is wrong is named, and sends nothing",
    arguments: [
      (#"{"content":"x"}"#, "audience"), (#"{"audience":"everyone"}"#, "content"),
      (#"{"audience":"everyone","content":7}"#, "content"),
      (#"{"audience":"everyone","content":"x","alert":"y"}"#, "alert"),
      (#"{"audience":"everyone","content":"x","extras":[]}"#, "extras"),
      (#"{"audience":"everyone","content":"x","timeToLive":-1}"#, "timeToLive"),
      (#"{"audience":"everyone","content":"\#(String(repeating: "x", count: 4000))"}"#, "message"),
    ])
  func refuses(body: String, place: String) async throws {
    try await Bench.with(.inProcess) { bench in
      _ = try await bench.device(1)
      let answer = try await bench.call("POST", "/v1/messages", body)
      #expect(answer.status == 400 && answer.json.object?["place"] == .string(place), "\(answer.text)")
      #expect(try await bench.call("GET", "/v1/messages").json.object?["messages"] == [])
      #expect(try await bench.call("GET", "/v1/devices/unknown/messages").errorCode == 9404)
    }
  }
}
