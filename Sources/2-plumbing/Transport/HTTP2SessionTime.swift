import Basics
import CNgHTTP2

/// What must happen in time, on both sides.
extension HTTP2Session {
  func timeCheck(now: Int64) -> Int64 {
    var next = Int64.max
    guard !isMute else { return .max }
    /// False when the time has come.
    func waits(_ since: Int64, _ span: Instant.Span) -> Bool {
      let (due, overflow) = since.addingReportingOverflow(span.milliseconds)
      guard !overflow, now >= due else {
        if !overflow { next = min(next, due) }
        return true
      }
      return false
    }
    if !settingsSeen {
      guard now < settingsDue else {
        abort(StreamConnection.timedOut(.settings, place, "the peer sent no HTTP/2 SETTINGS"))
        return .max
      }
      next = settingsDue
    } else if side == .client, !settingsHeld {
      guard now < settingsDue else {
        // RFC 9113 §6.5.3: "it MAY issue a connection error of type SETTINGS_TIMEOUT"
        goAway(lastStream: 0, code: UInt32(NGHTTP2_SETTINGS_TIMEOUT.rawValue), debugData: [])
        end(StreamConnection.timedOut(.settings, place, "the peer does not acknowledge our HTTP/2 SETTINGS"))
        return .max
      }
      next = min(next, settingsDue)
    }
    if let sent = pingSent {
      guard waits(sent, limits.pingTimeout) else {
        abort(StreamConnection.timedOut(.ping, place, "the peer does not answer a PING"))
        return .max
      }
    } else if let interval = limits.pingInterval, !waits(lastReceived, interval) {
      ping(mark: 0)
      _ = waits(now, limits.pingTimeout)
    }
    if let drainDue {
      if now >= drainDue { finishDraining() } else { next = min(next, drainDue) }
    }
    if open.isEmpty, !isDraining, let idle = limits.idleTimeout, !waits(lastUse, idle) {
      drain(StreamConnection.timedOut(.idle, place, "nothing was asked for too long"))
    }
    if side == .server { checkStreams(waits) }
    return next
  }

  func checkStreams(_ waits: (Int64, Instant.Span) -> Bool) {
    for slot in open {
      if !slot.pointee.isComplete, !slot.pointee.isDelivered, !waits(slot.pointee.startedAt, limits.requestTimeout) {
        guard reading != slot else {
          return abort(StreamConnection.timedOut(.request, place, "a request's headers did not end in time"))
        }
        reset(slot.pointee.id, code: UInt32(NGHTTP2_CANCEL.rawValue))
      }
      if slot.pointee.isAnswered, stream?.pace == nil,
        !waits(max(slot.pointee.answeredAt, lastDataSent), limits.writeTimeout)
      {
        return abort(StreamConnection.timedOut(.writing, place, "the client opens no window for its answers"))
      }
    }
  }

  /// A stream began: make sure that a check comes in time.
  func watch() {
    guard side == .server else { return }
    stream?.checkTime(at: loop.later(min(limits.requestTimeout, limits.writeTimeout)))
  }
}
