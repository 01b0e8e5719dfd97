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

/// APNs keeps the channels; nothing of them is stored here. What is sent to one is a push as others.
extension PushService {
  public func createChannel(
    _ app: AppRecord, _ storage: ChannelStoragePolicy, production: Bool
  ) async throws(RequestFault) -> BroadcastChannelView {
    let id = try await broadcasting(app, production) { channels throws(BroadcastFault) in
      try await channels.createChannel(storage)
    }
    broadcasts.note(storage, of: id)
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
    broadcasts.note(nil, of: id)
    await keep(note(.channelDeleted, app, id))
  }

  private func broadcasting<Value: Sendable>(
    _ app: AppRecord, _ production: Bool, _ body: (any BroadcastChannels) async throws(BroadcastFault) -> Value
  ) async throws(RequestFault) -> Value {
    guard let channels = await broadcasts.channels(app, production ? .production : .sandbox) else {
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
      case .unavailable, .held: .temporarilyUnavailable
      }
    let word = if case .refused(let reason) = fault.kind { "APNs says \(reason): " } else { "" }
    let meaning = fault.meaning.hasSuffix(".") ? String(fault.meaning.dropLast()) : fault.meaning
    self.init(code, found: word + meaning, remedy: fault.remedy)
  }
}
