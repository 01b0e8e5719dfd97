public import Basics

/// What we announce in our first SETTINGS (RFC 9113 §6.5.2).
public struct HTTP2Settings: Hashable, Sendable {
  /// Bytes of the table that the peer's encoder may use with us.
  public var headerTableSize: UInt32 = 4096
  /// Server only: how many streams a client may have open; nil announces nothing. Changed later by `announce`.
  public var maximumConcurrentStreams: UInt32?
  /// Bytes of body that a peer may send on a stream before we take them.
  public var streamWindow: UInt32 = 65_535
  /// The same for the whole connection. It bounds what one peer can make us hold, so a server keeps it small; a client
  /// whose server answers with bodies stalls when it is small (spec/stack.md §2).
  public var connectionWindow: Int32 = 1 << 20
  public var maximumFrameSize: UInt32 = 16_384
  /// Advice to the peer; `HTTP2Limits.headerListSize` is what is enforced.
  public var maximumHeaderListSize: UInt32? = 8000

  public init() {}

  /// For a client of APNs: small answers, many of them.
  public static var client: HTTP2Settings {
    var settings = HTTP2Settings()
    settings.connectionWindow = 64 << 20
    return settings
  }

  public static var server: HTTP2Settings {
    var settings = HTTP2Settings()
    settings.maximumConcurrentStreams = 1000
    return settings
  }
}

/// What a peer may cost us; the same type for both sides. Times are measured by a clock that nobody sets.
public struct HTTP2Limits: Hashable, Sendable {
  /// Client: from the call to an open TCP connection, all addresses of the name together.
  public var connectTimeout = Instant.Span.seconds(10)
  /// From an open TCP connection to the end of the TLS handshake and the peer's first SETTINGS.
  public var handshakeTimeout = Instant.Span.seconds(10)
  /// Server: from the first byte of a request to its last; also for a frame that began and does not end.
  public var requestTimeout = Instant.Span.seconds(30)
  /// Without an open stream and without a PING from the peer for so long: a server says GOAWAY and closes, a client
  /// closes; nil for never. A PING counts since Apple advises it against the end of idle connections.
  public var idleTimeout: Instant.Span? = .seconds(3600)
  /// Output waits and the peer takes none of it.
  public var writeTimeout = Instant.Span.seconds(30)
  /// A PING after so long without a byte from the peer; nil for none.
  public var pingInterval: Instant.Span?
  /// From a PING to its answer.
  public var pingTimeout = Instant.Span.seconds(10)
  /// Names, values and 32 bytes a field (RFC 9113 §6.5.2); more is told as `HTTP2Request.excess` or `answerTooLarge`.
  public var headerListSize = 8000
  /// Bytes of a request's or an answer's body; more is told in the same way.
  public var bodySize = 65_536
  /// Server: how much of a body over `bodySize` is read and thrown away before the answer goes out early.
  public var discardedBodySize = 1 << 20
  /// Server: a stream above the acknowledged limit is reset with REFUSED_STREAM; off: it is served like any other.
  public var refusesOverrun = true
  /// Server: open streams beyond which a stream is refused in any case, also when the peer has not yet acknowledged a
  /// lower limit.
  public var streamCeiling = 4096
  /// Server: connections of one listener; those above it are closed at once.
  public var connections = 10_000

  public init() {}
}
