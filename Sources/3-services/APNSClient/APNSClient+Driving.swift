import Basics
import Delivery
import PushPayload
import Transport

/// The loop's side: what happens goes into the pool, what follows is done.
extension APNSClient {
  /// Everything that the connections said in this turn.
  func turnEnded() {
    let moment = Moment(any: clock)
    var items: [TurnInbox.Item] = []
    var streams: [StreamID] = []
    swap(&items, &inbox.items)
    swap(&streams, &inbox.streams)
    for item in items {
      if case .accepted(let link, let range) = item {
        accepted(link, streams[range], moment)
      } else {
        take(item, moment)
      }
    }
    watchWindows()
    followPending(moment)
    items.removeAll(keepingCapacity: true)
    streams.removeAll(keepingCapacity: true)
    if inbox.items.isEmpty {
      swap(&items, &inbox.items)
      swap(&streams, &inbox.streams)
    }
    arm(moment)
  }

  /// Pushes accepted on one connection, one behind the other: nearly all that ever happens.
  private func accepted(_ link: ConnectionLink, _ streams: ArraySlice<StreamID>, _ moment: Moment) {
    guard links[link.id] != nil else { return }
    applyPending(moment)
    proven(link, moment)
    if !(topics.isQuiet && devices.isQuiet) {
      for stream in streams { absolve(link.id, stream, moment) }
    }
    pool.accepted(streams, of: link.id, at: moment, into: &effects)
    owesPump = true
  }

  private func take(_ item: TurnInbox.Item, _ moment: Moment) {
    switch item {
    case .accepted: break  // done by the caller
    case .event(let event):
      if case .answered(let id, let stream, .accepted) = event {
        if let link = links[id] { proven(link, moment) }
        if !(topics.isQuiet && devices.isQuiet) { absolve(id, stream, moment) }
      }
      pending.append(event)
    case .refused(let id, let stream, let refusal, let date):
      refused(id, stream, refusal, date, moment)
    case .connected(let id):
      links[id]?.isConnected = true
      meter.connected()
      onEvent(.connected(server.endpoint))
    case .goAway(let id, let reason):
      meter.wentAway()
      onEvent(.goAway(server.endpoint, reason: reason))
      guard let generation = links[id]?.generation, let known = reason.flatMap(RefusalReason.init(rawValue:)) else {
        return
      }
      credentialRefused(id, known, generation, nil, moment)
    case .ended(let id, let fault):
      guard let link = links.removeValue(forKey: id) else { return }
      link.isReleased = true
      lastFault = fault
      if !link.isConnected { meter.connectFailed() }
      successorLost(id, fault, moment)
      onEvent(
        link.isConnected ? .disconnected(server.endpoint, why: fault.description) : .connectFailed(fault))
      pending.append(.lost(id, fault.description))
    }
  }

  /// APNs took a push: what it was sent with is good.
  private func proven(_ link: ConnectionLink, _ moment: Moment) {
    guard let generation = link.generation else { return }
    if link.epoch == epoch { gate.accepted(generation, at: moment) } else { proved(link.id, moment) }
  }

  /// APNs took a push: its topic and its device are good.
  private func absolve(_ id: ConnectionID, _ stream: StreamID, _ moment: Moment) {
    guard let push = pool.push(on: stream, of: id), let slot = slots[Int(push.rawValue)] else { return }
    _ = topics.handle(.accepted(topic: slot.topic), at: moment.uptime)
    devices.accepted(slot.token, at: moment.uptime)
  }

  private func refused(
    _ id: ConnectionID, _ stream: StreamID, _ refusal: PushOutcome.Refusal, _ date: [UInt8]?, _ moment: Moment
  ) {
    meter.answered(refusal)
    if let push = pool.push(on: stream, of: id), let slot = slots[Int(push.rawValue)] {
      let outgoing = slot.batch.pushes.push(at: slot.index)
      onEvent(.refused(RefusedPush(outgoing, refusal)))
      // an unknown 403 is about what we may do, not about one device
      if let reason = refusal.known ?? (refusal.status == 403 ? .forbidden : nil) {
        credentialRefused(id, reason, slot.generation, date, moment)
        if reason == .tooManyRequests { devices.refused(outgoing.token, at: moment.uptime) }
        if reason.concernsTopic { topicRefused(reason, outgoing.topic, moment) }
      }
    }
    if refusal.provesCredential { proved(id, moment) }
    pending.append(.answered(id, stream, .refused(refusal)))
  }

  private func credentialRefused(
    _ id: ConnectionID, _ reason: RefusalReason, _ generation: ProviderTokenLife.Generation, _ date: [UInt8]?,
    _ moment: Moment
  ) {
    switch reason.handling {
    case .newToken, .credential:
      guard !isRefusedElsewhere(id, reason, generation, date, moment) else { return }
      let (next, alarm) = gate.refused(
        generation, reason, theirDate: date.flatMap { instant(fromHTTPDate: $0) }, at: moment)
      if let alarm { onEvent(.alarm(alarm)) }
      warrant = nil
      hold(next, moment)
    case .dead, .fix, .later, .elsewhere, .laterElsewhere:
      return
    }
  }

  private func topicRefused(_ reason: RefusalReason, _ topic: String, _ moment: Moment) {
    for effect in topics.handle(.refused(topic: topic, reason), at: moment.uptime) {
      switch effect {
      case .alarm(_, let words): onEvent(.alarm(words))
      case .hold(let topic, let words):
        let held = slots.indices.filter { index in
          slots[index].map { $0.topic == topic } ?? false
        }
        follow(.withdrawn(held.map { PushID(rawValue: UInt32($0)) }, .suspended(words)), moment)
      }
    }
  }

  /// Asks the credential whether pushes may pass now, and tells the pool when that changed.
  func admit(_ moment: Moment) {
    if let notice = gate.notice(at: moment) { onEvent(notice) }
    warrant = nil
    hold(currentWarrant(moment), moment)
  }

  private func currentWarrant(_ moment: Moment) -> Warrant {
    if let warrant { return warrant }
    let current = gate.warrant(at: moment)
    warrant = current
    return current
  }

  private func successorWarrant(_ moment: Moment) -> Warrant {
    successor?.gate.warrant(at: moment) ?? .hold("the credential of this connection is not used any more")
  }

  private func hold(_ warrant: Warrant, _ moment: Moment) {
    switch warrant {
    case .hold(let words):
      heldWords = words
      guard !isHeld else { return }
      isHeld = true
      follow(.held(words), moment)
    case .send:
      guard isHeld else { return }
      isHeld = false
      heldWords = nil
      follow(.resumed, moment)
    }
  }

  /// Feeds one event from outside the turn.
  func handle(_ event: SendingPool.Event, _ moment: Moment) {
    follow(event, moment)
    arm(moment)
  }

  /// Tells the pool of connections whose bodies began, or ceased, to wait for the peer's window.
  private func watchWindows() {
    for link in open.links.values {
      guard let isNarrow = link.connection?.isWindowUsedUp, isNarrow != link.isNarrow else { continue }
      link.isNarrow = isNarrow
      pending.append(.narrow(link.id, isNarrow))
    }
  }

  /// When it comes late, this process or its machine was held up: what peers sent meanwhile is read first, so that
  /// nobody who has answered is taken for dead, and his pushes are not sent twice.
  private func tick() {
    let now = clock.uptime
    guard let due = tickerDue, now - due > .milliseconds(100) else { return judge() }
    tickerDue = now
    loop.schedule(after: .milliseconds(10)) { self.assumeIsolated { $0.judge() } }
  }

  private func judge() {
    tickerDue = nil
    let moment = Moment(any: clock)
    warrant = nil
    devices.tidy(at: moment.uptime)
    watchWindows()
    handle(.tick, moment)
  }

  /// Sees to it that the pool's next due time is not missed, nor asked for more often than needed.
  private func arm(_ moment: Moment) {
    warrant = nil
    guard let due = pool.nextDue else { return }
    if let tickerDue, tickerDue <= due { return }
    ticker?.cancel()
    tickerDue = due
    let span = Instant.Span.milliseconds(max(1, due.milliseconds - moment.uptime.milliseconds))
    ticker = Task { [clock, weak self] in
      guard (try? await clock.sleep(for: span)) != nil else { return }
      await self?.tick()
    }
  }

  /// Tells the pool what this turn brought so far; streams are given out later.
  private func applyPending(_ moment: Moment) {
    guard !pending.isEmpty else { return }
    var events: [SendingPool.Event] = []
    swap(&events, &pending)
    pool.apply(events, at: moment, into: &effects)
    events.removeAll(keepingCapacity: true)
    if pending.isEmpty { swap(&events, &pending) }
    owesPump = true
  }

  /// Feeds what this turn brought so far.
  private func followPending(_ moment: Moment) {
    applyPending(moment)
    guard owesPump else { return }
    owesPump = false
    pool.handle([], at: moment, into: &effects)
    if !isPerforming { performAll(moment) }
  }

  func follow(_ event: SendingPool.Event, _ moment: Moment) {
    followPending(moment)
    pool.handle(event, at: moment, into: &effects)
    // a nested call (hold, topic) appends behind what the outer one still has to do, which goes on afterwards
    if !isPerforming { performAll(moment) }
  }

  private func performAll(_ moment: Moment) {
    isPerforming = true
    var index = 0
    while index < effects.count {
      if case .send(_, let id) = effects[index] {
        index = leaveRun(index, id, moment)
      } else {
        perform(effects[index], moment)
        index += 1
      }
    }
    effects.removeAll(keepingCapacity: true)
    isPerforming = false
  }

  /// Pushes that leave by one connection, one behind the other, from that effect on; the index of what follows them.
  ///
  /// Link and connection are looked up and counted once for the run: `links` keeps the link, and the link its connection,
  /// until an effect says otherwise, and none is performed meanwhile.
  private func leaveRun(_ start: Int, _ id: ConnectionID, _ moment: Moment) -> Int {
    var index = start
    let link = links[id]
    let connection = link?.connection
    while index < effects.count, case .send(let push, id) = effects[index] {
      if let link, let connection {
        leave(push, link, connection, moment)
      } else if slots[Int(push.rawValue)] != nil {
        pool.handle(.notSent(push, id), at: moment, into: &effects)
      }
      index += 1
    }
    return index
  }

  private func perform(_ effect: SendingPool.Effect, _ moment: Moment) {
    switch effect {
    case .send: break  // done by the caller
    case .finish(let push, let outcome):
      guard let slot = slots[Int(push.rawValue)] else { return }
      slots[Int(push.rawValue)] = nil
      freeIDs.append(push.rawValue)
      meter.ended(outcome, sentAt: slot.sentAt, at: moment.uptime)
      settle(slot.batch, slot.index, outcome)
    case .open(let id): open(id)
    case .cancel(let id, let stream): links[id]?.connection?.reset(stream: stream.rawValue)
    case .ping(let id): links[id]?.connection?.ping()
    case .close(let id):
      guard let link = links.removeValue(forKey: id) else { return }
      link.isReleased = true
      successorLost(id, nil, moment)
      guard let connection = link.connection else { return }
      if link.isConnected { onEvent(.disconnected(server.endpoint, why: "let go")) }
      connection.close(graceful: connection.openStreams == 0)
    case .abandon(let id, let why): abandon(id, why, moment)
    case .closed:
      isClosed = true
      ticker?.cancel()
      for waiter in closeWaiters { waiter.resume() }
      closeWaiters = []
    }
  }

  /// The peer is silent: its address is named, and avoided for a while.
  private func abandon(_ id: ConnectionID, _ why: String, _ moment: Moment) {
    guard let link = links.removeValue(forKey: id) else { return }
    link.isReleased = true
    successorLost(id, nil, moment)
    guard let connection = link.connection else { return }
    let fault = TransportFault(
      .timedOut(link.isConnected ? .ping : .handshake), at: connection.place, what: why,
      remedy: "Check what is there: it takes connections and says nothing.")
    lastFault = fault
    if link.isConnected {
      onEvent(.disconnected(server.endpoint, why: fault.description))
    } else {
      meter.connectFailed()
      onEvent(.connectFailed(fault))
    }
    connection.abandon(why: why)
  }

  /// What the client reads of the header of an acceptance.
  private static let wantedFields = HTTP2FieldNames(["apns-unique-id"])

  private func open(_ id: ConnectionID) {
    let link = ConnectionLink(id, inbox)
    link.epoch = epoch
    links[id] = link
    var tls = tls
    if let successor, successor.link == nil {
      self.successor?.link = id
      link.epoch = successor.epoch
      tls = successor.tls
    }
    var limits = HTTP2Limits()
    limits.idleTimeout = nil  // the pool's own
    limits.pingTimeout = .seconds(30)  // the pool gives up earlier
    link.connection = HTTP2ClientConnection.connect(
      to: server.endpoint, tls: tls, on: loop, settings: .client, limits: limits, through: dialer,
      fields: Self.wantedFields, handler: link)
  }

  private func leave(_ push: PushID, _ link: ConnectionLink, _ connection: HTTP2ClientConnection, _ moment: Moment) {
    guard let slot = slots[Int(push.rawValue)] else { return }
    let id = link.id
    if !devices.isQuiet, let until = devices.postponed(slot.token, at: moment.uptime) {
      return pool.handle(.postponed(push, id, until: until), at: moment, into: &effects)
    }
    if let ready, link.epoch == epoch, link.generation == ready {
      return submit(push, slot, link, connection, ready, nil, moment)
    }
    let isSuccessor = link.epoch != epoch
    let warrant = isSuccessor ? successorWarrant(moment) : currentWarrant(moment)
    switch warrant {
    case .hold(let words) where isSuccessor:
      pool.handle(.retired(id), at: moment, into: &effects)
      pool.handle(.notSent(push, id), at: moment, into: &effects)
      abandonSuccessor(words, moment)
    case .hold(let words):
      hold(.hold(words), moment)
      pool.handle(.notSent(push, id), at: moment, into: &effects)
    case .send(_, let generation) where link.generation != generation && !link.takes(generation, at: moment):
      // a connection that got its token a moment ago gets no other: a new one takes the push
      pool.handle(.retired(id), at: moment, into: &effects)
      pool.handle(.notSent(push, id), at: moment, into: &effects)
    case .send(_, let generation):
      submit(push, slot, link, connection, generation, isSuccessor ? warrant : nil, moment)
    }
  }

  /// - Parameter warrant: of the successor; nil for the client's own.
  private func submit(
    _ push: PushID, _ slot: Slot, _ link: ConnectionLink, _ connection: HTTP2ClientConnection,
    _ generation: ProviderTokenLife.Generation, _ warrant: Warrant?, _ moment: Moment
  ) {
    slots[Int(push.rawValue)]?.generation = generation
    slots[Int(push.rawValue)]?.sentAt = moment.uptime
    // `batches` keeps the batch, whose push this is, and the batch keeps the block: until the push has ended.
    slot.withBatch { batch in
      let wire = batch.wires[slot.index]
      let block =
        batch.block(wire.shared, link.epoch, generation)
        ?? make(batch, wire.shared, link.epoch, generation, warrant, moment)
      do throws(HTTP2SubmitFault) {
        let request = HTTP2OutgoingRequest(
          path: wire.path, field: "apns-id", value: wire.id, body: wire.body, owner: batch)
        let stream = try connection.submit(common: block, request)
        pool.sent(push, on: StreamID(rawValue: stream), of: link.id, at: moment, into: &effects)
      } catch {
        switch error {
        case .invalidField(let name):
          // `certainRefusal` lets none of these pass; should it, the push ends rather than the connection
          pool.handle(
            .withdrawn([push], .suspended("\(name) holds bytes that no header may")), at: moment, into: &effects)
        case .noFreeStream, .notOpen: break
        }
        pool.handle(.notSent(push, link.id), at: moment, into: &effects)
      }
    }
  }

  /// The header block that pushes of the batch share, kept with the batch.
  private func make(
    _ batch: Batch, _ shared: Int, _ epoch: Int, _ generation: ProviderTokenLife.Generation, _ warrant: Warrant?,
    _ moment: Moment
  ) -> HTTP2FieldBlock {
    guard case .send(let authorization, _) = warrant ?? currentWarrant(moment) else { return HTTP2FieldBlock([]) }
    let isRepeated = batch.isRepetitive
    let block: HTTP2FieldBlock
    if warrant != nil, var next = successor {
      block = next.blocks.block(
        for: batch.pushes.shared[shared], isRepeated: isRepeated, authorization: authorization, generation)
      successor = next
    } else {
      block = blocks.block(
        for: batch.pushes.shared[shared], isRepeated: isRepeated, authorization: authorization, generation)
    }
    batch.keep(block, shared, epoch, generation)
    return block
  }
}
