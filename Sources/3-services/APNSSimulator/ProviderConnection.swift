internal import Basics
internal import PushPayload
internal import Transport

/// One provider's connection: turns requests into questions to the core and verdicts into answers. On its loop only.
///
///     request ─▶ (first of a connection: held) ─▶ enter ─▶ judge ─▶ answer
final class ProviderConnection: HTTP2ServerHandler {
  /// Counts from 1 over all of the simulator's connections.
  let number: UInt64
  private let core: SimulatorCore
  private let environment: SimulatedEnvironment
  private let manyStreams: UInt32
  private var connection: HTTP2ServerConnection?
  private var trust: ConnectionTrust
  private var isManyAnnounced = false
  private var isFirst = true
  private var dice: Dice

  /// The first answer of a connection is not given sooner: curl up to 7.88 (Debian 12's) takes an answer without body that
  /// comes before it waits for one for a broken stream. Apple, far away, is never that fast.
  private static let firstAnswerDelay = Instant.Span.milliseconds(5)

  init(
    _ connection: HTTP2ServerConnection, core: SimulatorCore, environment: SimulatedEnvironment, manyStreams: UInt32,
    seed: UInt64
  ) {
    self.connection = connection
    number = core.nextConnectionNumber()
    self.core = core
    // Asked for by Apple's name (a hosts file, or the proxy's absence) it is production also on the sandbox's port.
    self.environment =
      environment == .production || connection.serverName?.lowercased() != "api.push.apple.com"
      ? environment : .production
    self.manyStreams = manyStreams
    dice = Dice(seed: seed)
    trust = ConnectionTrust(certificate: nil)
    guard let peer = connection.peerCertificate else { return }
    let judged = Self.judge(peer, environment: self.environment, now: core.clock.now)
    trust = ConnectionTrust(certificate: judged.certificate)
    let refusal = judged.refusal
    // Not from within the making of the connection.
    nonisolated(unsafe) let this = self  // goes back to the loop that it lives on
    connection.loop.execute { this.welcome(refusal: refusal) }
  }

  private static func judge(
    _ peer: PeerCertificate, environment: SimulatedEnvironment, now: Instant
  ) -> (certificate: ProviderCertificate, refusal: Refusal?) {
    let unreadable = ProviderCertificate(
      userID: "", environments: [], topics: [], notBefore: now, notAfter: now)
    guard let facts = try? Certificate(der: peer.der) else {
      return (unreadable, Refusal(.badCertificate, "the client certificate cannot be read"))
    }
    if let error = peer.verifyError {
      return (
        unreadable,
        Refusal(.badCertificate, "the client certificate is not of this simulator's authority: \(error)")
      )
    }
    let certificate = ProviderCertificate(facts)
    return (certificate, certificate.refusal(in: environment, now: now))
  }

  /// A certificate that is no good is told by GOAWAY right after the handshake; a good one opens the streams at once.
  private func welcome(refusal: Refusal?) {
    guard let connection else { return }
    if let refusal {
      core.note(refusal, id: [], request: PushRequest(), now: core.clock.now)
      connection.goAway(code: .noError, debugData: refusal.body(spelling: core.spelling))
      connection.close(graceful: true)
    } else {
      announceMany()
    }
  }

  private func announceMany() {
    guard !isManyAnnounced else { return }
    isManyAnnounced = true
    connection?.announce(maxConcurrentStreams: manyStreams)
  }

  // MARK: HTTP2ServerHandler

  func request(_ request: HTTP2Request, stream: Int32) {
    guard let connection else { return }
    guard isFirst else { return enter(request, stream: stream) }
    isFirst = false
    nonisolated(unsafe) let this = self  // comes back on the loop that it lives on
    connection.loop.schedule(after: Self.firstAnswerDelay) { this.enter(request, stream: stream) }
  }

  func streamClosed(_ stream: Int32, code: HTTP2ErrorCode) {}

  func closed(_ fault: TransportFault) { connection = nil }

  // MARK: In and out

  /// The one place where a request enters: sorted, not judged.
  private func enter(_ request: HTTP2Request, stream: Int32) {
    guard connection != nil else { return }
    let sorted = PushRequest(request.fields)
    answer(stream, judge(sorted, body: request.body, excess: request.excess))
  }

  /// The one place where an answer leaves.
  private func answer(_ stream: Int32, _ answer: ProviderAnswer) {
    connection?.respond(stream: stream, status: answer.status, fields: answer.fields, body: answer.body)
  }

  // MARK: Judging

  /// What a request is answered by Apple's rules. Takes the push when it is in order.
  private func judge(_ request: PushRequest, body: [UInt8], excess: HTTP2Request.Excess?) -> ProviderAnswer {
    let id = answerID(to: request)
    if case .headerList = excess { return ProviderAnswer(status: 431, id: id) }
    let now = core.clock.now
    do {
      let checked = try core.checks.check(
        request, body: body, trust: &trust, defaultEnvironment: environment, now: now, key: core.key)
      if trust.isProven { announceMany() }
      let uniqueID: Bytes? =
        switch checked.environment {
        case .sandbox: UUIDText.version4(dice.next(), dice.next())[...]
        case .production: nil
        }
      try core.accept(checked, id: id, uniqueID: uniqueID, body: body, now: now)
      return ProviderAnswer(taken: id, uniqueID: uniqueID)
    } catch {
      if trust.isProven { announceMany() }
      core.note(error, id: id, request: request, now: now)
      return ProviderAnswer(refused: error, id: id, spelling: core.spelling)
    }
  }

  /// The request's own, byte for byte, when it is a UUID; else a new one in capitals, as Apple's servers make them.
  private func answerID(to request: PushRequest) -> Bytes {
    if let id = request[.messageID], UUIDText.isCanonical(id) { return id }
    return UUIDText.version4(dice.next(), dice.next(), upperCase: true)[...]
  }
}

extension ProviderCertificate {
  init(_ certificate: Certificate) {
    let arc = "1.2.840.113635.100.6.3."
    var environments: Set<SimulatedEnvironment> = []
    if certificate.extensions[arc + "1"] != nil { environments.insert(.sandbox) }
    if certificate.extensions[arc + "2"] != nil { environments.insert(.production) }
    let list = certificate.extensions[arc + "6"] ?? certificate.extensions[arc + "4"]
    self.init(
      userID: certificate.userID ?? "", environments: environments,
      topics: list.map(CertificateTopics.topics) ?? [], notBefore: certificate.notBefore,
      notAfter: certificate.notAfter)
  }
}
