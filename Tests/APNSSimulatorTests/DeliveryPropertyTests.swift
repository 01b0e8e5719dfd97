import Basics
import PushPayload
import Testing

@testable import APNSSimulator

private let start = Instant(seconds: 1_796_000_000)

/// Random stories against what must hold whatever happens.
@Suite("No push is lost, late, or in two places")
struct DeliveryPropertyTests {
  struct World {
    var rules = ServiceState.Rules()
    var state: ServiceState
    let store: SimulatorStore
    var now = start
    var dice: Dice
    var tokens: [TokenRecord] = []
    /// On the courier's side, to be acknowledged.
    var carried: [ServiceState.Handover] = []
    var arrivals: [String: Int] = [:]
    var sent: [String: [Instant]] = [:]
    var paid: Set<String> = []
    var ends: [String: LoggedNotification.Fate] = [:]
    var pushes: [String: DeliveredPush] = [:]
    var faults: [String] = []
    var trace: [String] = []

    init(seed: UInt64) throws {
      dice = Dice(seed: seed)
      rules.delivery.overwritesWaiting = Bool.random(using: &dice)
      rules.delivery.groupWindow = Bool.random(using: &dice) ? .seconds(30) : .seconds(0)
      rules.delivery.isReordering = Bool.random(using: &dice)
      rules.delivery.mostQueued = Bool.random(using: &dice) ? 3 : 256
      rules.goneDelay = 0...0
      state = ServiceState(rules: rules, seed: seed)
      store = try SimulatorStore(path: ":memory:")
      for bundle in ["a", "b"] {
        tokens.append(
          state.issueToken(to: .init(device: "phone", bundleID: bundle, environment: .sandbox, kind: .app)))
      }
    }

    mutating func check(_ holds: Bool, _ what: String) {
      if !holds { faults.append("\(now): \(what)") }
    }

    mutating func take(_ outcome: ServiceState.Outcome) {
      if !outcome.overflows.isEmpty { carried = [] }
      for handover in outcome.handovers { carry(handover) }
    }

    mutating func carry(_ handover: ServiceState.Handover) {
      let push = handover.push
      trace.append("\(now.milliseconds) \(push.id)")
      check(push.isOneAttempt || now < push.storedUntil, "\(push.id) was sent after its end")
      check(state.device("phone")?.isReachable == true, "\(push.id) was sent to a phone that is away")
      if push.priority == .powerFirst {
        check(state.device("phone")?.power == .awake, "\(push.id) of priority 1 woke the phone")
      }
      if push.pushType == .background, state.device("phone")?.isUnlimited == false, paid.insert(push.id).inserted {
        let recent = (sent[push.bundleID] ?? []).filter { now - $0 < .hours(1) }
        check(recent.count < 3, "\(push.id) was sent over the budget")
        sent[push.bundleID] = recent + [now]
      }
      carried.append(handover)
      check(carried.count == 1, "\(carried.map(\.push.id)) are in flight together")
    }

    mutating func push(_ name: String) throws {
      let token = tokens[Int.random(in: 0..<2, using: &dice)]
      let priority = [PushPriority.immediate, .immediate, .considerate, .powerFirst][
        Int.random(in: 0..<4, using: &dice)]
      let type = Int.random(in: 0..<3, using: &dice) == 0 ? PushType.background : .alert
      let expiration: Int64? = [nil, 0, now.seconds + .random(in: 1...4_000, using: &dice)][
        Int.random(in: 0..<3, using: &dice)]
      let collapse: Bytes? = Bool.random(using: &dice) ? Array("x".utf8)[...] : nil
      let acceptance = try state.accept(
        CheckedPush(
          token: Array(token.bytes.hex.utf8)[...], environment: .sandbox, id: nil, topic: token.topic[...],
          pushType: type, isPushTypeInferred: false, priority: priority, expiration: expiration, collapseID: collapse),
        id: Array(name.utf8)[...], uniqueID: nil, body: [], now: now)
      pushes[name] = state.notifications.all.last?.push
      take(acceptance.outcome)
      if let handover = acceptance.handover { carry(handover) }
      check(
        !acceptance.isKept || state.schedule.waiting.contains { $0.push.id == name }, "\(name) is not kept as promised")
    }

    mutating func pass(_ span: Instant.Span) {
      let end = now + span
      while let due = state.nextDue, due <= end {
        now = max(now, due)
        take(state.advance(now: now))
      }
      now = end
    }

    /// The process ends after its last write, and another begins.
    mutating func restart() throws {
      look()
      let changes = state.takeChanges()
      try store.write(SimulatorStore.Batch(changes: changes, state: state))
      let unfinished = Set(state.schedule.waiting.filter { !$0.push.isOneAttempt }.map(\.push.id))
      for waiting in state.schedule.waiting where waiting.push.isOneAttempt { ends[waiting.push.id] = .expired(now) }
      carried = []
      state = ServiceState(rules: rules, seed: dice.next())
      try store.restore(into: &state, now: now)
      let found = Set(state.notifications.all.map(\.push.id))
      check(found == unfinished, "kept \(unfinished.sorted()), found \(found.sorted())")
      look()
    }

    mutating func step(_ number: Int) throws {
      switch Int.random(in: 0..<14, using: &dice) {
      case 0: take(state.connect(device: "phone", now: now, after: &carried))
      case 1:
        carried = []
        take(state.disconnect(device: "phone", now: now))
      case 2, 3: take(state.setOnline(device: "phone", true, now: now))
      case 4: take(state.setOnline(device: "phone", false, now: now))
      case 5:
        let power = PhonePower.allCases[Int.random(in: 0..<3, using: &dice)]
        take(state.setPower(device: "phone", power, now: now))
      case 6: pass(.seconds(.random(in: 0...2_000, using: &dice)))
      case 7: if Int.random(in: 0..<5, using: &dice) == 0 { try restart() }
      case 8, 9: acknowledge()
      default: try push("push \(number)")
      }
      look()
    }

    mutating func acknowledge() {
      guard !carried.isEmpty else { return }
      let handover = carried.removeFirst()
      arrivals[handover.push.id, default: 0] += 1
      take(state.acknowledge(device: "phone", number: handover.number, now: now))
    }

    /// What holds after every step.
    mutating func look() {
      let waiting = state.schedule.waiting
      for app in ["a", "b"] {
        let own = waiting.filter { $0.push.bundleID == app }
        let stored = own.filter { if case .stored = $0.place { true } else { false } }
        check(stored.count <= 1, "\(stored.map(\.push.id)) are stored for \(app)")
        let throttled = own.filter { $0.place == .throttled }
        check(throttled.count <= 1, "\(throttled.map(\.push.id)) are throttled for \(app)")
      }
      let open = Set(waiting.map(\.push.id))
      for entry in state.notifications.all {
        let id = entry.push.id
        switch entry.fate {
        case .delivered, .replaced, .expired, .dropped:
          if let former = ends[id] { check(former == entry.fate, "\(id) ended as \(former), then as \(entry.fate)") }
          ends[id] = entry.fate
          check(!open.contains(id), "\(id) ended and waits")
        case .stored, .grouped, .throttled, .queued, .sent:
          check(ends[id] == nil, "\(id) ended, and lives again")
          check(open.contains(id), "\(id) is nowhere")
        }
      }
    }

    /// The phone is there, awake, without limits, and takes everything.
    mutating func finish() {
      take(state.setPower(device: "phone", .awake, now: now))
      take(state.setUnlimited(device: "phone", true, now: now))
      take(state.connect(device: "phone", now: now, after: &carried))
      take(state.setOnline(device: "phone", true, now: now))
      pass(.minutes(1))
      while !carried.isEmpty { acknowledge() }
      look()
      check(state.schedule.waiting.isEmpty, "\(state.schedule.waiting.map(\.push.id)) wait for ever")
      for id in pushes.keys where ends[id] == nil { faults.append("\(id) never ended") }
      for (id, count) in arrivals where count > 1 { faults.append("\(id) arrived \(count) times") }
    }
  }

  @Test("random stories of pushes, phones, time and restarts", arguments: 0..<300 as Range<UInt64>)
  func stories(seed: UInt64) throws {
    func tell() throws -> World {
      var world = try World(seed: seed)
      for number in 0..<80 { try world.step(number) }
      world.finish()
      return world
    }
    let world = try tell()
    #expect(world.faults == [])
    if seed < 30 {
      let again = try tell()
      #expect(again.trace == world.trace, "the same seed tells the same story")
    }
  }
}

extension ServiceState {
  /// As the core does: an earlier courier is sent away first, with what it carries.
  fileprivate mutating func connect(device: String, now: Instant, after carried: inout [Handover]) -> Outcome {
    carried = []
    var outcome = schedule.device(device)?.isConnected == true ? disconnect(device: device, now: now) : Outcome()
    outcome += connect(device: device, now: now)
    return outcome
  }
}
