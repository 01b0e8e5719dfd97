extension HTTPResponse {
  /// The answer to a request that may open a WebSocket: 101, after which `handler` has the socket for as long as it runs;
  /// or what RFC 6455 §4.2 says is wrong (400, 426). The socket closes when `handler` returns.
  public static func webSocket(
    _ request: HTTPRequest, on loop: EventLoop, limits: WebSocket.Limits = WebSocket.Limits(),
    handler: @escaping @Sendable (WebSocket) async -> Void
  ) -> HTTPResponse {
    func refuse(_ status: Int, _ words: String, _ headers: HTTPHeaders = [:]) -> HTTPResponse {
      var headers = headers
      headers["Content-Type"] = "text/plain; charset=utf-8"
      return HTTPResponse(status: status, headers: headers, body: Array((words + "\n").utf8))
    }
    guard request.method == "GET" else { return refuse(405, "A WebSocket begins with GET.", ["Allow": "GET"]) }
    guard WebSocketHandshake.lists(request.headers["Upgrade"], "websocket"),
      WebSocketHandshake.lists(request.headers["Connection"], "upgrade")
    else {
      return refuse(426, "Connect by WebSocket (Upgrade: websocket).", ["Upgrade": "websocket"])
    }
    guard request.headers["Sec-WebSocket-Version"] == "13" else {
      return refuse(426, "Only version 13 of WebSocket is spoken here.", ["Sec-WebSocket-Version": "13"])
    }
    guard let key = request.headers["Sec-WebSocket-Key"], WebSocketHandshake.isKey(key) else {
      return refuse(400, "Sec-WebSocket-Key must be 16 bytes in base64.")
    }
    return .switchingProtocols(
      headers: ["Upgrade": "websocket", "Sec-WebSocket-Accept": WebSocketHandshake.accept(key: key)]
    ) { upgraded in
      WebSocket.accept(upgraded, on: loop, limits: limits, handler: handler)
    }
  }
}
