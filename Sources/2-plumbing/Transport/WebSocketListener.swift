public import Basics

/// Accepts WebSockets on one port, plain or by TLS, and deals them out over loops.
public final class WebSocketListener: Sendable {
  public struct Limits: Hashable, Sendable {
    /// Bytes of one message of the peer; more closes with 1009.
    public var message = 16_384
    /// Bytes of a request's head.
    public var head = 8_192
    /// For the handshakes, for the peer to answer our close, and to take what waits.
    public var patience = Instant.Span.seconds(10)
    /// Connections at once; more are closed as they come.
    public var connections = 100_000
    /// New connections a second; those above wait in the system's queue.
    public var connectionsPerSecond = 5_000

    public init() {}
  }

  /// The real address, with the port that a given 0 became.
  public var endpoint: Endpoint { listener.endpoint }
  private let listener: StreamListener
  private let door: WebSocketDoor

  private init(listener: StreamListener, door: WebSocketDoor) {
    self.listener = listener
    self.door = door
  }

  /// Returns once the port is open. `refusal` answers a handshake that is not to become a WebSocket; nil takes it.
  /// `makeOwner` is called on the connection's loop once it is open; the connection keeps what it answers until `closed`.
  public static func bind(
    _ endpoint: Endpoint, loops: LoopGroup, tls: TLSServerContext? = nil, limits: Limits = Limits(),
    refusal: @escaping @Sendable (HTTPRequest) -> HTTPResponse? = { _ in nil },
    makeOwner: @escaping @Sendable (WebSocketConnection) -> any WebSocketOwner
  ) async throws(TransportFault) -> WebSocketListener {
    let door = WebSocketDoor(loops: loops, limits: limits, refusal: refusal, makeOwner: makeOwner)
    var streamLimits = StreamLimits(handshakeTimeout: limits.patience)
    streamLimits.writeTimeout = .milliseconds(3 * limits.patience.milliseconds)  // the owner may say why before
    let listener = try await StreamListener.bind(
      endpoint, loops: loops, tls: tls, limits: streamLimits, mayAccept: { door.hasRoom },
      wait: { door.wait() },
      makeHandler: { WebSocketConnection(stream: $0, door: door) })
    return WebSocketListener(listener: listener, door: door)
  }

  /// Connections now, those in their handshake among them.
  public var connectionCount: Int { door.count }

  /// Accepts no more; open connections stay. Returns once the port is free again.
  public func close() async { await listener.close() }
}

/// What the connections of one listener share.
final class WebSocketDoor: Sendable {
  let limits: WebSocketListener.Limits
  let refusal: @Sendable (HTTPRequest) -> HTTPResponse?
  let makeOwner: @Sendable (WebSocketConnection) -> any WebSocketOwner
  private let state: Locked<(count: Int, pace: NewcomerPace)>
  private let clock = SystemClock()
  /// Readers that nobody needs now, by loop; each is touched on its loop only.
  private let spare: [ObjectIdentifier: SpareReaders]

  /// Guarded by its loop.
  private final class SpareReaders: @unchecked Sendable {  // guarded by the loop that it stands for
    var readers: [WebSocketReader] = []
  }

  init(
    loops: LoopGroup, limits: WebSocketListener.Limits, refusal: @escaping @Sendable (HTTPRequest) -> HTTPResponse?,
    makeOwner: @escaping @Sendable (WebSocketConnection) -> any WebSocketOwner
  ) {
    self.limits = limits
    self.refusal = refusal
    self.makeOwner = makeOwner
    state = Locked((0, NewcomerPace(perSecond: limits.connectionsPerSecond, now: clock.uptime.milliseconds)))
    spare = Dictionary(uniqueKeysWithValues: loops.loops.map { (ObjectIdentifier($0), SpareReaders()) })
  }

  var count: Int { state.withLock { $0.count } }

  var hasRoom: Bool { count < limits.connections }

  func began() { state.withLock { $0.count += 1 } }

  func ended() { state.withLock { $0.count -= 1 } }

  /// How long the next newcomer waits; nil: not at all, and then it counts.
  func wait() -> Instant.Span? {
    let now = clock.uptime.milliseconds
    return state.withLock { $0.pace.wait(at: now) }
  }

  func takeReader(_ loop: EventLoop) -> WebSocketReader {
    spare[ObjectIdentifier(loop)]?.readers.popLast()
      ?? WebSocketReader(expectsMask: true, maximumMessage: limits.message)
  }

  func giveBack(_ reader: WebSocketReader, _ loop: EventLoop) {
    guard let spare = spare[ObjectIdentifier(loop)], spare.readers.count < 4 else { return }
    spare.readers.append(reader)
  }
}
