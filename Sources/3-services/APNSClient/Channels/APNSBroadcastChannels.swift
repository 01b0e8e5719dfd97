public import Delivery
public import PushPayload

/// `APNSChannels` as a push service sees it.
public struct APNSBroadcastChannels: BroadcastChannels {
  private let channels: APNSChannels

  public init(_ channels: APNSChannels) { self.channels = channels }

  public func createChannel(_ policy: ChannelStoragePolicy) async throws(BroadcastFault) -> String {
    do throws(ChannelFault) { return try await channels.createChannel(policy) } catch { throw BroadcastFault(error) }
  }

  public func channels() async throws(BroadcastFault) -> [String] {
    do throws(ChannelFault) { return try await channels.channels() } catch { throw BroadcastFault(error) }
  }

  public func channel(_ id: String) async throws(BroadcastFault) -> ChannelStoragePolicy {
    do throws(ChannelFault) { return try await channels.channel(id) } catch { throw BroadcastFault(error) }
  }

  public func deleteChannel(_ id: String) async throws(BroadcastFault) {
    do throws(ChannelFault) { try await channels.deleteChannel(id) } catch { throw BroadcastFault(error) }
  }

  public func send(_ broadcast: OutgoingBroadcast) async throws(BroadcastFault) {
    do throws(ChannelFault) { _ = try await channels.send(broadcast) } catch { throw BroadcastFault(error) }
  }
}

extension BroadcastFault {
  fileprivate init(_ fault: ChannelFault) {
    let kind: Kind =
      switch fault.cause {
      case .refused(let refusal):
        switch refusal.known {
        case .channelNotRegistered, .badChannelID: .noSuchChannel
        case _ where refusal.status >= 500 || refusal.status == 429: .unavailable
        case _ where refusal.status == 403: .held
        case _: .refused(refusal.reason)
        }
      case .findings, .notSent: .invalid
      case .suspended: .held
      case .unanswered, .malformedAnswer: .unavailable
      }
    self.init(kind, meaning: fault.meaning, remedy: fault.remedy)
  }
}
