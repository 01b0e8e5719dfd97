import Basics
import BelfryTesting
import Delivery
import PushPayload
import PushService
import Testing

@Suite("JPush's Admin API", .timeLimit(.minutes(2)))
struct AdminCallTests {
  private func developer(_ bench: Bench) async throws -> Bench.Who {
    let made = try await bench.service.createDeveloper(name: "build server")
    return .other(made.developer.key, made.secret)
  }

  private static let app = "{\"app_name\":\"Bell\",\"android_package\":\"com.example.bell\",\"group_name\":null}"

  @Test("§9 an app is made once, works, and is gone when it is deleted", arguments: Depth.allCases)
  func makesApps(depth: Depth) async throws {
    try await Bench.with(depth) { bench in
      let who = try await developer(bench)
      let made = try await bench.call("POST", "/v1/app/", as: who, Self.app)
      let object = try #require(made.json.object, "\(made.text)")
      #expect(object.members.map(\.key) == ["app_key", "android_package", "is_new_created", "master_secret"])
      #expect(object["is_new_created"] == true && object["android_package"] == "com.example.bell")
      let key = try #require(object["app_key"]?.string)
      let app = Bench.Who.other(key, try #require(object["master_secret"]?.string))
      #expect(try await bench.call("GET", "/v3/push/cid", as: app).status == 200)
      let again = try await bench.call("POST", "/v1/app", as: who, Self.app)
      #expect(again.json.object?["app_key"] == .string(key) && again.json.object?["is_new_created"] == false)
      #expect(again.json.object?["master_secret"] == .null && again.warnings.count == 1)
      let registration = "{\"appKey\":\"\(key)\",\"token\":\"\(Bench.token(1).hex)\"}"
      #expect(try await bench.call("POST", "/device/v1/registrations", as: .nobody, registration).status == 200)
      let gone = try await bench.call("POST", "/v1/app/\(key)/delete", as: who)
      #expect(gone.status == 200 && gone.text == "{\"success\":\"Synchronized success\"}")
      #expect(try await bench.call("GET", "/v3/push/cid", as: app).errorCode == 1004)
      #expect(try await bench.call("POST", "/device/v1/registrations", as: .nobody, registration).errorCode == 7004)
      let twice = try await bench.call("DELETE", "/v1/app/\(key)", as: who)
      #expect(twice.status == 200 && twice.errorCode == 1015)
      let anew = try await bench.call("POST", "/v1/app", as: who, Self.app)
      #expect(anew.json.object?["is_new_created"] == true && anew.json.object?["app_key"] != .string(key))
    }
  }

  static let refusals: [(String, String?, Int, Int)] = [
    ("POST", "{\"app_name\":\"Bell\"}", 400, 4003), ("POST", "{\"android_package\":\"com.example.bell\"}", 400, 4003),
    ("POST", "{\"app_name\":\"Bell\",\"android_package\":\"com.example.my_app\"}", 400, 4003), ("POST", "x", 400, 4003),
    ("GET", nil, 405, 4001),
  ]

  @Test("§9 what is wrong has the Admin API's codes", arguments: refusals.indices)
  func refuses(index: Int) async throws {
    let (method, body, status, code) = Self.refusals[index]
    try await Bench.with(.inProcess) { bench in
      let who = try await developer(bench)
      let reply = try await bench.call(method, "/v1/app", as: who, body)
      #expect(reply.status == status && reply.errorCode == code, "\(reply.text)")
      let app = try await bench.call("POST", "/v1/app", Self.app)
      #expect(app.status == 401 && app.errorCode == 4004, "an app is no developer: \(app.text)")
      #expect(try await bench.call("POST", "/v1/app", as: .nobody, Self.app).errorCode == 4004)
    }
  }
}
