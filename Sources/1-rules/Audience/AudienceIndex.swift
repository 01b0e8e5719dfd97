public import Basics

/// What of an audience may match nobody at all: a name, or a condition on a fact.
public enum AudienceTerm: Hashable, Sendable {
  case tag(String)
  case alias(String)
  case registrationID(String)
  case segment(String)
  /// By its id.
  case file(String)
  case variant(test: String, name: String)
  case holds(TokenPurpose)
  /// In words: `app version at least 9`.
  case condition(String)

  public var name: String {
    switch self {
    case .tag(let name), .alias(let name), .registrationID(let name), .segment(let name), .file(let name),
      .condition(let name):
      name
    case .variant(let test, let name): "\(test):\(name)"
    case .holds(let purpose): purpose.words
    }
  }
}

/// A term that an index looks up by its name.
public enum AudienceName: Hashable, Sendable {
  case tag(String)
  case alias(String)
  case registrationID(String)
  case file(String)
  case holds(TokenPurpose)

  var term: AudienceTerm {
    switch self {
    case .tag(let name): .tag(name)
    case .alias(let name): .alias(name)
    case .registrationID(let name): .registrationID(name)
    case .file(let id): .file(id)
    case .holds(let purpose): .holds(purpose)
    }
  }
}

/// What an index knows of a name's devices before it has read them.
public enum TermMembers: Sendable {
  case nobody
  /// All of them, since they are few.
  case devices(DeviceSet)
  /// A set of the index's own that is read shard by shard; `shards` hold at least one each, in growing order.
  case set(id: Int64, shards: [ShardIndex])
}

/// Which of a device's times is asked for.
public enum DeviceTime: Hashable, Sendable {
  case created
  case lastSeen
}

/// The devices of one app, as an engine keeps them. One evaluation sees one state of it throughout.
public protocol AudienceIndex<Failure> {
  associatedtype Failure: Error

  /// Shards 0 ..< shardCount hold devices.
  var shardCount: Int { get }

  func members(of name: AudienceName) throws(Failure) -> TermMembers

  /// The part of a `TermMembers.set` that lies in the shard.
  func members(ofSet id: Int64, in shard: ShardIndex) throws(Failure) -> DeviceSet

  /// The shards in which a set has somebody, in growing order.
  func shards(ofSet id: Int64) throws(Failure) -> [ShardIndex]

  /// The values of a fact that devices have, each with the set of them.
  func values(of fact: DeviceFact) throws(Failure) -> [(value: String, set: Int64)]

  /// The days (since 1970, in UTC) in which such times lie, each with the set of the devices whose time it is.
  func days(of time: DeviceTime) throws(Failure) -> [(day: Int64, set: Int64)]

  /// Those of `devices`, all of the shard, whose time is `from` or later and before `before`.
  func devices(
    among devices: DeviceSet, in shard: ShardIndex, _ time: DeviceTime, from: Instant?, before: Instant?
  ) throws(Failure) -> DeviceSet

  /// Everyone registered, whatever became of their tokens.
  func everyone(in shard: ShardIndex) throws(Failure) -> DeviceSet

  /// Those whose token is dead.
  func dead(in shard: ShardIndex) throws(Failure) -> DeviceSet

  /// Those whose token is of the environment, dead or alive.
  func devices(of environment: APNSEnvironment, in shard: ShardIndex) throws(Failure) -> DeviceSet
}
