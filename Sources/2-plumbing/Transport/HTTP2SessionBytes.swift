import Basics
import CNgHTTP2

/// Bytes out and in: output of one turn goes in one write, and a server whose output waits reads nothing.
extension HTTP2Session {
  func flushLater() {
    guard !flushAsked else { return }
    flushAsked = true
    loop.flushLater(self)
  }

  func flush() {
    flushAsked = false
    guard let nghttp2, let stream, !stream.isClosed, stream.conduct == .usual else { return }
    let batch = loop.batchBuffer
    var used = 0
    while stream.isWritable, !stream.isClosed {
      var data: UnsafePointer<UInt8>?
      let count = nghttp2_session_mem_send(nghttp2, &data)
      guard count > 0, let data else {
        if count == 0, submitOwedGoAways() { continue }
        if count < 0 {
          stream.abort(Self.violationFault(place, "HTTP/2 cannot go on (\(nghttp2Words(count)))"))
        }
        break
      }
      if used + count > batch.count {
        stream.write(UnsafeRawBufferPointer(rebasing: batch[..<used]))
        used = 0
      }
      if count > batch.count {
        stream.write(UnsafeRawBufferPointer(start: data, count: count))
        continue
      }
      (batch.baseAddress! + used).copyMemory(from: data, byteCount: count)
      if side == .server {
        patch(UnsafeMutableRawBufferPointer(rebasing: batch[used..<(used + count)]))
        used += explainNotice(UnsafeMutableRawBufferPointer(rebasing: batch[used...]), count)
      }
      used += count
    }
    if used > 0 { stream.write(UnsafeRawBufferPointer(rebasing: batch[..<used])) }
    // nghttp2 splits a body at the end of the window, so one that waits for it leaves nothing over
    isWindowUsedUp = side == .client && nghttp2_session_get_remote_window_size(nghttp2) <= 0
    if owesDrainPing {
      owesDrainPing = false
      ping(mark: 2)
    }
    if side == .server, !stream.isWritable, !isPaused {
      isPaused = true
      stream.pauseReading()
    }
    if becomesDeaf { stream.goDeaf() }
    closeIfDone()
  }

  /// Writes the stream limit that we announce into an outgoing SETTINGS frame; see `libraryLimit`.
  func patch(_ frame: UnsafeMutableRawBufferPointer) {
    guard frame.count >= 9, frame[3] == UInt8(NGHTTP2_SETTINGS.rawValue), frame[4] & 1 == 0, !toAnnounce.isEmpty else {
      return
    }
    let limit = toAnnounce.removeFirst()
    unacknowledged.append(limit)
    guard let limit else { return }
    var entry = 9
    while entry + 6 <= frame.count {
      if frame[entry] == 0, frame[entry + 1] == UInt8(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue) {
        frame.storeBytes(of: limit.bigEndian, toByteOffset: entry + 2, as: UInt32.self)
      }
      entry += 6
    }
  }

  /// See `HTTP2ServerConnection.mute`.
  func mute(answersPings: Bool) {
    guard !isMute, !isEnded else { return }
    isMute = true
    becomesDeaf = !answersPings
    // Somebody waits for the end already, and it would never come.
    guard !isDraining else {
      stream?.reset(StreamConnection.stopped(place))
      return
    }
    flushLater()
  }

  /// Puts `drainWords` behind a shutdown notice (GOAWAY of stream 2^31-1), which nghttp2 makes without debug data, when
  /// that is the frame of `count` bytes at the start of `batch`. Answers how many bytes were added.
  func explainNotice(_ batch: UnsafeMutableRawBufferPointer, _ count: Int) -> Int {
    guard count == 17, batch[3] == UInt8(NGHTTP2_GOAWAY.rawValue), batch[9] == 0x7F,
      batch[10...12].allSatisfy({ $0 == 0xFF }), drainWords.count <= min(256, batch.count - count)
    else { return 0 }
    let length = UInt16(8 + drainWords.count)
    batch[1] = UInt8(length >> 8)
    batch[2] = UInt8(length & 0xFF)
    UnsafeMutableRawBufferPointer(rebasing: batch[count...]).copyBytes(from: drainWords)
    return drainWords.count
  }

  func writable() {
    flush()
    guard isPaused, let stream, stream.isWritable else { return }
    isPaused = false
    if !unread.isEmpty {
      let bytes = unread
      unread = []
      bytes.withUnsafeBytes { received($0) }
    }
    if !isPaused { stream.resumeReading() }
  }

  func closeIfDone() {
    guard let nghttp2, let stream, !stream.isClosed, stream.isWritable else { return }
    if let violation {
      if nghttp2_session_want_write(nghttp2) == 0 { stream.close(violation) }
      return
    }
    guard mayCloseWhenDrained, open.isEmpty, nghttp2_session_want_write(nghttp2) == 0 else { return }
    stream.close(drainReason)
  }

  func received(_ bytes: UnsafeRawBufferPointer) {
    lastReceived = loop.turnTime
    var rest = bytes
    while let nghttp2, violation == nil, !isEnded, !rest.isEmpty {
      guard !isPaused else {
        unread.append(contentsOf: rest)
        return
      }
      // In pieces, so that few answers pile up before it shows whether the peer takes them.
      let piece = min(rest.count, 16_384)
      let taken = nghttp2_session_mem_recv(nghttp2, rest.baseAddress?.assumingMemoryBound(to: UInt8.self), piece)
      guard !isEnded else { return }
      guard taken >= 0 else { return refuse(taken) }
      rest = UnsafeRawBufferPointer(rebasing: rest[piece...])
      if nghttp2_session_get_outbound_queue_size(nghttp2) > 256 { flush() }
    }
    // a client's owner refills what has just come free, so that the server never waits for our other connections
    if side == .client { owner?.inputHandled() }
    if side == .client, !isEnded { flush() } else { flushLater() }
  }

  func refuse(_ code: Int) {
    let words =
      code == Int(NGHTTP2_ERR_BAD_CLIENT_MAGIC.rawValue)
      ? "the peer does not speak HTTP/2" : "the peer broke HTTP/2 (\(libraryWords ?? nghttp2Words(code)))"
    violation = Self.violationFault(place, words)
    nghttp2_session_terminate_session(nghttp2, UInt32(NGHTTP2_PROTOCOL_ERROR.rawValue))
    flush()
  }

  func receivedEnd() {
    guard !isEnded else { return }
    let reason = TransportFault(
      .closedByPeer, at: place, what: "the peer closed the connection",
      remedy: "Connect again when there is something to send.")
    switch side {
    case .client: stream?.close(reason)
    case .server where isMute: stream?.reset(reason)
    case .server:
      // What was asked in full is still answered; what was not never will be.
      for slot in open where !slot.pointee.isComplete { reset(slot.pointee.id, code: UInt32(NGHTTP2_CANCEL.rawValue)) }
      isDraining = true
      mayCloseWhenDrained = true
      goAwaySent = true
      drainReason = reason
      flushLater()
    }
  }

  func closed(_ fault: TransportFault) {
    let owner = self.owner
    self.owner = nil
    // A handler that looks at the connection in `sessionEnded` still finds it whole.
    owner?.sessionEnded(fault)
    stream = nil
    if let nghttp2 { nghttp2_session_del(nghttp2) }
    nghttp2 = nil
    discardSlots()
  }
}

func nghttp2Words(_ code: Int) -> String { String(cString: nghttp2_strerror(Int32(clamping: code))) }
