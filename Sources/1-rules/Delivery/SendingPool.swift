public import Basics

/// Which push goes by which connection, when, and how it ends: the connections of one credential in one environment.
///
/// Each push that was offered is finished exactly once, whatever the peers do; that is what the random stories of its
/// tests hold it to. A value: no clock, no socket, no task. The driver feeds it events in the order in which they happen
/// on its loop, follows the effects in the order given, and calls `.tick` when `nextDue` has come.
public struct SendingPool: Sendable {
  public struct Settings: Sendable {
    public var size = PoolSize.Settings()
    public var retry = RetryPolicy.Settings()
    /// Streams that a connection is used for at most, whatever the peer allows. Default 1,000, what APNs allows.
    public var streamsEach = 1000
    /// Whether the first push of a connection goes alone: true for provider tokens, false for certificates.
    public var firstAlone = true
    /// From the call to the peer's SETTINGS. Default 5 s.
    public var connectTimeout = Instant.Span.seconds(5)
    /// From sending a push to its answer. Default 15 s: APNs leaves single requests unanswered at times.
    public var requestTimeout = Instant.Span.seconds(15)
    /// A connection that owes answers and is silent for so long is asked by PING. Default 2 s.
    public var silence = Instant.Span.seconds(2)
    /// From a PING to any sign of life, before the connection is given up. Default 3 s.
    public var pingTimeout = Instant.Span.seconds(3)
    /// A connection that owes nothing is asked by PING after so long. Default 1 minute.
    public var idlePing = Instant.Span.minutes(1)
    /// A connection not used for so long is let go rather than trusted. Default 15 minutes.
    public var idleLimit = Instant.Span.minutes(15)
    /// How long pushes wait while no push is answered at all. Default 5 minutes.
    public var patience = Instant.Span.minutes(5)
    public init() {}
  }

  public struct Offer: Equatable, Sendable {
    public var push: PushID
    /// Seconds since 1970, 0 for one attempt, nil for no limit.
    public var expiration: Int64?
    public init(_ push: PushID, expiration: Int64? = nil) {
      self.push = push
      self.expiration = expiration
    }
  }

  public enum Event: Equatable, Sendable {
    case offered([Offer])
    case settings(ConnectionID, maxConcurrentStreams: UInt32)
    /// Follows `Effect.send` at once, before any other event.
    case sent(PushID, ConnectionID, StreamID)
    /// Instead of `sent`: the connection took no stream; it is not to be used any more.
    case notSent(PushID, ConnectionID)
    /// Instead of `sent`: its device is to be left alone until then (`DevicePauses`); the connection is as good as before.
    case postponed(PushID, ConnectionID, until: Instant.Span)
    case answered(ConnectionID, StreamID, Answer)
    /// The stream ended without an answer; `unprocessed` for REFUSED_STREAM.
    case reset(ConnectionID, StreamID, unprocessed: Bool)
    /// The peer answered with more than we take: it may have seen the push, and what it said is not known.
    case spoilt(ConnectionID, StreamID, String)
    /// Bodies wait for the peer's window of the whole connection, or no longer do.
    case narrow(ConnectionID, Bool)
    case goAway(ConnectionID, last: StreamID, reason: String?)
    case pong(ConnectionID)
    /// The connection ended, or never came to be.
    case lost(ConnectionID, String)
    /// The caller wants no more of these: what has not left ends now, what has left with its answer.
    case withdrawn([PushID], PushOutcome.Cause)
    /// Nothing can pass until an operator acts (cases C26, C27): what has not left ends now.
    case held(String)
    case resumed
    /// Open one more connection, whose first push goes alone, if that is allowed now; asked again when it was not.
    case renewed
    /// Use that connection for nothing new.
    case retired(ConnectionID)
    /// Another credential took over: every connection but that one ends with what it owes.
    case replaced(keeping: ConnectionID?, firstAlone: Bool)
    /// Finish what is there, repeat nothing that must wait, take nothing new.
    case close
    /// Finish everything now.
    case closeNow
    case tick
  }

  public enum Effect: Equatable, Sendable {
    case open(ConnectionID)
    case send(PushID, ConnectionID)
    /// Reset the stream; its push goes on without it.
    case cancel(ConnectionID, StreamID)
    case ping(ConnectionID)
    /// Close the socket; nothing of it is waited for.
    case close(ConnectionID)
    /// The same, because the peer is silent: its address is better avoided for a while (case C40).
    case abandon(ConnectionID, why: String)
    case finish(PushID, PushOutcome)
    /// After `close` or `closeNow`: nothing is left.
    case closed
  }

  struct Record: Sendable {
    enum State: Equatable, Sendable {
      case free
      case queued
      case waiting
      case sending(ConnectionID)
      case flying(ConnectionID, StreamID, since: Instant.Span)
    }

    var state = State.free
    /// Counts the uses of this id; a ticket of an earlier use is void.
    var use: UInt32 = 0
    var tries = RetryPolicy.Tries()
    var withdrawn: PushOutcome.Cause?
  }

  struct Connection: Sendable {
    let id: ConnectionID
    var life: ConnectionLife
    var budget: StreamBudget
    let openedAt: Instant.Span
    /// The last sign of life of the peer.
    var heardAt: Instant.Span
    /// When a push was last sent or answered.
    var usedAt: Instant.Span
    /// When it last began to owe something.
    var busySince: Instant.Span
    var pingAt: Instant.Span?
    var hasAnswered = false
    /// Pushes that found no answer in time, in a row.
    var timeouts = 0
    /// Since when it takes no stream though it should, until it is heard of again.
    var blockedSince: Instant.Span?
    /// Since when bodies wait for the peer's window: streams are free, and of no use.
    var narrowSince: Instant.Span?

    init(id: ConnectionID, life: ConnectionLife, budget: StreamBudget, openedAt: Instant.Span) {
      self.id = id
      self.life = life
      self.budget = budget
      self.openedAt = openedAt
      heardAt = openedAt
      usedAt = openedAt
      busySince = openedAt
    }

    /// The peer has greeted us.
    var isUp: Bool { budget.advertised != nil }
    var owes: Bool { budget.inUse > 0 }
    var free: Int { blockedSince == nil ? budget.free(for: life.intake) : 0 }
  }

  var settings: Settings
  let policy: RetryPolicy
  var size: PoolSize
  var dice: Dice
  var records: [Record] = []
  var connections: [Connection] = []
  var queue = PushQueue()
  var queued = 0
  var waiting = DueHeap<Ticket>()
  var alive = 0
  var nextConnection: UInt32 = 0
  /// Where the spreading over connections goes on.
  var turn = 0
  /// Since when pushes have found no stream.
  var crowdedSince: Instant.Span?
  /// Since when pushes wait and nothing was answered.
  var stalledSince: Instant.Span?
  /// nil before the first event.
  var lastTick: Instant.Span?
  var lastFault: String?
  var hold: String?
  /// After a hold, until a push was accepted: one push at a time, on one connection, so that a credential that is still
  /// refused costs one refusal and not the queue.
  var isProbing = false
  var phase = Phase.open
  enum Phase { case open, closing, closed }

  public init(_ settings: Settings = Settings(), dice: Dice) {
    self.settings = settings
    self.dice = dice
    policy = RetryPolicy(settings.retry)
    size = PoolSize(settings.size)
  }

  /// Pushes offered and not finished.
  public var unfinished: Int { alive }
  /// Pushes that wait for a stream.
  public var backlog: Int { queued }
  /// Connections that can be sent on or are being opened.
  public var connectionCount: Int { connections.count }
  /// Connections that the peer has greeted.
  public var upCount: Int { connections.count { $0.isUp } }

  /// PINGs that were answered since the start: signs of life of connections that had nothing to say.
  public private(set) var answeredPings = 0
  /// Pushes that left and wait for their answer.
  public var inFlight: Int { connections.reduce(0) { $0 + $1.budget.inUse } }
  /// Streams of the connections that the peer has greeted: in use, and allowed by it and by us. A connection that takes
  /// nothing new allows what it still owes.
  public var streams: (inUse: Int, allowed: Int) {
    connections.lazy.filter(\.isUp).reduce((0, 0)) { sum, connection in
      let budget = connection.budget
      return (sum.0 + budget.inUse, sum.1 + (connection.life.isEnding ? budget.inUse : budget.limit))
    }
  }
  /// After a hold, one push at a time tries whether the credential is taken again.
  public var isProving: Bool { isProbing }

  /// The push that a connection owes on a stream.
  public func push(on stream: StreamID, of id: ConnectionID) -> PushID? {
    find(id).flatMap { connections[$0].life.push(on: stream) }
  }

  /// Takes one event and answers what to do, first effect first; `[]` for an event without meaning now.
  public mutating func handle(_ event: Event, at moment: Moment) -> [Effect] {
    var effects: [Effect] = []
    handle(event, at: moment, into: &effects)
    return effects
  }

  /// The same, appending to an array that the caller keeps.
  public mutating func handle(_ event: Event, at moment: Moment, into effects: inout [Effect]) {
    if case .sent(let push, let id, let stream) = event {
      // comes once for each push and frees nothing, unless the connection ends at this very moment
      guard !sent(push, id, stream, moment, &effects) else { return }
    } else {
      apply(event, moment, &effects)
    }
    pump(moment, &effects)
    endIfDone(&effects)
  }

  /// Takes what happened in one turn of a loop; streams are given out once, at its end.
  public mutating func handle(_ events: [Event], at moment: Moment, into effects: inout [Effect]) {
    apply(events, at: moment, into: &effects)
    pump(moment, &effects)
    endIfDone(&effects)
  }

  /// One answer of a turn tells how long the way is.
  private mutating func measure(_ events: [Event], _ moment: Moment) {
    for event in events {
      guard case .answered(let id, let stream, _) = event else { continue }
      return measure(stream, id, moment)
    }
  }

  private mutating func measure(_ stream: StreamID, _ id: ConnectionID, _ moment: Moment) {
    guard let push = push(on: stream, of: id), case .flying(_, _, let since) = records[Int(push.rawValue)].state
    else { return }
    size.measured(roundTrip: moment.uptime - since, at: moment.uptime)
  }

  /// Takes what happened and gives out no streams: a `handle` must follow in the same turn.
  public mutating func apply(_ events: [Event], at moment: Moment, into effects: inout [Effect]) {
    measure(events, moment)
    for event in events { apply(event, moment, &effects) }
  }

  /// The same as `apply` of an `answered` for each stream with `.accepted(uniqueID: nil)`: the answer to nearly all.
  public mutating func accepted(
    _ streams: ArraySlice<StreamID>, of id: ConnectionID, at moment: Moment, into effects: inout [Effect]
  ) {
    if lastTick == nil { lastTick = moment.uptime }
    guard let index = hear(id, moment), let first = streams.first else { return }
    measure(first, id, moment)
    var next = streams.startIndex
    while next < streams.endIndex, let push = connections[index].life.answerOpen(streams[next]) {
      connections[index].budget.handle(.ended)
      finish(push, .accepted(uniqueID: nil), &effects)
      next += 1
    }
    if next > streams.startIndex { answersCame(index, moment, accepted: true) }
    for stream in streams[next...] {
      apply(.answered(id, stream, .accepted(uniqueID: nil)), moment, &effects)
    }
  }

  /// The same as `handle` of `Event.sent`.
  public mutating func sent(
    _ push: PushID, on stream: StreamID, of id: ConnectionID, at moment: Moment, into effects: inout [Effect]
  ) {
    guard !sent(push, id, stream, moment, &effects) else { return }
    pump(moment, &effects)
    endIfDone(&effects)
  }

  private mutating func apply(_ event: Event, _ moment: Moment, _ effects: inout [Effect]) {
    if lastTick == nil { lastTick = moment.uptime }
    switch event {
    case .offered(let offers):
      take(offers, moment, &effects)
    case .settings(let id, let maximum):
      guard let index = hear(id, moment) else { return }
      connections[index].budget.handle(.settings(maxConcurrentStreams: maximum))
    case .sent(let push, let id, let stream):
      _ = sent(push, id, stream, moment, &effects)
    case .notSent(let push, let id):
      notSent(push, id, moment, &effects)
    case .postponed(let push, let id, let until):
      postponed(push, id, until, moment, &effects)
    case .answered(let id, let stream, let answer):
      guard let index = hear(id, moment) else { return }
      answered(index, stream, answer, moment, &effects)
    case .reset(let id, let stream, let unprocessed):
      guard let index = hear(id, moment) else { return }
      let event: ConnectionLife.Event = unprocessed ? .refusedStream(stream) : .reset(stream)
      advance(index, event, unprocessed ? "stream refused" : "stream reset", moment, &effects)
    case .spoilt(let id, let stream, let why):
      guard let index = hear(id, moment) else { return }
      advance(index, .reset(stream), why, moment, &effects)
    case .narrow(let id, let isNarrow):
      guard let index = find(id) else { return }
      connections[index].narrowSince = isNarrow ? connections[index].narrowSince ?? moment.uptime : nil
    case .goAway(let id, let last, let reason):
      guard let index = hear(id, moment) else { return }
      advance(index, .goAway(last: last), reason ?? "connection going away", moment, &effects)
    case .pong(let id):
      guard hear(id, moment) != nil else { return }
      answeredPings += 1
    case .lost(let id, let why):
      guard let index = find(id) else { return }
      lost(index, why, moment, &effects)
    case .withdrawn(let pushes, let cause):
      for push in pushes { withdraw(push, cause, &effects) }
    case .held(let why):
      hold = why
      finishUnsent(.suspended(why), &effects)
    case .resumed:
      hold = nil
      isProbing = true
    case .renewed:
      guard phase == .open, size.mayOpen(at: moment.uptime) else { return }
      open(firstAlone: true, moment, &effects)
    case .retired(let id):
      if let index = find(id) { advance(index, .retire, "credential not used any more", moment, &effects) }
    case .replaced(let kept, let firstAlone):
      settings.firstAlone = firstAlone
      for id in connections.map(\.id) where id != kept {
        if let index = find(id) { advance(index, .retire, "another credential took over", moment, &effects) }
      }
    case .close:
      if phase == .open { phase = .closing }
      for ticket in waiting.removeAll() where isValid(ticket, .waiting) {
        finish(ticket.push, .unanswered(.closed), &effects)
      }
    case .closeNow:
      closeNow(&effects)
    case .tick:
      tick(moment, &effects)
    }
  }

  func find(_ id: ConnectionID) -> Int? { connections.firstIndex { $0.id == id } }

  private mutating func hear(_ id: ConnectionID, _ moment: Moment) -> Int? {
    guard let index = find(id) else { return nil }
    connections[index].heardAt = moment.uptime
    connections[index].pingAt = nil
    connections[index].blockedSince = nil
    return index
  }
}
