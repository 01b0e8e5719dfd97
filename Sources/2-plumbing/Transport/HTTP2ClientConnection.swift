/// What a client connection tells its owner. All calls come on the connection's loop, one after another, in the order of
/// the wire; from within them the connection may be used freely. After `closed` comes nothing more.
public protocol HTTP2ClientHandler: AnyObject {
  /// TCP and TLS are up and our preface is on its way. Do not submit yet: `settingsChanged` says how much is allowed.
  func connected()
  /// The peer's SETTINGS; at least once before anything else of the peer. 0 means "none for now"; may come at any time.
  func settingsChanged(maxConcurrentStreams: UInt32)
  /// A whole answer; the stream is over.
  func response(stream: Int32, _ response: HTTP2Response)
  /// The stream ended without an answer: the peer's RST_STREAM, ours, or an answer over a limit. `refusedStream` means
  /// that the peer did not process it; streams above a GOAWAY's last stream end so too.
  func streamFailed(stream: Int32, code: HTTP2ErrorCode)
  /// Streams above `lastStream` were not processed (each is told by `streamFailed` with `refusedStream` after this call);
  /// those below may still be answered. May come more than once with a falling number. The connection takes no
  /// new streams and closes itself once the last one has ended.
  func goAway(lastStream: Int32, code: HTTP2ErrorCode, debugData: [UInt8])
  /// The answer to `ping()`.
  func pong()
  /// The end. Streams not told before had no answer; the peer may have processed them.
  func closed(_ fault: TransportFault)
}

/// Why a request was not put on a connection; nothing of it was sent.
public enum HTTP2SubmitFault: Error, Hashable, Sendable {
  /// As many are open as the peer allows: wait for an answer or for SETTINGS.
  case noFreeStream
  /// Not yet connected, or going away.
  case notOpen
  /// A value holds bytes that no header may hold (RFC 9110 §5.5); the field's name.
  case invalidField(String)
}

/// One HTTP/2 connection to a server. Everything must be called on `loop` (it traps otherwise): an actor pinned to the
/// loop is the intended owner. Output of one turn of the loop leaves together.
///
/// Memory: one copy of each open stream's own fields and body, 64 KiB of output, and the answers in progress.
public final class HTTP2ClientConnection: @unchecked Sendable {  // guarded by `loop`, whose thread is checked in each call
  public let loop: EventLoop

  init(loop: EventLoop) { self.loop = loop }

  /// Starts connecting; on the loop. `tls` nil speaks HTTP/2 in the clear with prior knowledge. The outcome is told to
  /// `handler`, which the connection keeps until `closed`.
  public static func connect(
    to endpoint: Endpoint, tls: TLSClientContext?, on loop: EventLoop, settings: HTTP2Settings = .client,
    limits: HTTP2Limits = HTTP2Limits(), handler: any HTTP2ClientHandler
  ) -> HTTP2ClientConnection {
    fatalError("coming")
  }

  /// How many requests may be submitted now.
  public var freeStreams: Int { fatalError("coming") }
  /// Requests without an answer yet.
  public var openStreams: Int { fatalError("coming") }
  /// False before the peer's first SETTINGS, after GOAWAY, and after the end.
  public var isOpen: Bool { fatalError("coming") }

  /// Queues one request; it leaves at the end of this turn of the loop. `common` holds the fields that do not change
  /// (`:method`, `:scheme`, `:authority` among them); `path` and the fields of `own` marked so are never indexed.
  /// Bytes are copied once.
  public func submit(
    common: HTTP2FieldBlock, path: [UInt8], own: [HTTP2Field], body: [UInt8]
  ) throws(HTTP2SubmitFault) -> Int32 {
    fatalError("coming")
  }

  /// Ends a stream; told by `streamFailed` with that code.
  public func reset(stream: Int32, code: HTTP2ErrorCode = .cancel) { fatalError("coming") }
  /// Asks for a sign of life. The answer is `pong()`; without one within `pingTimeout` the connection is closed.
  public func ping() { fatalError("coming") }
  /// Graceful: takes no new streams, says GOAWAY and closes once the open ones have ended. Else at once.
  public func close(graceful: Bool) { fatalError("coming") }
}

/// Fields prepared once for many messages: never copied again, pseudo fields first. Names are made lower case.
public final class HTTP2FieldBlock: Sendable {
  let fields: [HTTP2Field]
  public init(_ fields: [HTTP2Field]) { self.fields = fields }
}
