import Audience
import Basics
import Delivery
import PushPayload
import Store

/// The way to the broadcast channels of apps: APNs keeps them, and nothing of them is stored here.
final class BroadcastSender: Sendable {
  /// How long the newest message may wait at APNs for phones that are away, in seconds (Apple, "Setting up broadcast push
  /// notifications").
  static let longestStorage: Int64 = 8 * 3600

  private let way: PushService.Broadcasts
  /// Of channels that were asked for: they never change.
  private let policies = Locked<[String: ChannelStoragePolicy]>([:])

  init(_ channels: @escaping PushService.Broadcasts) { way = channels }

  enum Answer {
    case ended(OutcomeKind, note: String?)
    /// An operator must act.
    case held(String)
    /// Later it may be another.
    case unavailable
  }

  /// nil: no credential is for the app there, or it is not known where its channels are managed.
  func channels(_ app: AppRecord, _ environment: APNSEnvironment) async -> (any BroadcastChannels)? {
    await way(app, environment)
  }

  func note(_ policy: ChannelStoragePolicy?, of channel: String) { policies.withLock { $0[channel] = policy } }

  func send(_ push: StoredPush, on channel: String, of app: AppRecord, at now: Instant) async -> Answer {
    guard let channels = await channels(app, push.environment) else {
      return .held("no credential, or no channel management of APNs, is known for \(push.environment)")
    }
    do throws(BroadcastFault) {
      try await channels.send(
        OutgoingBroadcast(
          id: Self.requestID(of: push.id), channel: channel,
          priority: PushPriority(rawValue: push.priority) ?? .immediate,
          expiration: try await expiration(of: push, on: channel, channels, at: now), payload: push.payload))
      return .ended(.accepted, note: nil)
    } catch {
      switch error.kind {
      case .noSuchChannel: return .ended(.refused(RefusalReason.channelNotRegistered.rawValue), note: error.meaning)
      case .refused(let reason): return .ended(.refused(reason), note: error.meaning)
      case .invalid: return .ended(.skipped, note: error.meaning)
      case .held: return .held(error.meaning)
      case .unavailable: return .unavailable
      }
    }
  }

  /// `apns-request-id`, the same however often it is tried.
  static func requestID(of message: Int64) -> String {
    PushIdentity.apnsID(message: message, device: PushAddress.channelRecipient).text
  }

  /// Without a word of its own as long as the channel keeps a message.
  private func expiration(
    of push: StoredPush, on channel: String, _ channels: any BroadcastChannels, at now: Instant
  ) async throws(BroadcastFault) -> Int64 {
    if let told = push.expiration { return told }
    var policy = policies.withLock { $0[channel] }
    if policy == nil {
      policy = try await channels.channel(channel)
      note(policy, of: channel)
    }
    return policy == .newest ? max(0, now.seconds) + Self.longestStorage : 0
  }
}
