internal import Basics
internal import PushPayload
internal import Transport

/// What faults do to one provider's connection. On its loop only.
final class ConnectionFaults {
  /// GOAWAY waits until so many requests lie above its last-stream-id.
  private struct Withheld {
    var rule: String
    var goAway: FaultAction.GoAway
    var count: Int
    var streams: [Int32]
  }

  /// A lasting state that a request began.
  private struct Begun<Value: Hashable & Sendable> {
    var state: LastingFaults.State<Value>
    /// Ends by itself; else with its rule.
    var isTimed: Bool
  }

  /// How long GOAWAY waits for the requests that shall lie above it.
  private static let patience = Instant.Span.milliseconds(250)

  private let desk: FaultDesk
  private let number: UInt64
  private let environment: SimulatedEnvironment
  private let port: FaultRule.Port
  private var connection: HTTP2ServerConnection?
  private var newest: Int32 = 0
  private var withheld: Withheld?
  /// Nothing is answered any more.
  private var isLost = false

  private var usualStreams: UInt32
  /// Of the SETTINGS on their way, the oldest first: whether they are a fault's.
  private var announced = [false]
  private var begunStreams: Begun<UInt32>?
  private var begunBandwidth: Begun<Int>?
  private var shown = LastingFaults()

  private var held = HeldQueue<() -> Void>()
  private var alarm: Task<Void, Never>?

  init(
    _ connection: HTTP2ServerConnection, number: UInt64, environment: SimulatedEnvironment, port: FaultRule.Port,
    firstStreams: UInt32, desk: FaultDesk
  ) {
    self.connection = connection
    self.number = number
    self.environment = environment
    self.port = port
    usualStreams = firstStreams
    self.desk = desk
    nonisolated(unsafe) let this = self  // goes back to the loop that it lives on
    let loop = connection.loop
    desk.register(number) { loop.execute { this.review() } }
    guard desk.isActive else { return }
    loop.execute { this.opened() }  // not from within the making of the connection
  }

  func closed() {
    connection = nil
    desk.unregister(number)
    alarm?.cancel()
    held.removeAll()
  }

  private func opened() {
    let subject = FaultSubject(moment: .open, connection: number, environment: environment, port: port)
    if let due = desk.decide(subject).connection { _ = begin(due, subject, id: "") }
    review()
  }

  // MARK: Requests

  /// What a request meets on its way in.
  enum Encounter {
    /// It is not to be answered, or not now.
    case nothing
    case natural
    /// A fault in its answer, and how long that is held.
    case answer(FaultAction.Answer, rule: String, delay: Instant.Span?)
  }

  /// Asks the rules about a request, and does to the connection what is due.
  func meet(_ subject: FaultSubject, id: String) -> Encounter {
    let decision = desk.decide(subject)
    if let due = decision.connection, !begin(due, subject, id: id) { return .nothing }
    guard !withholds(subject.stream) else { return .nothing }
    guard let due = decision.answer, case .answer(let fault) = due.action else { return .natural }
    desk.note(due.rule, fault.words, subject, id: id)
    return .answer(fault, rule: due.rule, delay: due.delay)
  }

  /// Lets the answer to a request out as the fault has it, once its delay is over.
  func reply(
    _ fault: FaultAction.Answer, to stream: Int32, after delay: Instant.Span?, _ answer: @escaping () -> Void
  ) {
    let reply = { [self] in
      switch fault.reply {
      case .natural, .refuse, .raw: answer()
      case .resetStream(let code): connection?.reset(stream: stream, code: code)
      case .none: break
      }
    }
    guard let delay else { return reply() }
    hold(for: delay, reply)
  }

  /// Does to the connection what is due; false when the request is not to be answered.
  private func begin(_ due: DueFault, _ subject: FaultSubject, id: String) -> Bool {
    guard let connection, !isLost else { return false }
    desk.note(due.rule, due.action.words, subject, id: id)
    nonisolated(unsafe) let this = self  // goes back to the loop that it lives on
    switch due.action {
    case .answer, .handshake: return true
    case .goAway(let goAway):
      guard withheld == nil else { return true }
      switch goAway.lastStream {
      case .newest, .noticeThenNewest: say(goAway, last: max(newest, subject.stream))
      case .none:
        say(goAway, last: 0)
        return false
      case .below(let count):
        withheld = Withheld(rule: due.rule, goAway: goAway, count: count, streams: [])
        connection.loop.schedule(after: Self.patience) { this.sayWithheld() }
      }
      return true
    case .halfOpen(let answersPings):
      isLost = true
      connection.mute(answersPings: answersPings)
      return false
    case .resetConnection:
      isLost = true
      connection.loop.execute { this.connection?.abort() }
      return false
    case .bandwidth(let rate, let lasting):
      begunBandwidth = Begun(state: .init(rule: due.rule, value: rate), isTimed: lasting != nil)
      if let lasting { hold(for: lasting) { this.end(&this.begunBandwidth, due.rule) } }
    case .streams(let limit, let lasting):
      begunStreams = Begun(state: .init(rule: due.rule, value: limit), isTimed: lasting != nil)
      if let lasting { hold(for: lasting) { this.end(&this.begunStreams, due.rule) } }
    }
    review()
    return true
  }

  private func end<Value>(_ begun: inout Begun<Value>?, _ rule: String) {
    if begun?.state.rule == rule { begun = nil }
    let connection = self.connection
    nonisolated(unsafe) let this = self  // goes back to the loop that it lives on
    connection?.loop.execute { this.review() }
  }

  /// Whether a request must wait unserved for the GOAWAY that will pass over it.
  private func withholds(_ stream: Int32) -> Bool {
    newest = max(newest, stream)
    guard withheld != nil else { return isLost }
    withheld?.streams.append(stream)
    if let withheld, withheld.streams.count >= withheld.count { sayWithheld() }
    return true
  }

  private func sayWithheld() {
    guard let withheld else { return }
    self.withheld = nil
    say(withheld.goAway, last: max(0, (withheld.streams.min() ?? newest + 2) - 2))
  }

  private func say(_ goAway: FaultAction.GoAway, last: Int32) {
    guard let connection else { return }
    let debug: [UInt8] =
      switch goAway.words {
      case .reason(let reason): JSONValue.object(["reason": .string(reason)]).encoded()
      case .text(let text): Array(text.utf8)
      case .none: []
      }
    if goAway.lastStream == .noticeThenNewest {
      connection.goAway(lastStream: .max, code: goAway.code, debugData: debug)
    }
    connection.goAway(lastStream: last, code: goAway.code, debugData: debug)
    // Behind what this turn sends, GOAWAY among it.
    let loop = connection.loop
    nonisolated(unsafe) let this = self  // goes back to the loop that it lives on
    switch goAway.ending {
    case .stay: break
    case .drain: loop.execute { this.connection?.close(graceful: true) }
    case .close: loop.execute { this.connection?.close(graceful: false) }
    case .reset: loop.execute { loop.execute { this.connection?.abort() } }
    }
  }

  // MARK: Lasting states

  /// Tells the stream limit that the connection would have without faults; false when a fault tells another.
  func announce(maxConcurrentStreams limit: UInt32) -> Bool {
    usualStreams = limit
    guard shown.streams == nil else { return false }
    announced.append(false)
    connection?.announce(maxConcurrentStreams: limit)
    return true
  }

  /// The oldest SETTINGS are acknowledged; false when they were a fault's.
  func acknowledged() -> Bool {
    guard !announced.isEmpty else { return true }
    return !announced.removeFirst()
  }

  /// Brings limit and cap in line with the rules in force.
  private func review() {
    guard let connection, !isLost else { return }
    if let withheld, !desk.isInForce(withheld.rule) { sayWithheld() }
    if let begun = begunStreams, !begun.isTimed, !desk.isInForce(begun.state.rule) { begunStreams = nil }
    if let begun = begunBandwidth, !begun.isTimed, !desk.isInForce(begun.state.rule) { begunBandwidth = nil }
    let standing = desk.standing(of: environment, port)
    let streams = begunStreams?.state ?? standing.streams
    let bandwidth = begunBandwidth?.state ?? standing.bandwidth
    if streams?.value != shown.streams?.value {
      announced.append(true)
      connection.announce(maxConcurrentStreams: streams?.value ?? usualStreams)
    }
    if bandwidth?.value != shown.bandwidth?.value { connection.limitRate(bytesPerSecond: bandwidth?.value) }
    if let new = standing.streams, new.rule != shown.streams?.rule, begunStreams == nil {
      note(new.rule, .streams(new.value, lasting: nil))
    }
    if let new = standing.bandwidth, new.rule != shown.bandwidth?.rule, begunBandwidth == nil {
      note(new.rule, .bandwidth(bytesPerSecond: new.value, lasting: nil))
    }
    shown = LastingFaults(bandwidth: bandwidth, streams: streams)
  }

  private func note(_ rule: String, _ action: FaultAction) {
    desk.countStanding(rule)
    desk.note(rule, action.words, FaultSubject(moment: .open, connection: number, environment: environment, port: port))
  }

  // MARK: Time

  /// Does something on the loop once `span` has passed by the simulator's clock. Nothing when the connection is gone.
  private func hold(for span: Instant.Span, _ work: @escaping () -> Void) {
    let due = desk.clock.uptime + span
    let former = held.earliest
    held.add(work, due: due)
    if held.earliest != former { setAlarm() }
  }

  private func setAlarm() {
    alarm?.cancel()
    alarm = nil
    guard let due = held.earliest, let loop = connection?.loop else { return }
    let clock = desk.clock
    nonisolated(unsafe) let this = self  // goes back to the loop that it lives on
    alarm = Task {
      let left = due - clock.uptime
      guard (try? await clock.sleep(for: left)) != nil else { return }
      loop.execute { this.alarmRang() }
    }
  }

  private func alarmRang() {
    guard connection != nil else { return }
    for work in held.take(by: desk.clock.uptime) { work() }
    setAlarm()
  }
}
