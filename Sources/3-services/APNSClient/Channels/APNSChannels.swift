public import Basics
public import Delivery
public import PushPayload
public import Transport

/// The broadcast channels of one app in one environment: makes, reads, lists and deletes them, and broadcasts Live
/// Activity pushes to them. (Apple, "Sending channel management requests to APNs" and "Sending broadcast push notification
/// requests to APNs"; spec apns.md §13)
///
/// Uses the same credential as pushes, and the same rules of trying again: what APNs did not look at goes again at once,
/// what it cannot do now a little later; making a channel is never repeated when it may have been done, since that would
/// make two. Callable from any task. Connects when asked, and closes what is idle. End it by `close`; the loop and the
/// clock belong to the caller and must outlive it.
public actor APNSChannels {
  public struct Configuration: Sendable {
    /// Without any suffix.
    public var bundleID: String
    public var server: BroadcastServer
    public var credential: Credential
    /// Who vouches for the servers. Default: the machine's certificate store.
    public var trust = TLSClientContext.Trust.system
    /// Brings connections to a server, which then looks the server's name up; nil for none. Default: none.
    public var proxy: @Sendable (Endpoint) -> Proxy? = { _ in nil }
    /// Who looks up names, before each connection. Default: the machine.
    public var resolver: any NameResolver = SystemResolver()
    /// Of each request. Default: four attempts, about ten seconds.
    public var retry: RetryPolicy.Settings = {
      var settings = RetryPolicy.Settings()
      settings.attempts = 4
      settings.bounces = 4
      settings.bouncesAtOnce = 2
      return settings
    }()
    /// How long one attempt may take. Default 10 s.
    public var requestTimeout = Instant.Span.seconds(10)
    /// A request without answer for so long has its connection asked by PING. Default 2 s.
    public var silence = Instant.Span.seconds(2)
    /// From that PING to its answer, before the connection is given up and the request goes by another. Default 3 s.
    public var pingTimeout = Instant.Span.seconds(3)
    /// A connection without requests is closed after this. Default a minute.
    public var idle = Instant.Span.minutes(1)
    /// Seeds request ids and the jitter of retries. Default: by chance.
    public var seed = UInt64.random(in: .min ... .max)
    /// Called on the loop; must not block.
    public var onEvent: @Sendable (APNSClientEvent) -> Void = { _ in }

    public init(bundleID: String, server: BroadcastServer, credential: Credential) {
      self.bundleID = bundleID
      self.server = server
      self.credential = credential
    }
  }

  public nonisolated let bundleID: String
  nonisolated let loop: EventLoop
  public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  let clock: any WallClock
  let settings: Configuration
  private let policy: RetryPolicy
  let dialers: (manage: Dialer, send: Dialer)
  /// By which requests go.
  var current: Party
  /// The credential that waits for its first answer; one request at a time tries it, the others go by `current`.
  var successor: Party?
  var isTrying = false
  var lastEpoch = 0
  private var dice: Dice
  var isClosed = false

  /// Connects lazily. Throws when trust or certificate cannot be used.
  public init(_ configuration: Configuration, clock: any WallClock, loop: EventLoop) throws(TLSFault) {
    bundleID = configuration.bundleID
    settings = configuration
    policy = RetryPolicy(configuration.retry)
    self.clock = clock
    self.loop = loop
    dice = Dice(seed: configuration.seed)
    func dialer(_ server: APNSServer) -> Dialer {
      Dialer(
        proxy: configuration.proxy(server.endpoint), resolver: configuration.resolver, seed: configuration.seed,
        clock: clock)
    }
    dialers = (dialer(configuration.server.manage), dialer(configuration.server.send))
    current = try Self.party(0, configuration.credential, configuration, dialers, loop)
  }

  /// Addresses of the servers (with a proxy: of the proxy) that were silent lately and are tried last (case C40).
  public nonisolated var darkAddresses: [DarkAddress] { dialers.manage.darkAddresses + dialers.send.darkAddresses }

  // MARK: Channels

  /// Makes a channel and answers its id. The policy is fixed for its life.
  public func createChannel(_ policy: ChannelStoragePolicy) async throws(ChannelFault) -> String {
    let body: JSONValue = [
      "message-storage-policy": .number(JSONNumber(policy.rawValue)), "push-type": "LiveActivity",
    ]
    let (response, id) = try await ask("POST", "channels", body: body.encoded(), isRepeatable: false)
    guard let channel = response.fields.text("apns-channel-id"), !channel.isEmpty else {
      throw ChannelFault(.malformedAnswer("APNs made a channel and did not say its id"), requestID: id)
    }
    return channel
  }

  /// What a channel keeps for phones that are away.
  public func channel(_ id: String) async throws(ChannelFault) -> ChannelStoragePolicy {
    let (response, request) = try await ask("GET", "channels", channel: id)
    let object = (try? JSONReader.read(response.body))?.value.object
    guard let number = object?["message-storage-policy"]?.number?.int64,
      let policy = ChannelStoragePolicy(rawValue: Int(clamping: number))
    else {
      throw ChannelFault(.malformedAnswer("APNs' answer names no storage policy that is known"), requestID: request)
    }
    return policy
  }

  /// Every channel of the app.
  public func channels() async throws(ChannelFault) -> [String] {
    let (response, request) = try await ask("GET", "all-channels")
    let list = (try? JSONReader.read(response.body))?.value.object?["channels"]?.array
    guard let ids = list?.map(\.string), ids.allSatisfy({ $0 != nil }) else {
      throw ChannelFault(.malformedAnswer("APNs' answer lists no channels"), requestID: request)
    }
    return ids.compactMap { $0 }
  }

  /// Deletes a channel for good. One that is gone after an attempt without answer counts as deleted.
  public func deleteChannel(_ id: String) async throws(ChannelFault) {
    _ = try await ask("DELETE", "channels", channel: id, isDoneWhenGone: true)
  }

  // MARK: Broadcasts

  /// Sends an update or an end to everybody who listens to a channel.
  ///
  /// - Parameters:
  ///   - priority: 10 at once, 5 with regard to batteries, 1 never wakes a phone. APNs has no default.
  ///   - expiration: seconds since 1970, or 0 for those who are there now; a channel that keeps nothing takes 0 only.
  public func broadcast(
    _ push: LiveActivityPush, on channel: String, priority: PushPriority, expiration: Int64
  ) async throws(ChannelFault) -> BroadcastReceipt {
    let findings = push.findings(isBroadcast: true, at: clock.now).filter { $0.severity == .error }
    guard findings.isEmpty else { throw ChannelFault(.findings(findings)) }
    guard expiration >= 0 else {
      throw ChannelFault(.notSent("the expiration \(expiration) is before 1970; give seconds since then, or 0"))
    }
    return try await send(
      OutgoingBroadcast(
        id: UUIDBits(version4: dice.next(), dice.next()).text, channel: channel, priority: priority,
        expiration: expiration, payload: push.bytes))
  }

  /// The same of what is already checked, under an id of the caller's own.
  public func send(_ broadcast: OutgoingBroadcast) async throws(ChannelFault) -> BroadcastReceipt {
    try check(broadcast.channel)
    let (response, id) = try await exchange(
      .send, "POST", "/4/broadcasts/apps/\(bundleID)",
      [
        HTTP2Field("apns-channel-id", broadcast.channel),
        HTTP2Field("apns-push-type", PushType.liveactivity.rawValue),
        HTTP2Field("apns-priority", String(broadcast.priority.rawValue)),
        HTTP2Field("apns-expiration", String(broadcast.expiration)),
      ], broadcast.payload, id: broadcast.id, expiration: broadcast.expiration, isRepeatable: true,
      isDoneWhenGone: false)
    return BroadcastReceipt(requestID: id, uniqueID: response.fields.text("apns-unique-id"))
  }

  /// Lets the connections go. What has no answer yet may still get one.
  public func close() {
    isClosed = true
    current.drop()
    successor?.drop()
  }

  /// Tries the credential again: the operator has mended it.
  public func resume() { current.gate.resume(at: Moment(any: clock)) }

  // MARK: One request

  enum Host { case manage, send }

  private func server(of host: Host) -> APNSServer {
    switch host {
    case .manage: settings.server.manage
    case .send: settings.server.send
    }
  }

  /// What an answer of 2xx had in it.
  private struct Said {
    var fields = HTTP2FieldList()
    var body: [UInt8] = []
  }

  private func check(_ channel: String) throws(ChannelFault) {
    guard ChannelID.isWellFormed(channel.utf8) else {
      throw ChannelFault(.notSent("the channel id \"\(channel.prefix(40))\" is no base64, so APNs made no such id"))
    }
  }

  private func ask(
    _ method: String, _ place: String, channel: String? = nil, body: [UInt8] = [], isRepeatable: Bool = true,
    isDoneWhenGone: Bool = false
  ) async throws(ChannelFault) -> (Said, requestID: String) {
    if let channel { try check(channel) }
    return try await exchange(
      .manage, method, "/1/apps/\(bundleID)/\(place)",
      channel.map { [HTTP2Field("apns-channel-id", $0)] } ?? [], body,
      id: UUIDBits(version4: dice.next(), dice.next()).text, expiration: nil, isRepeatable: isRepeatable,
      isDoneWhenGone: isDoneWhenGone)
  }

  /// Asks until there is an answer or the policy ends it; empty when it was done by an attempt that got none.
  private func exchange(
    _ host: Host, _ method: String, _ path: String, _ own: [HTTP2Field], _ body: [UInt8], id: String,
    expiration: Int64?, isRepeatable: Bool, isDoneWhenGone: Bool
  ) async throws(ChannelFault) -> (Said, requestID: String) {
    guard bundleID.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x2F }), !bundleID.isEmpty else {
      throw ChannelFault(.notSent("\"\(bundleID.prefix(80))\" cannot be a bundle id"))
    }
    var tries = RetryPolicy.Tries(expiration: expiration)
    var mayBeDone = false
    var why = "it was given up before it was sent"
    while !isClosed {
      let party: Party
      if let successor, !isTrying { party = successor } else { party = current }
      let isTrial = party.epoch != current.epoch
      if isTrial { isTrying = true }
      defer { if isTrial, successor?.epoch == party.epoch { isTrying = false } }
      guard let (authorization, generation) = try authorize(party.epoch) else { continue }
      let server = server(of: host)
      let common = HTTP2FieldBlock(server.head(method, authorization: authorization))
      let request = ExchangeLine.Request(
        common: common, path: Array(path.utf8),
        own: own + [HTTP2Field("apns-request-id", id, neverIndexed: true)], body: body)
      let failure: RetryPolicy.Failure
      switch await perform(request, party.line(to: host)) {
      case .answered(let response):
        let now = Moment(any: clock)
        switch Answer(status: response.status, body: response.body) {
        case .accepted:
          _ = change(party.epoch) { $0.gate.accepted(generation, at: now) }
          if successor?.epoch == party.epoch { takeOver() }
          return (Said(fields: response.fields, body: response.body), id)
        case .refused(let refusal):
          if isDoneWhenGone, mayBeDone, refusal.known == .channelNotRegistered { return (Said(), id) }
          note(refusal, generation, response, party.epoch, host, now)
          // what only the new credential was refused for was never looked at
          failure =
            isTrial && refusal.concernsCredential
            ? .unprocessed(refusal.reason) : .refused(refusal)
        }
      case .unprocessed(let words, let isCertificateRefused):
        why = words
        failure = .unprocessed(words)
        if isCertificateRefused, successor?.epoch == party.epoch { abandonSuccessor(words) }
      case .unanswered(let words):
        why = words
        mayBeDone = true
        guard isRepeatable else {
          throw ChannelFault(.unanswered(words, isCertainlyUndone: false), requestID: id)
        }
        failure = .unanswered(words)
      }
      switch policy.judge(failure, &tries, at: clock.now, dice: &dice) {
      case .end(.refused(let refusal)): throw ChannelFault(.refused(refusal), requestID: id)
      case .end(.accepted), .end(.unanswered):
        if case .refused(let refusal) = failure { throw ChannelFault(.refused(refusal), requestID: id) }
        throw ChannelFault(.unanswered(why, isCertainlyUndone: !mayBeDone), requestID: id)
      case .again(let delay):
        if delay.milliseconds > 0, (try? await clock.sleep(for: delay)) == nil {
          throw ChannelFault(.unanswered(why, isCertainlyUndone: !mayBeDone), requestID: id)
        }
      }
    }
    throw ChannelFault(.unanswered(why, isCertainlyUndone: !mayBeDone), requestID: id)
  }

  /// nil: that credential may not be used, another is there.
  private func authorize(
    _ epoch: Int
  ) throws(ChannelFault) -> (authorization: [UInt8]?, generation: ProviderTokenLife.Generation)? {
    let now = Moment(any: clock)
    let found = change(epoch) { party in (party.gate.notice(at: now), party.gate.warrant(at: now)) }
    guard let (notice, warrant) = found else { return nil }
    if let notice { settings.onEvent(notice) }
    switch warrant {
    case .hold(let words) where epoch == current.epoch: throw ChannelFault(.suspended(words))
    case .hold(let words):
      abandonSuccessor(words)
      return nil
    case .send(let authorization, let generation): return (authorization, generation)
    }
  }

  /// What a refusal means for the credential and the connection.
  private func note(
    _ refusal: PushOutcome.Refusal, _ generation: ProviderTokenLife.Generation, _ response: HTTP2Response,
    _ epoch: Int, _ host: Host, _ now: Moment
  ) {
    switch refusal.handling {
    case .newToken, .credential:
      _ = change(epoch) { $0.line(to: host).drop() }
      guard let reason = refusal.known else { return }
      let date = response.fields["date"].flatMap { instant(fromHTTPDate: $0) }
      let found = change(epoch) { $0.gate.refused(generation, reason, theirDate: date, at: now) }
      guard let (warrant, alarm) = found else { return }
      if successor?.epoch == epoch {
        abandonSuccessor(alarm ?? reason.words)
      } else {
        if let alarm { settings.onEvent(.alarm(alarm)) }
        if case .hold = warrant { takeOver() }  // what waits, if something does, can only be better
      }
    case .elsewhere, .laterElsewhere: _ = change(epoch) { $0.line(to: host).drop() }
    case .dead, .fix:
      // APNs checks the credential first (spec apns.md §8.3)
      if successor?.epoch == epoch { takeOver() }
    case .later: break
    }
  }

  private func perform(_ request: ExchangeLine.Request, _ line: ExchangeLine) async -> ExchangeLine.Outcome {
    var timer: Task<Void, Never>?
    nonisolated(unsafe) let line = line  // both closures run on the loop
    let outcome = await withCheckedContinuation { done in
      let number = line.ask(request, done)
      timer = Task { [clock, settings, weak self] in
        let doubted = min(settings.silence, settings.requestTimeout)
        guard (try? await clock.sleep(for: doubted)) != nil else { return }
        await self?.doubt(number, line)
        let rest = settings.requestTimeout.milliseconds - doubted.milliseconds
        guard (try? await clock.sleep(for: .milliseconds(rest))) != nil else { return }
        await self?.giveUp(number, line)
      }
    }
    timer?.cancel()
    return outcome
  }

  private func doubt(_ number: UInt64, _ line: ExchangeLine) { line.doubt(number) }

  private func giveUp(_ number: UInt64, _ line: ExchangeLine) {
    line.giveUp(number, "no answer came within \(settings.requestTimeout.milliseconds / 1000) s")
  }
}

extension PushOutcome.Refusal {
  /// Whether it speaks of the credential and not of the request.
  fileprivate var concernsCredential: Bool {
    switch handling {
    case .newToken, .credential: true
    case .dead, .fix, .later, .elsewhere, .laterElsewhere: false
    }
  }
}
