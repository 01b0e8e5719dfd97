import Audience
import Basics
import Testing

@Suite("A set of devices")
struct DeviceSetTests {
  /// Sparse, dense and long runs, over shard borders: all three container kinds of a roaring bitmap.
  static func random(_ dice: inout Dice) -> Set<DeviceOrdinal> {
    var members = Set<DeviceOrdinal>()
    for _ in 0..<Int.random(in: 0...4, using: &dice) {
      let base = DeviceOrdinal.random(in: 0..<200_000, using: &dice)
      switch Int.random(in: 0..<3, using: &dice) {
      case 0: for _ in 0..<50 { members.insert(base + .random(in: 0..<70_000, using: &dice)) }
      case 1: for ordinal in base..<(base + .random(in: 1..<9_000, using: &dice)) { members.insert(ordinal) }
      default: for ordinal in base..<(base + 12_000) where Bool.random(using: &dice) { members.insert(ordinal) }
      }
    }
    return members
  }

  @Test("does the algebra of sets", arguments: 0..<60 as Range<UInt64>)
  func algebra(seed: UInt64) throws {
    var dice = Dice(seed: seed)
    let (a, b) = (Self.random(&dice), Self.random(&dice))
    let (x, y) = (DeviceSet(a), DeviceSet(b))
    #expect(x.count == a.count)
    #expect(Array(x) == a.sorted())
    #expect(x.union(y) == DeviceSet(a.union(b)))
    #expect(x.intersection(y) == DeviceSet(a.intersection(b)))
    #expect(x.subtracting(y) == DeviceSet(a.subtracting(b)))
    #expect(x.intersectionCount(y) == a.intersection(b).count)
    #expect(x.shards == Set(a.map(\.shard)).sorted())
    #expect(x.first == a.min() && x.last == a.max() && x.isEmpty == a.isEmpty)
    for shard in x.shards { #expect(Array(x.slice(shard)) == a.filter { $0.shard == shard }.sorted()) }
    let after = DeviceOrdinal.random(in: 0..<300_000, using: &dice)
    #expect(x.ordinals(after: after, limit: 777) == Array(a.filter { $0 > after }.sorted().prefix(777)))
    #expect(try #require(DeviceSet(serialized: x.serialized())) == x)
    var (u, i, d) = (x, x, x)
    u.formUnion(y)
    i.formIntersection(y)
    d.subtract(y)
    #expect(u == x.union(y) && i == x.intersection(y) && d == x.subtracting(y))
    #expect(x == DeviceSet(a), "a copy that changed left the original alone")
  }

  @Test("meets itself")
  func itself() {
    var set: DeviceSet = [1, 65_535, 65_536, .max]
    let same = set
    set.formUnion(same)
    set.formIntersection(same)
    #expect(set == [1, 65_535, 65_536, .max])
    #expect(set.subtracting(same).isEmpty)
    set.subtract(same)
    #expect(set.isEmpty && set.first == nil)
    #expect(same.count == 4)
  }

  @Test("copies are independent, whoever changes first")
  func copies() {
    let original: DeviceSet = [7]
    var first = original
    var second = original
    let answers = [first.insert(8), first.insert(8), second.remove(7), second.remove(7)]
    #expect(answers == [true, false, true, false])
    #expect(original == [7] && first == [7, 8] && second == [])
  }

  @Test("holds the very last ordinal")
  func lastOrdinal() {
    let set = DeviceSet(ShardIndex.max.ordinals)
    #expect(set.count == 65_536)
    #expect(set.contains(.max))
    #expect(set.shards == [.max])
    #expect(set.ordinals(after: .max, limit: 5) == [])
    #expect(set.ordinals(after: .max - 1, limit: 5) == [.max])
  }

  @Test("a full shard is a few bytes")
  func compact() {
    #expect(DeviceSet(ShardIndex(3).ordinals).serialized().count < 32)
  }

  @Test("bytes that are no set are refused, and nothing beyond them is read", arguments: 0..<300 as Range<UInt64>)
  func damaged(seed: UInt64) {
    var dice = Dice(seed: seed)
    let good = DeviceSet(Self.random(&dice)).serialized()
    #expect(DeviceSet(serialized: []) == nil)
    #expect(DeviceSet(serialized: Array(good.prefix(Int.random(in: 0..<good.count, using: &dice)))) == nil)
    #expect(DeviceSet(serialized: good + [0]) == nil)
  }

  @Test("may be read by many tasks while others change their copies")
  func tasks() async {
    let shared = DeviceSet(0...100_000)
    await withTaskGroup(of: Int.self) { group in
      for task in 0..<8 as Range<DeviceOrdinal> {
        group.addTask {
          var mine = shared
          for ordinal in 0..<500 as Range<DeviceOrdinal> { mine.remove(ordinal * 8 + task) }
          return mine.count + shared.subtracting(mine).count
        }
      }
      for await sum in group { #expect(sum == 100_001) }
    }
  }
}
