import Basics
import BelfryTesting
import Testing

@testable import Transport

@Suite("HTTP/2 server against clients that no library would be")
struct HTTP2ServerTests {
  /// Runs `story` as a raw client of a server in the clear.
  func withServer<Result: Sendable>(
    settings: HTTP2Settings = .server, limits: HTTP2Limits = HTTP2Limits(), clientSettings: [(UInt8, UInt32)] = [],
    closed: @escaping @Sendable (TransportFault) -> Void = { _ in },
    answer: @escaping TestServer.Answer = TestServer.echo,
    opened: @escaping @Sendable (HTTP2ServerConnection) -> Void = { _ in },
    story: @escaping @Sendable (RawClient) throws -> Result
  ) async throws -> Result {
    try await withLoops { loops in
      let server = try await TestServer.bind(
        on: loops, tls: nil, settings: settings, limits: limits, opened: opened, closed: closed, answer: answer)
      let endpoint = server.endpoint
      let result = try await onThread { try story(RawClient(endpoint, settings: clientSettings)) }
      await server.stop(grace: .seconds(5))
      return result
    }
  }

  @Test("the first frame is SETTINGS with the announced values, before the client asks anything")
  func firstSettings() async throws {
    var settings = HTTP2Settings.server
    settings.maximumConcurrentStreams = 1
    let first = try await withServer(settings: settings) { $0.next() }
    #expect(first?.kind == .settings)
    #expect(first?.setting(3) == 1)
    #expect(first?.setting(6) == 8000)
  }

  @Test("an answer is HEADERS with END_STREAM, or HEADERS and one DATA frame with END_STREAM")
  func answerFrames() async throws {
    let frames = try await withServer(
      answer: { connection, stream, request in
        let body = request.path.elementsEqual("/empty".utf8) ? [] : Array(#"{"reason":"BadDeviceToken"}"#.utf8)
        connection.respond(stream: stream, status: 400, fields: [HTTP2Field("apns-id", "A-b")], body: body)
      },
      story: { client in
        client.send(.request(1), .request(3, path: "/empty"))
        return client.until { $0.kind == .data }
      })
    #expect(frames.map(\.kind) == [.headers, .headers, .data])
    #expect(frames.map(\.stream) == [1, 3, 1])
    #expect(frames.map(\.endsStream) == [false, true, true])
    #expect(String(decoding: frames[2].payload, as: UTF8.self) == #"{"reason":"BadDeviceToken"}"#)
  }

  @Test("an answer waits for window rather than being split; one that no window ever holds goes in pieces")
  func answersAndWindows() async throws {
    let large = [UInt8](repeating: 0x61, count: 16_000)
    let frames = try await withServer(
      answer: { connection, stream, _ in
        connection.respond(stream: stream, status: 200, fields: [], body: large)
      },
      story: { client in
        for stream: Int32 in [1, 3, 5, 7, 9] { client.send(.request(stream)) }  // 80,000 bytes, 65,535 of window
        let before = client.synchronize()
        client.send(.windowUpdate(0, 20_000))
        return before + client.until { $0.stream == 9 && $0.kind == .data }
      })
    #expect(frames.filter { $0.kind == .data }.map(\.payload.count) == [16_000, 16_000, 16_000, 16_000, 16_000])
    #expect(frames.filter { $0.kind == .data }.allSatisfy { $0.endsStream })

    let small = try await withServer(
      clientSettings: [(4, 10)],
      answer: { connection, stream, _ in
        connection.respond(stream: stream, status: 200, fields: [], body: Array("twenty-five bytes of text".utf8))
      },
      story: { client in
        client.send(.request(1))
        let before = client.synchronize()
        client.send(.windowUpdate(1, 10), .windowUpdate(1, 10))
        return before + client.until { $0.endsStream }
      })
    #expect(small.filter { $0.kind == .data }.flatMap(\.payload) == Array("twenty-five bytes of text".utf8))
  }

  @Test("C41 a low stream limit holds from its acknowledgement on; earlier streams are served, the connection lives")
  func streamLimit() async throws {
    var settings = HTTP2Settings.server
    settings.maximumConcurrentStreams = 1
    let held = Locked<[Int32]>([])
    let frames = try await withServer(
      settings: settings,
      answer: { connection, stream, request in
        guard request.path.elementsEqual("/release".utf8) else { return held.withLock { $0.append(stream) } }
        for stream in held.withLock({ $0 }) + [stream] {
          connection.respond(stream: stream, status: 200, fields: [], body: [])
        }
      },
      story: { client in
        client.send(.request(1), .request(3), .request(5))  // the server's SETTINGS are not yet read
        #expect(client.synchronize().isEmpty)
        client.send(.settingsAcknowledged, .request(7))
        let refused = client.synchronize()
        #expect(refused == [RawFrame(kind: .resetStream, stream: 7, payload: [0, 0, 0, 7])])
        client.send(RawFrame(kind: .resetStream, stream: 1, payload: [0, 0, 0, 8]))
        client.send(RawFrame(kind: .resetStream, stream: 3, payload: [0, 0, 0, 8]))
        client.send(RawFrame(kind: .resetStream, stream: 5, payload: [0, 0, 0, 8]))
        client.send(.request(9, path: "/release"))
        return client.until { $0.stream == 9 }
      })
    #expect(frames == [RawFrame(kind: .headers, flags: 5, stream: 9, payload: [0x88])])
  }

  @Test("C41 the limit moves up, down and to 0 at any time")
  func announcements() async throws {
    let connections = Mailbox<HTTP2ServerConnection>()
    let announced = try await withServer(
      answer: { connection, stream, request in
        let limit = UInt32(String(decoding: request.path.dropFirst(), as: UTF8.self)) ?? 0
        connection.announce(maxConcurrentStreams: limit)
        connection.respond(stream: stream, status: 200, fields: [], body: [])
      }, opened: { connections.post($0) },
      story: { client in
        var seen: [UInt32?] = []
        func nextLimit() {
          while let frame = client.next() {
            guard frame.kind == .settings, frame.flags == 0 else { continue }
            client.send(.settingsAcknowledged)
            return seen.append(frame.setting(3))
          }
        }
        nextLimit()
        client.send(.request(1, path: "/1"))
        nextLimit()
        client.send(.request(3, path: "/500"))
        nextLimit()
        client.send(.request(5, path: "/0"))
        nextLimit()
        client.send(.request(7))
        _ = client.until { $0.kind == .resetStream && $0.stream == 7 && $0.code == 7 }
        return seen
      })
    #expect(announced == [1000, 1, 500, 0])
  }

  @Test("over the limits: the handler is told and can say 431 and 413; far over, the answer comes early")
  func excess() async throws {
    var limits = HTTP2Limits()
    limits.headerListSize = 1000
    limits.bodySize = 100
    limits.discardedBodySize = 1000
    let answers = try await withServer(
      limits: limits,
      answer: { connection, stream, request in
        let status =
          switch request.excess {
          case nil: 200
          case .headerList: 431
          case .body: 413
          }
        connection.respond(stream: stream, status: status, fields: [HTTP2Field("n", "\(request.body.count)")], body: [])
      },
      story: { client in
        let long = String(repeating: "x", count: 1000)
        client.send(.request(1), .request(3, extra: [("x-long", long)]))
        client.send(.request(5, endsStream: false))
        client.send(RawFrame(kind: .data, stream: 5, payload: Array(repeating: 0x61, count: 90)))
        client.send(RawFrame(kind: .data, flags: 1, stream: 5, payload: Array(repeating: 0x61, count: 90)))
        let first = client.until { $0.stream == 5 }
        client.send(.request(7, endsStream: false))
        client.send(RawFrame(kind: .data, stream: 7, payload: Array(repeating: 0x61, count: 2000)))
        return first + client.until { $0.kind == .resetStream }
      })
    // 0x88 is `:status: 200` of the static table; the others are spelt out.
    #expect(answers.map(\.stream) == [1, 3, 5, 7, 7])
    #expect(answers[0].payload.first == 0x88)
    #expect(answers[4] == RawFrame(kind: .resetStream, stream: 7, payload: [0, 0, 0, 0]))
  }

  @Test("what is no HTTP/2, or breaks its rules, ends that connection with GOAWAY")
  func violations() async throws {
    let rows: [(String, [UInt8])] = [
      ("DATA on stream 0", RawFrame(kind: .data, payload: [1]).bytes),
      ("DATA on an idle stream", RawFrame(kind: .data, stream: 1, payload: [1]).bytes),
      (
        "a broken header block",
        RawFrame(kind: .headers, flags: 5, stream: 1, payload: [0xFF, 0xFF, 0xFF, 0xFF, 0xFF]).bytes
      ),
      ("an even stream", RawFrame.request(2).bytes),
      ("a frame over the size", [0x40, 0, 0, 0, 0, 0, 0, 0, 1]),
    ]
    for (what, bytes) in rows {
      let faults = Mailbox<TransportFault.Kind>()
      let frames = try await withServer(
        closed: { faults.post($0.kind) },
        story: { client in
          client.socket.send(bytes)
          return client.untilEnd()
        })
      #expect(frames.contains { $0.kind == .goAway && $0.code != 0 }, "\(what)")
      #expect(await faults.next() == .protocolViolation, "\(what)")
    }
    let faults = Mailbox<TransportFault.Kind>()
    try await withLoops { loops in
      let server = try await TestServer.bind(on: loops, tls: nil, closed: { faults.post($0.kind) })
      let endpoint = server.endpoint
      #expect(
        try await onThread {
          let socket = try PlainSocket(endpoint)
          socket.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
          return socket.isClosedByPeer()
        })
      #expect(await faults.next() == .protocolViolation)
      await server.stop(grace: .seconds(5))
    }
  }

  @Test("slow loris: headers that do not end close the connection, a body that does not end resets its stream")
  func slowRequests() async throws {
    var limits = HTTP2Limits()
    limits.requestTimeout = .milliseconds(80)
    let faults = Mailbox<TransportFault.Kind>()
    let frames = try await withServer(
      limits: limits, closed: { faults.post($0.kind) },
      story: { client in
        client.send(.request(1, endsStream: false))
        let reset = client.until { $0.kind == .resetStream }
        client.send(.request(3))
        let answered = client.until { $0.stream == 3 }
        var started = RawFrame.request(5)
        started.flags = 1  // END_STREAM, but CONTINUATION must follow
        client.send(started)
        return reset + answered + client.untilEnd()
      })
    #expect(frames.map(\.kind) == [.resetStream, .headers])
    #expect(frames.first?.code == HTTP2ErrorCode.cancel.rawValue)
    #expect(await faults.next() == .timedOut(.request))
  }

  @Test("a client that says nothing after its preface, or nothing at all, is let go in time")
  func idle() async throws {
    var limits = HTTP2Limits()
    limits.idleTimeout = .milliseconds(80)
    let faults = Mailbox<TransportFault.Kind>()
    let frames = try await withServer(
      limits: limits, closed: { faults.post($0.kind) },
      story: { client in
        let goingAway = client.until { $0.kind == .ping }
        client.send(RawFrame(kind: .ping, flags: 1, payload: goingAway.last?.payload ?? []))
        return goingAway + client.untilEnd()
      })
    #expect(frames.map(\.kind) == [.goAway, .ping, .goAway])
    #expect(await faults.next() == .timedOut(.idle))

    limits = HTTP2Limits()
    limits.handshakeTimeout = .milliseconds(80)
    try await withLoops { loops in
      let server = try await TestServer.bind(on: loops, tls: nil, limits: limits, closed: { faults.post($0.kind) })
      let endpoint = server.endpoint
      #expect(try await onThread { try PlainSocket(endpoint).isClosedByPeer() })
      #expect(await faults.next() == .timedOut(.settings))
      await server.stop(grace: .seconds(5))
    }
  }

  @Test("half-closed: what was asked before the client's end is answered, then the connection ends")
  func halfClosed() async throws {
    let faults = Mailbox<TransportFault.Kind>()
    let frames = try await withServer(
      closed: { faults.post($0.kind) },
      answer: { connection, stream, _ in
        connection.loop.schedule(after: .milliseconds(20)) {
          connection.respond(stream: stream, status: 200, fields: [], body: Array("late".utf8))
        }
      },
      story: { client in
        client.send(.request(1), .request(3, endsStream: false))
        client.socket.finishSending()
        return client.untilEnd()
      })
    #expect(frames.filter { $0.kind == .data }.map(\.payload) == [Array("late".utf8)])
    #expect(await faults.next() == .closedByPeer)
  }

  @Test("a client that never opens a window for its answers is cut")
  func closedWindow() async throws {
    var limits = HTTP2Limits()
    limits.writeTimeout = .milliseconds(80)
    let faults = Mailbox<TransportFault.Kind>()
    _ = try await withServer(
      limits: limits, clientSettings: [(4, 0)], closed: { faults.post($0.kind) },
      story: { client in
        client.send(.settingsAcknowledged)
        client.send(.request(1, endsStream: false), RawFrame(kind: .data, flags: 1, stream: 1, payload: [1]))
        return client.untilEnd()
      })
    #expect(await faults.next() == .timedOut(.writing))
  }

  @Test("back-pressure: requests of a client that reads no answers stay unread, and it is cut in time")
  func slowReader() async throws {
    var limits = HTTP2Limits()
    limits.writeTimeout = .milliseconds(300)
    let faults = Mailbox<TransportFault.Kind>()
    let asked = Locked(0)
    let body = [UInt8](repeating: 0x61, count: 10_000)
    let sent = try await withServer(
      limits: limits, clientSettings: [(4, 0x7FFF_FFFF)], closed: { faults.post($0.kind) },
      answer: { connection, stream, _ in
        asked.withLock { $0 += 1 }
        connection.respond(stream: stream, status: 200, fields: [], body: body)
      },
      story: { client in
        client.send(.settingsAcknowledged, .windowUpdate(0, 0x7FFF_0000 - 65_535))
        var stream: Int32 = 1
        // 1,000,000 requests of 30 bytes, more than sockets hold, for 10 GB of answers, of which nothing is read.
        while stream < 2_000_000, client.socket.send((0..<100).flatMap { RawFrame.request(stream + 2 * $0).bytes }) {
          stream += 200
        }
        return Int(stream / 2)
      })
    #expect(await faults.next() == .timedOut(.writing))
    // The sockets' own buffers hold some megabytes of answers; a thousand more may wait in streams.
    #expect(asked.withLock { $0 } < 3000)
    #expect(sent < 1_000_000)
  }

  @Test("a graceful stop answers what is open, takes nothing new, and cuts what outlasts the grace")
  func gracefulStop() async throws {
    try await withLoops { loops in
      let arrived = Mailbox<(HTTP2ServerConnection, Int32)>()
      let server = try await TestServer.bind(
        on: loops, tls: nil, answer: { connection, stream, _ in arrived.post((connection, stream)) })
      let client = TestClient.connect(to: server.endpoint, tls: nil, on: loops.next())
      let stuck = TestClient.connect(to: server.endpoint, tls: nil, on: loops.next())
      await client.untilSettings()
      await stuck.untilSettings()
      #expect(await client.send("/") == .success(1))
      let (connection, stream) = try #require(await arrived.next())
      #expect(await stuck.send("/") == .success(1))
      _ = await arrived.next()
      async let stopped: Void = server.stop(grace: .milliseconds(400))
      let goingAway = await client.until { if case .goAway = $0 { true } else { false } }
      #expect(goingAway == [.goAway(last: .max, .noError, "")])
      #expect(await client.send("/") == .failure(.notOpen))
      connection.loop.execute { connection.respond(stream: stream, status: 200, fields: [], body: Array("done".utf8)) }
      let rest = await client.untilClosed()
      #expect(rest.contains(.response(stream: 1, status: 200, body: "done")))
      #expect(rest.last == .closed(.closedByPeer))
      await stopped
      #expect(await stuck.untilClosed().last == .closed(.connectionLost))
      let late = TestClient.connect(to: server.endpoint, tls: nil, on: loops.next())
      #expect(await late.untilClosed() == [.closed(.connectionRefused)])
    }
  }
}
