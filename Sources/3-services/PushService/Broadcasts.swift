import Audience
import Basics
import Delivery
public import PushPayload
import Store

/// A broadcast channel, to which Live Activities listen (iOS 18).
public struct BroadcastChannelView: Sendable, Equatable {
  public var id: String
  public var storage: ChannelStoragePolicy
}

/// APNs keeps the channels; nothing of them is stored here. A broadcast is one send, answered when APNs has taken it.
extension PushService {
  /// How long the newest message may wait at APNs for phones that are away (Apple, "Setting up broadcast push notifications").
  private static let longestStorage: Int64 = 8 * 3600

  public func createChannel(
    _ app: AppRecord, _ storage: ChannelStoragePolicy, production: Bool
  ) async throws(RequestFault) -> BroadcastChannelView {
    let id = try await broadcasting(app, production) { channels throws(BroadcastFault) in
      try await channels.createChannel(storage)
    }
    policies.withLock { $0[id] = storage }
    await keep(note(.channelMade, app, id))
    return BroadcastChannelView(id: id, storage: storage)
  }

  /// Ids in the order of their bytes, those after the given one; at most `limit`.
  public func channels(
    _ app: AppRecord, production: Bool, after: String?, limit: Int
  ) async throws(RequestFault) -> [String] {
    let all = try await broadcasting(app, production) { channels throws(BroadcastFault) in
      try await channels.channels()
    }
    return Array(all.sorted().drop { id in after.map { id <= $0 } ?? false }.prefix(limit))
  }

  public func channel(
    _ app: AppRecord, id: String, production: Bool
  ) async throws(RequestFault) -> BroadcastChannelView {
    let storage = try await broadcasting(app, production) { channels throws(BroadcastFault) in
      try await channels.channel(id)
    }
    return BroadcastChannelView(id: id, storage: storage)
  }

  public func deleteChannel(_ app: AppRecord, id: String, production: Bool) async throws(RequestFault) {
    try await broadcasting(app, production) { channels throws(BroadcastFault) in try await channels.deleteChannel(id) }
    policies.withLock { _ = $0.removeValue(forKey: id) }
    await keep(note(.channelDeleted, app, id))
  }

  /// An update or an end to everybody who listens; answers APNs' request id. `timeToLive` in seconds; nil: as long as the
  /// channel keeps a message.
  public func broadcast(
    _ app: AppRecord, _ content: LiveActivityContent, on channel: String, timeToLive: Int64?, production: Bool
  ) async throws(RequestFault) -> String {
    let now = clock.now
    var push = content.push
    push.timestamp = now
    let seconds: Int64
    if let timeToLive {
      seconds = timeToLive
    } else {
      seconds = try await policy(app, channel, production) == .newest ? Self.longestStorage : 0
    }
    let request = try await broadcasting(app, production) { [push] channels throws(BroadcastFault) in
      try await channels.send(
        push, on: channel, priority: content.priority, expiration: seconds == 0 ? 0 : max(0, now.seconds) + seconds)
    }
    await keep(note(.channelSent, app, channel, content.words))
    return request
  }

  /// A channel's never changes.
  private func policy(
    _ app: AppRecord, _ channel: String, _ production: Bool
  ) async throws(RequestFault) -> ChannelStoragePolicy {
    if let known = policies.withLock({ $0[channel] }) { return known }
    let policy = try await self.channel(app, id: channel, production: production).storage
    policies.withLock { $0[channel] = policy }
    return policy
  }

  private func broadcasting<Value: Sendable>(
    _ app: AppRecord, _ production: Bool, _ body: (any BroadcastChannels) async throws(BroadcastFault) -> Value
  ) async throws(RequestFault) -> Value {
    guard let channels = await broadcasts(app, production ? .production : .sandbox) else {
      throw RequestFault(
        .temporarilyUnavailable, found: "no credential, or no channel management of APNs, is known for this app",
        remedy: "Give the service a token key for the app, and apnsManage where apns is a simulator elsewhere.")
    }
    do throws(BroadcastFault) { return try await body(channels) } catch { throw RequestFault(error) }
  }
}

extension RequestFault {
  fileprivate init(_ fault: BroadcastFault) {
    let code: Code =
      switch fault.kind {
      case .noSuchChannel: .noSuchResource
      case .invalid: .invalidParameter
      case .refused: .conflict
      case .unavailable: .temporarilyUnavailable
      }
    let word = if case .refused(let reason) = fault.kind { "APNs says \(reason): " } else { "" }
    let meaning = fault.meaning.hasSuffix(".") ? String(fault.meaning.dropLast()) : fault.meaning
    self.init(code, found: word + meaning, remedy: fault.remedy)
  }
}
