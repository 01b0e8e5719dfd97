import Basics
import Delivery
import PushPayload
import Testing

@Suite("A pool, whatever happens")
struct SendingPoolStoryTests {
  static let answers: [Answer] =
    RefusalReason.allCases.map { .refused(.init(status: $0.status, reason: $0.rawValue, since: nil)) }
    + [.refused(.init(status: 503, reason: "", since: nil)), .refused(.init(status: 418, reason: "New", since: nil))]
    + Array(repeating: .accepted(uniqueID: nil), count: 60)

  @Test(
    "each push ends exactly once, none is sent twice at a time, too late, or beyond a limit",
    arguments: 0..<500 as Range<UInt64>)
  func eachPushEndsOnce(seed: UInt64) {
    var dice = Dice(seed: seed)
    var settings = SendingPool.Settings()
    settings.firstAlone = Bool.random(using: &dice)
    settings.streamsEach = [1, 3, 1000].randomElement(using: &dice)!
    settings.size.limit = Int.random(in: 1...5, using: &dice)
    settings.size.opensPerSecond = Int.random(in: 1...4, using: &dice)
    var world = SendingPoolWorld(settings, seed: seed)
    let refusals = Locked(Dice(seed: seed &+ 1))
    world.refusesStream = { refusals.withLock { Int.random(in: 0..<50, using: &$0) == 0 } }
    for _ in 0..<Int.random(in: 20...300, using: &dice) { step(&world, &dice) }
    switch Int.random(in: 0..<3, using: &dice) {
    case 0:
      world.handle(.close)
      for _ in 0..<200 where !world.isClosed { step(&world, &dice) }
    case 1:
      // a kind world: everybody greets and answers, so all ends by itself
      world.handle(.resumed)
      for _ in 0..<900 where !world.alive.isEmpty {
        for id in world.peers.keys { world.greet(id, limit: 100) }
        world.answerAll()
        world.run(for: .seconds(1))
      }
      #expect(world.alive.isEmpty)
    default: break
    }
    world.handle(.closeNow)
    #expect(world.alive.isEmpty && world.outcomes.count == world.offered)
    #expect(world.isClosed && world.peers.isEmpty)
    #expect(world.pool.unfinished == 0 && world.pool.backlog == 0)
  }

  private func step(_ world: inout SendingPoolWorld, _ dice: inout Dice) {
    let id = world.peers.keys.sorted { $0.rawValue < $1.rawValue }.randomElement(using: &dice) ?? 77
    let streams = (world.peers[id]?.streams.keys).map { $0.sorted() } ?? []
    switch Int.random(in: 0..<40, using: &dice) {
    case 0..<6:
      let expirations: [Int64?] = [nil, nil, 0, world.moment.wall.seconds + Int64.random(in: -1...40, using: &dice)]
      world.offer(Int.random(in: 1...30, using: &dice), expiration: expirations.randomElement(using: &dice)!)
    case 6..<12: world.greet(id, limit: [0, 1, 1, 2, 100, 1000].randomElement(using: &dice)!)
    case 12..<24:
      if let stream = streams.randomElement(using: &dice) {
        world.answer(id, stream, Self.answers.randomElement(using: &dice)!)
      }
    case 24:
      if let stream = streams.randomElement(using: &dice) {
        world.peers[id]?.streams[stream] = nil
        world.handle(.reset(id, stream, unprocessed: Bool.random(using: &dice)))
      }
    case 25: world.goAway(id, last: streams.randomElement(using: &dice) ?? 0)
    case 26: world.lose(id)
    case 27: world.handle(.pong(id))
    case 28:
      let some = world.alive.keys.sorted().filter { _ in Int.random(in: 0..<3, using: &dice) == 0 }
      // noted before, since those on their way may not be sent again
      world.withdrawn.formUnion(some)
      world.handle(.withdrawn(some, .cancelled))
    case 29: world.handle(.held("held"))
    case 30, 31: world.handle(.resumed)
    case 32:
      world.handle(
        .answered(id, StreamID(rawValue: Int32.random(in: -3...99, using: &dice) * 2), .accepted(uniqueID: nil)))
    case 33: world.handle(.reset(99, 1, unprocessed: true))
    case 34: world.moment.wall = world.moment.wall + .seconds(Int64.random(in: -7200...7200, using: &dice))
    default: world.run(for: .milliseconds(Int64.random(in: 1...6000, using: &dice)))
    }
  }
}
