import Basics
import Testing

@testable import Transport

@Suite("A race for a connection (RFC 8305)")
struct ConnectionRaceTests {
  enum Step: Sendable {
    case start
    case event(ConnectionRace.Event)
    case wait(Int64)
  }

  struct Row: CustomTestStringConvertible, Sendable {
    var testDescription: String
    var addresses: Int
    var steps: [Step]
    var effects: [ConnectionRace.Effect]

    init(_ sentence: String, _ addresses: Int, _ steps: [Step], gives effects: [ConnectionRace.Effect]) {
      testDescription = sentence
      self.addresses = addresses
      self.steps = steps
      self.effects = effects
    }
  }

  static let rows = [
    Row("without an address it is lost", 0, [.start], gives: [.lost]),
    Row("one address that is through wins", 1, [.start, .event(.through(0))], gives: [.connect(0), .won(0)]),
    Row("one address that fails loses", 1, [.start, .event(.failed(0))], gives: [.connect(0), .lost]),
    Row(
      "the second is tried when the first failed, without waiting", 2, [.start, .wait(5), .event(.failed(0))],
      gives: [.connect(0), .connect(1)]),
    Row(
      "the second is tried beside the first after 250 ms, not before", 2, [.start, .wait(249), .event(.tick)],
      gives: [.connect(0)]),
    Row(
      "a first that was silent while a second answered is let go, and told", 2,
      [.start, .wait(250), .event(.tick), .wait(20), .event(.through(1))],
      gives: [.connect(0), .connect(1), .silent(0), .cancel(0), .won(1)]),
    Row(
      "a first that is through after all wins, and says nothing against the second", 2,
      [.start, .wait(250), .event(.tick), .wait(20), .event(.through(0))],
      gives: [.connect(0), .connect(1), .cancel(1), .won(0)]),
    Row(
      "one that began just before the winner had no time to be silent", 3,
      [.start, .wait(250), .event(.tick), .wait(10), .event(.failed(0)), .wait(5), .event(.through(2))],
      gives: [.connect(0), .connect(1), .connect(2), .cancel(1), .won(2)]),
    Row(
      "all fail: lost once, by the last", 2,
      [.start, .wait(250), .event(.tick), .event(.failed(1)), .event(.failed(0)), .event(.failed(0))],
      gives: [.connect(0), .connect(1), .lost]),
    Row(
      "after the end nothing counts", 2,
      [.start, .event(.through(0)), .event(.failed(0)), .wait(999), .event(.tick), .event(.through(1)), .start],
      gives: [.connect(0), .won(0)]),
    Row(
      "numbers that nobody gave out count for nothing", 1,
      [.start, .event(.failed(7)), .event(.through(-1)), .event(.through(0))], gives: [.connect(0), .won(0)]),
  ]

  @Test("follows the rules", arguments: rows)
  func follows(row: Row) {
    var race = ConnectionRace(addresses: row.addresses)
    var now: Int64 = 1000
    var effects: [ConnectionRace.Effect] = []
    for step in row.steps {
      switch step {
      case .start: effects += race.start(at: now)
      case .event(let event): effects += race.handle(event, at: now)
      case .wait(let span): now += span
      }
    }
    #expect(effects == row.effects)
  }

  @Test("has one end, and no attempt is left running", arguments: 0..<300 as Range<UInt64>)
  func ends(seed: UInt64) {
    var dice = Dice(seed: seed)
    let count = Int.random(in: 0...6, using: &dice)
    var race = ConnectionRace(addresses: count)
    var now: Int64 = 0
    var running: Set<Int> = []
    var started: Set<Int> = []
    var ends = 0
    func follow(_ effects: [ConnectionRace.Effect]) {
      for effect in effects {
        switch effect {
        case .connect(let number):
          #expect(ends == 0 && started.insert(number).inserted)
          running.insert(number)
        case .cancel(let number): #expect(running.remove(number) != nil)
        case .silent(let number): #expect(running.contains(number))
        case .won(let number):
          running.remove(number)
          ends += 1
        case .lost: ends += 1
        }
      }
    }
    follow(race.start(at: now))
    for _ in 0..<200 where ends == 0 {
      now += Int64.random(in: 0...300, using: &dice)
      switch Int.random(in: 0..<4, using: &dice) {
      case 0:
        guard let one = running.sorted().randomElement(using: &dice) else { continue }
        running.remove(one)
        follow(race.handle(.failed(one), at: now))
      case 1 where Int.random(in: 0..<5, using: &dice) == 0:
        guard let one = running.sorted().randomElement(using: &dice) else { continue }
        follow(race.handle(.through(one), at: now))
      default: follow(race.handle(.tick, at: now))
      }
      #expect(ends > 0 || !running.isEmpty, "something runs until the end")
    }
    #expect(ends == 1 && running.isEmpty && race.nextDue == nil)
  }
}

@Suite("The order of a host's addresses")
struct AddressOrderTests {
  static func four(_ number: Int) -> Endpoint { Endpoint(host: "17.188.0.\(number)", port: 443) }
  static func six(_ number: Int) -> Endpoint { Endpoint(host: "2620:149::\(number)", port: 443) }

  @Test("alternates the families, beginning with that of the first answer")
  func alternates() {
    var dice = Dice(seed: 1)
    let order = AddressOrder.spread(
      [Self.six(1), Self.six(2), Self.four(1), Self.four(2), Self.four(3)], isDark: { _ in false }, dice: &dice)
    #expect(order.map(\.isIPv6) == [true, false, true, false, false])
    #expect(Set(order).count == 5)
  }

  @Test("spreads over the answers of each family, and names none twice")
  func spreads() {
    var dice = Dice(seed: 1)
    let answers = (0..<8).map(Self.four) + [Self.four(3)]
    var first: [Endpoint: Int] = [:]
    for _ in 0..<800 {
      let order = AddressOrder.spread(answers, isDark: { _ in false }, dice: &dice)
      #expect(order.count == 8)
      first[order[0], default: 0] += 1
    }
    #expect(first.count == 8 && first.values.allSatisfy { (50...160).contains($0) })
  }

  @Test("C40 puts dark addresses last, and still has them")
  func darkLast() {
    var dice = Dice(seed: 1)
    let dark: Set = [Self.four(1), Self.six(1)]
    let order = AddressOrder.spread(
      [Self.four(1), Self.six(1), Self.four(2), Self.six(2)], isDark: { dark.contains($0) }, dice: &dice)
    #expect(Set(order.prefix(2)) == [Self.four(2), Self.six(2)] && Set(order.suffix(2)) == dark)
  }
}

@Suite("Dark addresses")
struct DarkAddressesTests {
  static let address = Endpoint(host: "17.188.0.1", port: 443)

  @Test("C40 are remembered for a minute, then longer each time, and forgotten when they answer")
  func remembered() {
    var dark = DarkAddresses()
    let wall = Instant(seconds: 1_796_000_000)
    var now: Int64 = 0
    var spans: [Int64] = []
    for _ in 0..<8 {
      dark.note(Self.address, why: "silent", wall: wall, uptime: .milliseconds(now))
      let begin = now
      while dark.isDark(Self.address, uptime: .milliseconds(now)) { now += 1000 }
      spans.append((now - begin) / 60_000)
    }
    #expect(spans == [1, 2, 4, 8, 16, 30, 30, 30])
    dark.note(Self.address, why: "silent", wall: wall, uptime: .milliseconds(now))
    #expect(dark.list(uptime: .milliseconds(now)) == [DarkAddress(address: Self.address, since: wall, why: "silent")])
    dark.answered(Self.address)
    #expect(dark.list(uptime: .milliseconds(now)).isEmpty)
    dark.note(Self.address, why: "silent", wall: wall, uptime: .milliseconds(now))
    #expect(!dark.isDark(Self.address, uptime: .milliseconds(now + 60_000)))
  }

  @Test("told twice of one silence count once; there are never more than 64")
  func bounded() {
    var dark = DarkAddresses()
    for _ in 0..<20 { dark.note(Self.address, why: "", wall: Instant(seconds: 0), uptime: .seconds(1)) }
    #expect(!dark.isDark(Self.address, uptime: .seconds(62)))
    for port in 1...500 {
      dark.note(
        Endpoint(host: "10.0.0.1", port: UInt16(port)), why: "", wall: Instant(seconds: 0), uptime: .seconds(2))
    }
    #expect(dark.list(uptime: .seconds(2)).count == 64)
  }
}
