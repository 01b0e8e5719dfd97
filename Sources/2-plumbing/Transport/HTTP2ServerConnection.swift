/// What a server connection tells its owner. All calls come on the connection's loop, one after another; from within
/// them the connection may be used freely. After `closed` comes nothing more.
public protocol HTTP2ServerHandler: AnyObject {
  /// A whole request. Answer it now or later, once, with `respond` or `reset`.
  func request(_ request: HTTP2Request, stream: Int32)
  /// A stream that was given to `request` is over: answered and sent (`noError`), or reset by either side.
  func streamClosed(_ stream: Int32, code: HTTP2ErrorCode)
  /// The peer acknowledged the SETTINGS of the oldest `announce` (or the first SETTINGS).
  func settingsAcknowledged()
  /// The connection begins to end in order, idle or stopped: the debug data for its GOAWAY, at most 256 bytes. Requests
  /// may come for a moment still. Not called when `goAway` was.
  func draining(_ reason: TransportFault) -> [UInt8]
  /// The end, for any reason; `kind` is `.closedByPeer` or `.stopped` for an orderly one.
  func closed(_ fault: TransportFault)
}

extension HTTP2ServerHandler {
  public func settingsAcknowledged() {}
  public func draining(_ reason: TransportFault) -> [UInt8] { [] }
}

/// One HTTP/2 connection from a client. Everything must be called on `loop` (it traps otherwise): an actor pinned to
/// the loop is the intended owner.
public final class HTTP2ServerConnection: @unchecked Sendable {  // guarded by `loop`, checked in each call
  public let loop: EventLoop
  /// The client's address.
  public let peer: Endpoint
  /// Both let go after their one use, so that what they hold may hold this connection.
  private var makeHandler: (@Sendable (HTTP2ServerConnection) -> any HTTP2ServerHandler)?
  private var ended: (@Sendable (HTTP2ServerConnection) -> Void)?
  private var session: HTTP2Session?
  private var handler: (any HTTP2ServerHandler)?

  init(
    stream: StreamConnection, makeHandler: @escaping @Sendable (HTTP2ServerConnection) -> any HTTP2ServerHandler,
    ended: @escaping @Sendable (HTTP2ServerConnection) -> Void
  ) {
    loop = stream.loop
    peer = stream.peer
    self.makeHandler = makeHandler
    self.ended = ended
  }

  func attach(_ session: HTTP2Session) { self.session = session }

  /// The client's certificate if it gave one; it was not judged, only checked.
  public var peerCertificate: PeerCertificate? {
    loop.preconditionCurrent()
    return session?.stream?.peerCertificate
  }

  /// The host that the client wanted to reach, by SNI (RFC 6066 §3); nil without TLS and for one that named none.
  public var serverName: String? {
    loop.preconditionCurrent()
    return session?.stream?.serverName
  }

  /// Requests without a finished answer.
  public var openStreams: Int {
    loop.preconditionCurrent()
    return session?.open.count ?? 0
  }

  /// Answers a request. Without body: HEADERS with END_STREAM. With one: HEADERS and, as far as the client's window and
  /// frame size admit, exactly one DATA frame with END_STREAM; a body larger than either goes in as few frames as
  /// possible. Does nothing for a stream that is over or already answered. Names in `fields` must be lower case.
  /// `dataSize` cuts the body into DATA frames of so many bytes, to test what a client makes of it.
  public func respond(
    stream: Int32, status: Int, fields: [HTTP2Field], body: [UInt8], dataSize: Int = .max
  ) {
    loop.preconditionCurrent()
    guard let session, !session.isEnded, !session.isMute, let slot = session.slot(of: stream), slot.pointee.isDelivered,
      !slot.pointee.isAnswered
    else { return }
    session.respond(slot, status: status, fields: fields, body: body, dataSize: dataSize)
  }

  public func reset(stream: Int32, code: HTTP2ErrorCode) {
    loop.preconditionCurrent()
    session?.reset(stream, code: code.rawValue)
  }

  /// Sends GOAWAY. `lastStream` nil means the newest stream received. Streams above it are dropped without an answer;
  /// later ones are ignored. The connection stays open for the others: `close` ends it.
  public func goAway(lastStream: Int32? = nil, code: HTTP2ErrorCode, debugData: [UInt8]) {
    loop.preconditionCurrent()
    session?.goAway(lastStream: lastStream, code: code.rawValue, debugData: debugData)
  }

  /// Announces another stream limit. It holds from the client's acknowledgement on: streams opened before are served,
  /// later ones above the limit are reset with REFUSED_STREAM unless `HTTP2Limits.refusesOverrun` is off. Never ends the
  /// connection.
  public func announce(maxConcurrentStreams: UInt32) {
    loop.preconditionCurrent()
    session?.announce(maxConcurrentStreams: maxConcurrentStreams)
  }

  /// Graceful: GOAWAY, then closes once the open streams have ended and all is sent. Else after what is queued and fits.
  public func close(graceful: Bool) {
    loop.preconditionCurrent()
    let reason = StreamConnection.stopped(peer.description)
    if graceful { session?.drain(reason) } else { session?.end(reason) }
  }

  /// Makes the connection half open: from now on nothing is answered, whatever comes is read, and TCP goes on
  /// acknowledging. With `answersPings` HTTP/2 itself still lives (PING, SETTINGS, windows); without it not a byte leaves.
  /// What was answered before is still sent, with the PINGs of this turn of the loop. Only `abort`, the client, or the listener's stop ends it.
  public func mute(answersPings: Bool) {
    loop.preconditionCurrent()
    session?.mute(answersPings: answersPings)
  }

  /// Lets at most so many bytes a second (of TCP, so with TLS's own) pass in each direction; nil lifts the cap. Answers
  /// wait, none is lost; requests are read no faster than that.
  public func limitRate(bytesPerSecond: Int?) {
    loop.preconditionCurrent()
    session?.stream?.limitRate(bytesPerSecond: bytesPerSecond)
  }

  /// Cuts the TCP connection without a word, as a broken network would; the client sees a reset.
  public func abort() {
    loop.preconditionCurrent()
    session?.stream?.reset(StreamConnection.stopped(peer.description))
  }
}

extension HTTP2ServerConnection: HTTP2SessionOwner {
  func sessionOpened() {
    handler = makeHandler?(self)
    makeHandler = nil
  }

  func settingsArrived() {}

  func settingsAcknowledged() { handler?.settingsAcknowledged() }

  func messageArrived(_ slot: HTTP2SlotPlace) {
    handler?.request(
      HTTP2Request(fields: slot.pointee.fields, body: slot.pointee.body, excess: slot.pointee.excess),
      stream: slot.pointee.id)
  }

  func streamEnded(_ slot: HTTP2SlotPlace, code: UInt32) {
    guard slot.pointee.isDelivered else { return }
    handler?.streamClosed(slot.pointee.id, code: HTTP2ErrorCode(rawValue: code))
  }

  func sessionDrains(_ reason: TransportFault) -> [UInt8] { handler?.draining(reason) ?? [] }

  func goAwayArrived(lastStream: Int32, code: UInt32, debugData: [UInt8]) {}

  func pongArrived() {}

  func inputHandled() {}

  func sessionEnded(_ fault: TransportFault) {
    let handler = self.handler
    self.handler = nil
    handler?.closed(fault)
    session = nil
    makeHandler = nil
    ended?(self)
    ended = nil
  }
}
