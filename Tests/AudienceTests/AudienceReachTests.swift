import Audience
import Basics
import Testing

/// Devices in plain Swift sets: the slow truth that the bitmaps are compared with.
struct PlainIndex: AudienceIndex {
  var count: DeviceOrdinal
  var tags: [String: Set<DeviceOrdinal>] = [:]
  var aliases: [String: Set<DeviceOrdinal>] = [:]
  var registrationIDs: [String: DeviceOrdinal] = [:]
  var deadOnes: Set<DeviceOrdinal> = []
  var sandboxed: Set<DeviceOrdinal> = []

  var names: [String] { tags.keys.sorted() }
  var shardCount: Int { (Int(count) + 65_535) / 65_536 }

  func members(of term: AudienceTerm) -> TermMembers {
    switch term {
    case .tag(let name):
      guard let index = names.firstIndex(of: name) else { return .nobody }
      return .set(id: Int64(index), shards: DeviceSet(tags[name] ?? []).shards)
    case .alias(let name): return .devices(DeviceSet(aliases[name] ?? []))
    case .registrationID(let name): return registrationIDs[name].map { .devices([$0]) } ?? .nobody
    }
  }

  func members(ofSet id: Int64, in shard: ShardIndex) -> DeviceSet {
    DeviceSet(tags[names[Int(id)]] ?? []).slice(shard)
  }

  func everyone(in shard: ShardIndex) -> DeviceSet { DeviceSet(all).slice(shard) }
  func dead(in shard: ShardIndex) -> DeviceSet { DeviceSet(deadOnes).slice(shard) }

  func devices(of environment: APNSEnvironment, in shard: ShardIndex) -> DeviceSet {
    DeviceSet(environment == .sandbox ? sandboxed : all.subtracting(sandboxed)).slice(shard)
  }

  var all: Set<DeviceOrdinal> { Set(0..<count) }

  func truth(_ expression: AudienceExpression) -> Set<DeviceOrdinal> {
    switch expression {
    case .everyone: all
    case .tag(let name): tags[name] ?? []
    case .alias(let name): aliases[name] ?? []
    case .registrationID(let name): registrationIDs[name].map { [$0] } ?? []
    case .all(let parts): parts.reduce(all) { $0.intersection(truth($1)) }
    case .any(let parts): parts.reduce([]) { $0.union(truth($1)) }
    case .not(let part): all.subtracting(truth(part))
    }
  }
}

@Suite("Whom a push reaches")
struct AudienceReachTests {
  /// 1 and 2 in one shard, 70,000 in the next, 140,000 in the third.
  static let small = PlainIndex(
    count: 140_001,
    tags: ["red": [1, 2, 70_000], "blue": [2, 140_000], "old": [70_000], "100": [1], "globe": [1], "discount": [1]],
    aliases: ["lin": [1], "wu": [2, 140_000]],
    registrationIDs: ["r1": 1, "r2": 2])

  struct Row: CustomTestStringConvertible, Sendable {
    var testDescription: String
    var expression: AudienceExpression
    var reached: DeviceSet
    var unmatched: [AudienceTerm] = []
    init(
      _ name: String, _ expression: AudienceExpression, reaches: DeviceSet, unmatched: [AudienceTerm] = []
    ) {
      testDescription = name
      self.expression = expression
      reached = reaches
      self.unmatched = unmatched
    }
  }

  /// Computed, since the leak checker cannot follow the tagged pointers of an indirect enum kept for good.
  static var rows: [Row] {
    [
      Row("tag: any of them", .any([.tag("red"), .tag("blue")]), reaches: [1, 2, 70_000, 140_000]),
      Row(
        "D-312 any one match is enough: 1000, globe, original reach 100, globe, discount",
        .any([.tag("1000"), .tag("globe"), .tag("original")]), reaches: [1],
        unmatched: [.tag("1000"), .tag("original")]),
      Row(
        "D-314 several registration ids, for exact reach", .any([.registrationID("r1"), .registrationID("r2")]),
        reaches: [1, 2]),
      Row("tag_and: all of them", .all([.tag("red"), .tag("blue")]), reaches: [2]),
      Row("tag_not takes away", .all([.tag("red"), .not(.any([.tag("blue"), .tag("old")]))]), reaches: [1]),
      Row(
        "keys intersect: tag and alias",
        .all([.any([.tag("red")]), .any([.alias("lin"), .alias("wu")])]), reaches: [1, 2]),
      Row(
        "keys intersect: tag, tag_and, tag_not, alias, registration_id",
        .all([
          .any([.tag("red"), .tag("blue")]), .all([.tag("red")]), .not(.tag("old")), .any([.alias("wu")]),
          .any([.registrationID("r1"), .registrationID("r2")]),
        ]), reaches: [2]),
      Row("disjoint tag_and reaches nobody", .all([.tag("blue"), .tag("old")]), reaches: []),
      Row(
        "C29 one unknown alias among several", .any([.alias("nobody"), .alias("lin")]), reaches: [1],
        unmatched: [.alias("nobody")]),
      Row(
        "C29 the other order", .any([.alias("lin"), .alias("nobody")]), reaches: [1], unmatched: [.alias("nobody")]),
      Row(
        "only unknown names", .any([.alias("a"), .registrationID("b"), .tag("c"), .alias("a")]), reaches: [],
        unmatched: [.alias("a"), .registrationID("b"), .tag("c")]),
      Row(
        "an unknown tag_not takes nobody away", .all([.tag("old"), .not(.tag("x"))]), reaches: [70_000],
        unmatched: [.tag("x")]),
      Row("not everyone", .not(.everyone), reaches: []),
      Row("no condition in all is everyone, in any nobody", .all([.any([]), .all([])]), reaches: []),
      Row("twice not", .all([.not(.not(.tag("blue")))]), reaches: [2, 140_000]),
    ]
  }

  @Test("D-312 C29 follows JPush's rules for tags, aliases and registration ids", arguments: rows)
  func rules(row: Row) {
    let reach = row.expression.reach(.production, in: Self.small)
    #expect(reach.targets.reduce(into: DeviceSet()) { $0.formUnion($1.devices) } == row.reached)
    #expect(reach.count == row.reached.count)
    #expect(reach.targets.map(\.shard) == row.reached.shards)
    #expect(reach.unmatched == row.unmatched)
  }

  @Test("only tag_not reaches everybody else")
  func everybodyElse() {
    let reach = AudienceExpression.all([.not(.tag("red"))]).reach(.production, in: Self.small)
    #expect(reach.count == 140_001 - 3)
  }

  @Test("tells the dead and those of the other environment apart")
  func told() {
    var index = Self.small
    index.deadOnes = [1, 70_000]
    index.sandboxed = [1, 2]
    let red = AudienceExpression.tag("red")
    let production = red.reach(.production, in: index)
    #expect(production.count == 0 && production.dead == 2 && production.wrongEnvironment == 1)
    let sandbox = red.reach(.sandbox, in: index)
    #expect(sandbox.count == 1 && sandbox.dead == 2 && sandbox.wrongEnvironment == 0)
    #expect(AudienceExpression.everyone.reach(.production, in: index).count == 140_001 - 3)
  }

  @Test("agrees with plain sets on any expression", arguments: 0..<60 as Range<UInt64>)
  func random(seed: UInt64) {
    var dice = Dice(seed: seed)
    var index = PlainIndex(count: .random(in: 0...90_000, using: &dice))
    func some(_ chance: Int) -> Set<DeviceOrdinal> {
      index.count == 0 ? [] : Set((0..<chance).map { _ in .random(in: 0..<index.count, using: &dice) })
    }
    for name in ["a", "b", "c"] { index.tags[name] = some(400) }
    for name in ["x", "y"] { index.aliases[name] = some(3) }
    for name in ["r", "s"] { index.registrationIDs[name] = some(1).first }
    index.deadOnes = some(50)
    index.sandboxed = some(5_000)
    func expression(_ depth: Int) -> AudienceExpression {
      switch Int.random(in: 0..<(depth == 0 ? 4 : 8), using: &dice) {
      case 0: .everyone
      case 1: .tag(["a", "b", "c", "z"].randomElement(using: &dice) ?? "")
      case 2: .alias(["x", "y", "z"].randomElement(using: &dice) ?? "")
      case 3: .registrationID(["r", "s", "z"].randomElement(using: &dice) ?? "")
      case 4: .not(expression(depth - 1))
      case 5, 6: .all((0..<Int.random(in: 0...3, using: &dice)).map { _ in expression(depth - 1) })
      default: .any((0..<Int.random(in: 0...3, using: &dice)).map { _ in expression(depth - 1) })
      }
    }
    let asked = expression(4)
    let reach = asked.reach(.production, in: index)
    let meant = index.truth(asked)
    let alive = meant.subtracting(index.deadOnes)
    #expect(reach.targets.flatMap { Array($0.devices) } == alive.subtracting(index.sandboxed).sorted())
    #expect(reach.dead == meant.intersection(index.deadOnes).count)
    #expect(reach.wrongEnvironment == alive.intersection(index.sandboxed).count)
  }
}
