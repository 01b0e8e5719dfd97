import Basics
import CLibuv
import Synchronization

/// A TCP connection with or without TLS on one loop: HTTP/2 and WebSocket stand on it. Everything on `loop`.
///
///     connecting ─▶ tunnelling ─▶ handshaking ─▶ open ─▶ closing ─▶ lingering ─▶ closed    every state may go to closed
final class StreamConnection: @unchecked Sendable, LoopResident {  // guarded by `loop`
  enum State: Equatable {
    case connecting
    /// Talks to a proxy.
    case tunnelling
    case handshaking
    case open
    /// Sends what waits, then says goodbye.
    case closing
    /// Said goodbye; reads and drops until the peer's end.
    case lingering
    case closed
  }

  let loop: EventLoop
  var peer: Endpoint
  let limits: StreamLimits
  var handler: (any StreamHandler)?
  var state = State.connecting
  var tls: TLSSession?
  var tcp: UnsafeMutablePointer<uv_tcp_t>?
  private(set) var fault: TransportFault?

  private var readsWanted = true
  var isReading = false
  private var peerEnded = false

  /// Sealed bytes that the system has not taken: being written, and behind them.
  var inFlight: UnsafeMutableRawBufferPointer?
  var waiting: [UInt8] = []
  var owesWritable = false
  var conduct = Conduct.usual
  /// A cap on what passes; see `limitRate`.
  var pace: StreamPace?
  var lastQueueSize = 0

  var timer: LoopTimer?
  var timerDue = Int64.max
  var phaseDeadline = Int64.max
  var writeDeadline = Int64.max

  /// What it takes to become open; nil from there on.
  var opening: Opening?
  /// The address that it goes to, in digits; of a connection outward once it is open.
  var remote: Endpoint?
  /// Name, address and proxy of a connection outward, for messages.
  var way: String?
  /// Who took this attempt's socket over.
  var heir: StreamConnection?

  init(loop: EventLoop, peer: Endpoint, limits: StreamLimits) {
    self.loop = loop
    self.peer = peer
    self.limits = limits
    loop.liveStreams.add(1, ordering: .relaxed)
  }

  deinit { loop.liveStreams.subtract(1, ordering: .relaxed) }

  var place: String { way ?? peer.description }

  func becomeOpen() {
    state = .open
    phaseDeadline = .max
    updateReading()
    handler?.opened(self)
    checkTime(at: loop.turnTime)
  }

  // MARK: Facts

  var peerCertificate: PeerCertificate? { tls?.peerCertificate }
  /// The name that a client asked for by SNI.
  var serverName: String? { tls?.serverName }
  /// By ALPN; nil without TLS or when none was agreed on.
  var negotiatedProtocol: String? { tls?.negotiatedProtocol }
  var isClosed: Bool { state == .closed }
  /// False while bytes wait for the peer.
  var isWritable: Bool { inFlight == nil && waiting.isEmpty }

  // MARK: Reading

  func pauseReading() {
    readsWanted = false
    updateReading()
  }

  func resumeReading() {
    readsWanted = true
    updateReading()
  }

  func updateReading() {
    guard let tcp else { return }
    let wanted =
      switch state {
      case .connecting, .closed: false
      case .tunnelling, .handshaking, .lingering: !peerEnded
      case .open, .closing: readsWanted && !peerEnded && pace?.holdsInput != true
      }
    guard wanted != isReading else { return }
    isReading = wanted
    let stream = UnsafeMutableRawPointer(tcp).assumingMemoryBound(to: uv_stream_t.self)
    guard wanted else {
      uv_read_stop(stream)
      return
    }
    uv_read_start(
      stream,
      { handle, _, buffer in
        let memory = EventLoop.owning(handle!.pointee.loop).readBuffer
        buffer!.pointee = uv_buf_init(memory.baseAddress!.assumingMemoryBound(to: CChar.self), UInt32(memory.count))
      },
      { handle, count, buffer in
        let stream = Unmanaged<StreamConnection>.fromOpaque(handle!.pointee.data).takeUnretainedValue()
        if count > 0 {
          stream.arrived(UnsafeRawBufferPointer(start: buffer!.pointee.base, count: count))
        } else if count < 0 {
          stream.readEnded(Int32(clamping: count))
        }
      })
  }

  private func arrived(_ bytes: UnsafeRawBufferPointer) {
    guard state != .lingering else { return }
    switch conduct {
    case .usual: break
    case .deaf: return
    case .resetsAtOnce: return reset(Self.stopped(place))
    }
    paceInput(bytes.count)
    guard state != .tunnelling else { return tunnelled(bytes) }
    pass(bytes)
  }

  /// To TLS, or without it to the handler.
  func pass(_ bytes: UnsafeRawBufferPointer) {
    guard let tls else {
      (heir ?? self).handler?.received(bytes)
      return
    }
    tls.withInput(bytes) {
      if state == .handshaking { shakeHands() }
      let reader = heir ?? self  // an attempt that has just won reads for the connection that took it over
      if reader.state == .open || reader.state == .closing { reader.readPlain(tls) }
    }
  }

  func shakeHands() {
    guard let tls, state == .handshaking else { return }
    let step = tls.shakeHands()
    sendSealed()
    guard state == .handshaking else { return }
    switch step {
    case .progress: becomeOpen()
    case .needsInput: break
    case .ended: abort(Self.endedInHandshake(place))
    case .failed(let errors):
      // The alert that `sendSealed` wrote should reach the peer: close in order.
      fault = tls.handshakeFault(errors, at: place)
      linger()
    }
  }

  private func readPlain(_ tls: TLSSession) {
    while state == .open || state == .closing {
      let step = tls.read(into: loop.plainBuffer)
      sendSealed()  // alerts, key updates
      switch step {
      case .progress(let count):
        handler?.received(UnsafeRawBufferPointer(rebasing: loop.plainBuffer[..<count]))
      case .needsInput: return
      case .ended: return inputEnded()
      case .failed(let errors):
        return abort(tls.laterFault(errors, at: place))
      }
    }
  }

  private func readEnded(_ code: Int32) {
    guard code == UV_EOF.rawValue else {
      return abort(fault ?? TransportFault(system: code, at: place, doing: "reading"))
    }
    switch state {
    case .tunnelling: abort(Self.endedByProxy(place))
    case .handshaking: abort(Self.endedInHandshake(place))
    case .lingering: finish(fault ?? Self.stopped(place))
    case .connecting, .open, .closing: inputEnded()
    case .closed: break
    }
  }

  private func inputEnded() {
    guard !peerEnded else { return }
    peerEnded = true
    updateReading()
    handler?.receivedEnd()
  }

  // MARK: Closing

  /// Sends what waits, says goodbye (close_notify, FIN), and closes; `closed` follows.
  func close(_ reason: TransportFault? = nil) {
    switch state {
    case .connecting, .tunnelling, .handshaking: abort(reason ?? Self.stopped(place))
    case .open:
      fault = reason ?? Self.stopped(place)
      state = .closing
      if isWritable { linger() } else { updateReading() }
    case .closing, .lingering, .closed: break
    }
  }

  func linger() {
    limitRate(bytesPerSecond: nil)
    if state != .handshaking, conduct == .usual, let tls {
      tls.sayGoodbye()
      sendSealed()
    }
    guard state != .closed, let tcp else { return }
    state = .lingering
    guard !peerEnded else { return finish(fault ?? Self.stopped(place)) }
    updateReading()
    setPhaseDeadline(after: limits.lingerTimeout)
    let request = UnsafeMutablePointer<uv_shutdown_t>.allocate(capacity: 1)
    let stream = UnsafeMutableRawPointer(tcp).assumingMemoryBound(to: uv_stream_t.self)
    guard uv_shutdown(request, stream, { request, _ in request!.deallocate() }) == 0 else {
      request.deallocate()
      return finish(fault ?? Self.stopped(place))
    }
  }

  /// Closes at once; `closed(fault)` follows on a later turn of the loop.
  func abort(_ fault: TransportFault) { finish(self.fault ?? fault) }

  func abandon() { finish(Self.loopStopped(peer)) }

  /// Cuts the connection so that the peer sees a reset.
  func reset(_ fault: TransportFault) {
    guard state != .closed, let tcp else { return abort(fault) }
    if uv_tcp_close_reset(tcp, closedCallback) == 0 {
      self.tcp = nil
      finish(fault, handle: tcp)
    } else {
      abort(fault)
    }
  }

  func finish(_ fault: TransportFault?, handle closing: UnsafeMutablePointer<uv_tcp_t>? = nil) {
    guard state != .closed else { return }
    state = .closed
    self.fault = fault
    timer?.cancel()
    timer = nil
    pace?.timer.cancel()
    pace = nil
    waiting = []
    opening?.dial?.cancel()
    opening = nil
    let handle = closing ?? tcp
    tcp = nil
    guard let handle else {
      loop.execute { self.told() }
      return
    }
    handle.pointee.data = Unmanaged.passRetained(self).toOpaque()
    guard closing == nil else { return }
    uv_close(UnsafeMutableRawPointer(handle).assumingMemoryBound(to: uv_handle_t.self), closedCallback)
  }

  fileprivate func told() {
    loop.dismiss(self)
    tls = nil
    let handler = self.handler
    self.handler = nil
    if let fault { handler?.closed(fault) }
  }
}

private func closedCallback(_ handle: UnsafeMutablePointer<uv_handle_t>?) {
  let tcp = UnsafeMutableRawPointer(handle!).assumingMemoryBound(to: uv_tcp_t.self)
  let stream = Unmanaged<StreamConnection>.fromOpaque(tcp.pointee.data).takeRetainedValue()
  tcp.deallocate()
  stream.told()
}
