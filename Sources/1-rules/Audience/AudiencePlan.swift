/// An expression whose names an index has looked up: what is left is algebra, done for each shard.
enum AudiencePlan {
  case everyone
  case devices(DeviceSet)
  case set(id: Int64, shards: [ShardIndex])
  /// Kept apart so that a complement is never built where a difference does.
  indirect case all(of: [AudiencePlan], except: [AudiencePlan])
  indirect case any([AudiencePlan])

  init<Index: AudienceIndex>(
    _ expression: AudienceExpression, index: Index, unmatched: inout [AudienceTerm]
  ) throws(Index.Failure) {
    switch expression {
    case .everyone: self = .everyone
    case .tag(let name): self = try Self.found(.tag(name), index, &unmatched)
    case .alias(let name): self = try Self.found(.alias(name), index, &unmatched)
    case .registrationID(let name): self = try Self.found(.registrationID(name), index, &unmatched)
    case .not(let inner):
      self = .all(of: [], except: [try AudiencePlan(inner, index: index, unmatched: &unmatched)])
    case .any(let parts):
      var plans: [AudiencePlan] = []
      var few = DeviceSet()  // a thousand aliases are one set
      for part in parts {
        let plan = try AudiencePlan(part, index: index, unmatched: &unmatched)
        if case .devices(let devices) = plan { few.formUnion(devices) } else { plans.append(plan) }
      }
      self = plans.isEmpty ? .devices(few) : .any(few.isEmpty ? plans : plans + [.devices(few)])
    case .all(let parts):
      var wanted: [AudiencePlan] = []
      var unwanted: [AudiencePlan] = []
      for part in parts {
        if case .not(let inner) = part {
          unwanted.append(try AudiencePlan(inner, index: index, unmatched: &unmatched))
        } else {
          wanted.append(try AudiencePlan(part, index: index, unmatched: &unmatched))
        }
      }
      self = .all(of: wanted, except: unwanted)
    }
  }

  private static func found<Index: AudienceIndex>(
    _ term: AudienceTerm, _ index: Index, _ unmatched: inout [AudienceTerm]
  ) throws(Index.Failure) -> AudiencePlan {
    switch try index.members(of: term) {
    case .devices(let devices) where !devices.isEmpty: return .devices(devices)
    case .set(let id, let shards) where !shards.isEmpty: return .set(id: id, shards: shards)
    case .nobody, .devices, .set:
      if !unmatched.contains(term) { unmatched.append(term) }
      return .devices([])
    }
  }

  /// The shards in which the plan may find somebody, in growing order.
  func shards(of count: Int) -> [ShardIndex] {
    var span = self.span
    span.formIntersection(Span.all(below: count))
    return span.shards
  }

  private var span: Span {
    switch self {
    case .everyone: .all
    case .devices(let devices): .some(Set(devices.shards))
    case .set(_, let shards): .some(Set(shards))
    case .any(let plans): plans.reduce(into: .some([])) { $0.formUnion($1.span) }
    case .all(let plans, _): plans.reduce(into: .all) { $0.formIntersection($1.span) }
    }
  }

  func evaluate<Index: AudienceIndex>(in shard: ShardIndex, of index: Index) throws(Index.Failure) -> DeviceSet {
    switch self {
    case .everyone: return try index.everyone(in: shard)
    case .devices(let devices): return devices.slice(shard)
    case .set(let id, _): return try index.members(ofSet: id, in: shard)
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
        result.formIntersection(try plan.evaluate(in: shard, of: index))
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

  private enum Span {
    case all
    case some(Set<ShardIndex>)

    static func all(below count: Int) -> Span { .some(Set((0..<count).map { ShardIndex(truncatingIfNeeded: $0) })) }

    var shards: [ShardIndex] {
      switch self {
      case .all: Array(ShardIndex.min...ShardIndex.max)
      case .some(let shards): shards.sorted()
      }
    }

    mutating func formUnion(_ other: Span) {
      switch (self, other) {
      case (.all, _), (_, .all): self = .all
      case (.some(let mine), .some(let theirs)): self = .some(mine.union(theirs))
      }
    }

    mutating func formIntersection(_ other: Span) {
      switch (self, other) {
      case (_, .all): break
      case (.all, .some): self = other
      case (.some(let mine), .some(let theirs)): self = .some(mine.intersection(theirs))
      }
    }
  }
}
