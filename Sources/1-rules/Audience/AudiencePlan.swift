internal import Basics

/// An expression whose names an index has looked up: what is left is algebra, done for each shard.
enum AudiencePlan {
  case everyone
  case devices(DeviceSet)
  case set(id: Int64, shards: [ShardIndex])
  /// Of a day that a range cuts: its set, and the range.
  case cutDay(set: Int64, shards: [ShardIndex], DeviceTime, from: Instant?, before: Instant?)
  case share(AudienceShare)
  /// Kept apart so that a complement is never built where a difference does.
  indirect case all(of: [AudiencePlan], except: [AudiencePlan])
  indirect case any([AudiencePlan])

  static let nobody = AudiencePlan.devices(DeviceSet())

  // MARK: Evaluating

  /// The shards in which the plan may find somebody, in growing order.
  func shards(of count: Int) -> [ShardIndex] {
    var span = self.span
    span.formIntersection(ShardSpan(below: count))
    return span.shards
  }

  private var span: ShardSpan {
    switch self {
    case .everyone, .share: .all
    case .devices(let devices): .some(Set(devices.shards))
    case .set(_, let shards), .cutDay(_, let shards, _, _, _): .some(Set(shards))
    case .any(let plans): plans.reduce(into: .some([])) { $0.formUnion($1.span) }
    case .all(let plans, _): plans.reduce(into: .all) { $0.formIntersection($1.span) }
    }
  }

  func evaluate<Index: AudienceIndex>(in shard: ShardIndex, of index: Index) throws(Index.Failure) -> DeviceSet {
    switch self {
    case .everyone: return try index.everyone(in: shard)
    case .devices(let devices): return devices.slice(shard)
    case .set(let id, _): return try index.members(ofSet: id, in: shard)
    case .cutDay(let set, _, let time, let from, let before):
      let members = try index.members(ofSet: set, in: shard)
      return members.isEmpty ? members : try index.devices(among: members, in: shard, time, from: from, before: before)
    case .share(let share): return Self.members(of: share, among: try index.everyone(in: shard))
    case .any(let plans):
      var result = DeviceSet()
      for plan in plans { result.formUnion(try plan.evaluate(in: shard, of: index)) }
      return result
    case .all(let wanted, let unwanted):
      guard let first = wanted.first else {
        return try Self.subtract(unwanted, from: index.everyone(in: shard), shard, index)
      }
      var result = try first.evaluate(in: shard, of: index)
      for plan in wanted.dropFirst() where !result.isEmpty {
        if case .share(let share) = plan {
          result = Self.members(of: share, among: result)
        } else {
          result.formIntersection(try plan.evaluate(in: shard, of: index))
        }
      }
      return try Self.subtract(unwanted, from: result, shard, index)
    }
  }

  private static func subtract<Index: AudienceIndex>(
    _ plans: [AudiencePlan], from devices: DeviceSet, _ shard: ShardIndex, _ index: Index
  ) throws(Index.Failure) -> DeviceSet {
    var result = devices
    for plan in plans where !result.isEmpty { result.subtract(try plan.evaluate(in: shard, of: index)) }
    return result
  }

  private static func members(of share: AudienceShare, among devices: DeviceSet) -> DeviceSet {
    let seed = share.seed
    return DeviceSet(devices.filter { share.slots.contains(AudienceShare.slot(of: $0, seed: seed)) })
  }
}

/// A set of shards that may be all there are.
enum ShardSpan {
  case all
  case some(Set<ShardIndex>)

  init(below count: Int) { self = .some(Set((0..<count).map { ShardIndex(truncatingIfNeeded: $0) })) }

  var shards: [ShardIndex] {
    switch self {
    case .all: Array(ShardIndex.min...ShardIndex.max)
    case .some(let shards): shards.sorted()
    }
  }

  mutating func formUnion(_ other: ShardSpan) {
    switch (self, other) {
    case (.all, _), (_, .all): self = .all
    case (.some(let mine), .some(let theirs)): self = .some(mine.union(theirs))
    }
  }

  mutating func formIntersection(_ other: ShardSpan) {
    switch (self, other) {
    case (_, .all): break
    case (.all, .some): self = other
    case (.some(let mine), .some(let theirs)): self = .some(mine.intersection(theirs))
    }
  }
}
