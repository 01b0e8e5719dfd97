/// Apple's reasons for not taking a push to a device ("Handling notification responses from APNs") or a request about
/// broadcast channels ("Handling error responses from Apple Push Notification service" of the broadcast pages), each with
/// its one HTTP status. A reason that is not listed here may come all the same; it travels as text.
public enum RefusalReason: String, CaseIterable, Sendable {
  case badCollapseID = "BadCollapseId"
  case badDeviceToken = "BadDeviceToken"
  case badExpirationDate = "BadExpirationDate"
  case badMessageID = "BadMessageId"
  case badPriority = "BadPriority"
  case badTopic = "BadTopic"
  case deviceTokenNotForTopic = "DeviceTokenNotForTopic"
  case duplicateHeaders = "DuplicateHeaders"
  case idleTimeout = "IdleTimeout"
  case invalidPushType = "InvalidPushType"
  case missingDeviceToken = "MissingDeviceToken"
  case missingTopic = "MissingTopic"
  case payloadEmpty = "PayloadEmpty"
  case topicDisallowed = "TopicDisallowed"
  case badCertificate = "BadCertificate"
  case badCertificateEnvironment = "BadCertificateEnvironment"
  case expiredProviderToken = "ExpiredProviderToken"
  case forbidden = "Forbidden"
  case invalidProviderToken = "InvalidProviderToken"
  case missingProviderToken = "MissingProviderToken"
  case unrelatedKeyIDInToken = "UnrelatedKeyIdInToken"
  /// As documented.
  case badEnvironmentKeyIDInToken = "BadEnvironmentKeyIdInToken"
  /// As seen on the wire.
  case badEnvironmentKeyInToken = "BadEnvironmentKeyInToken"
  case badPath = "BadPath"
  case methodNotAllowed = "MethodNotAllowed"
  case expiredToken = "ExpiredToken"
  case unregistered = "Unregistered"
  case payloadTooLarge = "PayloadTooLarge"
  case tooManyProviderTokenUpdates = "TooManyProviderTokenUpdates"
  case tooManyRequests = "TooManyRequests"
  case internalServerError = "InternalServerError"
  case serviceUnavailable = "ServiceUnavailable"
  case shutdown = "Shutdown"
  // Only of channels and broadcasts (spec apns.md §13.3)
  case featureNotEnabled = "FeatureNotEnabled"
  case missingChannelID = "MissingChannelId"
  case badChannelID = "BadChannelId"
  case channelNotRegistered = "ChannelNotRegistered"
  case badRequestParams = "BadRequestParams"
  case badRequestPayload = "BadRequestPayload"
  case missingPushType = "MissingPushType"
  case cannotCreateChannelConfig = "CannotCreateChannelConfig"
  /// Not on Apple's pages; reported when the storage policy is absent or no policy.
  case missingChannelQueueSize = "MissingChannelQueueSize"
  case topicMismatch = "TopicMismatch"

  public var status: Int {
    switch self {
    case .badCollapseID, .badDeviceToken, .badExpirationDate, .badMessageID, .badPriority, .badTopic,
      .deviceTokenNotForTopic, .duplicateHeaders, .idleTimeout, .invalidPushType, .missingDeviceToken, .missingTopic,
      .payloadEmpty, .topicDisallowed, .featureNotEnabled, .missingChannelID, .badChannelID, .channelNotRegistered,
      .badRequestParams, .badRequestPayload, .missingPushType, .cannotCreateChannelConfig, .missingChannelQueueSize:
      400
    case .badCertificate, .badCertificateEnvironment, .expiredProviderToken, .forbidden, .invalidProviderToken,
      .missingProviderToken, .unrelatedKeyIDInToken, .badEnvironmentKeyIDInToken, .badEnvironmentKeyInToken,
      .topicMismatch:
      403
    case .badPath: 404
    case .methodNotAllowed: 405
    case .expiredToken, .unregistered: 410
    case .payloadTooLarge: 413
    case .tooManyProviderTokenUpdates, .tooManyRequests: 429
    case .internalServerError: 500
    case .serviceUnavailable, .shutdown: 503
    }
  }

  /// Whether a push to a device token can meet it (spec apns.md §8.2).
  public var isOfDevicePushes: Bool {
    switch self {
    case .featureNotEnabled, .missingChannelID, .badChannelID, .channelNotRegistered, .badRequestParams,
      .badRequestPayload, .missingPushType, .cannotCreateChannelConfig, .missingChannelQueueSize, .topicMismatch:
      false
    case .badCollapseID, .badDeviceToken, .badExpirationDate, .badMessageID, .badPriority, .badTopic,
      .deviceTokenNotForTopic, .duplicateHeaders, .idleTimeout, .invalidPushType, .missingDeviceToken, .missingTopic,
      .payloadEmpty, .topicDisallowed, .badCertificate, .badCertificateEnvironment, .expiredProviderToken, .forbidden,
      .invalidProviderToken, .missingProviderToken, .unrelatedKeyIDInToken, .badEnvironmentKeyIDInToken,
      .badEnvironmentKeyInToken, .badPath, .methodNotAllowed, .expiredToken, .unregistered, .payloadTooLarge,
      .tooManyProviderTokenUpdates, .tooManyRequests, .internalServerError, .serviceUnavailable, .shutdown:
      true
    }
  }

  /// Whether a broadcast, or a request to make, read, list or delete channels, can meet it (spec apns.md §13.3).
  public var isOfChannels: Bool {
    switch self {
    case .featureNotEnabled, .missingChannelID, .badChannelID, .channelNotRegistered, .badRequestParams,
      .badRequestPayload, .missingPushType, .cannotCreateChannelConfig, .missingChannelQueueSize, .topicMismatch,
      .payloadEmpty, .badMessageID, .badExpirationDate, .badPriority, .invalidPushType, .topicDisallowed,
      .badCertificate, .badCertificateEnvironment, .missingProviderToken, .expiredProviderToken,
      .invalidProviderToken, .badPath, .methodNotAllowed, .payloadTooLarge, .tooManyRequests,
      .tooManyProviderTokenUpdates, .internalServerError, .serviceUnavailable, .shutdown:
      true
    case .badCollapseID, .badDeviceToken, .badTopic, .deviceTokenNotForTopic, .duplicateHeaders, .idleTimeout,
      .missingDeviceToken, .missingTopic, .forbidden, .unrelatedKeyIDInToken, .badEnvironmentKeyIDInToken,
      .badEnvironmentKeyInToken, .expiredToken, .unregistered:
      false
    }
  }
}
