/// The connection for in-app messages as the app's side lives it: when it is wanted, how it is made, what is said on it, and
/// how it is made again (docs/gateway-protocol.md; device.md D-303 … D-306).
///
///     resting ─▶ opening ─▶ greeting ─▶ live        each goes to `waiting` when it fails, then to `opening`;
///        ▲─────────┴───────────┴──────────┘          to `resting` when it is not wanted any more
///
/// A value: no clock, socket or task. `now` is milliseconds of a clock that only goes forward, `chance` is from 0 up to 1.
/// Whoever drives it performs the effects in their order. Each attempt has a number; what comes of a former one means nothing.
struct MessageConnection: Sendable {
  enum Event: Hashable, Sendable {
    /// There is a registration id and secret, or another one; false: none.
    case credentials(Bool)
    /// What `registerAnew` asked for was refused for good.
    case notRenewed
    case foreground
    case background
    case network(NetworkChange)
    /// The app wants it tried now.
    case retry
    case opened(Int)
    case received(Int, ServerFrame)
    /// nil: it broke, or was never made.
    case closed(Int, code: UInt16?)
    /// What `keep` said is on the disk.
    case kept(Int, seq: Int64)
    /// What `keep` said cannot be kept: it has to come again.
    case notKept(Int)
    /// Ids of messages that the user has read.
    case read([String])
    case history(request: Int, HistoryQuery)
  }

  enum Effect: Hashable, Sendable {
    case connect(Int)
    /// With the cursor as the disk has it.
    case hello(Int)
    case send(Int, ClientFrame)
    /// By a goodbye that is not waited for.
    case close(Int)
    /// It leads nowhere: without goodbye.
    case abandon(Int)
    /// In one transaction with the cursor; then `kept`.
    case keep(Int, seq: Int64, MessageEvent)
    case status(ConnectionStatus)
    /// What waits to be said as read is wanted.
    case wantsRead
    /// The service has them.
    case readTaken([String])
    /// The secret is wrong: registering anew gives another.
    case registerAnew
    /// Messages that this app never had are gone for their age.
    case incomplete
    case answer(request: Int, HistoryPage)
    /// There was no connection, or it ended before the answer.
    case unanswered(request: Int)
  }

  /// Milliseconds.
  struct Times: Hashable, Sendable {
    /// For an attempt, up to `opened`.
    var opening: Int64 = 20_000
    /// For `welcome`.
    var greeting: Int64 = 15_000
    /// Silence beyond the gateway's heartbeat before it is asked, and from then on for any word.
    var silence: Int64 = 5_000
    var answer: Int64 = 10_000
    /// For the answer to `history`.
    var history: Int64 = 20_000
    /// After so long alive, a connection's end begins the back-off anew.
    var proven: Int64 = 30_000
  }

  private enum State: Sendable {
    case resting
    case waiting(until: Int64)
    case opening(until: Int64)
    case greeting(until: Int64)
    case live(Live)
  }

  private struct Live: Sendable {
    enum Ping: Sendable {
      case heartbeat
      case behindRead
    }

    var since: Int64
    var heartbeat: Int64
    var heardAt: Int64
    /// Those without an answer, and when the first of them was sent.
    var pings: [Ping] = []
    var pingedAt: Int64?
    var acknowledged: Int64 = 0
    /// Said on this connection, not known to have arrived.
    var reading: [String] = []
    /// Being answered; the rest waits, since the gateway takes one at a time.
    var asking: (request: Int, query: HistoryQuery, until: Int64)?
    var toAsk: [(request: Int, query: HistoryQuery)] = []
  }

  /// Why there is no attempt, until something in the app changes.
  private enum Hold: Hashable, Sendable {
    case replaced
    case refused
    case stopped(UInt16)
  }

  private let times: Times
  private var state = State.resting
  private var number = 0
  private var isForeground = false
  private var hasNetwork = true
  private var hasCredentials = false
  private var hold: Hold?
  /// The secret was refused and is being renewed.
  private var isRenewing = false
  private var hasRenewed = false
  private var backoff = Backoff()
  /// As `draining` said.
  private var notBefore: Int64 = 0
  private(set) var status = ConnectionStatus.disconnected(.background)

  init(_ times: Times = Times()) { self.times = times }

  // MARK: Events

  mutating func handle(_ event: Event, now: Int64, chance: Double) -> [Effect] {
    var effects: [Effect] = []
    switch event {
    case .credentials(let areThere):
      hasCredentials = areThere
      isRenewing = false
      if hold == .refused { hold = nil }
      if isConnected { end(&effects, politely: true) }
      connectAtOnce(now, &effects)
    case .notRenewed:
      isRenewing = false
      hold = .refused
    case .foreground:
      guard !isForeground else { break }
      isForeground = true
      if hold == .replaced || hold == .refused {
        hold = nil
        hasRenewed = false
      }
      connectAtOnce(now, &effects)
    case .background:
      isForeground = false
      end(&effects, politely: true)
    case .network(let change):
      // said twice: nothing has changed
      if change == .available, hasNetwork, isConnected { break }
      hasNetwork = change != .lost
      // over the former network nobody is reached, not for a goodbye either
      end(&effects, politely: false)
      connectAtOnce(now, &effects)
    case .retry:
      hold = nil
      hasRenewed = false
      if !isConnected { connectAtOnce(now, &effects) }
    case .opened(let which):
      guard which == number, case .opening = state else { break }
      state = .greeting(until: now + times.greeting)
      effects.append(.hello(which))
    case .received(let which, let frame):
      guard which == number else { break }
      take(frame, now: now, chance: chance, &effects)
    case .closed(let which, let code):
      guard which == number, isConnected else { break }
      closed(code, now: now, chance: chance, &effects)
    case .kept(let which, let seq):
      guard which == number, case .live(var live) = state, seq > live.acknowledged else { break }
      live.acknowledged = seq
      state = .live(live)
      effects.append(.send(which, .ack(seq: seq)))
    case .notKept(let which):
      guard which == number, isConnected else { break }
      end(&effects, politely: true)
      wait(now: now, chance: chance)
    case .read(let ids):
      guard case .live(var live) = state, live.reading.isEmpty, !ids.isEmpty else { break }
      live.reading = Array(ids.prefix(ClientFrame.mostRead))
      effects += [.send(number, .read(ids: live.reading)), .send(number, .ping)]
      live.pings.append(.behindRead)
      live.pingedAt = live.pingedAt ?? now
      state = .live(live)
    case .history(let request, let query):
      guard case .live(var live) = state else {
        effects.append(.unanswered(request: request))
        break
      }
      live.toAsk.append((request, query))
      ask(&live, now: now, &effects)
      state = .live(live)
    }
    tell(now, &effects)
    return effects
  }

  private mutating func take(_ frame: ServerFrame, now: Int64, chance: Double, _ effects: inout [Effect]) {
    if case .greeting = state, case .welcome(let welcome) = frame {
      state = .live(Live(since: now, heartbeat: Int64(max(1, welcome.heartbeat)) * 1000, heardAt: now))
      hasRenewed = false
      notBefore = 0
      if !welcome.complete { effects.append(.incomplete) }
      effects.append(.wantsRead)
      return
    }
    if case .draining(let after) = frame { notBefore = now + min(max(after, 0), 600_000) }
    guard case .live(var live) = state else { return }
    live.heardAt = now
    live.pingedAt = live.pings.isEmpty ? nil : now
    defer { state = .live(live) }
    switch frame {
    case .message(let message): effects.append(.keep(number, seq: message.seq, .message(message)))
    case .withdrawn(let seq, let id): effects.append(.keep(number, seq: seq, .withdrawn(id: id)))
    case .heartbeat(let seconds): live.heartbeat = Int64(max(1, seconds)) * 1000
    case .pong:
      guard !live.pings.isEmpty else { break }
      let ping = live.pings.removeFirst()
      if live.pings.isEmpty { live.pingedAt = nil }
      guard ping == .behindRead else { break }
      effects += [.readTaken(live.reading), .wantsRead]
      live.reading = []
    case .history(let request, let messages, let more, let last):
      guard let asked = live.asking, request == asked.request else { break }
      var next = asked.query
      if asked.query.order == .newest { next.before = last } else { next.after = last }
      effects.append(
        .answer(request: asked.request, HistoryPage(messages: messages, next: more && last != nil ? next : nil)))
      live.asking = nil
      ask(&live, now: now, &effects)
    case .welcome, .draining, .error, .unknown: break
    }
  }

  private mutating func ask(_ live: inout Live, now: Int64, _ effects: inout [Effect]) {
    guard live.asking == nil, !live.toAsk.isEmpty else { return }
    let (request, query) = live.toAsk.removeFirst()
    live.asking = (request, query, now + times.history)
    effects.append(.send(number, .history(request: request, query)))
  }

  /// The range of the code says what to do.
  private mutating func closed(_ code: UInt16?, now: Int64, chance: Double, _ effects: inout [Effect]) {
    forget(&effects, now: now)
    switch code {
    case 4101: hold = .replaced
    case 4202 where hasRenewed: hold = .refused
    case 4202:
      hasRenewed = true
      isRenewing = true
      effects.append(.registerAnew)
    // what it had is good no more; the next hello says what it has now, and 4202 whether that is
    case 4203, 4204: wait(now: now, chance: chance)
    case .some(4200...4299): hold = .stopped(code ?? 0)
    default: wait(now: now, chance: chance)
    }
  }

  // MARK: Time

  /// What is due, and when to be asked again; `Int64.max` for never.
  mutating func timeCheck(now: Int64, chance: Double) -> (effects: [Effect], next: Int64) {
    var effects: [Effect] = []
    switch state {
    case .resting: break
    case .waiting(let until):
      if now >= until {
        state = .resting
        connect(now, &effects)
      }
    case .opening(let until), .greeting(let until):
      if now >= until {
        end(&effects, politely: false)
        wait(now: now, chance: chance)
      }
    case .live(var live):
      if let pinged = live.pingedAt, now >= pinged + times.answer {
        end(&effects, politely: false, now: now)
        wait(now: now, chance: chance)
        break
      }
      if live.pingedAt == nil, now >= live.heardAt + live.heartbeat + times.silence {
        live.pings.append(.heartbeat)
        live.pingedAt = now
        effects.append(.send(number, .ping))
      }
      if let asked = live.asking, now >= asked.until {
        // the next may be asked only after the answer, so that those that wait wait for as long
        live.asking = nil
        effects.append(.unanswered(request: asked.request))
        for waiting in live.toAsk { effects.append(.unanswered(request: waiting.request)) }
        live.toAsk = []
      }
      state = .live(live)
    }
    tell(now, &effects)
    return (effects, nextCheck)
  }

  /// When `timeCheck` is to be called at the latest.
  var nextCheck: Int64 {
    switch state {
    case .resting: .max
    case .waiting(let until), .opening(let until), .greeting(let until): until
    case .live(let live):
      min(
        live.pingedAt.map { $0 + times.answer } ?? live.heardAt + live.heartbeat + times.silence,
        live.asking?.until ?? .max)
    }
  }

  // MARK: Making and ending

  private var isConnected: Bool {
    switch state {
    case .resting, .waiting: false
    case .opening, .greeting, .live: true
    }
  }

  private var isOpening: Bool { if case .opening = state { true } else { false } }

  private var isWanted: Bool { isForeground && hasNetwork && hasCredentials && hold == nil && !isRenewing }

  /// Something has changed: not by the back-off, but never before the time that a draining service named.
  private mutating func connectAtOnce(_ now: Int64, _ effects: inout [Effect]) {
    backoff.reset()
    connect(now, &effects)
  }

  private mutating func connect(_ now: Int64, _ effects: inout [Effect]) {
    guard isWanted, !isConnected else { return }
    guard now >= notBefore else {
      state = .waiting(until: notBefore)
      return
    }
    number += 1
    state = .opening(until: now + times.opening)
    effects.append(.connect(number))
  }

  private mutating func wait(now: Int64, chance: Double) {
    guard isWanted else {
      state = .resting
      return
    }
    let delay = backoff.next(chance: chance)
    state = .waiting(until: notBefore > now ? notBefore : now + delay)
  }

  private mutating func end(_ effects: inout [Effect], politely: Bool, now: Int64? = nil) {
    if isConnected { effects.append(politely && !isOpening ? .close(number) : .abandon(number)) }
    forget(&effects, now: now)
  }

  /// The connection is over; whoever waits for a word on it is told.
  private mutating func forget(_ effects: inout [Effect], now: Int64?) {
    if case .live(let live) = state {
      if now.map({ $0 - live.since >= times.proven }) ?? true { backoff.reset() }
      if let asked = live.asking { effects.append(.unanswered(request: asked.request)) }
      for waiting in live.toAsk { effects.append(.unanswered(request: waiting.request)) }
    }
    state = .resting
  }

  private mutating func tell(_ now: Int64, _ effects: inout [Effect]) {
    let new = statusNow(now)
    guard new != status else { return }
    status = new
    effects.append(.status(new))
  }

  private func statusNow(_ now: Int64) -> ConnectionStatus {
    switch state {
    case .live: return .connected
    case .opening, .greeting: return .connecting
    case .waiting(let until):
      // said once, not anew with each passing millisecond
      if case .disconnected(.retrying) = status { return status }
      return .disconnected(.retrying(after: max(0, until - now)))
    case .resting: break
    }
    if !isForeground { return .disconnected(.background) }
    if !hasCredentials || isRenewing { return .disconnected(.notRegistered) }
    switch hold {
    case .replaced: return .disconnected(.replaced)
    case .refused: return .disconnected(.refused)
    case .stopped(let code): return .disconnected(.stopped(code: code))
    case nil: return .disconnected(.noNetwork)
    }
  }
}
