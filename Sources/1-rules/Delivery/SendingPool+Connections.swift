public import Basics

/// How connections come, are watched, and go.
extension SendingPool {
  mutating func grow(_ moment: Moment, _ effects: inout [Effect]) {
    let now = moment.uptime
    let usable = connections.count { !$0.life.isEnding }
    // what greets us soon, or has its first answer soon, brings streams; what has not after a while is not counted on
    let coming = connections.count {
      !$0.life.isEnding && (!$0.isUp || $0.life.isSettling) && now - $0.openedAt < settings.silence
    }
    guard usable == 0 || coming > 0 || now - (crowdedSince ?? now) >= settings.size.growAfter else { return }
    if isProbing && usable > 0 { return }
    guard connections.count < settings.size.limit * 4 else { return }  // the rest is ending, and does so in time
    let wanted = size.wanted(
      waiting: queued, streamsEach: streamsNow, coming: coming, connections: usable, at: now)
    for _ in 0..<(isProbing ? min(1, wanted) : wanted) where size.mayOpen(at: now) {
      crowdedSince = now
      open(firstAlone: settings.firstAlone, moment, &effects)
    }
  }

  /// One connection more when bodies have waited for the peers' windows on every one for `growAfter`: a window is 64 KiB a
  /// round trip where the peer leaves it as HTTP/2 has it, fewer pushes than streams (RFC 9113 §6.9.2).
  mutating func widen(_ moment: Moment, _ effects: inout [Effect]) {
    guard let due = nextWidening, due <= moment.uptime else { return }
    open(firstAlone: settings.firstAlone, moment, &effects)
  }

  /// Whether pushes are better kept for a connection whose window is open, or is about to be, than given to one where they
  /// would wait.
  func sparesNarrow(_ moment: Moment) -> Bool {
    guard connections.contains(where: { $0.narrowSince != nil }) else { return false }
    return connections.contains { connection in
      let isOpen = connection.narrowSince == nil && connection.blockedSince == nil
      guard isOpen, !connection.life.isEnding else { return false }
      if connection.isUp, !connection.life.isSettling { return connection.budget.limit > 0 }
      return moment.uptime - connection.openedAt < settings.silence
    }
  }

  var nextWidening: Instant.Span? {
    var latest: Instant.Span?
    var usable = 0
    for connection in connections where !connection.life.isEnding {
      guard let since = connection.narrowSince else { return nil }
      usable += 1
      latest = max(latest ?? since, since)
    }
    guard let latest, phase == .open, !isProbing, usable < settings.size.limit else { return nil }
    let due = latest + settings.size.growAfter
    return max(due, size.earliestOpen ?? due)
  }

  mutating func open(firstAlone: Bool, _ moment: Moment, _ effects: inout [Effect]) {
    size.opened(at: moment.uptime)
    let id = ConnectionID(rawValue: nextConnection)
    nextConnection &+= 1
    connections.append(
      Connection(
        id: id, life: ConnectionLife(firstAlone: firstAlone), budget: StreamBudget(ceiling: settings.streamsEach),
        openedAt: moment.uptime))
    effects.append(.open(id))
  }

  /// What a connection allows now, on the average of those that are proven; what we want of one before there are any.
  private var streamsNow: Int {
    let proven = connections.filter { $0.isUp && !$0.life.isEnding && !$0.life.isSettling }
    let allowed = proven.reduce(0) { $0 + $1.budget.limit }
    return allowed == 0 ? settings.streamsEach : max(1, allowed / proven.count)
  }

  /// Lets a connection go that is one too many for long: the one that owes least.
  private mutating func shrink(_ moment: Moment, _ effects: inout [Effect]) {
    let usable = connections.indices.filter { connections[$0].isUp && !connections[$0].life.isEnding }
    // where windows are what there is too little of, streams say nothing
    guard !connections.contains(where: { $0.narrowSince != nil }) else { return }
    let inUse = usable.reduce(0) { $0 + connections[$1].budget.inUse }
    guard
      size.isSurplus(
        inUse: inUse, waiting: queued, streamsEach: streamsNow, connections: usable.count, at: moment.uptime),
      let least = usable.min(by: { connections[$0].budget.inUse < connections[$1].budget.inUse })
    else { return }
    advance(least, .retire, "one connection fewer is enough", moment, &effects)
  }

  mutating func answered(
    _ index: Int, _ stream: StreamID, _ answer: Answer, _ moment: Moment, _ effects: inout [Effect]
  ) {
    let consequences = connections[index].life.handle(.answered(stream))
    guard !consequences.isEmpty else { return }
    let id = connections[index].id
    answersCame(index, moment, accepted: false)
    perform(consequences, index, "answered", answer, moment, &effects)
    guard case .refused(let refusal) = answer, refusal.endsConnection, let index = find(id) else { return }
    advance(index, .retire, "connection going away", moment, &effects)
  }

  /// The connection serves.
  mutating func answersCame(_ index: Int, _ moment: Moment, accepted: Bool) {
    connections[index].usedAt = moment.uptime
    connections[index].timeouts = 0
    stalledSince = nil
    if accepted { isProbing = false }
    if !connections[index].hasAnswered {
      connections[index].hasAnswered = true
      size.succeeded()
    }
  }

  /// Feeds a connection's life and performs what follows. The index is void afterwards.
  mutating func advance(
    _ index: Int, _ event: ConnectionLife.Event, _ why: String, _ moment: Moment, _ effects: inout [Effect]
  ) {
    perform(connections[index].life.handle(event), index, why, nil, moment, &effects)
  }

  mutating func perform(
    _ consequences: [ConnectionLife.Effect], _ index: Int, _ why: String, _ answer: Answer?, _ moment: Moment,
    _ effects: inout [Effect]
  ) {
    let id = connections[index].id
    for consequence in consequences {
      switch consequence {
      case .conclude(let push):
        connections[index].budget.handle(.ended)
        switch answer {
        case .accepted(let uniqueID):
          isProbing = false
          finish(push, .accepted(uniqueID: uniqueID), &effects)
        case .refused(let refusal):
          if refusal.provesCredential { isProbing = false }
          failed(push, .refused(refusal), moment, &effects)
        case nil: failed(push, .unanswered(why), moment, &effects)
        }
      case .resend(let pushes):
        for push in pushes {
          connections[index].budget.handle(.ended)
          failed(push, .unprocessed(why), moment, &effects)
        }
      case .resendMaybeSeen(let pushes):
        for push in pushes {
          connections[index].budget.handle(.ended)
          failed(push, .unanswered(why), moment, &effects)
        }
      case .close:
        effects.append(.close(id))
        remove(index, why, moment)
        return
      }
    }
  }

  /// The connection is gone: told by the driver, or found out by us, who then close it.
  mutating func lost(_ index: Int, _ why: String, closing: Bool = false, _ moment: Moment, _ effects: inout [Effect]) {
    let id = connections[index].id
    let consequences = connections[index].life.handle(.lost)
    if closing { effects.append(.abandon(id, why: why)) }
    perform(consequences, index, why, nil, moment, &effects)
    if let index = find(id) { remove(index, why, moment) }
  }

  private mutating func remove(_ index: Int, _ why: String, _ moment: Moment) {
    let connection = connections.remove(at: index)
    guard !connection.hasAnswered else { return }
    // idle from the start is no failure; a greeting without an answer, or none, is
    guard !connection.isUp || connection.usedAt != connection.openedAt else { return }
    lastFault = why
    size.failed(at: moment.uptime, dice: &dice)
  }

  mutating func tick(_ moment: Moment, _ effects: inout [Effect]) {
    let now = moment.uptime
    lastTick = now
    while let ticket = waiting.popDue(at: now) {
      if isValid(ticket, .waiting) { enqueue(ticket.push) }
    }
    for id in connections.map(\.id) {
      if let index = find(id) { watch(index, moment, &effects) }
    }
    shrink(moment, &effects)
    finishExpired(moment, &effects)
    if let since = stalledSince, queued > 0, now - since >= settings.patience {
      let why = lastFault ?? "no connection took the push"
      for ticket in queue.removeAll() where isValid(ticket, .queued) {
        finish(ticket.push, .unanswered(.retriesExhausted(why)), &effects)
      }
      stalledSince = nil
    }
  }

  private mutating func watch(_ index: Int, _ moment: Moment, _ effects: inout [Effect]) {
    let now = moment.uptime
    var connection = connections[index]
    connection.life = ConnectionLife()  // only looked at below; holding on to the real one would make it copy itself
    if !connection.isUp {
      guard now - connection.openedAt >= settings.connectTimeout else { return }
      return lost(index, "no greeting within \(settings.connectTimeout.words)", closing: true, moment, &effects)
    }
    if let since = connection.blockedSince, now - since >= settings.silence + settings.pingTimeout {
      return lost(index, "connection takes no streams", closing: true, moment, &effects)
    }
    if let asked = connection.pingAt {
      guard now - asked >= settings.pingTimeout else { return }
      return lost(index, "no answer to PING within \(settings.pingTimeout.words)", closing: true, moment, &effects)
    }
    guard connection.owes else {
      if now - connection.usedAt >= settings.idleLimit {
        advance(index, .retire, "idle", moment, &effects)
      } else if now - connection.heardAt >= settings.idlePing {
        ping(index, moment, &effects)
      }
      return
    }
    endLate(index, moment, &effects)
    guard let index = find(connection.id) else { return }
    let quietSince = max(connection.heardAt, connection.busySince)
    if now - quietSince >= settings.silence { ping(index, moment, &effects) }
  }

  private mutating func ping(_ index: Int, _ moment: Moment, _ effects: inout [Effect]) {
    connections[index].pingAt = moment.uptime
    effects.append(.ping(connections[index].id))
  }

  /// Gives up streams without an answer in time; a connection that lets many down is used no more.
  private mutating func endLate(_ index: Int, _ moment: Moment, _ effects: inout [Effect]) {
    let id = connections[index].id
    let late = connections[index].life.owed.filter { _, push in
      guard case .flying(_, _, let since) = records[Int(push.rawValue)].state else { return false }
      return moment.uptime - since >= settings.requestTimeout
    }
    for (stream, _) in late {
      guard let index = find(id) else { return }
      effects.append(.cancel(id, stream))
      connections[index].timeouts += 1
      advance(index, .reset(stream), "no answer within \(settings.requestTimeout.words)", moment, &effects)
    }
    if let index = find(id), connections[index].timeouts >= 3 {
      advance(index, .retire, "connection lets pushes down", moment, &effects)
    }
  }

  /// When another connection could be opened for what waits; by then or a later tick it will be.
  private var nextGrowth: Instant.Span? {
    let usable = connections.count { !$0.life.isEnding }
    guard usable < settings.size.limit, let crowdedSince else { return nil }
    let crowded = usable == 0 ? crowdedSince : crowdedSince + settings.size.growAfter
    return max(crowded, size.earliestOpen ?? crowded)
  }

  /// When `.tick` is due, by uptime; nil while nothing is to be watched.
  public var nextDue: Instant.Span? {
    guard let lastTick else { return nil }
    let period = Instant.Span.milliseconds(250)
    var due: [Instant.Span] = []
    if let earliest = waiting.earliest { due.append(earliest) }
    if queued > 0 {
      due.append(lastTick + period)
      if let growth = nextGrowth, growth > lastTick { due.append(growth) }
    }
    if let widening = nextWidening, widening > lastTick { due.append(widening) }
    for connection in connections {
      if !connection.isUp || connection.owes || connection.pingAt != nil || connection.blockedSince != nil {
        due.append(lastTick + period)
      } else {
        due.append(min(connection.heardAt + settings.idlePing, connection.usedAt + settings.idleLimit))
      }
    }
    return due.min()
  }
}

extension PushOutcome.Refusal {
  /// Whether the connection that brought it is better not used again.
  var endsConnection: Bool {
    switch handling {
    case .elsewhere, .laterElsewhere, .newToken, .credential: true
    case .dead, .fix, .later: false
    }
  }

  /// Whether APNs looked past the credential, which it checks before token and body (spec apns.md §8.3).
  public var provesCredential: Bool {
    switch handling {
    case .dead, .fix: true
    case .later, .elsewhere, .laterElsewhere, .newToken, .credential: false
    }
  }
}

extension Instant.Span {
  /// For messages: `15 s`, `250 ms`.
  var words: String { milliseconds % 1000 == 0 ? "\(milliseconds / 1000) s" : "\(milliseconds) ms" }
}
