public import Basics

/// What one HTTP server takes from strangers. Everything above a limit is answered, if the peer will listen, and closed.
public struct HTTPLimits: Sendable {
  /// Bytes of a request's line and headers; 431 above. Costs about twice as much memory for every open connection.
  public var head = 16 * 1024
  /// Bytes of a request's body, with a length or chunked; 413 above.
  public var body = 4 * 1024 * 1024
  /// Bytes of the body of a request that may be larger, by its head; nil where `body` holds.
  public var upload: @Sendable (HTTPRequest) -> Int? = { _ in nil }
  /// Open connections; those above wait in the listening queue (1,024 or the system's `somaxconn`).
  public var connections = 4096
  /// How long a connection may be open without a request line coming in.
  public var idle = Instant.Span.seconds(75)
  /// How long a request may take from its request line to its last byte, however slowly its bytes drip in (slow loris).
  public var reading = Instant.Span.seconds(30)
  /// How long the peer may take to fetch an answer.
  public var writing = Instant.Span.seconds(60)
  /// How long `stop` waits for what is in flight before it answers 503 in its place.
  public var stopping = Instant.Span.seconds(10)
  /// Cancels the task of a handler whose peer has closed its side, within a second or so: for servers whose answers
  /// take minutes. Whatever the handler answers is still sent, since a peer may close one side only.
  public var cancelsHandlersOfGonePeers = false
  /// Threads that read and write; handlers run elsewhere.
  public var threads = 1

  public init() {}
}

/// Why a request does not reach the handler.
public enum HTTPRefusal: Equatable, Sendable {
  case bodyTooLarge(limit: Int)
  case headTooLarge(limit: Int)
  case stopping

  /// The status that RFC 9110 and RFC 6585 have for it.
  public var status: Int {
    switch self {
    case .bodyTooLarge: 413
    case .headTooLarge: 431
    case .stopping: 503
    }
  }

  /// A sentence for the caller.
  public var message: String {
    switch self {
    case .bodyTooLarge(let limit): "The body is larger than the \(limit) bytes taken here."
    case .headTooLarge(let limit): "The request's headers are larger than the \(limit) bytes taken here."
    case .stopping: "The server is stopping; send the request again in a moment."
    }
  }

  /// `{"error": {"code": 413, "message": "…"}}`.
  public static func asJSON(_ refusal: HTTPRefusal, _ request: HTTPRequest) -> HTTPResponse {
    HTTPResponse(
      status: refusal.status, headers: ["Content-Type": "application/json"],
      body: Array("{\"error\":{\"code\":\(refusal.status),\"message\":\"\(refusal.message)\"}}".utf8))
  }
}
