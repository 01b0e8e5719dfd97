/// What a server connection tells its owner. All calls come on the connection's loop, one after another; from within
/// them the connection may be used freely. After `closed` comes nothing more.
public protocol HTTP2ServerHandler: AnyObject {
  /// A whole request. Answer it now or later, once, with `respond` or `reset`.
  func request(_ request: HTTP2Request, stream: Int32)
  /// A stream that was given to `request` is over: answered and sent (`noError`), or reset by either side.
  func streamClosed(_ stream: Int32, code: HTTP2ErrorCode)
  /// The peer acknowledged the SETTINGS of the oldest `announce` (or the first SETTINGS).
  func settingsAcknowledged()
  /// The end, for any reason; `kind` is `.closedByPeer` or `.stopped` for an orderly one.
  func closed(_ fault: TransportFault)
}

extension HTTP2ServerHandler {
  public func settingsAcknowledged() {}
}

/// One HTTP/2 connection from a client. Everything must be called on `loop` (it traps otherwise): an actor pinned to
/// the loop is the intended owner.
public final class HTTP2ServerConnection: @unchecked Sendable {  // guarded by `loop`, whose thread is checked in each call
  public let loop: EventLoop

  init(loop: EventLoop) { self.loop = loop }

  /// The client's address.
  public var peer: Endpoint { fatalError("coming") }
  /// The client's certificate if it gave one; it was not judged, only checked.
  public var peerCertificate: PeerCertificate? { fatalError("coming") }
  /// Whether the client chose `h2` by ALPN; false for one that starts with HTTP/2 without asking.
  public var negotiatedH2: Bool { fatalError("coming") }
  /// Requests without a finished answer.
  public var openStreams: Int { fatalError("coming") }

  /// Answers a request. Without body: HEADERS with END_STREAM. With one: HEADERS and, as far as the client's window and
  /// frame size admit, exactly one DATA frame with END_STREAM; a body larger than either goes in as few frames as
  /// possible. Does nothing for a stream that is over or already answered.
  public func respond(stream: Int32, status: Int, fields: [HTTP2Field], body: [UInt8]) { fatalError("coming") }
  public func reset(stream: Int32, code: HTTP2ErrorCode) { fatalError("coming") }
  /// Sends GOAWAY. `lastStream` nil means the newest stream received. Streams above it are dropped without an answer;
  /// later ones are ignored. The connection stays open for the others: `close` ends it.
  public func goAway(lastStream: Int32? = nil, code: HTTP2ErrorCode, debugData: [UInt8]) { fatalError("coming") }
  /// Announces another stream limit. It holds from the client's acknowledgement on: streams opened before are served,
  /// later ones above the limit are reset with REFUSED_STREAM. Never ends the connection.
  public func announce(maxConcurrentStreams: UInt32) { fatalError("coming") }
  /// Graceful: GOAWAY, then closes once the open streams have ended and all is sent. Else at once after what is queued.
  public func close(graceful: Bool) { fatalError("coming") }
  /// Cuts the TCP connection without a word, as a broken network would.
  public func abort() { fatalError("coming") }
}
