extension HTTPResponse {
  /// The answer to a request that may open a WebSocket: 101, after which `handler` has the socket for as long as it runs;
  /// or what RFC 6455 §4.2 says is wrong (400, 426). The socket closes when `handler` returns.
  public static func webSocket(
    _ request: HTTPRequest, on loop: EventLoop, limits: WebSocket.Limits = WebSocket.Limits(),
    handler: @escaping @Sendable (WebSocket) async -> Void
  ) -> HTTPResponse {
    let accept: String
    switch WebSocketHandshake.verdict(request) {
    case .refused(let response): return response
    case .accepted(let word): accept = word
    }
    return .switchingProtocols(
      headers: ["Upgrade": "websocket", "Sec-WebSocket-Accept": accept]
    ) { upgraded in
      WebSocket.accept(upgraded, on: loop, limits: limits, handler: handler)
    }
  }
}
