import Basics
import CLibuv

/// How a connection comes to be: outward, by a race of attempts at the host's addresses, or accepted.
extension StreamConnection {
  /// Starts connecting, on the loop. The outcome comes on a later turn, also when it is known at once.
  static func connect(
    to endpoint: Endpoint, tls context: TLSClientContext?, on loop: EventLoop, limits: StreamLimits,
    through dialer: Dialer? = nil, handler: any StreamHandler
  ) -> StreamConnection {
    loop.preconditionCurrent()
    let stream = StreamConnection(loop: loop, peer: endpoint, limits: limits)
    stream.handler = handler
    guard loop.admit(stream) else {
      stream.abort(Self.loopStopped(endpoint))
      return stream
    }
    stream.setPhaseDeadline(after: limits.connectTimeout)
    let dial = Dial(stream, tls: context, dialer: dialer ?? Dialer(), deadline: stream.phaseDeadline)
    stream.way = dialer?.proxy.map { "\(endpoint) by proxy \($0.endpoint)" }
    stream.opening = Opening(dial: dial)
    dial.start()
    return stream
  }

  /// The addresses are known; from here on the attempts have the deadlines.
  func waitForRace() { phaseDeadline = .max }

  /// One attempt at one address, in digits, for a connection to `peer`. `deadline` is for TCP.
  static func attempt(
    at address: Endpoint, for peer: Endpoint, place: String, tls context: TLSClientContext?, proxy: Proxy?,
    on loop: EventLoop, limits: StreamLimits, deadline: Int64, handler: any StreamHandler
  ) -> StreamConnection {
    let stream = StreamConnection(loop: loop, peer: peer, limits: limits)
    stream.handler = handler
    stream.remote = address
    stream.way = place
    stream.opening = Opening(handshake: proxy.map { ProxyHandshake($0, to: peer) }, hasProxy: proxy != nil)
    guard loop.admit(stream) else {
      stream.abort(Self.loopStopped(peer))
      return stream
    }
    if let context {
      stream.tls = TLSSession(client: context, host: peer.host, sealed: loop.sealed)
      guard stream.tls != nil else {
        let what = "TLS cannot name the host (\(OpenSSLErrors.take().text))"
        stream.abort(
          TransportFault(.handshakeFailed, at: stream.place, what: what, remedy: "Use a valid host name or address."))
        return stream
      }
    }
    stream.phaseDeadline = deadline
    stream.checkTime(at: deadline)
    stream.connect(to: address)
    return stream
  }

  private func connect(to address: Endpoint) {
    guard var address = address.socketAddress else {
      return abort(TransportFault(system: UV_EAI_NODATA.rawValue, at: place, doing: "connecting"))
    }
    let request = UnsafeMutablePointer<uv_connect_t>.allocate(capacity: 1)
    let made = newHandle()
    let started = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        request.pointee.data = Unmanaged.passRetained(self).toOpaque()
        return uv_tcp_connect(request, made, pointer) { request, status in
          let stream = Unmanaged<StreamConnection>.fromOpaque(request!.pointee.data).takeRetainedValue()
          request!.deallocate()
          stream.connectEnded(status)
        }
      }
    }
    if started != 0 {
      Unmanaged<StreamConnection>.fromOpaque(request.pointee.data).release()
      request.deallocate()
      connectEnded(started)
    }
  }

  private func connectEnded(_ status: Int32) {
    guard state == .connecting else { return }
    guard status == 0 else { return abort(TransportFault(system: status, at: place, doing: "connecting")) }
    established()
  }

  /// Talks to the proxy.
  func tunnelled(_ bytes: UnsafeRawBufferPointer) {
    guard let effects = opening?.handshake?.handle(bytes) else { return }
    tunnel(effects)
  }

  private func tunnel(_ effects: [ProxyHandshake.Effect]) {
    for effect in effects where state == .tunnelling {
      switch effect {
      case .send(let bytes): bytes.withUnsafeBytes { send($0) }
      case .through(let rest):
        opening?.handshake = nil
        secure()
        if !rest.isEmpty, state != .closed || heir != nil { rest.withUnsafeBytes { pass($0) } }
      case .failed(let refusal): abort(refusal.fault(at: place))
      }
    }
  }

  /// A proxy, where there is one, has done its part.
  var isBeyondProxy: Bool { opening.map { $0.hasProxy && $0.handshake == nil } ?? false }

  /// Another attempt won, or nobody wants this one any more; says nothing to its handler.
  func letGo() {
    handler = nil
    abort(Self.stopped(place))
  }

  /// An attempt won: its socket and TLS are ours from here on.
  func takeOver(_ attempt: StreamConnection) {
    guard state == .connecting, let won = attempt.tcp else { return }
    tcp = won
    tls = attempt.tls
    remote = attempt.remote
    way = attempt.way
    isReading = attempt.isReading
    won.pointee.data = Unmanaged.passUnretained(self).toOpaque()
    opening?.dial?.cancel()
    opening = nil
    attempt.tcp = nil
    attempt.handler = nil
    attempt.heir = self
    attempt.finish(nil)
    becomeOpen()
  }

  /// A connection that came in, its handle already accepted.
  static func accepted(
    on loop: EventLoop, tls context: TLSServerContext?, limits: StreamLimits,
    _ accept: (UnsafeMutablePointer<uv_tcp_t>) -> Int32,
    makeHandler: (StreamConnection) -> any StreamHandler
  ) {
    let stream = StreamConnection(loop: loop, peer: Endpoint(host: "?", port: 0), limits: limits)
    guard loop.admit(stream) else { return }
    let handle = stream.newHandle()
    guard accept(handle) == 0 else { return stream.finish(nil) }
    stream.peer = Endpoint(peerOf: handle) ?? stream.peer
    if let context {
      stream.tls = TLSSession(server: context, sealed: loop.sealed)
      guard stream.tls != nil else { return stream.finish(nil) }
    }
    stream.handler = makeHandler(stream)
    stream.established()
  }

  private func established() {
    uv_tcp_nodelay(tcp, 1)
    uv_tcp_keepalive(tcp, 1, 60)
    guard let first = opening?.handshake?.begin() else { return secure() }
    state = .tunnelling
    setPhaseDeadline(after: limits.handshakeTimeout)
    updateReading()
    tunnel(first)
  }

  private func secure() {
    guard tls != nil else { return becomeOpen() }
    state = .handshaking
    if conduct != .deaf { setPhaseDeadline(after: limits.handshakeTimeout) }
    updateReading()
    shakeHands()
  }

  private func newHandle() -> UnsafeMutablePointer<uv_tcp_t> {
    let handle = UnsafeMutablePointer<uv_tcp_t>.allocate(capacity: 1)
    uv_tcp_init(loop.uv, handle)
    handle.pointee.data = Unmanaged.passUnretained(self).toOpaque()
    tcp = handle
    return handle
  }
}

/// What a connection needs only until it is open.
struct Opening {
  /// Of a connection that waits for its attempts.
  var dial: Dial?
  /// Of an attempt that has yet to be brought through by a proxy.
  var handshake: ProxyHandshake?
  var hasProxy = false
}
