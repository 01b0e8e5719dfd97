import Audience
import Basics
import Messages
import PushPayload
import Store
import Testing

@Suite("A connection's session")
struct SessionTests {
  static let device = SessionDevice(app: 1, ordinal: 7)

  static func entry(_ position: Int64) -> InboxEntry {
    InboxEntry(position: position, id: 1000 + position, at: Instant(seconds: 1), kind: .message(body: Array("{}".utf8)))
  }

  static func page(_ positions: [Int64], more: Bool = false, through: Int64) -> Session.Event {
    .page(InboxPage(entries: positions.map(entry), hasMore: more, through: through))
  }

  static func hello(isForeground: Bool = true) -> Session.Event {
    .frame(
      .hello(
        Hello(
          version: 1, appKey: "a", registrationID: "r", secret: "s", cursor: nil, isForeground: isForeground)))
  }

  static func entrance(_ position: Int64 = 0, last: Int64 = 0) -> Entrance {
    Entrance(device: device, position: position, last: last, cursor: .none, isComplete: true)
  }

  static func live(_ position: Int64 = 0, last: Int64 = 0) -> Session {
    var session = Session(now: 0)
    _ = session.handle(hello(), now: 0)
    _ = session.handle(.admitted(entrance(position, last: last)), now: 0)
    if last <= position { _ = session.handle(page([], through: position), now: 0) }
    return session
  }

  static func read(after: Int64, limit: Int = Session.window) -> Session.Effect {
    .read(device, InboxRange(after: after, limit: limit))
  }

  @Test("D-305 who comes back gets what was missed, in order, and then what is announced at once")
  func comesBack() {
    var session = Session(now: 0)
    #expect(session.handle(Self.hello(), now: 0).count == 1)
    let entrance = Self.entrance(4, last: 9)
    #expect(
      session.handle(.admitted(entrance), now: 0)
        == [.welcome(entrance, heartbeat: 60), .appear(Self.device), Self.read(after: 4)])
    #expect(session.handle(Self.page([5, 9], through: 9), now: 0) == [.send(Self.entry(5)), .send(Self.entry(9))])
    #expect(session.handle(.announced(Self.entry(10), from: 10), now: 0) == [.sendAnnounced])
    #expect(session.handle(.announced(Self.entry(10), from: 10), now: 0) == [], "once")
    #expect(session.handle(.announced(Self.entry(12), from: 10), now: 0) == [.sendAnnounced], "11 was another's")
  }

  @Test("what came into the inbox after it was looked at, and before the device was there, is not left out")
  func appearing() {
    var session = Session(now: 0)
    _ = session.handle(Self.hello(), now: 0)
    let entrance = Self.entrance(4, last: 4)
    #expect(
      session.handle(.admitted(entrance), now: 0)
        == [.welcome(entrance, heartbeat: 60), .appear(Self.device), Self.read(after: 4)])
    #expect(session.handle(.announced(Self.entry(6), from: 6), now: 0) == [], "it is being read")
    #expect(
      session.handle(Self.page([5], through: 5), now: 0)
        == [.send(Self.entry(5)), Self.read(after: 5, limit: Session.window - 1)])
    #expect(session.handle(Self.page([6], through: 6), now: 0) == [.send(Self.entry(6))])
    _ = session.handle(.frame(.background), now: 1)
    #expect(session.handle(.frame(.foreground), now: 2) == [.appear(Self.device), Self.read(after: 6, limit: 62)])
  }

  @Test("what was announced with a gap before it is read from the store, so that nothing is left out")
  func gap() {
    var session = Self.live(0, last: 0)
    #expect(session.handle(.announced(Self.entry(3), from: 3), now: 0) == [Self.read(after: 0)])
    #expect(session.handle(.announced(Self.entry(4), from: 3), now: 0) == [], "it is being read")
    #expect(
      session.handle(Self.page([2, 3], through: 3), now: 0)
        == [.send(Self.entry(2)), .send(Self.entry(3)), Self.read(after: 3, limit: Session.window - 2)])
    #expect(session.handle(Self.page([4], through: 4), now: 0) == [.send(Self.entry(4))])
    #expect(session.handle(.announced(Self.entry(5), from: 5), now: 0) == [.sendAnnounced])
  }

  @Test("a phone that does not acknowledge gets a window and no more; one that does goes on, each counted once")
  func window() {
    var session = Self.live(0, last: 200)
    let first = Array(1...64 as ClosedRange<Int64>)
    #expect(session.handle(Self.page(first, more: true, through: 200), now: 0).count == 64)
    #expect(session.handle(.frame(.acknowledge(position: 10)), now: 5).count == 1, "half a window is free first")
    let effects = session.handle(.frame(.acknowledge(position: 40)), now: 5)
    guard case .acknowledge(let acknowledgement) = effects.first else {
      Issue.record("\(effects)")
      return
    }
    #expect(acknowledgement.position == 40 && acknowledgement.delivered?.map(\.position) == Array(11...40))
    #expect(effects.last == Self.read(after: 64, limit: 40))
    #expect(session.handle(.frame(.acknowledge(position: 40)), now: 5) == [], "said again")
    #expect(session.timeCheck(now: 60_004).effects.contains(.close(.unacknowledged)) == false)
    #expect(session.timeCheck(now: 60_005).effects.last == .close(.unacknowledged))
  }

  @Test("a phone that takes no bytes holds nothing here, and is closed with a code")
  func slow() {
    var session = Self.live(0, last: 0)
    _ = session.handle(.blocked, now: 0)
    #expect(session.handle(.announced(Self.entry(1), from: 1), now: 1) == [])
    #expect(session.handle(.writable, now: 2) == [Self.read(after: 0)])
    _ = session.handle(.blocked, now: 100)
    #expect(session.timeCheck(now: 10_100).effects == [.disappear(Self.device), .close(.slow)])
    #expect(session.handle(.writable, now: 10_101) == [], "over")
  }

  @Test("D-304 in the background nothing comes and nobody is there; in front again it goes on")
  func background() {
    var session = Self.live(0, last: 0)
    #expect(session.handle(.frame(.background), now: 10) == [.disappear(Self.device)])
    #expect(session.handle(.announced(Self.entry(1), from: 1), now: 20) == [])
    #expect(session.handle(.frame(.foreground), now: 30) == [.appear(Self.device), Self.read(after: 0)])
    #expect(session.handle(Self.page([1], through: 1), now: 30) == [.send(Self.entry(1))])
    _ = session.handle(.frame(.background), now: 40)
    #expect(session.timeCheck(now: 30_040).effects.last == .close(.background))
  }

  @Test("the heartbeat asks after silence, grows with answers, and ends what is silent")
  func heartbeat() {
    var session = Self.live()
    #expect(session.timeCheck(now: 59_999).effects == [])
    var now: Int64 = 0
    for round in 1...3 {
      now += 60_000
      #expect(session.timeCheck(now: now).effects == [.ping])
      #expect(session.handle(.pong, now: now) == (round == 3 ? [.sendHeartbeat(90)] : []))
    }
    now += 90_000
    #expect(session.timeCheck(now: now) == ([.ping], now + 10_000))
    #expect(
      session.timeCheck(now: now + 10_000).effects
        == [.disappear(Self.device), .rememberLoss(Self.device, heartbeat: 45), .close(.silent)])
  }

  @Test(
    "what is not allowed is told and ends the connection",
    arguments: [
      [.frame(.ping)], [.frame(.acknowledge(position: 1))], [hello(), hello()],
      [.fault(FrameFault(place: "type", found: "x", remedy: "y"))],
      [hello(), .admitted(entrance()), hello()], [hello(), .admitted(entrance()), .frame(.acknowledge(position: 1))],
    ] as [[Session.Event]])
  func refusals(events: [Session.Event]) {
    var session = Session(now: 0)
    var effects: [Session.Effect] = []
    for event in events { effects = session.handle(event, now: 0) }
    #expect(effects.last == .close(.badFrame))
    #expect(session.handle(Self.hello(), now: 0) == [], "nothing after the end")
  }

  @Test("who says no hello, is refused, replaced or drained is told why")
  func ends() {
    var silent = Session(now: 0)
    #expect(silent.timeCheck(now: 9_999).next == 10_000)
    #expect(silent.timeCheck(now: 10_000).effects == [.close(.noHello)])
    var wrong = Session(now: 0)
    _ = wrong.handle(Self.hello(), now: 0)
    #expect(wrong.handle(.refused(.refused), now: 0) == [.close(.refused)])
    var old = Self.live()
    #expect(old.handle(.ended(.replaced), now: 0) == [.disappear(Self.device), .close(.replaced)])
    var drained = Self.live()
    #expect(
      drained.handle(.drain(after: 500), now: 0)
        == [.disappear(Self.device), .sendDraining(after: 500), .close(.draining)])
  }

  /// A store, an announcer that loses and swaps notices, and an app: every story ends with each message once, in order.
  @Test(
    "nothing is lost, nothing comes twice, all in order, whatever happens when", arguments: 0..<300 as Range<UInt64>)
  func stories(seed: UInt64) {
    var dice = Dice(seed: seed)
    var session = Self.live()
    var stored: Int64 = 0
    var announced: Int64 = 0
    var run: (from: Int64, to: Int64)?
    var got: [Int64] = []
    var reads: [InboxRange] = []
    var isBlocked = false
    func perform(_ effects: [Session.Effect], _ noticed: Int64? = nil) {
      for effect in effects {
        switch effect {
        case .send(let entry): got.append(entry.position)
        case .sendAnnounced: got.append(noticed ?? -1)
        case .read(_, let range): reads.append(range)
        case .close(let end): Issue.record("\(end)")
        default: break
        }
      }
    }
    func answer() {
      guard !reads.isEmpty else { return }
      let range = reads.removeFirst()
      let positions = (1...max(1, stored)).filter { $0 > range.after && $0 <= stored }
      perform(
        session.handle(
          Self.page(Array(positions.prefix(range.limit)), more: positions.count > range.limit, through: stored), now: 0)
      )
    }
    func announce(_ position: Int64) {
      if let known = run, known.to + 1 == position { run = (known.from, position) } else { run = (position, position) }
      perform(session.handle(.announced(Self.entry(position), from: run!.from), now: 0), position)
    }
    for _ in 0..<400 {
      switch Int.random(in: 0..<8, using: &dice) {
      case 0...2: stored += 1
      case 3 where announced < stored:
        announced += Int64.random(in: 1...(stored - announced), using: &dice)
        announce(announced)
      case 4: answer()
      case 5: if let last = got.last { perform(session.handle(.frame(.acknowledge(position: last)), now: 0)) }
      case 6:
        isBlocked.toggle()
        perform(session.handle(isBlocked ? .blocked : .writable, now: 0))
      case 7 where Int.random(in: 0..<4, using: &dice) == 0:
        perform(session.handle(.frame(.background), now: 0))
        perform(session.handle(.frame(.foreground), now: 0))
      default: break
      }
    }
    perform(session.handle(.writable, now: 0))
    stored += 1
    announce(stored)
    while got.last ?? 0 < stored, got.count < 10_000 {
      if reads.isEmpty, let last = got.last { perform(session.handle(.frame(.acknowledge(position: last)), now: 0)) }
      let before = got.count
      answer()
      if got.count == before, reads.isEmpty { break }
    }
    #expect(got == Array(1...stored))
  }
}
