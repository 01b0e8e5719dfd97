public import Basics

/// One WebSocket (RFC 6455) on a loop, of a server or a client. An actor pinned to its loop; may be used from any task.
///
/// Both directions are bounded: `send` suspends while the peer does not read, and the peer is not read while nobody
/// takes `messages`. Pings are answered, and sent when the peer is silent.
public actor WebSocket {
  public enum Message: Hashable, Sendable {
    case text(String)
    case binary([UInt8])
  }

  public struct Limits: Hashable, Sendable {
    /// Bytes of one message of the peer; more closes with 1009.
    public var message = 1 << 20
    /// Messages read ahead of whoever takes them.
    public var readAhead = 16
    /// A ping after so long without a byte from the peer, and the end after twice that; nil for never.
    public var pingInterval: Instant.Span? = .seconds(30)
    /// For the peer to answer our close, and to take what is written.
    public var patience = Instant.Span.seconds(10)

    public init() {}
  }

  /// How it ended.
  public struct Closing: Hashable, Sendable {
    /// RFC 6455 §7.4; 1006 when the connection was lost without a word.
    public var code: UInt16
    public var reason: String
  }

  private enum Phase {
    /// Client: the server's answer to the handshake is still coming in.
    case opening(key: String, head: [UInt8], CheckedContinuation<Void, any Error>)
    case open
    /// Our close is out, the peer's is awaited.
    case closing
    case closed
  }

  private struct Outgoing {
    var bytes: [UInt8]
    var sent = 0
    var done: CheckedContinuation<Void, any Error>?
  }

  nonisolated let loop: EventLoop
  public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  private let limits: Limits
  private let isClient: Bool
  private let reader: WebSocketReader
  private var stream: StreamConnection?
  private var phase: Phase
  private var outgoing: [Outgoing] = []
  private var isBlocked = false
  private var incoming: [Message] = []
  private var taker: CheckedContinuation<Message?, Never>?
  private var isReadingPaused = false
  private var isSilent = false
  private var closedWaiters: [CheckedContinuation<Void, Never>] = []
  private var timer: LoopTimer?
  /// nil while it is open.
  public private(set) var closing: Closing?

  private init(loop: EventLoop, limits: Limits, isClient: Bool, phase: Phase) {
    self.loop = loop
    self.limits = limits
    self.isClient = isClient
    self.phase = phase
    reader = WebSocketReader(expectsMask: !isClient, maximumMessage: limits.message)
  }

  // MARK: Making

  /// Connects to `ws://HOST[:PORT][/PATH]`, or to `wss://…` by `tls`. Throws `TransportFault` when the server cannot be
  /// reached or does not agree.
  public static func connect(
    _ url: String, tls: TLSClientContext? = nil, on loop: EventLoop, limits: Limits = Limits()
  ) async throws(TransportFault) -> WebSocket {
    let scheme = tls == nil ? "ws://" : "wss://"
    guard let (endpoint, host, target) = parts(ofURL: url, scheme, usualPort: tls == nil ? 80 : 443) else {
      throw TransportFault(
        .system, at: url, what: "this is no WebSocket address", remedy: "Give \(scheme)HOST:PORT/PATH.")
    }
    let key = (0..<16).map { _ in UInt8.random(in: 0...255) }.base64
    let socket = WebSocket(loop: loop, limits: limits, isClient: true, phase: .closed)
    do {
      try await socket.open(
        endpoint, tls, key: key, request: WebSocketHandshake.request(host: host, target: target, key: key))
    } catch let fault as TransportFault {
      throw fault
    } catch {
      throw TransportFault(.connectionLost, at: url, what: "\(error)", remedy: "Try again.")
    }
    return socket
  }

  private func open(_ endpoint: Endpoint, _ tls: TLSClientContext?, key: String, request: [UInt8]) async throws {
    try await withCheckedThrowingContinuation { (opened: CheckedContinuation<Void, any Error>) in
      phase = .opening(key: key, head: [], opened)
      outgoing = [Outgoing(bytes: request)]
      var streamLimits = StreamLimits()
      streamLimits.connectTimeout = limits.patience
      streamLimits.writeTimeout = limits.patience
      stream = .connect(
        to: endpoint, tls: tls, on: loop, limits: streamLimits, handler: WebSocketBridge(self))
      isBlocked = true  // until the stream is open
      startTimer()
    }
  }

  private static func parts(
    ofURL url: String, _ scheme: String, usualPort: UInt16
  ) -> (endpoint: Endpoint, host: String, target: String)? {
    guard url.hasPrefix(scheme) else { return nil }
    let rest = url.dropFirst(scheme.count)
    let slash = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
    let host = String(rest[..<slash])
    let target = rest[slash...].hasPrefix("/") ? String(rest[slash...]) : "/" + rest[slash...]
    guard !url.contains(where: { $0.isWhitespace || $0.isNewline }) else { return nil }
    guard let endpoint = Endpoint(host, defaultPort: usualPort) else { return nil }
    return (endpoint, host, target)
  }

  /// Takes over a socket whose handshake was answered by an HTTP server. The descriptor is ours from here on.
  static func accept(
    _ upgraded: HTTPUpgradedSocket, on loop: EventLoop, limits: Limits,
    handler: @escaping @Sendable (WebSocket) async -> Void
  ) {
    let socket = WebSocket(loop: loop, limits: limits, isClient: false, phase: .open)
    loop.execute {
      socket.assumeIsolated { $0.adopt(upgraded) }
      Task {
        await handler(socket)
        await socket.close()
      }
    }
  }

  private func adopt(_ upgraded: HTTPUpgradedSocket) {
    var streamLimits = StreamLimits()
    streamLimits.writeTimeout = limits.patience
    let adopted = StreamConnection.adopt(upgraded.descriptor, on: loop, limits: streamLimits) { made in
      stream = made
      return WebSocketBridge(self)
    }
    guard adopted else { return closed(fault(.connectionLost, "the socket cannot be taken over")) }
    startTimer()
    upgraded.alreadyRead.withUnsafeBytes { received($0) }
  }

  // MARK: Using

  /// Returns once the message is handed to the system or to a buffer of at most 64 KiB; suspends while the peer does not
  /// read. Messages of one task leave in its order. Throws `TransportFault` when the socket is closed or closes.
  public func send(_ text: String) async throws { try await send(.text, Array(text.utf8)) }

  public func send(_ bytes: [UInt8]) async throws { try await send(.binary, bytes) }

  /// What the peer sends, in order; ends when the socket closes. One task at a time may iterate.
  public nonisolated var messages: AsyncStream<Message> { AsyncStream { await self.next() } }

  /// Says goodbye and waits for the peer's, at most `Limits.patience`. Does nothing when it is closed already.
  public func close(code: UInt16 = 1000, reason: String = "") async {
    switch phase {
    case .closed: return
    case .opening, .closing: break
    case .open: beginClosing(code: code, reason: reason)
    }
    await withCheckedContinuation { closedWaiters.append($0) }
  }

  /// Closes at once, without goodbye.
  public func abort() { stream?.abort(fault(.stopped, "it was cut by its owner")) }

  private func next() async -> Message? {
    if Task.isCancelled { return nil }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { waiting in
        if !incoming.isEmpty {
          let message = incoming.removeFirst()
          if isReadingPaused, incoming.count <= limits.readAhead / 2 {
            isReadingPaused = false
            stream?.resumeReading()
          }
          waiting.resume(returning: message)
        } else if case .closed = phase {
          waiting.resume(returning: nil)
        } else {
          taker?.resume(returning: nil)
          taker = waiting
        }
      }
    } onCancel: {
      Task { await self.stopWaiting() }
    }
  }

  private func stopWaiting() {
    taker?.resume(returning: nil)
    taker = nil
  }

  // MARK: Writing

  private func send(_ kind: WebSocketWriter.Kind, _ payload: [UInt8]) async throws {
    guard case .open = phase else { throw fault(.stopped, "the WebSocket is closed") }
    let bytes = WebSocketWriter.frame(kind, payload, mask: mask)
    try await withCheckedThrowingContinuation { done in
      outgoing.append(Outgoing(bytes: bytes, done: done))
      pump()
    }
  }

  /// Control frames go behind what is queued; a peer that floods pings without reading gets the latest answer only.
  private func sendControl(_ kind: WebSocketWriter.Kind, _ payload: [UInt8]) {
    let bytes = WebSocketWriter.frame(kind, payload, mask: mask)
    let head = 0x80 | kind.rawValue
    if let waiting = outgoing.lastIndex(where: { $0.sent == 0 && $0.done == nil && $0.bytes.first == head }) {
      outgoing[waiting].bytes = bytes
    } else {
      outgoing.append(Outgoing(bytes: bytes))
    }
    pump()
  }

  private var mask: UInt32? { isClient ? UInt32.random(in: 0...UInt32.max) : nil }

  private func pump() {
    while !isBlocked, let stream, !outgoing.isEmpty {
      let first = outgoing[0]
      let end = min(first.sent + 65_536, first.bytes.count)
      let isFree = first.bytes[first.sent..<end].withUnsafeBytes { stream.write($0) }
      if end == first.bytes.count {
        outgoing.removeFirst().done?.resume()
      } else {
        outgoing[0].sent = end
      }
      if !isFree { isBlocked = true }
    }
  }

  private func beginClosing(code: UInt16, reason: String) {
    phase = .closing
    if closing == nil { closing = Closing(code: code, reason: reason) }
    outgoing.append(Outgoing(bytes: WebSocketWriter.close(code: code, reason: reason, mask: mask)))
    pump()
    timer?.cancel()
    timer = loop.schedule(after: limits.patience) { [weak self] in
      self?.assumeIsolated { $0.stream?.abort($0.fault(.timedOut(.idle), "the peer did not answer our close")) }
    }
  }

  // MARK: From the stream, on the loop

  fileprivate func opened() {
    isBlocked = false
    pump()
  }

  fileprivate func writable() {
    isBlocked = false
    pump()
  }

  fileprivate func received(_ bytes: UnsafeRawBufferPointer) {
    isSilent = false
    switch phase {
    case .opening(let key, var head, let opened):
      let old = head.count
      head.append(contentsOf: bytes)
      guard let end = head.indexAfterHead(from: max(0, old - 3)) else {
        guard head.count <= 16_384 else {
          return fail(opened, fault(.protocolViolation, "the server's answer has no end"))
        }
        phase = .opening(key: key, head: head, opened)
        return
      }
      if let words = WebSocketHandshake.fault(inAnswer: String(decoding: head[..<end], as: UTF8.self), key: key) {
        return fail(opened, fault(.protocolViolation, words))
      }
      phase = .open
      opened.resume()
      head[end...].withUnsafeBytes { read($0) }
    case .open, .closing: read(bytes)
    case .closed: break
    }
  }

  private func fail(_ opened: CheckedContinuation<Void, any Error>, _ fault: TransportFault) {
    phase = .closed
    opened.resume(throwing: fault)
    stream?.abort(fault)
  }

  private func read(_ bytes: UnsafeRawBufferPointer) {
    guard !bytes.isEmpty else { return }
    do {
      try reader.read(bytes) { handle($0) }
    } catch {
      if case .open = phase { beginClosing(code: error.code, reason: error.reason) }
      stream?.pauseReading()
      stream?.close()
    }
  }

  private func handle(_ event: WebSocketReader.Event) {
    switch event {
    case .text(let text): deliver(.text(text))
    case .binary(let bytes): deliver(.binary(bytes))
    case .ping(let payload): if case .open = phase { sendControl(.pong, payload) }
    case .pong: break
    case .close(let code, let reason):
      if case .open = phase {
        closing = Closing(code: code, reason: reason)
        phase = .closing
        outgoing.append(Outgoing(bytes: WebSocketWriter.close(code: code, reason: "", mask: mask)))
        pump()
      }
      stream?.close()
    }
  }

  private func deliver(_ message: Message) {
    guard case .open = phase else { return }
    if let taker {
      self.taker = nil
      taker.resume(returning: message)
      return
    }
    incoming.append(message)
    if incoming.count >= limits.readAhead, !isReadingPaused {
      isReadingPaused = true
      stream?.pauseReading()
    }
  }

  fileprivate func receivedEnd() { stream?.close() }

  fileprivate func closed(_ fault: TransportFault) {
    timer?.cancel()
    timer = nil
    if case .opening(_, _, let opened) = phase { opened.resume(throwing: fault) }
    phase = .closed
    if closing == nil { closing = Closing(code: 1006, reason: fault.what) }
    stream = nil
    for entry in outgoing { entry.done?.resume(throwing: fault) }
    outgoing = []
    if incoming.isEmpty { stopWaiting() }
    for waiter in closedWaiters { waiter.resume() }
    closedWaiters = []
  }

  // MARK: Time

  private func startTimer() {
    guard let interval = limits.pingInterval else { return }
    isSilent = false
    timer = loop.schedule(after: interval) { [weak self] in self?.assumeIsolated { $0.ask() } }
  }

  /// The peer was silent for an interval: ask. For two: it is gone.
  private func ask() {
    guard stream != nil else { return }
    if isSilent, !isReadingPaused {
      stream?.abort(fault(.timedOut(.ping), "the peer did not answer a ping"))
      return
    }
    if case .open = phase { sendControl(.ping, []) }
    startTimer()
    isSilent = true
  }

  private func fault(_ kind: TransportFault.Kind, _ what: String) -> TransportFault {
    TransportFault(kind, at: stream.map { "\($0.peer)" } ?? "WebSocket", what: what, remedy: "Connect again.")
  }
}

/// Carries the stream's calls into the actor, which lives on the same loop.
private final class WebSocketBridge: StreamHandler {
  private let socket: WebSocket

  init(_ socket: WebSocket) { self.socket = socket }

  func opened(_ stream: StreamConnection) { socket.assumeIsolated { $0.opened() } }

  func received(_ bytes: UnsafeRawBufferPointer) {
    nonisolated(unsafe) let bytes = bytes  // read on this thread, within this call
    socket.assumeIsolated { $0.received(bytes) }
  }

  func writable() { socket.assumeIsolated { $0.writable() } }
  func timeCheck(now: Int64) -> Int64 { .max }
  func receivedEnd() { socket.assumeIsolated { $0.receivedEnd() } }
  func closed(_ fault: TransportFault) { socket.assumeIsolated { $0.closed(fault) } }
}
