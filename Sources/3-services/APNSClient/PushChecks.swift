public import Basics
public import Delivery
public import PushPayload

/// What is known of a push before it is sent. Two voices: what APNs is certain to refuse is refused here, unsent, with
/// Apple's reason and the lint's sentence; everything else that the lint has to say are findings, for people, and does not
/// stop the push, since APNs checks little of a body and knows more than we do.
extension OutgoingPush {
  /// The headers as they will be sent.
  public var headers: PushHeaders {
    PushHeaders(
      id: id, topic: topic.isEmpty ? "" : pushType.completed(topic: topic), pushType: pushType.rawValue,
      priority: String(priority.rawValue), expiration: expiration.map { String($0) }, collapseID: collapseID)
  }

  /// What the lint says of payload and headers together, errors first: for people, before sending.
  public func findings(at now: Instant) -> [Finding] {
    var context = LintContext()
    context.headers = headers
    context.headersAreComplete = true
    context.now = now
    let findings = Lint.check(payload, context)
    return findings.filter { $0.severity == .error } + findings.filter { $0.severity != .error }
  }

  /// The refusal that APNs is certain to answer with, nil if it may take the push. Such a push is not sent, since
  /// refusals make APNs narrow the connection for all others (spec apns.md §2.1). Constant time, no allocation; agrees
  /// with `headers.faults()`, which `PushChecksTests` holds it to.
  var certainRefusal: RefusalReason? {
    if payload.isEmpty { return .payloadEmpty }
    if payload.count > pushType.sizeLimit { return .payloadTooLarge }
    if token.isEmpty { return .missingDeviceToken }
    if token.count > DeviceTokenText.lengths.upperBound { return .badDeviceToken }
    if !UUIDText.isCanonical(id.utf8) { return .badMessageID }
    return PushBatch.Shared(
      topic: topic, pushType: pushType, priority: priority, expiration: expiration, collapseID: collapseID
    ).certainRefusal
  }

  /// What APNs would have answered, with what is wrong and what to do.
  func refusedUnsent(_ reason: RefusalReason) -> PushOutcome {
    .refused(
      PushOutcome.Refusal(
        status: reason.status, reason: reason.rawValue, since: nil, explanation: explanation(of: reason)))
  }

  private func explanation(of reason: RefusalReason) -> String {
    if let fault = headers.faults().first(where: { $0.reason == reason }) { return sentences(fault.found, fault.fix) }
    switch reason {
    case .payloadEmpty:
      return sentences("the payload is empty", "Send a JSON object, {} at least.")
    case .payloadTooLarge:
      let limit = pushType.sizeLimit
      return sentences(
        "the payload has \(payload.count) bytes of UTF-8, \(payload.count - limit) more than the \(limit) of a "
          + "\(pushType.rawValue) push", "Shorten it; belfry lint says what takes the room.")
    case .badDeviceToken:
      return sentences(
        "the device token has \(token.count) bytes, more than any that Apple announced "
          + "(\(DeviceTokenText.lengths.upperBound))", "Send the bytes that the app got, once.")
    case .badCollapseID:
      return sentences("apns-collapse-id holds a control character", "Send text that a header may hold.")
    case .badExpirationDate, .badMessageID, .badPriority, .badTopic, .deviceTokenNotForTopic, .duplicateHeaders,
      .idleTimeout, .invalidPushType, .missingDeviceToken, .missingTopic, .topicDisallowed, .badCertificate,
      .badCertificateEnvironment, .expiredProviderToken, .forbidden, .invalidProviderToken, .missingProviderToken,
      .unrelatedKeyIDInToken, .badEnvironmentKeyIDInToken, .badEnvironmentKeyInToken, .badPath, .methodNotAllowed,
      .expiredToken, .unregistered, .tooManyProviderTokenUpdates, .tooManyRequests, .internalServerError,
      .serviceUnavailable, .shutdown, .featureNotEnabled, .missingChannelID, .badChannelID, .channelNotRegistered,
      .badRequestParams, .badRequestPayload, .missingPushType, .cannotCreateChannelConfig, .missingChannelQueueSize,
      .topicMismatch:
      return "\(reason.meaning) \(reason.remedy)"
    }
  }
}

extension PushBatch.Shared {
  /// The refusal that every push with this is certain to get.
  var certainRefusal: RefusalReason? {
    if topic.isEmpty { return .missingTopic }
    if !topic.utf8.allSatisfy(\.isTopicCharacter) { return .badTopic }
    if let expiration, expiration < 0 { return .badExpirationDate }
    if let collapseID {
      guard collapseID.utf8.count <= PushHeaders.collapseIDLimit, collapseID.utf8.allSatisfy(isHeaderByte) else {
        return .badCollapseID
      }
    }
    return nil
  }
}

extension PushBatch.Wire {
  /// `certainRefusal` of a push, given that of what it shares and its type's limit.
  func certainRefusal(sizeLimit: Int, shared: RefusalReason?) -> RefusalReason? {
    if body.isEmpty { return .payloadEmpty }
    if body.count > sizeLimit { return .payloadTooLarge }
    if tokenCount == 0 { return .missingDeviceToken }
    if tokenCount > DeviceTokenText.lengths.upperBound { return .badDeviceToken }
    return shared
  }
}

private func sentences(_ found: String, _ fix: String) -> String {
  (found.first.map { $0 == "a" && found.hasPrefix("apns-") ? String($0) : $0.uppercased() } ?? "")
    + found.dropFirst() + ". " + fix
}

/// A byte that a header's value may hold (RFC 9110 §5.5), which begins and ends with no space here.
private func isHeaderByte(_ byte: UInt8) -> Bool { byte > 0x20 && byte != 0x7F || byte == 0x20 }
