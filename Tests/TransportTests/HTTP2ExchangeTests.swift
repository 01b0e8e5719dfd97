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
}
