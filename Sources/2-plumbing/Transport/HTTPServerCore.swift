internal import Basics
internal import CMicroHTTPD
internal import Synchronization

/// What the threads of one server share: settings, open connections, and the requests whose handlers run.
final class HTTPServerCore: Sendable {
  let limits: HTTPLimits
  let isTLS: Bool
  let refusal: @Sendable (HTTPRefusal, HTTPRequest) -> HTTPResponse
  let linger = HTTPLinger()
  private let handler: @Sendable (HTTPRequest) async -> HTTPResponse
  private let stopping = Atomic(false)
  private let start = ContinuousClock.now
  private let connections = Locked<[ObjectIdentifier: HTTPServerConnection]>([:])
  private let flights = Locked(Flights())

  /// Requests between their request line and the last byte of their answer.
  private struct Flights {
    var count = 0
    /// Suspended connections whose handler runs.
    var handled: [ObjectIdentifier: Handled] = [:]
    var whenLanded: CheckedContinuation<Void, Never>?
  }

  private struct Handled {
    var exchange: HTTPExchange
    var connection: HTTPConnectionPointer
    /// The same connection, as we know it; its descriptor is open while it is suspended.
    var peer: HTTPServerConnection
    var task: Task<Void, Never>?
  }

  init(
    limits: HTTPLimits, isTLS: Bool, refusal: @escaping @Sendable (HTTPRefusal, HTTPRequest) -> HTTPResponse,
    handler: @escaping @Sendable (HTTPRequest) async -> HTTPResponse
  ) {
    self.limits = limits
    self.isTLS = isTLS
    self.refusal = refusal
    self.handler = handler
  }

  var isStopping: Bool { stopping.load(ordering: .acquiring) }

  // MARK: connections and their deadlines

  func opened(_ connection: HTTPServerConnection) {
    expect(.request(within: limits.idle), on: connection)
    connections.withLock { $0[ObjectIdentifier(connection)] = connection }
  }

  /// After this the descriptor may be closed: nothing here touches it again.
  func closed(_ connection: HTTPServerConnection) {
    ended(on: connection)
    connections.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(connection)) }
  }

  /// What is to happen on a connection, and how long that may take before the connection is cut.
  enum Expectation {
    /// More of a request.
    case request(within: Instant.Span)
    case handler
    /// The answer is fetched.
    case fetching(within: Instant.Span)
  }

  func expect(_ next: Expectation, on connection: HTTPServerConnection) {
    switch next {
    case .request(let span):
      connection.deadline.store(elapsed() + span.milliseconds, ordering: .relaxed)
      connection.isReading.store(true, ordering: .releasing)
    case .handler:
      connection.isReading.store(false, ordering: .releasing)
      connection.deadline.store(.max, ordering: .relaxed)
    case .fetching(let span):
      connection.isReading.store(false, ordering: .releasing)
      connection.deadline.store(elapsed() + span.milliseconds, ordering: .relaxed)
    }
  }

  private func elapsed() -> Int64 {
    let (seconds, attoseconds) = start.duration(to: .now).components
    return seconds * 1000 + attoseconds / 1_000_000_000_000_000
  }

  func watchDeadlines() async {
    let shortest = [limits.idle, limits.reading, limits.writing].map(\.milliseconds).min()!
    let pause = Duration.milliseconds(max(10, min(1000, shortest / 4)))
    while (try? await Task.sleep(for: pause)) != nil {
      let now = elapsed()
      // A cut connection is seen by libmicrohttpd as one whose peer has left. Under the lock: it cannot be closed, and
      // its number given to another, before `closed` got the lock.
      connections.withLock { connections in
        for connection in connections.values where connection.isOver(at: now) { connection.cut() }
      }
      if limits.cancelsHandlersOfGonePeers { cancelHandlersOfGonePeers() }
    }
  }

  /// Under the lock: none is resumed, and its descriptor closed, before it is out of the table.
  private func cancelHandlersOfGonePeers() {
    let tasks = flights.withLock { flights in
      flights.handled.values.compactMap { $0.peer.hasLeft ? $0.task : nil }
    }
    for task in tasks { task.cancel() }
  }

  // MARK: requests in flight

  func began(_ exchange: HTTPExchange, on connection: HTTPServerConnection) {
    flights.withLock { $0.count += 1 }
    expect(.request(within: limits.reading), on: connection)
    connection.exchange = exchange
  }

  func ended(on connection: HTTPServerConnection) {
    guard connection.exchange != nil else { return }
    connection.exchange = nil
    expect(.request(within: limits.idle), on: connection)
    let waiter = flights.withLock { flights in
      flights.count -= 1
      return flights.count == 0 ? flights.whenLanded.take() : nil
    }
    waiter?.resume()
  }

  /// Runs the handler for a request read whole, on a connection that has been suspended.
  func handle(_ exchange: HTTPExchange, on connection: HTTPConnectionPointer) {
    let key = ObjectIdentifier(exchange)
    let request = exchange.takeRequest()
    let peer = HTTPServerConnection.of(connection.pointer)
    flights.withLock { $0.handled[key] = Handled(exchange: exchange, connection: connection, peer: peer) }
    let task = Task { [handler] in
      answer(key, with: await handler(request))
    }
    flights.withLock { $0.handled[key]?.task = task }
  }

  /// The first answer counts.
  private func answer(_ key: ObjectIdentifier, with response: HTTPResponse) {
    guard let handled = flights.withLock({ $0.handled.removeValue(forKey: key) }) else { return }
    handled.exchange.answer.withLock { $0 = response }
    MHD_resume_connection(handled.connection.pointer)
  }

  // MARK: the end

  func beginStopping() { stopping.store(true, ordering: .releasing) }

  /// Returns when nothing is in flight; what is still handled after `limits.stopping` is answered 503.
  func drain() async {
    let patience = Task {
      guard (try? await Task.sleep(for: .milliseconds(limits.stopping.milliseconds))) != nil else { return }
      giveUpOnHandlers()
      guard (try? await Task.sleep(for: .seconds(1))) != nil else { return }
      flights.withLock { $0.whenLanded.take() }?.resume()
    }
    await withCheckedContinuation { continuation in
      let landedAlready = flights.withLock { flights in
        if flights.count > 0 { flights.whenLanded = continuation }
        return flights.count == 0
      }
      if landedAlready { continuation.resume() }
    }
    patience.cancel()
    giveUpOnHandlers()
  }

  private func giveUpOnHandlers() {
    let handled = flights.withLock { Array($0.handled) }
    for (key, handled) in handled {
      handled.task?.cancel()
      answer(key, with: refusal(.stopping, handled.exchange.head))
    }
  }
}

/// One open connection: its deadline, and the request it is busy with.
final class HTTPServerConnection: @unchecked Sendable {  // see `exchange` and `goneBefore`
  let peer: Endpoint?
  private let descriptor: Int32
  /// Milliseconds on the core's clock.
  let deadline = Atomic(Int64.max)
  let isReading = Atomic(false)
  /// The deadline before which the peer was seen to be gone; only `isOver` uses it, under the lock of all connections.
  private var goneBefore: Int64?
  /// Belongs to libmicrohttpd's thread. Lives here because no end is told of a request whose head never came whole.
  var exchange: HTTPExchange?

  init(descriptor: Int32, peer: Endpoint?) {
    self.descriptor = descriptor
    self.peer = peer
  }

  /// Asked by the watch only, one call at a time. True past the deadline, and when the peer left within a request:
  /// libmicrohttpd's epoll overlooks an end that arrives together with bytes. Since the rest of a request may have been
  /// read and be on its way to the handler, the second look in the same wait counts.
  func isOver(at now: Int64) -> Bool {
    let deadline = deadline.load(ordering: .relaxed)
    if deadline <= now { return true }
    guard isReading.load(ordering: .acquiring), HTTPSocket.hasEnded(descriptor) else { return false }
    defer { goneBefore = deadline }
    return goneBefore == deadline
  }

  /// True when the peer has closed its side, or all of it.
  var hasLeft: Bool { HTTPSocket.hasEnded(descriptor) }

  func cut() { HTTPSocket.cut(descriptor) }
}

/// libmicrohttpd's connection; valid while it is suspended or one of its callbacks runs.
struct HTTPConnectionPointer: @unchecked Sendable {  // resuming takes libmicrohttpd's own lock
  let pointer: OpaquePointer
}
