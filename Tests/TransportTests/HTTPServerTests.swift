import Basics
import Foundation
import Testing
import Transport

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

@Suite("HTTP server")
struct HTTPServerTests {
  typealias Handler = @Sendable (HTTPRequest) async -> HTTPResponse
  static let here = Endpoint(host: "127.0.0.1", port: 0)

  /// Answers with what it was asked.
  static func echo(_ request: HTTPRequest) async -> HTTPResponse {
    let text = "\(request.method) \(request.path) \(request.query ?? "-") \(request.headers["x-own"] ?? "-") "
    return HTTPResponse(status: 200, headers: ["Content-Type": "text/plain"], body: Array(text.utf8) + request.body)
  }

  /// Runs `body` against a server, then stops it.
  static func withServer<Result>(
    _ limits: HTTPLimits = HTTPLimits(),
    handler: @escaping Handler = echo,
    _ body: (Endpoint) async throws -> Result
  ) async throws -> Result {
    let server = try HTTPServer.start(here, limits: limits, handler: handler)
    do {
      let result = try await body(server.endpoint)
      await server.stop()
      return result
    } catch {
      await server.stop()
      throw error
    }
  }

  static let requests: [(what: String, sent: String, status: Int, body: String)] = [
    ("a body with a length", "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc", 200, "POST /a - - abc"),
    (
      "a chunked body without length",
      "POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n", 200,
      "POST /a - - abc"
    ),
    ("path and query raw", "GET /a%2Fb//c%20?x=%31&y HTTP/1.1\r\nHost: h\r\n\r\n", 200, "GET /a%2Fb//c%20 x=%31&y - "),
    ("an absolute target", "GET http://h:1/p?q HTTP/1.1\r\nHost: h\r\n\r\n", 200, "GET /p q - "),
    ("a field's name in any case", "GET / HTTP/1.1\r\nHost: h\r\nX-OWN: 1\r\n\r\n", 200, "GET / - 1 "),
    (
      "an offer of h2c is ignored",
      "POST /a HTTP/1.1\r\nHost: h\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQ\r\nContent-Length: 1\r\n\r\nx",
      200, "POST /a - - x"
    ),
    ("any method", "BREW /pot HTTP/1.1\r\nHost: h\r\n\r\n", 200, "BREW /pot - - "),
    ("a query with commas", "GET /m/?ids=1%2C2,3 HTTP/1.1\r\nHost: h\r\n\r\n", 200, "GET /m/ ids=1%2C2,3 - "),
  ]

  @Test("gives the handler what was sent", arguments: requests.indices)
  func readsRequests(index: Int) async throws {
    let (what, sent, status, body) = Self.requests[index]
    try await Self.withServer { endpoint in
      let answer = try await onThread {
        let socket = try PlainSocket(endpoint)
        socket.send(sent)
        return socket.readAnswer()
      }
      #expect(answer?.status == status, "\(what)")
      #expect(answer?.body == body, "\(what)")
    }
  }

  @Test("keeps a connection for further requests, also those sent at once")
  func keepsConnections() async throws {
    try await Self.withServer { endpoint in
      let bodies = try await onThread {
        let socket = try PlainSocket(endpoint)
        socket.send("GET /1 HTTP/1.1\r\nHost: h\r\n\r\n")
        var bodies = [socket.readAnswer()?.body]
        socket.send(
          "GET /2 HTTP/1.1\r\nHost: h\r\n\r\nPOST /3 HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\nxGET /4 HTTP/1.1\r\nHost: h\r\n\r\n"
        )
        for _ in 0..<3 { bodies.append(socket.readAnswer()?.body) }
        return bodies
      }
      #expect(bodies == ["GET /1 - - ", "GET /2 - - ", "POST /3 - - x", "GET /4 - - "])
    }
  }

  @Test("answers HEAD with the length and no body")
  func answersHEAD() async throws {
    try await Self.withServer { endpoint in
      let (head, next) = try await onThread {
        let socket = try PlainSocket(endpoint)
        socket.send("HEAD / HTTP/1.1\r\nHost: h\r\n\r\n")
        let head = socket.readAnswer(toHEAD: true)
        socket.send("GET /next HTTP/1.1\r\nHost: h\r\n\r\n")
        return (head, socket.readAnswer())
      }
      #expect(head?.status == 200)
      #expect(head?.headers["content-length"] == "11")
      #expect(next?.body == "GET /next - - ")
    }
  }

  @Test("answers a peer that has closed its sending half")
  func answersHalfClosed() async throws {
    let handler: Handler = { request in
      try? await Task.sleep(for: .milliseconds(50))
      return await Self.echo(request)
    }
    try await Self.withServer(handler: handler) { endpoint in
      let answer = try await onThread {
        let socket = try PlainSocket(endpoint)
        socket.send("POST /half HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\nx")
        socket.finishSending()
        return socket.readAnswer()
      }
      #expect(answer?.body == "POST /half - - x")
    }
  }

  @Test("runs the handlers of many connections at the same time")
  func handlesConcurrently() async throws {
    let gate = Gate(waitingFor: 50)
    let handler: Handler = { request in
      await gate.wait()
      return await Self.echo(request)
    }
    try await Self.withServer(handler: handler) { endpoint in
      let statuses = try await onThread {
        let sockets = try (0..<50).map { _ in try PlainSocket(endpoint) }
        for socket in sockets { socket.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n") }
        return sockets.map { $0.readAnswer()?.status }
      }
      #expect(statuses == Array(repeating: 200, count: 50))
    }
  }

  // MARK: limits

  @Test(
    "refuses a body above the limit as JSON, before it has come",
    arguments: [
      "Content-Length: 1001\r\n\r\n",
      "Content-Length: 5000000\r\nExpect: 100-continue\r\n\r\n",
      "Transfer-Encoding: chunked\r\n\r\n3e9\r\n" + String(repeating: "x", count: 1001),
    ])
  func refusesLargeBodies(rest: String) async throws {
    var limits = HTTPLimits()
    limits.body = 1000
    try await Self.withServer(limits) { endpoint in
      let answer = try await onThread {
        let socket = try PlainSocket(endpoint)
        socket.send("POST / HTTP/1.1\r\nHost: h\r\n" + rest)
        return socket.readAnswer()
      }
      #expect(answer?.status == 413)
      #expect(answer?.headers["content-type"] == "application/json")
      #expect(answer?.headers["connection"] == "close")
      #expect(answer?.body.contains("1000 bytes") == true)
    }
  }

  @Test("a client that sends all of its too large body before it listens still gets the answer")
  func answersThoseWhoSendFirst() async throws {
    var limits = HTTPLimits()
    limits.body = 1000
    try await Self.withServer(limits) { endpoint in
      let statuses = try await onThread {
        try (0..<20).map { _ in
          let socket = try PlainSocket(endpoint)
          socket.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 4000000\r\n\r\n")
          socket.send([UInt8](repeating: 0x78, count: 4_000_000))
          return socket.readAnswer()?.status
        }
      }
      #expect(statuses == Array(repeating: 413, count: 20))
    }
  }

  @Test("takes a body of exactly the limit")
  func takesBodyOfTheLimit() async throws {
    var limits = HTTPLimits()
    limits.body = 1_000_000
    try await Self.withServer(limits) { endpoint in
      let size = try await onThread {
        let socket = try PlainSocket(endpoint)
        socket.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\n\r\n")
        socket.send([UInt8](repeating: 0x78, count: 1_000_000))
        return socket.readAnswer()?.body.utf8.count
      }
      #expect(size == 1_000_000 + "POST / - - ".utf8.count)
    }
  }

  @Test("refuses a head above the limit as JSON; a far larger one is refused in any form and closed")
  func refusesLargeHeads() async throws {
    try await Self.withServer { endpoint in
      let (large, huge) = try await onThread {
        let statuses = try [20_000, 200_000].map { size in
          let socket = try PlainSocket(endpoint)
          socket.send("GET / HTTP/1.1\r\nHost: h\r\nX: \(String(repeating: "x", count: size))\r\n\r\n")
          return socket.readAnswer()
        }
        return (statuses[0], statuses[1])
      }
      #expect(large?.status == 431)
      #expect(large?.headers["content-type"] == "application/json")
      #expect(huge == nil || (400..<500).contains(huge!.status))
    }
  }

  static let slow: [(what: String, start: String)] = [
    ("nothing at all", ""),
    ("a request line in pieces", "GET /"),
    ("a head in pieces", "GET / HTTP/1.1\r\nHost: "),
    ("a body in pieces", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\n"),
    ("a request answered, then nothing", "GET / HTTP/1.1\r\nHost: h\r\n\r\n"),
  ]

  @Test("slow loris: bytes that drip do not keep a connection", arguments: slow.indices)
  func cutsSlowPeers(index: Int) async throws {
    var limits = HTTPLimits()
    limits.idle = .milliseconds(300)
    limits.reading = .milliseconds(300)
    try await Self.withServer(limits) { endpoint in
      // Drips ten times as often as the limit allows, a hundred times as long as it takes to be cut.
      let isCut = try await onThread {
        let socket = try PlainSocket(endpoint)
        socket.send(Self.slow[index].start)
        for _ in 0..<1_000 {
          guard socket.send(index == 0 || index == 4 ? "" : "x"), !socket.hasEnded else { return true }
          usleep(30_000)
        }
        return false
      }
      #expect(isCut, "\(Self.slow[index].what)")
    }
  }

  @Test("a handler that takes longer than every reading limit is waited for")
  func waitsForHandlers() async throws {
    var limits = HTTPLimits()
    limits.idle = .milliseconds(100)
    limits.reading = .milliseconds(100)
    let handler: Handler = { request in
      try? await Task.sleep(for: .milliseconds(600))
      return await Self.echo(request)
    }
    try await Self.withServer(limits, handler: handler) { endpoint in
      let answer = try await onThread {
        let socket = try PlainSocket(endpoint)
        socket.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        return socket.readAnswer()
      }
      #expect(answer?.status == 200)
    }
  }

  @Test("connections above the limit wait for their turn")
  func limitsConnections() async throws {
    var limits = HTTPLimits()
    limits.connections = 2
    try await Self.withServer(limits) { endpoint in
      let statuses = try await onThread {
        var open = try (0..<2).map { _ in try PlainSocket(endpoint) }
        for socket in open {
          socket.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
          _ = socket.readAnswer()
        }
        let third = try PlainSocket(endpoint, patience: 1)
        third.send("GET /third HTTP/1.1\r\nHost: h\r\n\r\n")
        let whileFull = third.readAnswer()?.status
        open.removeAll()
        return [whileFull, third.readAnswer()?.status]
      }
      #expect(statuses == [nil, 200])
    }
  }

  // MARK: start and stop

  @Test("a port in use is a fault that names it")
  func namesPortInUse() async throws {
    try await Self.withServer { endpoint in
      do {
        let second = try HTTPServer.start(endpoint, handler: Self.echo)
        await second.stop()
        Issue.record("two servers on one port")
      } catch let error as TransportFault {
        #expect(error.kind == .addressInUse)
        #expect(error.place == endpoint.description)
      }
    }
  }

  @Test("stopping answers what is in flight and takes nothing new")
  func stopsGracefully() async throws {
    let gate = Gate(waitingFor: 2)
    let server = try HTTPServer.start(Self.here) { request in
      await gate.wait()
      return await Self.echo(request)
    }
    let endpoint = server.endpoint
    async let answer = onThread {
      let socket = try PlainSocket(endpoint)
      socket.send("GET /late HTTP/1.1\r\nHost: h\r\n\r\n")
      return socket.readAnswer()
    }
    while gate.arrived == 0 { await Task.yield() }
    async let stopped: Void = server.stop()
    var refused = false
    while !refused {
      refused = try await onThread { (try? PlainSocket(endpoint)) == nil }
    }
    await gate.wait()  // lets the handler go
    let late = try await answer
    await stopped
    #expect(late?.body == "GET /late - - ")
    #expect(late?.headers["connection"] == "close")
  }

  @Test("a handler that never ends gets 503 in its place when the server stops")
  func stopsDespiteHandlers() async throws {
    var limits = HTTPLimits()
    limits.stopping = .milliseconds(200)
    let server = try HTTPServer.start(Self.here, limits: limits) { request in
      try? await Task.sleep(for: .seconds(3600))
      return await Self.echo(request)
    }
    let endpoint = server.endpoint
    async let answer = onThread {
      let socket = try PlainSocket(endpoint)
      socket.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
      return socket.readAnswer()
    }
    try await Task.sleep(for: .milliseconds(100))
    await server.stop()
    #expect(try await answer?.status == 503)
  }

  // MARK: upgrade

  @Test("hands the socket over after 101, with what was read beyond the head")
  func upgrades() async throws {
    let handler: Handler = { request in
      guard request.headers["upgrade"] == "shout" else { return HTTPResponse(status: 400) }
      return .switchingProtocols(headers: ["Upgrade": "shout"]) { socket in
        Thread.detachNewThread {
          var heard = socket.alreadyRead
          while !heard.contains(0x0A) {
            var buffer = [UInt8](repeating: 0, count: 100)
            let count = recv(socket.descriptor, &buffer, buffer.count, 0)
            if count > 0 { heard += buffer[..<count] } else { usleep(1000) }
          }
          let answer = Array(String(decoding: heard, as: UTF8.self).uppercased().utf8)
          _ = Glibc.send(socket.descriptor, answer, answer.count, 0)
          close(socket.descriptor)
        }
      }
    }
    try await Self.withServer(handler: handler) { endpoint in
      let (answer, heard, after) = try await onThread {
        let socket = try PlainSocket(endpoint)
        socket.send("GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: shout\r\n\r\nhel")
        let answer = socket.readAnswer()
        socket.send("lo\n")
        var heard: [UInt8] = []
        while !heard.contains(0x0A) { heard += socket.readSome() }
        return (answer, heard, socket.isClosedByPeer())
      }
      #expect(answer?.status == 101)
      #expect(answer?.headers["connection"]?.lowercased() == "upgrade")
      #expect(String(decoding: heard, as: UTF8.self) == "HELLO\n")
      #expect(after)
    }
  }

  @Test("serves HTTPS with an identity; bytes that are no TLS end their connection only")
  func servesTLS() async throws {
    let clock = SystemClock()
    let until = clock.now + .days(1)
    let authority = try CertificateAuthority.create(
      commonName: "Test", notBefore: clock.now - .hours(1), notAfter: until)
    let identity = try authority.issueServer(names: ["127.0.0.1"], notBefore: clock.now - .hours(1), notAfter: until)
    let folder = FileManager.default.temporaryDirectory.appending(path: "belfry-https-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: "ca.pem")
    try Data(authority.pem).write(to: file)
    let server = try HTTPServer.start(Self.here, tls: identity, handler: Self.echo)
    let endpoint = server.endpoint
    let said = try await onThread {
      let socket = try PlainSocket(endpoint)
      socket.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
      socket.finishSending()
      _ = socket.readSome()
      let curl = Process()
      curl.executableURL = URL(filePath: "/usr/bin/env")
      curl.arguments = [
        "curl", "--silent", "--cacert", file.path, "--data", "abc", "https://\(endpoint)/secret?x",
      ]
      let output = Pipe()
      curl.standardOutput = output
      try curl.run()
      let said = output.fileHandleForReading.readDataToEndOfFile()
      curl.waitUntilExit()
      return String(decoding: said, as: UTF8.self)
    }
    await server.stop()
    #expect(said == "POST /secret x - abc")
  }

  // MARK: survival

  @Test("bytes that are no HTTP end their connection only")
  func survivesGarbage() async throws {
    try await Self.withServer { endpoint in
      let answer = try await onThread {
        for garbage in [
          [0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xFC, 0x03, 0x03] + [UInt8](repeating: 7, count: 600),
          Array("\r\n\r\n\r\n".utf8), Array("GET\r\n\r\n".utf8), [UInt8](repeating: 0, count: 100_000),
          Array("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: -5\r\n\r\n".utf8),
          Array("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999999999999999\r\n\r\n".utf8),
          Array("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n".utf8),
          Array("GET /a\u{0}b HTTP/1.1\r\nHost: h\r\n\r\n".utf8),
        ] {
          let socket = try PlainSocket(endpoint)
          socket.send(garbage)
          socket.finishSending()
          _ = socket.readAnswer()
        }
        let socket = try PlainSocket(endpoint)
        socket.send("GET /alive HTTP/1.1\r\nHost: h\r\n\r\n")
        return socket.readAnswer()
      }
      #expect(answer?.body == "GET /alive - - ")
    }
  }

  @Test("peers that leave in the middle, 2,000 times, cost nothing that stays")
  func survivesLeavers() async throws {
    try await Self.withServer { endpoint in
      let answer = try await onThread {
        for round in 0..<2000 {
          let socket = try PlainSocket(endpoint)
          let whole = "POST /\(round) HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello"
          socket.send(String(whole.prefix(round % whole.count + 1)))
        }
        let socket = try PlainSocket(endpoint)
        socket.send("GET /alive HTTP/1.1\r\nHost: h\r\n\r\n")
        return socket.readAnswer()
      }
      #expect(answer?.body == "GET /alive - - ")
    }
  }

  // MARK: targets

  @Test("decodes the parts of a path after splitting it")
  func decodesPaths() {
    #expect(HTTPTarget.parts(ofPath: "/v3//tags/%E5%8C%97%E4%BA%AC/a%2Fb") == ["", "v3", "", "tags", "北京", "a/b"])
    #expect(HTTPTarget.parts(ofPath: "/a+b/@!$&*=.|") == ["", "a+b", "@!$&*=.|"])
    #expect(HTTPTarget.parts(ofPath: "/%zz") == nil)
    #expect(HTTPTarget.parts(ofPath: "/%E5%8C") == nil)
    #expect(HTTPTarget.parts(ofPath: "/%") == nil)
  }

  @Test("decodes the items of a query")
  func decodesQueries() {
    let items = HTTPTarget.items(ofQuery: "a=1%2C2&b=x+y&&c&d==")
    #expect(items?.map(\.name) == ["a", "b", "c", "d"])
    #expect(items?.map(\.value) == ["1,2", "x y", "", "="])
    #expect(HTTPTarget.items(ofQuery: "a=%") == nil)
  }
}

/// Holds callers back until so many have come.
final class Gate: Sendable {
  private struct State {
    var arrived = 0
    var waiters: [CheckedContinuation<Void, Never>] = []
  }
  private let needed: Int
  private let state = Locked(State())

  init(waitingFor needed: Int) { self.needed = needed }

  var arrived: Int { state.withLock { $0.arrived } }

  func wait() async {
    await withCheckedContinuation { continuation in
      let freed: [CheckedContinuation<Void, Never>] = state.withLock { state in
        state.arrived += 1
        state.waiters.append(continuation)
        guard state.arrived >= needed else { return [] }
        defer { state.waiters = [] }
        return state.waiters
      }
      for waiter in freed { waiter.resume() }
    }
  }
}
