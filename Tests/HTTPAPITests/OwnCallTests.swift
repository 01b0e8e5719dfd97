import PushPayload
import Testing

@testable import HTTPAPI

@Suite("Every call of /v1 and /device/v1", .timeLimit(.minutes(1)))
struct OwnCallTests {
  /// Each path with names in its places, and the methods that it takes.
  private static let paths: [String: [String]] = Dictionary(
    grouping: OwnRoute.all, by: { $0.path.replacing(/\{[A-Za-z]+\}/, with: "7") }
  ).mapValues { $0.map(\.method) }

  @Test("another method is refused by 405 with Allow, a problem with the rate headers", arguments: Depth.allCases)
  func otherMethods(depth: Depth) async throws {
    try await Bench.with(depth) { bench in
      for (path, methods) in Self.paths {
        for method in ["GET", "POST", "PUT", "PATCH", "DELETE"] where !methods.contains(method) {
          let reply = try await bench.call(method, path, as: .nobody)
          #expect(reply.status == 405 && reply.errorCode == 1001, "\(method) \(path)")
          let allowed = Set((reply.headers["allow"] ?? "").split(separator: ", ").map(String.init))
          #expect(allowed == Set(methods + (methods.contains("GET") ? ["HEAD"] : [])), "\(method) \(path)")
          #expect(reply.headers["content-type"] == "application/problem+json")
          #expect(reply.json.object?["type"] == "docs/api.md#1001")
          #expect(reply.headers["x-rate-limit-remaining"] != nil)
        }
      }
    }
  }

  @Test("without credentials it is refused by 401, but registering and the document itself", arguments: OwnRoute.all)
  func credentials(route: OwnRoute) async throws {
    try await Bench.with(.inProcess) { bench in
      let path = route.path.replacing(/\{[A-Za-z]+\}/, with: "7")
      let reply = try await bench.call(route.method, path, as: .nobody, "{}")
      switch route.path {
      case "/v1/openapi.json": #expect(reply.status == 200)
      case "/device/v1/registrations": #expect(reply.status == 400)
      default:
        #expect(reply.status == 401 && reply.headers["www-authenticate"] != nil, "\(route.method) \(path)")
        #expect(reply.headers["content-type"] == "application/problem+json")
      }
    }
  }

  @Test("HEAD answers as GET does, without a body; a list refuses what it does not know, and what comes twice")
  func lists() async throws {
    try await Bench.with(.live) { bench in
      for (path, methods) in Self.paths where methods.contains("GET") {
        let (read, head) = (try await bench.call("GET", path), try await bench.call("HEAD", path))
        #expect(head.status == read.status && head.body.isEmpty, "\(path)")
        #expect(head.headers["content-type"] == read.headers["content-type"], "\(path)")
        guard read.json.object?["next"] != nil else { continue }
        for query in ["limit=5&limit=6", "limit=0", "limit=1001", "limit=", "offset=3", "cursor=a&cursor=b"] {
          let refused = try await bench.call("GET", "\(path)?\(query)")
          #expect(refused.status == 400, "\(path)?\(query)")
          #expect(refused.json.object?["place"]?.string == String(query.prefix { $0 != "=" }), "\(refused.text)")
        }
      }
    }
  }
}
