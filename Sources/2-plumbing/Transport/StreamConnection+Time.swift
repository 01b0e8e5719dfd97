import Basics
import CLibuv

/// What must happen in time.
extension StreamConnection {
  func setPhaseDeadline(after span: Instant.Span) {
    phaseDeadline = loop.later(span)
    checkTime(at: phaseDeadline)
  }

  func clearPhaseDeadline() { phaseDeadline = .max }

  /// Asks for a `timeCheck` at that `turnTime` at the latest. Costs nothing when one comes sooner anyway.
  func checkTime(at time: Int64) {
    guard time < timerDue, state != .closed, loop.isOpen else { return }
    timerDue = time
    if timer == nil { timer = .reusable(on: loop) { [unowned self] in self.timeCame() } }
    timer?.start(after: .milliseconds(max(0, time - loop.turnTime)))
  }

  private func timeCame() {
    timerDue = .max
    let now = loop.turnTime
    if now >= phaseDeadline { return phaseTimedOut() }
    if now >= writeDeadline {
      let stream = tcp.map { UnsafeMutableRawPointer($0).assumingMemoryBound(to: uv_stream_t.self) }
      let left = stream.map { uv_stream_get_write_queue_size($0) } ?? 0
      guard left < lastQueueSize else { return abort(Self.timedOut(.writing, place, "the peer takes no more bytes")) }
      lastQueueSize = left
      writeDeadline = loop.later(limits.writeTimeout)
    }
    let wanted = state == .open ? handler?.timeCheck(now: now) ?? .max : .max
    checkTime(at: min(wanted, phaseDeadline, writeDeadline))
  }

  private func phaseTimedOut() {
    switch state {
    case .connecting: abort(Self.timedOut(.connecting, place, "the peer did not answer"))
    case .tunnelling: abort(Self.timedOut(.proxy, place, "the proxy took the connection and brings it nowhere"))
    case .handshaking: abort(Self.timedOut(.handshake, place, "the peer did not finish the TLS handshake"))
    case .lingering: finish(fault ?? Self.stopped(place))
    case .open, .closing, .closed: break
    }
  }
}
