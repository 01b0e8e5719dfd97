import Basics
import CNgHTTP2

/// Frames about the connection as a whole: PING, SETTINGS, and the end in order by GOAWAY (RFC 9113 §6.5, §6.7, §6.8).
extension HTTP2Session {
  /// Asks the peer for a sign of life; a `mark` of 1 is told to the owner.
  func ping(mark: UInt8) {
    guard let nghttp2, !isEnded else { return }
    nghttp2_submit_ping(nghttp2, UInt8(NGHTTP2_FLAG_NONE.rawValue), [mark, 0, 0, 0, 0, 0, 0, 0])
    if pingSent == nil { pingSent = loop.turnTime }
    stream?.checkTime(at: loop.later(limits.pingTimeout))
    flushLater()
  }

  func goAway(lastStream: Int32?, code: UInt32, debugData: [UInt8]) {
    guard let nghttp2, !isEnded else { return }
    goAwaySent = true
    let newest = nghttp2_session_get_last_proc_stream_id(nghttp2)
    let last = lastStream ?? newest
    if side == .server, last < newest {
      // Drops streams: what is already answered shall leave before it, whole.
      servedUpTo = min(servedUpTo, last)
      owedGoAways.append((last, code, debugData))
      return flushLater()
    }
    submitGoAway(last, code, debugData)
  }

  private func submitGoAway(_ last: Int32, _ code: UInt32, _ debugData: [UInt8]) {
    let submitted = nghttp2_submit_goaway(
      nghttp2, UInt8(NGHTTP2_FLAG_NONE.rawValue), last, code, debugData, debugData.count)
    if submitted == 0 { ownGoAways += 1 }
    if side == .server { servedUpTo = min(servedUpTo, last) }
    flushLater()
  }

  /// False when none is owed.
  func submitOwedGoAways() -> Bool {
    guard !owedGoAways.isEmpty else { return false }
    let owed = owedGoAways
    owedGoAways = []
    for (last, code, debugData) in owed { submitGoAway(last, code, debugData) }
    return true
  }

  func announce(maxConcurrentStreams limit: UInt32) {
    guard let nghttp2, !isEnded else { return }
    toAnnounce.append(limit)
    var entry = nghttp2_settings_entry(
      settings_id: Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue), value: Self.libraryLimit)
    nghttp2_submit_settings(nghttp2, UInt8(NGHTTP2_FLAG_NONE.rawValue), &entry, 1)
    flushLater()
  }

  /// Ends in order: no new streams, GOAWAY, then goodbye once the open ones have ended. A server says first that it will
  /// (RFC 9113 §6.8), so that requests already on their way are still served.
  func drain(_ reason: TransportFault) {
    guard !isMute else {
      stream?.reset(reason)
      return
    }
    guard !isDraining else { return }
    guard let nghttp2, !isEnded, isOpened else {
      stream?.close(reason)
      return
    }
    isDraining = true
    drainReason = reason
    if side == .server, !goAwaySent {
      drainWords = owner?.sessionDrains(reason) ?? []
      if nghttp2_submit_shutdown_notice(nghttp2) == 0 { ownGoAways += 1 }
      owesDrainPing = true
      drainDue = loop.later(.seconds(1))
      stream?.checkTime(at: drainDue!)
    } else {
      finishDraining()
    }
    flushLater()
  }

  func finishDraining() {
    drainDue = nil
    mayCloseWhenDrained = true
    if !goAwaySent { goAway(lastStream: side == .client ? 0 : nil, code: 0, debugData: drainWords) }
    flushLater()
  }

  /// Ends now; what is queued and fits is still sent.
  func end(_ reason: TransportFault) {
    guard !isMute else {
      stream?.reset(reason)
      return
    }
    guard isOpened, !isEnded else {
      stream?.close(reason)
      return
    }
    if !goAwaySent { goAway(lastStream: side == .client ? 0 : nil, code: 0, debugData: []) }
    flush()
    stream?.close(reason)
  }

  func abort(_ fault: TransportFault) { stream?.abort(fault) }
}
