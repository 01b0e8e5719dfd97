import Basics
import Testing

@testable import Transport

@Suite("HTTP/2, both ends over real sockets")
struct HTTP2ExchangeTests {
  enum Wire: String, CaseIterable {
    case tlsWithALPN, tlsWithoutALPN, clear
  }

  @Test("requests are answered over TLS with ALPN, without ALPN, and in the clear", arguments: Wire.allCases)
  func exchange(_ wire: Wire) async throws {
    let certificates = try TestCertificates.shared.get()
    try await withLoops(2) { loops in
      let server = try await TestServer.bind(on: loops, tls: wire == .clear ? nil : certificates.serverContext())
      let tls = wire == .clear ? nil : try certificates.clientContext(offersH2: wire == .tlsWithALPN)
      let client = TestClient.connect(to: server.endpoint, tls: tls, on: loops.next())
      await client.untilSettings()
      for number in 0..<20 {
        let stream = try await client.send("/3/device/\(number)", "body \(number)").get()
        #expect(
          await client.until { _ in true } == [.response(stream: stream, status: 200, body: "body \(number)")])
      }
      _ = await client.onLoop { $0.connection.close(graceful: true) }
      #expect(await client.untilClosed() == [.closed(.stopped)])
      await server.stop(grace: .seconds(5))
    }
  }

  @Test("looking at the time does not harm a connection that goes on")
  func checksBetweenAnswers() async throws {
    var limits = HTTP2Limits()
    limits.requestTimeout = .milliseconds(1)  // a check every millisecond
    try await withLoops { loops in
      let server = try await TestServer.bind(on: loops, tls: nil, limits: limits)
      let loop = loops.next()
      let clients = (0..<8).map { _ in TestClient.connect(to: server.endpoint, tls: nil, on: loop) }
      for client in clients {
        await client.untilSettings()
        await client.onLoop { client in
          client.onTold = { [unowned client] event in if case .response = event { _ = client.submit("/") } }
          for _ in 0..<50 { _ = client.submit("/") }
        }
      }
      for client in clients {
        var answered = 0
        for await event in client.events {
          guard case .response(_, 200, "") = event else {
            Issue.record("\(event)")
            break
          }
          answered += 1
          if answered == 500 { break }
        }
        #expect(answered == 500)
      }
      await server.stop(grace: .milliseconds(50))
    }
  }
}
