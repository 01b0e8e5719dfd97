import Audience
import Basics
import BelfryTesting
import Foundation
import Gateway
import Messages
import PushPayload
import Store
import StoreSQLite
import Testing
import Transport

/// A gateway on a store of its own, and apps that connect to it.
final class GatewayBench: Sendable {
  let folder = FileManager.default.temporaryDirectory.path + "/belfry-gateway-\(UUID().uuidString)"
  let store: StoreSQLite
  let loops: LoopGroup
  let service: MessageService
  let gateway: Gateway
  let app: Int64
  let tls: TLSClientContext?

  /// Devices 0 ..< count, whose secret is `s`.
  init(
    devices: Int = 3, settings: Gateway.Settings = Gateway.Settings(), mostWaiting: Int? = nil, isSecure: Bool = false,
    clock: any WallClock = SystemClock(), whenKnown: @escaping @Sendable (StoreSQLite) async throws -> Void = { _ in }
  ) async throws {
    store = try await StoreSQLite.open(folder: folder)
    let app = try await store.sampleApp(devices: devices)
    self.app = app
    loops = LoopGroup(count: 2)
    var messages = MessageService.Settings()
    messages.mostWaiting = mostWaiting
    service = MessageService(store: store, clock: clock, settings: messages) { [store] key, id, secret in
      guard key == "key", secret == "s" else { return nil }
      let device = try await store.device(app: app, registrationID: id)
      try await whenKnown(store)
      return device.map { SessionDevice(app: app, ordinal: $0.ordinal) }
    }
    var identity: TLSServerContext?
    if isSecure {
      let now = SystemClock().now
      let authority = try CertificateAuthority.create(
        commonName: "Belfry test authority", notBefore: now - .hours(1), notAfter: now + .days(1))
      let server = try authority.issueServer(
        names: ["127.0.0.1"], notBefore: now - .hours(1), notAfter: now + .days(1))
      identity = try TLSServerContext(identity: server, protocols: ["http/1.1"])
      tls = try TLSClientContext(trust: .pem(authority.pem), offersH2: false)
    } else {
      tls = nil
    }
    gateway = try await Gateway.start(
      service, on: Endpoint(host: "127.0.0.1", port: 0), tls: identity, loops: loops, settings: settings, clock: clock)
  }

  func stop() async {
    await gateway.stop()
    await loops.stop()
    await store.close()
    try? FileManager.default.removeItem(atPath: folder)
  }

  var address: String { gateway.endpoint?.description ?? "" }
  var url: String { "\(tls == nil ? "ws" : "wss")://\(address)\(Gateway.path)" }

  func send(
    _ id: Int64, to audience: AudienceExpression = .everyone, body: String? = nil, expires: Instant? = nil,
    aliases: Set<String> = []
  ) async throws {
    let reach = try await store.reach(app: app, audience, .production)
    let draft = MessageDraft(
      body: Array((body ?? #"{"content":"\#(id)"}"#).utf8), expiresAt: expires, audience: reach.meant,
      aliases: aliases)
    _ = try await store.accept(
      StoreSamples.push(id, of: app), audience: [], companion: nil, message: draft,
      clientIDsSince: StoreSamples.noon)
  }

  /// Connects and says hello.
  func connect(
    _ number: Int = 0, cursor: (seq: Int64, id: Int64)? = nil, secret: String = "s", state: String = "foreground"
  ) async throws -> TestApp {
    let app = TestApp(try await WebSocket.connect(url, tls: tls, on: loops.loops[number % 2]))
    let cursor = cursor.map { "{\"seq\":\($0.seq),\"id\":\"\($0.id)\"}" } ?? "null"
    try await app.socket.send(
      """
      {"type":"hello","version":1,"app":"key","device":"r\(self.app)x\(number)","secret":"\(secret)","cursor":\(cursor),\
      "state":"\(state)","unknown":[1]}
      """)
    return app
  }
}

/// The app's end of a connection.
final class TestApp {
  let socket: WebSocket
  private var messages: AsyncStream<WebSocket.Message>.AsyncIterator

  init(_ socket: WebSocket) {
    self.socket = socket
    messages = socket.messages.makeAsyncIterator()
  }

  /// The next frame; nil at the end.
  func next() async throws -> JSONObject? {
    guard case .text(let text)? = await messages.next() else { return nil }
    return try JSONReader.read(Array(text.utf8)).value.object
  }

  /// The next frame, which must be of the type.
  func expect(_ type: String, _ location: SourceLocation = #_sourceLocation) async throws -> JSONObject {
    let frame = try #require(try await next(), "the connection ended", sourceLocation: location)
    #expect(frame["type"]?.string == type, "\(frame)", sourceLocation: location)
    return frame
  }

  func message(_ location: SourceLocation = #_sourceLocation) async throws -> (seq: Int64, id: Int64) {
    let frame = try await expect("message", location)
    return (frame["seq"]?.number?.int64 ?? -1, Int64(frame["id"]?.string ?? "") ?? -1)
  }

  func acknowledge(_ seq: Int64) async throws { try await socket.send("{\"type\":\"ack\",\"seq\":\(seq)}") }

  /// Reads to the end and answers the close code.
  func end() async throws -> UInt16? {
    while try await next() != nil {}
    return await socket.closing?.code
  }
}
