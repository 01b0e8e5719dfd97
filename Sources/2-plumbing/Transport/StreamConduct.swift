import Basics

/// What a byte stream does to its peer on purpose, as a bad network or a dying server would: for servers that test their
/// clients. All on the loop.
extension StreamConnection {
  enum Conduct {
    case usual
    /// Reads everything and heeds nothing; writes nothing. TCP goes on acknowledging.
    case deaf
    /// Cuts TCP with a reset at the first byte.
    case resetsAtOnce
  }

  /// From now on the peer gets nothing more, and what it sends is read and dropped. What waits to be written is written.
  func goDeaf() {
    conduct = .deaf
    clearPhaseDeadline()
  }

  /// Lets at most so many bytes a second pass in each direction, as sealed by TLS; nil lifts the cap. What the system has
  /// in its buffers has passed.
  func limitRate(bytesPerSecond: Int?) {
    guard state != .closed else { return }
    guard let bytesPerSecond else {
      pace?.timer.cancel()
      pace = nil
      pump()
      return updateReading()
    }
    if pace == nil { pace = StreamPace(LoopTimer.reusable(on: loop) { [unowned self] in self.paceTimeCame() }) }
    pace?.output = BytePacer(bytesPerSecond: bytesPerSecond, now: loop.turnTime)
    pace?.input = BytePacer(bytesPerSecond: bytesPerSecond, now: loop.turnTime)
  }

  /// Counts what came; reading waits while it was too much.
  func paceInput(_ count: Int) {
    guard let pace else { return }
    pace.input.spend(count)
    holdInput(pace)
  }

  private func holdInput(_ pace: StreamPace) {
    pace.holdsInput = pace.input.granted(at: loop.turnTime) == 0
    if pace.holdsInput { pace.wake(at: pace.input.nextTime, loop) }
    updateReading()
  }

  /// How much of `waiting` bytes may leave now; asks to be woken for the rest.
  func paceOutput(_ waiting: Int) -> Int {
    guard let pace else { return waiting }
    let now = min(waiting, pace.output.granted(at: loop.turnTime))
    pace.output.spend(now)
    if now < waiting { pace.wake(at: pace.output.nextTime, loop) }
    return now
  }

  private func paceTimeCame() {
    guard let pace, state != .closed else { return }
    pace.due = .max
    if pace.holdsInput { holdInput(pace) }
    pump()
  }
}

/// A cap on a stream's bytes.
final class StreamPace {
  var output = BytePacer(bytesPerSecond: 1, now: 0)
  var input = BytePacer(bytesPerSecond: 1, now: 0)
  var holdsInput = false
  let timer: LoopTimer
  var due = Int64.max

  init(_ timer: LoopTimer) { self.timer = timer }

  func wake(at time: Int64, _ loop: EventLoop) {
    guard time < due, loop.isOpen else { return }
    due = time
    timer.start(after: .milliseconds(max(1, time - loop.turnTime)))
  }
}
