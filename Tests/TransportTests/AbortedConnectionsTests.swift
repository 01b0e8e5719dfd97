import Basics
import Foundation
import Synchronization
import Testing

@testable import Transport

@Suite("Connections that end in every possible place")
struct AbortedConnectionsTests {
  /// When a client gives up, and how.
  struct Plan: Sendable {
    enum Point: CaseIterable { case atOnce, afterMilliseconds, connected, settings, firstEnd, never }
    enum Way: CaseIterable { case abort, close, drain }
    var point: Point
    var way: Way
    var usesTLS: Bool
    var delay: Int64
    var requests: Int

    init(dice: inout Dice) {
      point = Point.allCases.randomElement(using: &dice)!
      way = Way.allCases.randomElement(using: &dice)!
      usesTLS = Int.random(in: 0..<10, using: &dice) < 4
      delay = Int64.random(in: 0...6, using: &dice)
      requests = Int.random(in: 0...8, using: &dice)
    }

    /// On the loop.
    func giveUp(_ client: TestClient) {
      switch way {
      case .abort: client.connection.abort()
      case .close: client.connection.close(graceful: false)
      case .drain: client.connection.close(graceful: true)
      }
    }

    /// On the loop, for each thing that the client is told.
    func live(_ client: TestClient, _ event: Told) {
      switch event {
      case .connected: if point == .connected { giveUp(client) }
      case .settings:
        for number in 0..<requests { _ = client.submit("/\(number)", "body") }
        if point == .settings || (point == .never && requests == 0) { giveUp(client) }
      case .response, .failed:
        if point == .firstEnd || (point == .never && client.connection.openStreams == 0) { giveUp(client) }
      case .goAway, .pong, .closed: break
      }
    }
  }

  @Test("10,000 connections, opened and ended at random points by either side, leave nothing behind")
  func leavesNothing() async throws {
    let certificates = try TestCertificates.shared.get()
    let context = try certificates.clientContext()
    let loops = LoopGroup(count: 2)
    var briefly = HTTP2Limits()
    briefly.idleTimeout = .milliseconds(100)
    let limits = briefly
    // The server's dice; every fortieth request ends the whole connection, every tenth its stream.
    let count = Locked(0)
    @Sendable func answer(_ connection: HTTP2ServerConnection, _ stream: Int32, _ request: HTTP2Request) {
      let number = count.withLock { count in
        count += 1
        return count
      }
      if number % 40 == 0 {
        connection.abort()
      } else if number % 40 == 20 {
        connection.close(graceful: true)
        connection.respond(stream: stream, status: 200, fields: [], body: request.body)
      } else if number % 10 == 5 {
        connection.reset(stream: stream, code: .refusedStream)
      } else if number % 7 == 0 {
        connection.loop.schedule(after: .milliseconds(2)) {
          connection.respond(stream: stream, status: 200, fields: [], body: request.body)
        }
      } else {
        connection.respond(stream: stream, status: 200, fields: [], body: request.body)
      }
    }
    let overTLS = try await TestServer.bind(
      on: loops, tls: certificates.serverContext(), limits: limits, answer: answer)
    let clear = try await TestServer.bind(on: loops, tls: nil, limits: limits, answer: answer)
    let endpoints = (overTLS.endpoint, clear.endpoint)
    var dice = Dice(seed: 10_000)
    let ended = Locked(0)
    for _ in 0..<50 {
      let plans = (0..<200).map { _ in Plan(dice: &dice) }
      await withTaskGroup(of: Void.self) { group in
        for plan in plans {
          group.addTask {
            let client = TestClient.connect(
              to: plan.usesTLS ? endpoints.0 : endpoints.1, tls: plan.usesTLS ? context : nil, on: loops.next(),
              limits: limits
            ) { client in
              client.onTold = { [unowned client] in plan.live(client, $0) }
              switch plan.point {
              case .atOnce: client.loop.execute { plan.giveUp(client) }
              case .afterMilliseconds:
                client.loop.schedule(after: .milliseconds(plan.delay)) { plan.giveUp(client) }
              case .connected, .settings, .firstEnd, .never: break
              }
            }
            _ = await client.untilClosed()
            ended.withLock { $0 += 1 }
          }
        }
      }
    }
    #expect(ended.withLock { $0 } == 10_000)
    await overTLS.stop(grace: .seconds(2))
    await clear.stop(grace: .seconds(2))
    #expect(overTLS.connectionCount + clear.connectionCount == 0)
    await loops.stop()
    for loop in loops.loops {
      #expect(loop.residentCount == 0)
      #expect(loop.liveSessions.load(ordering: .relaxed) == 0)
      #expect(loop.liveStreams.load(ordering: .relaxed) == 0)
    }
    #if os(Linux)
      #expect(try openSockets(on: [endpoints.0.port, endpoints.1.port]) == 0)
    #endif
    // A task that let go of its connection last may still be freeing it, and a leak check at exit would see it half done.
    try await Task.sleep(for: .milliseconds(500))
  }

  /// Sockets of any process that have one of the ports and are still held by a descriptor.
  private func openSockets(on ports: Set<UInt16>) throws -> Int {
    let table = try String(contentsOfFile: "/proc/net/tcp", encoding: .utf8)
    return table.split(separator: "\n").dropFirst().count { line in
      let columns = line.split(separator: " ")
      let used = columns[1...2].contains { address in
        address.split(separator: ":").last.flatMap { UInt16($0, radix: 16) }.map(ports.contains) == true
      }
      return used && columns[9] != "0"
    }
  }
}
