import Basics
import Synchronization
import Testing

@testable import Transport

@Suite("WebSocket frames")
struct WebSocketFrameTests {
  private static func read(_ bytes: [UInt8], isServer: Bool = true, step: Int = .max) throws -> [WebSocketReader.Event]
  {
    let reader = WebSocketReader(expectsMask: isServer, maximumMessage: 100_000)
    var events: [WebSocketReader.Event] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      let piece = Array(rest.prefix(step))
      rest = rest.dropFirst(step)
      try piece.withUnsafeBytes { try reader.read($0) { events.append($0) } }
    }
    return events
  }

  private static func masked(_ first: UInt8, _ payload: [UInt8]) -> [UInt8] {
    var frame = WebSocketWriter.frame(.binary, payload, mask: 0x0102_0304)
    frame[0] = first
    return frame
  }

  @Test("what the writer writes the reader reads, whatever the size and the cuts", arguments: [1, 2, 7, 5_000, .max])
  func roundTrip(step: Int) throws {
    for size in [0, 1, 125, 126, 127, 4_096, 65_535, 65_536, 100_000] {
      let payload = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
      for mask in [nil, 0xDEAD_BEEF as UInt32] {
        let frame = WebSocketWriter.frame(.binary, payload, mask: mask)
        #expect(try Self.read(frame, isServer: mask != nil, step: step) == [.binary(payload)])
      }
    }
    let text = WebSocketWriter.frame(.text, Array("Grüße 🔔".utf8), mask: 7)
    #expect(try Self.read(text + text, step: step) == [.text("Grüße 🔔"), .text("Grüße 🔔")])
  }

  @Test("a message in pieces with a ping between them")
  func fragments() throws {
    let bytes =
      Self.masked(0x01, Array("ab".utf8)) + Self.masked(0x89, [1]) + Self.masked(0x00, [])
      + Self.masked(0x80, Array("c".utf8))
    for step in [1, 3, .max] { #expect(try Self.read(bytes, step: step) == [.ping([1]), .text("abc")]) }
  }

  @Test("close codes and reasons")
  func closing() throws {
    #expect(try Self.read(Self.masked(0x88, [])) == [.close(code: 1005, reason: "")])
    let frame = WebSocketWriter.close(code: 4000, reason: "bye", mask: 1)
    #expect(try Self.read(frame) == [.close(code: 4000, reason: "bye")])
  }

  @Test("what RFC 6455 forbids has its close code")
  func violations() {
    let cases: [(String, [UInt8], UInt16)] = [
      ("unmasked from a client", WebSocketWriter.frame(.text, [], mask: nil), 1002),
      ("reserved bit", Self.masked(0xC1, []), 1002), ("unknown opcode", Self.masked(0x83, []), 1002),
      ("control frame in pieces", Self.masked(0x09, []), 1002),
      ("control frame of 126 bytes", Self.masked(0x89, Array(repeating: 0, count: 126)), 1002),
      ("nothing to continue", Self.masked(0x80, [1]), 1002),
      ("a message inside another", Self.masked(0x01, []) + Self.masked(0x81, [0x61]), 1002),
      ("text that is no UTF-8", Self.masked(0x81, [0xC3]), 1007),
      ("too large", Self.masked(0x82, Array(repeating: 0, count: 100_001)), 1009),
      ("half a close code", Self.masked(0x88, [3]), 1002), ("close code 1006", Self.masked(0x88, [3, 0xEE]), 1002),
      ("close reason no UTF-8", Self.masked(0x88, [3, 0xE8, 0xFF]), 1007),
    ]
    for (what, bytes, code) in cases {
      #expect(throws: WebSocketViolation.self, "\(what)") { try Self.read(bytes) }
      do { _ = try Self.read(bytes) } catch { #expect((error as? WebSocketViolation)?.code == code, "\(what)") }
    }
  }

  @Test("what came before a violation is given, and nothing after it or after a close", arguments: [1, 3, .max])
  func order(step: Int) {
    func events(_ bytes: [UInt8]) -> [WebSocketReader.Event] {
      let reader = WebSocketReader(expectsMask: true, maximumMessage: 100)
      var events: [WebSocketReader.Event] = []
      var rest = bytes[...]
      while !rest.isEmpty {
        _ = try? Array(rest.prefix(step)).withUnsafeBytes { try reader.read($0) { events.append($0) } }
        rest = rest.dropFirst(step)
      }
      return events
    }
    let text = Self.masked(0x81, Array("a".utf8))
    #expect(events(text + Self.masked(0xC1, []) + text) == [.text("a")])
    #expect(
      events(text + Self.masked(0x88, [3, 0xE8]) + text) == [.text("a"), .close(code: 1000, reason: "")])
  }

  @Test("a text that cannot become UTF-8 is refused at its first wrong byte, before its frame or message is whole")
  func failsFast() throws {
    let reader = WebSocketReader(expectsMask: true, maximumMessage: 100)
    let start = Self.masked(0x01, Array("κόσμε".utf8)) + Self.masked(0x00, [0xF4])
    try start.withUnsafeBytes { try reader.read($0) { event in Issue.record("\(event)") } }
    let wrong = Self.masked(0x00, [0x90, 0x80, 0x80]).prefix(7)  // of its payload the first byte
    #expect(throws: WebSocketViolation(code: 1007, reason: "a text message is not UTF-8")) {
      try Array(wrong).withUnsafeBytes { try reader.read($0) { _ in } }
    }
  }

  @Test("a reader is at rest between messages only", arguments: 1..<8)
  func rest(step: Int) throws {
    let reader = WebSocketReader(expectsMask: true, maximumMessage: 100)
    let bytes = Self.masked(0x01, [0x61]) + Self.masked(0x89, []) + Self.masked(0x80, [0x62, 0x63])
    var rest = bytes[...]
    #expect(reader.isAtRest)
    while !rest.isEmpty {
      try Array(rest.prefix(step)).withUnsafeBytes { try reader.read($0) { _ in } }
      rest = rest.dropFirst(step)
      #expect(reader.isAtRest == rest.isEmpty)
    }
  }

  @Test("UTF-8 at every split is judged as the whole is", arguments: 0..<500 as Range<UInt64>)
  func utf8(seed: UInt64) {
    var dice = Dice(seed: seed)
    let texts = ["a", "é", "\u{7FF}", "\u{800}", "\u{D7FF}", "\u{E000}", "\u{FFFF}", "\u{10000}", "\u{10FFFF}"]
    var bytes = (0..<6).flatMap { _ in Array(texts.randomElement(using: &dice)!.utf8) }
    if !seed.isMultiple(of: 3) {
      bytes[Int.random(in: 0..<bytes.count, using: &dice)] = UInt8.random(in: 0x7F...0xFF, using: &dice)
    }
    var progress = UTF8Progress()
    var isRight = true
    for byte in bytes where isRight { isRight = progress.take([byte]) }
    #expect((isRight && progress.isWhole) == (String(validating: bytes, as: UTF8.self) != nil), "\(bytes)")
  }

  @Test("bytes of chance never trap", arguments: 0..<300 as Range<UInt64>)
  func noise(seed: UInt64) {
    var dice = Dice(seed: seed)
    let bytes = (0..<400).map { _ in UInt8.random(in: 0...255, using: &dice) }
    _ = try? Self.read(bytes, isServer: seed.isMultiple(of: 2), step: 1 + Int(seed % 50))
  }

  @Test("the accept word of RFC 6455 §1.3")
  func acceptWord() {
    #expect(WebSocketHandshake.accept(key: "dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
    #expect(WebSocketHandshake.isKey("dGhlIHNhbXBsZSBub25jZQ=="))
    #expect(!WebSocketHandshake.isKey("dGhlIHNhbXBsZQ=="))
  }
}

@Suite("WebSocket over sockets")
struct WebSocketTests {
  /// A server that treats each socket with `handler`, and a client of it.
  private static func withPair(
    limits: WebSocket.Limits = WebSocket.Limits(), _ handler: @escaping @Sendable (WebSocket) async -> Void,
    body: (WebSocket, Endpoint) async throws -> Void
  ) async throws {
    let loops = LoopGroup(count: 2)
    let server = try HTTPServer.start(Endpoint(host: "127.0.0.1", port: 0)) { request in
      .webSocket(request, on: loops.loops[0], limits: limits, handler: handler)
    }
    let client = try await WebSocket.connect("ws://\(server.endpoint)/courier?x=1", on: loops.loops[1])
    try await body(client, server.endpoint)
    await client.close()
    await server.stop()
    await loops.stop()
  }

  private static func echo(_ socket: WebSocket) async {
    for await message in socket.messages {
      switch message {
      case .text(let text): try? await socket.send(text)
      case .binary(let bytes): try? await socket.send(bytes)
      }
    }
  }

  @Test("messages of every size come back as they went, in order")
  func echoes() async throws {
    try await Self.withPair(Self.echo) { client, _ in
      var answers = client.messages.makeAsyncIterator()
      for size in [0, 5, 200, 70_000, 1_000_000] {
        let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0) }
        try await client.send(bytes)
        #expect(await answers.next() == .binary(bytes))
      }
      for number in 0..<200 { try await client.send("message \(number) 🔔") }
      for number in 0..<200 { #expect(await answers.next() == .text("message \(number) 🔔")) }
    }
  }

  @Test("the end is told to both sides with its code")
  func endings() async throws {
    let (seen, told) = AsyncStream.makeStream(of: WebSocket.Closing?.self)
    let watch: @Sendable (WebSocket) async -> Void = { socket in
      for await _ in socket.messages {}
      told.yield(await socket.closing)
      told.finish()
    }
    try await Self.withPair(watch) { client, _ in
      try await client.send("x")
      await client.close(code: 4001, reason: "enough")
      #expect(await client.closing == WebSocket.Closing(code: 4001, reason: "enough"))
      await #expect(throws: TransportFault.self) { try await client.send("y") }
    }
    for await closing in seen { #expect(closing == WebSocket.Closing(code: 4001, reason: "enough")) }
    let leave: @Sendable (WebSocket) async -> Void = { await $0.close(code: 1001, reason: "away") }
    try await Self.withPair(leave) { client, _ in
      for await _ in client.messages {}
      #expect(await client.closing?.code == 1001)
    }
  }

  @Test("a message over the limit closes with 1009")
  func tooLarge() async throws {
    var limits = WebSocket.Limits()
    limits.message = 1_000
    try await Self.withPair(limits: limits, Self.echo) { client, _ in
      try await client.send(Array(repeating: 1, count: 1_001))
      for await _ in client.messages {}
      #expect(await client.closing?.code == 1009)
    }
  }

  @Test("a peer that does not read stops the sender, and is cut in the end")
  func backPressure() async throws {
    var limits = WebSocket.Limits()
    limits.patience = .milliseconds(300)
    let sent = Atomic<Int>(0)
    let outcome = Locked<TransportFault?>(nil)
    let done = AsyncStream.makeStream(of: Void.self)
    let flood: @Sendable (WebSocket) async -> Void = { socket in
      do {
        while true {
          try await socket.send(Array(repeating: 7, count: 60_000))
          sent.add(1, ordering: .relaxed)
        }
      } catch {
        outcome.withLock { $0 = error as? TransportFault }
      }
      done.continuation.finish()
    }
    try await Self.withPair(limits: limits, flood) { client, _ in
      for await _ in done.stream {}  // `client.messages` is not touched meanwhile
      #expect(sent.load(ordering: .relaxed) * 60_000 < 64 << 20)
      #expect(outcome.withLock { $0?.kind } == .timedOut(.writing))
      await client.abort()
    }
  }

  @Test("requests that are no WebSocket get the words of RFC 6455 §4.2")
  func refusals() async throws {
    let loop = EventLoop()
    func answer(_ method: String = "GET", _ changes: HTTPHeaders.Field...) -> HTTPResponse {
      var headers: HTTPHeaders = [
        "Upgrade": "websocket", "Connection": "keep-alive, Upgrade", "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
      ]
      for change in changes { headers[change.name] = change.value.isEmpty ? nil : change.value }
      return .webSocket(HTTPRequest(method: method, path: "/", headers: headers), on: loop) { _ in }
    }
    #expect(answer().status == 101)
    #expect(answer().headers["Sec-WebSocket-Accept"] == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
    #expect(answer("POST").status == 405)
    #expect(answer("GET", .init(name: "Upgrade", value: "")).status == 426)
    #expect(answer("GET", .init(name: "Connection", value: "close")).status == 426)
    #expect(answer("GET", .init(name: "Sec-WebSocket-Version", value: "8")).headers["Sec-WebSocket-Version"] == "13")
    #expect(answer("GET", .init(name: "Sec-WebSocket-Key", value: "short")).status == 400)
    await loop.stop()
  }

  @Test(
    "a server that is none is told apart",
    arguments: ["ws://127.0.0.1:1/", "http://x/", "ws://", "ws://127.0.0.1:1/a b"])
  func noServer(url: String) async {
    let loop = EventLoop()
    await #expect(throws: TransportFault.self) { _ = try await WebSocket.connect(url, on: loop) }
    await loop.stop()
  }

  @Test("so many newcomers a second, a second's worth at once after a pause, whatever the moment they come")
  func newcomers() {
    var pace = NewcomerPace(perSecond: 50, now: 7)
    for _ in 0..<50 { #expect(pace.wait(at: 7) == nil) }
    #expect(pace.wait(at: 7) == .milliseconds(20))
    #expect(pace.wait(at: 26) == .milliseconds(1))
    #expect(pace.wait(at: 27) == nil)
    var entered = 0
    for now in 27...10_027 as ClosedRange<Int64> { while pace.wait(at: now) == nil { entered += 1 } }
    #expect(entered == 500)
    for _ in 0..<50 { #expect(pace.wait(at: 3_600_000) == nil) }
    #expect(pace.wait(at: 3_600_000) != nil, "no more than a second's worth, however long the pause")
  }
}
