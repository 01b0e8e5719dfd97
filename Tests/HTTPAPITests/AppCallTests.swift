import Basics
import BelfryTesting
import Bus
import PushPayload
import PushService
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
