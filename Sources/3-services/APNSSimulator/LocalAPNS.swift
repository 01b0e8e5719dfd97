public import Basics
internal import PushPayload
internal import Transport

/// Apple's side inside a process, without sockets, TLS and threads of its own: the same checks, tokens, store, expiry and
/// courier as `APNSSimulator`, for whoever moves the time himself. Its caller needs no credential: it may push to every
/// topic. With the same seed and calls at the same times everything is the same, tokens and ids among them.
///
/// May be called from any thread. What is due by time alone happens in `timePassed`.
public final class LocalAPNS: Sendable {
  public let courier: Courier
  let core: SimulatorCore
  private let dice: Locked<Dice>

  /// Of the configuration, what concerns listeners and folders is not looked at; `seed` is 1 where it is nil.
  public init(clock: any WallClock, _ configuration: APNSSimulator.Configuration = .init()) {
    var configuration = configuration
    configuration.clock = clock
    let seed = configuration.seed ?? 1
    core = SimulatorCore(
      configuration: configuration, seed: seed, state: ServiceState(rules: configuration.stateRules, seed: seed),
      keys: [], keeper: nil)
    courier = Courier(core: core)
    dice = Locked(Dice(seed: seed &+ 2))
  }

  deinit { core.stop() }

  /// What APNs answers to a push.
  public struct Answer: Hashable, Sendable {
    /// HTTP status: 200 when it was taken.
    public var status: Int
    /// `apns-id`.
    public var id: String
    /// Apple's word for why not; nil with 200.
    public var reason: String?
    /// With 410: since when the token is dead.
    public var since: Instant?
    /// What exactly is wrong and what to do; Apple does not tell it.
    public var explanation: String?
  }

  /// Takes or refuses a push to `/3/device/<token>`, with headers as a provider sends them. A push that the phone may have
  /// now is with its courier before this returns.
  public func push(
    _ payload: [UInt8], to token: String, headers: [(name: String, value: String)], environment: SimulatedEnvironment
  ) -> Answer {
    let request = PushRequest(Self.fields("/3/device/\(token)", headers))
    let id = answerID(request)
    let now = core.clock.now
    do throws(Refusal) {
      var trust = Self.trust(in: String(decoding: request[.topic] ?? [], as: UTF8.self))
      let checked = try core.checks.check(
        request, body: payload, trust: &trust, defaultEnvironment: environment, now: now, directory: core.providers)
      try core.accept(checked, id: id, uniqueID: nil, body: payload, now: now)
      return Answer(status: 200, id: String(decoding: id, as: UTF8.self))
    } catch {
      core.note(error, id: id, request: request, now: now)
      return Answer(
        status: error.reason.status, id: String(decoding: id, as: UTF8.self), reason: error.reason.rawValue,
        since: error.since, explanation: error.explanation)
    }
  }

  /// Broadcasts on a channel of the app (`/4/broadcasts/apps/<bundle>`).
  public func broadcast(
    _ payload: [UInt8], to bundleID: String, headers: [(name: String, value: String)],
    environment: SimulatedEnvironment
  ) -> Answer {
    let request = ChannelRequest(fields: Self.fields("/4/broadcasts/apps/\(bundleID)", headers), body: payload)
    var trust = Self.trust(in: bundleID)
    let answer = dice.withLock { dice in
      ChannelDesk(core: core).broadcast(request, trust: &trust, environment: environment, dice: &dice)
    }
    let id = answer.fields.first { $0.name.elementsEqual("apns-request-id".utf8) }?.value ?? []
    return Answer(
      status: answer.status, id: String(decoding: id, as: UTF8.self), reason: answer.reason?.rawValue)
  }

  /// Makes a channel and answers its id; `keepsNewest` as storage policy 1. nil when the app has as many as it may.
  public func createChannel(of bundleID: String, environment: SimulatedEnvironment, keepsNewest: Bool) -> String? {
    try? core.attempt { state, now throws(Refusal) in
      try state.createChannel(
        .init(bundleID: bundleID, environment: environment), policy: keepsNewest ? .newest : .nothing, now: now)
    }
  }

  /// When `timePassed` has something to do; nil: nothing waits for time.
  public var due: Instant? { core.due }

  /// Lets everything happen that is due by the clock.
  public func timePassed() { core.wake() }

  /// Pushes taken, oldest first.
  public var notifications: [LoggedNotification] { core.withState { state, _ in state.notifications.all } }

  private static func fields(_ path: String, _ headers: [(name: String, value: String)]) -> HTTP2FieldList {
    var fields = HTTP2FieldList()
    for (name, value) in [(":method", "POST"), (":path", path)] + headers.map({ ($0.name, $0.value) }) {
      fields.append(name: name.lowercased(), value: value)
    }
    return fields
  }

  /// As by a certificate that is good for the topic.
  private static func trust(in topic: String) -> ConnectionTrust {
    ConnectionTrust(
      .certificate(
        ProviderCertificate(
          userID: topic, environments: Set(SimulatedEnvironment.allCases), topics: [topic],
          notBefore: Instant(milliseconds: .min), notAfter: Instant(milliseconds: .max))))
  }

  private func answerID(_ request: PushRequest) -> Bytes {
    if let id = request[.messageID], UUIDText.isCanonical(id) { return id }
    return dice.withLock { dice in UUIDText.version4(dice.next(), dice.next())[...] }
  }
}
