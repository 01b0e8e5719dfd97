import Basics
import BelfryTesting
import PushPayload
import PushService
import Testing

@Suite("/v1/webhooks", .timeLimit(.minutes(1)))
struct WebhookCallTests {
  private func made(_ bench: Bench, _ body: String = #"{"url": "https://example.com/hook"}"#) async throws -> String {
    let reply = try await bench.call("POST", "/v1/webhooks", body)
    #expect(reply.status == 201, "\(reply.text)")
    return try #require(reply.json.object?["id"]?.string)
  }

  @Test("made, read, edited under its ETag, listed and deleted", arguments: Depth.allCases)
  func resource(depth: Depth) async throws {
    try await Bench.with(depth) { bench in
      let created = try await bench.call("POST", "/v1/webhooks", #"{"url": "https://example.com/hook"}"#)
      let id = try #require(created.json.object?["id"]?.string)
      #expect(created.status == 201 && created.headers["location"] == "/v1/webhooks/\(id)")
      #expect(created.headers["etag"] == "\"1\"")
      #expect(created.json.object?["secret"]?.string?.utf8.count == 64)
      #expect(
        created.json.object?["events"]
          == ["failures.spiked", "push.clicked", "push.finished", "sending.held_back", "token.retired"])
      let read = try await bench.call("GET", "/v1/webhooks/\(id)")
      #expect(read.json.object?["secret"] == nil && read.json.object?["failures"] == 0)
      #expect(read.json.object?["nextAttemptAt"] == .null)

      let edit = #"{"enabled": false, "events": ["push.sent"]}"#
      let stale = try await bench.call("PATCH", "/v1/webhooks/\(id)", headers: ["If-Match": "\"9\""], edit)
      #expect(stale.status == 412 && stale.errorCode == 9412)
      let edited = try await bench.call("PATCH", "/v1/webhooks/\(id)", headers: ["If-Match": "\"1\""], edit)
      #expect(edited.status == 200 && edited.headers["etag"] == "\"2\"")
      #expect(edited.json.object?["enabled"] == false && edited.json.object?["events"] == ["push.sent"])
      #expect(edited.json.object?["url"] == "https://example.com/hook")

      let other = try await made(bench)
      let page = try await bench.call("GET", "/v1/webhooks?limit=1")
      #expect(page.json.object?["webhooks"]?.array?.count == 1)
      let next = try #require(page.json.object?["next"]?.string)
      let rest = try await bench.call("GET", "/v1/webhooks?cursor=\(next)")
      #expect(rest.json.object?["webhooks"]?.array?.first?.object?["id"]?.string == other)
      #expect(rest.json.object?["next"] == .null)

      #expect(try await bench.call("DELETE", "/v1/webhooks/\(id)").status == 204)
      for (method, path) in [("GET", ""), ("PATCH", ""), ("DELETE", ""), ("POST", "/test"), ("GET", "/deliveries")] {
        let gone = try await bench.call(method, "/v1/webhooks/\(id)\(path)", method == "PATCH" ? "{}" : nil)
        #expect(gone.status == 404 && gone.errorCode == 9404, "\(method) \(path)")
      }
    }
  }

  @Test("the same request under one Idempotency-Key makes one webhook, with the same secret; another is a conflict")
  func idempotency() async throws {
    try await Bench.with(.inProcess) { bench in
      let (key, body) = (["Idempotency-Key": "k"], #"{"url": "https://example.com/"}"#)
      let first = try await bench.call("POST", "/v1/webhooks", headers: key, body)
      let second = try await bench.call("POST", "/v1/webhooks", headers: key, body)
      #expect(first.status == 201 && second.status == 200 && first.body == second.body)
      let other = try await bench.call("POST", "/v1/webhooks", headers: key, #"{"url": "https://example.org/"}"#)
      #expect(other.status == 409 && other.errorCode == 9409)
    }
  }

  @Test(
    "what is wrong is told with its place",
    arguments: [
      (#"{}"#, 1002, "url"), (#"{"url": 7}"#, 1003, "url"), (#"{"url": "ftp://a/"}"#, 1003, "url"),
      (#"{"url": "https://a.example/", "events": []}"#, 1003, "events"),
      (#"{"url": "https://a.example/", "events": ["push.finish"]}"#, 1003, "events[0]"),
      (#"{"url": "https://a.example/", "enabled": "yes"}"#, 1003, "enabled"),
      (#"{"url": "https://a.example/", "secret": "mine"}"#, 1009, "secret"),
    ])
  func wrong(body: String, code: Int, place: String) async throws {
    try await Bench.with(.inProcess) { bench in
      let reply = try await bench.call("POST", "/v1/webhooks", body)
      #expect(reply.status == 400 && reply.errorCode == code, "\(reply.text)")
      #expect(reply.json.object?["place"]?.string == place)
    }
  }

  @Test("another app's webhook is not there")
  func others() async throws {
    try await Bench.with(.inProcess) { bench in
      let id = try await made(bench)
      let other = try await bench.service.createApp(bundleID: "com.example.other", name: nil)
      for (method, path) in [("GET", ""), ("PATCH", ""), ("DELETE", ""), ("POST", "/test"), ("GET", "/deliveries")] {
        let reply = try await bench.call(
          method, "/v1/webhooks/\(id)\(path)", as: .other(other.appKey, other.masterSecret), "{}")
        #expect(reply.status == 404, "\(method) \(path)")
      }
      #expect(try await bench.call("GET", "/v1/webhooks/\(id)").status == 200)
    }
  }

  @Test("the test button answers what came of it; a delivery is listed with what it was answered")
  func deliveries() async throws {
    try await Bench.with(.inProcess) { bench in
      let id = try await made(bench, #"{"url": "https://example.com/", "events": ["push.clicked"]}"#)
      let test = try await bench.call("POST", "/v1/webhooks/\(id)/test")
      #expect(test.json.object?["taken"] == true && test.json.object?["status"] == 200)
      #expect(test.json.object?["firstEvent"] == .null)
      bench.posts.answer(with: .success(503))
      let device = try await bench.device(1)
      let push = try await bench.call(
        "POST", "/v3/push", #"{"platform": "ios", "audience": "all", "notification": {"alert": "Hello"}}"#)
      let message = try #require(push.json.object?["msg_id"]?.string)
      let app = try await bench.service.authenticate(
        appKey: bench.app.appKey, masterSecret: bench.app.masterSecret)
      _ = try await bench.service.note(
        app, registrationID: device, [PushSaying(messageID: try #require(Int64(message)), kind: .clicked)])
      var listed = try await bench.call("GET", "/v1/webhooks/\(id)/deliveries")
      for _ in 0..<2000 where listed.json.object?["deliveries"] == [] {
        bench.clock.advance(by: .seconds(1))
        try await Task.sleep(for: .milliseconds(1))
        listed = try await bench.call("GET", "/v1/webhooks/\(id)/deliveries")
      }
      let delivery = try #require(listed.json.object?["deliveries"]?.array?.last?.object)
      #expect(delivery["taken"] == false && delivery["status"] == 503 && delivery["fault"] == "not taken")
      #expect(delivery["firstEvent"]?.string?.hasPrefix("evt_") == true && delivery["events"] == 1)
      let read = try await bench.call("GET", "/v1/webhooks/\(id)")
      #expect(read.json.object?["failures"] != 0 && read.json.object?["nextAttemptAt"] != .null)
    }
  }
}

@Suite("callback in a push (jpush.md §11)", .timeLimit(.minutes(1)))
struct CallbackTests {
  private func push(_ callback: String) -> String {
    #"{"platform": "ios", "audience": "all", "notification": {"alert": "Hello"}, "callback": \#(callback)}"#
  }

  @Test("url, params and type are taken: receipts of the kinds asked for go there, with the params, and are signed")
  func receipts() async throws {
    try await Bench.with(.inProcess) { bench in
      let device = try await bench.device(1)
      let made = try await bench.call("POST", "/v1/webhooks", #"{"url": "https://a.example/", "enabled": false}"#)
      #expect(made.status == 201)
      let callback = #"{"url": "https://receipts.example/r", "params": {"order": 7}, "type": 10}"#
      let reply = try await bench.call("POST", "/v3/push", push(callback))
      #expect(reply.status == 200 && reply.warnings.isEmpty, "\(reply.text) \(reply.warnings)")
      let message = try #require(reply.json.object?["msg_id"]?.string)
      let app = try await bench.service.authenticate(
        appKey: bench.app.appKey, masterSecret: bench.app.masterSecret)
      for kind in PushSaying.Kind.allCases {
        _ = try await bench.service.note(
          app, registrationID: device, [PushSaying(messageID: try #require(Int64(message)), kind: kind)])
      }
      func events() -> [JSONObject] {
        bench.posts.requests.values.flatMap { request in
          let body = try? JSONReader.read(request.body).value.object
          return (body?["events"]?.array ?? []).compactMap(\.object)
        }
      }
      for _ in 0..<2000 where events().count < 2 {
        bench.clock.advance(by: .seconds(1))
        try await Task.sleep(for: .milliseconds(1))
      }
      #expect(Set(events().compactMap { $0["type"]?.string }) == ["push.sent", "push.clicked"])
      for event in events() {
        #expect(event["params"] == ["order": 7] && event["msg_id"]?.string == message)
        #expect(event["registrationId"]?.string == device)
      }
      for request in bench.posts.requests.values {
        #expect(request.url == "https://receipts.example/r")
        #expect(request.headers["Belfry-Signature"]?.hasPrefix("t=") == true)
      }
    }
  }

  @Test(
    "what is wrong in it is refused with its place",
    arguments: [
      ("7", 1003, "callback"), (#"{"url": 7}"#, 1003, "callback.url"),
      (#"{"url": "ftp://a.example/"}"#, 1003, "callback.url"),
      (#"{"url": "https://u:p@a.example/"}"#, 1003, "callback.url"),
      (#"{"url": "https://a.example/", "type": 0}"#, 1003, "callback.type"),
      (#"{"url": "https://a.example/", "type": 16}"#, 1003, "callback.type"),
      (#"{"url": "https://a.example/", "type": "3"}"#, 1003, "callback.type"),
      (#"{"url": "https://a.example/", "params": []}"#, 1003, "callback.params"),
      (#"{"urls": "https://a.example/"}"#, 1009, "callback.urls"),
      (#"{"params": {"a": "\#(String(repeating: "x", count: 4090))"}}"#, 1003, "callback.params"),
    ])
  func wrong(callback: String, code: Int, place: String) async throws {
    try await Bench.with(.inProcess) { bench in
      _ = try await bench.device(1)
      let reply = try await bench.call("POST", "/v3/push", push(callback))
      #expect(reply.status == 400 && reply.errorCode == code, "\(reply.text)")
      #expect(reply.errorMessage.hasPrefix("\(place): "), "\(reply.errorMessage)")
    }
  }

  @Test("each push of a batch has its own, and what is wrong in one is that one's fault")
  func batch() async throws {
    try await Bench.with(.inProcess) { bench in
      let device = try await bench.device(1)
      func entry(_ callback: String) -> String {
        #"{"platform": "ios", "target": "\#(device)", "notification": {"alert": "a"}, "callback": \#(callback)}"#
      }
      let reply = try await bench.call(
        "POST", "/v3/push/batch/regid/single",
        #"{"pushlist": {"c1": \#(entry(#"{"type": 99}"#)), "c2": \#(entry(#"{"params": {"a": 1}}"#))}}"#)
      let message = reply.json.object?["c1"]?.object?["error"]?.object?["message"]?.string
      #expect(message?.hasPrefix("pushlist.c1.callback.type: ") == true, "\(reply.text)")
      #expect(reply.json.object?["c2"]?.object?["msg_id"] != nil, "\(reply.text)")
    }
  }

  @Test("without a url, or a webhook whose secret signs, the push goes and a warning says what does not")
  func warnings() async throws {
    try await Bench.with(.inProcess) { bench in
      _ = try await bench.device(1)
      for (callback, warning) in [
        (#"{"params": {"a": 1}}"#, "callback names no url"),
        (#"{"url": "https://a.example/"}"#, "callback.url is ignored"),
      ] {
        let reply = try await bench.call("POST", "/v3/push", push(callback))
        #expect(reply.status == 200 && reply.warnings.count == 1, "\(reply.text)")
        #expect(reply.warnings.first?.hasPrefix(warning) == true, "\(reply.warnings)")
      }
    }
  }
}
