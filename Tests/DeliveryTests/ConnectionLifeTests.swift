import Basics
import Delivery
import Testing

/// Every cell of the table in `ConnectionLife`'s comment.
@Suite("A connection's life, state by event")
struct ConnectionLifeTableTests {
  enum State: String, CaseIterable, Sendable {
    case settling, settlingOwing, open, openOwing, draining, drainingLast, closed

    /// Owes push 1 on stream 1 and push 2 on stream 3, as far as the state's name says so.
    var story: [ConnectionLife.Event] {
      switch self {
      case .settling, .open: []
      case .settlingOwing: [.sent(1, on: 1)]
      case .openOwing: [.sent(1, on: 1), .sent(2, on: 3)]
      case .draining: [.sent(1, on: 1), .sent(2, on: 3), .goAway(last: 9)]
      case .drainingLast: [.sent(1, on: 1), .goAway(last: 9)]
      case .closed: [.lost]
      }
    }
    var firstAlone: Bool { [.settling, .settlingOwing].contains(self) }
  }

  enum Kind: String, CaseIterable, Sendable {
    case sent, sentAbove, answered, answeredUnknown, refused, refusedUnknown, reset, resetUnknown
    case goAwayAll, goAwayNone, retire, lost

    var event: ConnectionLife.Event {
      switch self {
      case .sent: .sent(7, on: 7)
      case .sentAbove: .sent(7, on: 11)
      case .answered: .answered(1)
      case .answeredUnknown: .answered(5)
      case .refused: .refusedStream(1)
      case .refusedUnknown: .refusedStream(5)
      case .reset: .reset(1)
      case .resetUnknown: .reset(5)
      case .goAwayAll: .goAway(last: 2_147_483_647)
      case .goAwayNone: .goAway(last: 0)
      case .retire: .retire
      case .lost: .lost
      }
    }
  }

  /// What follows, what it takes afterwards, and how much it then owes.
  struct Cell: Equatable, Sendable {
    var effects: [ConnectionLife.Effect]
    var intake: ConnectionLife.Intake
    var owed: Int

    init(_ effects: [ConnectionLife.Effect], _ intake: ConnectionLife.Intake, owed: Int) {
      self.effects = effects
      self.intake = intake
      self.owed = owed
    }
  }

  static func cell(_ state: State, _ kind: Kind) -> Cell {
    switch (state, kind) {
    case (.settling, .sent), (.settling, .sentAbove): Cell([], .nothing, owed: 1)
    case (.settling, .goAwayAll), (.settling, .goAwayNone), (.settling, .retire): Cell([.close], .nothing, owed: 0)
    case (.settling, .lost): Cell([], .nothing, owed: 0)
    case (.settling, .answered), (.settling, .answeredUnknown), (.settling, .refused), (.settling, .refusedUnknown),
      (.settling, .reset), (.settling, .resetUnknown):
      Cell([], .oneAlone, owed: 0)

    case (.settlingOwing, .sent), (.settlingOwing, .sentAbove): Cell([], .nothing, owed: 2)
    case (.settlingOwing, .answered): Cell([.conclude(1)], .any, owed: 0)
    case (.settlingOwing, .refused): Cell([.resend([1])], .oneAlone, owed: 0)
    case (.settlingOwing, .reset): Cell([.resendMaybeSeen([1])], .oneAlone, owed: 0)
    case (.settlingOwing, .answeredUnknown), (.settlingOwing, .refusedUnknown), (.settlingOwing, .resetUnknown):
      Cell([], .nothing, owed: 1)
    case (.settlingOwing, .goAwayAll), (.settlingOwing, .retire): Cell([], .nothing, owed: 1)
    case (.settlingOwing, .goAwayNone): Cell([.resend([1]), .close], .nothing, owed: 0)
    case (.settlingOwing, .lost): Cell([.resendMaybeSeen([1])], .nothing, owed: 0)

    case (.open, .sent), (.open, .sentAbove): Cell([], .any, owed: 1)
    case (.open, .goAwayAll), (.open, .goAwayNone), (.open, .retire): Cell([.close], .nothing, owed: 0)
    case (.open, .lost): Cell([], .nothing, owed: 0)
    case (.open, .answered), (.open, .answeredUnknown), (.open, .refused), (.open, .refusedUnknown), (.open, .reset),
      (.open, .resetUnknown):
      Cell([], .any, owed: 0)

    case (.openOwing, .sent), (.openOwing, .sentAbove): Cell([], .any, owed: 3)
    case (.openOwing, .answered): Cell([.conclude(1)], .any, owed: 1)
    case (.openOwing, .refused): Cell([.resend([1])], .any, owed: 1)
    case (.openOwing, .reset): Cell([.resendMaybeSeen([1])], .any, owed: 1)
    case (.openOwing, .answeredUnknown), (.openOwing, .refusedUnknown), (.openOwing, .resetUnknown):
      Cell([], .any, owed: 2)
    case (.openOwing, .goAwayAll), (.openOwing, .retire): Cell([], .nothing, owed: 2)
    case (.openOwing, .goAwayNone): Cell([.resend([1, 2]), .close], .nothing, owed: 0)
    case (.openOwing, .lost): Cell([.resendMaybeSeen([1, 2])], .nothing, owed: 0)

    case (.draining, .sent): Cell([], .nothing, owed: 3)
    case (.draining, .sentAbove): Cell([.resend([7])], .nothing, owed: 2)
    case (.draining, .answered): Cell([.conclude(1)], .nothing, owed: 1)
    case (.draining, .refused): Cell([.resend([1])], .nothing, owed: 1)
    case (.draining, .reset): Cell([.resendMaybeSeen([1])], .nothing, owed: 1)
    case (.draining, .answeredUnknown), (.draining, .refusedUnknown), (.draining, .resetUnknown),
      (.draining, .goAwayAll), (.draining, .retire):
      Cell([], .nothing, owed: 2)
    case (.draining, .goAwayNone): Cell([.resend([1, 2]), .close], .nothing, owed: 0)
    case (.draining, .lost): Cell([.resendMaybeSeen([1, 2])], .nothing, owed: 0)

    case (.drainingLast, .sent): Cell([], .nothing, owed: 2)
    case (.drainingLast, .sentAbove): Cell([.resend([7])], .nothing, owed: 1)
    case (.drainingLast, .answered): Cell([.conclude(1), .close], .nothing, owed: 0)
    case (.drainingLast, .refused): Cell([.resend([1]), .close], .nothing, owed: 0)
    case (.drainingLast, .reset): Cell([.resendMaybeSeen([1]), .close], .nothing, owed: 0)
    case (.drainingLast, .answeredUnknown), (.drainingLast, .refusedUnknown), (.drainingLast, .resetUnknown),
      (.drainingLast, .goAwayAll), (.drainingLast, .retire):
      Cell([], .nothing, owed: 1)
    case (.drainingLast, .goAwayNone): Cell([.resend([1]), .close], .nothing, owed: 0)
    case (.drainingLast, .lost): Cell([.resendMaybeSeen([1])], .nothing, owed: 0)

    case (.closed, .sent), (.closed, .sentAbove): Cell([.resend([7])], .nothing, owed: 0)
    case (.closed, .answered), (.closed, .answeredUnknown), (.closed, .refused), (.closed, .refusedUnknown),
      (.closed, .reset), (.closed, .resetUnknown), (.closed, .goAwayAll), (.closed, .goAwayNone), (.closed, .retire),
      (.closed, .lost):
      Cell([], .nothing, owed: 0)
    }
  }

  @Test("each cell", arguments: State.allCases, Kind.allCases)
  func cell(state: State, kind: Kind) {
    var life = ConnectionLife(firstAlone: state.firstAlone)
    for event in state.story { _ = life.handle(event) }
    let effects = life.handle(kind.event)
    #expect(Cell(effects, life.intake, owed: life.owed.count) == Self.cell(state, kind))
    // once closed, nothing brings it back
    if life.isEnding, life.owed.isEmpty { #expect(life.handle(.retire).isEmpty && life.handle(.lost).isEmpty) }
  }
}

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
    #expect(life.owesNothing)
  }
}
