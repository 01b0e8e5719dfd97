import Basics
import CLibuv

/// What a byte stream tells its owner, on its loop. After `closed` comes nothing more.
protocol StreamHandler: AnyObject {
  /// TCP, and TLS where asked for, are up. Bytes may be written from here on.
  func opened(_ stream: StreamConnection)
  /// Bytes of the peer; the memory is good only during the call. Comes as long as reading is not paused, and may come
  /// once more for what was already in hand when it was.
  func received(_ bytes: UnsafeRawBufferPointer)
  /// All that was written has left, after a `write` that answered false.
  func writable()
  /// The peer sends no more (FIN or close_notify); writing still works. Not called when the connection is lost.
  func receivedEnd()
  func closed(_ fault: TransportFault)
}

/// Times for a byte stream.
struct StreamLimits {
  var connectTimeout = Instant.Span.seconds(10)
  var handshakeTimeout = Instant.Span.seconds(10)
  var writeTimeout = Instant.Span.seconds(30)
}

/// A TCP connection with or without TLS on one loop: HTTP/2 and WebSocket stand on it. Everything on `loop`.
final class StreamConnection: @unchecked Sendable {  // guarded by `loop`
  let loop: EventLoop

  init(loop: EventLoop) { self.loop = loop }

  /// Starts connecting, on the loop.
  static func connect(
    to endpoint: Endpoint, tls: TLSClientContext?, on loop: EventLoop, limits: StreamLimits, handler: any StreamHandler
  ) -> StreamConnection { fatalError("coming") }

  var peer: Endpoint { fatalError("coming") }

  /// Sends or keeps the bytes; at most one batch (64 KiB is best: one TLS write, one system call). False: the peer does
  /// not take them as fast; write no more until `writable()`, or what waits grows in memory.
  @discardableResult
  func write(_ bytes: UnsafeRawBufferPointer) -> Bool { fatalError("coming") }

  func pauseReading() { fatalError("coming") }
  func resumeReading() { fatalError("coming") }
  /// Sends what waits, says goodbye (close_notify, FIN), and closes; `closed` follows.
  func close() { fatalError("coming") }
  /// Closes at once; `closed(fault)` follows on a later turn of the loop.
  func abort(_ fault: TransportFault) { fatalError("coming") }
}

/// Accepts byte streams on one port.
final class StreamListener: Sendable {
  let endpoint: Endpoint
  init(endpoint: Endpoint) { self.endpoint = endpoint }

  /// `makeHandler` is called on the loop of each new connection before its handshake.
  static func bind(
    _ endpoint: Endpoint, loops: LoopGroup, tls: TLSServerContext?, limits: StreamLimits, maximumConnections: Int,
    makeHandler: @escaping @Sendable (StreamConnection) -> any StreamHandler
  ) async throws(TransportFault) -> StreamListener { fatalError("coming") }

  /// Accepts no more; open connections stay.
  func close() async { fatalError("coming") }
}
