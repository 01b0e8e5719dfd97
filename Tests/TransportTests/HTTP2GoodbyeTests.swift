import Basics
import BelfryTesting
import Foundation
import Testing

@testable import Transport

@Suite("What a server says first, and how it says goodbye")
struct HTTP2GoodbyeTests {
  /// Answers 200, and a graceful end by its cause.
  private final class PoliteServer: HTTP2ServerHandler {
    private let connection: HTTP2ServerConnection
    init(_ connection: HTTP2ServerConnection) { self.connection = connection }
    func request(_ request: HTTP2Request, stream: Int32) {
      connection.respond(stream: stream, status: 200, fields: [], body: [])
    }
    func streamClosed(_ stream: Int32, code: HTTP2ErrorCode) {}
    func draining(_ reason: TransportFault) -> [UInt8] {
      Array((reason.kind == .timedOut(.idle) ? #"{"reason":"IdleTimeout"}"# : #"{"reason":"Shutdown"}"#).utf8)
    }
    func closed(_ fault: TransportFault) {}
  }

  private func withServer<Result: Sendable>(
    limits: HTTP2Limits = HTTP2Limits(), settings: HTTP2Settings = .server,
    _ body: (HTTP2Listener, LoopGroup) async throws -> Result
  ) async throws -> Result {
    try await withLoops { loops in
      let server = try await HTTP2Listener.bind(
        Endpoint(host: "127.0.0.1", port: 0), loops: loops, tls: nil, settings: settings, limits: limits
      ) { PoliteServer($0) }
      let result = try await body(server, loops)
      await server.stop(grace: .seconds(5))
      return result
    }
  }

  @Test("§2.1 the first SETTINGS say every value, in the order of their numbers, defaults among them")
  func firstSettings() async throws {
    try await withServer { server, _ in
      let endpoint = server.endpoint
      let first = try await onThread { try RawClient(endpoint).next() }
      let payload = try #require(first?.payload)
      #expect(stride(from: 1, to: payload.count, by: 6).map { payload[$0] } == [1, 3, 4, 5, 6])
      #expect([1, 3, 4, 5, 6].map { first?.setting($0) } == [4096, 1000, 65_535, 16_384, 8000])
    }
  }

  @Test("an idle connection is told why, twice: in the notice and in the GOAWAY that follows")
  func idle() async throws {
    var limits = HTTP2Limits()
    limits.idleTimeout = .milliseconds(50)
    try await withServer(limits: limits) { server, _ in
      let endpoint = server.endpoint
      let frames = try await onThread {
        let client = try RawClient(endpoint)
        let goingAway = client.until { $0.kind == .ping }
        client.send(RawFrame(kind: .ping, flags: 1, payload: goingAway.last?.payload ?? []))
        return goingAway + client.untilEnd()
      }
      #expect(frames.map(\.kind) == [.goAway, .ping, .goAway])
      let goAways = frames.filter { $0.kind == .goAway }
      #expect(goAways.map { $0.number(at: 0) } == [0x7FFF_FFFF, 0])
      for frame in goAways {
        #expect(String(decoding: frame.payload[8...], as: UTF8.self) == #"{"reason":"IdleTimeout"}"#)
      }
    }
  }

  @Test("a PING is a sign of life: the idle time begins anew")
  func pingCounts() async throws {
    var limits = HTTP2Limits()
    limits.idleTimeout = .milliseconds(300)
    // Twice the time-out with a PING all the time. Where the machine stood still in between, that says nothing: again.
    for _ in 0..<20 {
      let (goneAway, longestGap) = try await withServer(limits: limits) { server, _ in
        let endpoint = server.endpoint
        return try await onThread {
          let client = try RawClient(endpoint)
          let clock = ContinuousClock()
          let start = clock.now
          var (last, gap, goneAway) = (start, Duration.zero, false)
          while !goneAway, clock.now - start < .milliseconds(600) {
            goneAway = client.synchronize().contains { $0.kind == .goAway }
            gap = max(gap, clock.now - last)
            last = clock.now
            usleep(10_000)
          }
          return (goneAway, gap)
        }
      }
      guard longestGap > .milliseconds(100) else {
        #expect(!goneAway)
        return
      }
    }
  }

  @Test("stopping: the notice has the reason, a request on its way is served, the last GOAWAY names it")
  func shutdown() async throws {
    try await withServer { server, _ in
      let endpoint = server.endpoint
      let opened = Mailbox<Void>()
      async let frames = onThread {
        let client = try RawClient(endpoint)
        _ = client.synchronize()
        opened.post(())
        let notice = client.until { $0.kind == .ping }
        client.send(.request(1))
        let served = client.until { $0.kind == .headers }
        client.send(RawFrame(kind: .ping, flags: 1, payload: notice.last?.payload ?? []))
        return notice + served + client.untilEnd()
      }
      _ = await opened.next()
      await server.stop(grace: .seconds(5))
      let seen = try await frames
      #expect(seen.map(\.kind) == [.goAway, .ping, .headers, .goAway])
      #expect(seen.filter { $0.kind == .goAway }.map { $0.number(at: 0) } == [0x7FFF_FFFF, 1])
      for frame in seen where frame.kind == .goAway {
        #expect(String(decoding: frame.payload[8...], as: UTF8.self) == #"{"reason":"Shutdown"}"#)
      }
    }
  }

  @Test("streams above the acknowledged limit are served where over-running is not refused")
  func overrun() async throws {
    var settings = HTTP2Settings.server
    settings.maximumConcurrentStreams = 1
    for refuses in [true, false] {
      var limits = HTTP2Limits()
      limits.refusesOverrun = refuses
      let frames = try await withServer(limits: limits, settings: settings) { server, _ in
        let endpoint = server.endpoint
        return try await onThread {
          let client = try RawClient(endpoint)
          client.send(.settingsAcknowledged)
          _ = client.synchronize()
          client.send(.request(1, endsStream: false), .request(3))
          return client.until { $0.stream == 3 }
        }
      }
      #expect(frames.map(\.kind) == [refuses ? .resetStream : .headers])
    }
  }
}
