import Basics
import Delivery
import Synchronization
import Transport

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A peer that speaks real HTTP/2 over real TLS and does what a test says, also what APNs would never do.
final class ScriptedPeer: Sendable {
  struct Request: Sendable {
    /// Connections count from 0 in the order in which they came.
    var connection: Int
    var stream: Int32
    /// Counts the requests of this connection from 1.
    var ordinal: Int
    /// Counts the requests of all connections from 1.
    var total: Int
    var id: String
    var token: String
    var topic: String
    var authorization: String?
    var fields: HTTP2FieldList
    var body: [UInt8]
    var hasCertificate: Bool
  }

  enum Action: Sendable {
    case accept
    case refuse(Int, String, timestamp: Int64? = nil, date: String? = nil)
    case answer(status: Int, body: String)
    /// With fields of its own.
    case reply(Int, [(String, String)], body: String = "")
    /// Accept this stream, of this connection.
    case acceptStream(Int32)
    case reset(HTTP2ErrorCode)
    case goAway(last: Int32, debug: String)
    case announce(UInt32)
    case close
    case abort
    case after(Instant.Span, [Action])
    /// As soon as the test lets it.
    case when(Locked<Bool>, [Action])
  }

  struct Log: Sendable {
    var requests: [Request] = []
    /// How often each apns-id was accepted.
    var accepted: [String: Int] = [:]
    var connections = 0
    var openConnections = 0
    /// The most streams that were open at once on one connection.
    var mostStreams = 0
  }

  typealias Script = @Sendable (Request) -> [Action]

  let log: Locked<Log>
  let authority: CertificateAuthority
  private let listener: HTTP2Listener
  private let loops: LoopGroup

  var endpoint: Endpoint { listener.endpoint }

  private let cuts: Locked<[@Sendable () -> Void]>

  private init(
    _ listener: HTTP2Listener, _ loops: LoopGroup, _ authority: CertificateAuthority, _ log: Locked<Log>,
    _ cuts: Locked<[@Sendable () -> Void]>
  ) {
    self.cuts = cuts
    self.listener = listener
    self.loops = loops
    self.authority = authority
    self.log = log
  }

  static func start(
    streams: UInt32? = 1000, clientCertificates: Bool = false, keepsBodies: Bool = true, script: @escaping Script
  ) async throws -> ScriptedPeer {
    let certificates = try PeerCertificates()
    let authority = certificates.authority
    let tls = try TLSServerContext(
      identity: certificates.server,
      clientCertificates: clientCertificates ? .optional(authorities: authority.pem) : .none)
    let loops = LoopGroup(count: 1)
    let log = Locked(Log())
    let cuts = Locked([@Sendable () -> Void]())
    var settings = HTTP2Settings.server
    settings.maximumConcurrentStreams = streams
    let listener = try await HTTP2Listener.bind(
      Endpoint(host: "127.0.0.1", port: 0), loops: loops, tls: tls, settings: settings
    ) { connection in
      let number = log.withLock { log in
        log.connections += 1
        log.openConnections += 1
        return log.connections - 1
      }
      cuts.withLock { $0.append { connection.loop.execute { connection.abort() } } }
      return Handler(connection, number, log, keepsBodies, script)
    }
    return ScriptedPeer(listener, loops, authority, log, cuts)
  }

  /// Cuts every connection there is.
  func cutAll() {
    cuts.withLock { cuts in
      for cut in cuts { cut() }
      cuts = []
    }
  }

  /// Does nothing for so long.
  func hold(microseconds: UInt32) { loops.next().execute { usleep(microseconds) } }

  func stop() async {
    await listener.stop(grace: .milliseconds(50))
    await loops.stop()
  }

  private final class Handler: HTTP2ServerHandler {
    private let connection: HTTP2ServerConnection
    private let number: Int
    private let log: Locked<Log>
    private let keepsBodies: Bool
    private let script: Script
    private var count = 0
    private var ids: [Int32: String] = [:]

    init(
      _ connection: HTTP2ServerConnection, _ number: Int, _ log: Locked<Log>, _ keepsBodies: Bool,
      _ script: @escaping Script
    ) {
      self.connection = connection
      self.number = number
      self.log = log
      self.keepsBodies = keepsBodies
      self.script = script
    }

    func request(_ request: HTTP2Request, stream: Int32) {
      count += 1
      let id = request.fields.text("apns-id") ?? ""
      ids[stream] = id
      let (count, open) = (count, connection.openStreams)
      let known = log.withLock { log in
        let known = Request(
          connection: number, stream: stream, ordinal: count, total: log.requests.count + 1, id: id,
          token: String(String(decoding: request.path, as: UTF8.self).dropFirst("/3/device/".count)),
          topic: request.fields.text("apns-topic") ?? "", authorization: request.fields.text("authorization"),
          fields: request.fields, body: keepsBodies ? request.body : [],
          hasCertificate: connection.peerCertificate != nil)
        log.requests.append(known)
        log.mostStreams = max(log.mostStreams, open)
        return known
      }
      perform(script(known), stream)
    }

    private func perform(_ actions: [Action], _ stream: Int32) {
      for action in actions {
        switch action {
        case .accept: accept(stream)
        case .acceptStream(let stream): accept(stream)
        case .refuse(let status, let reason, let timestamp, let date):
          let time = timestamp.map { ",\"timestamp\":\($0)" } ?? ""
          var fields = [HTTP2Field("apns-id", ids[stream] ?? "")]
          if let date { fields.append(HTTP2Field("date", date)) }
          connection.respond(
            stream: stream, status: status, fields: fields, body: Array("{\"reason\":\"\(reason)\"\(time)}".utf8))
        case .answer(let status, let body):
          connection.respond(stream: stream, status: status, fields: [], body: Array(body.utf8))
        case .reply(let status, let fields, let body):
          connection.respond(
            stream: stream, status: status, fields: fields.map { HTTP2Field($0.0, $0.1) }, body: Array(body.utf8))
        case .reset(let code): connection.reset(stream: stream, code: code)
        case .goAway(let last, let debug):
          connection.goAway(lastStream: last, code: .noError, debugData: Array(debug.utf8))
        case .announce(let maximum): connection.announce(maxConcurrentStreams: maximum)
        case .close: connection.close(graceful: true)
        case .abort: connection.abort()
        case .after(let span, let actions):
          nonisolated(unsafe) let handler = self  // the timer fires on this connection's loop
          connection.loop.schedule(after: span) { handler.perform(actions, stream) }
        case .when(let permission, let actions):
          perform(permission.withLock { $0 } ? actions : [.after(.milliseconds(5), [action])], stream)
        }
      }
    }

    private func accept(_ stream: Int32) {
      let id = ids[stream] ?? ""
      log.withLock { $0.accepted[id, default: 0] += 1 }
      connection.respond(stream: stream, status: 200, fields: [HTTP2Field("apns-id", id)], body: [])
    }

    func streamClosed(_ stream: Int32, code: HTTP2ErrorCode) { ids[stream] = nil }

    func closed(_ fault: TransportFault) { log.withLock { $0.openConnections -= 1 } }
  }
}
