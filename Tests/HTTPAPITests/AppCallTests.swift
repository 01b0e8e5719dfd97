import Basics
import BelfryTesting
import Bus
import PushPayload
import PushService
import Store
import Testing

@testable import HTTPAPI

@Suite("A new master secret for an app", .timeLimit(.minutes(1)))
struct AppCallTests {
  @Test(
    "it is told once; the old one is refused from the answer on, though it was just used", arguments: Depth.allCases)
  func renews(depth: Depth) async throws {
    try await Bench.with(depth) { bench in
      let key = bench.app.appKey
      #expect(try await bench.call("GET", "/v1/tags").status == 200)
      let answer = try await bench.call("POST", "/v1/apps/\(key)/secret")
      #expect(answer.status == 200 && answer.json.object?["appKey"] == .string(key), "\(answer.text)")
      let secret = try #require(answer.json.object?["masterSecret"]?.string)
      #expect(secret.wholeMatch(of: /[0-9a-f]{24}/) != nil && secret != bench.app.masterSecret)
      let refused = try await bench.call("GET", "/v1/tags")
      #expect(refused.status == 401 && refused.errorCode == 1004)
      #expect(try await bench.call("GET", "/v1/tags", as: .other(key, secret)).status == 200)
    }
  }

  @Test("a developer may do it for any app, an app for itself alone")
  func owners() async throws {
    try await Bench.with(.inProcess) { bench in
      let made = try await bench.service.createDeveloper(name: nil)
      let developer = Bench.Who.other(made.developer.key, made.secret)
      let other = try await bench.service.createApp(bundleID: "com.example.other", name: nil)
      let foreign = try await bench.call("POST", "/v1/apps/\(other.appKey)/secret")
      #expect(foreign.status == 404 && foreign.errorCode == 9404 && foreign.json.object?["place"] == "appKey")
      #expect(try await bench.call("GET", "/v1/tags", as: .other(other.appKey, other.masterSecret)).status == 200)
      let answer = try await bench.call("POST", "/v1/apps/\(other.appKey)/secret", as: developer)
      let secret = try #require(answer.json.object?["masterSecret"]?.string, "\(answer.text)")
      #expect(try await bench.call("GET", "/v1/tags", as: .other(other.appKey, secret)).status == 200)
      let unknown = try await bench.call("POST", "/v1/apps/\(String(repeating: "0", count: 24))/secret", as: developer)
      #expect(unknown.status == 404)
    }
  }

  @Test("what another process did to an app, a new secret or its end, counts here within two seconds")
  func otherProcess() async throws {
    try await Bench.with(.inProcess) { bench in
      #expect(try await bench.call("GET", "/v1/tags").status == 200)
      let beside = PushService(
        store: bench.store, bus: InProcessBus(clock: bench.clock), clock: bench.clock, seed: 1, senders: { _, _ in nil }
      )
      let renewed = try #require(try await beside.renewSecret(key: bench.app.appKey))
      let app = Bench.Who.other(renewed.appKey, renewed.masterSecret)
      bench.clock.advance(by: .seconds(2))
      #expect(try await bench.call("GET", "/v1/tags").status == 401)
      #expect(try await bench.call("GET", "/v1/tags", as: app).status == 200)
      #expect(try await beside.deleteApp(key: renewed.appKey))
      bench.clock.advance(by: .seconds(2))
      #expect(try await bench.call("GET", "/v1/tags", as: app).status == 401)
    }
  }
}

@Suite("Apps over HTTP", .timeLimit(.minutes(1)))
struct AppResourceTests {
  private func developer(_ bench: Bench) async throws -> Bench.Who {
    let made = try await bench.service.createDeveloper(name: nil)
    return .other(made.developer.key, made.secret)
  }

  @Test("a developer makes, lists, renames and ends an app; what it is told works at once", arguments: Depth.allCases)
  func life(depth: Depth) async throws {
    try await Bench.with(depth) { bench in
      let developer = try await developer(bench)
      let made = try await bench.call(
        "POST", "/v1/apps", as: developer, #"{"bundleId":"com.example.two","name":"Two"}"#)
      #expect(made.status == 201, "\(made.text)")
      let key = try #require(made.json.object?["appKey"]?.string)
      let app = Bench.Who.other(key, try #require(made.json.object?["masterSecret"]?.string))
      #expect(made.headers["location"] == "/v1/apps/\(key)")
      #expect(try await bench.call("GET", "/v1/tags", as: app).status == 200)

      let first = try await bench.call("GET", "/v1/apps?limit=1", as: developer).json.object
      #expect(first?["apps"]?.array?.compactMap { $0.object?["appKey"]?.string } == [bench.app.appKey])
      let cursor = try #require(first?["next"]?.string)
      let rest = try await bench.call("GET", "/v1/apps?cursor=\(cursor)", as: developer).json.object
      #expect(rest?["apps"]?.array?.compactMap { $0.object?["appKey"]?.string } == [key] && rest?["next"] == .null)
      #expect(rest?["apps"]?.array?.first?.object?["masterSecret"] == nil)
      let own = try await bench.call("GET", "/v1/apps", as: app).json.object?["apps"]?.array
      #expect(own?.map { $0.object?["name"] } == ["Two"])

      let read = try await bench.call("GET", "/v1/apps/\(key)", as: app)
      let tag = try #require(read.headers["etag"])
      let renamed = try await bench.call(
        "PATCH", "/v1/apps/\(key)", as: app, headers: ["If-Match": tag], #"{"name":"Deux"}"#)
      #expect(renamed.status == 200 && renamed.json.object?["name"] == "Deux" && renamed.headers["etag"] != tag)
      let late = try await bench.call(
        "PATCH", "/v1/apps/\(key)", as: developer, headers: ["If-Match": tag], #"{"name":"Zwei"}"#)
      #expect(late.status == 412 && late.errorCode == 9412, "\(late.text)")
      let unnamed = try await bench.call("PATCH", "/v1/apps/\(key)", as: developer, #"{"name":""}"#)
      #expect(unnamed.json.object?["name"] == .null)

      #expect(try await bench.call("DELETE", "/v1/apps/\(key)", as: app).status == 401, "no app ends itself")
      #expect(try await bench.call("DELETE", "/v1/apps/\(key)", as: developer).status == 204)
      #expect(try await bench.call("GET", "/v1/tags", as: app).status == 401)
      #expect(try await bench.call("DELETE", "/v1/apps/\(key)", as: developer).errorCode == 9404)
      let kinds = try await bench.service.audit(nil, AuditFilter(), before: nil, limit: 9).map(\.entry.note.kind)
      #expect(kinds.prefix(4) == [.appDeleted, .appRenamed, .appRenamed, .appMade])
    }
  }

  @Test("the same request again makes no second app, and tells no secret; another under its key is refused")
  func repeats() async throws {
    try await Bench.with(.inProcess) { bench in
      let developer = try await developer(bench)
      let (body, headers) = (#"{"bundleId":"com.example.two"}"#, ["Idempotency-Key": "a"])
      let first = try await bench.call("POST", "/v1/apps", as: developer, headers: headers, body)
      let second = try await bench.call("POST", "/v1/apps", as: developer, headers: headers, body)
      #expect(first.status == 201 && second.status == 200, "\(second.text)")
      #expect(second.json.object?["appKey"] == first.json.object?["appKey"])
      #expect(second.json.object?["masterSecret"] == .null)
      let other = try await bench.call(
        "POST", "/v1/apps", as: developer, headers: headers, #"{"bundleId":"com.example.three"}"#)
      #expect(other.status == 409 && other.errorCode == 9409 && other.json.object?["place"] == "Idempotency-Key")
      let colleague = try await self.developer(bench)
      let theirs = try await bench.call("POST", "/v1/apps", as: colleague, headers: headers, body)
      #expect(theirs.status == 201, "keys of one developer are not another's")
      let key = try #require(first.json.object?["appKey"]?.string)
      #expect(try await bench.call("DELETE", "/v1/apps/\(key)", as: developer).status == 204)
      #expect(try await bench.call("POST", "/v1/apps", as: developer, headers: headers, body).status == 409)
    }
  }

  @Test(
    "what is wrong is named, and makes nothing",
    arguments: [
      ("{}", "bundleId"), (#"{"bundleId":"com example"}"#, "bundleId"), (#"{"bundleId":7}"#, "bundleId"),
      (#"{"bundleId":"a.b","names":"x"}"#, "names"),
      (#"{"bundleId":"a.b","name":"\#(String(repeating: "x", count: 256))"}"#, "name"),
    ])
  func refuses(body: String, place: String) async throws {
    try await Bench.with(.inProcess) { bench in
      let answer = try await bench.call("POST", "/v1/apps", as: try await developer(bench), body)
      #expect(answer.status == 400 && answer.json.object?["place"] == .string(place), "\(answer.text)")
      #expect(try await bench.service.apps().count == 1)
      #expect(try await bench.call("POST", "/v1/apps", #"{"bundleId":"a.b"}"#).status == 401, "an app makes no apps")
      let other = try await bench.service.createApp(bundleID: "com.example.other", name: nil)
      #expect(try await bench.call("GET", "/v1/apps/\(other.appKey)").errorCode == 9404, "nor reads others")
    }
  }
}
