public import Basics

/// Whom a push reaches: an audience evaluated at one moment, exact.
public struct AudienceReach: Sendable, Equatable {
  /// Those to send to: meant, alive, of the push's environment. No empty shard; in growing order.
  public var targets: [ShardAudience] = []
  /// All who are meant, whatever became of their tokens: whom an in-app message is for. Likewise.
  public var meant: [ShardAudience] = []
  /// Meant and alive, but of the other environment.
  public var wrongEnvironment = 0
  /// Meant, but their token is dead.
  public var dead = 0
  /// What matches nobody at all, in the order of the expression (case C29).
  public var unmatched: [AudienceTerm] = []

  public struct ShardAudience: Sendable, Equatable {
    public var shard: ShardIndex
    public var devices: DeviceSet
    public init(shard: ShardIndex, devices: DeviceSet) {
      self.shard = shard
      self.devices = devices
    }
  }

  public var count: Int { targets.reduce(0) { $0 + $1.devices.count } }

  public init() {}
}

extension AudienceExpression {
  /// Evaluates against an index, one shard at a time, so that memory does not grow with the number of devices.
  /// Shards that cannot hold anybody meant are not read.
  public func reach<Index: AudienceIndex>(
    _ environment: APNSEnvironment, in index: Index, at now: Instant
  ) throws(Index.Failure) -> AudienceReach {
    var reach = AudienceReach()
    var planner = AudiencePlanner(index: index, now: now)
    let plan = try planner.plan(self)
    reach.unmatched = planner.unmatched
    for shard in plan.shards(of: index.shardCount) {
      var meant = try plan.evaluate(in: shard, of: index)
      if meant.isEmpty { continue }
      reach.meant.append(.init(shard: shard, devices: meant))
      let dead = try index.dead(in: shard)
      reach.dead += meant.intersectionCount(dead)
      meant.subtract(dead)
      let alive = meant.count
      meant.formIntersection(try index.devices(of: environment, in: shard))
      let targets = meant.count
      reach.wrongEnvironment += alive - targets
      if targets > 0 { reach.targets.append(.init(shard: shard, devices: meant)) }
    }
    return reach
  }

  /// Up to `limit` of those meant, after the given one, in the order of their ordinals, whatever became of their tokens.
  public func ordinals<Index: AudienceIndex>(
    in index: Index, at now: Instant, after last: DeviceOrdinal?, limit: Int
  ) throws(Index.Failure) -> [DeviceOrdinal] {
    var found: [DeviceOrdinal] = []
    var planner = AudiencePlanner(index: index, now: now)
    let plan = try planner.plan(self)
    for shard in plan.shards(of: index.shardCount) {
      if let last, shard < last.shard { continue }
      let meant = try plan.evaluate(in: shard, of: index)
      found += meant.ordinals(after: last, limit: limit - found.count)
      if found.count >= limit { break }
    }
    return found
  }
}
