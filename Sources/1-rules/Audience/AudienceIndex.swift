/// A name in an audience.
public enum AudienceTerm: Hashable, Sendable {
  case tag(String)
  case alias(String)
  case registrationID(String)

  public var name: String {
    switch self {
    case .tag(let name), .alias(let name), .registrationID(let name): name
    }
  }
}

/// What an index knows of a term's devices before it has read them.
public enum TermMembers: Sendable {
  case nobody
  /// All of them, since they are few.
  case devices(DeviceSet)
  /// A set of the index's own that is read shard by shard; `shards` hold at least one each, in growing order.
  case set(id: Int64, shards: [ShardIndex])
}

/// The devices of one app, as an engine keeps them. One evaluation sees one state of it throughout.
public protocol AudienceIndex<Failure> {
  associatedtype Failure: Error

  /// Shards 0 ..< shardCount hold devices.
  var shardCount: Int { get }

  func members(of term: AudienceTerm) throws(Failure) -> TermMembers

  /// The part of a `TermMembers.set` that lies in the shard.
  func members(ofSet id: Int64, in shard: ShardIndex) throws(Failure) -> DeviceSet

  /// Everyone registered, whatever became of their tokens.
  func everyone(in shard: ShardIndex) throws(Failure) -> DeviceSet

  /// Those whose token is dead.
  func dead(in shard: ShardIndex) throws(Failure) -> DeviceSet

  /// Those whose token is of the environment, dead or alive.
  func devices(of environment: APNSEnvironment, in shard: ShardIndex) throws(Failure) -> DeviceSet
}
