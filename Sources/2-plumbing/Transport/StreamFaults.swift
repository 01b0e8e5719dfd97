/// What ends a stream, in words for its owner.
extension StreamConnection {
  static func stopped(_ place: String) -> TransportFault {
    TransportFault(.stopped, at: place, what: "the connection was closed on our side", remedy: "Nothing is wrong.")
  }

  static func loopStopped(_ endpoint: Endpoint) -> TransportFault {
    TransportFault(
      .stopped, at: endpoint.description, what: "the process is closing its connections", remedy: "Nothing is wrong.")
  }

  static func timedOut(_ phase: TransportFault.Phase, _ place: String, _ what: String) -> TransportFault {
    TransportFault(.timedOut(phase), at: place, what: what, remedy: "Check that the peer runs and the network carries.")
  }

  static func endedInHandshake(_ place: String) -> TransportFault {
    TransportFault(
      .handshakeFailed, at: place, what: "the peer closed the connection during the TLS handshake",
      remedy: "Check host and port, and whether the peer refuses our certificate or address.")
  }

  static func endedByProxy(_ place: String) -> TransportFault {
    TransportFault(
      .proxyRefused, at: place, what: "the proxy closed the connection before it answered",
      remedy: "Check kind, host and port of the proxy, and its log.")
  }
}
