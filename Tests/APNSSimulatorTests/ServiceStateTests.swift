import Basics
import PushPayload
import Testing

@testable import APNSSimulator

private let start = Instant(seconds: 1_796_000_000)

@Suite("Tokens, the offline store and what becomes of a push")
struct ServiceStateTests {
  struct Scene {
    var state: ServiceState
    var now = start

    init(rules: (inout ServiceState.Rules) -> Void = { _ in }) {
      var made = ServiceState.Rules()
      rules(&made)
      state = ServiceState(rules: made, seed: 1)
    }

    mutating func token(
      device: String = "phone", bundle: String = "com.example.app", _ environment: SimulatedEnvironment = .sandbox,
      kind: TokenKind = .app
    ) -> TokenRecord {
      state.issueToken(
        to: TokenRecord.Owner(device: device, bundleID: bundle, environment: environment, kind: kind))
    }

    /// What a courier gets at once: ids; throws when refused.
    mutating func push(
      _ id: String, to token: TokenRecord, expiration: Int64? = nil, collapseID: String? = nil,
      topic: String? = nil, environment: SimulatedEnvironment = .sandbox, path: String? = nil
    ) throws(Refusal) -> String? {
      let checked = CheckedPush(
        token: Array((path ?? token.bytes.hex).utf8)[...], environment: environment, id: nil,
        topic: Array((topic ?? token.topicText).utf8)[...], pushType: .alert, isPushTypeInferred: false,
        priority: .immediate, expiration: expiration, collapseID: collapseID.map { Array($0.utf8)[...] })
      let acceptance = try state.accept(
        checked, id: Array(id.utf8)[...], uniqueID: nil, body: Array("{}".utf8), now: now)
      return acceptance.handover?.push.id
    }

    mutating func refusal(_ attempt: (inout Scene) throws -> String?) -> RefusalReason? {
      do {
        _ = try attempt(&self)
        return nil
      } catch {
        return (error as? Refusal)?.reason
      }
    }

    /// What a courier gets that acknowledges each at once.
    mutating func take(_ outcome: ServiceState.Outcome) -> [String] {
      var taken: [String] = []
      var due = outcome.handovers
      while !due.isEmpty {
        let handover = due.removeFirst()
        taken.append(handover.push.id)
        due += state.acknowledge(device: handover.device, number: handover.number, now: now).handovers
      }
      return taken
    }

    mutating func online() -> [String] { take(state.setOnline(device: "phone", true, now: now)) }

    mutating func offline() { _ = state.setOnline(device: "phone", false, now: now) }

    mutating func connect() -> [String] { take(state.connect(device: "phone", now: now)) }

    mutating func disconnect() { _ = state.disconnect(device: "phone", now: now) }

    func fate(_ id: String) -> LoggedNotification.Fate? {
      state.notifications.all.first { $0.push.id == id }?.fate
    }
  }

  @Test("an installed app keeps its token; each kind and environment has its own")
  func issuing() {
    var scene = Scene()
    let token = scene.token()
    #expect(token.bytes.count == 32)
    #expect(scene.token() == token)
    var all: Set<[UInt8]> = [token.bytes]
    for environment in SimulatedEnvironment.allCases {
      for kind in TokenKind.allCases { all.insert(scene.token(environment, kind: kind).bytes) }
    }
    #expect(all.count == 2 * TokenKind.allCases.count)
    #expect(scene.token(kind: .voip).topicText == "com.example.app.voip")
  }

  @Test("which token is refused, and why")
  func refusals() throws {
    var scene = Scene()
    let token = scene.token()
    let production = scene.token(.production)
    let voip = scene.token(kind: .voip)
    #expect(scene.refusal { try $0.push("a", to: token) } == nil)
    #expect(scene.refusal { try $0.push("a", to: token, path: token.bytes.hex.uppercased()) } == nil)
    for path in ["abc", "xyz!", "0", String(repeating: "ab", count: 101), "{length=32}", token.bytes.hex + "00"] {
      #expect(scene.refusal { try $0.push("a", to: token, path: path) } == .badDeviceToken, "\(path)")
    }
    #expect(scene.refusal { try $0.push("a", to: token, path: String(repeating: "ab", count: 32)) } == .badDeviceToken)
    #expect(scene.refusal { try $0.push("a", to: production) } == .badDeviceToken)
    #expect(scene.refusal { try $0.push("a", to: token, environment: .production) } == .badDeviceToken)
    #expect(scene.refusal { try $0.push("a", to: token, topic: "com.example.other") } == .deviceTokenNotForTopic)
    #expect(scene.refusal { try $0.push("a", to: voip, topic: "com.example.app") } == .deviceTokenNotForTopic)
    #expect(scene.refusal { try $0.push("a", to: token, topic: "com.example.app.voip") } == .deviceTokenNotForTopic)
  }

  @Test("offline: one waits for each app, the newest; it goes out once")
  func oneSlot() throws {
    var scene = Scene()
    let app = scene.token()
    let other = scene.token(bundle: "com.example.other")
    _ = scene.connect()
    scene.offline()
    for id in ["a", "b"] { #expect(try scene.push(id, to: app) == nil) }
    #expect(try scene.push("c", to: other) == nil)
    #expect(scene.fate("a") == .replaced(start))
    #expect(scene.online() == ["b", "c"])
    #expect(scene.online() == [])
    #expect(scene.fate("b") == .delivered(start))
    let earlier = scene.state.notifications.all.first { $0.push.id == "b" }?.earlier
    #expect(earlier == [.stored(start, .offline)])
  }

  @Test(
    "C21 with 45 s to live and the phone back at +44, +45, +46, +55 s",
    arguments: [(44, true), (45, false), (46, false), (55, false)])
  func expiryEdge(seconds: Int64, isShown: Bool) throws {
    var scene = Scene()
    let token = scene.token()
    _ = scene.connect()
    scene.offline()
    _ = try scene.push("a", to: token, expiration: start.seconds + 45)
    scene.now = start + .seconds(seconds)
    #expect(scene.online() == (isShown ? ["a"] : []))
    if !isShown { #expect(scene.fate("a") == .expired(start + .seconds(45))) }
  }

  @Test("C20 C21 expiration 0 and a past one are one attempt: gone when the phone is away, delivered when it is there")
  func oneAttempt() throws {
    for expiration: Int64 in [0, 120, start.seconds] {
      var scene = Scene()
      let token = scene.token()
      _ = scene.connect()
      #expect(try scene.push("a", to: token, expiration: expiration) == "a")
      scene.offline()
      #expect(try scene.push("b", to: token, expiration: expiration) == nil)
      scene.now = start + .seconds(10)
      #expect(scene.online() == [])
      #expect(scene.fate("b") == .expired(start))
    }
  }

  @Test("C20 without expiration, and with one in milliseconds, 30 days are the most; the latter is remarked on")
  func thirtyDays() throws {
    for expiration in [nil, start.milliseconds] {
      for (days, isShown) in [(29, true), (30, false)] as [(Int64, Bool)] {
        var scene = Scene()
        let token = scene.token()
        scene.offline()
        _ = scene.connect()
        _ = try scene.push("a", to: token, expiration: expiration)
        scene.now = start + .days(days)
        #expect(scene.online() == (isShown ? ["a"] : []))
        let remarks = scene.state.notifications.all[0].remarks.joined()
        #expect(remarks.contains("milliseconds") == (expiration != nil))
      }
    }
  }

  @Test("a device without courier counts as there; once a courier came, it is away when the courier is")
  func couriers() throws {
    var scene = Scene()
    let token = scene.token()
    #expect(try scene.push("a", to: token) == nil)
    #expect(scene.fate("a") == .delivered(start))
    #expect(scene.connect() == [])
    #expect(try scene.push("b", to: token) == "b")
    _ = scene.state.acknowledge(device: "phone", number: 2, now: start)
    #expect(scene.fate("b") == .delivered(start))
    scene.disconnect()
    #expect(try scene.push("c", to: token) == nil)
    #expect(scene.connect() == ["c"])
  }

  @Test("what a courier did not acknowledge waits again, one for each app, unless it was one attempt")
  func unacknowledged() throws {
    var scene = Scene()
    let token = scene.token()
    _ = scene.connect()
    _ = try scene.push("a", to: token)
    _ = try scene.push("b", to: token)
    _ = try scene.push("c", to: token, expiration: 0)
    scene.disconnect()
    #expect(scene.connect() == ["b"])
    #expect(scene.fate("a") == .replaced(start))
    #expect(scene.fate("c") == .expired(start))
  }

  @Test(
    "C16 an app removed at T: the next push is still taken, later ones get 410 with T; installed again, a new token lives"
  )
  func uninstall() throws {
    var scene = Scene { $0.goneDelay = 60_000...60_000 }
    let token = scene.token()
    #expect(scene.state.end(token.bytes, reason: .unregistered, since: start, isToldAtOnce: false, now: start) != nil)
    scene.now = start + .seconds(60)
    #expect(scene.refusal { try $0.push("a", to: token) } == nil)
    #expect(scene.fate("a").map { if case .dropped = $0 { true } else { false } } == true)
    scene.now = start + .seconds(119)
    #expect(scene.refusal { try $0.push("b", to: token) } == nil)
    scene.now = start + .seconds(120)
    do {
      _ = try scene.push("c", to: token)
      Issue.record("410 expected")
    } catch {
      #expect(error.reason == .unregistered && error.reason.status == 410)
      #expect(error.since == start)
      let body = String(decoding: error.body(), as: UTF8.self)
      #expect(body == #"{"reason":"Unregistered","timestamp":1796000000000}"#)
    }
    let again = scene.token()
    #expect(again.bytes != token.bytes)
    #expect(scene.refusal { try $0.push("d", to: again) } == nil)
    #expect(scene.refusal { try $0.push("e", to: token) } == .unregistered)
  }

  @Test("§11.4 a removed app is noticed only once a push reaches the phone; until then every push is taken")
  func idleToken() throws {
    var scene = Scene { $0.goneDelay = 0...0 }
    let token = scene.token()
    scene.offline()
    _ = try scene.push("a", to: token)
    #expect(scene.state.uninstall(device: "phone", bundleID: "com.example.app", now: start) == 1)
    for day in 1...20 {
      scene.now = start + .days(Int64(day))
      #expect(scene.refusal { try $0.push("day \(day)", to: token) } == nil)
    }
    #expect(scene.fate("day 20") == .stored(scene.now, .offline))
    #expect(scene.online() == [])
    #expect(scene.fate("day 20") == .dropped(scene.now, "the app is gone from the device since \(start)"))
    #expect(scene.refusal { try $0.push("late", to: token) } == .unregistered)
  }

  @Test(
    "§10 another token after each cause: the old one dies with its word, what waited by it is not shown",
    arguments: RenewalReason.allCases)
  func renewal(reason: RenewalReason) throws {
    var scene = Scene {
      $0.goneDelay = 0...0
      $0.tokenSize = 80
    }
    let old = scene.token()
    let other = scene.token(bundle: "com.example.other")
    #expect(old.bytes.count == 80)
    scene.offline()
    _ = try scene.push("waits", to: old)
    let renewals = scene.state.renew(
      device: "phone", bundleID: "com.example.app", reason: reason, isToldAtOnce: false, now: start)
    #expect(renewals.map(\.former) == [old.bytes])
    let new = scene.token()
    #expect(renewals.map(\.token) == [new.bytes] && new.bytes != old.bytes && new.bytes.count == 80)
    #expect(scene.token(bundle: "com.example.other") == other)
    #expect(scene.online() == [])
    #expect(scene.refusal { try $0.push("b", to: old) } == (reason == .osUpdate ? .expiredToken : .unregistered))
    #expect(scene.refusal { try $0.push("c", to: new) } == nil)
    #expect(scene.state.renew(device: "nobody", bundleID: nil, reason: reason, isToldAtOnce: false, now: start) == [])
  }

  @Test("C16 C36 the same token registered again lives: what waits by it arrives, 410 is over")
  func registeredAgain() throws {
    var scene = Scene { $0.goneDelay = 0...0 }
    let token = scene.token()
    scene.offline()
    _ = scene.state.uninstall(device: "phone", bundleID: "com.example.app", now: start)
    _ = try scene.push("a", to: token)
    _ = scene.state.register(token.bytes, to: token.owner)
    _ = scene.connect()
    #expect(scene.online() == ["a"])
    #expect(scene.refusal { try $0.push("b", to: token) } == nil)
  }

  @Test("C36 a token that another device registers takes nothing with it: what waited for the old one is not shown")
  func tokenMoves() throws {
    var scene = Scene()
    let token = scene.token()
    scene.offline()
    _ = try scene.push("secret", to: token)
    var owner = token.owner
    owner.device = "tablet"
    let moved = scene.state.register(token.bytes, to: owner)
    _ = scene.connect()
    #expect(scene.online() == [])
    #expect(scene.fate("secret").map { if case .dropped = $0 { true } else { false } } == true)
    #expect(scene.refusal { try $0.push("b", to: moved) } == nil)
  }

  @Test("a token ended at once is 410 at the next push; ExpiredToken is the other word; what waited is dropped")
  func endedAtOnce() throws {
    var scene = Scene()
    let token = scene.token()
    scene.offline()
    _ = try scene.push("a", to: token)
    _ = scene.state.end(token.bytes, reason: .expiredToken, since: start, isToldAtOnce: true, now: start)
    #expect(scene.refusal { try $0.push("b", to: token) } == .expiredToken)
    #expect(scene.online() == [])
    #expect(scene.state.end([1, 2], reason: .unregistered, since: start, isToldAtOnce: true, now: start) == nil)
  }

  @Test("too many requests to one token, when a limit is set")
  func requestsPerToken() throws {
    var scene = Scene { $0.requestsPerToken = 2 }
    let token = scene.token()
    let other = scene.token(device: "tablet")
    for _ in 0..<2 { #expect(scene.refusal { try $0.push("a", to: token) } == nil) }
    #expect(scene.refusal { try $0.push("a", to: token) } == .tooManyRequests)
    #expect(scene.refusal { try $0.push("a", to: other) } == nil)
    scene.now = start + .minutes(1)
    #expect(scene.refusal { try $0.push("a", to: token) } == nil)
  }

  @Test("the log keeps the last so many, with numbers that never come again")
  func log() throws {
    var scene = Scene { $0.logCapacity = 3 }
    let token = scene.token()
    for id in ["a", "b", "c", "d", "e"] { _ = try scene.push(id, to: token) }
    #expect(scene.state.notifications.all.map(\.push.id) == ["c", "d", "e"])
    #expect(scene.state.notifications.all.map(\.number) == [3, 4, 5])
    scene.state.clearNotifications()
    _ = try scene.push("f", to: token)
    #expect(scene.state.notifications.all.map(\.number) == [6])
  }
}
