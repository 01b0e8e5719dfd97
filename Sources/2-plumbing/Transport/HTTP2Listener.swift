public import Basics

/// Accepts HTTP/2 connections on one port and deals them out over loops. With TLS it takes clients that ask for `h2` by
/// ALPN and those that send no ALPN and start with the preface (spec/apns.md §1).
public final class HTTP2Listener: Sendable {
  /// The real address, with the port that a given 0 became.
  public let endpoint: Endpoint

  init(endpoint: Endpoint) { self.endpoint = endpoint }

  /// Returns once the port is open. `makeHandler` is called on the connection's loop after the handshake. Faults say
  /// what is wrong with the address and what to do.
  public static func bind(
    _ endpoint: Endpoint, loops: LoopGroup, tls: TLSServerContext?, settings: HTTP2Settings = .server,
    limits: HTTP2Limits = HTTP2Limits(),
    makeHandler: @escaping @Sendable (HTTP2ServerConnection) -> any HTTP2ServerHandler
  ) async throws(TransportFault) -> HTTP2Listener {
    fatalError("coming")
  }

  /// Takes no more connections, lets the open ones finish what they have begun (GOAWAY), and cuts what is left after
  /// `grace`. Returns when all are closed.
  public func stop(grace: Instant.Span) async { fatalError("coming") }
}
