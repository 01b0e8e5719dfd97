public import Basics
public import PushPayload

/// What follows from Apple's reasons for not taking a push. A reason that is not listed is kept as text in
/// `PushOutcome.Refusal` and handled by its status.
extension RefusalReason {
  /// What follows for the push and for the connection and credential that it went by.
  public enum Handling: Hashable, Sendable {
    /// The device token will not work again in this environment. The push ends.
    case dead
    /// The caller's mistake: the same push would be refused again. The push ends.
    case fix
    /// Later may help, on the same connection.
    case later
    /// The connection is ending; another takes the push at once.
    case elsewhere
    /// Later may help, on another connection.
    case laterElsewhere
    /// A younger provider token, on another connection, takes the push at once.
    case newToken
    /// The credential is refused: no push can pass until an operator acts, so pushes wait and no token is blamed (C26).
    case credential
  }

  public var handling: Handling { row.handling }

  /// What it means, a sentence.
  public var meaning: String { row.meaning }

  /// What to do, a sentence.
  public var remedy: String { row.remedy }

  /// Whether it speaks of the topic, or of what the account may do with it, rather than of one device: many in a row are
  /// one mistake (case C37).
  public var concernsTopic: Bool {
    switch self {
    case .badTopic, .deviceTokenNotForTopic, .missingTopic, .topicDisallowed, .forbidden, .topicMismatch,
      .featureNotEnabled:
      true
    case .badCollapseID, .badDeviceToken, .badExpirationDate, .badMessageID, .badPriority, .duplicateHeaders,
      .idleTimeout, .invalidPushType, .missingDeviceToken, .payloadEmpty, .badCertificate, .badCertificateEnvironment,
      .expiredProviderToken, .invalidProviderToken, .missingProviderToken, .unrelatedKeyIDInToken,
      .badEnvironmentKeyIDInToken, .badEnvironmentKeyInToken, .badPath, .methodNotAllowed, .expiredToken,
      .unregistered, .payloadTooLarge, .tooManyProviderTokenUpdates, .tooManyRequests, .internalServerError,
      .serviceUnavailable, .shutdown, .missingChannelID, .badChannelID, .channelNotRegistered, .badRequestParams,
      .badRequestPayload, .missingPushType, .cannotCreateChannelConfig, .missingChannelQueueSize:
      false
    }
  }

  /// The credential is good, but not in this environment.
  public var concernsEnvironment: Bool {
    self == .badEnvironmentKeyInToken || self == .badEnvironmentKeyIDInToken || self == .badCertificateEnvironment
  }

  private typealias Row = (handling: Handling, meaning: String, remedy: String)

  private var row: Row {
    switch self {
    case .badCollapseID:
      (.fix, "The collapse id is longer than 64 bytes.", "Shorten it; the limit counts bytes of UTF-8.")
    case .badDeviceToken:
      (
        .dead, "No device has this token in this environment.",
        "Check that a development build's token goes to the sandbox and any other to production, and that it is hex."
      )
    case .badExpirationDate:
      (.fix, "The expiration is not a whole number of seconds since 1970.", "Send seconds, or 0 for one attempt.")
    case .badMessageID:
      (.fix, "The apns-id is not a UUID.", "Send a lower-case UUID, or none.")
    case .badPriority:
      (.fix, "The priority is not 10, 5 or 1.", "Send 10 to deliver at once, 5 to spare the battery.")
    case .badTopic:
      (.fix, "The topic is not one that APNs knows.", "Send the app's bundle id; the suffix is added by itself.")
    case .deviceTokenNotForTopic:
      (
        .fix, "The token belongs to another app, or to another kind of push than this topic.",
        "Send each token with the bundle id of the app that registered it, and with its own push type."
      )
    case .duplicateHeaders:
      (.fix, "A header was there twice.", "Send each header once.")
    case .idleTimeout:
      (.elsewhere, "The connection was idle for too long.", "Nothing: another connection takes the push.")
    case .invalidPushType:
      (.fix, "APNs does not know the push type.", "Send one that the table of push types names.")
    case .missingDeviceToken:
      (.fix, "There was no device token.", "Send the token in the path.")
    case .missingTopic:
      (.fix, "There was no topic.", "Send the app's bundle id as topic.")
    case .payloadEmpty:
      (.fix, "The payload was empty or no JSON.", "Send a JSON object; belfry lint says what is wrong with it.")
    case .topicDisallowed:
      (
        .fix, "This key or certificate may not push to this topic.",
        "Check that the app belongs to the key's team and that the key is not limited to other topics."
      )
    case .badCertificate:
      (.credential, "APNs does not accept the certificate.", "Check that it is not revoked; make a new one.")
    case .badCertificateEnvironment:
      (
        .credential, "The certificate is for the other environment.",
        "Send to the environment that the certificate was made for."
      )
    case .expiredProviderToken:
      (
        .newToken, "The provider token is older than an hour.",
        "Check this machine's clock: a token is renewed long before that."
      )
    case .forbidden:
      (.fix, "APNs does not allow this.", "Check what the account and the key may do; trying again does not help.")
    case .invalidProviderToken:
      (
        .credential, "APNs does not accept the provider token.",
        "Check that key id, team id and .p8 file belong together and that the key is not revoked."
      )
    case .missingProviderToken:
      (.credential, "APNs saw neither certificate nor provider token.", "Configure a .p8 key or a certificate.")
    case .unrelatedKeyIDInToken:
      (
        .elsewhere, "The connection was opened with a key that is not related to this one.",
        "Nothing: another connection takes the push."
      )
    case .badEnvironmentKeyIDInToken, .badEnvironmentKeyInToken:
      (
        .credential, "The key is limited to the other environment.",
        "Use a key of this environment, or send to the other one."
      )
    case .badPath:
      (.fix, "The path is not of a form that APNs knows.", "Check the endpoint.")
    case .methodNotAllowed:
      (.fix, "The request was not a POST.", "Check what stands between this machine and APNs.")
    case .expiredToken:
      (.dead, "The token's life is over.", "Remove the token; the app registers a new one when it next runs.")
    case .unregistered:
      (
        .dead, "The app no longer takes pushes under this token.",
        "Remove the token, unless the app has registered it again since."
      )
    case .payloadTooLarge:
      (
        .fix, "The payload is over the limit of 4096 bytes, 5120 for VoIP.",
        "Shorten it; belfry lint says by how much."
      )
    case .tooManyProviderTokenUpdates:
      (
        .laterElsewhere, "Provider tokens were renewed more than once in 20 minutes on a connection.",
        "Keep one token for each key, at least 20 minutes."
      )
    case .tooManyRequests:
      (.later, "Too many pushes in a row to this device.", "Send less often, or one push that says it all.")
    case .internalServerError:
      (.later, "APNs had a fault of its own.", "Try again later.")
    case .serviceUnavailable:
      (.later, "APNs is overloaded.", "Try again later.")
    case .shutdown:
      (.elsewhere, "This server of APNs is closing.", "Nothing: another connection takes the push.")
    case .featureNotEnabled:
      (
        .fix, "Broadcasts are not switched on for this app.",
        "Switch on Broadcast Capability for the App ID on Apple's developer site."
      )
    case .missingChannelID:
      (.fix, "There was no channel id.", "Send it in the header apns-channel-id.")
    case .badChannelID:
      (.fix, "The channel id is no base64, or too long.", "Send it as APNs gave it when the channel was made.")
    case .channelNotRegistered:
      (
        .fix, "There is no such channel for this app in this environment.",
        "List the app's channels; one that was deleted never comes back, and each environment has its own."
      )
    case .badRequestParams:
      (
        .fix, "The request names something that APNs does not know.",
        "Send message-storage-policy and push-type, and nothing else."
      )
    case .badRequestPayload:
      (.fix, "The body is no JSON object.", "Send a JSON object; belfry lint says what is wrong with it.")
    case .missingPushType:
      (.fix, "There was no push type.", "Send LiveActivity: nothing else can be broadcast.")
    case .cannotCreateChannelConfig:
      (
        .fix, "The app has as many channels as it may have in an environment, 10,000.",
        "Delete the channels of events that are over."
      )
    case .missingChannelQueueSize:
      (
        .fix, "The storage policy is absent or none.",
        "Send message-storage-policy 0 to store nothing, 1 to store the newest message."
      )
    case .topicMismatch:
      (
        .fix, "The app in the path is not one that this key or certificate is for.",
        "Check the bundle id, that the app belongs to the key's team, and that the key is not limited to other topics."
      )
    }
  }
}

extension PushOutcome.Refusal {
  /// Apple's reason, nil for one that we do not know.
  public var known: RefusalReason? { RefusalReason(rawValue: reason) }

  /// What follows; for an unknown reason by the status: 410 is about the token, 429 and 5xx pass, any other is ours.
  public var handling: RefusalReason.Handling {
    if let known { return known.handling }
    return switch status {
    case 410: .dead
    case 408, 429, 500...: .later
    default: .fix
    }
  }

  /// Whether the token is to be retired, by evidence: BadDeviceToken, or a 410 that is not older than the registration
  /// (Apple, "Handling notification responses from APNs": an app may have registered the same token again since).
  /// A 410 without timestamp speaks of now.
  public func retires(tokenRegisteredAt registration: Instant) -> Bool {
    guard handling == .dead else { return false }
    return since.map { $0 >= registration } ?? true
  }
}
