/// What a client connection tells its owner. All calls come on the connection's loop, one after another, in the order of
/// the wire; from within them the connection may be used freely. After `closed` comes nothing more.
public protocol HTTP2ClientHandler: AnyObject {
  /// TCP and TLS are up and our preface is on its way. Do not submit yet: `settingsChanged` says how much is allowed.
  func connected()
  /// The peer's SETTINGS; at least once before anything else of the peer. 0 means "none for now"; may come at any time.
  func settingsChanged(maxConcurrentStreams: UInt32)
  /// A whole answer; the stream is over.
  func response(stream: Int32, _ response: HTTP2Response)
  /// The same for an answer without a body and without a field that was asked for. Default: calls the other.
  func bareResponse(stream: Int32, status: Int)
  /// The stream ended without an answer: the peer's RST_STREAM, or ours. `refusedStream` means
  /// that the peer did not process it; streams above a GOAWAY's last stream end so too.
  func streamFailed(stream: Int32, code: HTTP2ErrorCode)
  /// The peer answered with more than we take (`HTTP2Limits`); the stream is over and the answer is not known. `why` is for
  /// a person. Default: calls `streamFailed` with `cancel`.
  func answerTooLarge(stream: Int32, why: String)
  /// Streams above `lastStream` were not processed (each is told by `streamFailed` with `refusedStream` after this call);
  /// those below may still be answered. May come more than once with a falling number. The connection takes no
  /// new streams and closes itself once the last one has ended.
  func goAway(lastStream: Int32, code: HTTP2ErrorCode, debugData: [UInt8])
  /// The answer to `ping()`.
  func pong()
  /// What was read from the server at once has been told; what is submitted now leaves at once. Default: nothing.
  func inputHandled()
  /// The end. Streams not told before had no answer; the peer may have processed them.
  func closed(_ fault: TransportFault)
}

extension HTTP2ClientHandler {
  public func inputHandled() {}

  public func bareResponse(stream: Int32, status: Int) {
    response(stream: stream, HTTP2Response(status: status, fields: HTTP2FieldList(), body: []))
  }

  public func answerTooLarge(stream: Int32, why: String) { streamFailed(stream: stream, code: .cancel) }
}

/// A request's own part, in memory that stays where it is as long as `owner` lives. Values must be such as a header may
/// hold (RFC 9110 §5.5): they are not looked at again.
public struct HTTP2OutgoingRequest: ~Copyable {
  @usableFromInline let path: UnsafeRawBufferPointer
  @usableFromInline let ownName: StaticString
  @usableFromInline let ownValue: UnsafeRawBufferPointer
  @usableFromInline let body: UnsafeRawBufferPointer
  @usableFromInline let owner: AnyObject

  /// `field` is never indexed; its name is in lower case.
  @inlinable
  public init(
    path: UnsafeRawBufferPointer, field: StaticString, value: UnsafeRawBufferPointer, body: UnsafeRawBufferPointer,
    owner: AnyObject
  ) {
    self.path = path
    ownName = field
    ownValue = value
    self.body = body
    self.owner = owner
  }
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
public final class HTTP2ClientConnection: @unchecked Sendable {  // guarded by `loop`, checked in each call
  public let loop: EventLoop
  private let usesTLS: Bool
  private let wantsH2: Bool
  private var session: HTTP2Session?
  private let dialer: Dialer?
  private var handler: (any HTTP2ClientHandler)?
  private var wasClosed = false

  private init(loop: EventLoop, tls: TLSClientContext?, dialer: Dialer?, handler: any HTTP2ClientHandler) {
    self.loop = loop
    self.dialer = dialer
    usesTLS = tls != nil
    wantsH2 = tls?.offersH2 == true
    self.handler = handler
  }

  /// Starts connecting; on the loop: by the addresses of the name, staggered, the first whose TCP and TLS are up (RFC 8305);
  /// `dialer` says by which proxy and resolver, and remembers silent addresses. `tls` nil speaks HTTP/2 in the clear with
  /// prior knowledge. The outcome is told to `handler` on a later turn; the connection keeps it until `closed`. `fields`
  /// names those of a 2xx answer that are wanted: its others cost nothing. Of any other answer all are given.
  public static func connect(
    to endpoint: Endpoint, tls: TLSClientContext?, on loop: EventLoop, settings: HTTP2Settings = .client,
    limits: HTTP2Limits = HTTP2Limits(), through dialer: Dialer? = nil,
    fields: HTTP2FieldNames? = nil, handler: any HTTP2ClientHandler
  ) -> HTTP2ClientConnection {
    loop.preconditionCurrent()
    let connection = HTTP2ClientConnection(loop: loop, tls: tls, dialer: dialer, handler: handler)
    let session = HTTP2Session(side: .client, loop: loop, settings: settings, limits: limits, owner: connection)
    connection.session = session
    session.wantedFields = fields
    session.attach(
      .connect(
        to: endpoint, tls: tls, on: loop, limits: session.streamLimits, through: dialer, handler: session))
    return connection
  }

  /// How many requests may be submitted now.
  public var freeStreams: Int {
    loop.preconditionCurrent()
    guard isOpen, let session else { return 0 }
    return max(0, Int(session.remoteStreamLimit) - openStreams)
  }

  /// Requests without an answer yet.
  public var openStreams: Int {
    loop.preconditionCurrent()
    return session.map { $0.open.count - $0.deliveredCount } ?? 0
  }

  /// False before the peer's first SETTINGS, after GOAWAY, and after the end.
  public var isOpen: Bool {
    loop.preconditionCurrent()
    guard let session, !wasClosed else { return false }
    return session.settingsSeen && !session.isDraining && !session.isEnded
  }

  /// The peer's window for the whole connection (RFC 9113 §5.2) was used up by the last output: bodies wait for it.
  public var isWindowUsedUp: Bool {
    loop.preconditionCurrent()
    return session?.isWindowUsedUp ?? false
  }

  /// Queues one request; it leaves at the end of this turn of the loop. `common` holds the fields that do not change
  /// (`:method`, `:scheme`, `:authority` among them); `path` and the fields of `own` marked so are never indexed.
  /// Names in `own` must be lower case. Bytes are copied once.
  public func submit(
    common: HTTP2FieldBlock, path: [UInt8], own: [HTTP2Field], body: [UInt8]
  ) throws(HTTP2SubmitFault) -> Int32 {
    let session = try sessionToSubmit(common)
    for field in own where !field.isValid { throw .invalidField(String(decoding: field.name, as: UTF8.self)) }
    guard !path.isEmpty, path.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else { throw .invalidField(":path") }
    guard let id = session.request(common: common, path: path, own: own, body: body) else { throw .notOpen }
    return id
  }

  /// The same for a request that lies ready in memory: copies nothing, allocates nothing of ours.
  public func submit(
    common: HTTP2FieldBlock, _ request: borrowing HTTP2OutgoingRequest
  ) throws(HTTP2SubmitFault) -> Int32 {
    guard let id = try sessionToSubmit(common).request(common: common, request) else { throw .notOpen }
    return id
  }

  /// The session, if it takes one more request now.
  private func sessionToSubmit(_ common: HTTP2FieldBlock) throws(HTTP2SubmitFault) -> HTTP2Session {
    loop.preconditionCurrent()
    guard let session, !wasClosed, session.settingsSeen, !session.isDraining, !session.isEnded else { throw .notOpen }
    guard session.open.count - session.deliveredCount < Int(session.remoteStreamLimit) else { throw .noFreeStream }
    if let invalid = common.invalid { throw .invalidField(invalid) }
    return session
  }

  /// Ends a stream; told by `streamFailed` with that code.
  public func reset(stream: Int32, code: HTTP2ErrorCode = .cancel) {
    loop.preconditionCurrent()
    session?.reset(stream, code: code.rawValue)
  }

  /// The address that it goes to, in digits: of the server, or of the proxy; nil until connected.
  public var remoteAddress: Endpoint? {
    loop.preconditionCurrent()
    return session?.stream?.remote
  }

  /// Name, address and proxy, for messages.
  public var place: String {
    loop.preconditionCurrent()
    return session?.place ?? "connection"
  }

  /// Cuts the connection because the peer is silent; the dialer remembers the addresses that were.
  public func abandon(why: String) {
    loop.preconditionCurrent()
    if let dial = session?.stream?.opening?.dial {
      dial.note(silence: why)
    } else if let dialer, dialer.proxy == nil, let remoteAddress {
      dialer.note(dark: remoteAddress, why: why)
    }
    abort()
  }

  /// Asks for a sign of life. The answer is `pong()`; without one within `pingTimeout` the connection is closed.
  public func ping() {
    loop.preconditionCurrent()
    session?.ping(mark: 1)
  }

  /// Graceful: takes no new streams and closes once the open ones have ended. Else at once; open streams get no answer.
  public func close(graceful: Bool) {
    loop.preconditionCurrent()
    guard let session, let stream = session.stream else { return }
    let reason = StreamConnection.stopped(stream.place)
    if graceful { session.drain(reason) } else { session.end(reason) }
    wasClosed = true
  }

  /// Cuts the TCP connection without a word, as a broken network would; the server sees a reset.
  public func abort() {
    loop.preconditionCurrent()
    guard let stream = session?.stream else { return }
    wasClosed = true
    stream.reset(StreamConnection.stopped(stream.place))
  }
}

extension HTTP2ClientConnection: HTTP2SessionOwner {
  func sessionOpened() {
    guard let session, let stream = session.stream else { return }
    if usesTLS, wantsH2, stream.negotiatedProtocol != "h2" {
      session.abort(
        TransportFault(
          .applicationProtocolRefused, at: stream.place,
          what: "the server does not speak HTTP/2 (it chose no ALPN protocol)",
          remedy: "Check host and port: APNs listens on 443 and 2197."))
      return
    }
    handler?.connected()
  }

  func settingsArrived() {
    guard let session else { return }
    handler?.settingsChanged(maxConcurrentStreams: session.remoteStreamLimit)
  }

  func settingsAcknowledged() {}

  func messageArrived(_ slot: HTTP2SlotPlace) {
    if let excess = slot.pointee.excess {
      let id = slot.pointee.id
      session?.reset(id, code: HTTP2ErrorCode.cancel.rawValue)
      return tooLarge(id, excess)
    }
    if slot.pointee.fields.count == 0, slot.pointee.body.isEmpty {
      handler?.bareResponse(stream: slot.pointee.id, status: slot.pointee.status)
    } else {
      handler?.response(
        stream: slot.pointee.id,
        HTTP2Response(status: slot.pointee.status, fields: slot.pointee.fields, body: slot.pointee.body))
    }
    // The server has said all; whatever of ours was still to come is of no use to it.
    if slot.pointee.bodySent < slot.pointee.outgoingBody.count {
      session?.reset(slot.pointee.id, code: HTTP2ErrorCode.noError.rawValue)
    }
  }

  func streamEnded(_ slot: HTTP2SlotPlace, code: UInt32) {
    guard !slot.pointee.isDelivered else { return }
    if let excess = slot.pointee.excess { return tooLarge(slot.pointee.id, excess) }
    // A request that never left was not processed, whatever nghttp2 calls the reason.
    handler?.streamFailed(
      stream: slot.pointee.id, code: slot.pointee.headersSent ? HTTP2ErrorCode(rawValue: code) : .refusedStream)
  }

  private func tooLarge(_ stream: Int32, _ excess: HTTP2Request.Excess) {
    guard let limits = session?.limits else { return }
    let why =
      switch excess {
      case .headerList: "the header of the answer is over \(limits.headerListSize) bytes"
      case .body: "the body of the answer is over \(limits.bodySize) bytes"
      }
    handler?.answerTooLarge(stream: stream, why: why)
  }

  func goAwayArrived(lastStream: Int32, code: UInt32, debugData: [UInt8]) {
    handler?.goAway(lastStream: lastStream, code: HTTP2ErrorCode(rawValue: code), debugData: debugData)
  }

  func pongArrived() { handler?.pong() }

  func inputHandled() { handler?.inputHandled() }

  func sessionEnded(_ fault: TransportFault) {
    wasClosed = true
    let handler = self.handler
    self.handler = nil
    handler?.closed(fault)
    session = nil
  }
}
