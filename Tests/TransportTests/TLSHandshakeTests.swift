import Basics
import Foundation
import Testing

@testable import Transport

@Suite("TLS: who is let in and what is said of the others")
struct TLSHandshakeTests {
  /// What a client is told when it connects to a server that shows `identity`.
  func fault(serverShows identity: TLSIdentity, clientTrusts trust: TLSClientContext.Trust) async throws
    -> TransportFault?
  {
    let certificates = try TestCertificates.shared.get()
    return try await withLoops { loops in
      let server = try await TestServer.bind(on: loops, tls: certificates.serverContext(identity))
      let client = TestClient.connect(
        to: server.endpoint, tls: try TLSClientContext(trust: trust), on: loops.next())
      _ = await client.untilClosed()
      await server.stop(grace: .seconds(5))
      return client.fault
    }
  }

  @Test("a server certificate that is expired, not yet valid, for another name, or of another authority is told apart")
  func serverCertificates() async throws {
    let now = SystemClock().now
    let certificates = try TestCertificates.shared.get()
    let ours = certificates.authority
    let other = try CertificateAuthority.create(
      commonName: "Other", notBefore: now - .days(1), notAfter: now + .days(1))
    func server(of authority: CertificateAuthority, _ name: String, _ from: Instant, _ to: Instant) throws
      -> TLSIdentity
    {
      try authority.issueServer(names: [name], notBefore: from, notAfter: to)
    }
    let rows: [(TLSIdentity, TransportFault.Kind)] = [
      (try server(of: ours, "127.0.0.1", now - .days(2), now - .days(1)), .certificateExpired),
      (try server(of: ours, "127.0.0.1", now + .days(1), now + .days(2)), .certificateNotYetValid),
      (try server(of: ours, "other.example", now - .days(1), now + .days(2)), .certificateNameMismatch),
      (try server(of: other, "127.0.0.1", now - .days(1), now + .days(1)), .certificateUntrusted),
    ]
    for (identity, kind) in rows {
      let fault = try #require(await fault(serverShows: identity, clientTrusts: .pem(ours.pem)))
      #expect(fault.kind == kind)
      #expect(fault.place.hasPrefix("127.0.0.1:"))
      #expect(!fault.remedy.isEmpty)
    }
    let fault = try #require(await fault(serverShows: certificates.server, clientTrusts: .system))
    #expect(fault.kind == .certificateUntrusted)
  }

  @Test("a client certificate is optional, reported with its bytes, and judged by the handler, not by TLS")
  func clientCertificates() async throws {
    let now = SystemClock().now
    let certificates = try TestCertificates.shared.get()
    let other = try CertificateAuthority.create(
      commonName: "Other", notBefore: now - .days(1), notAfter: now + .days(1))
    let good = try certificates.authority.issueClient(
      commonName: "push", userID: "com.example.app", notBefore: now - .days(1), notAfter: now + .days(1))
    let expired = try certificates.authority.issueClient(
      commonName: "push", userID: "com.example.app", notBefore: now - .days(2), notAfter: now - .days(1))
    let foreign = try other.issueClient(
      commonName: "push", userID: "com.example.app", notBefore: now - .days(1), notAfter: now + .days(1))
    let rows: [(TLSIdentity?, String?)] = [
      (nil, nil), (good, nil), (expired, "certificate has expired"), (foreign, "unable to"),
    ]
    for (identity, words) in rows {
      try await withLoops { loops in
        let seen = Mailbox<PeerCertificate?>()
        let server = try await TestServer.bind(
          on: loops, tls: certificates.serverContext(), opened: { seen.post($0.peerCertificate) })
        let client = TestClient.connect(
          to: server.endpoint, tls: try certificates.clientContext(identity: identity), on: loops.next())
        await client.untilSettings()
        let peer = try #require(await seen.next())
        #expect(peer?.der == identity?.certificate.der)
        if let words {
          let said = peer?.verifyError ?? "nothing"
          #expect(said.contains(words))
        } else {
          #expect(peer?.verifyError == nil)
        }
        #expect(await client.send("/", "x") == .success(1))
        #expect(await client.until { _ in true } == [.response(stream: 1, status: 200, body: "x")])
        await server.stop(grace: .seconds(5))
      }
    }
  }

  @Test("bytes that are no TLS end their connection, and nobody else's")
  func garbage() async throws {
    let certificates = try TestCertificates.shared.get()
    try await withLoops { loops in
      let server = try await TestServer.bind(on: loops, tls: certificates.serverContext())
      let endpoint = server.endpoint
      let client = TestClient.connect(to: endpoint, tls: try certificates.clientContext(), on: loops.next())
      await client.untilSettings()
      var dice = Dice(seed: 7)
      let scraps: [[UInt8]] =
        [
          Array("GET / HTTP/1.1\r\nHost: x\r\n\r\n".utf8), [0x16, 0x03, 0x01, 0xFF, 0xFF],
          [0x16, 0x03, 0x01, 0x00, 0x05, 1, 0, 0, 1, 0],
        ]
        + (0..<20).map { _ in (0..<300).map { _ in UInt8.random(in: 0...255, using: &dice) } }
      for scrap in scraps {
        let ended = try await onThread {
          let socket = try PlainSocket(endpoint)
          socket.send(scrap)
          socket.finishSending()
          return socket.isClosedByPeer()
        }
        #expect(ended)
      }
      #expect(await client.send("/", "still here") == .success(1))
      #expect(await client.until { _ in true } == [.response(stream: 1, status: 200, body: "still here")])
      await server.stop(grace: .seconds(5))
    }
  }

  @Test("a client that connects to something without TLS is told so")
  func serverWithoutTLS() async throws {
    let certificates = try TestCertificates.shared.get()
    try await withLoops { loops in
      let server = try await TestServer.bind(on: loops, tls: nil)
      let client = TestClient.connect(to: server.endpoint, tls: try certificates.clientContext(), on: loops.next())
      _ = await client.untilClosed()
      #expect(client.fault?.kind == .handshakeFailed)
      await server.stop(grace: .seconds(5))
    }
  }

  @Test("slow loris: a TLS handshake that does not go on is ended in time")
  func slowHandshake() async throws {
    let certificates = try TestCertificates.shared.get()
    try await withLoops { loops in
      var limits = HTTP2Limits()
      limits.handshakeTimeout = .milliseconds(80)
      let server = try await TestServer.bind(on: loops, tls: certificates.serverContext(), limits: limits)
      let endpoint = server.endpoint
      #expect(
        try await onThread {
          let socket = try PlainSocket(endpoint)
          for byte: UInt8 in [0x16, 0x03, 0x01, 0x02] { socket.send([byte]) }
          return socket.isClosedByPeer()
        })
      await server.stop(grace: .seconds(5))
    }
  }

  @Test("a server that never finishes the handshake is given up by the client")
  func silentServer() async throws {
    let certificates = try TestCertificates.shared.get()
    try await withLoops { loops in
      final class Mute: StreamHandler {
        func opened(_ stream: StreamConnection) {}
        func received(_ bytes: UnsafeRawBufferPointer) {}
        func writable() {}
        func receivedEnd() {}
        func timeCheck(now: Int64) -> Int64 { .max }
        func closed(_ fault: TransportFault) {}
      }
      let mute = try await StreamListener.bind(
        Endpoint(host: "127.0.0.1", port: 0), loops: loops, tls: nil, limits: StreamLimits()
      ) { _ in Mute() }
      var limits = HTTP2Limits()
      limits.handshakeTimeout = .milliseconds(80)
      let overTLS = TestClient.connect(
        to: mute.endpoint, tls: try certificates.clientContext(), on: loops.next(), limits: limits)
      #expect(await overTLS.untilClosed() == [.closed(.timedOut(.handshake))])
      let clear = TestClient.connect(to: mute.endpoint, tls: nil, on: loops.next(), limits: limits)
      #expect(await clear.untilClosed() == [.connected, .closed(.timedOut(.settings))])
      await mute.close()
    }
  }

  @Test("a port in use, a foreign address, a refused connection and an unknown name say what to do")
  func addresses() async throws {
    try await withLoops { loops in
      let server = try await TestServer.bind(on: loops, tls: nil)
      let endpoint = server.endpoint
      func bindFault(_ endpoint: Endpoint) async -> TransportFault? {
        do {
          _ = try await HTTP2Listener.bind(endpoint, loops: loops, tls: nil) {
            TestServer($0, onClosed: { _ in }, TestServer.echo)
          }
          return nil
        } catch { return error }
      }
      let inUse = try #require(await bindFault(endpoint))
      #expect(inUse.kind == .addressInUse)
      #expect(
        inUse.description == "127.0.0.1:\(endpoint.port): the port is already in use. "
          + "Stop the program that listens there, or choose another port (0 takes a free one).")
      #expect(await bindFault(Endpoint(host: "192.0.2.1", port: 0))?.kind == .addressNotAvailable)
      await server.stop(grace: .seconds(5))
      let refused = TestClient.connect(to: endpoint, tls: nil, on: loops.next())
      #expect(await refused.untilClosed() == [.closed(.connectionRefused)])
      let unknown = TestClient.connect(to: Endpoint(host: "nobody.invalid", port: 1), tls: nil, on: loops.next())
      #expect(await unknown.untilClosed() == [.closed(.nameNotFound)])
    }
  }
}
