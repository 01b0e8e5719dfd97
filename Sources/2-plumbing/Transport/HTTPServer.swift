internal import Basics
internal import CLibraryShims
internal import CMicroHTTPD
internal import Synchronization

/// An HTTP/1.1 server for REST: libmicrohttpd reads and writes, an async handler answers.
///
/// The handler gets whole requests and may take as long as it likes; its connection waits meanwhile and costs no thread.
/// Requests of one connection are handled one after the other, those of different connections at the same time. It is
/// called at most once a request and its answer is sent at most once; nothing is sent when the peer has left.
/// Offers of other protocols (`Upgrade: h2c`) are ignored unless the handler takes them (`HTTPResponse.switchingProtocols`).
/// What is no HTTP at all is answered 400 by libmicrohttpd in HTML, as are heads above twice `HTTPLimits.head`.
public final class HTTPServer: Sendable {
  /// Where it listens, with the real port if port 0 was asked for.
  public let endpoint: Endpoint
  private let core: HTTPServerCore
  private let watch: Task<Void, Never>
  /// nil once stopped.
  private let daemon: Locked<HTTPDaemon?>

  private init(endpoint: Endpoint, core: HTTPServerCore, daemon: HTTPDaemon) {
    self.endpoint = endpoint
    self.core = core
    self.daemon = Locked(daemon)
    watch = Task { await core.watchDeadlines() }
  }

  deinit {
    watch.cancel()
    // A server that was not stopped goes on until the process ends: its threads still use `core`.
  }

  /// Listens when it returns. Throws when the address cannot be bound (in use, not ours, not permitted), naming it.
  /// With `tls`, HTTPS only (libmicrohttpd's GnuTLS, TLS 1.2 and 1.3, `http/1.1` by ALPN); then no socket is handed over,
  /// and an answer that would is replaced by 501. `refusal` answers in the handler's place where a limit is hit; it runs on the server's thread and must not block.
  public static func start(
    _ endpoint: Endpoint, limits: HTTPLimits = HTTPLimits(), tls: TLSIdentity? = nil,
    refusal: @escaping @Sendable (HTTPRefusal, HTTPRequest) -> HTTPResponse = HTTPRefusal.asJSON,
    handler: @escaping @Sendable (HTTPRequest) async -> HTTPResponse
  ) throws(TransportFault) -> HTTPServer {
    guard tls == nil || belfry_mhd_has_tls() != 0 else {
      throw TransportFault(
        .system, at: endpoint.description, what: "this libmicrohttpd was built without TLS",
        remedy: "Install one with GnuTLS, or listen without TLS behind a proxy that has it.")
    }
    let listener = try HTTPListeningSocket(endpoint)
    let core = HTTPServerCore(limits: limits, isTLS: tls != nil, refusal: refusal, handler: handler)
    guard let daemon = HTTPDaemon(listener: listener, limits: limits, tls: tls, core: core) else {
      listener.release()
      if tls != nil {
        throw TransportFault(
          .system, at: endpoint.description, what: "GnuTLS does not take the certificate or its key",
          remedy: "Check that the file holds a certificate and the private key that belongs to it.")
      }
      throw TransportFault(
        .system, at: endpoint.description,
        what: "cannot start the HTTP server: no thread, memory or descriptor is left",
        remedy: "Raise the limits of threads and open files.")
    }
    return HTTPServer(endpoint: listener.endpoint, core: core, daemon: daemon)
  }

  /// Takes no new connection, answers what is in flight (503 for what is not answered within `HTTPLimits.stopping`),
  /// closes every connection but upgraded ones. Returns when nothing of it runs any more; a second call returns at once.
  public func stop() async {
    guard let daemon = daemon.withLock({ $0.take() }) else { return }
    core.beginStopping()
    let listener = daemon.stopListening()
    await core.drain()
    watch.cancel()
    daemon.stop(releasing: listener)
  }
}

/// libmicrohttpd's daemon.
struct HTTPDaemon: @unchecked Sendable {  // its functions take its own locks
  private let pointer: OpaquePointer
  private let core: Unmanaged<HTTPServerCore>
  /// Text that libmicrohttpd points to while it runs.
  private let identity: UnsafeMutablePointer<CChar>?

  /// nil if libmicrohttpd refuses: a certificate that is none, no memory, threads or descriptors.
  init?(listener: HTTPListeningSocket, limits: HTTPLimits, tls: TLSIdentity?, core: HTTPServerCore) {
    self.core = Unmanaged.passRetained(core)
    identity = tls.map { tls in
      let text = tls.pem.map { CChar(bitPattern: $0) } + [0]
      let copy = UnsafeMutablePointer<CChar>.allocate(capacity: text.count)
      copy.initialize(from: text, count: text.count)
      return copy
    }
    let inactivity = [limits.idle, limits.reading, limits.writing].max()!
    var settings = belfry_mhd_settings(
      listening_socket: listener.descriptor, threads: UInt32(max(1, limits.threads)),
      connection_limit: UInt32(max(1, limits.connections)),
      idle_seconds: UInt32(clamping: inactivity.milliseconds / 1000 + 5),
      memory_limit: max(32 * 1024, limits.head * 2), identity: identity, context: self.core.toOpaque(),
      access: httpServerAccess, target: httpServerTarget, completed: httpServerCompleted,
      connection: httpServerConnection)
    guard let pointer = belfry_mhd_start(&settings) else {
      identity?.deallocate()
      self.core.release()
      return nil
    }
    self.pointer = pointer
  }

  /// New connections are refused from here on. Answers the listening socket, which must stay open until the threads have
  /// ended: one of them may yet take it out of its epoll set, and libmicrohttpd ends the process where it finds it closed.
  func stopListening() -> Int32 {
    let listener = MHD_quiesce_daemon(pointer)
    if listener >= 0 { HTTPSocket.cut(listener) }
    return listener
  }

  /// Every suspended connection has been resumed before.
  func stop(releasing listener: Int32) {
    MHD_stop_daemon(pointer)
    if listener >= 0 { HTTPSocket.release(listener) }
    identity?.deallocate()
    core.release()
  }
}
