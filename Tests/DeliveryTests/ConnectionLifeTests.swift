import Basics
import Delivery
import Testing

@Suite("A connection's life")
struct ConnectionLifeTests {
  struct Row: CustomTestStringConvertible, Sendable {
    var testDescription: String
    var firstAlone = false
    var events: [ConnectionLife.Event]
    var effects: [ConnectionLife.Effect]

    init(
      _ sentence: String, firstAlone: Bool = false, _ events: [ConnectionLife.Event],
      gives effects: [ConnectionLife.Effect]
    ) {
      testDescription = sentence
      self.firstAlone = firstAlone
      self.events = events
      self.effects = effects
    }
  }

  static let rows = [
    Row("an answer concludes its push", [.sent(1, on: 1), .answered(1)], gives: [.conclude(1)]),
    Row(
      "an answer for a stream that nobody opened says nothing", [.answered(7), .sent(1, on: 1), .answered(3)], gives: []
    ),
    Row(
      "a second answer for the same stream says nothing", [.sent(1, on: 1), .answered(1), .answered(1)],
      gives: [.conclude(1)]),
    Row(
      "C02 GOAWAY: what the peer never saw is sent again at once, in order",
      [.sent(1, on: 1), .sent(2, on: 3), .sent(3, on: 5), .goAway(last: 1)], gives: [.resend([2, 3])]),
    Row(
      "C02 GOAWAY: what it still serves is waited for, then the connection is let go",
      [.sent(1, on: 1), .sent(2, on: 3), .goAway(last: 1), .answered(1)],
      gives: [.resend([2]), .conclude(1), .close]),
    Row(
      "a second GOAWAY with a lower number gives up more",
      [.sent(1, on: 1), .sent(2, on: 3), .goAway(last: 2_147_483_647), .goAway(last: 1)], gives: [.resend([2])]),
    Row(
      "a second GOAWAY with a higher number gives nothing back",
      [.sent(1, on: 1), .goAway(last: 1), .goAway(last: 9), .sent(2, on: 3)], gives: [.resend([2])]),
    Row("GOAWAY on an idle connection closes it", [.goAway(last: 0)], gives: [.close]),
    Row(
      "GOAWAY that serves nothing resends all and closes", [.sent(1, on: 1), .goAway(last: 0)],
      gives: [.resend([1]), .close]),
    Row(
      "a push sent after the end was never seen", [.goAway(last: 0), .sent(1, on: 1)], gives: [.close, .resend([1])]),
    Row(
      "a lost socket: all that is owed may have been seen, in the order sent",
      [.sent(1, on: 1), .sent(2, on: 3), .lost], gives: [.resendMaybeSeen([1, 2])]),
    Row(
      "a socket lost while draining: what is still owed may have been seen",
      [.sent(1, on: 1), .sent(2, on: 3), .goAway(last: 1), .lost], gives: [.resend([2]), .resendMaybeSeen([1])]),
    Row(
      "a lost socket that owes nothing says nothing", [.sent(1, on: 1), .answered(1), .lost, .lost],
      gives: [.conclude(1)]),
    Row("REFUSED_STREAM: never seen", [.sent(1, on: 1), .refusedStream(1)], gives: [.resend([1])]),
    Row("any other reset: maybe seen", [.sent(1, on: 1), .reset(1)], gives: [.resendMaybeSeen([1])]),
    Row(
      "retired: takes nothing, waits for what it owes, then closes",
      [.sent(1, on: 1), .retire, .retire, .answered(1)], gives: [.conclude(1), .close]),
    Row(
      "retired: the last stream reset closes it too",
      [.sent(1, on: 1), .retire, .reset(1)], gives: [.resendMaybeSeen([1]), .close]),
    Row(
      "settling: a refused first stream leaves it settling",
      firstAlone: true, [.sent(1, on: 1), .refusedStream(1), .sent(1, on: 3), .answered(3)],
      gives: [.resend([1]), .conclude(1)]),
    Row(
      "a stream number used twice forgets nobody", [.sent(1, on: 1), .sent(2, on: 1), .answered(1)],
      gives: [.resendMaybeSeen([1]), .conclude(2)]),
  ]

  @Test("follows the specification", arguments: rows)
  func followsSpecification(row: Row) {
    var life = ConnectionLife(firstAlone: row.firstAlone)
    #expect(row.events.flatMap { life.handle($0) } == row.effects)
  }

  @Test("takes one push alone until the first answer, then any, then nothing")
  func intake() {
    var life = ConnectionLife(firstAlone: true)
    #expect(life.intake == .oneAlone)
    _ = life.handle(.sent(1, on: 1))
    #expect(life.intake == .nothing)
    _ = life.handle(.answered(1))
    #expect(life.intake == .any)
    _ = life.handle(.sent(2, on: 3))
    #expect(life.intake == .any)
    _ = life.handle(.retire)
    #expect(life.intake == .nothing)
  }

  @Test("no push is forgotten and none is told twice, whatever the peer does", arguments: 0..<500 as Range<UInt64>)
  func everyPushEnds(seed: UInt64) {
    var dice = Dice(seed: seed)
    var life = ConnectionLife(firstAlone: Bool.random(using: &dice))
    var owed: [PushID: Int] = [:]
    var push: UInt32 = 0
    var stream: Int32 = 1
    func anyStream(_ dice: inout Dice) -> StreamID {
      StreamID(rawValue: Int32.random(in: 0...max(9, stream + 4), using: &dice))
    }
    var story: [ConnectionLife.Event] = []
    for _ in 0..<Int.random(in: 1...60, using: &dice) {
      switch Int.random(in: 0..<20, using: &dice) {
      case 0..<9:
        story.append(.sent(PushID(rawValue: push), on: StreamID(rawValue: stream)))
        push += 1
        stream += 2
      case 9..<15: story.append(.answered(anyStream(&dice)))
      case 15: story.append(.refusedStream(anyStream(&dice)))
      case 16: story.append(.reset(anyStream(&dice)))
      case 17: story.append(.goAway(last: anyStream(&dice)))
      case 18: story.append(.retire)
      default: if Int.random(in: 0..<4, using: &dice) == 0 { story.append(.lost) }
      }
    }
    for event in story + [.lost] {
      if case .sent(let push, _) = event { owed[push, default: 0] += 1 }
      for effect in life.handle(event) {
        switch effect {
        case .conclude(let push): owed[push, default: 0] -= 1
        case .resend(let pushes), .resendMaybeSeen(let pushes): for push in pushes { owed[push, default: 0] -= 1 }
        case .close: break
        }
      }
    }
    #expect(owed.values.allSatisfy { $0 == 0 })
    #expect(life.owed.isEmpty)
  }
}
