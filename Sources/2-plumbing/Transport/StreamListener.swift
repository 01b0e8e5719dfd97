import Basics
import CLibuv

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Accepts byte streams on one port and deals them out over loops.
final class StreamListener: @unchecked Sendable, LoopResident {  // everything but the constants by `home`'s thread
  /// The real address, with the port that a given 0 became. Set before anyone else sees the listener.
  private(set) var endpoint: Endpoint
  private let home: EventLoop
  private let loops: LoopGroup
  private let tls: TLSServerContext?
  private let limits: StreamLimits
  private let mayAccept: @Sendable () -> Bool
  private let wait: @Sendable () -> Instant.Span?
  private let makeHandler: @Sendable (StreamConnection) -> any StreamHandler
  private var handle: UnsafeMutablePointer<uv_tcp_t>?
  private var awaitingClose: [CheckedContinuation<Void, Never>] = []

  /// `makeHandler` is called on the loop of each new connection, before its TLS handshake. `mayAccept` is asked before,
  /// on some loop; false closes the newcomer at once. `wait` is asked before that: newcomers stay in the system's queue for
  /// as long as it says.
  static func bind(
    _ endpoint: Endpoint, loops: LoopGroup, tls: TLSServerContext?, limits: StreamLimits,
    mayAccept: @escaping @Sendable () -> Bool = { true },
    wait: @escaping @Sendable () -> Instant.Span? = { nil },
    makeHandler: @escaping @Sendable (StreamConnection) -> any StreamHandler
  ) async throws(TransportFault) -> StreamListener {
    let home = loops.next()
    let listener = StreamListener(
      endpoint: endpoint, home: home, loops: loops, tls: tls, limits: limits, mayAccept: mayAccept,
      wait: wait, makeHandler: makeHandler)
    let fault: TransportFault? = await withCheckedContinuation { continuation in
      home.execute {
        resolve(endpoint, on: home) { result in
          switch result {
          case .success(let addresses): continuation.resume(returning: listener.listen(on: addresses))
          case .failure(let fault): continuation.resume(returning: fault)
          }
        }
      }
    }
    if let fault { throw fault }
    return listener
  }

  private init(
    endpoint: Endpoint, home: EventLoop, loops: LoopGroup, tls: TLSServerContext?, limits: StreamLimits,
    mayAccept: @escaping @Sendable () -> Bool, wait: @escaping @Sendable () -> Instant.Span?,
    makeHandler: @escaping @Sendable (StreamConnection) -> any StreamHandler
  ) {
    self.endpoint = endpoint
    self.home = home
    self.loops = loops
    self.tls = tls
    self.limits = limits
    self.mayAccept = mayAccept
    self.wait = wait
    self.makeHandler = makeHandler
  }

  private func listen(on addresses: [sockaddr_storage]) -> TransportFault? {
    guard var address = addresses.first, home.admit(self) else { return StreamConnection.loopStopped(endpoint) }
    let made = UnsafeMutablePointer<uv_tcp_t>.allocate(capacity: 1)
    uv_tcp_init(home.uv, made)
    made.pointee.data = Unmanaged.passUnretained(self).toOpaque()
    handle = made
    var code = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { uv_tcp_bind(made, $0, 0) }
    }
    if code == 0 {
      code = uv_listen(UnsafeMutableRawPointer(made).assumingMemoryBound(to: uv_stream_t.self), 1024) {
        server, status in
        let listener = Unmanaged<StreamListener>.fromOpaque(server!.pointee.data).takeUnretainedValue()
        if status == 0 { listener.accept() }
      }
    }
    guard code == 0 else {
      abandon()
      return TransportFault(system: code, at: endpoint.description, doing: "listening")
    }
    if let real = Endpoint(ownOf: made) { endpoint.port = real.port }
    return nil
  }

  private func accept() {
    guard let handle else { return }
    if let span = wait() {
      // libuv listens no further until the one at hand is accepted
      home.schedule(after: span) { self.accept() }
      return
    }
    let server = UnsafeMutableRawPointer(handle).assumingMemoryBound(to: uv_stream_t.self)
    let target = loops.next()
    guard mayAccept() else { return refuse(server) }
    guard target !== home else {
      return StreamConnection.accepted(on: home, tls: tls, limits: limits) { client in
        uv_accept(server, UnsafeMutableRawPointer(client).assumingMemoryBound(to: uv_stream_t.self))
      } makeHandler: {
        makeHandler($0)
      }
    }
    // libuv accepts on the listener's loop only: the descriptor moves by duplication.
    var descriptor: uv_os_fd_t = -1
    let passing = newPassing(server)
    uv_fileno(UnsafeMutableRawPointer(passing).assumingMemoryBound(to: uv_handle_t.self), &descriptor)
    let moved = descriptor >= 0 ? fcntl(descriptor, F_DUPFD_CLOEXEC, 0) : -1
    close(passing)
    guard moved >= 0 else { return }
    target.execute { [tls, limits, makeHandler] in
      guard target.isOpen else {
        closeDescriptor(moved)
        return
      }
      StreamConnection.accepted(on: target, tls: tls, limits: limits) { client in
        let code = uv_tcp_open(client, moved)
        if code != 0 { closeDescriptor(moved) }
        return code
      } makeHandler: {
        makeHandler($0)
      }
    }
  }

  private func refuse(_ server: UnsafeMutablePointer<uv_stream_t>) { close(newPassing(server)) }

  private func newPassing(_ server: UnsafeMutablePointer<uv_stream_t>) -> UnsafeMutablePointer<uv_tcp_t> {
    let passing = UnsafeMutablePointer<uv_tcp_t>.allocate(capacity: 1)
    uv_tcp_init(home.uv, passing)
    uv_accept(server, UnsafeMutableRawPointer(passing).assumingMemoryBound(to: uv_stream_t.self))
    return passing
  }

  private func close(_ passing: UnsafeMutablePointer<uv_tcp_t>) {
    uv_close(UnsafeMutableRawPointer(passing).assumingMemoryBound(to: uv_handle_t.self)) { closed in
      UnsafeMutableRawPointer(closed!).assumingMemoryBound(to: uv_tcp_t.self).deallocate()
    }
  }

  /// Accepts no more; open connections stay. Returns once the port is free again.
  func close() async {
    await withCheckedContinuation { continuation in
      home.execute {
        guard self.handle != nil else { return continuation.resume() }
        self.awaitingClose.append(continuation)
        self.abandon()
      }
    }
  }

  func abandon() {
    guard let handle else { return }
    self.handle = nil
    handle.pointee.data = Unmanaged.passRetained(self).toOpaque()
    uv_close(UnsafeMutableRawPointer(handle).assumingMemoryBound(to: uv_handle_t.self)) { closed in
      let tcp = UnsafeMutableRawPointer(closed!).assumingMemoryBound(to: uv_tcp_t.self)
      let listener = Unmanaged<StreamListener>.fromOpaque(tcp.pointee.data).takeRetainedValue()
      tcp.deallocate()
      listener.home.dismiss(listener)
      for continuation in listener.awaitingClose { continuation.resume() }
      listener.awaitingClose = []
    }
  }
}

extension StreamConnection {
  /// Takes over a connected socket; on the loop. The descriptor is closed when that fails.
  static func adopt(
    _ descriptor: Int32, on loop: EventLoop, limits: StreamLimits,
    makeHandler: (StreamConnection) -> any StreamHandler
  ) -> Bool {
    var isOpen = false
    guard loop.isOpen else {
      closeDescriptor(descriptor)
      return false
    }
    accepted(on: loop, tls: nil, limits: limits) { client in
      let code = uv_tcp_open(client, descriptor)
      if code != 0 { closeDescriptor(descriptor) }
      return code
    } makeHandler: { stream in
      isOpen = true
      return makeHandler(stream)
    }
    return isOpen
  }
}

private func closeDescriptor(_ descriptor: Int32) { _ = close(descriptor) }
