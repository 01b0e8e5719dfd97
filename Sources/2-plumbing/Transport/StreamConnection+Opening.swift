import Basics
import CLibuv

/// How a connection comes to be: outward, one address after the other, or accepted.
extension StreamConnection {
  /// Starts connecting, on the loop. The outcome comes on a later turn, also when it is known at once.
  static func connect(
    to endpoint: Endpoint, tls context: TLSClientContext?, on loop: EventLoop, limits: StreamLimits,
    handler: any StreamHandler
  ) -> StreamConnection {
    loop.preconditionCurrent()
    let stream = StreamConnection(loop: loop, peer: endpoint, limits: limits)
    stream.handler = handler
    guard loop.admit(stream) else {
      stream.abort(Self.loopStopped(endpoint))
      return stream
    }
    if let context {
      stream.tls = TLSSession(client: context, host: endpoint.host, sealed: loop.sealed)
      guard stream.tls != nil else {
        let what = "TLS cannot name the host (\(OpenSSLErrors.take().text))"
        stream.abort(
          TransportFault(.handshakeFailed, at: stream.place, what: what, remedy: "Use a valid host name or address."))
        return stream
      }
    }
    stream.setPhaseDeadline(after: limits.connectTimeout)
    resolve(endpoint, on: loop) { result in
      guard stream.state == .connecting else { return }
      switch result {
      case .success(let addresses):
        stream.addresses = addresses.reversed()
        stream.tryNextAddress(after: UV_EAI_NODATA.rawValue)
      case .failure(let fault): stream.abort(fault)
      }
    }
    return stream
  }

  private func tryNextAddress(after code: Int32) {
    guard var address = addresses.popLast() else {
      return abort(TransportFault(system: code, at: place, doing: "connecting"))
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
    if status == 0 {
      established()
    } else {
      dropHandle()
      tryNextAddress(after: status)
    }
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

  /// Closes the handle of an address that did not answer; the connection goes on.
  private func dropHandle() {
    guard let tcp else { return }
    self.tcp = nil
    uv_close(UnsafeMutableRawPointer(tcp).assumingMemoryBound(to: uv_handle_t.self)) { $0!.deallocate() }
  }
}
