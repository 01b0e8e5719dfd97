public import Basics
public import Delivery
public import PushPayload

extension OutgoingPush {
  /// The headers as they will be sent.
  public var headers: PushHeaders {
    PushHeaders(
      id: id, topic: pushType.completed(topic: topic), pushType: pushType.rawValue, priority: String(priority.rawValue),
      expiration: expiration.map { String($0) }, collapseID: collapseID)
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
  /// refusals make APNs narrow the connection for all others. Constant time.
  var certainRefusal: RefusalReason? {
    if payload.isEmpty { return .payloadEmpty }
    if payload.count > pushType.sizeLimit { return .payloadTooLarge }
    if token.isEmpty { return .missingDeviceToken }
    if token.count > DeviceTokenText.lengths.upperBound { return .badDeviceToken }
    if topic.isEmpty { return .missingTopic }
    if !topic.utf8.allSatisfy(isHeaderByte) { return .badTopic }
    if let expiration, expiration < 0 { return .badExpirationDate }
    if !UUIDText.isCanonical(id.utf8) { return .badMessageID }
    if let collapseID {
      guard collapseID.utf8.count <= PushHeaders.collapseIDLimit, collapseID.utf8.allSatisfy(isHeaderByte) else {
        return .badCollapseID
      }
    }
    return nil
  }
}

extension PushOutcome {
  /// What APNs would have answered.
  static func refusedUnsent(_ reason: RefusalReason) -> PushOutcome {
    .refused(Refusal(status: reason.status, reason: reason.rawValue, since: nil))
  }
}

/// A byte that a header's value may hold (RFC 9110 §5.5), which begins and ends with no space here.
private func isHeaderByte(_ byte: UInt8) -> Bool { byte > 0x20 && byte != 0x7F || byte == 0x20 }
