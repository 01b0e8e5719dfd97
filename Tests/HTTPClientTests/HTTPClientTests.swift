import Basics
import HTTPClient
import Testing
import Transport

@Suite("Calls to other servers")
struct HTTPClientTests {
  private typealias Handler = @Sendable (HTTPRequest) async -> HTTPResponse

  private func withServer(_ handler: @escaping Handler, _ body: (String) async throws -> Void) async throws {
    let server = try HTTPServer.start(try #require(Endpoint("127.0.0.1:0")), limits: HTTPLimits(), handler: handler)
    do { try await body("http://127.0.0.1:\(server.endpoint.port)") } catch {
      await server.stop()
      throw error
    }
    await server.stop()
  }

  @Test("method, path, query, headers, credentials and body arrive, and the answer comes back")
  func echo() async throws {
    let echo: Handler = { request in
      HTTPResponse(
        status: 207,
        headers: [
          "X-Seen":
            "\(request.method) \(request.path)?\(request.query ?? "") \(request.headers["authorization"] ?? "-")",
          "X-Sent": request.headers["x-mine"] ?? "-",
        ],
        body: request.body.reversed())
    }
    try await withServer(echo) { base in
      let client = HTTPClient()
      for _ in 0..<3 {
        let answer = try await client.call(
          "PUT", base + "/a/b?c=d", headers: ["X-Mine": "x: y"], basic: ("u", "p"), body: Array("abc".utf8))
        #expect(answer.status == 207)
        #expect(answer.headers["x-seen"] == "PUT /a/b?c=d Basic dTpw")
        #expect(answer.headers["x-sent"] == "x: y")
        #expect(answer.body == Array("cba".utf8))
      }
      let empty = try await client.call("POST", base + "/", body: [])
      #expect(empty.body.isEmpty)
      let head = try await client.call("HEAD", base + "/")
      #expect(head.status == 207)
      #expect(head.body.isEmpty)
    }
  }

  @Test("a server that is not there is a fault with its address")
  func refused() async throws {
    var address = ""
    let ok: Handler = { _ in HTTPResponse(status: 200) }
    try await withServer(ok) { address = $0 }
    await #expect(throws: HTTPClient.Fault.self) { try await HTTPClient().call("GET", address) }
  }

  @Test("a server that never answers ends at the time-out")
  func silence() async throws {
    let late: Handler = { _ in
      try? await Task.sleep(nanoseconds: 400_000_000)
      return HTTPResponse(status: 200)
    }
    try await withServer(late) { base in
      await #expect(throws: HTTPClient.Fault.self) {
        try await HTTPClient().call("GET", base, timeout: .milliseconds(50))
      }
    }
  }

  @Test("a call that is cancelled ends soon, and so does one that waits behind it")
  func cancelled() async throws {
    let late: Handler = { _ in
      try? await Task.sleep(for: .seconds(6))
      return HTTPResponse(status: 200)
    }
    try await withServer(late) { base in
      let client = HTTPClient()
      let start = ContinuousClock.now
      let calls = (0..<2).map { _ in
        Task { () async -> String in
          do throws(HTTPClient.Fault) { return "\(try await client.call("POST", base, body: []).status)" } catch {
            return error.what
          }
        }
      }
      try await Task.sleep(for: .milliseconds(200))
      for call in calls { call.cancel() }
      for call in calls { #expect(await call.value == "it was broken off") }
      #expect(ContinuousClock.now - start < .seconds(4))
    }
  }
}
