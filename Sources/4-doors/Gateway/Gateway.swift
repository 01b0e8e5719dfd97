public import Audience
public import Basics
public import Messages
internal import Store
public import Transport

/// The door of apps: WebSockets on a listener of its own (docs/gateway-protocol.md). Its rules are `Session`'s; it has no task
/// and no buffer for a connection.
public final class Gateway: Sendable {
  public struct Settings: Sendable {
    public var limits = WebSocketListener.Limits()
    public var times = Session.Times()
    public var heartbeat = Heartbeat.Bounds()

    public init() {}
  }

  /// Where apps connect.
  public static let path = "/gateway/v1"

  public let service: MessageService
  let presence = Presence<GatewayConnection>()
  let settings: Settings
  let clock: any WallClock
  private let tables: [ObjectIdentifier: SessionTable]
  private let listener = Locked<WebSocketListener?>(nil)
  let endings = Locked(Endings())

  private init(_ service: MessageService, _ settings: Settings, clock: any WallClock, loops: LoopGroup) {
    self.service = service
    self.settings = settings
    self.clock = clock
    tables = Dictionary(uniqueKeysWithValues: loops.loops.map { (ObjectIdentifier($0), SessionTable($0)) })
  }

  /// Listens until it is stopped.
  public static func start(
    _ service: MessageService, on endpoint: Endpoint, tls: TLSServerContext? = nil, loops: LoopGroup,
    settings: Settings = Settings(), clock: any WallClock
  ) async throws(TransportFault) -> Gateway {
    let gateway = Gateway(service, settings, clock: clock, loops: loops)
    service.follow { [weak gateway] in gateway?.tell($0) }
    let listener = try await WebSocketListener.bind(
      endpoint, loops: loops, tls: tls, limits: settings.limits,
      refusal: { request in
        guard request.path != Self.path else { return nil }
        return HTTPResponse(status: 404, body: Array("Apps connect to \(Self.path).\n".utf8))
      },
      makeOwner: { GatewayConnection($0, gateway, gateway.tables[ObjectIdentifier($0.loop)]!) })
    gateway.listener.withLock { $0 = listener }
    return gateway
  }

  /// With the port that a given 0 became; nil once it is stopped.
  public var endpoint: Endpoint? { listener.withLock { $0 }?.endpoint }

  /// Devices whose app is connected and in the foreground.
  public func connected(app: Int64) -> DeviceSet { presence.connected(app: app) }

  /// true: connected; false: left within ten minutes; nil: neither.
  public func isConnected(_ device: SessionDevice) -> Bool? { presence.isConnected(device, at: clock.now) }

  public var connectionCount: Int { listener.withLock { $0 }?.connectionCount ?? 0 }
  public var presentCount: Int { presence.count }

  private func tell(_ news: InboxNews) {
    switch news {
    case .entry(let notice): announce(notice)
    case .end(let app, let end):
      endings.withLock { $0.note(app: app, end) }  // first: who has not entered yet is not in the tables
      for table in tables.values { table.loop.execute { table.end(app: app, end) } }
    }
  }

  private func announce(_ notice: InboxNotice) {
    guard presence.hasAnybody(of: notice.app) else {
      // the run of what was announced has a gap then, and whoever comes reads from the store
      return
    }
    let frame = WebSocketFrame.text(ServerFrame.entry(notice.entry))
    for table in tables.values { table.loop.execute { table.announce(notice, frame) } }
  }

  /// Takes no more connections, tells each when to come back, closes them, and returns when they are gone or `patience` is
  /// over. They are spread over as long as it takes to let them in again.
  public func stop(patience: Instant.Span = .seconds(5)) async {
    let listener = listener.withLock { $0 }
    await listener?.close()
    let count = listener?.connectionCount ?? 0
    let spread = 1000 + Int64(count) * 1000 / Int64(max(1, settings.limits.connectionsPerSecond))
    for table in tables.values { table.loop.execute { table.drain(spread: spread) } }
    let start = clock.uptime
    while let listener, listener.connectionCount > 0,
      clock.uptime.milliseconds - start.milliseconds < patience.milliseconds
    {
      try? await clock.sleep(for: .milliseconds(20))
    }
    for table in tables.values { table.loop.execute { table.cut() } }
    await service.settle()
    self.listener.withLock { $0 = nil }  // which knows us
  }
}
