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

  public func send(
    _ push: LiveActivityPush, on channel: String, priority: PushPriority, expiration: Int64
  ) async throws(BroadcastFault) -> String {
    do throws(ChannelFault) {
      return try await channels.broadcast(push, on: channel, priority: priority, expiration: expiration).requestID
    } catch {
      throw BroadcastFault(error)
    }
  }
}

extension BroadcastFault {
  fileprivate init(_ fault: ChannelFault) {
    let kind: Kind =
      switch fault.cause {
      case .refused(let refusal):
        switch refusal.known {
        case .channelNotRegistered, .badChannelID: .noSuchChannel
        case _ where refusal.status >= 500 || refusal.status == 429 || refusal.status == 403: .unavailable
        case _: .refused(refusal.reason)
        }
      case .findings, .notSent: .invalid
      case .suspended, .unanswered, .malformedAnswer: .unavailable
      }
    self.init(kind, meaning: fault.meaning, remedy: fault.remedy)
  }
}
