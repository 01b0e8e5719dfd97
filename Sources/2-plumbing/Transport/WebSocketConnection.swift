import Basics

/// What a WebSocket tells its owner, on its loop. After `closed` comes nothing more.
public protocol WebSocketOwner: AnyObject {
  func received(_ message: WebSocket.Message)
  func receivedPong()
  /// All that was sent has left, after a `send` that answered false.
  func writable()
  /// Called at the time asked for by `checkTime(at:)`, or somewhat earlier. Answers when to be called next, `Int64.max` for
  /// never.
  func timeCheck(now: Int64) -> Int64
  func closed(_ closing: WebSocket.Closing)
}

/// One WebSocket of a server, for doors that hold very many: it has no task, and no buffer while nothing is under way.
/// Everything on its loop. (`WebSocket` is easier to use, for few.)
///
///     shaking hands ─▶ open ─▶ closing ─▶ closed        every state may go to closed
public final class WebSocketConnection: @unchecked Sendable {  // guarded by `loop`
  private enum State {
    /// The head of the request is still coming in.
    case shakingHands(head: [UInt8])
    case open
    /// Our close is out, the peer's is awaited.
    case closing
    /// Both are out, or the peer broke the protocol: what comes is dropped.
    case ended
  }

  public let loop: EventLoop
  private let door: WebSocketDoor
  private var stream: StreamConnection?
  private var state = State.shakingHands(head: [])
  private weak var owner: (any WebSocketOwner)?
  private var kept: (any WebSocketOwner)?
  /// Only while something is incomplete.
  private var reader: WebSocketReader?
  private var closing: WebSocket.Closing?
  private var deadline: Int64
  /// The answer to the latest ping, while the peer takes nothing.
  private var pong: [UInt8]?

  init(stream: StreamConnection, door: WebSocketDoor) {
    loop = stream.loop
    self.stream = stream
    self.door = door
    deadline = stream.loop.later(door.limits.patience)
    door.began()
  }

  deinit { door.ended() }

  public var peer: Endpoint? { stream?.peer }

  /// Milliseconds of a clock that nobody sets; what `checkTime` and `timeCheck` go by.
  public var now: Int64 { loop.turnTime }

  public var isOpen: Bool { if case .open = state { true } else { false } }

  /// Whether what was sent has left.
  public var isWritable: Bool { stream?.isWritable ?? false }

  /// Sends a frame that `WebSocketFrame` made. false: the peer does not take it as fast, or it is not open; send no more
  /// until `writable()`, or what waits grows in memory.
  @discardableResult
  public func send(_ frame: [UInt8]) -> Bool {
    guard isOpen, let stream else { return false }
    return frame.withUnsafeBytes { stream.write($0) }
  }

  public func ping() { send(WebSocketWriter.frame(.ping, [], mask: nil)) }

  /// Says goodbye behind what was sent, waits for the peer's at most `Limits.patience`, and cuts the connection then.
  public func close(code: UInt16, reason: String) {
    guard isOpen else { return }
    send(WebSocketWriter.close(code: code, reason: reason, mask: nil))
    closing = WebSocket.Closing(code: code, reason: reason)
    state = .closing
    setDeadline()
  }

  /// Closes at once, without goodbye.
  public func abort(_ what: String) {
    stream?.abort(TransportFault(.stopped, at: peer?.description ?? "", what: what, remedy: "Connect again."))
  }

  /// Asks for a `timeCheck` at that time at the latest.
  public func checkTime(at time: Int64) { stream?.checkTime(at: time) }

  private func setDeadline() {
    deadline = loop.later(door.limits.patience)
    stream?.checkTime(at: deadline)
  }

  // MARK: Handshake

  private func shakeHands(_ head: [UInt8], _ bytes: UnsafeRawBufferPointer) {
    var head = head
    let old = head.count
    head.append(contentsOf: bytes)
    guard let end = head.indexAfterHead(from: max(0, old - 3)) else {
      guard head.count <= door.limits.head else {
        return refuse(HTTPResponse(status: 431, body: Array("The head of the request is too large.\n".utf8)))
      }
      state = .shakingHands(head: head)
      return
    }
    guard let request = WebSocketHandshake.request(inHead: head[..<end], peer: peer) else {
      return refuse(HTTPResponse(status: 400, body: Array("This is no request of HTTP/1.1.\n".utf8)))
    }
    switch WebSocketHandshake.verdict(request, { door.refusal($0) }) {
    case .refused(let response): refuse(response)
    case .accepted(let accept):
      let answer =
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: \(accept)\r\n\r\n"
      _ = Array(answer.utf8).withUnsafeBytes { stream?.write($0) }
      state = .open
      deadline = .max
      let made = door.makeOwner(self)
      owner = made
      kept = made
      head[end...].withUnsafeBytes { read($0) }
    }
  }

  private func refuse(_ response: HTTPResponse) {
    state = .ended
    _ = response.bytesBeforeClosing.withUnsafeBytes { stream?.write($0) }
    stream?.close()
  }

  // MARK: Reading

  private func read(_ bytes: UnsafeRawBufferPointer) {
    guard !bytes.isEmpty else { return }
    let reader = self.reader ?? door.takeReader(loop)
    do throws(WebSocketViolation) {
      try reader.read(bytes) { handle($0) }
    } catch {
      self.reader = nil
      if isOpen { close(code: error.code, reason: error.reason) }
      return end()
    }
    if reader.isAtRest {
      self.reader = nil
      door.giveBack(reader, loop)
    } else {
      self.reader = reader
    }
  }

  private func handle(_ event: WebSocketReader.Event) {
    switch event {
    case .text(let text): if isOpen { owner?.received(.text(text)) }
    case .binary(let bytes): if isOpen { owner?.received(.binary(bytes)) }
    case .pong: if isOpen { owner?.receivedPong() }
    case .ping(let payload):
      guard isOpen else { return }
      let answer = WebSocketWriter.frame(.pong, payload, mask: nil)
      if isWritable { send(answer) } else { pong = answer }
      stream?.tellWhenWritable()
    case .close(let code, let reason):
      if isOpen {
        send(WebSocketWriter.close(code: code, reason: "", mask: nil))
        closing = WebSocket.Closing(code: code, reason: reason)
      }
      end()
    }
  }

  private func end() {
    state = .ended
    setDeadline()
    stream?.close()
  }
}

extension WebSocketConnection: StreamHandler {
  func opened(_ stream: StreamConnection) { stream.checkTime(at: deadline) }

  func received(_ bytes: UnsafeRawBufferPointer) {
    switch state {
    case .shakingHands(let head): shakeHands(head, bytes)
    case .open, .closing: read(bytes)
    case .ended: break
    }
  }

  func writable() {
    if let pong {
      self.pong = nil
      guard send(pong) else { return }
    }
    if isOpen { owner?.writable() }
  }

  func timeCheck(now: Int64) -> Int64 {
    if now >= deadline {
      abort("it did not come to an end in time")
      return .max
    }
    return min(deadline, isOpen ? owner?.timeCheck(now: now) ?? .max : .max)
  }

  func receivedEnd() { stream?.close() }

  func closed(_ fault: TransportFault) {
    stream = nil
    reader = nil
    let owner = kept
    kept = nil
    state = .ended
    owner?.closed(closing ?? WebSocket.Closing(code: 1006, reason: fault.what))
  }
}

/// Frames of a server as bytes; one may be sent to any number of connections.
public enum WebSocketFrame {
  public static func text(_ utf8: some Collection<UInt8>) -> [UInt8] { WebSocketWriter.frame(.text, utf8, mask: nil) }
}
