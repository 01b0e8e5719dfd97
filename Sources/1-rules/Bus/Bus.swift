public import Basics

/// One piece of work: the devices of one shard that one push still owes.
public struct ShardWork: Hashable, Sendable {
  public var app: Int64
  public var push: Int64
  public var shard: UInt16
  /// How many devices are owed, as far as the publisher knew; decides the lane and nothing else.
  public var devices: UInt32

  public init(app: Int64, push: Int64, shard: UInt16, devices: UInt32) {
    self.app = app
    self.push = push
    self.shard = shard
    self.devices = devices
  }

  /// What makes two pieces of work the same.
  public struct ID: Hashable, Sendable {
    public var push: Int64
    public var shard: UInt16
  }

  public var id: ID { ID(push: push, shard: shard) }

  /// A push to one person must not wait behind a broadcast.
  public enum Lane: CaseIterable, Sendable {
    case small
    case large
  }

  public static let smallLimit: UInt32 = 64

  public var lane: Lane { devices <= Self.smallLimit ? .small : .large }
}

/// Brings work from planners to senders. The store is the truth: work that a bus loses or refuses is found there again
/// (`Store.unfinished`), so a bus may live in memory and may be full.
///
/// What an engine owes:
/// - Work is delivered to one subscriber at a time, at least once, until it is acknowledged. Within a lane the order is
///   that of publishing, roughly.
/// - Work that a subscriber holds when it closes, or when its machine dies, is delivered again.
/// - Publishing what is already known (waiting, delayed or being worked on) changes nothing.
/// - Memory is bounded; what does not fit is refused, not buffered.
public protocol Bus: Sendable {
  /// How many of `work` were taken, counted from the front; the rest is to be published again later.
  func publish(_ work: [ShardWork]) async -> Int

  func subscribe() -> any BusSubscription

  /// Work that is to be delivered again later is delivered now: what it waited for may be there.
  func hurry() async
}

/// When work is to be delivered again.
public enum Turn: Sendable, Hashable {
  /// Once so much time has passed, by a clock that nobody sets; `.milliseconds(0)` puts it at the end.
  case after(Instant.Span)
  /// When the time of day is this: at most a second later also where the clock was set or the machine was suspended. Where
  /// it was set back, no later than it would have been otherwise.
  case at(Instant)
}

/// One sender's end of a bus. May be used by many tasks at once.
public protocol BusSubscription: Sendable {
  /// Waits for work of the lane. nil when the subscription is closed or the task cancelled, and then for good.
  func next(_ lane: ShardWork.Lane) async -> ShardWork?

  /// The work is done.
  func acknowledge(_ work: ShardWork) async

  /// The work is to be delivered again, to whomever, when its turn has come.
  func retry(_ work: ShardWork, _ turn: Turn) async

  /// Ends all `next` with nil and gives back what was neither acknowledged nor retried.
  func close() async
}
