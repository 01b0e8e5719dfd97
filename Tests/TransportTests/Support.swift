import Basics
import Testing

@testable import Transport

/// Certificates made for one test run; nothing of it lies in the tree.
struct TestCertificates {
  let authority: CertificateAuthority
  let server: TLSIdentity

  static let shared = Result { try TestCertificates() }

  init() throws {
    let now = SystemClock().now
    authority = try .create(commonName: "Belfry test authority", notBefore: now - .hours(1), notAfter: now + .days(30))
    server = try authority.issueServer(
      names: ["localhost", "127.0.0.1"], notBefore: now - .hours(1), notAfter: now + .days(7))
  }

  func serverContext(
    _ identity: TLSIdentity? = nil, clients: TLSServerContext.ClientCertificates? = nil
  ) throws -> TLSServerContext {
    try TLSServerContext(
      identity: identity ?? server, clientCertificates: clients ?? .optional(authorities: authority.pem))
  }

  func clientContext(identity: TLSIdentity? = nil, offersH2: Bool = true) throws -> TLSClientContext {
    try TLSClientContext(trust: .pem(authority.pem), identity: identity, offersH2: offersH2)
  }
}

/// Loops that end with the test.
func withLoops<Result>(_ count: Int = 1, _ body: (LoopGroup) async throws -> Result) async throws -> Result {
  let loops = LoopGroup(count: count)
  do {
    let result = try await body(loops)
    await loops.stop()
    return result
  } catch {
    await loops.stop()
    throw error
  }
}

/// What a client was told, in order.
enum Told: Sendable, Equatable {
  case connected
  case settings(UInt32)
  case response(stream: Int32, status: Int, body: String)
  case failed(stream: Int32, HTTP2ErrorCode)
  case goAway(last: Int32, HTTP2ErrorCode, String)
  case pong
  case closed(TransportFault.Kind)
}

/// A client whose story can be awaited, event by event.
final class TestClient: HTTP2ClientHandler, @unchecked Sendable {  // `connection` by `loop`; the rest is a stream
  let loop: EventLoop
  private(set) var connection: HTTP2ClientConnection!
  let events: AsyncStream<Told>
  private let tell: AsyncStream<Told>.Continuation
  /// On the loop, at once.
  var onTold: ((Told) -> Void)?
  private(set) var lastResponse: HTTP2Response?
  private(set) var fault: TransportFault?

  private init(_ loop: EventLoop) {
    self.loop = loop
    (events, tell) = AsyncStream.makeStream()
  }

  static func connect(
    to endpoint: Endpoint, tls: TLSClientContext?, on loop: EventLoop, settings: HTTP2Settings = .client,
    limits: HTTP2Limits = HTTP2Limits(), prepare: @escaping @Sendable (TestClient) -> Void = { _ in }
  ) -> TestClient {
    let client = TestClient(loop)
    loop.execute {
      prepare(client)
      client.connection = .connect(
        to: endpoint, tls: tls, on: loop, settings: settings, limits: limits, handler: client)
    }
    return client
  }

  private func told(_ event: Told) {
    onTold?(event)
    tell.yield(event)
  }

  func connected() { told(.connected) }
  func settingsChanged(maxConcurrentStreams: UInt32) { told(.settings(maxConcurrentStreams)) }
  func response(stream: Int32, _ response: HTTP2Response) {
    lastResponse = response
    told(.response(stream: stream, status: response.status, body: String(decoding: response.body, as: UTF8.self)))
  }
  func streamFailed(stream: Int32, code: HTTP2ErrorCode) { told(.failed(stream: stream, code)) }
  func goAway(lastStream: Int32, code: HTTP2ErrorCode, debugData: [UInt8]) {
    told(.goAway(last: lastStream, code, String(decoding: debugData, as: UTF8.self)))
  }
  func pong() { told(.pong) }
  func closed(_ fault: TransportFault) {
    self.fault = fault
    told(.closed(fault.kind))
    tell.finish()
    onTold = nil
  }

  /// The next events until one satisfies `isLast`.
  func until(_ isLast: (Told) -> Bool) async -> [Told] {
    var seen: [Told] = []
    for await event in events {
      seen.append(event)
      if isLast(event) { break }
    }
    return seen
  }

  func untilClosed() async -> [Told] { await until { if case .closed = $0 { true } else { false } } }
  func untilSettings() async { _ = await until { if case .settings = $0 { true } else { false } } }

  /// On the loop.
  func onLoop<Value: Sendable>(_ body: @escaping @Sendable (TestClient) -> Value) async -> Value {
    await withCheckedContinuation { continuation in
      loop.execute { continuation.resume(returning: body(self)) }
    }
  }

  func send(_ path: String = "/", _ body: String = "", fields: [HTTP2Field] = []) async -> Result<
    Int32, HTTP2SubmitFault
  > {
    await onLoop { $0.submit(path, body, fields: fields) }
  }

  /// On the loop.
  func submit(_ path: String = "/", _ body: String = "", fields: [HTTP2Field] = []) -> Result<Int32, HTTP2SubmitFault> {
    Result { () throws(HTTP2SubmitFault) in
      try connection.submit(common: Self.common, path: Array(path.utf8), own: fields, body: Array(body.utf8))
    }
  }

  static let common = HTTP2FieldBlock([
    HTTP2Field(":method", "POST"), HTTP2Field(":scheme", "https"), HTTP2Field(":authority", "localhost"),
    HTTP2Field("Content-Type", "application/json"),
  ])
}

/// A server whose behaviour is a closure, on the connection's loop.
final class TestServer: HTTP2ServerHandler {
  typealias Answer = @Sendable (HTTP2ServerConnection, Int32, HTTP2Request) -> Void
  let connection: HTTP2ServerConnection
  let answer: Answer
  let onClosed: @Sendable (TransportFault) -> Void

  init(
    _ connection: HTTP2ServerConnection, onClosed: @escaping @Sendable (TransportFault) -> Void,
    _ answer: @escaping Answer
  ) {
    self.connection = connection
    self.answer = answer
    self.onClosed = onClosed
  }

  func request(_ request: HTTP2Request, stream: Int32) { answer(connection, stream, request) }
  func streamClosed(_ stream: Int32, code: HTTP2ErrorCode) {}
  func closed(_ fault: TransportFault) { onClosed(fault) }

  static func bind(
    on loops: LoopGroup, tls: TLSServerContext?, settings: HTTP2Settings = .server, limits: HTTP2Limits = HTTP2Limits(),
    opened: @escaping @Sendable (HTTP2ServerConnection) -> Void = { _ in },
    closed: @escaping @Sendable (TransportFault) -> Void = { _ in }, answer: @escaping Answer = TestServer.echo
  ) async throws -> HTTP2Listener {
    try await HTTP2Listener.bind(
      Endpoint(host: "127.0.0.1", port: 0), loops: loops, tls: tls, settings: settings, limits: limits
    ) { connection in
      opened(connection)
      return TestServer(connection, onClosed: closed, answer)
    }
  }

  /// 200 with the request's body.
  @Sendable static func echo(_ connection: HTTP2ServerConnection, _ stream: Int32, _ request: HTTP2Request) {
    connection.respond(stream: stream, status: 200, fields: [], body: request.body)
  }
}

/// Values of other threads, awaited.
final class Mailbox<Value: Sendable>: Sendable {
  let values: AsyncStream<Value>
  private let continuation: AsyncStream<Value>.Continuation
  init() { (values, continuation) = AsyncStream.makeStream() }
  func post(_ value: Value) { continuation.yield(value) }
  func next() async -> Value? {
    for await value in values { return value }
    return nil
  }
}
