import Basics
import BelfryTesting
import Testing

@testable import Transport

@Suite("HTTP/2 client: what it is told when things go otherwise")
struct HTTP2ClientTests {
  func withPair(
    settings: HTTP2Settings = .server, serverLimits: HTTP2Limits = HTTP2Limits(), limits: HTTP2Limits = HTTP2Limits(),
    answer: @escaping TestServer.Answer = TestServer.echo,
    story: (TestClient, HTTP2ServerConnection) async throws -> Void
  ) async throws {
    let certificates = try TestCertificates.shared.get()
    try await withLoops { loops in
      let connections = Mailbox<HTTP2ServerConnection>()
      let server = try await TestServer.bind(
        on: loops, tls: certificates.serverContext(), settings: settings, limits: serverLimits,
        opened: { connections.post($0) }, answer: answer)
      let client = TestClient.connect(
        to: server.endpoint, tls: try certificates.clientContext(), on: loops.next(), limits: limits)
      await client.untilSettings()
      try await story(client, try #require(await connections.next()))
      await server.stop(grace: .milliseconds(200))
    }
  }

  @Test("C02 GOAWAY: what the server never saw fails as refused, the rest is answered, then the connection ends")
  func goAway() async throws {
    let held = Locked<[Int32]>([])
    try await withPair(
      answer: { connection, stream, request in
        held.withLock { $0.append(stream) }
        guard stream == 9 else { return }
        connection.goAway(lastStream: 5, code: .noError, debugData: Array(#"{"reason":"Shutdown"}"#.utf8))
        connection.loop.schedule(after: .milliseconds(20)) {
          for stream in held.withLock({ $0 }) {
            connection.respond(stream: stream, status: 200, fields: [], body: Array("\(stream)".utf8))
          }
        }
      },
      story: { client, _ in
        await client.onLoop { client in for _ in 0..<5 { _ = client.submit() } }
        let told = await client.untilClosed()
        #expect(told.first == .goAway(last: 5, .noError, #"{"reason":"Shutdown"}"#))
        #expect(told[1...2].contains(.failed(stream: 7, .refusedStream)))
        #expect(told[1...2].contains(.failed(stream: 9, .refusedStream)))
        #expect(
          told[3...] == [
            .response(stream: 1, status: 200, body: "1"), .response(stream: 3, status: 200, body: "3"),
            .response(stream: 5, status: 200, body: "5"), .closed(.closedByPeer),
          ])
      })
  }

  @Test("RST_STREAM goes both ways with its code, and other streams do not care")
  func resets() async throws {
    let held = Mailbox<Int32>()
    try await withPair(
      answer: { connection, stream, request in
        if request.path.elementsEqual("/refuse".utf8) {
          connection.reset(stream: stream, code: .refusedStream)
        } else if request.path.elementsEqual("/hold".utf8) {
          held.post(stream)
        } else {
          connection.respond(stream: stream, status: 200, fields: [], body: [])
        }
      },
      story: { client, server in
        #expect(await client.send("/refuse") == .success(1))
        #expect(await client.until { _ in true } == [.failed(stream: 1, .refusedStream)])
        #expect(await client.send("/hold") == .success(3))
        #expect(await held.next() == 3)  // one that never left would be told as refused
        _ = await client.onLoop { $0.connection.reset(stream: 3) }
        #expect(await client.until { _ in true } == [.failed(stream: 3, .cancel)])
        #expect(await client.send("/") == .success(5))
        #expect(await client.until { _ in true } == [.response(stream: 5, status: 200, body: "")])
        #expect(await client.onLoop { $0.connection.openStreams } == 0)
      })
  }

  @Test("C41 the server's stream limit is obeyed whenever it changes, 0 included")
  func streamLimits() async throws {
    var settings = HTTP2Settings.server
    settings.maximumConcurrentStreams = 1
    try await withPair(
      settings: settings, answer: { _, _, _ in },
      story: { client, server in
        #expect(await client.onLoop { $0.connection.freeStreams } == 1)
        #expect(await client.send() == .success(1))
        #expect(await client.send() == .failure(.noFreeStream))
        for (limit, free): (UInt32, Int) in [(3, 2), (1, 0), (0, 0), (1000, 999)] {
          server.loop.execute { server.announce(maxConcurrentStreams: limit) }
          #expect(await client.until { _ in true } == [.settings(limit)])
          #expect(await client.onLoop { $0.connection.freeStreams } == free)
        }
        #expect(await client.send() == .success(3))
      })
  }

  @Test("a header value that HTTP cannot carry is refused before it is sent")
  func invalidFields() async throws {
    try await withPair { client, _ in
      for field in [HTTP2Field("apns-collapse-id", "a\nb"), HTTP2Field("Upper", "x"), HTTP2Field("nul", "\0")] {
        let name = String(decoding: field.name, as: UTF8.self)
        #expect(await client.send("/", fields: [field]) == .failure(.invalidField(name)))
      }
      #expect(await client.send("/a b") == .failure(.invalidField(":path")))
      #expect(await client.send("") == .failure(.invalidField(":path")))
      #expect(await client.send("/", "ok", fields: [HTTP2Field("apns-collapse-id", "钟楼")]) == .success(1))
      #expect(await client.until { _ in true } == [.response(stream: 1, status: 200, body: "ok")])
    }
  }

  @Test("bodies larger than every window go both ways")
  func largeBodies() async throws {
    var limits = HTTP2Limits()
    limits.bodySize = 1 << 20
    try await withPair(serverLimits: limits, limits: limits) { client, _ in
      let body = String(repeating: "0123456789abcdef", count: 40_000)
      #expect(await client.send("/", body) == .success(1))
      #expect(await client.until { _ in true } == [.response(stream: 1, status: 200, body: body)])
    }
  }

  @Test("an answer over the limit fails its stream; an early answer to a long request is an answer")
  func limits() async throws {
    var limits = HTTP2Limits()
    limits.bodySize = 1000
    limits.discardedBodySize = 1000
    try await withPair(
      serverLimits: limits, limits: limits,
      answer: { connection, stream, request in
        let body = [UInt8](repeating: 0x61, count: request.excess == nil ? 5000 : 3)
        connection.respond(stream: stream, status: request.excess == nil ? 200 : 413, fields: [], body: body)
      },
      story: { client, _ in
        #expect(await client.send("/") == .success(1))
        #expect(await client.until { _ in true } == [.failed(stream: 1, .cancel)])
        #expect(await client.send("/", String(repeating: "x", count: 200_000)) == .success(3))
        #expect(await client.until { _ in true } == [.response(stream: 3, status: 413, body: "aaa")])
        #expect(await client.onLoop { $0.connection.openStreams } == 0)
      })
  }

  @Test("a PING is answered; a peer that stops answering is found by PING")
  func pings() async throws {
    try await withPair { client, _ in
      await client.onLoop { $0.connection.ping() }
      #expect(await client.until { _ in true } == [.pong])
    }
    try await withMute { endpoint, loop in
      var limits = HTTP2Limits()
      limits.pingInterval = .milliseconds(40)
      limits.pingTimeout = .milliseconds(60)
      let client = TestClient.connect(to: endpoint, tls: nil, on: loop, limits: limits)
      #expect(await client.untilClosed().last == .closed(.timedOut(.ping)))
    }
  }

  @Test("C40 a peer that takes no bytes is given up after the write time-out")
  func stuckWrites() async throws {
    try await withMute(reads: false) { endpoint, loop in
      var limits = HTTP2Limits()
      limits.writeTimeout = .milliseconds(150)
      let client = TestClient.connect(to: endpoint, tls: nil, on: loop, limits: limits)
      await client.untilSettings()
      let large = String(repeating: "x", count: 60_000)
      await client.onLoop { client in for _ in 0..<1000 { _ = client.submit("/", large) } }
      #expect(await client.untilClosed().last == .closed(.timedOut(.writing)))
    }
  }

  @Test("a connection cut in the middle tells so, and every stream's fate is told or left open")
  func cut() async throws {
    try await withPair(
      answer: { connection, stream, _ in if stream == 5 { connection.abort() } },
      story: { client, _ in
        await client.onLoop { client in for _ in 0..<5 { _ = client.submit() } }
        #expect(await client.untilClosed() == [.closed(.connectionLost)])
        #expect(await client.send() == .failure(.notOpen))
        await client.onLoop { client in
          client.connection.reset(stream: 1)
          client.connection.ping()
          client.connection.close(graceful: true)
        }
      })
  }

  @Test("closing gracefully waits for the open answers; closing at once does not")
  func closing() async throws {
    let answer: TestServer.Answer = { connection, stream, _ in
      connection.loop.schedule(after: .milliseconds(20)) {
        connection.respond(stream: stream, status: 200, fields: [], body: [])
      }
    }
    try await withPair(answer: answer) { client, _ in
      _ = try await client.send().get()
      await client.onLoop { $0.connection.close(graceful: true) }
      #expect(await client.send() == .failure(.notOpen))
      #expect(await client.untilClosed() == [.response(stream: 1, status: 200, body: ""), .closed(.stopped)])
    }
    try await withPair(
      answer: { _, _, _ in },
      story: { client, _ in
        _ = try await client.send().get()
        await client.onLoop { $0.connection.close(graceful: false) }
        #expect(await client.untilClosed() == [.closed(.stopped)])
      })
  }

  @Test("an actor pinned to the loop may be the handler and enter itself by assumeIsolated")
  func actorHandler() async throws {
    actor Owner: HTTP2ClientHandler {
      nonisolated let loop: EventLoop
      nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
      private var connection: HTTP2ClientConnection?
      private var waiting: CheckedContinuation<Int, Never>?
      init(loop: EventLoop) { self.loop = loop }

      func ask(_ endpoint: Endpoint) async -> Int {
        connection = .connect(to: endpoint, tls: nil, on: loop, handler: self)
        return await withCheckedContinuation { waiting = $0 }
      }
      func end() { connection?.close(graceful: false) }

      private func submit() {
        _ = try? connection?.submit(common: TestClient.common, path: Array("/".utf8), own: [], body: [])
      }
      private func answered(_ status: Int) {
        waiting?.resume(returning: status)
        waiting = nil
      }
      nonisolated func connected() {}
      nonisolated func settingsChanged(maxConcurrentStreams: UInt32) { assumeIsolated { $0.submit() } }
      nonisolated func response(stream: Int32, _ response: HTTP2Response) {
        assumeIsolated { $0.answered(response.status) }
      }
      nonisolated func streamFailed(stream: Int32, code: HTTP2ErrorCode) {}
      nonisolated func goAway(lastStream: Int32, code: HTTP2ErrorCode, debugData: [UInt8]) {}
      nonisolated func pong() {}
      nonisolated func closed(_ fault: TransportFault) { assumeIsolated { $0.answered(0) } }
    }
    try await withLoops { loops in
      let server = try await TestServer.bind(on: loops, tls: nil)
      let owner = Owner(loop: loops.next())
      #expect(await owner.ask(server.endpoint) == 200)
      await owner.end()
      await server.stop(grace: .seconds(5))
    }
  }

  /// A server that sends SETTINGS and then nothing.
  private func withMute(reads: Bool = true, _ story: (Endpoint, EventLoop) async throws -> Void) async throws {
    final class Mute: StreamHandler {
      let reads: Bool
      init(reads: Bool) { self.reads = reads }
      func opened(_ stream: StreamConnection) {
        RawFrame.settings([(4, 0x7FFF_FFFF)]).bytes.withUnsafeBytes { _ = stream.write($0) }
        RawFrame.windowUpdate(0, 0x7FFF_0000 - 65_535).bytes.withUnsafeBytes { _ = stream.write($0) }
        if !reads { stream.pauseReading() }
      }
      func received(_ bytes: UnsafeRawBufferPointer) {}
      func writable() {}
      func receivedEnd() {}
      func timeCheck(now: Int64) -> Int64 { .max }
      func closed(_ fault: TransportFault) {}
    }
    try await withLoops { loops in
      let listener = try await StreamListener.bind(
        Endpoint(host: "127.0.0.1", port: 0), loops: loops, tls: nil, limits: StreamLimits()
      ) { _ in Mute(reads: reads) }
      try await story(listener.endpoint, loops.next())
      await listener.close()
    }
  }
}
