import Basics
import HTTPClient
import Testing
import Transport

@Suite("Calls that stay on the public internet", .timeLimit(.minutes(1)))
struct ReachTests {
  private static let words = "its address is not of the public internet, and so not called"

  /// A server of this machine that counts who came.
  private func withServer(
    on host: String = "127.0.0.1", _ answer: HTTPResponse = HTTPResponse(status: 200),
    _ body: (UInt16, Locked<Int>) async throws -> Void
  ) async throws {
    let calls = Locked(0)
    let server = try HTTPServer.start(Endpoint(host: host, port: 0), limits: HTTPLimits()) { _ in
      calls.withLock { $0 += 1 }
      return answer
    }
    do { try await body(UInt16(server.endpoint.port), calls) } catch {
      await server.stop()
      throw error
    }
    await server.stop()
  }

  private func refusal(_ url: String, _ client: HTTPClient) async throws -> String {
    do throws(HTTPClient.Fault) {
      let answer = try await client.call("POST", url, body: [], timeout: .seconds(5))
      return "answered \(answer.status)"
    } catch { return error.what }
  }

  @Test("nothing of this machine or its network is reached, however its address is written, or by a name")
  func reserved() async throws {
    try await withServer { port, calls in
      let client = HTTPClient(.publicInternet(besides: []))
      for host in [
        "127.0.0.1", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "0.0.0.0", "0", "[::1]", "[::ffff:127.0.0.1]",
        "[::]", "10.0.0.1", "169.254.169.254", "[fe80::1]", "[fd00::1]", "[64:ff9b::127.0.0.1]", "localhost",
      ] {
        let found = try await refusal("http://\(host):\(port)/", client)
        #expect(found == Self.words, "\(host)")
      }
      #expect(calls.withLock { $0 } == 0)
    }
  }

  private static let inner = [
    "127.0.0.1", "10.1.2.3", "172.16.0.9", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "[::1]",
    "[fd12:3456::1]", "[fe80::1]", "[::ffff:127.0.0.1]", "[::ffff:10.0.0.1]", "[64:ff9b::a00:1]", "[2002:7f00:1::]",
  ]

  @Test("a name of any inner address is not called, nor are those that it has besides", arguments: inner)
  func names(address: String) async throws {
    try await withServer { port, calls in
      for addresses in [address, "\(address),\(address)"] {
        let client = HTTPClient(.publicInternet(besides: []), names: { ["hook.example:\(port):\(addresses)"] })
        let found = try await refusal("http://hook.example:\(port)/", client)
        #expect(found == Self.words)
      }
      #expect(calls.withLock { $0 } == 0)
    }
  }

  @Test("a name that leads elsewhere the second time is judged anew: the address that is judged is the one called")
  func rebinding() async throws {
    try await withServer { port, calls in
      let address = Locked("127.0.0.1")
      let client = HTTPClient(
        .publicInternet(besides: [try #require(AddressRange("127.0.0.1"))]),
        names: { ["hook.example:\(port):\(address.withLock { $0 })"] })
      func call() async throws -> String {
        let url = "http://hook.example:\(port)/"
        do throws(HTTPClient.Fault) {
          return "\(try await client.call("POST", url, headers: ["Connection": "close"], body: []).status)"
        } catch { return error.what }
      }
      #expect(try await call() == "200")
      address.withLock { $0 = "127.0.0.2" }  // the same machine, by an address that is not allowed
      #expect(try await call() == Self.words)
      address.withLock { $0 = "127.0.0.2,127.0.0.1" }
      #expect(try await call() == "200", "of several addresses those that are allowed")
      #expect(calls.withLock { $0 } == 2)
    }
  }

  @Test("a redirect to an inner address is not followed, also by a name")
  func redirectedInside() async throws {
    let away = HTTPResponse(status: 307, headers: ["Location": "http://169.254.169.254/latest/meta-data/"])
    try await withServer(away) { port, _ in
      let client = HTTPClient(
        .publicInternet(besides: [try #require(AddressRange("127.0.0.1"))]),
        names: { ["hook.example:\(port):127.0.0.1"] })
      #expect(try await refusal("http://hook.example:\(port)/", client) == "answered 307")
    }
  }

  @Test("what is allowed besides is reached, and nothing else beside it")
  func allowed() async throws {
    try await withServer { port, calls in
      let client = HTTPClient(.publicInternet(besides: [try #require(AddressRange("127.0.0.0/8"))]))
      #expect(try await refusal("http://127.0.0.1:\(port)/", client) == "answered 200")
      #expect(try await refusal("http://[::1]:\(port)/", client) == Self.words)
      #expect(calls.withLock { $0 } == 1)
    }
  }

  @Test("a redirect is an answer like others: it is not followed, wherever it leads")
  func redirects() async throws {
    try await withServer { inner, innerCalls in
      for status in [301, 302, 303, 307, 308] {
        let away = HTTPResponse(status: status, headers: ["Location": "http://127.0.0.1:\(inner)/"])
        try await withServer(away) { outer, _ in
          let client = HTTPClient(.publicInternet(besides: [try #require(AddressRange("127.0.0.1"))]))
          #expect(try await refusal("http://127.0.0.1:\(outer)/", client) == "answered \(status)")
        }
      }
      #expect(innerCalls.withLock { $0 } == 0)
    }
  }

  @Test("other schemes are not served", arguments: ["file:///etc/hostname", "gopher://1.1.1.1/", "ftp://1.1.1.1/"])
  func schemes(url: String) async throws {
    for client in [HTTPClient(), HTTPClient(.publicInternet(besides: []))] {
      #expect(try await refusal(url, client).contains("rotocol"))
    }
  }

  @Test("of a body no more is read than wanted, and the call ends there")
  func bodyLimit() async throws {
    for (size, limit, isCut) in [
      (99, 100, false), (100, 100, false), (101, 100, true), (4 << 20, 100, true), (5, 0, true),
    ] {
      let long = HTTPResponse(status: 200, body: Array(repeating: 7, count: size))
      try await withServer(long) { port, _ in
        let client = HTTPClient(bodyLimit: limit)
        for _ in 0..<2 {
          let answer = try await client.call("GET", "http://127.0.0.1:\(port)/")
          #expect(answer.status == 200 && answer.body.count == min(size, limit) && answer.isCut == isCut)
        }
      }
    }
  }
}
