import Audience
import Basics
import Testing

/// Devices in plain Swift sets: the slow truth that the bitmaps are compared with.
struct PlainIndex: AudienceIndex {
  var count: DeviceOrdinal
  var tags: [String: Set<DeviceOrdinal>] = [:]
  var aliases: [String: Set<DeviceOrdinal>] = [:]
  var registrationIDs: [String: DeviceOrdinal] = [:]
  var files: [String: Set<DeviceOrdinal>] = [:]
  var holders: [TokenPurpose: Set<DeviceOrdinal>] = [:]
  var deadOnes: Set<DeviceOrdinal> = []
  var sandboxed: Set<DeviceOrdinal> = []

  /// By ordinal modulo their number; a device without a value of a fact has "".
  var facts: [DeviceFact: [String]] = [:]
  var now = Instant(seconds: 1_796_040_000)

  func fact(_ fact: DeviceFact, of ordinal: DeviceOrdinal) -> String? {
    guard let values = facts[fact], !values.isEmpty else { return nil }
    let value = values[Int(ordinal) % values.count]
    return value.isEmpty ? nil : value
  }

  /// Each device some hours before another.
  func created(_ ordinal: DeviceOrdinal) -> Instant { now - .hours(Int64(ordinal) % 1_000) }
  func seen(_ ordinal: DeviceOrdinal) -> Instant { now - .minutes(Int64(ordinal) * 7 % 9_000) }

  func subject(_ ordinal: DeviceOrdinal) -> AudienceSubject {
    var subject = AudienceSubject(
      ordinal: ordinal, registrationID: registrationIDs.first { $0.value == ordinal }?.key ?? "r\(ordinal)",
      tags: Set(tags.filter { $0.value.contains(ordinal) }.keys),
      alias: aliases.first { $0.value.contains(ordinal) }?.key,
      facts: DeviceFact.allCases.reduce(into: [:]) { $0[$1] = fact($1, of: ordinal) }, lastSeen: seen(ordinal),
      created: created(ordinal))
    subject.files = Set(files.filter { $0.value.contains(ordinal) }.keys)
    subject.purposes = Set(holders.filter { $0.value.contains(ordinal) }.keys)
    return subject
  }

  var names: [String] { tags.keys.sorted() }
  var shardCount: Int { (Int(count) + 65_535) / 65_536 }

  func members(of term: AudienceName) -> TermMembers {
    switch term {
    case .tag(let name):
      guard let index = names.firstIndex(of: name) else { return .nobody }
      return .set(id: Int64(index), shards: DeviceSet(tags[name] ?? []).shards)
    case .alias(let name): return .devices(DeviceSet(aliases[name] ?? []))
    case .registrationID(let name): return registrationIDs[name].map { .devices([$0]) } ?? .nobody
    case .file(let id): return .devices(DeviceSet(files[id] ?? []))
    case .holds(let purpose): return .devices(DeviceSet(holders[purpose] ?? []))
    }
  }

  /// Values of facts from 1,000 a fact, days from 10,000,000 and 20,000,000; tags, from 0, are not in it.
  fileprivate var kept: [Int64: DeviceSet] = [:]

  /// Sorts devices into the sets of their facts and times.
  mutating func sort() {
    var members: [Int64: [DeviceOrdinal]] = [:]
    for ordinal in 0..<count {
      for fact in DeviceFact.allCases {
        guard let value = self.fact(fact, of: ordinal) else { continue }
        let index = Set(facts[fact] ?? []).sorted().firstIndex(of: value) ?? 0
        members[Int64(fact.rawValue) * 1_000 + Int64(index), default: []].append(ordinal)
      }
      members[10_000_000 + created(ordinal).seconds / 86_400, default: []].append(ordinal)
      members[20_000_000 + seen(ordinal).seconds / 86_400, default: []].append(ordinal)
    }
    kept = members.mapValues { DeviceSet($0) }
  }

  private func set(_ id: Int64) -> DeviceSet { kept[id] ?? DeviceSet(id < 1_000 ? tags[names[Int(id)]] ?? [] : []) }

  func members(ofSet id: Int64, in shard: ShardIndex) -> DeviceSet { set(id).slice(shard) }
  func shards(ofSet id: Int64) -> [ShardIndex] { set(id).shards }

  func values(of fact: DeviceFact) -> [(value: String, set: Int64)] {
    Set(facts[fact] ?? []).sorted().enumerated().map { ($1, Int64(fact.rawValue) * 1_000 + Int64($0)) }
      .filter { !$0.0.isEmpty }
  }

  func days(of time: DeviceTime) -> [(day: Int64, set: Int64)] {
    let base: Int64 = time == .created ? 10_000_000 : 20_000_000
    return kept.keys.filter { $0 / 10_000_000 == base / 10_000_000 }.map { ($0 - base, $0) }
  }

  func devices(
    among devices: DeviceSet, in shard: ShardIndex, _ time: DeviceTime, from: Instant?, before: Instant?
  ) -> DeviceSet {
    DeviceSet(
      devices.filter {
        let moment = time == .created ? created($0) : seen($0)
        return (from ?? moment) <= moment && moment < (before ?? moment + .seconds(1))
      })
  }

  func everyone(in shard: ShardIndex) -> DeviceSet { count == 0 ? [] : DeviceSet(0...(count - 1)).slice(shard) }
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
    case .file(let id): files[id] ?? []
    case .holds(let purpose): holders[purpose] ?? []
    case .all(let parts): parts.reduce(all) { $0.intersection(truth($1)) }
    case .any(let parts): parts.reduce([]) { $0.union(truth($1)) }
    case .not(let part): all.subtracting(truth(part))
    case .saved(_, let inner): truth(inner)
    case .segment, .variant: []
    case .appVersion(let comparison, let version):
      all { fact(.appVersion, of: $0).map { comparison.holds($0, version) } }
    case .osVersion(let comparison, let version): all { fact(.osVersion, of: $0).map { comparison.holds($0, version) } }
    case .language(let range): all { fact(.language, of: $0).map { $0 == range || $0.hasPrefix(range + "-") } }
    case .timeZone(let name): all { fact(.timeZone, of: $0).map { $0 == name } }
    case .model(let name): all { fact(.model, of: $0).map { $0 == name } }
    case .permission(let permission): all { fact(.permission, of: $0).map { $0 == permission.word } }
    case .lastSeen(let comparison): all { truth(comparison, seen($0)) }
    case .created(let comparison): all { truth(comparison, created($0)) }
    case .share(let share): all.filter { subject($0).isIn(share) }
    }
  }
}

extension PlainIndex {
  private func all(_ holds: (DeviceOrdinal) -> Bool?) -> Set<DeviceOrdinal> { all.filter { holds($0) ?? false } }

  private func truth(_ comparison: TimeComparison, _ moment: Instant) -> Bool {
    switch comparison {
    case .from(let start): moment >= start
    case .before(let end): moment < end
    case .within(let span): now - moment <= span
    case .longerAgo(let span): now - moment > span
    }
  }
}

extension AudienceSubject {
  func isIn(_ share: AudienceShare) -> Bool { AudienceExpression.share(share).contains(self, at: Instant(seconds: 0)) }
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
    let reach = row.expression.reach(.production, in: Self.small, at: Self.small.now)
    #expect(reach.targets.reduce(into: DeviceSet()) { $0.formUnion($1.devices) } == row.reached)
    #expect(reach.count == row.reached.count)
    #expect(reach.targets.map(\.shard) == row.reached.shards)
    #expect(reach.unmatched == row.unmatched)
  }

  @Test("only tag_not reaches everybody else")
  func everybodyElse() {
    let reach = AudienceExpression.all([.not(.tag("red"))]).reach(.production, in: Self.small, at: Self.small.now)
    #expect(reach.count == 140_001 - 3)
  }

  @Test("tells the dead and those of the other environment apart")
  func told() {
    var index = Self.small
    index.deadOnes = [1, 70_000]
    index.sandboxed = [1, 2]
    let red = AudienceExpression.tag("red")
    let production = red.reach(.production, in: index, at: index.now)
    #expect(production.count == 0 && production.dead == 2 && production.wrongEnvironment == 1)
    let sandbox = red.reach(.sandbox, in: index, at: index.now)
    #expect(sandbox.count == 1 && sandbox.dead == 2 && sandbox.wrongEnvironment == 0)
    #expect(AudienceExpression.everyone.reach(.production, in: index, at: index.now).count == 140_001 - 3)
  }

  @Test("agrees with plain sets on any expression", arguments: 0..<60 as Range<UInt64>)
  func random(seed: UInt64) {
    var dice = Dice(seed: seed)
    var index = PlainIndex(
      count: seed % 6 == 0 ? .random(in: 65_000...67_000, using: &dice) : .random(in: 0...3_000, using: &dice))
    func some(_ chance: Int) -> Set<DeviceOrdinal> {
      index.count == 0 ? [] : Set((0..<chance).map { _ in .random(in: 0..<index.count, using: &dice) })
    }
    for name in ["a", "b", "c"] { index.tags[name] = some(400) }
    for name in ["x", "y"] { index.aliases[name] = some(3) }
    index.files["f"] = some(200)
    for name in ["r", "s"] { index.registrationIDs[name] = some(1).first }
    index.deadOnes = some(50)
    index.sandboxed = some(5_000)
    index.facts = [
      .appVersion: ["1.0", "1.10", "1.9", "", "2"], .language: ["zh-Hans-CN", "zh", "en-US", "", "zhx"],
      .permission: ["denied", "authorized", ""], .timeZone: ["Asia/Shanghai", "UTC"],
    ]
    index.sort()
    func comparison() -> TimeComparison {
      switch Int.random(in: 0..<4, using: &dice) {
      case 0: .from(index.now - .hours(.random(in: 0..<1_100, using: &dice)))
      case 1: .before(index.now - .hours(.random(in: 0..<1_100, using: &dice)))
      case 2: .within(.minutes(.random(in: 0..<70_000, using: &dice)))
      default: .longerAgo(.minutes(.random(in: 0..<70_000, using: &dice)))
      }
    }
    func condition() -> AudienceExpression {
      switch Int.random(in: 0..<7, using: &dice) {
      case 0: .appVersion(VersionComparison.allCases.randomElement(using: &dice) ?? .equal, "1.9.0")
      case 1: .language(["zh", "en", "fr"].randomElement(using: &dice) ?? "")
      case 2: .permission(.denied)
      case 3: .timeZone("UTC")
      case 4: .lastSeen(comparison())
      case 5: .created(comparison())
      default: .share(AudienceShare(test: "t", variant: "a", slots: 2_000..<7_000))
      }
    }
    func expression(_ depth: Int) -> AudienceExpression {
      switch Int.random(in: 0..<(depth == 0 ? 5 : 9), using: &dice) {
      case 4: condition()
      case 0: .everyone
      case 1: .tag(["a", "b", "c", "z"].randomElement(using: &dice) ?? "")
      case 2: .alias(["x", "y", "z"].randomElement(using: &dice) ?? "")
      case 3 where Bool.random(using: &dice): .file(["f", "g"].randomElement(using: &dice) ?? "")
      case 3: .registrationID(["r", "s", "z"].randomElement(using: &dice) ?? "")
      case 5: .not(expression(depth - 1))
      case 6, 7: .all((0..<Int.random(in: 0...3, using: &dice)).map { _ in expression(depth - 1) })
      default: .any((0..<Int.random(in: 0...3, using: &dice)).map { _ in expression(depth - 1) })
      }
    }
    let asked = expression(seed % 6 == 0 ? 2 : 4)
    let reach = asked.reach(.production, in: index, at: index.now)
    let meant = index.truth(asked)
    #expect(AudienceExpression(encoded: asked.encoded()) == asked)
    for ordinal in (0..<100).map({ _ in DeviceOrdinal.random(in: 0...index.count, using: &dice) }) {
      if ordinal == index.count { continue }
      let exclusion = asked.exclusion(of: index.subject(ordinal), at: index.now)
      #expect((exclusion == nil) == meant.contains(ordinal), "\(ordinal) \(asked) \(String(describing: exclusion))")
    }
    let listed = asked.ordinals(in: index, at: index.now, after: 1_000, limit: 500)
    #expect(listed == Array(meant.sorted().drop { $0 <= 1_000 }.prefix(500)))
    let alive = meant.subtracting(index.deadOnes)
    #expect(reach.targets.flatMap { Array($0.devices) } == alive.subtracting(index.sandboxed).sorted())
    #expect(reach.dead == meant.intersection(index.deadOnes).count)
    #expect(reach.wrongEnvironment == alive.intersection(index.sandboxed).count)
  }
}
