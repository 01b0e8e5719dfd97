public import Basics

/// What becomes of a connection that has just come in, before TLS.
public enum HTTP2Admission: Sendable {
  case serve
  /// TCP is accepted and what comes is read, but never a byte is answered: a server that hangs.
  case ignore
  /// Cut by a TCP reset as soon as the client has sent its first byte, in mid-handshake with TLS.
  case cut
}

/// Accepts HTTP/2 connections on one port and deals them out over loops. With TLS it takes clients that ask for `h2` by
/// ALPN and those that send no ALPN and start with the preface (spec/apns.md §1).
public final class HTTP2Listener: Sendable {
  private struct Open {
    var connections: [ObjectIdentifier: HTTP2ServerConnection] = [:]
    var isStopping = false
    var awaitingEnd: [CheckedContinuation<Void, Never>] = []
  }

  /// Connections of this listener, from TCP accept to their end.
  private final class Registry: Sendable {
    let open = Locked(Open())

    func add(_ connection: HTTP2ServerConnection) -> Bool {
      open.withLock { open in
        open.connections[ObjectIdentifier(connection)] = connection
        return open.isStopping
      }
    }

    func remove(_ connection: HTTP2ServerConnection) {
      let waiting: [CheckedContinuation<Void, Never>] = open.withLock { open in
        open.connections[ObjectIdentifier(connection)] = nil
        guard open.connections.isEmpty else { return [] }
        defer { open.awaitingEnd = [] }
        return open.awaitingEnd
      }
      for continuation in waiting { continuation.resume() }
    }
  }

  /// The real address, with the port that a given 0 became.
  public var endpoint: Endpoint { listener.endpoint }
  private let listener: StreamListener
  private let registry: Registry

  private init(listener: StreamListener, registry: Registry) {
    self.listener = listener
    self.registry = registry
  }

  /// Returns once the port is open. `makeHandler` is called on the connection's loop after the handshake. Faults say
  /// what is wrong with the address and what to do. `admit` is asked for each newcomer, by its address, on its loop.
  public static func bind(
    _ endpoint: Endpoint, loops: LoopGroup, tls: TLSServerContext?, settings: HTTP2Settings = .server,
    limits: HTTP2Limits = HTTP2Limits(),
    admit: @escaping @Sendable (Endpoint) -> HTTP2Admission = { _ in .serve },
    makeHandler: @escaping @Sendable (HTTP2ServerConnection) -> any HTTP2ServerHandler
  ) async throws(TransportFault) -> HTTP2Listener {
    let registry = Registry()
    let streamLimits = StreamLimits(
      connectTimeout: limits.connectTimeout, handshakeTimeout: limits.handshakeTimeout,
      writeTimeout: limits.writeTimeout)
    let listener = try await StreamListener.bind(
      endpoint, loops: loops, tls: tls, limits: streamLimits,
      mayAccept: { registry.open.withLock { $0.connections.count < limits.connections && !$0.isStopping } },
      makeHandler: { stream in
        let connection = HTTP2ServerConnection(
          stream: stream, makeHandler: makeHandler, ended: { registry.remove($0) })
        let session = HTTP2Session(
          side: .server, loop: stream.loop, settings: settings, limits: limits, owner: connection)
        session.attach(stream)
        connection.attach(session)
        switch admit(stream.peer) {
        case .serve: break
        case .ignore:
          session.isMute = true
          stream.goDeaf()
        case .cut: stream.conduct = .resetsAtOnce
        }
        if registry.add(connection) { stream.abort(StreamConnection.stopped(stream.peer.description)) }
        return session
      })
    return HTTP2Listener(listener: listener, registry: registry)
  }

  /// Open connections now, those in their handshake among them.
  public var connectionCount: Int { registry.open.withLock { $0.connections.count } }

  /// Takes no more connections, lets the open ones finish what they have begun (GOAWAY), and cuts what is left after
  /// `grace`. Returns when all are closed.
  public func stop(grace: Instant.Span) async {
    await listener.close()
    let connections = registry.open.withLock { open in
      open.isStopping = true
      return Array(open.connections.values)
    }
    for connection in connections { connection.loop.execute { connection.close(graceful: true) } }
    var cutters: [LoopTimer] = []
    for connection in connections {
      cutters.append(connection.loop.schedule(after: grace) { connection.abort() })
    }
    await withCheckedContinuation { continuation in
      let isEmpty = registry.open.withLock { open in
        guard !open.connections.isEmpty else { return true }
        open.awaitingEnd.append(continuation)
        return false
      }
      if isEmpty { continuation.resume() }
    }
    for cutter in cutters { cutter.cancel() }
  }
}
