import Basics
import BelfryTesting
import Testing

@testable import Transport

@Suite("HTTP/2 server that treats its client badly on purpose", .timeLimit(.minutes(2)))
struct ServerConductTests {
  /// Connections of the server, in the order in which they came.
  typealias Connections = Locked<[HTTP2ServerConnection]>

  /// A server in the clear: `/mute` and `/ping-only` make the connection half open, `/slow` caps it at a byte a second,
  /// `/split` is answered in pieces of a byte, `/cut-first` cuts the first connection, `/lift-first` lifts its cap.
  func withServer<Result: Sendable>(_ story: @escaping @Sendable (Endpoint) throws -> Result) async throws -> Result {
    try await withLoops { loops in
      let connections = Connections([])
      let server = try await TestServer.bind(
        on: loops, tls: nil, opened: { connection in connections.withLock { $0.append(connection) } },
        answer: { connection, stream, request in
          let first = connections.withLock { $0[0] }
          var dataSize = Int.max
          switch String(decoding: request.path, as: UTF8.self) {
          case "/mute": return connection.mute(answersPings: false)
          case "/ping-only": return connection.mute(answersPings: true)
          case "/slow": connection.limitRate(bytesPerSecond: 1)
          case "/split": dataSize = 1
          case "/cut-first": first.abort()
          case "/lift-first": first.limitRate(bytesPerSecond: nil)
          default: break
          }
          connection.respond(stream: stream, status: 200, fields: [], body: Array("body".utf8), dataSize: dataSize)
        })
      let endpoint = server.endpoint
      let result = try await onThread { try story(endpoint) }
      await server.stop(grace: .hours(1))  // so one that waits for somebody does not pass
      return result
    }
  }

  /// Goes from one thread to another, is used by one at a time.
  struct Kept: @unchecked Sendable {  // handed over, never shared
    let client: RawClient
  }

  @Test(
    "a half-open connection that answers PINGs, and one that does not, answers no request", arguments: [true, false])
  func mute(answersPings: Bool) async throws {
    let (pongs, others) = try await withServer { endpoint -> (Int, [RawFrame]) in
      let client = try RawClient(endpoint)
      _ = client.synchronize()
      client.send(.request(1), .request(3, path: answersPings ? "/ping-only" : "/mute"), .request(5))
      _ = client.until { $0.kind == .data }
      let other = try RawClient(endpoint)
      _ = other.synchronize()
      client.send(RawFrame(kind: .ping, payload: Array("in sync?".utf8)), .request(7))
      if answersPings { _ = client.until { $0.kind == .ping } }
      other.send(.request(1, path: "/cut-first"))
      _ = other.until { $0.kind == .data }
      let frames = client.untilEnd()
      return (frames.count { $0.kind == .ping }, frames.filter { $0.kind != .ping && $0.stream != 1 })
    }
    #expect(others == [] && pongs == 0, "nothing comes after the PING's answer")
  }

  @Test("what was answered before the connection became half open still arrives; what a client sends is read")
  func muteReads() async throws {
    let frames = try await withServer { endpoint -> [RawFrame] in
      let client = try RawClient(endpoint)
      client.send(.request(1), .request(3, path: "/mute"))
      let frames = client.until { $0.kind == .data }
      // Much more than the buffers of two sockets hold: it can only be sent if somebody reads it.
      let ping = RawFrame(kind: .ping, payload: Array("in sync?".utf8)).bytes
      let many = [UInt8]((0..<4096).flatMap { _ in ping })
      for _ in 0..<300 where !client.socket.send(many) { return [] }
      return frames
    }
    #expect(frames.map(\.stream) == [1, 1])
  }

  @Test("the stop of a server does not wait for half-open connections")
  func stopMute() async throws {
    let kept = try await withServer { endpoint in
      let client = try RawClient(endpoint)
      _ = client.synchronize()
      client.send(.request(1, path: "/mute"))
      return Kept(client: client)
    }
    #expect(kept.client.untilEnd() == [])
  }

  @Test("DATA frames of one byte, END_STREAM on the last")
  func split() async throws {
    let frames = try await withServer { endpoint in
      let client = try RawClient(endpoint)
      client.send(.request(1, path: "/split"))
      return client.until { $0.kind == .data && $0.endsStream }
    }
    #expect(frames.map(\.kind) == [.headers, .data, .data, .data, .data])
    #expect(frames.dropFirst().map { String(decoding: $0.payload, as: UTF8.self) } == ["b", "o", "d", "y"])
    #expect(frames.map(\.endsStream) == [false, false, false, false, true])
  }

  @Test("a cap holds answers back and loses none; other connections run as before")
  func cap() async throws {
    let (isHeld, frames) = try await withServer { endpoint in
      let client = try RawClient(endpoint)
      _ = client.synchronize()
      client.send(.request(1, path: "/slow"), .request(3))
      let other = try RawClient(endpoint)
      for stream in stride(from: 1 as Int32, through: 99, by: 2) {
        other.send(.request(stream))
        _ = other.until { $0.kind == .data }
      }
      let isHeld = !client.socket.hasEnded  // takes what is there: less than a frame
      other.send(.request(101, path: "/lift-first"))
      _ = other.until { $0.kind == .data }
      return (isHeld, client.untilBytes(suffix: Array("body".utf8)))
    }
    #expect(isHeld && frames)
  }

  @Test("a newcomer is served, ignored, or cut in its handshake", arguments: ["serve", "ignore", "cut"])
  func admission(treatment: String) async throws {
    try await withLoops { loops in
      let admitted = Locked(0)
      let server = try await HTTP2Listener.bind(
        Endpoint(host: "127.0.0.1", port: 0), loops: loops, tls: try TestCertificates.shared.get().serverContext(),
        admit: { _ in
          admitted.withLock { $0 += 1 }
          return treatment == "serve" ? .serve : treatment == "cut" ? .cut : .ignore
        },
        makeHandler: { TestServer($0, onClosed: { _ in }, TestServer.echo) })
      let tls = try TestCertificates.shared.get().clientContext()
      var limits = HTTP2Limits()
      if treatment == "ignore" { limits.handshakeTimeout = .milliseconds(50) }
      let client = TestClient.connect(to: server.endpoint, tls: tls, on: loops.next(), limits: limits)
      if treatment == "serve" {
        await client.untilSettings()
        _ = await client.onLoop { $0.connection.close(graceful: false) }
      }
      _ = await client.untilClosed()
      switch treatment {
      case "ignore": #expect(client.fault?.kind == .timedOut(.handshake))
      case "cut": #expect(client.fault?.kind == .connectionLost, "\(client.fault?.what ?? "")")
      default: #expect(client.fault?.kind == .stopped)
      }
      #expect(admitted.withLock { $0 } == 1)
      await server.stop(grace: .hours(1))
    }
  }
}

@Suite("A cap on bytes")
struct BytePacerTests {
  @Test(
    "never more than the rate on the average, a tenth of a second's worth at once", arguments: [1, 7, 1000, 1 << 30])
  func average(rate: Int) {
    var pacer = BytePacer(bytesPerSecond: rate, now: 5000)
    var passed = 0
    var now: Int64 = 5000
    while now < 65_000 {
      let granted = pacer.granted(at: now)
      #expect(granted <= max(1, rate / 10))
      pacer.spend(granted)
      passed += granted
      #expect(passed <= max(1, rate / 10) + rate * Int(now - 5000) / 1000 + 1)
      #expect(pacer.nextTime > now)
      now = pacer.nextTime
    }
    #expect(passed >= rate * 58)
  }

  @Test("what passed beyond the grant is made up for; a long pause is not saved up")
  func debts() {
    var pacer = BytePacer(bytesPerSecond: 1000, now: 0)
    pacer.spend(1100)
    #expect(pacer.granted(at: 500) == 0 && pacer.granted(at: 1100) == 100)
    pacer.spend(100)
    #expect(pacer.granted(at: 1_000_000) == 100)
  }
}
