internal import Basics

/// Turns an expression into a plan by what an index knows.
struct AudiencePlanner<Index: AudienceIndex> {
  let index: Index
  let now: Instant
  /// What nobody matches, in the order of the expression.
  private(set) var unmatched: [AudienceTerm] = []

  init(index: Index, now: Instant) {
    self.index = index
    self.now = now
  }

  mutating func plan(_ expression: AudienceExpression) throws(Index.Failure) -> AudiencePlan {
    switch expression {
    case .everyone: return .everyone
    case .tag(let name): return try named(.tag(name))
    case .alias(let name): return try named(.alias(name))
    case .registrationID(let name): return try named(.registrationID(name))
    case .file(let id): return try named(.file(id))
    case .holds(let purpose): return try named(.holds(purpose))
    case .appVersion, .osVersion, .language, .timeZone, .model, .permission:
      guard let condition = expression.factCondition else { return .nobody }
      return try having(condition)
    case .lastSeen(let comparison): return try within(.lastSeen, comparison)
    case .created(let comparison): return try within(.created, comparison)
    case .segment(let id): return missing(.segment(id))
    case .variant(let test, let name): return missing(.variant(test: test, name: name))
    case .saved(_, let expression): return try plan(expression)
    case .share(let share): return .share(share)
    case .not(let inner): return .all(of: [], except: [try plan(inner)])
    case .any(let parts):
      var plans: [AudiencePlan] = []
      for part in parts { plans.append(try plan(part)) }
      return Self.union(plans)
    case .all(let parts): return try intersection(parts)
    }
  }

  /// A thousand aliases are one set.
  private static func union(_ plans: [AudiencePlan]) -> AudiencePlan {
    var few = DeviceSet()
    var others: [AudiencePlan] = []
    for plan in plans {
      if case .devices(let devices) = plan { few.formUnion(devices) } else { others.append(plan) }
    }
    if others.isEmpty { return .devices(few) }
    return .any(few.isEmpty ? others : others + [.devices(few)])
  }

  /// A share is dear where there are many and cheap where few are left, so it comes last.
  private mutating func intersection(_ parts: [AudienceExpression]) throws(Index.Failure) -> AudiencePlan {
    var wanted: [AudiencePlan] = []
    var shares: [AudiencePlan] = []
    var unwanted: [AudiencePlan] = []
    for part in parts {
      if case .not(let inner) = part {
        unwanted.append(try plan(inner))
        continue
      }
      let plan = try plan(part)
      if case .share = plan { shares.append(plan) } else { wanted.append(plan) }
    }
    return .all(of: wanted + shares, except: unwanted)
  }

  private mutating func named(_ name: AudienceName) throws(Index.Failure) -> AudiencePlan {
    switch try index.members(of: name) {
    case .devices(let devices) where !devices.isEmpty: return .devices(devices)
    case .set(let id, let shards) where !shards.isEmpty: return .set(id: id, shards: shards)
    case .nobody, .devices, .set: return missing(name.term)
    }
  }

  private mutating func having(_ condition: FactCondition) throws(Index.Failure) -> AudiencePlan {
    var plans: [AudiencePlan] = []
    for (value, set) in try index.values(of: condition.fact) where condition.holds(for: value) {
      plans.append(.set(id: set, shards: try index.shards(ofSet: set)))
    }
    return plans.isEmpty ? missing(.condition(condition.words)) : Self.union(plans)
  }

  /// Whole days by their sets; of a day that the range cuts, device by device.
  private func within(_ time: DeviceTime, _ comparison: TimeComparison) throws(Index.Failure) -> AudiencePlan {
    let (from, before) = comparison.range(at: now)
    var plans: [AudiencePlan] = []
    for (day, set) in try index.days(of: time) {
      let start = Instant(seconds: day * 86_400)
      let end = start + .days(1)
      if let from, end <= from { continue }
      if let before, start >= before { continue }
      let shards = try index.shards(ofSet: set)
      if from.map({ $0 <= start }) ?? true, before.map({ end <= $0 }) ?? true {
        plans.append(.set(id: set, shards: shards))
      } else {
        plans.append(.cutDay(set: set, shards: shards, time, from: from, before: before))
      }
    }
    return Self.union(plans)
  }

  private mutating func missing(_ term: AudienceTerm) -> AudiencePlan {
    if !unmatched.contains(term) { unmatched.append(term) }
    return .nobody
  }
}
