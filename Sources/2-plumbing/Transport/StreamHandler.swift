import Basics

/// What a byte stream tells its owner, on its loop. After `closed` comes nothing more.
protocol StreamHandler: AnyObject {
  /// TCP, and TLS where asked for, are up. Bytes may be written from here on.
  func opened(_ stream: StreamConnection)
  /// Bytes of the peer; the memory is good only during the call. Comes as long as reading is not paused, and may come
  /// once more for what was already in hand when it was.
  func received(_ bytes: UnsafeRawBufferPointer)
  /// All that was written has left, after a `write` that answered false.
  func writable()
  /// The peer sends no more (FIN or close_notify); writing still works. Not called when the connection is lost.
  func receivedEnd()
  /// Called at the time asked for by `checkTime(at:)`, or somewhat earlier; `now` is the loop's `turnTime`. Answers when
  /// to be called next, `Int64.max` for never.
  func timeCheck(now: Int64) -> Int64
  func closed(_ fault: TransportFault)
}

/// Times for a byte stream.
struct StreamLimits {
  var connectTimeout = Instant.Span.seconds(10)
  /// TLS only.
  var handshakeTimeout = Instant.Span.seconds(10)
  /// Bytes wait and the peer takes none.
  var writeTimeout = Instant.Span.seconds(30)
  /// How long a closed connection waits for the peer's end, so that our last words are not lost to a reset.
  var lingerTimeout = Instant.Span.seconds(1)
}
