import Basics
public import Delivery
public import PushPayload

/// Broadcast channels that nobody listens to: kept in memory, with what was sent to each.
public final class MemoryChannels: BroadcastChannels {
  private struct State {
    var policies: [String: ChannelStoragePolicy] = [:]
    var made = 0
    var refusal: BroadcastFault?
  }

  public let sent = Recorder<OutgoingBroadcast>()
  private let state = Locked(State())

  public init() {}

  /// What everything is answered from here on; nil: what Apple's pages say.
  public func refuse(_ fault: BroadcastFault?) { state.withLock { $0.refusal = fault } }

  public func createChannel(_ policy: ChannelStoragePolicy) async throws(BroadcastFault) -> String {
    try check()
    return state.withLock { state in
      state.made += 1
      // with the characters that a path cannot have
      let id = (Array("?>\(state.made)".utf8) + [0xFB]).base64
      state.policies[id] = policy
      return id
    }
  }

  public func channels() async throws(BroadcastFault) -> [String] {
    try check()
    return state.withLock { Array($0.policies.keys) }
  }

  public func channel(_ id: String) async throws(BroadcastFault) -> ChannelStoragePolicy {
    try check()
    guard let policy = state.withLock({ $0.policies[id] }) else { throw Self.unknown }
    return policy
  }

  public func deleteChannel(_ id: String) async throws(BroadcastFault) {
    _ = try await channel(id)
    state.withLock { $0.policies[id] = nil }
  }

  public func send(_ broadcast: OutgoingBroadcast) async throws(BroadcastFault) {
    guard try await channel(broadcast.channel) == .newest || broadcast.expiration == 0 else {
      throw BroadcastFault(.refused("BadExpirationDate"), meaning: "The channel keeps nothing.", remedy: "Give 0.")
    }
    sent.record(broadcast)
  }

  private func check() throws(BroadcastFault) {
    if let refusal = state.withLock({ $0.refusal }) { throw refusal }
  }

  private static let unknown = BroadcastFault(
    .noSuchChannel, meaning: "APNs has no such channel.", remedy: "List the app's channels.")
}
