public import Basics
public import PushPayload
public import Transport

/// What a fault does: to the answer of one request, or to a connection.
public enum FaultAction: Hashable, Sendable {
  case answer(Answer)
  case goAway(GoAway)
  /// The connection stays, everything is read, nothing is answered; with PINGs answered only HTTP/2 seems alive. Without
  /// conditions that need a request it is so from the handshake on.
  case halfOpen(answersPings: Bool)
  /// TCP is reset in the middle of the connection.
  case resetConnection
  case handshake(Handshake)
  /// At most so many bytes a second in each direction, for a span, else as long as the rule is in force.
  case bandwidth(bytesPerSecond: Int, lasting: Instant.Span?)
  /// Another MAX_CONCURRENT_STREAMS, 0 too, for a span, else as long as the rule is in force.
  case streams(UInt32, lasting: Instant.Span?)

  public enum Handshake: String, CaseIterable, Hashable, Sendable {
    /// TCP is accepted, TLS never answered.
    case never
    /// TCP is reset once the client has said hello.
    case reset
  }

  public struct Answer: Hashable, Sendable {
    public enum Reply: Hashable, Sendable {
      /// What the request deserves.
      case natural
      case refuse(Refuse)
      /// Whatever status and body.
      case raw(status: Int, body: [UInt8], contentType: String?)
      case resetStream(HTTP2ErrorCode)
      /// The stream stays open.
      case none
    }

    public var reply = Reply.natural
    public var delay: Instant.Span?
    /// At most so much more, by the rule's dice, so that answers overtake each other.
    public var jitter: Instant.Span?
    /// Whether the phone gets the push; nil as the answer says: only when it is 200.
    public var delivers: Bool?
    /// A body in DATA frames of one byte each, which Apple never sends.
    public var isSplit = false
    /// A `retry-after` header, which Apple never sends.
    public var retryAfter: String?

    public init(_ reply: Reply = .natural) { self.reply = reply }
  }

  public struct Refuse: Hashable, Sendable {
    public enum Timestamp: Hashable, Sendable {
      /// Now for 410, none otherwise.
      case usual
      case at(Instant)
      /// None, also for 410: what Apple never does.
      case absent
    }

    /// Apple's word, or one that no client knows yet.
    public var reason: String
    public var status: Int
    public var timestamp = Timestamp.usual

    public init(_ reason: RefusalReason, timestamp: Timestamp = .usual) {
      self.reason = reason.rawValue
      status = reason.status
      self.timestamp = timestamp
    }

    public init(reason: String, status: Int, timestamp: Timestamp = .usual) {
      self.reason = reason
      self.status = status
      self.timestamp = timestamp
    }
  }

  public struct GoAway: Hashable, Sendable {
    public enum LastStream: Hashable, Sendable {
      /// The request that the rule met is the last one served.
      case newest
      /// That request and the N - 1 after it are not served: the last-stream-id lies below them. When fewer come within a
      /// quarter of a second, those that did.
      case below(Int)
      /// 0: nothing of what is still open was served.
      case none
      /// 2^31-1 first, as a notice, then the newest (RFC 9113 §6.8).
      case noticeThenNewest
    }

    public enum Words: Hashable, Sendable {
      /// `{"reason":"…"}`, as Apple says it.
      case reason(String)
      case text(String)
      case none
    }

    /// What becomes of the connection behind it.
    public enum Ending: String, CaseIterable, Hashable, Sendable {
      /// Stays open: the client has to close it.
      case stay
      /// Closes when what is open has been answered.
      case drain
      case close
      case reset
    }

    public var lastStream = LastStream.newest
    public var code = HTTP2ErrorCode.noError
    public var words = Words.reason(RefusalReason.shutdown.rawValue)
    public var ending = Ending.stay

    public init() {}
  }

  var isForAnswer: Bool {
    switch self {
    case .answer: true
    case .goAway, .halfOpen, .resetConnection, .handshake, .bandwidth, .streams: false
    }
  }
}
