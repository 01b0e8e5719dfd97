import Basics
import PushPayload
import Testing

@testable import APNSSimulator

@Suite("Which faults a request meets")
struct FaultEngineTests {
  static let start = Instant(seconds: 1_796_000_000)
  static let busy = FaultAction.answer(.init(.refuse(.init(.serviceUnavailable))))

  /// The numbers, from 1, of the requests that met a fault.
  static func met(
    _ requests: Int, seed: UInt64 = 1, _ rule: FaultRule, subject: (Int) -> FaultSubject = { _ in request() },
    every span: Instant.Span = .seconds(0)
  ) -> [Int] {
    var engine = FaultEngine(seed: seed)
    engine.set([rule], at: start)
    return (1...requests).filter { number in
      let decision = engine.decide(
        subject(number), at: start + .milliseconds(span.milliseconds * Int64(number - 1)))
      return decision.answer != nil || decision.connection != nil
    }
  }

  static func request(
    connection: UInt64 = 1, token: [UInt8] = [1], device: String? = "phone", topic: String = "com.example.app",
    environment: SimulatedEnvironment = .sandbox, pushType: PushType = .alert
  ) -> FaultSubject {
    FaultSubject(
      moment: .request, connection: connection, environment: environment, stream: 1, token: token, device: device,
      topic: topic, pushType: pushType)
  }

  static func rule(limit: Int? = nil, _ change: (inout FaultRule.Conditions) -> Void) -> FaultRule {
    var conditions = FaultRule.Conditions()
    change(&conditions)
    return FaultRule("x", busy, when: conditions, limit: limit)
  }

  struct Row: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var rule: FaultRule
    var met: [Int]
    init(_ name: String, _ met: [Int], limit: Int? = nil, _ change: (inout FaultRule.Conditions) -> Void) {
      testDescription = name
      self.met = met
      rule = FaultEngineTests.rule(limit: limit, change)
    }
  }

  static let counted = [
    Row("no condition: all", Array(1...9)) { _ in },
    Row("at most twice", [1, 2], limit: 2) { _ in },
    Row("each third", [3, 6, 9]) { $0.every = 3 },
    Row("the first two", [1, 2]) { $0.first = 2 },
    Row("after five", [6, 7, 8, 9]) { $0.after = 5 },
    Row("after two the first six, of them each second", [4, 6, 8]) {
      $0.after = 2
      $0.first = 6
      $0.every = 2
    },
    Row("rate 1", Array(1...9)) { $0.rate = 1 },
    Row("rate 0", []) { $0.rate = 0 },
    Row("from the third second on", [4, 5, 6, 7, 8, 9]) { $0.schedule.from = .after(.seconds(3)) },
    Row("until the third second", [1, 2, 3]) { $0.schedule.until = .after(.seconds(3)) },
    Row("by the time of day", [3, 4]) {
      $0.schedule.from = .at(start + .seconds(2))
      $0.schedule.until = .at(start + .seconds(4))
    },
    Row("two seconds of each four, from the first on", [2, 3, 6, 7]) {
      $0.schedule.from = .after(.seconds(1))
      $0.schedule.every = .seconds(4)
      $0.schedule.lasting = .seconds(2)
    },
  ]

  @Test("counts, rates and schedules; a request each second", arguments: counted)
  func counts(row: Row) {
    #expect(Self.met(9, row.rule, every: .seconds(1)) == row.met)
  }

  static let named = [
    Row("token", [1]) { $0.tokens = [[1]] },
    Row("device", [2]) { $0.devices = ["tablet"] },
    Row("topic", [3]) { $0.topics = ["com.example.app.voip"] },
    Row("environment", [4]) { $0.environments = [.production] },
    Row("push type", [3]) { $0.pushTypes = [.voip] },
    Row("two of them", []) {
      $0.tokens = [[1]]
      $0.environments = [.production]
    },
  ]

  @Test("by token, device, topic, environment, push type", arguments: named)
  func names(row: Row) {
    let subjects = [
      Self.request(), Self.request(token: [2], device: "tablet"),
      Self.request(token: [3], device: nil, topic: "com.example.app.voip", pushType: .voip),
      Self.request(token: [4], device: "phone", environment: .production),
    ]
    #expect(Self.met(4, row.rule) { subjects[$0 - 1] } == row.met)
  }

  @Test("what is counted may be counted for each connection, or each token")
  func scopes() {
    func rule(_ per: FaultRule.Count) -> FaultRule {
      Self.rule {
        $0.every = 2
        $0.per = per
      }
    }
    func subject(_ number: Int) -> FaultSubject {
      Self.request(connection: UInt64(number % 2), token: [UInt8(number % 3)])
    }
    #expect(Self.met(12, rule(.all), subject: subject) == [2, 4, 6, 8, 10, 12])
    #expect(Self.met(12, rule(.connection), subject: subject) == [3, 4, 7, 8, 11, 12])
    #expect(Self.met(12, rule(.token), subject: subject) == [4, 5, 6, 10, 11, 12])
  }

  @Test("the same seed and order give the same faults, another seed others; a rate is kept to about")
  func repeatable() {
    let rule = Self.rule { $0.rate = 0.1 }
    let met = Self.met(10_000, seed: 7, rule)
    #expect(met == Self.met(10_000, seed: 7, rule))
    #expect(met != Self.met(10_000, seed: 8, rule))
    #expect((900...1100).contains(met.count))
  }

  @Test("a rule more or less changes nothing for the others' dice")
  func independent() {
    let tenth = Self.rule { $0.rate = 0.1 }
    func met(_ others: [FaultRule]) -> [Int] {
      var engine = FaultEngine(seed: 3)
      engine.set(others + [tenth], at: Self.start)
      return (1...1000).filter { _ in engine.decide(Self.request(), at: Self.start).answer?.rule == "x" }
    }
    var half = FaultRule.Conditions()
    half.rate = 0.5
    half.topics = ["another"]
    #expect(met([]) == met([FaultRule("half", Self.busy, when: half)]))
  }

  @Test(
    "one fault for the answer and one for the connection, each the first that is due; the others count all the same")
  func order() {
    var engine = FaultEngine(seed: 1)
    engine.set(
      [
        FaultRule("a", Self.busy, limit: 1),
        FaultRule("b", .resetConnection, when: Self.rule { $0.every = 2 }.conditions),
        FaultRule("c", .answer(.init(.none))),
        FaultRule("d", .halfOpen(answersPings: true), when: Self.rule { $0.tokens = [[1]] }.conditions),
      ], at: Self.start)
    let first = engine.decide(Self.request(), at: Self.start)
    let second = engine.decide(Self.request(), at: Self.start)
    #expect(first.answer?.rule == "a" && first.connection?.rule == "d")
    #expect(second.answer?.rule == "c" && second.connection?.rule == "b")
    #expect(engine.entries.map(\.matched) == [2, 2, 2, 2])
    #expect(engine.entries.map(\.applied) == [1, 1, 1, 1])
  }

  @Test("jitter is the rule's dice: held at least for the delay, at most for delay and jitter, each time the same")
  func jitter() {
    var answer = FaultAction.Answer()
    answer.delay = .seconds(1)
    answer.jitter = .seconds(2)
    func delays() -> [Int64] {
      var engine = FaultEngine(seed: 5)
      engine.set([FaultRule("slow", .answer(answer))], at: Self.start)
      return (0..<200).map { _ in engine.decide(Self.request(), at: Self.start).answer?.delay?.milliseconds ?? 0 }
    }
    #expect(delays() == delays() && delays().allSatisfy { (1000...3000).contains($0) } && Set(delays()).count > 100)
  }

  @Test("a lasting state holds in its windows, and the engine tells when the next one begins or ends")
  func standing() {
    var conditions = FaultRule.Conditions()
    conditions.schedule.from = .after(.seconds(10))
    conditions.schedule.until = .after(.seconds(75))
    conditions.schedule.every = .seconds(30)
    conditions.schedule.lasting = .seconds(5)
    conditions.environments = [.sandbox]
    var engine = FaultEngine(seed: 1)
    engine.set([FaultRule("none", .streams(0, lasting: nil), when: conditions)], at: Self.start)
    var changes: [Int64] = []
    var now = Self.start
    while let next = engine.nextChange(after: now) {
      changes.append((next - Self.start).milliseconds / 1000)
      now = next
    }
    #expect(changes == [10, 15, 40, 45, 70, 75])
    for (second, isNone) in [(0, false), (10, true), (14, true), (15, false), (40, true), (74, true), (75, false)] {
      let at = Self.start + .seconds(Int64(second))
      #expect((engine.standing(of: .sandbox, .push, at: at).streams?.value == 0) == isNone, "\(second)")
      #expect(engine.standing(of: .production, .push, at: at).streams == nil)
    }
  }

  @Test("what is due leaves in the order of its time, then of its coming", arguments: 0..<20 as Range<UInt64>)
  func dueQueue(seed: UInt64) {
    var dice = Dice(seed: seed)
    var queue = HeldQueue<Int>()
    let dues = (0..<200).map { _ in Int64.random(in: 0..<20, using: &dice) }
    for (number, due) in dues.enumerated() { queue.add(number, due: .milliseconds(due)) }
    var taken: [Int] = []
    for time in stride(from: 0 as Int64, through: 20, by: 5) {
      let due = queue.take(by: .milliseconds(time))
      #expect(due.allSatisfy { dues[$0] <= time })
      taken += due
    }
    #expect(taken == (0..<200).sorted { (dues[$0], $0) < (dues[$1], $1) })
  }
}
