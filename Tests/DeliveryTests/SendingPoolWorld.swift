import Basics
import Delivery
import Testing

/// A pool with peers that a test moves by hand, and the invariants that hold whatever they do.
struct SendingPoolWorld {
  struct Peer {
    var limit: Int?
    var streams: [StreamID: PushID] = [:]
    var nextStream: Int32 = 1
    var hasAnswered = false
    var isGoing = false
  }

  var pool: SendingPool
  var moment = Moment(wall: Instant(seconds: 1_796_000_000), uptime: .seconds(1000))
  var peers: [ConnectionID: Peer] = [:]
  var opened: [Int64] = []
  /// Expiration of each push that was offered and has not ended.
  var alive: [PushID: Int64?] = [:]
  var outcomes: [PushOutcome] = []
  var withdrawn: Set<PushID> = []
  var offered = 0
  var pings = 0
  /// Connections given up because the peer was silent.
  var abandoned: [ConnectionID] = []
  var sends = 0
  var isClosed = false
  let settings: SendingPool.Settings
  /// Whether a connection refuses to take a stream, by chance.
  var refusesStream: (() -> Bool)?

  init(_ settings: SendingPool.Settings = .init(), seed: UInt64 = 1) {
    self.settings = settings
    pool = SendingPool(settings, dice: Dice(seed: seed))
  }

  mutating func offer(_ count: Int, expiration: Int64? = nil) {
    var offers: [SendingPool.Offer] = []
    var candidate: UInt32 = 0
    while offers.count < count {
      let push = PushID(rawValue: candidate)
      candidate += 1
      guard alive[push] == nil else { continue }
      offers.append(.init(push, expiration: expiration))
      alive.updateValue(expiration, forKey: push)
      withdrawn.remove(push)
      offered += 1
    }
    handle(.offered(offers))
  }

  mutating func handle(_ event: SendingPool.Event) {
    follow(pool.handle(event, at: moment))
  }

  private mutating func follow(_ effects: [SendingPool.Effect]) {
    var work = effects[...]
    while let effect = work.popFirst() {
      if let answer = perform(effect) { work += pool.handle(answer, at: moment) }
    }
  }

  private mutating func perform(_ effect: SendingPool.Effect) -> SendingPool.Event? {
    switch effect {
    case .open(let id):
      #expect(peers[id] == nil)
      peers[id] = Peer()
      let now = moment.uptime.milliseconds
      opened.append(now)
      #expect(opened.count { $0 > now - 1000 } <= settings.size.opensPerSecond)
    case .send(let push, let id):
      sends += 1
      guard var peer = peers[id], let limit = peer.limit else {
        Issue.record("\(push) was sent on \(id), which is not up")
        return .notSent(push, id)
      }
      #expect(!peer.isGoing && peer.streams.count < limit && peer.streams.count < settings.streamsEach)
      #expect(!settings.firstAlone || peer.hasAnswered || peer.streams.isEmpty)
      #expect(!withdrawn.contains(push))
      guard let expiration = alive[push] else {
        Issue.record("\(push) was sent after its end")
        return .notSent(push, id)
      }
      if let expiration, expiration != 0 { #expect(Instant(seconds: expiration) > moment.wall) }
      #expect(peers.values.allSatisfy { !$0.streams.values.contains(push) }, "\(push) is on its way already")
      if refusesStream?() == true { return .notSent(push, id) }
      let stream = StreamID(rawValue: peer.nextStream)
      peer.nextStream += 2
      peer.streams[stream] = push
      peers[id] = peer
      return .sent(push, id, stream)
    case .cancel(let id, let stream):
      peers[id]?.streams[stream] = nil
    case .ping:
      pings += 1
    case .close(let id):
      #expect(peers.removeValue(forKey: id) != nil)
    case .abandon(let id, _):
      abandoned.append(id)
      #expect(peers.removeValue(forKey: id) != nil)
    case .finish(let push, let outcome):
      #expect(alive.removeValue(forKey: push) != nil, "\(push) ended twice")
      outcomes.append(outcome)
    case .closed:
      #expect(!isClosed)
      isClosed = true
    }
    return nil
  }

  mutating func pass(_ span: Instant.Span) {
    moment.wall = moment.wall + span
    moment.uptime = .milliseconds(moment.uptime.milliseconds + span.milliseconds)
  }

  /// Lets time pass as the driver does: with a tick whenever one is due.
  mutating func run(for span: Instant.Span) {
    let end = moment.uptime.milliseconds + span.milliseconds
    while let due = pool.nextDue?.milliseconds, due <= end {
      pass(.milliseconds(max(1, due - moment.uptime.milliseconds)))
      handle(.tick)
    }
    pass(.milliseconds(max(0, end - moment.uptime.milliseconds)))
  }

  /// So many spans, each with an answer of that connection to the PING of it.
  mutating func run(_ times: Int, each span: Instant.Span, pongFrom id: ConnectionID) {
    for _ in 0..<times {
      run(for: span)
      handle(.pong(id))
    }
  }

  mutating func greet(_ id: ConnectionID, limit: Int) {
    peers[id]?.limit = limit
    handle(.settings(id, maxConcurrentStreams: UInt32(limit)))
  }

  mutating func answer(_ id: ConnectionID, _ stream: StreamID, _ answer: Answer = .accepted(uniqueID: nil)) {
    peers[id]?.streams[stream] = nil
    peers[id]?.hasAnswered = true
    handle(.answered(id, stream, answer))
  }

  mutating func answerAll(_ answer: Answer = .accepted(uniqueID: nil)) {
    while let (id, stream) = peers.sorted(by: { $0.key.rawValue < $1.key.rawValue })
      .lazy.compactMap({ id, peer in peer.streams.keys.min().map { (id, $0) } }).first
    {
      self.answer(id, stream, answer)
    }
  }

  /// Answers all that is on its way, in one turn of the loop.
  mutating func answerTurn() {
    var events: [SendingPool.Event] = []
    for (id, peer) in peers.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      for stream in peer.streams.keys.sorted() { events.append(.answered(id, stream, .accepted(uniqueID: nil))) }
      peers[id]?.streams = [:]
      peers[id]?.hasAnswered = true
    }
    var effects: [SendingPool.Effect] = []
    pool.handle(events, at: moment, into: &effects)
    follow(effects)
  }

  mutating func goAway(_ id: ConnectionID, last: StreamID) {
    guard let peer = peers[id] else { return }
    peers[id]?.isGoing = true
    peers[id]?.streams = peer.streams.filter { $0.key <= last }
    handle(.goAway(id, last: last, reason: nil))
  }

  mutating func lose(_ id: ConnectionID) {
    peers[id] = nil
    handle(.lost(id, "connection lost"))
  }
}

extension SendingPool.Settings {
  static var oneConnection: SendingPool.Settings {
    var settings = SendingPool.Settings()
    settings.size.limit = 1
    return settings
  }
}
