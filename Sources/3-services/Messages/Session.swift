public import Basics
public import Store

/// One app's connection, from the first frame to its end.
///
///     greeting ─hello─▶ entering ─admitted─▶ live ─▶ over        every state may go to over
///
/// A value: no clock, no socket, no task. Its driver gives events in the order in which they came and performs effects in
/// the order given. Times are milliseconds of a clock that nobody sets.
///
/// **Nothing is sent out of order and nothing is left out.** Everything for the device up to `through` was sent. What is
/// announced is sent at once when it is the very next after that; else the store is read from `sent` on. So a connection that
/// is slow, or was away, holds no queue: it reads on when it can.
public struct Session: Sendable {
  public enum Event: Sendable {
    case frame(ClientFrame)
    /// A frame that could not be read.
    case fault(FrameFault)
    case admitted(Entrance)
    case refused(SessionEnd)
    case page(InboxPage)
    /// The store did not answer.
    case unavailable
    /// Something for this device was put into inboxes. `from`: of the app's positions from there up to this one, all were
    /// announced to this driver in their order.
    case announced(InboxEntry, from: Int64)
    /// A request of the app's own was answered; the driver has sent the answer.
    case answered
    /// What was read is kept.
    case noted
    case pong
    case writable
    case blocked
    /// From outside: another connection of the device, or credentials that are good no more.
    case ended(SessionEnd)
    case drain(after: Int64)
    case closed
  }

  public enum Effect: Sendable, Equatable {
    case enter(Hello)
    case welcome(Entrance, heartbeat: Int32)
    case send(InboxEntry)
    /// As bytes that the driver has at hand.
    case sendAnnounced
    case sendPong
    case sendFault(FrameFault)
    case sendHeartbeat(Int32)
    case sendDraining(after: Int64)
    case read(SessionDevice, InboxRange)
    case acknowledge(InboxAcknowledgement)
    case noteRead(SessionDevice, ids: [Int64])
    case history(SessionDevice, HistoryRequest)
    /// The device is there for others, or is no more.
    case appear(SessionDevice)
    case disappear(SessionDevice)
    case ping
    /// The device's next connection is to begin with a shorter heartbeat.
    case rememberLoss(SessionDevice, heartbeat: Int32)
    case close(SessionEnd)
  }

  public struct Times: Sendable, Equatable {
    public var hello = Instant.Span.seconds(10)
    /// For the answer to a ping.
    public var pong = Instant.Span.seconds(10)
    /// For the peer to take what is written.
    public var reading = Instant.Span.seconds(10)
    public var acknowledgement = Instant.Span.seconds(60)
    public var background = Instant.Span.seconds(30)

    public init() {}
  }

  private enum State {
    case greeting(until: Int64)
    /// Its store is being asked.
    case entering
    case live(Live)
    case over
  }

  private struct Live {
    var device: SessionDevice
    var sent: Int64
    var acknowledged: Int64
    /// Everything up to here was sent.
    var through: Int64
    /// The highest that is known to be there.
    var horizon: Int64
    /// There may be something that was not announced to it: so it is when the device has just appeared, since what was put
    /// into its inbox before is told to nobody.
    var mustLook = false
    /// What was sent and not acknowledged; `id` nil for withdrawals.
    var inFlight: [(position: Int64, id: Int64?)] = []
    var isReading = false
    /// A request of the app's is being answered.
    var isAsking = false
    /// What was read is being kept, and what was read since.
    var isNoting = false
    var toNote: [Int64] = []
    var isBlocked = false
    var backgroundSince: Int64?
    /// When what is in flight must have moved on.
    var acknowledgeBy = Int64.max
    var takeBy = Int64.max
    var heartbeat: Heartbeat
    var heardAt: Int64
    var pingedAt: Int64?
  }

  /// How much may be sent ahead of acknowledgements.
  public static let window = 64
  private static let mostToNote = 1000

  private let times: Times
  private let bounds: Heartbeat.Bounds
  private var state: State
  private var isForeground = true

  public init(_ times: Times = Times(), _ bounds: Heartbeat.Bounds = Heartbeat.Bounds(), now: Int64) {
    self.times = times
    self.bounds = bounds
    state = .greeting(until: now + times.hello.milliseconds)
  }

  /// The device, while it is live.
  public var device: SessionDevice? { if case .live(let live) = state { live.device } else { nil } }

  // MARK: Events

  public mutating func handle(_ event: Event, now: Int64) -> [Effect] {
    var taken = State.over
    swap(&taken, &state)
    switch taken {
    case .over: return []
    case .greeting(let until): return greet(event, until: until)
    case .entering: return enter(event, now: now)
    case .live(var live):
      let effects = handle(event, &live, now: now)
      if !effects.contains(where: { if case .close = $0 { true } else { false } }), !event.isEnd {
        state = .live(live)
        return effects
      }
      return [.disappear(live.device)] + effects
    }
  }

  private mutating func greet(_ event: Event, until: Int64) -> [Effect] {
    switch event {
    case .frame(.hello(let hello)):
      isForeground = hello.isForeground
      state = .entering
      return [.enter(hello)]
    case .frame:
      let fault = FrameFault(place: "type", found: "no hello", remedy: "Say hello first.")
      return [.sendFault(fault), .close(.badFrame)]
    case .fault(let fault): return [.sendFault(fault), .close(.badFrame)]
    case .drain(let after): return [.sendDraining(after: after), .close(.draining)]
    case .closed: return []
    case .admitted, .refused, .page, .unavailable, .announced, .answered, .noted, .pong, .writable, .blocked, .ended:
      state = .greeting(until: until)
      return []
    }
  }

  private mutating func enter(_ event: Event, now: Int64) -> [Effect] {
    switch event {
    case .admitted(let entrance):
      var live = Live(
        device: entrance.device, sent: entrance.position, acknowledged: entrance.position, through: entrance.position,
        horizon: entrance.last, heartbeat: Heartbeat(bounds, interval: entrance.heartbeat), heardAt: now)
      var effects: [Effect] = [.welcome(entrance, heartbeat: live.heartbeat.interval)]
      if isForeground {
        effects.append(.appear(entrance.device))
        live.mustLook = true
        effects += proceed(&live)
      } else {
        live.backgroundSince = now
      }
      state = .live(live)
      return effects
    case .refused(let end): return [.close(end)]
    case .unavailable: return [.close(.unavailable)]
    case .drain(let after): return [.sendDraining(after: after), .close(.draining)]
    case .frame(.ping):
      state = .entering
      return [.sendPong]
    case .frame:
      let fault = FrameFault(place: "type", found: "a frame before welcome", remedy: "Wait for welcome.")
      return [.sendFault(fault), .close(.badFrame)]
    case .fault(let fault): return [.sendFault(fault), .close(.badFrame)]
    case .closed: return []
    case .page, .announced, .answered, .noted, .pong, .writable, .blocked, .ended:
      state = .entering
      return []
    }
  }

  private func handle(_ event: Event, _ live: inout Live, now: Int64) -> [Effect] {
    switch event {
    case .frame(let frame):
      live.heardAt = now
      live.pingedAt = nil
      return handle(frame, &live, now: now)
    case .fault(let fault): return [.sendFault(fault), .close(.badFrame)]
    case .page(let page): return take(page, &live, now: now)
    case .announced(let entry, let from): return take(entry, from: from, &live, now: now)
    case .answered:
      live.isAsking = false
      return []
    case .noted:
      live.isNoting = !live.toNote.isEmpty
      guard live.isNoting else { return [] }
      defer { live.toNote = [] }
      return [.noteRead(live.device, ids: live.toNote)]
    case .unavailable: return [.close(.unavailable)]
    case .pong:
      let wasAsked = live.pingedAt != nil
      live.pingedAt = nil
      live.heardAt = now
      guard wasAsked, live.heartbeat.answered() else { return [] }
      return [.sendHeartbeat(live.heartbeat.interval)]
    case .blocked:
      guard !live.isBlocked else { return [] }
      live.isBlocked = true
      live.takeBy = now + times.reading.milliseconds
      return []
    case .writable:
      live.isBlocked = false
      live.takeBy = .max
      return proceed(&live)
    case .ended(let end): return [.close(end)]
    case .drain(let after): return [.sendDraining(after: after), .close(.draining)]
    case .closed: return []
    case .admitted, .refused: return []
    }
  }

  private func handle(_ frame: ClientFrame, _ live: inout Live, now: Int64) -> [Effect] {
    switch frame {
    case .hello:
      let fault = FrameFault(place: "type", found: "a second hello", remedy: "Say hello once a connection.")
      return [.sendFault(fault), .close(.badFrame)]
    case .acknowledge(let position):
      guard position <= live.sent else {
        let fault = FrameFault(
          place: "seq", found: "\(position), which was not sent", remedy: "Acknowledge what came.")
        return [.sendFault(fault), .close(.badFrame)]
      }
      guard position > live.acknowledged else { return [] }
      let done = live.inFlight.prefix { $0.position <= position }
      live.inFlight.removeFirst(done.count)
      live.acknowledged = position
      live.acknowledgeBy = live.inFlight.isEmpty ? .max : now + times.acknowledgement.milliseconds
      let delivered = done.compactMap { entry in
        entry.id.map { InboxAcknowledgement.Delivered(position: entry.position, id: $0) }
      }
      let acknowledgement = InboxAcknowledgement(
        app: live.device.app, ordinal: live.device.ordinal, position: position, delivered: delivered)
      return [.acknowledge(acknowledgement)] + proceed(&live)
    case .read(let ids):
      guard live.isNoting else {
        live.isNoting = true
        return [.noteRead(live.device, ids: ids)]
      }
      live.toNote += ids
      guard live.toNote.count <= Self.mostToNote else {
        let fault = FrameFault(
          place: "ids", found: "more than can be kept as fast", remedy: "Gather them, and say them now and then.")
        return [.sendFault(fault), .close(.badFrame)]
      }
      return []
    case .history(let request):
      guard !live.isAsking else {
        let fault = FrameFault(
          place: "type", found: "a request before the answer to the last", remedy: "Ask one after the other.")
        return [.sendFault(fault), .close(.badFrame)]
      }
      live.isAsking = true
      return [.history(live.device, request)]
    case .background:
      guard live.backgroundSince == nil else { return [] }
      live.backgroundSince = now
      return [.disappear(live.device)]
    case .foreground:
      guard live.backgroundSince != nil else { return [] }
      live.backgroundSince = nil
      live.mustLook = true
      return [.appear(live.device)] + proceed(&live)
    case .ping: return [.sendPong]
    }
  }

  // MARK: Delivery

  private func take(_ page: InboxPage, _ live: inout Live, now: Int64) -> [Effect] {
    live.isReading = false
    guard live.backgroundSince == nil else { return [] }
    var effects: [Effect] = []
    for entry in page.entries where entry.position > live.sent {
      send(entry, &live, now: now)
      effects.append(.send(entry))
    }
    live.horizon = max(live.horizon, page.through)
    live.through = max(live.through, page.hasMore ? live.sent : page.through)
    return effects + proceed(&live)
  }

  private func take(_ entry: InboxEntry, from: Int64, _ live: inout Live, now: Int64) -> [Effect] {
    guard entry.position > live.through else { return [] }
    let isNext = live.horizon <= live.through && from <= live.through + 1
    live.horizon = max(live.horizon, entry.position)
    guard isNext, !live.isReading, !live.isBlocked, live.backgroundSince == nil, live.inFlight.count < Self.window
    else { return proceed(&live) }
    send(entry, &live, now: now)
    live.through = entry.position
    return [.sendAnnounced]
  }

  private func send(_ entry: InboxEntry, _ live: inout Live, now: Int64) {
    let id: Int64? =
      switch entry.kind {
      case .message: entry.id
      case .withdrawal: nil
      }
    if live.inFlight.isEmpty { live.acknowledgeBy = now + times.acknowledgement.milliseconds }
    live.inFlight.append((entry.position, id))
    live.sent = entry.position
  }

  /// Reads on where there is more and room for half a window.
  private func proceed(_ live: inout Live) -> [Effect] {
    guard live.mustLook || live.horizon > live.through, !live.isReading, !live.isBlocked, live.backgroundSince == nil,
      live.inFlight.count <= Self.window / 2
    else { return [] }
    live.isReading = true
    live.mustLook = false
    return [.read(live.device, InboxRange(after: live.through, limit: Self.window - live.inFlight.count))]
  }

  // MARK: Time

  /// What is due, and when to be asked again.
  public mutating func timeCheck(now: Int64) -> (effects: [Effect], next: Int64) {
    switch state {
    case .over, .entering: return ([], .max)
    case .greeting(let until):
      guard now >= until else { return ([], until) }
      state = .over
      return ([.close(.noHello)], .max)
    case .live(var live):
      if let (end, more) = due(live, now: now) {
        state = .over
        return ([.disappear(live.device)] + more + [.close(end)], .max)
      }
      var effects: [Effect] = []
      let interval = Int64(live.heartbeat.interval) * 1000
      if live.pingedAt == nil, now >= live.heardAt + interval {
        live.pingedAt = now
        effects = [.ping]
      }
      state = .live(live)
      return (effects, nextCheck(of: live))
    }
  }

  /// When `timeCheck` is to be called at the latest, while the session is live.
  public var nextCheck: Int64 { if case .live(let live) = state { nextCheck(of: live) } else { .max } }

  private func nextCheck(of live: Live) -> Int64 {
    let beat =
      live.pingedAt.map { $0 + times.pong.milliseconds } ?? live.heardAt + Int64(live.heartbeat.interval) * 1000
    let leave = live.backgroundSince.map { $0 + times.background.milliseconds } ?? .max
    return min(beat, leave, live.acknowledgeBy, live.takeBy)
  }

  private func due(_ live: Live, now: Int64) -> (SessionEnd, [Effect])? {
    if let pinged = live.pingedAt, now >= pinged + times.pong.milliseconds {
      return (.silent, [.rememberLoss(live.device, heartbeat: live.heartbeat.afterLoss)])
    }
    if let since = live.backgroundSince, now >= since + times.background.milliseconds { return (.background, []) }
    if now >= live.takeBy { return (.slow, []) }
    if now >= live.acknowledgeBy { return (.unacknowledged, []) }
    return nil
  }
}

extension Session.Event {
  fileprivate var isEnd: Bool { if case .closed = self { true } else { false } }
}
