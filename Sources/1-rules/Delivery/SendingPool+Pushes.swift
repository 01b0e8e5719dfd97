import Basics

/// How pushes come in, leave and end.
extension SendingPool {
  mutating func take(_ offers: [Offer], _ moment: Moment, _ effects: inout [Effect]) {
    size.offered(offers.count, at: moment.uptime)
    for offer in offers {
      let index = Int(offer.push.rawValue)
      while records.count <= index { records.append(Record()) }
      guard records[index].state == .free else { continue }  // our driver's mistake; the push it names is on its way
      alive += 1
      records[index].state = .queued
      records[index].tries = RetryPolicy.Tries(expiration: offer.expiration)
      records[index].withdrawn = nil
      queued += 1
      if phase != .open {
        finish(offer.push, .unanswered(.closed), &effects)
      } else if let hold {
        finish(offer.push, .unanswered(.suspended(hold)), &effects)
      } else {
        queue.append(Ticket(push: offer.push, use: records[index].use))
      }
    }
  }

  func isValid(_ ticket: Ticket, _ state: Record.State) -> Bool {
    let record = records[Int(ticket.push.rawValue)]
    return record.use == ticket.use && record.state == state
  }

  /// The one place where a push ends.
  mutating func finish(_ push: PushID, _ outcome: PushOutcome, _ effects: inout [Effect]) {
    let index = Int(push.rawValue)
    guard records[index].state != .free else { return }
    if records[index].state == .queued { queued -= 1 }
    records[index].state = .free
    records[index].use &+= 1
    alive -= 1
    effects.append(.finish(push, outcome))
  }

  mutating func enqueue(_ push: PushID) {
    let index = Int(push.rawValue)
    records[index].state = .queued
    queued += 1
    queue.putInFront(Ticket(push: push, use: records[index].use))
  }

  /// An attempt that brought no acceptance.
  mutating func failed(
    _ push: PushID, _ failure: RetryPolicy.Failure, _ moment: Moment, _ effects: inout [Effect]
  ) {
    let index = Int(push.rawValue)
    switch policy.judge(failure, &records[index].tries, at: moment.wall, dice: &dice) {
    case .end(let outcome):
      finish(push, outcome, &effects)
    case .again(let delay):
      if let cause = calledOff(push) {
        finish(push, .unanswered(cause), &effects)
      } else if delay.milliseconds <= 0 {
        enqueue(push)
      } else {
        wait(push, until: moment.uptime + delay, &effects)
      }
    }
  }

  /// Why a push that came back goes nowhere any more.
  private func calledOff(_ push: PushID) -> PushOutcome.Cause? {
    records[Int(push.rawValue)].withdrawn ?? hold.map(PushOutcome.Cause.suspended)
  }

  private mutating func wait(_ push: PushID, until due: Instant.Span, _ effects: inout [Effect]) {
    guard phase == .open else { return finish(push, .unanswered(.closed), &effects) }
    let index = Int(push.rawValue)
    records[index].state = .waiting
    waiting.insert(Ticket(push: push, use: records[index].use), due: due)
  }

  mutating func withdraw(_ push: PushID, _ cause: PushOutcome.Cause, _ effects: inout [Effect]) {
    let index = Int(push.rawValue)
    guard index < records.count else { return }
    switch records[index].state {
    case .free: break
    case .queued, .waiting: finish(push, .unanswered(cause), &effects)
    case .sending, .flying: records[index].withdrawn = cause
    }
  }

  /// Ends what has not left.
  mutating func finishUnsent(_ cause: PushOutcome.Cause, _ effects: inout [Effect]) {
    for ticket in queue.removeAll() where isValid(ticket, .queued) { finish(ticket.push, .unanswered(cause), &effects) }
    for ticket in waiting.removeAll() where isValid(ticket, .waiting) {
      finish(ticket.push, .unanswered(cause), &effects)
    }
  }

  mutating func closeNow(_ effects: inout [Effect]) {
    guard phase != .closed else { return }
    for index in records.indices where records[index].state != .free {
      finish(PushID(rawValue: UInt32(index)), .unanswered(records[index].withdrawn ?? .closed), &effects)
    }
    endIfDone(&effects, now: true)
  }

  mutating func endIfDone(_ effects: inout [Effect], now: Bool = false) {
    guard alive == 0, phase == .closing || (now && phase != .closed) else { return }
    phase = .closed
    for connection in connections { effects.append(.close(connection.id)) }
    connections = []
    effects.append(.closed)
  }

  /// Gives streams to pushes, spread evenly over the connections, and asks for more connections if that is not enough.
  mutating func pump(_ moment: Moment, _ effects: inout [Effect]) {
    let spares = sparesNarrow(moment)
    var usable = connections.count { $0.free > 0 && !(spares && $0.narrowSince != nil) }
    // a connection that has yet to show what it is good for gets its one push first: few pushes might never reach it
    let start = usable > 1 ? connections.firstIndex { $0.life.isSettling && $0.free > 0 } ?? turn : turn
    for offset in 0..<connections.count where queued > 0 && usable > 0 {
      let index = (start + offset) % connections.count
      let free = connections[index].free
      guard free > 0, !(spares && connections[index].narrowSince != nil) else { continue }
      var share = min(free, (queued + usable - 1) / usable)
      usable -= 1
      if isProbing {
        guard !connections.contains(where: \.owes) else { break }
        share = 1
      }
      for _ in 0..<share {
        guard let push = nextToSend(moment, &effects) else { break }
        if !connections[index].owes { connections[index].busySince = moment.uptime }
        connections[index].budget.handle(.opened)
        records[Int(push.rawValue)].state = .sending(connections[index].id)
        effects.append(.send(push, connections[index].id))
      }
    }
    if !connections.isEmpty { turn = (turn + 1) % connections.count }
    if queued == 0 {
      crowdedSince = nil
      stalledSince = nil
    } else {
      crowdedSince = crowdedSince ?? moment.uptime
      stalledSince = stalledSince ?? moment.uptime
      grow(moment, &effects)
    }
    widen(moment, &effects)
  }

  private mutating func nextToSend(_ moment: Moment, _ effects: inout [Effect]) -> PushID? {
    while let ticket = queue.popFirst() {
      guard isValid(ticket, .queued) else { continue }
      let index = Int(ticket.push.rawValue)
      guard !records[index].tries.isExpired(at: moment.wall) else {
        finish(ticket.push, .unanswered(.expired), &effects)
        continue
      }
      queued -= 1
      return ticket.push
    }
    return nil
  }

  /// Whether the push is simply on its way.
  mutating func sent(
    _ push: PushID, _ id: ConnectionID, _ stream: StreamID, _ moment: Moment, _ effects: inout [Effect]
  ) -> Bool {
    let record = Int(push.rawValue)
    guard record < records.count, records[record].state == .sending(id) else { return true }
    records[record].state = .flying(id, stream, since: moment.uptime)
    guard let index = find(id) else {
      failed(push, .unprocessed("connection closed"), moment, &effects)
      return false
    }
    connections[index].usedAt = moment.uptime
    if connections[index].life.sendOpen(push, on: stream) { return true }
    let consequences = connections[index].life.handle(.sent(push, on: stream))
    guard !consequences.isEmpty else { return true }
    perform(consequences, index, "connection going away", nil, moment, &effects)
    return false
  }

  mutating func notSent(_ push: PushID, _ id: ConnectionID, _ moment: Moment, _ effects: inout [Effect]) {
    let record = Int(push.rawValue)
    guard record < records.count, records[record].state == .sending(id) else { return }
    if let index = find(id) {
      connections[index].budget.handle(.ended)
      connections[index].blockedSince = connections[index].blockedSince ?? moment.uptime
    }
    if let cause = calledOff(push) {
      finish(push, .unanswered(cause), &effects)
    } else {
      enqueue(push)
    }
  }

  /// The push goes back to wait, unless that would make it too late; expiration 0 does not wait at all.
  mutating func postponed(
    _ push: PushID, _ id: ConnectionID, _ until: Instant.Span, _ moment: Moment, _ effects: inout [Effect]
  ) {
    let record = Int(push.rawValue)
    guard record < records.count, records[record].state == .sending(id) else { return }
    if let index = find(id) { connections[index].budget.handle(.ended) }
    if let cause = calledOff(push) {
      finish(push, .unanswered(cause), &effects)
    } else if records[record].tries.mayNotWait(until: moment.wall + (until - moment.uptime)) {
      finish(push, .unanswered(.expired), &effects)
    } else {
      wait(push, until: until, &effects)
    }
  }

  /// Ends what became too late while it waited for a stream.
  mutating func finishExpired(_ moment: Moment, _ effects: inout [Effect]) {
    guard queued > 0 else { return }
    for ticket in queue.removeAll() where isValid(ticket, .queued) {
      if records[Int(ticket.push.rawValue)].tries.isExpired(at: moment.wall) {
        finish(ticket.push, .unanswered(.expired), &effects)
      } else {
        queue.append(ticket)
      }
    }
  }
}
