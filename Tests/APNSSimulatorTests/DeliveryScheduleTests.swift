import Basics
import PushPayload
import Testing

@testable import APNSSimulator

private let start = Instant(seconds: 1_796_000_000)

/// One phone, told what to do in words; what comes of it in words.
private struct Story {
  enum Step {
    case push(
      String, PushPriority = .immediate, PushType = .alert, app: String = "a", lives: Int64? = nil,
      collapse: String? = nil)
    case ack
    case connect, disconnect, online, offline
    case power(PhonePower)
    case unlimited(Bool)
    /// To so many seconds after the start.
    case at(Int64)
  }

  var schedule: DeliverySchedule
  var now = start
  var ids: [UInt64: String] = [:]
  var next: UInt64 = 1
  var told: [String] = []

  init(_ rules: DeliveryRules, seed: UInt64 = 1) { schedule = DeliverySchedule(rules: rules, seed: seed) }

  mutating func tell(_ effects: [DeliverySchedule.Effect]) {
    for effect in effects {
      switch effect.what {
      case .became(let number, let fate): tell(number, fate)
      case .handOver: break
      case .reachedNobody(let number, _): told.append("\(ids[number] ?? "?") reached nobody")
      case .missed(let number, _): told.append("\(ids[number] ?? "?") missed")
      }
    }
  }

  private mutating func tell(_ number: UInt64, _ fate: LoggedNotification.Fate) {
    let word =
      switch fate {
      case .stored(_, let cause): "stored \(cause.rawValue)"
      case .grouped(_, let until): "grouped to \(until.seconds - start.seconds)"
      case .throttled(_, let until): "throttled to \(until.seconds - start.seconds)"
      case .queued: "queued"
      case .sent: "sent"
      case .delivered: "delivered"
      case .replaced: "replaced"
      case .expired: "expired"
      case .dropped: "dropped"
      }
    told.append("\(ids[number] ?? "?") \(word)")
  }

  mutating func run(_ step: Step) {
    switch step {
    case .push(let id, let priority, let type, let app, let lives, let collapse):
      let push = DeliveredPush(
        id: id, token: Array(app.utf8), topic: app, bundleID: app, environment: .sandbox, pushType: type,
        priority: priority, collapseID: collapse, expiration: lives.map { $0 == 0 ? 0 : now.seconds + $0 }, payload: [],
        receivedAt: now)
      let number = next
      next += 1
      ids[number] = id
      switch schedule.place(push, number: number, device: "phone", isGone: false, now: now) {
      case .delivered: tell(number, .delivered(now))
      case .handedOver: tell(number, .sent(now))
      case .waits(let entry, let replaced):
        tell(number, entry.fate)
        if let replaced { tell(replaced, .replaced(now)) }
      case .reachedNobody: told.append("\(id) reached nobody")
      case .expired: tell(number, .expired(now))
      case .dropped(let why): tell(number, .dropped(now, why))
      case .overflow: told.append("\(id) overflow")
      }
    case .ack:
      guard let number = schedule.lanes["phone"]?.inFlight?.number else { return told.append("nothing in flight") }
      tell(schedule.acknowledge(number, device: "phone", now: now))
    case .connect: tell(schedule.connect("phone", keepsBudget: false, keepsInFlight: true, now: now))
    case .disconnect: tell(schedule.disconnect("phone", now: now))
    case .online: tell(schedule.setOnline("phone", true, now: now))
    case .offline: tell(schedule.setOnline("phone", false, now: now))
    case .power(let power): tell(schedule.setPower("phone", power, now: now))
    case .unlimited(let flag): tell(schedule.setUnlimited("phone", flag, now: now))
    case .at(let seconds):
      // As the driver does: woken whenever something is due.
      let end = start + .seconds(seconds)
      while let due = schedule.nextDue, due <= end {
        now = max(now, due)
        tell(schedule.advance(now: now))
      }
      now = end
    }
  }
}

@Suite("When what leaves for a phone")
struct DeliveryScheduleTests {
  fileprivate struct Row: CustomTestStringConvertible {
    var name: String
    var rules: DeliveryRules
    var steps: [Story.Step]
    var told: [String]
    var testDescription: String { name }
  }

  // One by one: the compiler gives up on them as one list.
  fileprivate static let rows: [Row] = {
    var rows: [Row] = []
    func add(
      _ name: String, rules change: (inout DeliveryRules) -> Void = { _ in }, _ steps: [Story.Step], _ told: [String]
    ) {
      var rules = DeliveryRules()
      change(&rules)
      rows.append(Row(name: name, rules: rules, steps: steps, told: told))
    }
    add(
      "§11.1 offline: one waits for each app, the newest",
      [.offline, .push("1"), .push("2"), .push("3", app: "b"), .online],
      [
        "1 stored offline", "2 stored offline", "1 replaced", "3 stored offline", "2 delivered", "3 delivered",
      ])
    add(
      "§11.1 one is in flight at a time; others wait their turn, and none is lost",
      [.connect, .push("1"), .push("2"), .push("3"), .ack, .ack, .ack, .ack],
      [
        "1 sent", "2 queued", "3 queued", "1 delivered", "2 sent", "2 delivered", "3 sent", "3 delivered",
        "nothing in flight",
      ])
    add(
      "§11.1 as Apple: rapid fire overwrites what waits behind the one in flight, for each app",
      rules: { $0.overwritesWaiting = true },
      [.connect, .push("1"), .push("2"), .push("3", app: "b"), .push("4"), .ack, .ack, .ack],
      [
        "1 sent", "2 queued", "3 queued", "4 queued", "2 replaced", "1 delivered", "3 sent", "3 delivered", "4 sent",
        "4 delivered",
      ])
    add(
      "§11.1 what was not acknowledged is stored, one for each app, and comes again",
      [.connect, .push("1"), .push("2"), .push("3", lives: 0), .disconnect, .connect, .ack],
      [
        "1 sent", "2 queued", "3 queued", "1 stored no-courier", "2 stored no-courier", "1 replaced", "3 expired",
        "2 sent", "2 delivered",
      ])
    add(
      "C20 expiration 0 is one attempt: now, also behind one in flight, or never",
      [.connect, .push("1", lives: 0), .push("2", lives: 0), .at(60), .ack, .ack, .offline, .push("3", lives: 0)],
      ["1 sent", "2 queued", "1 delivered", "2 sent", "2 delivered", "3 expired"])
    add(
      "C21 expires to the second, and is told then",
      [.offline, .push("1", lives: 45), .at(44), .at(45), .online], ["1 stored offline", "1 expired"])
    add(
      "C21 one second before its end it arrives", [.offline, .push("1", lives: 45), .at(44), .online],
      ["1 stored offline", "1 delivered"])
    add(
      "§11.1 thirty days are the most", [.offline, .push("1"), .at(30 * 86_400 - 1), .at(30 * 86_400)],
      ["1 stored offline", "1 expired"])
    add(
      "§5 asleep: 10 goes at once, 5 after the window and all of it in one burst, 1 when the phone wakes by itself",
      [
        .power(.asleep), .push("10"), .push("5", .considerate), .at(100), .push("5b", .considerate, app: "b"),
        .push("1", .powerFirst, app: "c"), .at(900), .at(100_000), .power(.awake),
      ],
      [
        "10 delivered", "5 stored asleep", "5b stored asleep", "1 stored asleep", "5 delivered", "5b delivered",
        "1 delivered",
      ])
    add(
      "§5 low power defers as sleep does, and waking lets everything go",
      [.power(.lowPower), .push("5", .considerate), .push("1", .powerFirst, app: "b"), .power(.awake)],
      ["5 stored low-power", "1 stored low-power", "5 delivered", "1 delivered"])
    add(
      "§11.1 what power defers is in the store: one for each app; one attempt fails",
      [.power(.asleep), .push("1", .considerate), .push("2", .considerate), .push("3", .considerate, lives: 0)],
      ["1 stored asleep", "2 stored asleep", "1 replaced", "3 expired"])
    add(
      "§11.3 grouped: 5 and 1 leave together when the window of the first ends; 10 does not wait",
      rules: { $0.groupWindow = .seconds(5) },
      [
        .push("1", .considerate), .at(2), .push("2", .considerate), .push("3", .powerFirst, app: "b"), .push("4"),
        .at(5),
      ],
      [
        "1 grouped to 5", "2 grouped to 5", "3 grouped to 5", "4 delivered", "1 delivered", "2 delivered",
        "3 delivered",
      ])
    add(
      "§11.2 in a group the same collapse id is one",
      rules: { $0.groupWindow = .seconds(5) },
      [
        .push("1", .considerate, collapse: "x"), .push("2", .considerate, collapse: "x"),
        .push("3", .considerate, app: "b", collapse: "x"), .at(5),
      ],
      [
        "1 grouped to 5", "2 grouped to 5", "1 replaced", "3 grouped to 5", "2 delivered", "3 delivered",
      ])
    add(
      "§11.3 priority 1 of a group does not wake a phone that fell asleep",
      rules: { $0.groupWindow = .seconds(5) },
      [.push("5", .considerate), .push("1", .powerFirst, app: "b"), .power(.asleep), .at(5), .power(.awake)],
      ["5 grouped to 5", "1 grouped to 5", "5 delivered", "1 stored asleep", "1 delivered"])
    add(
      "§11.3 three background pushes an hour for each app; then only the newest waits, until there is room",
      rules: { $0.backgroundPerHour = 3 },
      [
        .push("1", .considerate, .background), .push("2", .considerate, .background), .at(60),
        .push("3", .considerate, .background), .push("4", .considerate, .background),
        .push("5", .considerate, .background), .push("b", .considerate, .background, app: "b"), .push("alert"),
        .at(3599), .at(3600), .push("6", .considerate, .background),
      ],
      [
        "1 delivered", "2 delivered", "3 delivered", "4 throttled to 3600", "5 throttled to 3600", "4 replaced",
        "b delivered", "alert delivered", "5 delivered", "6 delivered",
      ])
    add(
      "§11.3 the budget of the day is reset at midnight (UTC)",
      rules: {
        $0.backgroundPerHour = nil
        $0.backgroundPerDay = 1
      },
      [.push("1", .considerate, .background), .push("2", .considerate, .background), .at(86_400)],
      [
        "1 delivered", "2 throttled to \(86_400 - 1_796_000_000 % 86_400)", "2 delivered",
      ])
    add(
      "§11.3 no limit as when run from Xcode: what waits goes at once",
      rules: { $0.backgroundPerHour = 1 },
      [
        .push("1", .considerate, .background), .push("2", .considerate, .background), .unlimited(true),
        .push("3", .considerate, .background), .unlimited(false), .push("4", .considerate, .background),
        .push("5", .considerate, .background, lives: 0),
      ],
      [
        "1 delivered", "2 throttled to 3600", "2 delivered", "3 delivered", "4 throttled to 3600", "5 dropped",
      ])
    add(
      "§11.3 a throttled push expires like any other, and waits for a phone that is away",
      rules: { $0.backgroundPerHour = 1 },
      [
        .push("1", .considerate, .background), .push("2", .considerate, .background, lives: 60), .at(60),
        .push("3", .considerate, .background), .offline, .at(4000), .online,
      ],
      [
        "1 delivered", "2 throttled to 3600", "2 expired", "3 throttled to 3600", "3 stored offline", "3 delivered",
      ])
    add(
      "a courier that never acknowledges is told from one that is slow",
      rules: { $0.mostQueued = 1 }, [.connect, .push("1"), .push("2"), .push("3")],
      ["1 sent", "2 queued", "3 overflow"])
    return rows
  }()

  @Test("follows Apple's words", arguments: rows)
  fileprivate func followsApple(row: Row) {
    var story = Story(row.rules)
    for step in row.steps { story.run(step) }
    #expect(story.told == row.told)
  }

  @Test("§11.1 no order is promised: a burst leaves in one that the seed decides")
  func reordering() {
    func order(_ seed: UInt64) -> [String] {
      var rules = DeliveryRules()
      rules.groupWindow = .seconds(5)
      rules.isReordering = true
      var story = Story(rules, seed: seed)
      for number in 1...8 { story.run(.push("\(number)", .considerate)) }
      story.told = []
      story.run(.at(5))
      return story.told
    }
    let orders = (0..<10 as Range<UInt64>).map(order)
    #expect(Set(orders).count > 5)
    #expect(orders.allSatisfy { Set($0) == Set(orders[0]) && $0.count == 8 })
    #expect(orders == (0..<10 as Range<UInt64>).map(order))
  }

  @Test("what is due is told before it is due, and old alarms do not pile up")
  func alarms() {
    var story = Story(DeliveryRules())
    story.run(.offline)
    for number in 0..<1_000 { story.run(.push("\(number)", lives: 10_000 - Int64(number))) }
    #expect(story.schedule.nextDue == start + .seconds(9_001))
    story.run(.at(9_001))
    #expect(story.told.last == "999 expired")
    #expect(story.schedule.nextDue == nil)
  }

  @Test("the queue of due times gives the earliest first")
  func dueQueue() {
    var dice = Dice(seed: 7)
    var queue = DueQueue()
    let times = (0..<200).map { _ in Instant(milliseconds: .random(in: 0..<50, using: &dice)) }
    for time in times { queue.add(DueQueue.Entry(due: time, device: "\(time)")) }
    var taken: [Instant] = []
    while let entry = queue.removeFirst() { taken.append(entry.due) }
    #expect(taken == times.sorted())
  }
}
