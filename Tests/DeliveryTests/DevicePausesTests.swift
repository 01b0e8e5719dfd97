import Basics
import Delivery
import Testing

@Suite("A device that APNs wants to hear less of")
struct DevicePausesTests {
  static let token: [UInt8] = [1, 2, 3]
  static let other: [UInt8] = [4, 5, 6]

  @Test("§8.2 TooManyRequests: that token waits, any other goes on, and pushes come back one at a time")
  func oneAtATime() {
    var pauses = DevicePauses()
    #expect(pauses.isQuiet)
    // three pushes had left together
    for _ in 0..<3 { pauses.refused(Self.token, at: .seconds(100)) }
    #expect(pauses.postponed(Self.token, at: .seconds(100)) == .seconds(105))
    #expect(pauses.postponed(Self.token, at: .milliseconds(104_999)) == .seconds(105))
    #expect(pauses.postponed(Self.other, at: .seconds(100)) == nil)
    #expect(pauses.postponed(Self.token, at: .seconds(105)) == nil, "one")
    #expect(pauses.postponed(Self.token, at: .seconds(105)) == .seconds(110), "not two")
  }

  @Test("the pause doubles with each refusal of the one that was let through, up to 15 minutes")
  func doubles() {
    var pauses = DevicePauses()
    var now = Instant.Span.seconds(0)
    var waits: [Int64] = []
    for _ in 0..<10 {
      pauses.refused(Self.token, at: now)
      guard let next = pauses.postponed(Self.token, at: now) else { break }
      waits.append((next.milliseconds - now.milliseconds) / 1000)
      now = next
      #expect(pauses.postponed(Self.token, at: now) == nil)
    }
    #expect(waits == [5, 10, 20, 40, 80, 160, 320, 640, 900, 900])
  }

  @Test("acceptances halve it until it is forgotten")
  func forgets() {
    var pauses = DevicePauses()
    pauses.refused(Self.token, at: .seconds(0))
    for second in [5, 6, 7, 8] as [Int64] { pauses.accepted(Self.token, at: .seconds(second)) }
    #expect(pauses.isQuiet)
    #expect(pauses.postponed(Self.token, at: .seconds(8)) == nil)
  }

  @Test("memory is bounded, and what was not sent to for long is forgotten")
  func bounded() {
    var settings = DevicePauses.Settings()
    settings.capacity = 3
    var pauses = DevicePauses(settings)
    for number in 0..<10 as Range<UInt8> { pauses.refused([number], at: .seconds(Int64(number))) }
    #expect(pauses.count == 3)
    #expect(pauses.postponed([9], at: .seconds(9)) != nil, "the newest is kept")
    pauses.tidy(at: .minutes(14))
    #expect(!pauses.isQuiet)
    pauses.tidy(at: .minutes(17))
    #expect(pauses.isQuiet)
  }
}

@Suite("Pushes that wait for their device, and a credential that is tried again")
struct HoldingBackTests {
  typealias Effect = SendingPool.Effect

  /// A pool whose first connection is greeted, with the pushes of `offers` sent on it as far as it lets them.
  static func pool(_ offers: [SendingPool.Offer], streams: UInt32 = 1000) -> (SendingPool, Moment, [Effect]) {
    var settings = SendingPool.Settings()
    settings.firstAlone = false
    var pool = SendingPool(settings, dice: Dice(seed: 1))
    let moment = Moment(wall: Instant(seconds: 1_796_000_000), uptime: .seconds(1000))
    _ = pool.handle(.offered(offers), at: moment)
    let effects = pool.handle(.settings(0, maxConcurrentStreams: streams), at: moment)
    return (pool, moment, effects)
  }

  @Test("a postponed push leaves its stream to others and goes when its time has come")
  func postponed() {
    var (pool, moment, effects) = Self.pool([.init(0), .init(1)], streams: 1)
    #expect(effects == [.send(0, 0)])
    effects = pool.handle(.postponed(0, 0, until: .seconds(1005)), at: moment)
    #expect(effects == [.send(1, 0)])
    _ = pool.handle(.sent(1, 0, 1), at: moment)
    #expect(
      pool.handle(.answered(0, 1, .accepted(uniqueID: nil)), at: moment) == [.finish(1, .accepted(uniqueID: nil))])
    #expect(pool.unfinished == 1)
    #expect(pool.nextDue == .seconds(1005))
    moment = Moment(wall: moment.wall + .seconds(5), uptime: .seconds(1005))
    #expect(pool.handle(.tick, at: moment) == [.send(0, 0)])
  }

  @Test("a push that would be too late then, or must not wait, ends now", arguments: [0, 1_796_000_004])
  func postponedTooLate(expiration: Int64) {
    var (pool, moment, _) = Self.pool([.init(0, expiration: expiration)])
    #expect(
      pool.handle(.postponed(0, 0, until: .seconds(1005)), at: moment) == [.finish(0, .unanswered(.expired))])
    #expect(pool.unfinished == 0)
    #expect(pool.inFlight == 0)
    moment.uptime = .seconds(1006)
    #expect(pool.handle(.tick, at: moment) == [])
  }

  @Test("postponed pushes end with the pool, with a hold and with their caller's wish")
  func postponedEnds() {
    let endings: [(SendingPool.Event, PushOutcome.Cause)] = [
      (.close, .closed), (.held("refused"), .suspended("refused")), (.withdrawn([0], .cancelled), .cancelled),
    ]
    for (event, cause) in endings {
      var (pool, moment, _) = Self.pool([.init(0)])
      _ = pool.handle(.postponed(0, 0, until: .seconds(1005)), at: moment)
      #expect(pool.handle(event, at: moment).contains(.finish(0, .unanswered(cause))))
    }
  }

  @Test(
    "§16 half open: after a hold one push at a time, until APNs has looked past the credential",
    arguments: [true, false])
  func probing(accepted: Bool) {
    var (pool, moment, _) = Self.pool([.init(0)])
    _ = pool.handle(.sent(0, 0, 1), at: moment)
    _ = pool.handle(.answered(0, 1, .accepted(uniqueID: nil)), at: moment)
    _ = pool.handle(.held("refused"), at: moment)
    _ = pool.handle(.resumed, at: moment)
    #expect(pool.isProving)
    let offers = (0..<10).map { SendingPool.Offer(PushID(rawValue: $0)) }
    #expect(pool.handle(.offered(offers), at: moment) == [.send(0, 0)])
    #expect(pool.handle(.sent(0, 0, 3), at: moment) == [])
    #expect(pool.handle(.tick, at: moment).isEmpty)
    let answer: Answer =
      accepted
      ? .accepted(uniqueID: nil) : .refused(.init(status: 400, reason: "BadDeviceToken", since: nil))
    let effects = pool.handle(.answered(0, 3, answer), at: moment)
    #expect(effects.count { if case .send = $0 { true } else { false } } == 9, "then all")
    #expect(!pool.isProving)
  }

  @Test("§16 half open: a refused probe costs one push, the others wait or end as suspended, none as refused")
  func probeRefused() {
    var (pool, moment, _) = Self.pool([.init(0)])
    _ = pool.handle(.postponed(0, 0, until: .seconds(1001)), at: moment)
    _ = pool.handle(.held("refused"), at: moment)
    _ = pool.handle(.resumed, at: moment)
    _ = pool.handle(.offered((0..<10).map { SendingPool.Offer(PushID(rawValue: $0)) }), at: moment)
    _ = pool.handle(.sent(0, 0, 1), at: moment)
    let refusal = PushOutcome.Refusal(status: 403, reason: "InvalidProviderToken", since: nil)
    var outcomes: [PushOutcome] = []
    for effect in pool.handle([.held("refused"), .answered(0, 1, .refused(refusal))], at: moment) {
      if case .finish(_, let outcome) = effect { outcomes.append(outcome) }
      if case .send = effect { Issue.record("sent though held") }
    }
    #expect(outcomes.count == 10)
    #expect(outcomes.allSatisfy { $0 == .unanswered(.suspended("refused")) })
  }
}

extension SendingPool {
  fileprivate mutating func handle(_ events: [Event], at moment: Moment) -> [Effect] {
    var effects: [Effect] = []
    handle(events, at: moment, into: &effects)
    return effects
  }
}
