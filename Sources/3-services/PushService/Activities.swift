import Audience
import Store

/// A Live Activity that runs on devices, as far as they have told.
public struct ActivityView: Sendable, Equatable {
  /// The app's own.
  public var id: String
  /// How many have told an update token for it that lives.
  public var devices: Int
}

extension PushService {
  /// In the order of their ids, those after the given one; at most `limit`.
  public func activities(
    _ app: AppRecord, after: String?, limit: Int
  ) async throws(RequestFault) -> [ActivityView] {
    try await faulting(
      as: .push,
      await store.tokenNames(app: app.id, like: .activity(id: ""), after: after, limit: limit)
        .map { ActivityView(id: $0.name, devices: $0.devices) })
  }
}
