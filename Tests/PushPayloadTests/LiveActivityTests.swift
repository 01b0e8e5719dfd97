import Basics
import PushPayload
import Testing

/// What happens to an activity that was started at `start` with timestamp 1000, and what a phone shows of it.
private struct Row: CustomTestStringConvertible, Sendable {
  var testDescription: String
  /// Minutes after the start, and what happens then.
  var events: [(minute: Int64, event: LiveActivity.Event)]
  var effects: [LiveActivity.Effect]
  var state: LiveActivity.State
  var content: JSONObject

  init(
    _ rule: String, _ events: [(Int64, LiveActivity.Event)], gives effects: [LiveActivity.Effect],
    state: LiveActivity.State = .active, content: JSONObject = ["n": 0]
  ) {
    testDescription = rule
    self.events = events.map { (minute: $0.0, event: $0.1) }
    self.effects = effects
    self.state = state
    self.content = content
  }
}

private let start = Instant(seconds: 1_800_000_000)
private func at(_ minute: Int64) -> Instant { start + .minutes(minute) }

private func push(_ aps: String) -> LiveActivity.Event { .push(payload(aps)) }

private func payload(_ aps: String) -> Payload {
  (try? Payload(bytes: Array("{\"aps\":{\(aps)}}".utf8))) ?? Payload()
}

private func update(_ timestamp: Int, _ n: Int, _ more: String = "") -> LiveActivity.Event {
  push(#""timestamp":\#(timestamp),"event":"update","content-state":{"n":\#(n)}\#(more)"#)
}

private func end(_ timestamp: Int, _ more: String = "") -> LiveActivity.Event {
  push(#""timestamp":\#(timestamp),"event":"end"\#(more)"#)
}

private let startPush =
  #""timestamp":1000,"event":"start","content-state":{"n":0},"attributes-type":"Match","attributes":{"id":7},"alert":{"title":"t","body":"b"}"#

@Suite("A Live Activity on the phone")
struct LiveActivityTests {
  private static let rows: [Row] = [
    Row("§12 an update replaces the content", [(1, update(1001, 1))], gives: [.updated], content: ["n": 1]),
    Row(
      "§12 an update with an alert lights the phone up",
      [(1, update(1001, 1, #","alert":{"title":"Goal","body":"1:0"}"#))],
      gives: [.updated, .alerted(.init(title: .literal("Goal"), body: .literal("1:0")))], content: ["n": 1]),
    Row(
      "§9.3 older than the last applied is discarded", [(1, update(1005, 5)), (2, update(1004, 4))],
      gives: [.updated, .ignored(.older(1004, than: 1005))], content: ["n": 5]),
    Row(
      "§9.3 older than the start is discarded", [(1, update(999, 1))], gives: [.ignored(.older(999, than: 1000))]),
    Row(
      "§9.3 as old as the last applied counts: only older ones do not", [(1, update(1000, 1))], gives: [.updated],
      content: ["n": 1]),
    Row(
      "§9.3 an end that is older is discarded, too", [(1, update(1005, 5)), (2, end(1004))],
      gives: [.updated, .ignored(.older(1004, than: 1005))], content: ["n": 5]),
    Row(
      "§9.3 without timestamp", [(1, push(#""event":"update","content-state":{}"#))], gives: [.ignored(.noTimestamp)]),
    Row("§9.3 without event", [(1, push(#""timestamp":1001,"content-state":{}"#))], gives: [.ignored(.noEvent)]),
    Row(
      "§9.3 an unknown event", [(1, push(#""timestamp":1001,"event":"begin","content-state":{}"#))],
      gives: [.ignored(.noEvent)]),
    Row("§9.3 an alert push", [(1, push(#""alert":"a""#))], gives: [.ignored(.noEvent)]),
    Row(
      "§9.3 without content-state", [(1, push(#""timestamp":1001,"event":"update""#))],
      gives: [.ignored(.noContentState)]),
    Row(
      "§9.3 a content-state that is no object",
      [(1, push(#""timestamp":1001,"event":"update","content-state":[]"#))], gives: [.ignored(.noContentState)]),
    Row("§12 a start by the update token", [(1, push(startPush))], gives: [.ignored(.startOfRunning)]),
    Row(
      "§9.3 stale at its date, once",
      [
        (1, update(1001, 1, #","stale-date":\#(at(10).seconds)"#)), (9, .timePassed), (15, .timePassed),
        (16, .timePassed),
      ],
      gives: [.updated, .becameStale(at: at(10))], content: ["n": 1]),
    Row(
      "§9.3 a stale date that is past is now", [(5, update(1001, 1, #","stale-date":\#(at(2).seconds)"#))],
      gives: [.updated, .becameStale(at: at(5))], content: ["n": 1]),
    Row(
      "§9.3 a new content without stale date is fresh",
      [(1, update(1001, 1, #","stale-date":\#(at(10).seconds)"#)), (9, update(1002, 2)), (20, .timePassed)],
      gives: [.updated, .updated], content: ["n": 2]),
    Row(
      "§12 an end keeps the content and stays four hours",
      [(1, end(1001)), (240, .timePassed), (241, .timePassed), (242, .timePassed)],
      gives: [.ended(at: at(1), .push), .dismissed(at: at(241))], state: .dismissed(at: at(241))),
    Row(
      "§12 an end with a final content", [(1, end(1001, #","content-state":{"n":9}"#))],
      gives: [.ended(at: at(1), .push)], state: .ended(at: at(1), .push, until: at(241)), content: ["n": 9]),
    Row(
      "§9.3 a dismissal date that is past removes at once", [(1, end(1001, #","dismissal-date":1"#))],
      gives: [.ended(at: at(1), .push), .dismissed(at: at(1))], state: .dismissed(at: at(1))),
    Row(
      "§9.3 a dismissal date within four hours",
      [(1, end(1001, #","dismissal-date":\#(at(31).seconds)"#)), (40, .timePassed)],
      gives: [.ended(at: at(1), .push), .dismissed(at: at(31))], state: .dismissed(at: at(31))),
    Row(
      "§9.3 no dismissal later than four hours", [(1, end(1001, #","dismissal-date":\#(at(900).seconds)"#))],
      gives: [.ended(at: at(1), .push)], state: .ended(at: at(1), .push, until: at(241))),
    Row(
      "§12 pushes after the end are ignored", [(1, end(1001)), (2, update(1002, 2)), (3, end(1003))],
      gives: [.ended(at: at(1), .push), .ignored(.alreadyEnded(at: at(1))), .ignored(.alreadyEnded(at: at(1)))],
      state: .ended(at: at(1), .push, until: at(241))),
    Row(
      "§12 and after the dismissal", [(1, end(1001, #","dismissal-date":1"#)), (2, update(1002, 2))],
      gives: [
        .ended(at: at(1), .push), .dismissed(at: at(1)), .ignored(.alreadyDismissed(at: at(1))),
      ], state: .dismissed(at: at(1))),
    Row(
      "§12 an active life of eight hours, then four on the Lock Screen", [(479, .timePassed), (481, update(1001, 1))],
      gives: [.ended(at: at(480), .age), .ignored(.alreadyEnded(at: at(480)))],
      state: .ended(at: at(480), .age, until: at(720))),
    Row(
      "§12 asked for after a day, all has happened at its own time",
      [(1, update(1001, 1, #","stale-date":\#(at(10).seconds)"#)), (1440, .timePassed)],
      gives: [.updated, .becameStale(at: at(10)), .ended(at: at(480), .age), .dismissed(at: at(720))],
      state: .dismissed(at: at(720)), content: ["n": 1]),
    Row(
      "the app updates it, whatever the pushes' timestamps",
      [(1, .appUpdated(["n": 3], staleDate: nil)), (2, update(1001, 4))],
      gives: [.updated, .updated], content: ["n": 4]),
    Row(
      "the app ends it", [(1, .appEnded(["n": 3], .at(at(0)))), (2, .appUpdated([:], staleDate: nil))],
      gives: [.ended(at: at(1), .app), .dismissed(at: at(1)), .ignored(.alreadyDismissed(at: at(1)))],
      state: .dismissed(at: at(1)), content: ["n": 3]),
    Row(
      "the user swipes it away: it is over for pushes",
      [(1, .userDismissed), (2, update(1001, 1)), (3, .userDismissed)],
      gives: [.ended(at: at(1), .user), .dismissed(at: at(1)), .ignored(.alreadyDismissed(at: at(1)))],
      state: .dismissed(at: at(1))),
    Row(
      "the user swipes away what has ended", [(1, end(1001)), (2, .userDismissed)],
      gives: [.ended(at: at(1), .push), .dismissed(at: at(2))], state: .dismissed(at: at(2))),
  ]

  @Test("follows the rules", arguments: rows)
  private func followsRules(row: Row) throws {
    var activity = try LiveActivity.started(by: payload(startPush), tokenType: "Match", at: start)
    var effects: [LiveActivity.Effect] = []
    for (minute, event) in row.events { effects += activity.handle(event, at: at(minute)) }
    #expect(effects == row.effects)
    #expect(activity.state == row.state)
    #expect(activity.contentState == row.content)
    #expect(LiveActivity(json: activity.json) == activity, "it can be kept and read back")
  }

  @Test(
    "§12 a start needs every key, and its own token",
    arguments: [
      ("timestamp", LiveActivity.Unstarted.missing("timestamp")), ("event", .missing("event")),
      ("content-state", .missing("content-state")), ("attributes-type", .missing("attributes-type")),
      ("attributes", .missing("attributes")), ("alert", .missing("alert")),
    ])
  func needs(key: String, missing: LiveActivity.Unstarted) {
    var aps = (try? JSONReader.read(Array("{\(startPush)}".utf8)))?.value.object ?? [:]
    aps[key] = nil
    #expect(throws: missing) {
      try LiveActivity.started(by: Payload(["aps": .object(aps)]), tokenType: "Match", at: start)
    }
    #expect(missing.words.contains(key))
  }

  @Test("§12 what else does not start, by the phone's age and by the channel")
  func unstarted() throws {
    let onChannel = payload(startPush + #","input-push-channel":"dGVzdA==""#)
    let bad = payload(startPush + #","input-push-channel":"no channel""#)
    func started(
      _ payload: Payload, type: String? = "Match", _ generation: LiveActivity.Generation = .ios18
    ) throws(LiveActivity.Unstarted) -> LiveActivity {
      try LiveActivity.started(by: payload, tokenType: type, generation: generation, at: start)
    }
    #expect(throws: LiveActivity.Unstarted.notAStart) { try started(payload(#""timestamp":1,"event":"end""#)) }
    #expect(throws: LiveActivity.Unstarted.otherType("Match", token: "Race")) {
      try started(payload(startPush), type: "Race")
    }
    #expect(throws: LiveActivity.Unstarted.tooOld(.ios16, needs: .ios17)) { try started(payload(startPush), .ios16) }
    #expect(throws: LiveActivity.Unstarted.tooOld(.ios17, needs: .ios18)) { try started(onChannel, .ios17) }
    #expect(throws: LiveActivity.Unstarted.badChannel("no channel")) { try started(bad) }
    let untyped = try started(payload(startPush), type: nil, .ios17)
    #expect(untyped.attributes == ["id": 7])
    let listening = try started(onChannel)
    #expect(listening.channel == "dGVzdA==")
  }

  @Test("§12 priority 10 has an hourly budget, priority 5 none")
  func budget() {
    var budget = LiveActivityBudget()
    func spend(_ priority: PushPriority, _ minute: Int64) -> Bool {
      budget.spend(priority, at: at(minute), hourly: 3)
    }
    #expect((0..<3).map { spend(.immediate, $0) } == [true, true, true])
    #expect(spend(.immediate, 59) == false)
    #expect(spend(.considerate, 59))
    #expect(spend(.immediate, 60), "the first has left the hour")
    #expect(spend(.immediate, 60) == false)
  }

  @Test(
    "whatever comes, it is dismissed at most 12 hours after its start, and no effect lies ahead", arguments: 0..<200)
  func ends(seed: UInt64) throws {
    var dice = Dice(seed: seed)
    var activity = try LiveActivity.started(by: payload(startPush), tokenType: nil, at: start)
    var now = start
    for _ in 0..<60 {
      now = now + .minutes(Int64.random(in: 0...40, using: &dice))
      let time = 1000 + Int.random(in: 0...30, using: &dice)
      let dates = [
        #","stale-date":\#((now - .minutes(20)).seconds)"#, #","stale-date":\#((now + .minutes(20)).seconds)"#, "",
      ]
      let event: LiveActivity.Event =
        switch Int.random(in: 0..<12, using: &dice) {
        case 0: end(time, #","dismissal-date":\#((now + .hours(1)).seconds)"#)
        case 1: .appEnded(nil, .standard)
        case 2: .userDismissed
        case 3...5: .timePassed
        default: update(time, time, dates[Int.random(in: 0..<3, using: &dice)])
        }
      let due = activity.nextDue()
      for effect in activity.handle(event, at: now) {
        switch effect {
        case .becameStale(let at), .ended(let at, _), .dismissed(let at): #expect(at <= now)
        case .updated, .alerted, .ignored: break
        }
      }
      if let due, due <= now { #expect(activity.nextDue() != due || activity.nextDue() == nil) }
      if let next = activity.nextDue() { #expect(next > now) }
    }
    _ = activity.handle(.timePassed, at: start + .hours(12))
    guard case .dismissed = activity.state else {
      Issue.record("\(activity.state)")
      return
    }
  }
}
