/// One piece of work: the devices of one shard that one push still owes.
public struct ShardWork: Hashable, Sendable {
  public var app: Int64
  public var push: Int64
  public var shard: UInt16
  public init(app: Int64, push: Int64, shard: UInt16) {
    self.app = app
    self.push = push
    self.shard = shard
  }
}

/// How work reaches senders.
public protocol Bus: Sendable {}
