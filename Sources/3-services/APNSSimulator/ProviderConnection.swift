internal import Basics
internal import PushPayload
internal import Transport

/// One provider's connection: turns requests into questions to the core and verdicts into answers. On its loop only.
///
///     request ─▶ (over the stream limit: waits) ─▶ (first of the connection: held) ─▶ enter ─▶ judge ─▶ answer
final class ProviderConnection: HTTP2ServerHandler {
  /// Counts from 1 over all of the simulator's connections.
  let number: UInt64
  let core: SimulatorCore
  let environment: SimulatedEnvironment
  private let firstAnswerDelay: Instant.Span
  private(set) var connection: HTTP2ServerConnection?
  let faults: ConnectionFaults
  var trust: ConnectionTrust
  private var standing: ConnectionStanding
  /// Requests above the stream limit, oldest first.
  private var waiting: [(stream: Int32, request: HTTP2Request)] = []
  private var isServingWaiting = false
  /// The connection is to end for its certificate, which nobody has been told yet.
  private var certificateRefusal: Refusal?
  private var isFirst: Bool
  private var isStopping = false
  private var dice: Dice

  init(
    _ connection: HTTP2ServerConnection, core: SimulatorCore, environment: SimulatedEnvironment,
    limits: APNSSimulator.Limits, seed: UInt64
  ) {
    self.connection = connection
    number = core.nextConnectionNumber()
    self.core = core
    // Asked for by Apple's name (a hosts file, say) it is production also on the sandbox's port.
    self.environment =
      environment == .production || connection.serverName?.lowercased() != "api.push.apple.com"
      ? environment : .production
    firstAnswerDelay = limits.firstAnswerDelay
    isFirst = limits.firstAnswerDelay > .milliseconds(0)
    standing = ConnectionStanding(rules: limits.standing)
    dice = Dice(seed: seed)
    trust = ConnectionTrust()
    faults = ConnectionFaults(
      connection, number: number, environment: self.environment, port: .push,
      firstStreams: limits.standing.firstLimit, desk: core.faults)
    guard let peer = connection.peerCertificate else { return }
    let now = core.clock.now
    let identity = ConnectionTrust.Identity(peer, directory: core.providers, now: now)
    trust = ConnectionTrust(identity)
    certificateRefusal = identity.refusal(in: self.environment, now: now)
    // Not from within the making of the connection.
    nonisolated(unsafe) let this = self  // comes back on the loop that it lives on
    if certificateRefusal == nil {
      connection.loop.execute { this.perform(this.standing.handle(.proved)) }
    } else {
      connection.loop.schedule(after: firstAnswerDelay) { this.dismissForCertificate(isTold: false) }
    }
  }

  // MARK: HTTP2ServerHandler

  func request(_ request: HTTP2Request, stream: Int32) {
    guard standing.begin() else { return waiting.append((stream, request)) }
    begin(request, stream: stream)
  }

  func streamClosed(_ stream: Int32, code: HTTP2ErrorCode) {
    if !waiting.isEmpty, let index = waiting.firstIndex(where: { $0.stream == stream }) {
      waiting.remove(at: index)
      return
    }
    standing.end()
    serveWaiting()
  }

  func settingsAcknowledged() {
    if faults.acknowledged() { perform(standing.handle(.acknowledged)) }
  }

  func draining(_ reason: TransportFault) -> [UInt8] {
    if reason.kind == .timedOut(.idle) { return Refusal(.idleTimeout, "").body(spelling: core.spelling) }
    isStopping = true
    return Refusal(.shutdown, "").body(spelling: core.spelling)
  }

  func closed(_ fault: TransportFault) {
    connection = nil
    waiting = []
    faults.closed()
  }

  // MARK: In and out

  private func begin(_ request: HTTP2Request, stream: Int32) {
    guard let connection else { return }
    guard isFirst, certificateRefusal == nil else { return enter(request, stream: stream) }
    isFirst = false
    nonisolated(unsafe) let this = self  // comes back on the loop that it lives on
    connection.loop.schedule(after: firstAnswerDelay) { this.enter(request, stream: stream) }
  }

  private func serveWaiting() {
    guard !isServingWaiting, !waiting.isEmpty else { return }
    isServingWaiting = true
    defer { isServingWaiting = false }
    while !waiting.isEmpty, standing.begin() {
      let next = waiting.removeFirst()
      begin(next.request, stream: next.stream)
    }
  }

  /// The one place where a request enters: sorted, not judged.
  private func enter(_ request: HTTP2Request, stream: Int32) {
    guard connection != nil else { return }
    let sorted = PushRequest(request.fields)
    if ChannelRequest.isBroadcast(path: sorted.path) { return broadcast(ChannelRequest(request), stream: stream) }
    guard !core.faults.isActive else { return enter(request, sorted, stream: stream, meeting: core.faults) }
    answer(stream, judge(sorted, body: request.body, excess: request.excess), to: sorted)
    if certificateRefusal != nil { dismissForCertificate(isTold: true) }
  }

  func answer(_ stream: Int32, _ verdict: Verdict, to request: PushRequest) {
    switch verdict {
    case .now(let verdict): answer(stream, verdict)
    case .onceKept(let verdict, let id): answer(stream, verdict, onceKept: id, request)
    }
  }

  private func broadcast(_ request: ChannelRequest, stream: Int32) {
    guard let connection else { return }
    let desk = ChannelDesk(core: core)
    if core.faults.isActive {
      let subject = desk.subject(
        of: request, stream: stream, connection: number, environment: environment, port: .push)
      desk.enter(request, subject, exchange(request, stream: stream, connection, desk))
    } else {
      desk.onceKept(judge(request, desk), request, on: connection.loop) { [self] in answer(stream, $0) }
    }
    if certificateRefusal != nil { dismissForCertificate(isTold: true) }
  }

  private func judge(_ request: ChannelRequest, _ desk: ChannelDesk, mark: FaultMark? = nil) -> ProviderAnswer {
    let given = desk.broadcast(
      request, isStopping: isStopping, mark: mark, trust: &trust, environment: environment, dice: &dice)
    if trust.isProven { perform(standing.handle(.proved)) }
    return given
  }

  private func exchange(
    _ request: ChannelRequest, stream: Int32, _ connection: HTTP2ServerConnection, _ desk: ChannelDesk
  ) -> ChannelExchange {
    ChannelExchange(
      loop: connection.loop, faults: faults, natural: { [self] mark in judge(request, desk, mark: mark) },
      prove: { [self] in
        _ = try? desk.authenticate(request, &trust, environment, core.clock.now)
        if trust.isProven { prove() }
      },
      answerID: { [self] in desk.answerID(to: request, &dice) }, answer: { [self] in answer(stream, $0) })
  }

  /// 200 promises that what has to wait is kept: it is told once that is so.
  private func answer(_ stream: Int32, _ verdict: ProviderAnswer, onceKept id: Bytes, _ request: PushRequest) {
    guard let loop = connection?.loop else { return }
    nonisolated(unsafe) let this = self  // comes back on the loop that it lives on
    core.whenWritten { [core] refusal in
      loop.execute {
        guard let refusal else { return this.answer(stream, verdict) }
        core.note(refusal, id: id, request: request, now: core.clock.now)
        this.answer(stream, ProviderAnswer(refused: refusal, id: id, spelling: core.spelling))
      }
    }
  }

  /// The one place where an answer leaves.
  func answer(_ stream: Int32, _ answer: ProviderAnswer) {
    connection?.respond(
      stream: stream, status: answer.status, fields: answer.fields, body: answer.body, dataSize: answer.dataSize)
    if let reason = answer.reason {
      perform(standing.handle(.refused(reason)))
    } else if answer.status == 200 {
      perform(standing.handle(.taken))
    }
    // Last, so that those who wait are answered after this one.
    if trust.isProven { perform(standing.handle(.proved)) }
  }

  func prove() { perform(standing.handle(.proved)) }

  private func perform(_ effect: ConnectionStanding.Effect?) {
    switch effect {
    case .none: break
    case .announce(let limit):
      if !faults.announce(maxConcurrentStreams: limit) {
        // Not told, for a fault tells another limit; as good as acknowledged.
        nonisolated(unsafe) let this = self  // comes back on the loop that it lives on
        connection?.loop.execute { this.perform(this.standing.handle(.acknowledged)) }
      }
      serveWaiting()
    case .dismiss(let reason): dismiss(Refusal(reason, "").body(spelling: core.spelling), times: 1)
    }
  }

  /// A certificate that is no good is told by GOAWAY right after the handshake, twice as Apple's servers have been seen
  /// to do (spec/apns.md §2.2); a request that is there by then is answered first.
  private func dismissForCertificate(isTold: Bool) {
    guard connection != nil, let refusal = certificateRefusal else { return }
    certificateRefusal = nil
    if !isTold { core.note(refusal, id: [], request: PushRequest(), now: core.clock.now) }
    dismiss(refusal.body(spelling: core.spelling), times: 2)
  }

  private func dismiss(_ words: [UInt8], times: Int) {
    for _ in 0..<times { connection?.goAway(code: .noError, debugData: words) }
    connection?.close(graceful: true)
  }

  // MARK: Judging

  enum Verdict {
    case now(ProviderAnswer)
    case onceKept(ProviderAnswer, id: Bytes)
  }

  /// What a request is answered by Apple's rules. Takes the push when it is in order; `mark` is left on it.
  func judge(
    _ request: PushRequest, body: [UInt8], excess: HTTP2Request.Excess?, mark: FaultMark? = nil
  ) -> Verdict {
    let id = answerID(to: request)
    if case .headerList = excess { return .now(ProviderAnswer(status: 431, id: id)) }
    let now = core.clock.now
    do throws(Refusal) {
      if isStopping { throw Refusal(.shutdown, "the service is stopping; send it again on a new connection") }
      try core.admit(now: now)
      let checked = try core.checks.check(
        request, body: body, trust: &trust, defaultEnvironment: environment, now: now,
        directory: core.providers)
      let uniqueID: Bytes? =
        switch checked.environment {
        case .sandbox: UUIDText.version4(dice.next(), dice.next())[...]
        case .production: nil
        }
      let isKept = try core.accept(checked, id: id, uniqueID: uniqueID, body: body, mark: mark, now: now)
      let answer = ProviderAnswer(taken: id, uniqueID: uniqueID)
      return isKept ? .onceKept(answer, id: id) : .now(answer)
    } catch {
      core.note(error, id: id, request: request, now: now)
      return .now(ProviderAnswer(refused: error, id: id, spelling: core.spelling))
    }
  }

  /// The request's own, byte for byte, when it is a UUID; else a new one in capitals, as Apple's servers make them.
  func answerID(to request: PushRequest) -> Bytes {
    if let id = request[.messageID], UUIDText.isCanonical(id) { return id }
    return UUIDText.version4(dice.next(), dice.next(), upperCase: true)[...]
  }
}
